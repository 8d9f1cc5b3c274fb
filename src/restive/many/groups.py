"""Several pulls a step: disjoint groups of arms with one pull each, planned and added up.

A policy that gives every group its own pull is a policy, so the sum of the groups' gains is a
certified lower bound; the Lagrangian bound is the upper one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from restive.base.described import Brief
from restive.base.errors import OutOfTimeError, TooLargeError, refuse
from restive.many.block_bounds import BlockBounds, BlockPlanner
from restive.many.clock_blocks import QuickBlocks
from restive.many.lagrangian import LagrangianBound, lagrangian_bound
from restive.model.bandit import Bandit
from restive.model.validation import check_pulls
from restive.planning import Plan
from restive.planning.size import check_tolerance
from restive.policies.policy import Policy

ACCURACY = 0.05  # of each plan, in units of the gap so far


@dataclass(frozen=True, eq=False, repr=False)
class GroupedInterval(Brief):
    """Certified bounds of the best average reward with ``pulls`` pulls a step.

    groups, plans: arms of each group and how to act on them; each group has one pull a step.
    """

    lower: float
    upper: float
    pulls: int
    groups: tuple[tuple[int, ...], ...]
    price: float
    tolerance: float
    seconds: float
    plans: tuple[Plan | Policy | None, ...] = field(repr=False, default=())
    lower_kind: str = "certified"
    upper_kind: str = "certified"

    @property
    def proven_optimal(self) -> bool:
        return self.upper - self.lower <= self.tolerance


def grouped_improvements(
    bandit: Bandit, pulls: int, tolerance: float = 1e-4, *, time: float | None = None,
    memory: int | None = None, planner: BlockPlanner | None = None,
) -> Iterator[GroupedInterval]:  # fmt: skip
    """Intervals that close from below as arms join the groups, the most wanted first.

    An arm joins the group that earns least so far; ends when all arms are in, the interval is
    within ``tolerance``, or the next plan does not fit the time and memory.
    """
    check_tolerance(tolerance)
    refuse(check_pulls(pulls, bandit.n_arms))
    began = perf_counter()
    deadline = np.inf if time is None else began + time
    plan_block = planner or QuickBlocks(memory, deadline)
    bound = lagrangian_bound(bandit.arms, pulls)
    order = _by_demand(bandit, bound)
    groups: list[tuple[int, ...]] = [(j,) for j in order[:pulls]]
    earned = [_plan(bandit, plan_block, group, 0.1 * tolerance / pulls) for group in groups]
    interval = GroupedInterval(-np.inf, bound.upper, pulls, (), bound.price, tolerance, 0.0)
    interval = _better(interval, groups, earned, began)
    yield interval
    for arm in order[pulls:]:
        if interval.proven_optimal:
            return
        least = min(range(pulls), key=lambda k: (earned[k].lower, k))
        larger = (*groups[least], arm)
        accuracy = max(0.1 * tolerance, ACCURACY * (interval.upper - interval.lower)) / pulls
        arms = [bandit.arms[j] for j in larger]
        if perf_counter() + plan_block.seconds(arms, None, accuracy) > deadline:
            return
        try:
            bounds = _plan(bandit, plan_block, larger, min(accuracy, 0.01))
        except (OutOfTimeError, TooLargeError):
            return
        if bounds.lower > earned[least].lower:
            groups[least], earned[least] = larger, bounds
            interval = _better(interval, groups, earned, began)
            yield interval


def _by_demand(bandit: Bandit, bound: LagrangianBound) -> list[int]:
    """Arms by what they would earn at the best price, then by what they earn alone."""
    gains = bound.gains.tolist()
    return sorted(range(bandit.n_arms), key=lambda j: (-gains[j], -bandit.arms[j].gain, j))


def _plan(
    bandit: Bandit, planner: BlockPlanner, group: tuple[int, ...], accuracy: float
) -> BlockBounds:
    return planner([bandit.arms[j] for j in group], None, max(accuracy, 1e-12), None)


def _better(
    interval: GroupedInterval,
    groups: list[tuple[int, ...]],
    earned: list[BlockBounds],
    began: float,
) -> GroupedInterval:
    lower = sum(bounds.lower for bounds in earned) * (1 - 1e-14 * len(earned))
    return replace(
        interval, lower=lower, groups=tuple(groups), seconds=perf_counter() - began,
        plans=tuple(bounds.plan for bounds in earned),
    )  # fmt: skip
