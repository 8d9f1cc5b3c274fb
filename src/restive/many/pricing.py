"""Pricing arms out: a certified interval for many arms that closes as a block of contenders grows.

    rho* <= U(x) = G(x) + sum over arms j outside the block of g_j(x),  G(x) = m x + g_block(x),

for every price x >= 0 and m pulls a step, and rho* >= the gain of the block alone. Where no arm
outside wants a pull at the best price, the two meet and the block's plan is optimal for all arms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np

from restive.many.block_bounds import BlockPlanner, PricedInterval
from restive.many.block_search import BlockSearch
from restive.many.clock_blocks import QuickBlocks
from restive.many.pulls_blocks import PullsBlocks
from restive.model.bandit import Bandit
from restive.planning.size import check_tolerance


def price_out(
    bandit: Bandit,
    tolerance: float = 1e-4,
    *,
    time: float | None = None,
    memory: int | None = None,
    planner: BlockPlanner | None = None,
    progress: Callable[[PricedInterval], None] | None = None,
) -> PricedInterval:
    """The narrowest certified interval for the best average reward within the time (seconds).

    tolerance: width at which to stop. progress sees every better interval; after Ctrl-C the last
    one it saw still holds.

    >>> from restive import Arm
    >>> arms = [Arm([[0.8, 0.2], [0.3, 0.7]], [0, 1]), Arm([[0.6, 0.4], [0.2, 0.8]], [0, 0.9])]
    >>> priced = price_out(Bandit([*arms, Arm([[0.5, 0.5], [0.5, 0.5]], [0, 0.3])]))
    >>> priced.block, priced.proven_optimal
    ((1, 0), True)
    """
    best: PricedInterval | None = None
    for best in improvements(bandit, tolerance, time=time, memory=memory, planner=planner):
        if progress is not None:
            progress(best)
    assert best is not None  # the Lagrangian bound at least
    return best


def improvements(
    bandit: Bandit,
    tolerance: float = 1e-4,
    *,
    time: float | None = None,
    memory: int | None = None,
    planner: BlockPlanner | None = None,
) -> Iterator[PricedInterval]:
    """Intervals that close, each within the one before; every one of them holds.

    Ends when the interval is within ``tolerance`` or no larger block fits the time and memory.
    """
    check_tolerance(tolerance)
    began = perf_counter()
    deadline = np.inf if time is None else began + time
    plan_block = planner or _planner(bandit.pulls, memory, deadline)
    yield from BlockSearch(bandit, tolerance, plan_block, began, deadline).intervals()


def _planner(pulls: int, memory: int | None, deadline: float) -> BlockPlanner:
    return QuickBlocks(memory, deadline) if pulls == 1 else PullsBlocks(pulls, memory, deadline)
