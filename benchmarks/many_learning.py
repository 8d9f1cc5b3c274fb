"""Learning slow arms and many arms: rewards beside policies that know the arms, and seconds.

``python -m benchmarks.many_learning [--quick]``
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks.measure import Goal, goal_table, table
from restive.learners import Learner, make_learner
from restive.learners.fixed import FollowPolicy
from restive.model.bandit import Arm, Bandit
from restive.policies.policy import FunctionPolicy
from restive.simulation import BanditWorld

TITLE = "Learning slow arms and many arms"
SLOW = [(4, 0.01), (4, 0.03), (5, 0.01), (5, 0.03)]
MANY = (12, 20, 50)
RULE = "stay, else oldest"
NAMES = ("tied-sampling", "whittle-sampling", RULE, "myopic", "whittle")


def run(quick: bool) -> dict[str, Any]:
    seeds, slow, many = (1, 3_000, 3_000) if quick else (3, 20_000, 100_000)
    rows = [_slow_row(arms, rate, slow, seeds) for arms, rate in SLOW]
    rows += [_many_row(arms, many, seeds) for arms in MANY]
    within = [row["tied-sampling"] / row["myopic"] for row in rows[: len(SLOW)]]
    last = [row["tied-sampling"] / row["whittle"] for row in rows[len(SLOW) :]]
    goals = [
        Goal("slow arms: share of myopic on the truth, least", min(within), 0.98, "", True),
        Goal("many arms: share of Whittle on the truth, last tenth, least", min(last), 0.99, "",
             True),
        Goal("many arms: seconds a run, most", max(row["seconds"] for row in rows), 60.0, "s"),
    ]  # fmt: skip
    return {"rows": rows, "goals": [goal.record() for goal in goals]}


def _slow_row(arms: int, rate: float, steps: int, seeds: int) -> dict[str, Any]:
    """Mean rewards of whole runs, all learners on the same paths."""
    runs = []
    for seed in range(seeds):
        rng = np.random.default_rng([arms, seed])
        chances = rate * rng.uniform(0.5, 1.5, (arms, 2))
        runs.append(_runs(_bandit(chances, rng.uniform(0.8, 1.0, arms)), steps, seed, 1.0))
    return {"what": f"rates {rate:g}", "arms": arms, "steps": steps, **_means(runs)}


def _many_row(arms: int, steps: int, seeds: int) -> dict[str, Any]:
    """Mean rewards of the last tenth of runs, another problem in each."""
    runs = []
    for seed in range(seeds):
        rng = np.random.default_rng([arms, seed])
        bandit = _bandit(rng.uniform(0.05, 0.5, (arms, 2)), rng.uniform(0.5, 1.0, arms))
        runs.append(_runs(bandit, steps, seed, 0.1))
    return {"what": "rates .05 to .5, last tenth", "arms": arms, "steps": steps, **_means(runs)}


def _means(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: float(np.mean([result[key] for result in runs])) for key in runs[0]}


def _bandit(chances: Any, rewards: Any) -> Bandit:
    pairs = zip(chances, rewards, strict=True)
    return Bandit([Arm([[1 - p, p], [q, 1 - q]], [0, r]) for (p, q), r in pairs])


def _runs(bandit: Bandit, steps: int, seed: int, part: float) -> dict[str, float]:
    record = BanditWorld(bandit, seed).record(steps)
    results: dict[str, float] = {}
    for name in NAMES:
        learner = _learner(name, bandit, seed)
        began = process_time()
        pulls = learner.play_path(record.states, record.rewards)
        if name == "tied-sampling":
            results["seconds"] = process_time() - began
        earned = record.rewards[pulls, np.arange(steps)]
        results[name] = float(earned[-int(part * steps) :].mean())
    return results


def _learner(name: str, bandit: Bandit, seed: int) -> Learner:
    if name == RULE:
        return FollowPolicy(FunctionPolicy(_stay(bandit), bandit.n_states), RULE)
    return make_learner(name, bandit, None, rng=seed)


def _stay(bandit: Bandit) -> Callable[[tuple[int, ...], tuple[int, ...]], int]:
    """Stay where the good state was just seen, else go to the arm unseen longest."""
    good = [int(np.argmax(arm.rewards)) for arm in bandit.arms]

    def rule(states: tuple[int, ...], ages: tuple[int, ...]) -> int:
        last = ages.index(min(ages))
        return last if states[last] == good[last] else ages.index(max(ages))

    return rule


def describe(result: dict[str, Any]) -> list[str]:
    columns = {"what": "arms of two states", "arms": "arms|d", "steps": "steps|,d"}
    columns |= {name: f"{name}|.4f" for name in NAMES} | {"seconds": "seconds|.1f"}
    return [
        "Mean reward a step. The rule of thumb, `myopic` and `whittle` know the arms; seconds are",
        "those of processor time that `tied-sampling` took, planning included.",
        "",
        *table(columns, result["rows"]),
    ]


if __name__ == "__main__":
    outcome = run("--quick" in sys.argv[1:])
    print("\n".join([*describe(outcome), "", *goal_table(outcome["goals"])]))
