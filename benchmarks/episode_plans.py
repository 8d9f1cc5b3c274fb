"""What planning an episode takes the default learner: few and many arms, slow ones, more states.

``python -m benchmarks.episode_plans [--quick]``
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.measure import Goal, goal_table, table
from restive.learners import make_learner
from restive.model.bandit import Arm, Bandit
from restive.simulation import BanditWorld

TITLE = "What the default learner takes to plan an episode"
CASES = [  # arms, states, rates, steps
    (2, 2, (0.05, 0.5), 20_000),
    (4, 2, (0.01, 0.01), 20_000),
    (3, 5, (0.05, 0.5), 6_000),
    (12, 2, (0.05, 0.5), 10_000),
    (50, 2, (0.05, 0.5), 6_000),
    (200, 2, (0.05, 0.5), 4_000),
]
WARM = 300  # steps of another learner before, in which kernels are compiled or read


def run(quick: bool) -> dict[str, Any]:
    rows = [_row(*case[:3], case[3] // 10 if quick else case[3]) for case in CASES]
    few = max(row["most"] for row in rows if row["arms"] <= 12)
    goals = [
        Goal("up to 12 arms: 99 plans in 100, at most", few, 0.1, "s"),
        Goal("200 arms: 99 plans in 100, at most", rows[-1]["most"], 1.0, "s"),
    ]
    return {"rows": rows, "goals": [goal.record() for goal in goals]}


def _row(arms: int, states: int, rates: tuple[float, float], steps: int) -> dict[str, Any]:
    bandit = _bandit(arms, states, rates)
    _plans(bandit, WARM)
    seconds = np.array(_plans(bandit, steps))
    return {
        "what": f"at rates of {rates[0]:g}" + (f" to {rates[1]:g}" if rates[1] > rates[0] else ""),
        "arms": arms, "states": states, "steps": steps, "plans": len(seconds),
        "mean": float(seconds.mean()), "most": float(np.quantile(seconds, 0.99)),
        "longest": float(seconds.max()),
    }  # fmt: skip


def _bandit(count: int, size: int, rates: tuple[float, float]) -> Bandit:
    rng, arms = np.random.default_rng([count, size]), []
    for _ in range(count):
        law = np.zeros((size, size))
        for s in range(size):
            law[s, np.arange(size) != s] = rng.uniform(*rates) * rng.dirichlet(np.ones(size - 1))
            law[s, s] = 1 - law[s].sum()
        rewards = np.sort(rng.uniform(0, 1, size))
        arms.append(Arm(law, [0.0, *rewards[1:]]))
    return Bandit(arms)


def _plans(bandit: Bandit, steps: int) -> list[float]:
    """Seconds of every plan, by the clock."""
    learner, walk = (
        make_learner("tied-sampling", bandit.n_arms, rng=1),
        BanditWorld(bandit, 2).walk(),
    )
    plans, before = [], learner.planning_seconds
    for _ in range(steps):
        learner.step(walk.step([learner.ask()]))
        if learner.planning_seconds > before:
            plans.append(learner.planning_seconds - before)
            before = learner.planning_seconds
    return plans


def describe(result: dict[str, Any]) -> list[str]:
    columns = {"what": "arms that move", "arms": "arms|d", "states": "states|d",
               "steps": "steps|,d", "plans": "plans|d", "mean": "seconds a plan|.4f",
               "most": "99 in 100|.4f", "longest": "longest|.4f"}  # fmt: skip
    return [
        "The sizes of a problem decide how `tied-sampling` plans an episode, and no clock, so that",
        "the same seed gives the same play. This is what that comes to, draws from the posterior",
        "included; one run each.",
        "",
        *table(columns, result["rows"]),
    ]


if __name__ == "__main__":
    outcome = run("--quick" in sys.argv[1:])
    print("\n".join([*describe(outcome), "", *goal_table(outcome["goals"])]))
