"""Scheduling: every choice of the scheduler against the largest indices among all arms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from restive._kernels import schedule
from restive.many.index_tables import IndexTable, pack_tables
from restive.many.scheduler_state import new_arms, new_scratch, young_most
from verification import Check, Finding, Settings, judge

__all__ = ["CHECKS"]

Ints = NDArray[np.int64]

_select, _observe = schedule.select, schedule.observe


@njit(error_model="numpy")
def _naive_choice(grid, lengths, periods, kinds, last, ages, pulls, chosen):  # type: ignore[no-untyped-def]
    """The arms of largest index one after the other, by looking at all of them each time.

    grid: (kinds, S + 1, ages), the last row of a kind for arms not seen yet; lengths: ages that
    each row has, of which the last ``periods[kind]`` repeat.
    """
    taken = np.zeros(len(kinds), dtype=np.bool_)
    for k in range(pulls):
        best = -1
        value = 0.0
        for arm in range(len(kinds)):
            kind, state = kinds[arm], last[arm]
            age, length, period = ages[arm], lengths[kind, state], periods[kind]
            if age > length:
                age = length - period + 1 + (age - (length - period + 1)) % period
            index = grid[kind, state, age - 1]
            if not taken[arm] and (best < 0 or index > value):
                best, value = arm, index
        taken[best] = True
        chosen[k] = best


@njit(error_model="numpy")
def _differences(tables, arms, scratch, grid, lengths, periods, kinds, sizes, pulls, steps, seed):  # type: ignore[no-untyped-def]
    """Play random states and count the steps at which the two choices differ."""
    np.random.seed(seed)  # noqa: NPY002 - numba's own generator
    last, ages = np.full(len(kinds), -1), np.ones(len(kinds), dtype=np.int64)
    chosen, seen = np.empty(pulls, dtype=np.int64), np.empty(pulls, dtype=np.int64)
    wrong = 0
    for _ in range(steps):
        _naive_choice(grid, lengths, periods, kinds, last, ages, pulls, chosen)
        _select(tables, arms, pulls, scratch)
        pulled = np.sort(scratch.arm[:pulls])
        wrong += 1 if (pulled != np.sort(chosen)).any() else 0
        ages += 1
        for k in range(pulls):
            seen[k] = np.random.randint(0, sizes[kinds[chosen[k]]])  # noqa: NPY002
            last[chosen[k]], ages[chosen[k]] = seen[k], 1
        _observe(tables, arms, chosen, seen)
    return wrong


def _draw(rng: np.random.Generator) -> tuple[list[IndexTable], Ints, int]:
    """Rough tables, half of them with many ties, with loops of up to five ages."""
    tables = []
    for _ in range(int(rng.integers(1, 5))):
        shape = int(rng.integers(1, 5)), int(rng.integers(1, 65))
        period = int(rng.integers(1, min(shape[1], 5) + 1))
        values = rng.random(shape) if rng.random() < 0.5 else rng.integers(0, 8, shape) / 8
        unseen: Any = [None, np.inf, rng.random(2 * period)][int(rng.integers(3))]
        tables.append(IndexTable(values, period, unseen))
    kinds = rng.integers(0, len(tables), int(rng.integers(2, 200)))
    return tables, kinds, int(rng.integers(1, min(len(kinds), 8) + 1))


def _padded(tables: list[IndexTable]) -> tuple[NDArray[np.float64], Ints]:
    states = max(table.n_states for table in tables)
    longest = max(max(table.values.shape[1], len(table.unseen)) for table in tables)
    grid = np.zeros((len(tables), states + 1, longest))
    lengths = np.zeros((len(tables), states + 1), dtype=np.int64)
    for kind, table in enumerate(tables):
        grid[kind, : table.n_states, : table.values.shape[1]] = table.values
        lengths[kind, : table.n_states] = table.values.shape[1]
        grid[kind, -1, : len(table.unseen)] = table.unseen
        lengths[kind, -1] = len(table.unseen)
    return grid, lengths


def wrong_choices(seed: int, decisions: int) -> int:
    """Steps of a random problem at which the scheduler's choice is not the naive one."""
    tables, kinds, pulls = _draw(np.random.default_rng([seed, 73]))
    packed = pack_tables(tables)
    row = packed.first[kinds] + packed.sizes[kinds]
    arms = new_arms(packed, row, np.full(len(row), -1), 0, young_most(packed, row, pulls))
    schedule.store_all(packed, arms, 0, len(row))
    grid, lengths = _padded(tables)
    periods = np.array([table.period for table in tables])
    sizes = np.array([table.n_states for table in tables])
    return int(_differences(packed, arms, new_scratch(packed, pulls), grid, lengths, periods, kinds,
                            sizes, pulls, -(-decisions // pulls), seed))  # fmt: skip


def check_scheduler(settings: Settings) -> Iterator[Finding]:
    """The scheduler's choice is that of looking at all arms."""
    problems, decisions = settings.size(200, 40), settings.size(100_000, 5_000)
    wrong = sum(wrong_choices(seed, decisions) for seed in range(problems))
    yield Finding(
        "scheduler",
        f"{problems} random problems, {decisions:,} decisions each: the naive choice at every step",
        f"{wrong} steps differ",
        "0",
        judge(wrong == 0),
    )


CHECKS: dict[str, Check] = {"scheduler": check_scheduler}
