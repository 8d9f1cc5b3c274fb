"""What the commands have to say, as plain dictionaries: printed as JSON or shown as tables."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from restive import __version__
from restive.base.documents import finite_or_none
from restive.base.errors import TooLargeError

if TYPE_CHECKING:
    from restive.many.bounded import BoundedPlan
    from restive.model.bandit import Arm, Bandit
    from restive.planning import Plan
    from restive.report.policy.visits import Visits
    from restive.theory import BanditBounds

TIME = 60.0  # seconds that a plan may take unless another time is asked for
QUICK_STATES = 2000  # up to here the true diameter is a matter of seconds
UNREADABLE = 10**300  # whole numbers from here on are not written: others read them as floats

MYOPIC_BYTES = 100 << 20  # more would take longer than the plan it stands beside
MYOPIC_RUNS, MYOPIC_STEPS, MYOPIC_SECONDS = 32, 100_000, 5.0  # of its simulation then


def of_problem(
    bandit: Bandit, tolerance: float | None = None, most: int | None = None, time: float = TIME
) -> dict[str, Any]:
    """Facts about every arm, or the first ``most``, and of planning; tolerance, time: as plan's."""
    from restive.many.planner import chosen_way
    from restive.planning.size import check_tolerance

    if tolerance is not None:
        check_tolerance(tolerance)
    way, tolerance = chosen_way(bandit, tolerance, time=time)
    return {
        "problem": bandit.name,
        "version": __version__,
        "tolerance": tolerance,
        "arms": [_of_arm(bandit.arm_name(j), arm, tolerance)
                 for j, arm in enumerate(bandit.arms[:most])],
        "n_arms": bandit.n_arms,
        "best_arm": best_arm(bandit),
        "pulls": bandit.pulls,
        "best_arms_gain": sum(bandit.units.mean(bandit.arms[j].gain) for j in bandit.best_arms),
        "reward_range": list(bandit.units.range),
        "forecast": _forecast(bandit, tolerance),
        "way": list(way),
        "seconds": float(time),
    }  # fmt: skip


def of_plan(plan: Plan, bounded: BoundedPlan | None) -> dict[str, Any]:
    """The value of the best policy beside those of simple ones, and what it does in words.

    After Ctrl-C, what was known by then; the rest is None.
    """
    told = value_of(plan) | dict.fromkeys(("myopic", "rule", "situations")) | {"interrupted": True}
    if bounded is not None and bounded.interrupted:
        return told
    try:
        myopic = told["myopic"] = myopic_value(plan)
        # the middle of an interval may be a digit lower
        if myopic["gain"] is not None and not myopic["simulated"]:
            told["gain"] = max(told["gain"], min(myopic["gain"], told["gain_upper"]))
        return told | words_of(plan, bounded) | {"interrupted": False}
    except KeyboardInterrupt:
        return told


def value_of(plan: Plan) -> dict[str, Any]:
    """What the best policy earns, and what it took to find it: all of it known already."""
    units = plan.bandit.units
    likely = max(plan.gain, plan.bandit.arms[plan.bandit.best_arm].gain)
    return shared(plan) | {
        "gain": units.mean(min(likely, plan.gain_upper)),
        "certified_lower": units.mean(float(plan.gain_lower)),
        "upper_method": plan.method,
        "simulated": None,
        "starts": [
            {"probability": p, "gain": 0.5 * (low + high), "gain_lower": low, "gain_upper": high}
            for p, low, high in ((p, *map(units.mean, ends)) for p, *ends in plan.starts)
        ],
        "states": int(plan.states),
        "caps": [int(cap) for cap in plan.caps],
        "sweeps": int(plan.sweeps),
    }


def shared(plan: BoundedPlan | Plan) -> dict[str, Any]:
    """What plans of every kind tell."""
    bandit = plan.bandit
    mean = partial(bandit.units.mean, pulls=bandit.pulls)
    return {
        "problem": bandit.name,
        "version": __version__,
        "tolerance": float(plan.tolerance),
        "arms": bandit.n_arms,
        "pulls": bandit.pulls,
        "reward_range": list(bandit.units.range),
        "gain": mean(float(plan.gain)),
        "gain_lower": mean(float(plan.gain_lower)),
        "gain_upper": mean(float(plan.gain_upper)),
        "converged": bool(plan.converged),
        "method": plan.method,
        "lower_kind": plan.lower_kind,
        "upper_kind": plan.upper_kind,
        "block": list(plan.block),
        "price": None if plan.price is None else bandit.units.mean(plan.price),
        "proven_optimal": plan.proven_optimal,
        "best_arm": best_arm(bandit),
        "note": plan.note,
        "seconds": float(plan.seconds),
    }


def words_of(plan: Plan, bounded: BoundedPlan | None) -> dict[str, Any]:
    """A short rule that does as well, if there is one, and what to pull in which situation."""
    from restive.report.policy.visits import visits_of
    from restive.report.policy.words import situations

    visits = visits_of(plan)
    rule = _rule(plan, visits)
    if rule is None and bounded is not None and not visits.computed:
        rule = _simulated_rule(bounded)
    return {"rule": rule, "situations": [asdict(s) for s in situations(plan, visits=visits)]}


