"""Sliding-window UCB: a learner for arms whose mean rewards jump now and then."""

from __future__ import annotations

from collections.abc import Hashable
from math import log, sqrt

import numpy as np

from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.rivals.index import IndexLearner

XI = 0.6  # the theorem asks for more than 1/2
MOST_WINDOW = 10**8  # pulls that are remembered one by one


@declare(
    "sw-ucb",
    "the arm with the largest upper confidence bound over a sliding window (SW-UCB)",
    guarantee="for independent rewards whose means jump a few times, pulls of worse arms of order "
    "sqrt(T log T) times the root of the number of jumps; nothing is proven for Markov arms",
    assumes="rewards in [0, 1], independent, alike between jumps",
    told="the number of arms and the horizon",
    cites=("garivier2011-switching: section 2.2",),
    options=(
        Parameter("window", "int", None, "latest pulls to learn from (2 sqrt(T log T))", 2,
                  MOST_WINDOW),
    ),
    practice=Practice({"window": 5_000}, "the window is tuned, not 2 sqrt(T log T)"),
)  # fmt: skip
class SlidingWindowUCB(IndexLearner):
    """SW-UCB: the arm with the largest mean_j + sqrt(0.6 log min(t, w) / n_j) over w pulls.

    Mean and n_j are those of the latest w pulls; an arm that is not among them comes first.
    Made for: regret against the best arm of each moment, whose mean rewards jump.
    Parameters: xi = 0.6, and w = 2 sqrt(T log T) as the paper has it for one jump.

    >>> learner = SlidingWindowUCB(2, window=3)
    >>> for reward in (0.0, 1.0, 1.0, 1.0):
    ...     learner.tell(learner.ask(), "any", reward)
    >>> learner.memory["plays"].tolist(), learner.ask()
    ([0, 3], 0)
    """

    kernels = "choose_window", "play_window"

    def __init__(self, n_arms: int, window: int) -> None:
        self.window = int(window)
        pulls = {
            "arms": np.zeros(self.window, dtype=np.int64), "paid": np.zeros(self.window),
            "clock": np.zeros(1, dtype=np.int64),
        }  # fmt: skip
        super().__init__(n_arms, pulls, scale=XI)

    @classmethod
    def from_problem(cls, n_arms: int, horizon: int, window: int | None = None) -> SlidingWindowUCB:
        own = round(2 * sqrt(horizon * log(max(2, horizon))))
        return cls(n_arms, min(MOST_WINDOW, max(2, own)) if window is None else window)

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        from restive._kernels import rivals_weak

        arm, paid = self.check_arm(arm), self.check_reward(reward)
        rivals_weak.learn_window(*self.memory.values(), arm, paid)
