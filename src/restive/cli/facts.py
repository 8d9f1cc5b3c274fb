"""What the commands have to say, as plain dictionaries: printed as JSON or shown as tables."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from restive import __version__
from restive.base.errors import TooLargeError

if TYPE_CHECKING:
    from restive.model.bandit import Arm, Bandit
    from restive.planning import Plan
    from restive.theory import BanditBounds

__all__ = ["TIME", "of_bounds", "of_plan", "of_problem"]

TIME = 60.0  # seconds that a plan may take unless another time is asked for
QUICK_STATES = 2000  # up to here the true diameter is a matter of seconds


MYOPIC_BYTES = 100 << 20  # more would take longer than the plan it stands beside


def of_problem(bandit: Bandit, tolerance: float) -> dict[str, Any]:
    """Facts about every arm, the best arm and the size of the plan."""
    from restive.many.planner import chosen_way
    from restive.planning.size import check_tolerance

    check_tolerance(tolerance)
    return {
        "problem": bandit.name,
        "version": __version__,
        "tolerance": tolerance,
        "arms": [_of_arm(bandit.arm_name(j), arm, tolerance) for j, arm in enumerate(bandit.arms)],
        "best_arm": _best_arm(bandit),
        "pulls": bandit.pulls,
        "forecast": _forecast(bandit, tolerance),
        "way": list(chosen_way(bandit, tolerance)),
        "seconds": TIME,
    }


def of_plan(plan: Plan) -> dict[str, Any]:
    """The value of the best policy beside those of simple ones, and what it took to find it."""
    from restive.cli.bounded import shared

    best, myopic = _best_arm(plan.bandit), _myopic(plan)
    likely = max(plan.gain, best["gain"], myopic["gain"] or 0.0)
    return {
        "problem": plan.bandit.name,
        "version": __version__,
        "tolerance": float(plan.tolerance),
        "gain": min(likely, plan.gain_upper),
        "gain_lower": float(plan.gain_lower),
        "gain_upper": float(plan.gain_upper),
        "converged": bool(plan.converged),
        **shared(plan),
        "note": plan.note,
        "starts": [
            {"probability": p, "gain": 0.5 * (low + high), "gain_lower": low, "gain_upper": high}
            for p, low, high in plan.starts
        ],
        "best_arm": best,
        "myopic": myopic,
        "situations": _situations(plan),
        "states": int(plan.states),
        "caps": [int(cap) for cap in plan.caps],
        "sweeps": int(plan.sweeps),
        "seconds": float(plan.seconds),
    }


def _situations(plan: Plan) -> list[dict[str, Any]]:
    """What to pull in the most frequent situations."""
    from restive.report.policy.words import situations

    return [asdict(situation) for situation in situations(plan)]


def of_bounds(
    bandit: Bandit, horizon: int, delta: float, true_diameter: bool | None
) -> dict[str, Any]:
    """What the theorems say, with Lemma 1 and, asked or quick to get, with the true diameter.

    Numbers too large for a float are None, and so is a true diameter that was left out.
    """
    from restive.theory import problem_bounds

    lemma = problem_bounds(bandit, horizon, delta)
    known = _true_diameter(bandit, lemma.caps, true_diameter)
    best = lemma
    if known is not None and known["within_upper"] is not None:
        longest = max(1.0, known["within_upper"])
        best = problem_bounds(bandit, horizon, delta, true_diameter=longest)
        known["bounds"] = _numbers(best)
    return {
        "problem": bandit.name,
        "version": __version__,
        "horizon": horizon,
        "delta": delta,
        "arms": [bandit.arm_name(j) for j in range(bandit.n_arms)],
        "lemma_1": _numbers(lemma),
        "true_diameter": known,
        "explanation": best.explain(),
    }


def _true_diameter(
    bandit: Bandit, caps: tuple[int, ...], asked: bool | None
) -> dict[str, Any] | None:
    from restive.mdp.representation import Representation

    states = Representation.of(bandit, caps).n_states
    if asked is False or (asked is None and states > QUICK_STATES):
        return None
    from restive.planning.diameter import bandit_diameter

    found = bandit_diameter(bandit, caps)
    return {
        "lower": _finite(found.lower),
        "upper": _finite(found.upper),
        "finite": found.finite,
        "parts": found.n_parts,
        "within_lower": _finite(found.within[0]),
        "within_upper": _finite(found.within[1]),
        "states": found.n_states,
        "bounds": None,
    }


def _numbers(bounds: BanditBounds) -> dict[str, Any]:
    found = asdict(bounds) | {"regret": bounds.regret, "vacuous": bounds.vacuous}
    found["terms"]["total"] = bounds.terms.total
    found["terms"] = {name: _finite(value) for name, value in found["terms"].items()}
    return {name: _finite(value) for name, value in found.items()}


def _finite(value: Any) -> Any:
    """The value, or None for a float that JSON has no word for."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _myopic(plan: Plan) -> dict[str, float | None]:
    """What the myopic policy earns; None where that is not soon computed."""
    from restive.planning.evaluation import evaluate

    try:
        value = evaluate(plan.bandit, "myopic", plan.tolerance, memory=MYOPIC_BYTES)
    except (TooLargeError, ArithmeticError):
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
    """None where an arm mixes too slowly for exact planning, or several are pulled a step."""
    from restive.planning import forecast

    if bandit.pulls > 1:
        return None
    try:
        size = forecast(bandit, tolerance)
    except ArithmeticError:
        return None
    return {
        "states": int(size.states),
        "colors": int(size.colors),
        "caps": [int(cap) for cap in size.caps],
        "bytes": int(size.bytes),
        "seconds": _finite(float(size.seconds)),
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
