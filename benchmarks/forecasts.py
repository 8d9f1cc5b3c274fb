"""Forecasts: the time that ``restive.forecast`` and ``restive inspect`` name, against the truth."""

from __future__ import annotations

import os
from time import process_time
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Goal, table

if TYPE_CHECKING:
    from restive import Bandit

TITLE = "Forecasts of planning time against the truth"
LONGEST = 20.0  # seconds of a forecast beyond which the plan is not made
FACTOR = 3.0
# arms, rate at which states are left (None: at random), states of an arm, period
KINDS = [
    (2, 0.3, 2, 1), (2, 0.1, 2, 1), (2, 0.03, 2, 1), (2, 0.01, 2, 1), (2, 0.1, 3, 1),
    (2, 0.03, 3, 1), (2, 0.01, 3, 1), (2, 0.1, 5, 1), (2, 0.03, 5, 1), (3, 0.3, 2, 1),
    (3, 0.1, 2, 1), (3, 0.03, 2, 1), (3, 0.02, 2, 1), (3, 0.3, 3, 1), (3, 0.1, 3, 1),
    (3, 0.3, 4, 1), (4, 0.3, 2, 1), (4, 0.2, 2, 1), (4, 0.1, 2, 1), (2, None, 4, 2),
    (2, None, 5, 5), (3, None, 4, 2), (3, None, 3, 3), (3, None, 5, 5),
]  # fmt: skip
QUICK = KINDS[1::5]


def run(quick: bool) -> dict[str, Any]:
    before = os.environ.get("RESTIVE_THREADS")
    os.environ["RESTIVE_THREADS"] = "1"
    try:
        rows = [row for kind in (QUICK if quick else KINDS) for seed in (20, 21)
                if (row := _row(*kind, seed)) is not None]  # fmt: skip
    finally:
        os.environ.pop("RESTIVE_THREADS")
        if before is not None:
            os.environ["RESTIVE_THREADS"] = before
    worst = max(max(row["ratio"], 1 / row["ratio"]) for row in rows)
    goal = Goal("forecast against truth, the worst factor", worst, FACTOR, "times").record()
    return {"rows": rows, "goals": [goal]}


def _row(n_arms: int, rate: float | None, n_states: int, period: int, seed: int) -> Any:
    from restive import forecast, plan

    bandit = _problem(n_arms, rate, n_states, period, seed)
    ahead = forecast(bandit)
    if ahead.seconds > LONGEST or not ahead.fits:
        return None
    took = []
    for _ in range(3):  # the first may compile, or load what was compiled
        began = process_time()
        made = plan(bandit)
        took.append(process_time() - began)
    return {
        "arms": n_arms, "rate": rate, "states": n_states, "period": period,
        "forecast": ahead.seconds, "took": min(took), "ratio": ahead.seconds / min(took),
        "pairs": made.states * n_arms, "sweeps": made.sweeps,
    }  # fmt: skip


def _problem(n_arms: int, rate: float | None, n_states: int, period: int, seed: int) -> Bandit:
    """Arms that leave a state with a chance of .7 to 1.3 times the rate, to any other state."""
    import numpy as np

    from restive import Arm, Bandit
    from restive.problems import random_problem

    if rate is None:
        return random_problem(n_arms, n_states, rng=seed, period=period)
    rng, arms = np.random.default_rng(seed), []
    for _ in range(n_arms):
        moves = rng.gamma(1.0, size=(n_states, n_states)) * (1 - np.eye(n_states))
        leave = rate * rng.uniform(0.7, 1.3, n_states)
        chain = np.diag(1 - leave) + leave[:, None] * moves / moves.sum(1, keepdims=True)
        arms.append(Arm(chain, rng.random(n_states)))
    return Bandit(arms)


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "arms": "arms|d", "rate": "rate|g", "states": "states|d", "period": "period|d",
        "pairs": "pairs|,d", "sweeps": "sweeps|d", "forecast": "forecast s|.3f",
        "took": "took s|.3f", "ratio": "forecast / took|.2f",
    }  # fmt: skip
    words = [
        "Two random problems of each kind, planned to 1e-6 on one thread; processor time, the",
        "least of three plans. Without a rate: random chains. The constants behind the forecast",
        "were chosen on problems of the same kinds from other seeds.",
    ]
    return [*words, "", *table(columns, result["rows"])]
