"""Exp3 and Exp3.S: exponential weights against rewards that anybody may have chosen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from math import e, log, sqrt

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require_horizon
from restive.base.options import Parameter
from restive.base.randomness import generator
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.rivals.compiled import DrawingLearner

Seed = int | np.random.Generator

REWARDS = "rewards in [0, 1], chosen without regard to the learner's random numbers"
PAPER = "auer2002-nonstochastic"
RATE = Parameter("rate", "float", ..., "multiple of the paper's gamma", 0, above=True)


class ExponentialWeights(DrawingLearner):
    """Base: chances from weights, one uniform number a step.

    A pull that was not asked for enters with the chance that its arm had.
    """

    kernels = "learn_exp3", "play_exp3"

    def __init__(self, n_arms: int, horizon: int, rng: Seed = 0, rate: float = 1.0) -> None:
        self.horizon, self.rate = require_horizon(horizon), float(rate)
        gamma, alpha = self.gamma_alpha(n_arms, self.horizon)
        memory = {"logs": np.zeros(n_arms), "chosen": np.zeros(1, dtype=np.int64)}
        super().__init__(n_arms, memory, gamma=min(1.0, self.rate * gamma), alpha=alpha)
        self.rng = generator(rng)
        # All weights are alike before the first observation: a uniform choice.
        memory["chosen"][0] = int(self.rng.random() * n_arms)

    @staticmethod
    @abstractmethod
    def gamma_alpha(n_arms: int, horizon: int) -> tuple[float, float]:
        """The paper's constants."""

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm, paid = self.check_arm(arm), self.check_reward(reward)
        self.steps()[0](*self.inputs, arm, paid, self.rng.random())

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        pulls = np.empty(states.shape[1], dtype=np.int64)
        uniforms = self.rng.random(len(pulls))
        self.steps()[1](*self.inputs, uniforms, np.ascontiguousarray(rewards), pulls)
        return pulls


@declare(
    "exp3",
    "exponential weights",
    guarantee="expected weak regret after T steps of at most 2.63 sqrt(T K log K), whatever the "
    "rewards are",
    assumes=REWARDS,
    told="the number of arms and the horizon",
    cites=(f"{PAPER}: figure 1",),
    options=(RATE,),
    practice=Practice({"rate": 4.0}, "gamma is a tuned multiple of the paper's"),
)
class Exp3(ExponentialWeights):
    """Exp3: arm j with chance p_j = (1 - gamma) w_j / W + gamma / K; w_j *= exp(gamma x / (p_j K)).

    Made for: weak regret against the arm that is best in hindsight, whatever the rewards are.
    Parameters: gamma = min(1, sqrt(K log K / ((e - 1) T))), corollary 3.2 with g = T: the paper
    asks for the horizon T.
    """

    @staticmethod
    def gamma_alpha(n_arms: int, horizon: int) -> tuple[float, float]:
        return sqrt(n_arms * log(n_arms) / ((e - 1) * horizon)), 0.0


@declare(
    "exp3.s",
    "exponential weights that share, for the best sequence of arms",
    guarantee="expected regret after T steps of order H sqrt(T K log(K T)) against a sequence of "
    "arms of hardness H, its switches plus one, whatever the rewards are",
    assumes=REWARDS,
    told="the number of arms and the horizon",
    cites=(f"{PAPER}: section 8",),
    options=(RATE,),
)
class Exp3S(ExponentialWeights):
    """Exp3.S: Exp3 that also gives every arm the part e alpha / K of all weight at each step.

    Made for: regret against the best sequence of arms, the harder the more often it switches.
    Parameters: alpha = 1/T and gamma = min(1, sqrt(K log(K T) / T)), from the corollary of theorem
    8.1 where the number of switches is not known; the paper asks for the horizon T.
    """

    @staticmethod
    def gamma_alpha(n_arms: int, horizon: int) -> tuple[float, float]:
        return sqrt(n_arms * log(n_arms * horizon) / horizon), 1 / horizon
