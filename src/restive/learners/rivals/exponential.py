"""Exp3 and Exp3.S: exponential weights against rewards that anybody may have chosen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import e, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.checks import require_horizon
from restive.base.errors import Fault, ProblemError
from restive.learners.contract import Learner
from restive.learners.rivals.compiled import CompiledLearner
from restive.learners.storage import Snapshot, generator_from, generator_state
from restive.model.bandit import Bandit

__all__ = ["Exp3", "Exp3S"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Seed = int | np.random.Generator


class ExponentialWeights(CompiledLearner):
    """Base: chances from weights, one uniform number a step.

    The next arm is drawn as soon as an observation comes in, so that asking changes nothing. A
    pull that was not asked for enters with the chance that its arm had.
    """

    def __init__(self, n_arms: int, gamma: float, alpha: float, rng: Seed) -> None:
        memory = {"logs": np.zeros(n_arms), "chosen": np.zeros(1, dtype=np.int64)}
        super().__init__(n_arms, memory, gamma=gamma, alpha=alpha)
        self.rng = np.random.default_rng(rng)
        # All weights are alike before the first observation: a uniform choice.
        memory["chosen"][0] = int(self.rng.random() * n_arms)

    def ask(self) -> int:
        return int(self.memory["chosen"][0])

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm = self.check_arm(arm)
        self.compiled("learn_exp3")(*self.inputs, arm, self.check_reward(reward), self.rng.random())

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        pulls = np.empty(states.shape[1], dtype=np.int64)
        uniforms = self.rng.random(len(pulls))
        self.compiled("play_exp3")(*self.inputs, uniforms, np.ascontiguousarray(rewards), pulls)
        return pulls

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        return {**state, "rng": generator_state(self.rng)}, arrays

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(state, arrays)
        self.rng = generator_from(state["rng"])


class Exp3(ExponentialWeights):
    """Exp3: arm j with chance p_j = (1 - gamma) w_j / W + gamma / K; w_j *= exp(gamma x / (p_j K)).

    Reference: Auer, Cesa-Bianchi, Freund, Schapire, The nonstochastic multiarmed bandit problem,
    SIAM Journal on Computing 32 (2002), figure 1.
    Made for: weak regret against the arm that is best in hindsight, whatever the rewards are.
    Assumes: rewards in [0, 1], chosen without regard to the learner's random numbers.
    Parameters: gamma = min(1, sqrt(K log K / ((e - 1) T))), corollary 3.2 with g = T: the paper
    asks for the horizon T.
    """

    name = "exp3"
    guarantee = (
        "For any rewards in [0, 1] the expected weak regret after T steps is at most "
        "2.63 sqrt(T K log K)."
    )

    def __init__(self, n_arms: int, horizon: int, rng: Seed = 0) -> None:
        steps = require_horizon(horizon)
        gamma = min(1.0, sqrt(n_arms * log(n_arms) / ((e - 1) * steps)))
        super().__init__(n_arms, gamma, 0.0, rng)


class Exp3S(ExponentialWeights):
    """Exp3.S: Exp3 that also gives every arm the part e alpha / K of all weight at each step.

    Reference: as for Exp3, section 8.
    Made for: regret against the best sequence of arms, the harder the more often it switches.
    Assumes: rewards in [0, 1], chosen without regard to the learner's random numbers.
    Parameters: alpha = 1/T and gamma = min(1, sqrt(K log(K T) / T)), from the corollary of theorem
    8.1 where the number of switches is not known; the paper asks for the horizon T.
    """

    name = "exp3.s"
    guarantee = (
        "For any rewards in [0, 1] the expected regret after T steps against a sequence of arms "
        "of hardness H, its switches plus one, is of order H sqrt(T K log(K T))."
    )

    def __init__(self, n_arms: int, horizon: int, rng: Seed = 0) -> None:
        steps = require_horizon(horizon)
        gamma = min(1.0, sqrt(n_arms * log(n_arms * steps) / steps))
        super().__init__(n_arms, gamma, 1 / steps, rng)


def exp3(bandit: Bandit, horizon: int | None, delta: float, rng: Seed) -> Learner:
    return Exp3(bandit.n_arms, _known(horizon), rng)


def exp3_s(bandit: Bandit, horizon: int | None, delta: float, rng: Seed) -> Learner:
    return Exp3S(bandit.n_arms, _known(horizon), rng)


def _known(horizon: int | None) -> int:
    if horizon is None:
        remedy = "Give the number of steps: the learner's constants depend on it."
        raise ProblemError([Fault("horizon", "needed by this learner", "None", remedy)])
    return horizon
