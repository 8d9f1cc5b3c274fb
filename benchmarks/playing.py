"""Learning: steps a second of compiled play, beside a plain Python loop and SMPyBandits."""

from __future__ import annotations

import random
from time import perf_counter
from typing import Any

from benchmarks.measure import Goal, table
from restive.learners import make_learner
from restive.problems import example1
from restive.simulation import BanditWorld, play

TITLE = "Playing"
EPSILON = 0.1


def run(quick: bool) -> dict[str, Any]:
    bandit = example1(EPSILON)
    _published(bandit, 100_000)  # compiles, or loads what was compiled before
    _tied(bandit, 2_000)
    rows, goals = [], []
    for horizon, goal in [(10**6, 2.0)] if quick else [(10**7, 2.0), (10**8, 15.0)]:
        seconds, planning = _published(bandit, horizon)
        rows.append(_row(f"colored-ucrl2, T={horizon:.0e}", horizon, seconds, planning))
        goals.append(Goal(f"colored-ucrl2, T={horizon:.0e}, planning included", seconds, goal, "s"))
    fastest = max(row["rate"] for row in rows)
    steps = 50_000 if quick else 500_000
    python = steps / _plain_loop(steps)
    rows.append(_row("plain Python loop, policy and counts in dictionaries", steps, steps / python))
    goals.append(Goal("times a plain Python loop", fastest / python, 30.0, at_least=True))
    asked = 5_000 if quick else 20_000
    peer = _smpybandits(asked)
    if isinstance(peer, float):
        rows.append(_row("SMPyBandits: UCB, two Bernoulli arms", asked, asked / peer))
        goals.append(Goal("times SMPyBandits", fastest / peer, 1000.0, at_least=True))
    rows.append(_row("tied-sampling, T=1e+05", 100_000, *_tied(bandit, 100_000)))
    goals.append(Goal("tied-sampling, 1e5 steps", rows[-1]["seconds"], 1.0, "s"))
    note = "" if isinstance(peer, float) else peer
    return {"rows": rows, "goals": [goal.record() for goal in goals], "note": note}


def _published(bandit: Any, horizon: int) -> tuple[float, float]:
    learner = make_learner("colored-ucrl2", bandit, horizon, rng=0)
    began = perf_counter()
    run = play(learner, BanditWorld(bandit, 0), horizon)
    return perf_counter() - began, run.seconds_planning


def _tied(bandit: Any, horizon: int) -> tuple[float, float]:
    learner = make_learner("tied-sampling", bandit, None, rng=0)
    began = perf_counter()
    run = play(learner, BanditWorld(bandit, 0), horizon)
    return perf_counter() - began, run.seconds_planning


def _row(what: str, steps: int, seconds: float, planning: float | None = None) -> dict[str, Any]:
    return {"what": what, "steps": steps, "seconds": seconds, "planning": planning,
            "rate": steps / seconds}  # fmt: skip


def _plain_loop(steps: int) -> float:
    """Seconds of the obvious loop: two chains, a policy and counts by (arm, state, age)."""
    draw = random.Random(0).random
    hidden, seen, age, last = [0, 1], [0, 1], [2, 1], 1
    counts: dict[tuple[int, int, int, int], int] = {}
    policy = {(arm, state): arm if state else 1 - arm for arm in (0, 1) for state in (0, 1)}
    total = 0.0
    began = perf_counter()
    for _ in range(steps):
        for arm in (0, 1):
            if draw() < EPSILON:
                hidden[arm] = 1 - hidden[arm]
        arm = policy[last, seen[last]]
        state = hidden[arm]
        key = (arm, seen[arm], min(age[arm], 80), state)
        counts[key] = counts.get(key, 0) + 1
        total += state
        age[0] += 1
        age[1] += 1
        seen[arm], age[arm], last = state, 1, arm
    return perf_counter() - began


def _smpybandits(steps: int) -> float | str:
    """Steps a second of its own loop, or why there are none.

    Its Markov arms need a package that is not to be had, so it plays two Bernoulli arms.
    """
    try:
        from scipy import special

        if not hasattr(special, "btdtri"):  # removed from SciPy, and it still asks for it
            special.btdtri = special.betaincinv
        from SMPyBandits.Arms import Bernoulli
        from SMPyBandits.Policies import UCB
    except Exception as error:
        return f"SMPyBandits: not run ({type(error).__name__}: {error})"[:200]
    policy, arms = UCB(2), [Bernoulli(0.5), Bernoulli(0.4)]
    policy.startGame()
    began = perf_counter()
    for step in range(steps):
        arm = policy.choice()
        policy.getReward(arm, arms[arm].draw(step))
    return steps / (perf_counter() - began)


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "what": "what",
        "steps": "steps|,d",
        "seconds": "seconds|.3g",
        "planning": "of which planning|.3g",
        "rate": "steps a second|,.0f",
    }
    return [
        f"Example 1, epsilon {EPSILON}; worlds, learning and planning included.",
        *([result["note"]] if result["note"] else []),
        "",
        *table(columns, result["rows"]),
    ]
