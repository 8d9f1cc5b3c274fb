"""A large problem: four arms and a hundred million states, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from time import perf_counter
from typing import Any

from benchmarks.measure import Goal, table
from benchmarks.models import quick_channels

TITLE = "A large problem"
CAP, QUICK_CAP = 118, 26
MEMORY = 8 << 30
QUERIES = 100_000
LIMIT = 300  # seconds after which the attempt ends


def run(quick: bool) -> dict[str, Any]:
    """Plan in a fresh process, so that its peak of memory is the problem's own."""
    command = [sys.executable, "-m", "benchmarks.large", str(QUICK_CAP if quick else CAP)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise RuntimeError(f"planning failed: {done.stderr.strip()[-300:]}")
    row = json.loads(done.stdout)
    what = f"K=4, {row['states']:,} states"
    goals = [] if quick else [Goal("states of the large problem", row["states"], 1e8, "", True)]
    goals += [
        Goal(f"{what}: time to plan", row["seconds"], 60, "s"),
        Goal(f"{what}: peak memory", row["memory"] / 2**30, MEMORY / 2**30, "GiB"),
        Goal(f"{what}: width of the certified interval", row["width"], 1e-6),
    ]
    return {"rows": [row], "goals": [goal.record() for goal in goals]}


def plan_once(cap: int) -> dict[str, Any]:
    """Plan, read the policy at random information states, and report it as plain data."""
    import numpy as np

    from restive.planning import plan

    bandit = quick_channels(4)
    plan(bandit, caps=4)  # loads the compiled kernels
    found = plan(bandit, caps=cap, memory=MEMORY)
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, (QUERIES, 4))
    ages = rng.integers(2, cap + 1, (QUERIES, 4))
    ages[np.arange(QUERIES), rng.integers(0, 4, QUERIES)] = 1
    start = perf_counter()
    shares = np.bincount(found.actions(states, ages), minlength=4) / QUERIES
    return {
        "cap": cap,
        "states": found.states,
        "lower": found.gain_lower,
        "upper": found.gain_upper,
        "width": found.gain_upper - found.gain_lower,
        "sweeps": found.sweeps,
        "seconds": found.seconds,
        "memory": _peak_memory(),
        "query_us": 1e6 * (perf_counter() - start) / QUERIES,
        "pulls": [round(float(share), 3) for share in shares],
    }


def _peak_memory() -> int:
    """Most bytes this process has held. On Linux not ru_maxrss, which counts the parent's too."""
    try:
        with open("/proc/self/status", encoding="ascii") as lines:
            found = next(line for line in lines if line.startswith("VmHWM:"))
        return int(found.split()[1]) * 1024
    except (OSError, StopIteration):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def describe(result: dict[str, Any]) -> list[str]:
    row = result["rows"][0]
    shown = {
        **row,
        "interval": f"[{row['lower']:.8f}, {row['upper']:.8f}]",
        "gib": row["memory"] / 2**30,
    }
    columns = {
        "cap": "M|d",
        "states": "states|,d",
        "interval": "certified gain",
        "width": "width|.2g",
        "sweeps": "sweeps|d",
        "seconds": "seconds|.1f",
        "gib": "peak GiB|.2f",
        "query_us": "us a query|.2f",
    }
    return [
        "Four two-state channels that forget to 1e-6 in about a hundred steps. Planned by `plan`",
        "with `memory=8 << 30` in a fresh process, compiled kernels loaded; peak memory is the",
        "process's own. The certified interval is for the true gain: it contains the span of the",
        "last sweep, and is never narrower.",
        f"The policy was then read at {QUERIES:,} random information states; it pulls the four",
        f"arms in shares of {', '.join(map(str, row['pulls']))} there.",
        "",
        *table(columns, [shown]),
    ]


if __name__ == "__main__":
    print(json.dumps(plan_once(int(sys.argv[1]))))
