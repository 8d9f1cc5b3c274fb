"""One cell: a learner on a problem with a seed; and all of them, on all cores, kept as they end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from benchmarks.learners.suite import suite
from restive.base.errors import RestiveError
from restive.learners import make_learner
from restive.planning import Plan, plan
from restive.simulation import BanditWorld, play

__all__ = ["Cell", "run_cells"]


class Cell(NamedTuple):
    problem: str
    learner: str
    horizon: int
    seed: int

    @property
    def key(self) -> str:
        return f"{self.problem}|{self.learner}|{self.horizon}|{self.seed}"


@lru_cache(maxsize=4)
def _plan(problem: str) -> Plan:
    bandit = suite()[problem]
    return plan(bandit, 1e-5 if bandit.n_arms < 4 else 1e-4)


def run_cell(cell: Cell) -> dict[str, Any]:
    """Gap regret at the end; the world's seed depends on the cell's seed alone (paired)."""
    bandit = suite()[cell.problem]
    options: dict[str, Any] = {}
    if cell.learner == "tsde":
        # fewer ages apart: fewer colors to learn and a thousand plans that take seconds, not
        # minutes; it plays better with them, not worse
        options["mixing_times"] = [-(-arm.mixing_time() // 4) for arm in bandit.arms]
    try:
        learner = make_learner(
            cell.learner, bandit, cell.horizon, rng=10_000 + cell.seed, **options
        )
    except RestiveError as error:
        return {"refused": str(error).splitlines()[0][:200]}
    best = _plan(cell.problem)
    began = perf_counter()
    run = play(learner, BanditWorld(bandit, cell.seed), cell.horizon, plan=best)
    assert run.gap_regret is not None
    return {"gap_regret": float(run.gap_regret[-1]), "seconds": perf_counter() - began}


def _batch(cells: list[Cell]) -> list[tuple[str, dict[str, Any]]]:
    os.environ["RESTIVE_THREADS"] = "1"
    return [(cell.key, run_cell(cell)) for cell in cells]


def run_cells(cells: Iterable[Cell], store: Path, workers: int) -> dict[str, dict[str, Any]]:
    """Results by key; those in ``store`` already are not run again, new ones are appended."""
    done: dict[str, dict[str, Any]] = {}
    if store.exists():
        done = dict(json.loads(line) for line in store.read_text("utf-8").splitlines())
    groups: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in cells:
        if cell.key not in done:
            groups.setdefault((cell.problem, cell.learner, cell.horizon), []).append(cell)
    batches = [group[k : k + 5] for group in groups.values() for k in range(0, len(group), 5)]
    found = Parallel(n_jobs=workers, return_as="generator_unordered")(
        delayed(_batch)(batch) for batch in batches
    )
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("a", encoding="utf-8") as file:
        for number, results in enumerate(found, 1):
            done |= dict(results)
            file.writelines(json.dumps(result) + "\n" for result in results)
            file.flush()
            print(f"\r{number} of {len(batches)} batches", end="", flush=True)
    print()
    return done
