"""What the best policy earns, to measure regret by: exactly planned within limits, or a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb, inf, prod
from time import perf_counter

from restive.base.errors import TooLargeError
from restive.base.machine import memory_allowed
from restive.base.words import count_text
from restive.many.several_pulls import PullsPlan, plan_pulls
from restive.model.bandit import Bandit
from restive.planning import Plan, Refusal, plan_within
from restive.planning.size import caps_for_error
from restive.planning.within import TOLERANCES

SECONDS_PER_BACKUP = 1e-8  # of a sweep with several pulls, on an ordinary machine
SWEEPS = 400  # at all accuracies on the way, about
BYTES_PER_STATE = 48


def yardstick_within(
    bandit: Bandit,
    seconds: float,
    *,
    memory: int | None = None,
    clock: bool = False,
    compiled: bool | None = None,
    progress: Callable[[str, int, float], None] | None = None,
) -> Plan | PullsPlan | Refusal:
    """``plan_within`` for any number of pulls a step, with the same meaning of all arguments.

    With several pulls there is none where the gain depends on the start.

    >>> from restive.problems import random_problem
    >>> bandit = Bandit(random_problem(3, 2, rng=1).arms, pulls=2)
    >>> yardstick_within(bandit, 20.0).converged
    True
    """
    if bandit.pulls == 1:
        return plan_within(bandit, seconds, memory=memory, clock=clock, compiled=compiled,
                           progress=progress)  # fmt: skip
    why = ""
    for tolerance in TOLERANCES:
        try:
            states, ahead = _forecast(bandit, 0.1 * tolerance)
            if ahead <= seconds and BYTES_PER_STATE * states <= memory_allowed(memory):
                deadline = perf_counter() + seconds if clock else inf
                best = plan_pulls(bandit, bandit.pulls, tolerance, memory, deadline)
                return _judged(best, why)
        except TooLargeError:
            states = inf
        except ArithmeticError:
            return Refusal("an arm mixes too slowly to plan")
        size = "too many" if states == inf else count_text(int(states)).removeprefix("about ")
        why = why or f"a plan to within {tolerance:g} takes about {size} information states"
    return Refusal(why)


def _forecast(bandit: Bandit, error: float) -> tuple[float, float]:
    """Information states and seconds of a plan whose rows are within ``error`` of the true ones."""
    arms, pulls = bandit.arms, bandit.pulls
    ages = [cap + arm.period for cap, arm in zip(caps_for_error(bandit, error), arms, strict=True)]
    sets = comb(len(arms), pulls)
    cells = prod(arm.n_states * n for arm, n in zip(arms, ages, strict=True))
    states = sets * cells / prod(sorted(ages)[:pulls])  # at most: arms just pulled have one age
    return states, SECONDS_PER_BACKUP * SWEEPS * states * sets


def _judged(best: PullsPlan, why: str) -> PullsPlan | Refusal:
    """A plan that was stopped early is good for as much as it knows."""
    if len(best.lowers) > 1:
        return Refusal("the best gain depends on the phases that the arms start in")
    if best.upper - best.lower > TOLERANCES[-1]:
        return Refusal(why or f"a plan to within {best.tolerance:g} takes too long")
    return replace(best, note=why)
