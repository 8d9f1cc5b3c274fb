"""Section 3: the four examples, and that the MDP of information states is the bandit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from restive.paper import criteria
from restive.paper.chart import Chart, intervals_chart, points_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, fixed, judged
from restive.paper.estimates import interval
from restive.planning import Plan, plan
from restive.planning.evaluation import evaluate
from restive.policies.greedy import plan_policy
from restive.problems import build, example1, example2, example3, example4
from restive.simulation import BanditWorld, play

AGES = 60  # ages of the other arm at which policies are compared
TIES = 1e-4  # a pull this close to the best one is as good; plans are made to 1e-6


# --- Examples 1 and 2 ------------------------------------------------------------------------


def measure_channels(cell: tuple[int, float]) -> dict[str, float]:
    """Interval of rho*, what one arm earns, and how often the paper's policy is not the best."""
    number, epsilon = cell
    bandit = example1(epsilon) if number == 1 else example2(epsilon)
    best = plan(bandit, criteria.EXAMPLES.accuracy)
    leave = 0 if number == 1 else 1  # the state after which the paper switches
    wrong, worst = _departures(best, leave)
    single = bandit.arms[bandit.best_arm].gain
    return {"epsilon": epsilon, "lower": best.gain_lower, "upper": best.gain_upper,
            "single": single, "wrong": wrong, "worst": worst}  # fmt: skip


def _departures(best: Plan, leave: int) -> tuple[int, float]:
    """Information states in which switching after ``leave`` and staying otherwise loses."""
    grid = list(product((0, 1), (0, 1), range(2, AGES)))
    losses = []
    for own, other, age in grid:
        gaps = best.gap([own, other], [1, age])
        losses.append(float(gaps[1 if own == leave else 0]))
    return sum(loss > TIES for loss in losses), max(losses)


_FIRST = fixed(*product([1], criteria.EXAMPLES.first))
_SECOND = fixed(*product([2], criteria.EXAMPLES.second))
FIRST = Measurement("example-1", _FIRST, measure_channels, (0.5, 0.5))
SECOND = Measurement("example-2", _SECOND, measure_channels, (0.5, 0.5))


def judge_channels(scale: Scale, results: Sequence[Any]) -> Finding:
    limits = criteria.EXAMPLES
    good = True
    for case in results:
        near = min(case["epsilon"], 1 - case["epsilon"])  # distance from 0, or from 1
        value = limits.limit - limits.slope * near
        inside = case["lower"] <= value <= case["upper"]
        good &= inside and case["upper"] - case["lower"] <= limits.accuracy * (1 + 1e-9)
        good &= abs(case["single"] - limits.single) < 1e-12 and case["wrong"] == 0
    shown = ", ".join(f"{_middle(case):.4f} at {case['epsilon']:g}" for case in results)
    return Finding(
        f"certified plans; the policy compared in {4 * (AGES - 2)} information states each",
        f"rho* = {shown}; one arm earns {results[0]['single']:.4f}",
        f"{limits.limit:g} less half of epsilon's distance from 0 or 1 lies in each interval of "
        f"{limits.accuracy:g}; single arms earn {limits.single:g}; the policy is as the paper says",
        judged(bool(good)),
        values={key: [case[key] for case in results] for key in ("epsilon", "lower", "upper")},
        figure=_channels_chart(results),
    )


def _channels_chart(results: Sequence[Any]) -> Chart:
    """rho* over the distance of epsilon from 0 or 1, on the closed form."""
    limits, near = criteria.EXAMPLES, [min(c["epsilon"], 1 - c["epsilon"]) for c in results]
    ends = [0.0, max(near)]
    guides = [("3/4 less half of that distance", ends, [limits.limit - limits.slope * x
                                                       for x in ends]),
              ("one arm", ends, [limits.single] * 2)]  # fmt: skip
    points = [("rho*, certified", near, [_middle(case) for case in results])]
    return points_chart("distance of epsilon from 0 or 1", "average reward", points, guides)


def _middle(bounds: Any) -> float:
    return 0.5 * float(bounds["lower"] + bounds["upper"])


# --- Example 3 -------------------------------------------------------------------------------


