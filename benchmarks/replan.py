"""Planning again inside a learner: warm starts after a few more samples."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import Goal, table
from benchmarks.models import Samples, quick_channels
from restive.mdp.solver import solve
from restive.mdp.structured import Parameters

TITLE = "Planning again in a learner"
STEPS, EPISODE = 100_000, 1_000
CASES = [(2, 100, 1.0), (3, 50, 20.0)]  # arms, cap, goal in milliseconds
CALLS, QUICK_CALLS = 50, 15


def run(quick: bool) -> dict[str, Any]:
    rows, goals = [], []
    for count, cap, goal in CASES:
        for name in ("published radii", "posterior draws"):
            row = _measure(name, count, cap, QUICK_CALLS if quick else CALLS)
            rows.append(row)
            if name == "published radii":
                what = f"K={count}, M={cap}: plan again, warm, median"
                goals.append(Goal(what, row["median"], goal, "ms").record())
    return {"rows": rows, "goals": goals}


def _measure(name: str, count: int, cap: int, calls: int) -> dict[str, Any]:
    samples = Samples(quick_channels(count), cap, STEPS)
    model: Callable[[], Parameters] = (
        samples.published if name == "published radii" else samples.posterior_draw
    )
    structure = samples.representation
    values = solve(structure, model(), tolerance=STEPS**-0.5).values
    seconds, sweeps = [], []
    for _ in range(calls):
        samples.draw(EPISODE)
        parameters, tolerance = model(), samples.steps**-0.5
        start = perf_counter()
        solution = solve(structure, parameters, tolerance=tolerance, start=values)
        seconds.append(perf_counter() - start)
        sweeps.append(solution.sweeps)
        values = solution.values - solution.values[0]
        if not solution.converged:
            raise RuntimeError(f"{name}: did not converge in {solution.sweeps:,} sweeps")
    return {
        "case": f"K={count}, M={cap}",
        "model": name,
        "states": structure.n_states,
        "median": 1e3 * median(seconds),
        "most": 1e3 * max(seconds),
        "sweeps": float(np.median(sweeps)),
    }


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "case": "case",
        "model": "model",
        "states": "states|,d",
        "median": "median ms|.3f",
        "most": "most ms|.3f",
        "sweeps": "median sweeps|.0f",
    }
    return [
        f"From {STEPS:,} samples on, {EPISODE:,} new ones before every call; `solve` to 1/sqrt(t)",
        "from the values of the call before. Posterior draws change every color's law at each call",
        "and are shown for comparison; the goal is for the published radii.",
        "",
        *table(columns, result["rows"]),
    ]
