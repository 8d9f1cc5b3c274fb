"""From runs to claims: means with intervals over seeds, losing cases, ratios to rivals."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.learners.kinds import KINDS, MANY
from benchmarks.learners.suite import OURS, YARDSTICKS, kind_of
from restive.experiments import Results
from restive.experiments.paired import geometric_ratio
from restive.experiments.statistics import (
    MIN_RUNS,
    Interval,
    json_number,
    mean_interval,
    resamples,
)

__all__ = ["summary"]

Floats = NDArray[np.float64]
Table = dict[tuple[str, str], Floats]  # (problem, learner) -> one number a run

LEAST = 1.0  # added to every gap regret in ratios, so that a loss of next to nothing is no wonder
OWN, KNOWS = OURS[0], "whittle"


def summary(parts: Sequence[Results]) -> dict[str, Any]:
    """Everything the page and the figure show, ready for JSON."""
    lost, weak = _table(parts, "gap_regret"), _table(parts, "weak_regret")
    return {
        "steps": parts[0].horizons[-1], "seed": parts[0].seed,
        "problems": list(dict.fromkeys(name for part in parts for name in part.problems)),
        "rows": [_row(place, values) for place, values in lost.items()],
        "kinds": _kinds(lost), "many": _many(weak), "losing": _losing(lost),
        "ratios": [_ratio(lost, own, rival) for own, rival in _pairs(lost)],
        "best": [_best(lost, own) for own in OURS],
        "refused": _refused(parts), "seconds": _seconds(parts),
    }  # fmt: skip


def _table(parts: Sequence[Results], what: str) -> Table:
    """Losses at the end of every run of each learner on each problem, where there are any."""
    return {
        (problem, learner): ends
        for results in parts
        for (problem, learner, _), curves in results.finished.items()
        if np.isfinite(ends := np.asarray(getattr(curves, what))[:, -1]).all()
    }


def _row(place: tuple[str, str], values: Floats) -> dict[str, Any]:
    mean = mean_interval(values)
    head = {"problem": place[0], "learner": place[1], "runs": len(values)}
    return {**head, "mean": mean.value, **_ends(mean)}


def _ends(interval: Interval) -> dict[str, float | None]:
    """None where there are too few seeds for an interval."""
    return {"low": json_number(interval.lower), "high": json_number(interval.upper)}


def _names(table: Table, *without: str) -> list[str]:
    """Learners that are no yardsticks."""
    names = dict.fromkeys(learner for _, learner in table)
    return [name for name in names if name not in (*without, *YARDSTICKS)]


def _kinds(lost: Table) -> list[dict[str, Any]]:
    """Mean over the problems of a kind: run r of all of them makes one number, a seed's."""
    rows = []
    for kind in KINDS:
        for learner in dict.fromkeys(name for _, name in lost):
            runs = [v for (p, name), v in lost.items() if name == learner and kind_of(p) == kind]
            if runs:
                fewest = min(map(len, runs))
                of_seeds = np.mean([values[:fewest] for values in runs], axis=0)
                rows.append(
                    {"kind": kind, "problems": len(runs), **_row((kind, learner), of_seeds)}
                )
    return rows


def _many(weak: Table) -> list[dict[str, Any]]:
    """Rewards lost against Whittle's policy of the true arms on the same paths."""
    rows = []
    for (problem, learner), values in weak.items():
        if kind_of(problem) == MANY and (problem, KNOWS) in weak:
            known = weak[problem, KNOWS]
            rows.append(_row((problem, learner), values - known[: len(values)]))
    return rows


