"""UCB1, KL-UCB and Thompson sampling: learners for arms whose rewards are independent."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.learners.contract import Learner
from restive.learners.defaults import LOG_LOG
from restive.learners.rivals.compiled import CompiledLearner, zeros
from restive.learners.storage import Snapshot, generator_from, generator_state
from restive.model.bandit import Bandit

__all__ = ["KLUCB", "UCB1", "Thompson"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Seed = int | np.random.Generator


class IndexLearner(CompiledLearner):
    """Base: pull every arm once, then always the arm with the largest index, the first of several.

    Asking works the index out anew, so nothing but plays and rewards is remembered.
    """

    family = ""

    def __init__(self, n_arms: int, **constants: float) -> None:
        super().__init__(n_arms, zeros(n_arms), **constants)

    def ask(self) -> int:
        return int(self.compiled(f"choose_{self.family}")(*self.inputs))

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm, paid = self.check_arm(arm), self.check_reward(reward)
        self.memory["plays"][arm] += 1
        self.memory["sums"][arm] += paid

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        pulls = np.empty(states.shape[1], dtype=np.int64)
        paid = np.ascontiguousarray(rewards)
        self.compiled(f"play_{self.family}")(*self.inputs, paid, pulls)
        return pulls


class UCB1(IndexLearner):
    """UCB1: the arm with the largest mean_j + sqrt(2 log t / n_j), t the pulls so far.

    Reference: Auer, Cesa-Bianchi, Fischer, Finite-time analysis of the multiarmed bandit problem,
    Machine Learning 47 (2002), figure 1.
    Made for: weak regret (against the best single arm), of order log T.
    Assumes: rewards in [0, 1], independent and identically distributed for each arm.
    Parameters: none.

    >>> learner = UCB1(2)
    >>> for reward in (0.0, 1.0, 1.0):
    ...     learner.tell(learner.ask(), "any", reward)
    >>> learner.memory["plays"].tolist()
    [1, 2]
    """

    name = "ucb1"
    family = "ucb"
    guarantee = (
        "For i.i.d. arms the expected weak regret is at most the sum of 8 log T / gap_j over the "
        "worse arms, plus a constant; nothing is proven for Markov arms."
    )

    def __init__(self, n_arms: int) -> None:
        super().__init__(n_arms, scale=2.0)


class KLUCB(IndexLearner):
    """KL-UCB: the arm with the largest q such that n_j kl(mean_j, q) <= log t + c log log t.

    Reference: Garivier, Cappe, The KL-UCB algorithm for bounded stochastic bandits and beyond,
    COLT 2011, algorithm 1 with the Bernoulli divergence; t counts the pull to be decided on.
    Made for: weak regret, of order log T with the best constant possible for 0/1 rewards.
    Assumes: rewards in [0, 1], independent and identically distributed for each arm.
    Parameters: c = 0, which the paper recommends in practice; its theorem takes c = 3.
    Deviation: log log t counts only from t = 3 on, where it is positive; an index is exact up to
    2^-40.
    """

    name = "kl-ucb"
    family = "kl"
    guarantee = (
        "For i.i.d. arms the expected weak regret is at most log T times the sum of gap_j / "
        "kl(mean_j, best mean), up to lower order (proven for c = 3); nothing for Markov arms."
    )

    def __init__(self, n_arms: int, c: float = LOG_LOG) -> None:
        super().__init__(n_arms, c=float(c))


class Thompson(CompiledLearner):
    """Thompson sampling: draw theta_j ~ Beta(wins_j + 1, losses_j + 1), pull the largest.

    Reference: Agrawal, Goyal, Analysis of Thompson sampling for the multi-armed bandit problem,
    COLT 2012, algorithms 1 and 2: a reward r in [0, 1] counts as a win with probability r.
    Made for: weak regret, of order log T.
    Assumes: rewards in [0, 1], independent and identically distributed for each arm.
    Parameters: the uniform prior Beta(1, 1).

    The next arm is drawn as soon as an observation comes in, so that asking changes nothing.
    """

    name = "thompson"
    guarantee = (
        "For i.i.d. arms the expected weak regret is of order log T; nothing for Markov arms."
    )

    def __init__(self, n_arms: int, rng: Seed = 0) -> None:
        sizes = {"wins": n_arms, "losses": n_arms, "chosen": 1}
        memory = {name: np.zeros(size, dtype=np.int64) for name, size in sizes.items()}
        super().__init__(n_arms, memory)
        self.rng = np.random.default_rng(rng)
        # All samples are alike before the first observation: a uniform choice.
        self.memory["chosen"][0] = self.rng.integers(n_arms)

    def ask(self) -> int:
        return int(self.memory["chosen"][0])

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm = self.check_arm(arm)
        self.compiled("learn_thompson")(self.rng, *self.inputs, arm, self.check_reward(reward))

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        pulls = np.empty(states.shape[1], dtype=np.int64)
        paid = np.ascontiguousarray(rewards)
        self.compiled("play_thompson")(self.rng, *self.inputs, paid, pulls)
        return pulls

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        return {**state, "rng": generator_state(self.rng)}, arrays

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(state, arrays)
        self.rng = generator_from(state["rng"])


def ucb1(bandit: Bandit, horizon: int | None, delta: float, rng: Seed) -> Learner:
    return UCB1(bandit.n_arms)


def kl_ucb(
    bandit: Bandit, horizon: int | None, delta: float, rng: Seed, c: float = LOG_LOG
) -> Learner:
    return KLUCB(bandit.n_arms, c)


def thompson(bandit: Bandit, horizon: int | None, delta: float, rng: Seed) -> Learner:
    return Thompson(bandit.n_arms, rng)
