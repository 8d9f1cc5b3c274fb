"""Better and better grid plans, until time, memory or patience ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from time import perf_counter

from restive.base.errors import TooLargeError
from restive.base.machine import memory_allowed
from restive.many.grid import Ages, GridPlan, Progress, plan_grid
from restive.many.grid_refinement import refined_ages
from restive.many.grid_value import WARM_UP, simulate_gain
from restive.model.bandit import Arm, Bandit

GROWTH = 2.0  # of the number of states from one plan to the next
FIRST_DEPTH = 8
DEEPEST = 256
STAYS = 3.0  # a stay is followed for this many times its usual length
FIRST_TOLERANCE = 5e-4  # of the first plan's iteration
HOPE = 0.5  # of the forecast must fit the time: half a solution may lower the bound too
SHARE = 0.15  # the iteration may leave this part of the last gain in the bound
PROBE_STEPS = 4_000  # of play that shows where to refine, in each of eight replications


def grid_improvements(
    bandit: Bandit, pulls: int = 1, *, time: float = 30.0, memory: int | None = None,
    ages: Ages = 4, tolerance: float = 1e-5, progress: Progress | None = None,
) -> Iterator[GridPlan]:  # fmt: skip
    """Grid plans whose certified upper bounds fall: more ages where they help, longer stays.

    Each plan starts from the values of the one before. Ends when the bound gains less than
    ``tolerance``, or before ``time`` (seconds) or ``memory`` (bytes) would be exceeded.
    ``seconds`` of each plan counts from the beginning, without compiling.

    >>> from restive.problems import example1
    >>> uppers = [plan.upper for plan in grid_improvements(example1(epsilon=0.1), ages=2)]
    >>> bool(uppers[-1] < uppers[0]), round(uppers[-1], 3)
    (True, 0.7)
    """
    _compile()
    began = perf_counter()
    deadline = began + time
    solved = partial(plan_grid, bandit, pulls=pulls, memory=memory_allowed(memory),
                     deadline=deadline, progress=progress)  # fmt: skip
    best = plan = solved(ages=ages, depth=FIRST_DEPTH, tolerance=FIRST_TOLERANCE)
    yield replace(plan, seconds=perf_counter() - began)
    patience, within = 0, FIRST_TOLERANCE
    while patience < 2:
        step = perf_counter()
        finer, depth = _finer(plan)
        same = finer == plan.ages and depth == plan.depth and within <= tolerance
        if same or perf_counter() + HOPE * _forecast(plan, depth) > deadline:
            return
        try:
            plan = solved(ages=finer, depth=depth, start=plan, tolerance=within)
        except TooLargeError:
            return
        plan = replace(plan, seconds=perf_counter() - step)
        gained = best.upper - plan.upper
        within = min(within, max(tolerance, SHARE * gained))
        patience = patience + 1 if gained < tolerance else 0
        if gained > 0:
            best = plan
            yield replace(plan, seconds=perf_counter() - began)


def _finer(plan: GridPlan) -> tuple[Ages, int]:
    """Ages and depth of the next plan, by what simulated play of this one shows."""
    # where play is met matters here and not what it earns: slow arms need no longer warm-up
    before = min(PROBE_STEPS, WARM_UP * max(arm.mixing_time(0.25) for arm in plan.arms))
    seen = simulate_gain(plan, steps=PROBE_STEPS, replications=8, warm_up=before)
    depth = min(DEEPEST, 2 * plan.depth, max(plan.depth, int(STAYS * seen.stay)))
    return refined_ages(plan, seen.visits, GROWTH), depth


@lru_cache(maxsize=1)
def _compile() -> None:
    """Plan and play something tiny, so that no forecast takes compiling for work."""
    arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])
    simulate_gain(plan_grid([arm, arm], ages=2, depth=2), steps=10, replications=2, warm_up=10)


def _forecast(plan: GridPlan, depth: int) -> float:
    """Seconds that the next plan takes, from those of the last one."""
    return plan.seconds * GROWTH * depth / plan.depth
