"""Optimism: what a sweep of extended value iteration costs beside a plain one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import Goal, best_in_turns, table
from benchmarks.models import Samples, forgetful
from restive.mdp.structured import Parameters

TITLE = "Extended beside plain value iteration"
STEPS = 100_000
SMALL = (0.3, 0.03)
CASES = [(2, 3, 1.5), (10, 2, 4.0)]  # states of an arm, arms, goal
BATCH = 10


def run(quick: bool) -> dict[str, Any]:
    rows, goals = [], []
    for size, count, goal in CASES:
        measured = _measure(size, count, 30 if quick else 100, 5 if quick else 25)
        worst = max(row["ratio"] for row in measured)
        what = f"{size} states an arm, K={count}: extended / plain sweep, worst of the radii"
        goals.append(Goal(what, worst, goal).record())
        rows += measured
    return {"rows": rows, "goals": goals}


def _measure(size: int, count: int, cap: int, rounds: int) -> list[dict[str, Any]]:
    samples = Samples(forgetful(count, size), cap, STEPS)
    published = samples.published()
    truth = samples.truth
    tenth = samples.published(scale=0.1)
    models = {"plain": truth, "published": published, "a tenth of published": tenth} | {
        f"{radius:g}": Parameters(
            truth.rewards, truth.probabilities, radii=np.full(len(truth.rewards), radius)
        )
        for radius in SMALL
    }
    tasks = {name: _sweeps(samples, model) for name, model in models.items()}
    best = best_in_turns(tasks, rounds)
    pairs = BATCH * count * samples.representation.n_states
    return [
        {
            "size": size,
            "case": f"K={count}, M={cap}",
            "radii": name,
            "states": samples.representation.n_states,
            "ns_per_pair": 1e9 * seconds / pairs,
            "ratio": seconds / best["plain"],
        }
        for name, seconds in best.items()
    ]


def _sweeps(samples: Samples, model: Parameters) -> Callable[[], None]:
    """A batch of sweeps from settled values: early ones order their outcomes too easily."""
    from restive.mdp.iteration import BanditIteration

    iteration = BanditIteration(samples.representation, model)
    gain = np.zeros(1)
    for _ in range(20):
        lower, upper = iteration.sweep(gain, BATCH)
        gain = 0.5 * (lower + upper)

    def sweeps() -> None:
        iteration.sweep(gain, BATCH)

    return sweeps


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "size": "states an arm|d",
        "case": "case",
        "radii": "radii",
        "states": "states|,d",
        "ns_per_pair": "ns a pair|.2f",
        "ratio": "extended / plain|.2f",
    }
    return [
        "Random arms, values settled by 200 sweeps beforehand. Radii: those of eqs (2) and (3)",
        "after 1e5 steps, half of them at age 1 and the others spread over all ages (many of these",
        "radii are still vacuous, so many values are equal but for rounding); a tenth of them;",
        "and the same small radius for every color around the true laws.",
        "",
        *table(columns, result["rows"]),
    ]
