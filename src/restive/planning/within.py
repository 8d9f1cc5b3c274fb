"""A plan within limits: as fine as a time and a memory allow, or a reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

from restive.base.errors import TooLargeError
from restive.base.machine import memory_allowed
from restive.base.words import count_text
from restive.model.arguments import require_bandit
from restive.model.bandit import Bandit
from restive.planning.exact import plan
from restive.planning.result import Plan
from restive.planning.size import forecast, least_bytes

ONE_PULL = "plans to measure regret by are for one pull a step"
TOLERANCES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True)
class Refusal:
    """Why there is no plan."""

    reason: str


def plan_within(
    bandit: Bandit,
    seconds: float,
    *,
    tolerances: Sequence[float] = TOLERANCES,
    memory: int | None = None,
    clock: bool = False,
    compiled: bool | None = None,
    progress: Callable[[str, int, float], None] | None = None,
) -> Plan | Refusal:
    """The plan to the first of ``tolerances`` that is forecast to fit; its ``note`` names the rest.

    What is forecast to fit does not depend on the machine, so neither does the plan. clock: stop
    after ``seconds`` even where the forecast was wrong, with the interval reached by then, unless
    it is wider than the last tolerance. What fits then does depend on the machine.

    >>> from restive.problems import example1, gilbert_elliott
    >>> plan_within(example1(0.1), 20.0).converged
    True
    >>> plan_within(gilbert_elliott(9, 0.001, 0.002), 1.0).reason
    'a plan to within 1e-06 takes about 2e34 information states'
    """
    if why := _impossible(require_bandit(bandit), memory):
        return Refusal(why)
    for tolerance in tolerances:
        try:
            size = forecast(bandit, tolerance, memory=memory)
            if size.fits and size.seconds <= seconds:
                best = plan(bandit, tolerance, memory=memory, time=seconds if clock else None,
                            compiled=compiled, progress=progress)  # fmt: skip
                return _judged(best, tolerances[-1], why, seconds if clock else inf)
            takes = f"takes about {_count(size.states)} information states"
            why = why or f"a plan to within {tolerance:g} {takes}"
        except TooLargeError:  # more than the forecast said
            why = why or f"a plan to within {tolerance:g} does not fit into memory"
        except ArithmeticError:
            return Refusal("an arm mixes too slowly to plan")
    return Refusal(why)


def _impossible(bandit: Bandit, memory: int | None) -> str:
    """Why there can be no plan at any tolerance; empty if there may be one."""
    if bandit.pulls > 1:
        return f"{ONE_PULL}, and here there are {bandit.pulls}"
    least = least_bytes(bandit)
    if least > memory_allowed(memory):
        return f"a plan takes more than {_count(least // 8)} information states"
    return ""


def _count(states: int) -> str:
    return count_text(states).removeprefix("about ")


def _judged(best: Plan, widest: float, why: str, seconds: float) -> Plan | Refusal:
    """A plan that was stopped early is good for as much as it knows."""
    if best.converged or best.seconds <= seconds:
        return replace(best, note=why or best.note)
    late = why or f"a plan to within {best.tolerance:g} takes more than {seconds:g} seconds"
    return (
        replace(best, note=late) if best.gain_upper - best.gain_lower <= widest else Refusal(late)
    )
