"""What the commands have to say, as plain dictionaries: printed as JSON or shown as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restive import __version__
from restive.errors import TooLargeError

if TYPE_CHECKING:
    from restive.bandit import Arm, Bandit
    from restive.planning import Plan

__all__ = ["of_plan", "of_problem"]


def of_problem(bandit: Bandit, tolerance: float) -> dict[str, Any]:
    """Facts about every arm, the best arm and the size of the plan."""
    return {
        "problem": bandit.name,
        "version": __version__,
        "tolerance": tolerance,
        "arms": [_of_arm(bandit.arm_name(j), arm, tolerance) for j, arm in enumerate(bandit.arms)],
        "best_arm": _best_arm(bandit),
        "forecast": _forecast(bandit, tolerance),
    }


def of_plan(plan: Plan) -> dict[str, Any]:
    """The value of the best policy beside those of simple ones, and what it took to find it."""
    return {
        "problem": plan.bandit.name,
        "version": __version__,
        "tolerance": float(plan.tolerance),
        "gain": float(plan.gain),
        "gain_lower": float(plan.gain_lower),
        "gain_upper": float(plan.gain_upper),
        "converged": bool(plan.converged),
        "best_arm": _best_arm(plan.bandit),
        "myopic": _myopic(plan),
        "states": int(plan.states),
        "caps": [int(cap) for cap in plan.caps],
        "sweeps": int(plan.sweeps),
        "seconds": float(plan.seconds),
    }


def _myopic(plan: Plan) -> dict[str, float | None]:
    """Value of pulling what pays most at once; None where it is too large to compute."""
    from restive.evaluation import evaluate

    try:
        value = evaluate(plan.bandit, "myopic", plan.tolerance)
    except TooLargeError:
        return {"gain": None}
    return {"gain": value.gain, "gain_lower": value.gain_lower, "gain_upper": value.gain_upper}


def _of_arm(name: str, arm: Arm, tolerance: float) -> dict[str, Any]:
    return {
        "name": name,
        "states": list(arm.states),
        "rewards": arm.rewards.tolist(),
        "stationary": arm.stationary.tolist(),
        "period": arm.period,
        "mixing_time": _mixing_time(arm, 0.25),
        "mixing_time_at_tolerance": _mixing_time(arm, tolerance),
        "diameter": arm.diameter,
        "reversible": arm.reversible,
        "gain": arm.gain,
    }


def _forecast(bandit: Bandit, tolerance: float) -> dict[str, Any] | None:
    """None where an arm mixes too slowly for any plan."""
    from restive.planning import forecast

    try:
        size = forecast(bandit, tolerance)
    except ArithmeticError:
        return None
    return {
        "states": int(size.states),
        "colors": int(size.colors),
        "caps": [int(cap) for cap in size.caps],
        "bytes": int(size.bytes),
        "seconds": float(size.seconds),
        "fits": bool(size.fits),
    }


def _mixing_time(arm: Arm, epsilon: float) -> int | None:
    """None where the chain mixes too slowly to count its steps."""
    try:
        return arm.mixing_time(epsilon)
    except ArithmeticError:
        return None


def _best_arm(bandit: Bandit) -> dict[str, Any]:
    best = bandit.best_arm
    return {"arm": best, "name": bandit.arm_name(best), "gain": bandit.arms[best].gain}
