"""Fitting: how long a user waits from a file of a million sightings to its arms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Goal, table
from restive.data.fitting import fit
from restive.data.reading import read_traces

TITLE = "Fitting"
ARMS, SEEN = 20, 0.1
Ints = NDArray[np.int64]


def run(quick: bool) -> dict[str, Any]:
    sightings = 100_000 if quick else 1_000_000
    steps, arms, states = _log(sightings)
    fit({"warm": [0, None, 1, 1, 0, 0, None, 1, 0]})  # kernels compile
    with TemporaryDirectory() as room:
        files = _files(Path(room), steps, arms, states)
        rows = [_measured(name, sightings, make) for name, make in files.items()]
    goals = [
        Goal(f"{row['sightings']:,} sightings of {ARMS} arms, {row['data']}", row["cpu"], 10.0, "s")
        for row in rows
    ]
    return {"rows": rows, "goals": [goal.record() for goal in goals]}


def _log(sightings: int) -> tuple[Ints, Ints, Ints]:
    """Steps, arms and states (0 to 2) of a log in which a tenth of all steps is seen."""
    rng = np.random.default_rng(0)
    many = sightings // ARMS
    gaps = rng.geometric(SEEN, (ARMS, many))
    states = np.empty((ARMS, many), dtype=np.int64)
    chains = np.array([0.9 * np.eye(3) + 0.1 * rng.dirichlet(np.ones(3), 3) for _ in range(ARMS)])
    powers = [np.tile(np.eye(3), (ARMS, 1, 1))]
    for _ in range(gaps.max()):
        powers.append(powers[-1] @ chains)
    heights, state = np.cumsum(powers, axis=3)[..., :-1], np.zeros(ARMS, dtype=np.int64)
    for t in range(many):
        rows = heights[gaps[:, t], np.arange(ARMS), state]
        state = (rng.random(ARMS)[:, None] > rows).sum(axis=1)
        states[:, t] = state
    steps = gaps.cumsum(axis=1).ravel()
    order = np.argsort(steps, kind="stable")
    arms = np.repeat(np.arange(ARMS), many)
    return steps[order], arms[order], states.ravel()[order]


def _files(room: Path, steps: Ints, arms: Ints, states: Ints) -> dict[str, Callable[[], Any]]:
    """The log as a CSV file, a Parquet file and columns in memory; and a wide array, every step."""
    names = np.array([f"channel {k + 1}" for k in range(ARMS)])[arms]
    words = np.array(["bad", "fair", "good"])[states]
    with open(room / "log.csv", "w", encoding="utf-8") as stream:
        stream.write("time,arm,state\n")
        stream.writelines(f"{t},{a},{s}\n" for t, a, s in zip(steps, names, words, strict=True))
    columns = {"time": steps, "arm": names, "state": words}
    wide = states[: len(states) // ARMS * ARMS].reshape(-1, ARMS)
    made: dict[str, Callable[[], Any]] = {
        "CSV, a tenth of steps seen": lambda: room / "log.csv",
        "columns, a tenth of steps seen": lambda: columns,
        "array, every step seen": lambda: wide,
    }
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return made
    parquet.write_table(pyarrow.table(columns), room / "log.parquet")
    return {**made, "Parquet, a tenth of steps seen": lambda: room / "log.parquet"}


def _measured(name: str, sightings: int, make: Callable[[], Any]) -> dict[str, Any]:
    start, began = perf_counter(), process_time()
    traces = read_traces(make())
    read = perf_counter()
    fitted = fit(traces)
    end = perf_counter()
    assert all(arm.estimate.converged for arm in fitted.arms)
    return {"data": name, "sightings": sightings, "read": read - start, "fit": end - read,
            "all": end - start, "cpu": process_time() - began}  # fmt: skip


def describe(result: dict[str, Any]) -> list[str]:
    columns = {"data": "data", "sightings": "sightings|,d", "read": "reading s|.2f",
               "fit": "fitting s|.2f", "all": "together s|.2f",
               "cpu": "of the processor s|.2f"}  # fmt: skip
    words = [
        f"Sightings of {ARMS} arms of three states; kernels had been compiled before. All of it is",
        "one thread, so the time of the processor is what a user waits on a machine that does",
        "nothing else; the goals are about that.",
    ]
    return [*words, "", *table(columns, result["rows"])]
