"""From cells to claims: means with intervals, ratios to rivals, and which goals are met."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.experiments import Results
from restive.experiments.paired import geometric_ratio
from restive.experiments.statistics import mean_interval
from restive.learners import LEARNERS

__all__ = ["ORACLES", "OURS", "summary"]

Floats = NDArray[np.float64]

OURS = ("tied-sampling", "tied-ucrl")
ORACLES = tuple(name for name, entry in LEARNERS.items() if entry.yardstick)
PUBLISHED = "colored-ucrl2"


def summary(results: Results) -> dict[str, Any]:
    """Everything the page and the figure show, ready for JSON."""
    horizons = list(results.horizons)
    table = {
        place: np.asarray(curves.gap_regret)[:, -1]
        for place, curves in results.found.items()
        if np.isfinite(curves.gap_regret).all()
    }
    rows = []
    for (problem, learner, horizon), values in sorted(table.items()):
        mean = mean_interval(values)
        rows.append({
            "problem": problem, "learner": learner, "horizon": horizon, "runs": len(values),
            "mean": mean.value, "low": mean.lower, "high": mean.upper,
        })  # fmt: skip
    claims = [claim for horizon in horizons for claim in _claims(table, horizon)]
    return {"rows": rows, "claims": claims, "goals": _goals(claims, horizons),
            "refused": _refused(results), "seconds": _seconds(results)}  # fmt: skip


def _goals(claims: list[dict[str, Any]], horizons: list[int]) -> list[dict[str, Any]]:
    """What the two learners of our own are to reach, and whether they do."""
    last, first = horizons[-1], horizons[0]

    def found(own: str, horizon: int) -> dict[str, dict[str, Any]]:
        return {c["against"]: c for c in claims if (c["learner"], c["horizon"]) == (own, horizon)}

    sampling, early, optimism = found(OURS[0], last), found(OURS[0], first), found(OURS[1], last)
    goals: list[tuple[str, float, float]] = []
    if PUBLISHED in sampling:
        best, hardest = sampling["best rival"], max(
            (c for name, c in early.items() if name != "best rival"),
            key=lambda c: float(c["geometric_mean"]),
        )  # fmt: skip
        goals += [
            (f"{OURS[0]} / {PUBLISHED}, {last:,} steps, geometric mean",
             sampling[PUBLISHED]["geometric_mean"], 1 / 20),
            (f"{OURS[0]} / best rival of each problem, {last:,} steps, geometric mean",
             best["geometric_mean"], 1 / 3),
            (f"the same on the worst problem ({best['worst']})", best["worst_ratio"], 1.5),
            (f"{OURS[0]} / any one rival, {first:,} steps, largest geometric mean "
             f"({hardest['against']})", hardest["geometric_mean"], 1.0),
        ]  # fmt: skip
    if PUBLISHED in optimism:
        claim = optimism[PUBLISHED]
        goals.append((f"{OURS[1]} / {PUBLISHED}, {last:,} steps, worst problem ({claim['worst']})",
                      claim["worst_ratio"], 1 / 5))  # fmt: skip
    return [
        {"goal": goal, "measured": value, "at_most": most, "met": bool(value <= most)}
        for goal, value, most in goals
    ]


def _claims(table: dict[tuple[str, str, int], Floats], horizon: int) -> list[dict[str, Any]]:
    problems = sorted({p for p, _, h in table if h == horizon})
    names = sorted({name for _, name, h in table if h == horizon})
    rivals = [n for n in names if n not in OURS + ORACLES and n != "round-robin"]
    claims = []
    for own in OURS:
        if own not in names:
            continue
        against = _ratio(table, own, [PUBLISHED], problems, horizon)
        claims.append({"horizon": horizon, "learner": own, "against": PUBLISHED, **against})
        best = _ratio(table, own, rivals, problems, horizon)
        claims.append({"horizon": horizon, "learner": own, "against": "best rival", **best})
        for rival in rivals:
            each = _ratio(table, own, [rival], problems, horizon)
            claims.append({"horizon": horizon, "learner": own, "against": rival, **each})
    return claims


def _ratio(
    table: dict[tuple[str, str, int], Floats], own: str, others: list[str], problems: list[str],
    horizon: int,
) -> dict[str, Any]:  # fmt: skip
    """Geometric mean over problems of (own mean / least mean of the others), with an interval."""
    present = {
        problem: [o for o in others if (problem, o, horizon) in table]
        for problem in problems
        if (problem, own, horizon) in table
    }
    shared = [problem for problem, names in present.items() if names]
    found = geometric_ratio(
        [table[problem, own, horizon] for problem in shared],
        [[table[problem, o, horizon] for o in present[problem]] for problem in shared],
    )
    per_problem = {
        problem: {"ratio": ratio, "best": present[problem][best]}
        for problem, ratio, best in zip(shared, found.ratios, found.best, strict=True)
    }
    worst = shared[found.worst] if found.worst >= 0 else ""
    worst_ratio = found.ratios[found.worst] if found.worst >= 0 else nan
    return {
        "geometric_mean": found.interval.value, "low": found.interval.lower,
        "high": found.interval.upper, "worst": worst,
        "worst_ratio": worst_ratio, "problems": per_problem,
    }  # fmt: skip


def _refused(results: Results) -> dict[str, dict[str, str]]:
    reasons: dict[str, dict[str, str]] = {}
    for (problem, learner, _), why in results.refusals.items():
        reasons.setdefault(learner, {})[problem] = why[:200]
    return reasons


def _seconds(results: Results) -> dict[str, dict[str, float]]:
    """Median seconds per 1e5 steps of each learner on each problem."""
    medians: dict[str, dict[str, float]] = {}
    for (problem, learner, horizon), curves in results.found.items():
        if horizon == 100_000:
            medians.setdefault(learner, {})[problem] = float(np.median(curves.seconds))
    return medians
