"""Growth: what more arms, older ages and larger arms cost, measured and drawn."""

from __future__ import annotations

from math import ceil
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import table
from benchmarks.models import forgetful
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.model.bandit import Bandit
from restive.planning import forecast, plan

TITLE = "How the cost grows"
TOLERANCE = 1e-6
FULL = [
    *[("M", 2, 2, cap) for cap in (10, 30, 100, 300, 1000)],
    *[("M", 3, 2, cap) for cap in (10, 20, 50, 100, 200)],
    *[("M", 4, 2, cap) for cap in (6, 10, 20, 40)],
    *[("M", 5, 2, cap) for cap in (4, 6, 10, 14)],
    *[("S", 2, size, 50) for size in (2, 4, 8, 16, 24)],
    *[("S", 3, size, 20) for size in (2, 3, 4, 6, 8, 10)],
    *[("S", 4, size, 8) for size in (2, 3, 4, 5)],
]
QUICK = [
    *[("M", 2, 2, cap) for cap in (10, 100)],
    *[("M", 3, 2, cap) for cap in (10, 30)],
    *[("S", 2, size, 30) for size in (2, 4)],
]


def run(quick: bool) -> dict[str, Any]:
    rows = []
    for axis, count, size, cap in QUICK if quick else FULL:
        rows.append({"axis": axis} | _measure(forgetful(count, size), cap))
    return {"rows": rows, "goals": []}


def _measure(bandit: Bandit, cap: int) -> dict[str, Any]:
    expected = forecast(bandit, TOLERANCE, caps=cap)
    found = min((plan(bandit, TOLERANCE, caps=cap) for _ in range(2)), key=lambda p: p.seconds)
    return {
        "K": bandit.n_arms,
        "S": bandit.n_states[0],
        "M": cap,
        "states": expected.states,
        "forecast_seconds": expected.seconds,
        "sweep_seconds": _sweep(bandit, cap),
        "plan_seconds": found.seconds,
        "sweeps": found.sweeps,
    }


def _sweep(bandit: Bandit, cap: int) -> float:
    """Seconds of a plain sweep, best of three batches long enough to be timed."""
    from restive.mdp.iteration import BanditIteration

    structure = Representation.of(bandit, cap)
    iteration = BanditIteration(structure, bandit_parameters(bandit, structure))
    gain = np.full(1, 0.5)
    batch = ceil(1e6 / structure.n_states) + 5
    best = float("inf")
    for _ in range(3):
        start = perf_counter()
        iteration.sweep(gain, batch)
        best = min(best, (perf_counter() - start) / batch)
    return best


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "K": "K|d",
        "S": "states an arm|d",
        "M": "M|d",
        "states": "information states|,d",
        "sweep_seconds": "s a sweep|.2g",
        "plan_seconds": "s to plan|.2g",
        "sweeps": "sweeps|d",
        "forecast_seconds": "s forecast|.2g",
    }
    text = [
        "Random arms that stay with probability 4/5, so that they mix alike at any size, planned",
        "to 1e-6 with all ages capped at M. There are about K |S|^K M^(K-1) information states, as",
        "`forecast` counts before anything is built; its seconds are an order of magnitude.",
        "",
        *table(columns, result["rows"]),
    ]
    if result.get("figure"):
        text[4:4] = [f"![Cost by arms, ages and states]({result['figure']})", ""]
    return text
