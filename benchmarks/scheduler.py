"""Scheduling: decisions a second among very many arms, and bytes an arm."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import Goal, best_in_turns, table
from restive.many.index_tables import IndexTable, pack_tables, stacked_tables
from restive.many.population import Population
from restive.many.scheduler import Scheduler
from restive.many.scheduler_state import new_scratch
from restive.model.bandit import Arm

TITLE = "Scheduling very many arms"
AGES = 64
FEW, MANY = 10**3, 10**6
KINDS = 10
ROUNDS = 5


def run(quick: bool) -> dict[str, Any]:
    steps = 20_000 if quick else 200_000
    rows = []
    for what, tables in (("index falls with age", _falling()), ("index rises", _rising())):
        pair = _in_turns(tables, 1, steps)
        rows += [_row(what, count, 1, AGES, *pair[count]) for count in (FEW, MANY)]
    for pulls in (100, 1000):
        found = _in_turns(_rising(), pulls, max(1, steps // pulls // 10), (MANY,))
        rows.append(_row("index rises", MANY, pulls, AGES, *found[MANY]))
    rows.append(_different(10**4 if quick else 10**6, steps))
    slowest = min(row["rate"] for row in rows if row["arms"] == MANY and row["pulls"] == 1)
    ratios = [few["rate"] / many["rate"] for few, many in (rows[:2], rows[2:4])]
    goals = [
        Goal("decisions a second, 10^6 arms, cap 64", slowest, 1e6, "", True),
        Goal("times the rate at 10^3 arms", max(ratios), 2.0),
        Goal("bytes an arm beside the tables", max(row["bytes"] for row in rows[1:2]), 32.0),
        Goal("naive rate beaten by", slowest / _naive(MANY), 1000.0, "", True),
    ]
    return {"rows": rows, "goals": [goal.record() for goal in goals]}


def _population(count: int) -> Population:
    rng = np.random.default_rng(0)
    up, stay = rng.uniform(0.02, 0.2, KINDS), rng.uniform(0.8, 0.97, KINDS)
    kinds = [
        Arm([[1 - a, a], [1 - b, b]], [0, r])
        for a, b, r in zip(up, stay, rng.uniform(0.5, 1, KINDS), strict=True)
    ]
    return Population(kinds, np.arange(count) % KINDS)


def _falling() -> list[IndexTable]:
    """Expected rewards: stay on a good arm, so few arms are young."""
    rows = [
        [arm.power(n) @ arm.rewards for n in range(1, AGES + 1)] for arm in _population(1).kinds
    ]
    return [IndexTable(np.transpose(row)) for row in rows]


def _rising() -> list[IndexTable]:
    """Arms are pulled only once they are old: 63 m of them are young, the most there can be."""
    rng = np.random.default_rng(1)
    young, old = rng.random((KINDS, 2, AGES - 1)) - 1, rng.random((KINDS, 2, 1))
    return [IndexTable(values) for values in np.concatenate([young, old], axis=2)]


def _in_turns(
    tables: list[IndexTable], pulls: int, steps: int, counts: tuple[int, ...] = (FEW, MANY)
) -> dict[int, tuple[float, float]]:
    """Decisions a second and bytes an arm, for several numbers of arms measured in turns."""
    packed = pack_tables(tables)
    plays, schedulers = {}, {}
    for count in counts:
        population = _population(count)
        schedulers[count] = Scheduler.packed(packed, population.kind_of, pulls)
        plays[str(count)] = _player(schedulers[count], population.laws, steps)
        plays[str(count)]()  # compiles, or loads what was compiled before
    seconds = best_in_turns(plays, ROUNDS)
    return {
        count: (pulls * steps / seconds[str(count)], schedulers[count].n_bytes / count)
        for count in counts
    }


def _player(scheduler: Scheduler, laws: Any, steps: int) -> Any:
    """A function that plays this many steps more, in one compiled loop, chains drawn as pulled."""
    from restive._kernels.unseen_chains import play_index

    pulls, room = scheduler.pulls, new_scratch(scheduler._tables, scheduler.pulls)
    pulled, seen = np.empty((2, pulls), dtype=np.int64)
    sums, key = np.zeros(2), np.uint64(1)
    return lambda: play_index(scheduler._tables, scheduler._arms, laws, key, pulls, steps, 0, room,
                              pulled, seen, sums)  # fmt: skip


def _different(count: int, steps: int) -> dict[str, Any]:
    """Arms that are all different: as many index tables as arms, here of 16 ages.

    All chains are drawn alike: it is the scheduler that is measured.
    """
    ages = 16
    rng = np.random.default_rng(2)
    values = rng.random((count, 2, ages))
    packed = stacked_tables(values, values[:, :, -1].mean(axis=1))
    scheduler = Scheduler.packed(packed, np.arange(count), 1)
    laws = Population([Arm([[0.9, 0.1], [0.2, 0.8]], [0, 1])], [0]).laws
    alike = laws._replace(**{
        name: np.broadcast_to(getattr(laws, name), count).copy()
        for name in ("sizes", "first", "begin", "places", "periods", "at_rest")
    })  # fmt: skip
    play = _player(scheduler, alike, steps)
    play()
    seconds = best_in_turns({"play": play}, ROUNDS)["play"]
    return _row("all different", count, 1, ages, steps / seconds, scheduler.n_bytes / count)


def _row(
    what: str, arms: int, pulls: int, ages: int, rate: float, n_bytes: float
) -> dict[str, Any]:
    return {"what": what, "arms": arms, "pulls": pulls, "ages": ages, "rate": rate,
            "bytes": n_bytes}  # fmt: skip


def _naive(count: int) -> float:
    """Decisions a second of NumPy: look all indices up, take the largest."""
    values = np.stack([table.values for table in _falling()])
    rng = np.random.default_rng(3)
    kinds, states = np.arange(count) % KINDS, rng.integers(0, 2, count)
    ages = np.full(count, AGES)
    began = perf_counter()
    for _ in range(3):
        arm = np.argmax(values[kinds, states, np.minimum(ages, AGES) - 1])
        ages += 1
        ages[arm] = 1
    return 3 / (perf_counter() - began)


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "what": "tables",
        "arms": "arms|,d",
        "pulls": "pulls a step|d",
        "ages": "ages|d",
        "rate": "decisions a second|,.0f",
        "bytes": "bytes an arm|.1f",
    }
    return [
        f"One core, one compiled loop: choose, draw what the pulled arms show, take note. {KINDS}",
        "kinds of two-state arms, or arms that are all different. A decision is one arm chosen.",
        "",
        *table(columns, result["rows"]),
    ]
