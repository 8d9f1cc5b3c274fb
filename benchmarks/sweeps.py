"""Plain sweeps: how close they come to the memory bandwidth of the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.machine import TRIAD_BYTES, triad
from benchmarks.measure import Goal, best_in_turns, table, threads
from benchmarks.models import slow_channels
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation

TITLE = "Plain sweeps and memory bandwidth"
SHARE = 0.5
BATCH = 10  # sweeps between two looks at the bounds, as in the solver
BATCHES = 5  # in a turn: a solution takes many, and the triad has cleared the cache


def run(quick: bool) -> dict[str, Any]:
    from restive.base.machine import thread_count
    from restive.mdp.iteration import THREADS_FROM_PAIRS

    rows = []
    for count in sorted({1, thread_count()}):
        bandwidth = triad(count)
        for cap in [100] if quick else [100, 400]:
            if count > 1 and 3 * _representation(cap).n_states < THREADS_FROM_PAIRS:
                continue
            rows.append(_measure(cap, count, bandwidth, 5 if quick else 15))
    usual = {row["cap"]: row for row in rows}  # the last one is on as many threads as usual
    goals = [
        Goal(f"K=3, M={r['cap']}, {r['threads']} thread(s): share of the triad", r["share"], SHARE,
             at_least=True).record()
        for r in usual.values()
    ]  # fmt: skip
    return {"rows": rows, "goals": goals}


def _representation(cap: int) -> Representation:
    return Representation.of(slow_channels(3), cap)


def _measure(
    cap: int, count: int, bandwidth: Callable[[], None], rounds: int
) -> dict[str, Any]:  # fmt: skip
    from restive.mdp.iteration import BanditIteration

    bandit, structure = slow_channels(3), _representation(cap)
    iteration = BanditIteration(structure, bandit_parameters(bandit, structure))
    gain = np.full(1, 0.8)

    def sweeps() -> None:
        for _ in range(BATCHES):
            iteration.sweep(gain, BATCH)

    with threads(count):
        sweeps()
        best = best_in_turns({"sweeps": sweeps, "triad": bandwidth}, rounds)
    seconds = best["sweeps"] / (BATCH * BATCHES)
    speed, limit = 16e-9 * structure.n_states / seconds, 1e-9 * TRIAD_BYTES / best["triad"]
    return {
        "cap": cap,
        "states": structure.n_states,
        "threads": count,
        "milliseconds": 1e3 * seconds,
        "ns_per_pair": 1e9 * seconds / (3 * structure.n_states),
        "speed": speed,
        "triad": limit,
        "share": speed / limit,
    }


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "cap": "M|d",
        "states": "states|,d",
        "threads": "threads|d",
        "milliseconds": "ms a sweep|.3f",
        "ns_per_pair": "ns a pair|.2f",
        "speed": "GB/s at 16 bytes a state|.1f",
        "triad": "triad GB/s|.1f",
        "share": "share|.2f",
    }
    return [
        "K=3 slow channels. A sweep in place reads and writes each value once, 16 bytes a state;",
        "the triad a = b + s c runs on the same number of threads, in turns with the sweeps, and",
        "the best of the turns counts. The values of M=100 fit into the cache, so a share above 1",
        "is no mistake there; sweeps as small as that stay on one thread. The goal is for as many",
        "threads as `plan` takes by itself.",
        "",
        *table(columns, result["rows"]),
    ]