def _losing(lost: Table) -> list[dict[str, Any]]:
    """Problems where a rival lost less than the default learner, the worst first."""
    cases = []
    for problem in dict.fromkeys(problem for problem, _ in lost):
        own = lost.get((problem, OWN))
        for rival in _names(lost, *OURS):
            other = lost.get((problem, rival))
            if own is None or other is None or other.mean() >= own[: len(other)].mean():
                continue
            same = own[: len(other)]  # on the same worlds
            apart = mean_interval(same - other)
            cases.append({
                "problem": problem, "rival": rival, "own": float(same.mean()),
                "rivals": float(other.mean()), "runs": len(other), "difference": apart.value,
                **_ends(apart),
            })  # fmt: skip
    return sorted(cases, key=lambda case: (case["own"] + LEAST) / (case["rivals"] + LEAST))[::-1]


def _pairs(lost: Table) -> list[tuple[str, str]]:
    """The default learner against every rival; its relatives against it and Algorithm 2."""
    paper = [name for name in _names(lost, *OURS) if name.startswith("colored-ucrl2")]
    others = [(own, name) for own in OURS[1:] for name in (OWN, *paper)]
    return [(OWN, name) for name in _names(lost, *OURS)] + others


def _ratio(lost: Table, own: str, rival: str) -> dict[str, Any]:
    """Geometric mean over the problems that both can play, with an interval over seeds."""
    return {"learner": own, "against": rival, **_against(lost, own, [rival])}


def _best(lost: Table, own: str) -> dict[str, Any]:
    """As ``_ratio`` against the best of the rivals with as many seeds, problem by problem."""
    seeds: dict[str, int] = {}
    for (_, learner), values in lost.items():
        seeds[learner] = max(len(values), seeds.get(learner, 0))
    rivals = [name for name in _names(lost, *OURS) if seeds[name] >= seeds.get(own, 0)]
    return {"learner": own, **_against(lost, own, rivals)}


def _against(lost: Table, own: str, rivals: Sequence[str]) -> dict[str, Any]:
    shared = {
        problem: [rival for rival in rivals if (problem, rival) in lost]
        for problem, learner in lost
        if learner == own and any((problem, rival) in lost for rival in rivals)
    }
    seeds = {p: min(len(lost[p, name]) for name in (own, *names)) for p, names in shared.items()}
    fewest = max(seeds.values(), default=0)  # problems with fewer seeds would leave no interval
    shared = {p: names for p, names in shared.items() if seeds[p] == fewest}
    mine = [lost[problem, own][:fewest] + LEAST for problem in shared]
    theirs = [[lost[p, rival][:fewest] + LEAST for rival in names] for p, names in shared.items()]
    ratio = geometric_ratio(mine, theirs)
    worst = list(shared)[ratio.worst] if ratio.worst >= 0 else ""
    few = fewest < MIN_RUNS
    ends = _over_problems(ratio.ratios) if few else _ends(ratio.interval)
    return {
        "problems": len(shared), "runs": fewest, "ratio": json_number(ratio.interval.value),
        **ends, "unit": "problems" if few else "seeds", "worst": worst,
        "worst_ratio": ratio.ratios[ratio.worst] if worst else None,
        "wins": sum(value < 1 for value in ratio.ratios),
    }  # fmt: skip


def _over_problems(ratios: Sequence[float]) -> dict[str, float | None]:
    """Ends of a 95% interval for the geometric mean over all problems that might be drawn.

    For too few seeds: problems are drawn independently, each with seeds of its own.
    """
    if len(ratios) < MIN_RUNS:
        return {"low": None, "high": None}
    logs = resamples(len(ratios)) @ np.log(ratios)
    low, high = np.exp(np.quantile(logs, [0.025, 0.975])).tolist()
    return {"low": low, "high": high}


def _refused(parts: Sequence[Results]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for results in parts:
        for problem, learner, _ in results.refusals:
            reasons.setdefault(learner, []).append(problem)
    return reasons


def _seconds(parts: Sequence[Results]) -> dict[str, float]:
    """Median seconds a run of every learner, over all problems."""
    times: dict[str, list[float]] = {}
    for results in parts:
        for (_, learner, _), curves in results.finished.items():
            times.setdefault(learner, []).append(float(np.median(curves.seconds)))
    return {learner: median(own) for learner, own in times.items()}