def _rule(plan: Plan, visits: Visits) -> dict[str, Any] | None:
    """A short rule that does as well by exact evaluation."""
    from restive.report.policy.rules import short_rule

    rule = short_rule(plan, visits.arms_pulled)
    if rule is None:
        return None
    gain = plan.bandit.units.mean(rule.gain)
    return {**asdict(rule), "gain": gain, "sentence": str(rule), "simulated": False}


def _simulated_rule(plan: BoundedPlan) -> dict[str, Any] | None:
    """A short rule that does nearly as well in simulated play."""
    from restive.report.policy.bounded_words import bounded_words

    words = bounded_words(plan)
    if words.value is None:
        return None
    gain = plan.bandit.units.mean(words.value.mean)
    return {"words": words.rule.split(". ")[0], "gain": gain, "optimal": False,
            "tolerance": None, "sentence": words.rule, "simulated": True}  # fmt: skip


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
        "reward_range": list(bandit.units.range),
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

    diameter = bandit_diameter(bandit, caps)
    return {
        "lower": finite_or_none(diameter.lower),
        "upper": finite_or_none(diameter.upper),
        "finite": diameter.finite,
        "parts": diameter.n_parts,
        "within_lower": finite_or_none(diameter.within[0]),
        "within_upper": finite_or_none(diameter.within[1]),
        "states": diameter.n_states,
        "bounds": None,
    }


def _numbers(bounds: BanditBounds) -> dict[str, Any]:
    numbers = asdict(bounds) | {"regret": bounds.regret, "vacuous": bounds.vacuous}
    numbers["terms"]["total"] = bounds.terms.total
    numbers["terms"] = {name: finite_or_none(value) for name, value in numbers["terms"].items()}
    return {name: finite_or_none(value) for name, value in numbers.items()}


def myopic_value(plan: Plan) -> dict[str, Any]:
    """What the myopic policy earns: computed, or simulated where that is not soon done.

    None where arms move too slowly for either.
    """
    from restive.planning.evaluation import evaluate

    try:
        value = evaluate(plan.bandit, "myopic", plan.tolerance, memory=MYOPIC_BYTES)
        ends, simulated = (value.gain, value.gain_lower, value.gain_upper), False
    except (TooLargeError, ArithmeticError):
        try:
            ends, simulated = _simulated_myopic(plan.bandit), True
        except ArithmeticError:
            return {"gain": None, "simulated": False}
    names = "gain", "gain_lower", "gain_upper"
    means = map(plan.bandit.units.mean, ends)
    return {**dict(zip(names, means, strict=True)), "simulated": simulated}


def _simulated_myopic(bandit: Bandit) -> tuple[float, float, float]:
    from restive.many.policies import myopic
    from restive.many.population import Population
    from restive.many.simulating import settled_play, simulate_policy
    from restive.report.policy.alike import called

    population = Population.of(called(arm, "") for arm in bandit.arms)
    settled, warmup = settled_play(population, MYOPIC_STEPS)
    value = simulate_policy(settled, myopic(population), 1, MYOPIC_STEPS, MYOPIC_RUNS, rng=0,
                            warmup=warmup, time_limit=MYOPIC_SECONDS)  # fmt: skip
    return value.mean, value.lower, value.upper


def _of_arm(name: str, arm: Arm, tolerance: float) -> dict[str, Any]:
    return {
        "name": name,
        "states": list(arm.states),
        "rewards": arm.rewards_given.tolist(),
        "stationary": arm.stationary.tolist(),
        "period": arm.period,
        "mixing_time": _mixing_time(arm, 0.25),
        "mixing_time_at_tolerance": _mixing_time(arm, tolerance),
        "diameter": arm.diameter,
        "reversible": arm.reversible,
        "gain": arm.units.mean(arm.gain),
    }


def _forecast(bandit: Bandit, tolerance: float) -> dict[str, Any] | None:
    """None where an arm mixes too slowly for exact planning, or several are pulled a step.

    Numbers with more digits than a program can be asked to read are None too.
    """
    from restive.planning import forecast

    if bandit.pulls > 1:
        return None
    try:
        size = forecast(bandit, tolerance)
    except ArithmeticError:
        return None
    return {
        "states": int(size.states) if size.states < UNREADABLE else None,
        "colors": int(size.colors),
        "caps": [int(cap) for cap in size.caps],
        "bytes": int(size.bytes) if size.bytes < UNREADABLE else None,
        "seconds": finite_or_none(float(size.seconds)),
        "fits": bool(size.fits),
    }


def _mixing_time(arm: Arm, epsilon: float) -> int | None:
    """None where the chain mixes too slowly to count its steps."""
    try:
        return arm.mixing_time(epsilon)
    except ArithmeticError:
        return None


def best_arm(bandit: Bandit) -> dict[str, Any]:
    """The best arm alone, and what it earns."""
    best = bandit.best_arm
    return {"arm": best, "name": bandit.arm_name(best),
            "gain": bandit.units.mean(bandit.arms[best].gain)}  # fmt: skip