def measure_coin(epsilon: float) -> dict[str, float]:
    """Interval of rho*, when the channel is tried again after a 0, and what that pull expects."""
    bandit = example3(epsilon)
    best = plan(bandit, criteria.EXAMPLES.accuracy)
    ages = range(2, best.caps[0] + 2)
    again = next(age for age in ages if best.action([0, 0], [age, 1]) == 0)
    expected = float(bandit.arms[0].power(again)[0] @ bandit.arms[0].rewards)
    stays = best.action([1, 0], [1, 2])
    return {"epsilon": epsilon, "lower": best.gain_lower, "upper": best.gain_upper,
            "again": again, "expected": expected, "stays": float(stays == 0),
            "myopic": evaluate(bandit, "myopic").gain}  # fmt: skip


def closed_form_3(epsilon: float) -> tuple[float, int]:
    """rho* of Example 3 and the age m at which the channel is tried again, by renewal.

    m - 1 tosses at 1/2 and a try that succeeds with probability w = (1 - (1 - 2 eps)^m)/2, after
    which the channel pays for 1/eps steps on average; then a 0.

    >>> closed_form_3(0.2)[0] == 37 / 62
    True
    """
    gains = []
    for m in range(2, 2000):
        w = (1 - (1 - 2 * epsilon) ** m) / 2
        gains.append((((m - 1) / 2 + w / epsilon) / (m + w / epsilon), m))
    return max(gains)


THIRD = Measurement("example-3", fixed(*criteria.EXAMPLES.third), measure_coin, (0.5, 0.5))


def judge_coin(scale: Scale, results: Sequence[Any]) -> Finding:
    limits, good = criteria.EXAMPLES, True
    for case in results:
        value, again = closed_form_3(case["epsilon"])
        good &= case["lower"] <= value <= case["upper"] and case["again"] == again
        good &= case["expected"] < limits.single and case["stays"] == 1
        good &= case["myopic"] < case["lower"]
    shown = ", ".join(
        f"{_middle(case):.4f} at {case['epsilon']:g} (again after {case['again']:.0f} steps, then "
        f"expecting {case['expected']:.3f})"
        for case in results
    )
    least = min(case["lower"] - case["myopic"] for case in results)
    return Finding(
        "certified plans, and the myopic policy evaluated exactly",
        f"rho* = {shown}; the myopic policy loses {least:.4f} or more",
        "the closed form by renewal lies in each interval, the channel is tried again at its age "
        f"although it then expects less than {limits.single:g}, and the myopic policy earns less",
        judged(bool(good)),
        values={"epsilon": [case["epsilon"] for case in results], "least_myopic_loss": least}
        | {key: [case[key] for case in results] for key in ("lower", "upper")},
        figure=_coin_chart(results),
    )


def _coin_chart(results: Sequence[Any]) -> Chart:
    """rho* on its closed form, above the myopic policy."""
    epsilons = [case["epsilon"] for case in results]
    fine = np.linspace(min(epsilons), max(epsilons), 40)
    guides = [("closed form by renewal", fine, [closed_form_3(x)[0] for x in fine.tolist()])]
    points = [("rho*, certified", epsilons, [_middle(case) for case in results]),
              ("the myopic policy", epsilons, [case["myopic"] for case in results])]  # fmt: skip
    return points_chart("epsilon", "average reward", points, guides)


# --- Example 4 -------------------------------------------------------------------------------


def measure_fork(center: bool) -> dict[str, Any]:
    """rho*, and what each arm loses where C was seen at 1/2 just now and R at 1 three steps ago."""
    best = plan(example4(center), 1e-9)
    situation = ([0, 1, 0], [2, 1, 3]) if center else ([0, 0], [1, 3])
    return {"center": center, "gain": best.gain, "gaps": best.gap(*situation).tolist()}


FOURTH = Measurement("example-4", fixed(True, False), measure_fork, (0.5, 0.5))


