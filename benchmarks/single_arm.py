"""One arm alone: all its Whittle indices, beside markovianbandit-pkg and a closed form.

The peer has an environment of its own: ``MARKOVIANBANDIT_PYTHON`` names its Python, by default
this one. Where it is not installed its rows are left out and the page says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Goal, best_in_turns, table
from restive.many.two_state import two_state_bound
from restive.many.waits import WaitTable
from restive.many.whittle import whittle_table
from restive.model.bandit import Arm

TITLE = "One arm alone: indices and prices"
Floats = NDArray[np.float64]

ROUNDS = 5
PATIENCE = 900.0  # seconds for the peer
DISCOUNT = 0.99
PEER = """
import sys, time
import numpy as np
from markovianbandit.markovianbandit import restless_bandit_from_P0P1_R0R1 as make
data = np.load(sys.argv[1])
best = float("inf")
for turn in range(int(data["rounds"]) + 1):  # the first one compiles
    arm = make(data["rest"], data["pull"], data["unpaid"], data["paid"])
    began = time.perf_counter()
    indices = arm.whittle_indices(check_indexability=True, discount=float(data["discount"]))
    if turn:
        best = min(best, time.perf_counter() - began)
np.savez(sys.argv[2], indices=indices, seconds=best)
"""


def run(quick: bool) -> dict[str, Any]:
    rows, notes = [_timed(size, 400 if quick else 2_000) for size in (2, 5, 10, 20)], []
    for states in (100,) if quick else (100, 1_000):
        for discount in (1.0, DISCOUNT):
            row = _beside_peer(states, discount)
            (rows if "seconds" in row else notes).append(row)
    slowest = max(row["seconds"] for row in rows if "peer" not in row)
    goals = [Goal("all indices, 2,000 information states", 1e3 * slowest, 50.0, "ms")]
    largest = [row for row in rows if row.get("ratio") and row["states"] >= 1_000]
    if largest:
        ratio = min(row["ratio"] for row in largest)
        goals.append(Goal("times faster than markovianbandit-pkg", ratio, 20.0, "", True))
    arms = 10_000 if quick else 1_000_000
    goals.append(Goal(f"Lagrangian bound of {arms:,} different arms", _many(arms), 30.0, "s"))
    return {"rows": rows, "notes": notes, "goals": [goal.record() for goal in goals]}


def _arm(size: int, seed: int) -> Arm:
    """A chain that stays where it is nine times in ten; rewards rise with the state."""
    rng = np.random.default_rng(seed)
    chain = 0.1 * rng.dirichlet(np.ones(size), size=size) + 0.9 * np.eye(size)
    return Arm(chain, np.sort(rng.uniform(size=size)))


def _timed(size: int, states: int) -> dict[str, Any]:
    arm, cap = _arm(size, size), states // size
    whittle_table(arm, cap=cap)
    seconds = []
    for _ in range(ROUNDS):
        began = process_time()  # one thread, so this is the time on a machine that is not shared
        whittle_table(arm, cap=cap)
        seconds.append(process_time() - began)
    return {"what": f"{size} states, {cap} ages", "states": states, "seconds": min(seconds)}


def _beside_peer(states: int, discount: float) -> dict[str, Any]:
    """Two-state arm; the peer sees the information states as one chain for each action."""
    arm, cap = _arm(2, 1), states // 2
    own = whittle_table(arm, cap=cap, discount=discount)
    what = f"2 states, {cap} ages, " + ("average" if discount == 1 else f"discount {discount:g}")
    theirs, seconds, words = _peer(own.table, discount)
    if theirs is None:
        return {"what": what, "why": words}
    task = {"own": lambda: whittle_table(arm, cap=cap, discount=discount)}
    mine = best_in_turns(task, ROUNDS)["own"]
    apart = float(np.nanmax(np.abs(theirs.reshape(own.indices.shape) - own.indices)))
    return {"what": what, "states": states, "seconds": mine, "peer": seconds,
            "ratio": seconds / mine, "apart": apart}  # fmt: skip


def _peer(rows: WaitTable, discount: float) -> tuple[Floats | None, float, str]:
    """The peer's indices and seconds, or why there are none."""
    size, ages = rows.means.shape
    rest, pull = np.zeros((2, size * ages, size * ages))
    for s in range(size):
        for k in range(ages):
            rest[s * ages + k, s * ages + min(k + 1, ages - 1)] = 1.0
            pull[s * ages + k, np.arange(size) * ages] = rows.laws[s, :, k]
    python = os.environ.get("MARKOVIANBANDIT_PYTHON", sys.executable)
    with TemporaryDirectory() as folder:
        problem, answer = Path(folder) / "problem.npz", Path(folder) / "answer.npz"
        np.savez(problem, rest=rest, pull=pull, paid=rows.means.ravel(), rounds=2,
                 unpaid=np.zeros(size * ages), discount=discount)  # fmt: skip
        try:
            done = subprocess.run([python, "-c", PEER, str(problem), str(answer)], text=True,
                                  capture_output=True, timeout=PATIENCE)  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, 0.0, f"no answer after {PATIENCE:g} s"
        if done.returncode:
            return None, 0.0, (done.stderr.strip().splitlines() or ["no answer"])[-1][:200]
        with np.load(answer) as found:
            return found["indices"], float(found["seconds"]), ""


def _many(arms: int) -> float:
    rng = np.random.default_rng(2)
    rates, rewards = rng.uniform(0.02, 0.5, (2, arms)), rng.uniform(0.5, 1, arms)
    two_state_bound(rates[0, :100], 1 - rates[1, :100], 0, rewards[:100], 10)
    return best_in_turns(
        {"bound": lambda: two_state_bound(rates[0], 1 - rates[1], 0, rewards, arms // 10)}, 1
    )["bound"]


def describe(result: dict[str, Any]) -> list[str]:
    columns = {"what": "arm", "states": "information states|,d", "seconds": "seconds|.4f",
               "peer": "markovianbandit-pkg|.4f", "ratio": "times|.1f",
               "apart": "largest difference|.1e"}  # fmt: skip
    return [
        "All Whittle indices of one arm and the verdict on indexability, compiled code only, one",
        "thread; where no peer is beside it, in seconds of CPU. The peer gets the information",
        "states as a chain for each action; building that is not counted.",
        "",
        *table(columns, result["rows"]),
        *[
            f"\nNo figure of the peer for {note['what']}: {note['why']}."
            for note in result["notes"]
        ],
    ]
