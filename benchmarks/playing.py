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
    _tied(bandit, 100_000)  # its kernels are read from the cache once a process
    rows, goals = [], []
    for horizon, goal in [(10**6, 2.0)] if quick else [(10**7, 2.0), (10**8, 15.0)]:
        seconds, planning = _published(bandit, horizon)
        rows.append(_row(f"colored-ucrl2, T={horizon:.0e}", horizon, seconds, planning))
        goals.append(Goal(f"colored-ucrl2, T={horizon:.0e}, planning included", seconds, goal, "s"))
    fastest = max(row["rate"] for row in rows)
    steps = 50_000 if quick else 500_000
    python = steps / min(_plain_loop(steps) for _ in range(3))
    rows.append(_row("plain Python loop, policy and counts in dictionaries", steps, steps / python))
    goals.append(Goal("times a plain Python loop", fastest / python, 30.0, at_least=True))
    tuned = steps / min(_tuned_loop(steps) for _ in range(3))
    rows.append(_row("plain Python loop tuned by hand for two arms", steps, steps / tuned))
    asked = 5_000 if quick else 20_000
    peer = _smpybandits(asked)
    if isinstance(peer, float):
        rows.append(_row("SMPyBandits: UCB, two Bernoulli arms", asked, asked / peer))
        goals.append(Goal("times SMPyBandits", fastest / peer, 1000.0, at_least=True))
    rows.append(_row("tied-sampling, T=1e+05", 100_000, *_tied(bandit, 100_000)))
    goals.append(Goal("tied-sampling, 1e5 steps", rows[-1]["seconds"], 1.0, "s"))
    note = "" if isinstance(peer, float) else peer
    return {"rows": rows, "goals": [goal.record() for goal in goals], "note": note,
            "times_tuned": fastest / tuned}  # fmt: skip


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
    """Seconds of the obvious loop: two chains, a policy and counts by (arm, state, age).

    It moves both chains, looks the arm up and counts what it sees; it never estimates or plans.
    """
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


def _tuned_loop(steps: int) -> float:
    """Seconds of the same job written for speed by hand: two arms, lists, no keys to build.

    It looks its arm up by the whole information state, as a planned policy must.
    """
    draw, epsilon, cap = random.Random(0).random, EPSILON, 80
    counts = [[[[0, 0] for _ in range(cap + 1)] for _ in (0, 1)] for _ in (0, 1)]
    stay = [[[[a if (s, u)[a] else 1 - a] * (cap + 1) for u in (0, 1)] for s in (0, 1)]
            for a in (0, 1)]  # fmt: skip
    first, second = counts
    x, y, s, u, age, last = 0, 1, 0, 1, 2, 1  # hidden, seen, age of the arm not pulled last
    total = 0.0
    began = perf_counter()
    for _ in range(steps):
        if draw() < epsilon:
            x = 1 - x
        if draw() < epsilon:
            y = 1 - y
        arm = stay[last][s][u][age]
        own = 1 if arm == last else age
        if arm == last:
            age = age + 1 if age < cap else cap
        else:
            age, last = 2, arm
        if arm:
            second[u][own][y] += 1
            total += y
            u = y
        else:
            first[s][own][x] += 1
            total += x
            s = x
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
    times, tuned = result.get("times_tuned"), ""
    if times:
        tuned = f" Compiled play is {times:.0f} times as fast as the one tuned by hand."
    return [
        f"Example 1, epsilon {EPSILON}; worlds, learning and planning included. The plain loops "
        "move both chains, look the arm up and count what they see; they neither estimate nor plan."
        f"{tuned}",
        *([result["note"]] if result["note"] else []),
        "",
        *table(columns, result["rows"]),
    ]
