"""From cells to claims: means with intervals, ratios to rivals, and which goals are met."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ORACLES", "OURS", "summary"]

Floats = NDArray[np.float64]

OURS = ("tied-sampling", "tied-ucrl")
ORACLES = ("optimal", "myopic", "whittle", "best-arm")
PUBLISHED = "colored-ucrl2"
RESAMPLES = 2000


def summary(results: dict[str, dict[str, Any]], horizons: list[int]) -> dict[str, Any]:
    """Everything the page and the figure show, ready for JSON."""
    table = _table(results)
    rng = np.random.default_rng(0)
    rows = []
    for (problem, learner, horizon), values in sorted(table.items()):
        low, high = _interval(values, rng)
        rows.append({
            "problem": problem, "learner": learner, "horizon": horizon, "runs": len(values),
            "mean": float(values.mean()), "low": low, "high": high,
        })  # fmt: skip
    claims = [claim for horizon in horizons for claim in _claims(table, horizon, rng)]
    return {"rows": rows, "claims": claims, "refused": _refused(results),
            "seconds": _seconds(results)}  # fmt: skip


def _table(results: dict[str, dict[str, Any]]) -> dict[tuple[str, str, int], Floats]:
    cells: dict[tuple[str, str, int], dict[int, float]] = {}
    for key, result in results.items():
        problem, learner, horizon, seed = key.split("|")
        if "gap_regret" in result:
            place = (problem, learner, int(horizon))
            cells.setdefault(place, {})[int(seed)] = result["gap_regret"]
    return {place: np.array([runs[s] for s in sorted(runs)]) for place, runs in cells.items()}


def _interval(values: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """95% bootstrap interval of the mean over seeds."""
    picks = rng.integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[picks].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def _claims(
    table: dict[tuple[str, str, int], Floats], horizon: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    problems = sorted({p for p, _, h in table if h == horizon})
    names = sorted({name for _, name, h in table if h == horizon})
    rivals = [n for n in names if n not in OURS + ORACLES and n != "round-robin"]
    claims = []
    for own in OURS:
        if own not in names:
            continue
        against = _ratio(table, own, [PUBLISHED], problems, horizon, rng)
        claims.append({"horizon": horizon, "learner": own, "against": PUBLISHED, **against})
        best = _ratio(table, own, rivals, problems, horizon, rng)
        claims.append({"horizon": horizon, "learner": own, "against": "best rival", **best})
        for rival in rivals:
            each = _ratio(table, own, [rival], problems, horizon, rng)
            claims.append({"horizon": horizon, "learner": own, "against": rival, **each})
    return claims


def _ratio(
    table: dict[tuple[str, str, int], Floats], own: str, others: list[str], problems: list[str],
    horizon: int, rng: np.random.Generator,
) -> dict[str, Any]:  # fmt: skip
    """Geometric mean over problems of (own mean / least mean of the others), with an interval.

    Seeds are resampled together for all learners, since they are paired.
    """
    shared, per_problem = [], {}
    for problem in problems:
        present = [o for o in others if (problem, o, horizon) in table]
        if present and (problem, own, horizon) in table:
            shared.append((table[problem, own, horizon],
                           [table[problem, o, horizon] for o in present]))  # fmt: skip
            means = {o: table[problem, o, horizon].mean() for o in present}
            best = min(means, key=lambda name: means[name])
            ratio = table[problem, own, horizon].mean() / means[best]
            per_problem[problem] = {"ratio": float(ratio), "best": best}
    logs = []
    for _ in range(500):
        picks = rng.integers(1 << 30, size=len(shared[0][0]))
        logs.append(np.mean([_log_ratio(mine, theirs, picks) for mine, theirs in shared]))
    low, high = np.exp(np.quantile(logs, [0.025, 0.975]))
    mean = np.exp(np.mean([np.log(entry["ratio"]) for entry in per_problem.values()]))
    worst = max(per_problem, key=lambda name: per_problem[name]["ratio"])
    return {
        "geometric_mean": float(mean), "low": float(low), "high": float(high), "worst": worst,
        "worst_ratio": per_problem[worst]["ratio"], "problems": per_problem,
    }  # fmt: skip


def _log_ratio(mine: Floats, theirs: list[Floats], picks: NDArray[np.int64]) -> float:
    means = [values[picks % len(values)].mean() for values in theirs]
    return float(np.log(mine[picks % len(mine)].mean() / min(means)))


def _refused(results: dict[str, dict[str, Any]]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for key, result in results.items():
        if "refused" in result:
            problem, learner, _, _ = key.split("|")
            found.setdefault(learner, {})[problem] = result["refused"]
    return found


def _seconds(results: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Median seconds per 1e5 steps of each learner on each problem."""
    runs: dict[str, dict[str, list[float]]] = {}
    for key, result in results.items():
        problem, learner, horizon, _ = key.split("|")
        if "seconds" in result and int(horizon) == 100_000:
            runs.setdefault(learner, {}).setdefault(problem, []).append(result["seconds"])
    return {
        learner: {problem: float(np.median(times)) for problem, times in problems.items()}
        for learner, problems in runs.items()
    }
