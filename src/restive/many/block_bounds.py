"""What a planner of blocks says of a block, and what it has to be able to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from restive.base.described import Brief
from restive.model.bandit import Arm
from restive.planning import Plan
from restive.policies.policy import Policy

HASTY, PATIENT = 0.1, 0.4  # shares of the time left for one more level of accuracy


@dataclass(frozen=True, eq=False, repr=False)
class BlockBounds(Brief):
    """Bounds of a block's best gain, beside a constant arm if there is a price.

    Certified are the upper end and, for a block without a price, the lower one; with a price the
    lower end may be a guess that only tells where to search. error: about how far from the best
    gain the end in question is, where that is not the whole width. plan: how to act, for a block
    without a price. state: what the planner wants to see again as ``start``.
    """

    lower: float
    upper: float
    error: float | None = None
    plan: Plan | Policy | None = field(default=None, repr=False)
    state: object = field(default=None, repr=False)

    @property
    def doubt(self) -> float:
        return self.upper - self.lower if self.error is None else self.error


class BlockPlanner(Protocol):
    """Plans a block to an accuracy; price None: the block alone, no resting.

    patience: share of the time left that one more level of accuracy may take: little while the
    block may still grow.
    """

    patience: float

    def __call__(
        self, arms: Sequence[Arm], price: float | None, accuracy: float, start: object
    ) -> BlockBounds: ...

    def seconds(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> float:
        """Forecast; infinite for what does not fit in memory."""
        ...