def judge_fork(scale: Scale, results: Sequence[Any]) -> Finding:
    limits = criteria.EXAMPLES
    with_c, without = results
    left, right = with_c["gaps"][0] - with_c["gaps"][2], without["gaps"][1] - without["gaps"][0]
    close = [with_c["gain"] - limits.with_center, without["gain"] - limits.without_center,
             left + limits.preference, right + limits.preference]  # fmt: skip
    holds = with_c["gaps"][0] < 1e-7 and max(abs(float(off)) for off in close) < 1e-7
    return Finding(
        "certified plans (width 1e-9) with and without C, in the situation of the proof",
        f"rho* = {with_c['gain']:.6f} with C, {without['gain']:.6f} without; L beats R by "
        f"{-left:.6f} with C, R beats L by {-right:.6f} without",
        f"{limits.with_center} and {limits.without_center}; {limits.preference} both times",
        judged(holds),
        "The figure is not in the source of the paper: arms C and R are rebuilt from the proof.",
        {"with_center": with_c["gain"], "without_center": without["gain"],
         "left_over_right": -left, "right_over_left": -right},
    )  # fmt: skip


# --- the representation ----------------------------------------------------------------------

PROBLEMS: dict[str, dict[str, str]] = {
    "example-1": {"epsilon": "0.1"},
    "example-2": {"epsilon": "0.8"},
    "example-3": {"epsilon": "0.1"},
    "example-4": {},
    "gilbert-elliott": {"n_arms": "3", "p_bad_good": "0.1,0.2,0.3", "p_good_bad": "0.1,0.1,0.2"},
    "random": {"n_arms": "2", "n_states": "5", "stickiness": "0.5", "rng": "7"},
}
RUNS = 40


def measure_play(cell: tuple[str, int]) -> list[float]:
    """For each run of the planned policy: T rho* - rewards - gaps - h(end) + h(start), over T.

    The bandit's hidden chains are played; if the information states are an MDP with the laws of
    Section 5, this has mean 0 up to the width of the plan's interval.
    """
    name, steps = cell
    best, off = plan(build(name, **PROBLEMS[name]), 1e-6), []
    for seed in range(RUNS):
        run = play(plan_policy(best), BanditWorld(best.bandit, 900_000 + seed), steps, plan=best)
        assert run.regret is not None
        assert run.gap_regret is not None
        assert run.boundary is not None
        off.append(float(run.regret[-1] - run.gap_regret[-1] - run.boundary) / steps)
    return off


def _plays(scale: Scale) -> Sequence[tuple[str, int]]:
    return [(name, scale.size(3 * 10**5, 3 * 10**4)) for name in PROBLEMS]


PLAYS = Measurement("plays", _plays, measure_play, (3.0, 0.3))


def judge_play(scale: Scale, results: Sequence[Any]) -> Finding:
    alpha = criteria.ALPHA / len(results)
    bounds = [interval(off, alpha) for off in results]
    slack = criteria.EXAMPLES.accuracy
    good = all(low - slack <= 0 <= high + slack for low, high in bounds)
    widest = max(high - low for low, high in bounds) / 2
    furthest = max(abs(low + high) / 2 for low, high in bounds)
    steps = scale.size(3 * 10**5, 3 * 10**4)
    return Finding(
        f"{RUNS} runs of {steps:,} steps of the planned policy on the hidden chains of "
        f"{len(results)} problems",
        f"reward per step off by {furthest:.1e} at most, known to within {widest:.1e}",
        f"0 lies in every interval (all together but for a chance of {criteria.ALPHA:g})",
        judged(good),
        values=(named := dict(zip(PROBLEMS, map(list, bounds), strict=True))),
        figure=intervals_chart("reward per step off by", named, {"none": 0.0}),
    )


CLAIMS = (
    Claim("example-1", "Section 3, Example 1",
          "Two sticky channels of 1/2 each earn close to 3/4 by switching after 0.", FIRST,
          judge_channels),
    Claim("example-2", "Section 3, Example 2",
          "With epsilon close to 1 the optimal policy switches after 1.", SECOND, judge_channels),
    Claim("example-3", "Section 3, Example 3",
          "The optimal policy does not maximize the immediate reward.", THIRD, judge_coin,
          notices=("powers-ignored",)),
    Claim("example-4", "Section 3, proof of Theorem 1",
          "Whether L or R is better depends on whether C is there.", FOURTH, judge_fork),
    Claim("representation", "Section 5, MDP Representation",
          "Last states and ages, with laws P^n, are an MDP that earns what the bandit earns.",
          PLAYS, judge_play),
)  # fmt: skip
