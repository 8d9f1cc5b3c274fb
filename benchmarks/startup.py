"""Start-up: how long a user waits for the command line, with and without compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.measure import Goal, table

TITLE = "Start-up of the command line"
COMMAND = [sys.executable, "-c", "from restive.cli import main; main()"]  # as the script does
LIMIT = 120


def run(quick: bool) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        room = Path(name)
        problem = room / "example-1.toml"
        problem.write_bytes(_call(["problem", "example-1"], None).stdout)
        rows = [_row("restive --help", ["--help"], 0.3, [None] * (3 if quick else 9))]
        plan = ["plan", str(problem)]
        _call(plan, None)  # compiles the kernels where they are not yet
        caches = [None] * (3 if quick else 9)
        rows.append(_row("restive plan, kernels compiled before", plan, 1.5, caches))
        if not quick:
            fresh = [room / f"cold-{k}" for k in range(3)]
            rows.append(_row("restive plan, kernels not compiled yet", plan, 15, fresh))
    goals = [Goal(row["what"], row["median"], row.pop("goal"), "s").record() for row in rows]
    return {"rows": rows, "goals": goals}


def _row(
    what: str, arguments: list[str], goal: float, caches: Sequence[Path | None]
) -> dict[str, Any]:
    """Seconds of one command, run once with each cache of compiled kernels (None: the user's)."""
    seconds, busy = [], []
    for cache in caches:
        start, work = perf_counter(), os.times()
        _call(arguments, cache)
        seconds.append(perf_counter() - start)
        done = os.times()
        spent = done.children_user + done.children_system
        busy.append(spent - work.children_user - work.children_system)
    least, most = min(seconds), max(seconds)
    return {
        "what": what,
        "runs": len(seconds),
        "median": median(seconds),
        "least": least,
        "most": most,
        "processor": median(busy),
        "goal": goal,
    }


def _call(arguments: list[str], cache: Path | None) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        timeout=LIMIT,
        env=os.environ | ({"NUMBA_CACHE_DIR": str(cache)} if cache else {}),
    )
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()[-300:]
        raise RuntimeError(f"restive {' '.join(arguments)} failed: {words}")
    return done


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "what": "command",
        "runs": "runs|d",
        "median": "median s|.3f",
        "least": "least s|.3f",
        "most": "most s|.3f",
        "processor": "processor s|.3f",
    }
    return [
        "Whole processes, from start to exit; the plan is that of Example 1 with its default",
        "parameters. Kernels are compiled once per user and kept. Processor time is about what the",
        "command takes on a machine with nothing else to do.",
        "",
        *table(columns, result["rows"]),
    ]
