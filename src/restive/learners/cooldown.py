"""A rule of thumb: the best arm, but none for some steps after it did not pay."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from restive.base.checks import require_arms
from restive.base.options import Parameter
from restive.learners.contract import SightedLearner
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.storage import SavedArrays, SavedState, Snapshot
from restive.policies.sight import NEVER


@declare(
    "cooldown",
    "pulls the best arm so far, but none for some steps after it did not pay",
    guarantee="none: it is the rule of thumb that others should beat",
    assumes="nothing",
    told="the number of arms",
    options=(Parameter("rest", "int", ..., "steps for which an arm is left alone", 0, 10**9),),
    practice=Practice({"rest": 20}, "the steps of rest are tuned, not 5"),
)
class Cooldown(SightedLearner):
    """Pulls the arm of the largest mean reward among those that are ready, the first of several.

    An arm that paid less than the mean of all rewards so far is ready again ``rest`` steps later.
    If none is ready, the arm unseen longest is pulled.

    >>> learner = Cooldown(2, rest=3)
    >>> for reward in (1.0, 0.5, 0.0, 0.5, 0.5):
    ...     learner.tell(learner.ask(), "any", reward)
    >>> learner.ask()
    1
    """

    def __init__(self, n_arms: int, rest: int = 5) -> None:
        require_arms(n_arms)
        super().__init__(n_arms)
        self.rest = int(rest)
        self.paid = np.zeros(n_arms)  # when last seen
        self.totals = np.zeros((n_arms, 2))  # number and sum of all rewards

    def ask(self) -> int:
        if not self.sight.complete:
            return self.sight.states.index(NEVER)
        count, total = self.totals.sum(axis=0)
        ages = np.array(self.sight.ages)
        # sums of equal rewards may round
        ready = (self.paid * count >= total - 1e-12 * count) | (ages > self.rest)
        if not ready.any():
            return int(np.argmax(ages))
        return int(np.argmax(np.where(ready, self.totals[:, 1] / self.totals[:, 0], -np.inf)))

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm, paid = self.check_arm(arm), self.check_reward(reward)
        self.sight.note(arm, 0)
        self.paid[arm] = paid
        self.totals[arm] += (1.0, paid)

    def pass_time(self) -> None:
        self.sight.see([])

    def snapshot(self) -> Snapshot:
        state, _ = super().snapshot()
        return state, {"paid": self.paid.copy(), "totals": self.totals.copy()}

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        super().restore(state, arrays)
        self.paid, self.totals = arrays["paid"].copy(), arrays["totals"].copy()
