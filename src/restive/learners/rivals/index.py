"""UCB1, KL-UCB and Thompson sampling: learners for arms whose rewards are independent."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from restive.base.options import Parameter
from restive.base.randomness import generator
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.rivals.compiled import CompiledLearner, DrawingLearner, zeros
from restive.learners.storage import Arrays

ARMS = "rewards in [0, 1], independent and alike from pull to pull"


class IndexLearner(CompiledLearner):
    """Base: pull every arm once, then always the arm with the largest index, the first of several.

    Asking works the index out anew, so nothing but plays and rewards is remembered.
    """

    def __init__(self, n_arms: int, more: Arrays | None = None, **constants: float) -> None:
        super().__init__(n_arms, zeros(n_arms) | (more or {}), **constants)

    def ask(self) -> int:
        choose, _ = self.steps()
        return int(choose(*self.inputs))

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        from restive._kernels.rivals_weak import learn_mean

        arm, paid = self.check_arm(arm), self.check_reward(reward)
        learn_mean(self.memory["plays"], self.memory["sums"], arm, paid)


@declare(
    "ucb1",
    "the arm with the largest upper confidence bound (UCB1)",
    guarantee="for i.i.d. arms expected weak regret of at most the sum of 8 log T / gap_j over the "
    "worse arms, plus a constant; nothing is proven for Markov arms",
    assumes=ARMS,
    told="the number of arms",
    cites=("auer2002-finite: figure 1",),
)
class UCB1(IndexLearner):
    """UCB1: the arm with the largest mean_j + sqrt(2 log t / n_j), t the pulls so far.

    Made for: weak regret (against the best single arm), of order log T.
    Parameters: none.

    >>> learner = UCB1(2)
    >>> for reward in (0.0, 1.0, 1.0):
    ...     learner.tell(learner.ask(), "any", reward)
    >>> learner.memory["plays"].tolist()
    [1, 2]
    """

    kernels = "choose_ucb", "play_ucb"

    def __init__(self, n_arms: int) -> None:
        super().__init__(n_arms, scale=2.0)


@declare(
    "ucb1-tuned",
    "UCB1 with a bound that looks at the variance of rewards (UCB1-TUNED)",
    guarantee="none proven; in the experiments of its authors it does better than UCB1",
    assumes=ARMS,
    told="the number of arms",
    cites=("auer2002-finite: section 4",),
)
class UCB1Tuned(IndexLearner):
    """UCB1-TUNED: the arm with the largest mean_j + sqrt(log t / n_j min(1/4, V_j)).

    V_j is the variance of its rewards so far plus sqrt(2 log t / n_j), t the pulls so far.
    Made for: weak regret. Parameters: none; this is how the authors of UCB1 run it.
    """

    kernels = "choose_varied", "play_varied"

    def __init__(self, n_arms: int) -> None:
        super().__init__(n_arms, {"squares": np.zeros(n_arms)})

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        super().tell(arm, state, reward)
        self.memory["squares"][arm] += float(reward) * float(reward)


@declare(
    "kl-ucb",
    "the arm with the largest upper confidence bound by relative entropy (KL-UCB)",
    guarantee="for i.i.d. arms expected weak regret of at most log T times the sum of gap_j / "
    "kl(mean_j, best mean), up to lower order (proven for c = 3); nothing is proven for Markov "
    "arms",
    assumes=ARMS,
    told="the number of arms",
    deviation="log log t counts from t = 3 on, where it is positive; an index is exact up to 2^-40",
    cites=("garivier2011-klucb: algorithm 1",),
    options=(Parameter("c", "float", ..., "weight of log log t; the theorem takes 3", 0),),
    practice=Practice({"c": 2.0}, "c is tuned, not 0"),
)
class KLUCB(IndexLearner):
    """KL-UCB: the arm with the largest q such that n_j kl(mean_j, q) <= log t + c log log t.

    kl is the Bernoulli divergence; t counts the pull to be decided on.
    Made for: weak regret, of order log T with the best constant possible for 0/1 rewards.
    Parameters: c = 0, which the paper recommends in practice.
    """

    kernels = "choose_kl", "play_kl"

    def __init__(self, n_arms: int, c: float = 0.0) -> None:
        self.c = float(c)
        super().__init__(n_arms, c=self.c)


@declare(
    "thompson",
    "Thompson sampling with beta posteriors",
    guarantee="for i.i.d. arms expected weak regret of order log T; nothing is proven for Markov "
    "arms",
    assumes=ARMS,
    told="the number of arms",
    cites=("agrawal2012: algorithms 1 and 2",),
)
class Thompson(DrawingLearner):
    """Thompson sampling: draw theta_j ~ Beta(wins_j + 1, losses_j + 1), pull the largest.

    A reward r in [0, 1] counts as a win with probability r.
    Made for: weak regret, of order log T.
    Parameters: the uniform prior Beta(1, 1).
    """

    kernels = "learn_thompson", "play_thompson"

    def __init__(self, n_arms: int, rng: int | np.random.Generator = 0) -> None:
        sizes = {"wins": n_arms, "losses": n_arms, "chosen": 1}
        memory = {name: np.zeros(size, dtype=np.int64) for name, size in sizes.items()}
        super().__init__(n_arms, memory)
        self.rng = generator(rng)
        # All samples are alike before the first observation: a uniform choice.
        self.memory["chosen"][0] = self.rng.integers(n_arms)

    @property
    def inputs(self) -> tuple[Any, ...]:
        return (self.rng, *super().inputs)
