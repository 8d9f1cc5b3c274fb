"""Index tables of kinds of arms: a number for each state last seen and age, on a lasso of ages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief
from restive.base.errors import refusal

if TYPE_CHECKING:
    from restive._kernels.schedule import Tables


@dataclass(frozen=True, eq=False, repr=False)
class IndexTable(Brief):
    """Index of one kind of arm by state last seen and age.

    values: (S, A), column n - 1 for age n; ages beyond A repeat the last ``period`` columns.
    unseen: index of an arm not seen yet, one number or (U,), column n - 1 for the n-th step the
        arm is there, repeating like ``values``. By default the mean of the loop, which for an
        aperiodic arm is its index at the stationary law. Infinity makes such arms come first.

    >>> table = IndexTable([[0.2, 0.4, 0.5], [0.8, 0.6, 0.5]])
    >>> table.index(1, 2), table.index(0, 99), table.index(-1, 1)
    (0.6, 0.5, 0.5)
    """

    values: Floats
    period: int
    unseen: Floats

    def __init__(
        self, values: ArrayLike, period: int = 1, unseen: float | ArrayLike | None = None
    ) -> None:
        grid = _numbers("values", values, 2)
        if not 1 <= period <= grid.shape[1]:
            remedy = f"Give a whole number from 1 to the number of ages, {grid.shape[1]}."
            raise refusal("period", "not a period of this table", str(period), remedy)
        if unseen is None:
            unseen = grid[:, -period:].mean()
        fresh = _numbers("unseen", unseen, 1)
        if len(fresh) < period:
            fresh = np.resize(fresh, period) if period % len(fresh) == 0 else fresh
        if len(fresh) < period:
            remedy = f"Give one number, or at least one for each of the {period} phases."
            raise refusal("unseen", "too few numbers", str(len(fresh)), remedy)
        object.__setattr__(self, "values", grid)
        object.__setattr__(self, "period", int(period))
        object.__setattr__(self, "unseen", fresh)

    @property
    def n_states(self) -> int:
        return len(self.values)

    def index(self, state: int, age: int) -> float:
        """The index at this age of an arm last seen in this state; state -1: not seen yet."""
        return float(self.look_up(np.asarray(state), np.asarray(age)))

    def look_up(self, states: Ints, ages: Ints) -> Floats:
        """Indices of many arms of this kind, by the same rule."""
        seen = self.values[states, _on_lasso(ages, self.values.shape[1], self.period) - 1]
        fresh = self.unseen[_on_lasso(ages, len(self.unseen), self.period) - 1]
        return np.where(states < 0, fresh, seen)


def _on_lasso(ages: Ints, stored: int, period: int) -> Ints:
    """Ages 1, ..., stored; later ones go round the last ``period`` of these."""
    cap = stored - period + 1
    return np.where(ages < cap, ages, cap + (ages - cap) % period)


def _numbers(path: str, raw: ArrayLike, dimensions: int) -> Floats:
    try:
        grid = np.array(raw, dtype=np.float64, ndmin=dimensions)
    except (TypeError, ValueError):
        remedy = "Give numbers, in rows of equal length where there are several."
        raise refusal(path, "not a table of numbers", repr(raw)[:80], remedy) from None
    if grid.ndim != dimensions or grid.size == 0:
        remedy = "Give one row per state with one number per age." if dimensions == 2 else "Give "
        remedy += "" if dimensions == 2 else "one number, or one per age."
        raise refusal(path, "wrong shape", str(grid.shape), remedy)
    if np.isnan(grid).any():
        where = np.argwhere(np.isnan(grid))[0].tolist()
        place = "".join(f"[{k}]" for k in where)
        remedy = "Every index must be a number that can be compared."
        raise refusal(path + place, "not a number", "nan", remedy)
    grid.setflags(write=False)
    return grid


def pack_tables(tables: Sequence[IndexTable]) -> Tables:
    """The tables of all kinds of arms as the scheduler's kernels read them."""
    if not tables:
        raise refusal("tables", "there are none", "[]", "Give one per kind of arm.")
    for kind, table in enumerate(tables):
        if not isinstance(table, IndexTable):
            remedy = "Make it one: restive.IndexTable([[...], ...]), a row of indices per state."
            raise refusal(f"tables[{kind}]", "not an IndexTable", repr(table)[:80], remedy)
    pieces, lengths, periods = [], [], []
    for table in tables:
        pieces += [table.values.ravel(), table.unseen]
        lengths += [table.values.shape[1]] * table.n_states + [len(table.unseen)]
        periods += [table.period] * (table.n_states + 1)
    sizes = np.array([table.n_states for table in tables])
    return _pack(sizes, np.concatenate(pieces), np.array(lengths), np.array(periods))


