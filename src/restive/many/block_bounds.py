"""What a planner of blocks says of a block, what it has to be able to do, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from restive.base.described import Brief
from restive.model.bandit import Arm
from restive.planning import Plan
from restive.policies.policy import Policy

HASTY, PATIENT = 0.15, 0.65  # shares of the time left for one more level of accuracy


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


@dataclass(frozen=True, eq=False, repr=False)
class PricedInterval(Brief):
    """Certified bounds of the best average reward of all arms, and the block behind them.

    block: arms planned together for the upper bound. plan_arms, plan: arms of the policy behind
    the lower bound, and how to act on them (their numbers in ``plan`` are places in plan_arms).
    price: what a pull is sold for. outside: what the other arms would still earn at that price, in
    all; 0 means that none of them wants a pull. proven_optimal: the policy is optimal for all
    arms, within ``tolerance``.
    """

    lower: float
    upper: float
    block: tuple[int, ...]
    plan_arms: tuple[int, ...]
    price: float
    outside: float
    tolerance: float
    seconds: float
    plan: Plan | Policy | None = field(repr=False, default=None)
    lower_kind: str = "certified"
    upper_kind: str = "certified"

    @property
    def gap(self) -> float:
        """upper / lower - 1."""
        return self.upper / self.lower - 1 if self.lower > 0 else np.inf

    @property
    def proven_optimal(self) -> bool:
        return self.upper - self.lower <= self.tolerance


class BlockPlanner(Protocol):
    """Plans a block to an accuracy; price None: the block alone, no resting.

    patience: share of the time left that one more level of accuracy may take: little while the
    block may still grow. rate: by how much each second of it has to narrow the bounds.
    """

    patience: float
    rate: float

    def __call__(
        self, arms: Sequence[Arm], price: float | None, accuracy: float, start: object
    ) -> BlockBounds: ...

    def seconds(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> float:
        """Forecast; infinite for what does not fit in memory."""
        ...
