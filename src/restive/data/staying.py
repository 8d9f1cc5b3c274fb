"""A rule of thumb: stay with an arm while it pays, else try the one unseen longest."""

from __future__ import annotations

import numpy as np

from restive.learners.cooldown import Cooldown
from restive.policies.sight import NEVER

STAY = "stay, else the one unseen longest"


class Staying(Cooldown):
    """Stays with the arm seen last while it pays no less than the mean of all rewards so far.

    >>> rule = Staying(2)
    >>> for reward in (1.0, 0.0):
    ...     rule.tell(rule.ask(), "any", reward)
    >>> rule.ask()
    0
    """

    name = STAY

    def ask(self) -> int:
        if not self.sight.complete:
            return self.sight.states.index(NEVER)
        ages = np.array([self.sight.age(arm) for arm in range(self.n_arms)])
        count, total = self.totals.sum(axis=0)
        last = int(np.argmin(ages))
        pays = self.paid[last] * count >= total - 1e-12 * count  # sums of equal rewards may round
        return last if pays else int(np.argmax(ages))
