"""Comparisons: what keeping, sending and waiting cost beside the simulation itself."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from benchmarks.measure import Goal, table
from restive.experiments import Experiment, Results
from restive.problems import example1

TITLE = "Overhead of comparisons"
LEARNER = "thompson"
TRIAL = 200_000  # steps to learn the pace from
ALLOWED = 0.05


def run(quick: bool) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        room = Path(name)
        pace = _pace(room / "pace")
        start = perf_counter()
        _compare(room / "cold", round(0.1 / pace), 8, 2)  # long enough for both to get some
        cold = perf_counter() - start  # workers start here, and stay for what follows
        cases = [(0.1, 8)] if quick else [(1.0, 40), (0.1, 100), (0.01, 300)]
        rows = [
            _row(room / f"{workers}-{seconds}", seconds, round(seconds / pace), runs, workers)
            for seconds, runs in cases
            for workers in (1, 2)
        ]
    goals = [
        Goal(f"overhead, cells of one second, {row['workers']} worker(s)", row["overhead"],
             ALLOWED).record()
        for row in rows
        if row["aim"] == 1.0
    ]  # fmt: skip
    return {"rows": rows, "goals": goals, "start": cold}


def _pace(where: Path) -> float:
    """Seconds per step, kernels loaded."""
    _compare(where / "first", TRIAL, 1, 1)
    results = _compare(where / "second", TRIAL, 3, 1)
    return min(_seconds(results)) / TRIAL


def _compare(where: Path, steps: int, runs: int, workers: int) -> Results:
    return Experiment({"example": example1()}, [LEARNER], steps, runs).run(where, workers=workers)


def _seconds(results: Results) -> list[float]:
    curves = results.curves("example", LEARNER, results.horizons[0])
    if curves is None:
        raise RuntimeError("the comparison is not complete")
    return [float(seconds) for seconds in curves.seconds]


def _row(where: Path, aim: float, steps: int, runs: int, workers: int) -> dict[str, Any]:
    """One comparison. Idle: share of the workers' time outside of cells. Own: processor time of
    the process that sends and keeps, which on a busy machine it takes from the workers."""
    began, busy = perf_counter(), process_time()
    simulated = sum(_seconds(_compare(where, steps, runs, workers)))
    wall, own = perf_counter() - began, process_time() - busy
    idle = workers * wall - simulated
    extra = idle if workers == 1 else idle + own  # one worker: all happens in this process
    return {
        "aim": aim, "workers": workers, "cells": runs, "cell": simulated / runs, "wall": wall,
        "idle": idle / simulated, "own": 0.0 if workers == 1 else own / simulated,
        "overhead": extra / simulated,
    }  # fmt: skip


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "workers": "workers|d",
        "cells": "cells|d",
        "cell": "seconds a cell|.3f",
        "wall": "wall s|.1f",
        "idle": "idle|.1%",
        "own": "sending and keeping|.1%",
        "overhead": "overhead|.1%",
    }
    return [
        "Runs of one learner on Example 1, each in its own file, flushed to the disk. Idle is the",
        "share of the workers' time outside of cells, the wait for the last cell and the table",
        "at the end included; sending and keeping is the processor time of the process that asks.",
        "Overhead is their sum, as a share of the simulation time. Workers ran before; starting",
        f"them took {result['start']:.1f} s, a first small comparison included.",
        "",
        *table(columns, result["rows"]),
    ]