def stacked_tables(values: Floats, unseen: Floats) -> Tables:
    """As ``pack_tables`` for very many kinds of one shape and period 1.

    values: (kinds, S, A), unseen: (kinds,). For arms that are all different, without an object
    for each.
    """
    kinds, size, ages = values.shape
    rows = np.empty((kinds, size + 1, ages))
    rows[:, :size], rows[:, size] = values, unseen[:, None]
    count = kinds * (size + 1)
    ones = np.ones(count, dtype=np.int64)
    return _pack(np.full(kinds, size), rows.ravel(), ages * ones, ones)


def _pack(sizes: Ints, values: Floats, lengths: Ints, periods: Ints) -> Tables:
    from restive._kernels import schedule

    begin = np.cumsum(lengths) - lengths
    caps, reduced = np.empty_like(begin), np.empty_like(begin)
    schedule.loops(values, begin, lengths, periods, caps, reduced)
    offset = np.cumsum(caps) - caps
    trimmed = np.full(int(caps.sum()), np.nan)  # the last cell of each row says: on the loop
    schedule.trim(values, begin, caps, offset, trimmed)
    buckets = _buckets(values, begin + caps - 1, caps, reduced)
    first = np.cumsum(sizes + 1) - (sizes + 1)
    phase = np.cumsum(reduced) - reduced
    return schedule.Tables(first, sizes, offset, caps, reduced, phase, trimmed, *buckets)


def _buckets(values: Floats, loop: Ints, caps: Ints, periods: Ints) -> tuple[Any, ...]:
    """Rows and phases that have the same index at all times share a bucket; the rest of Tables."""
    phase = np.cumsum(periods) - periods
    bucket_of = np.empty(int(periods.sum()), dtype=np.int32)
    groups = np.unique(periods)
    begin, ranked, parts, count = [0], [], [], 0
    for period in groups.tolist():
        rows = np.flatnonzero(periods == period)
        clock = np.arange(period)
        # index at clock t of an arm pulled last at phase r: loop[(t - r - cap) mod period]
        turn = (clock - clock[:, None] - caps[rows, None, None]) % period
        sequences = values[loop[rows, None, None] + turn].reshape(-1, period) + 0.0
        axis = None if period == 1 else 0  # one column is sorted far faster as plain numbers
        distinct, inverse = np.unique(sequences, axis=axis, return_inverse=True)
        distinct = distinct.reshape(-1, period)
        bucket_of[(phase[rows, None] + clock).ravel()] = begin[-1] + inverse.ravel()
        order = np.argsort(-distinct.T, axis=1, kind="stable")
        parts.append((np.argsort(order, axis=1).T, order, np.take_along_axis(distinct.T, order, 1)))
        begin.append(begin[-1] + len(distinct))
        ranked.append(count)
        count += distinct.size
    rank, order, height = (np.concatenate([part[k].ravel() for part in parts]) for k in range(3))
    sizes = np.diff(begin)
    order += np.repeat(begin[:-1], sizes * groups)
    return (bucket_of, groups, np.array(begin), np.array(ranked), rank.astype(np.int32),
            order.astype(np.int32), height, *_bitmaps(groups, sizes))  # fmt: skip


def _bitmaps(groups: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """First bitmap of each group, and where the levels of every bitmap begin."""
    widest = int(sizes.max())
    depth = 1
    while 64**depth < widest:
        depth += 1
    levels, end = [], 0
    for size in np.repeat(sizes, groups).tolist():
        line, members = [end], size
        for _ in range(depth):
            members = -(-members // 64)
            line.append(line[-1] + members)
        levels.append(line)
        end = line[-1]
    return np.cumsum(groups) - groups, np.array(levels)
