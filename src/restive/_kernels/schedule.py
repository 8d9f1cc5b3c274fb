"""The arms of largest index among very many: young arms in a list, all others in heaps by index.

A row is one (kind of arm, state last seen), or a kind not seen yet. Arms of a row whose age is
below the row's cap are young and their indices are looked up one by one. From the cap on the
index of a row runs on a loop, so arms of the same loop and phase stay together: in a bucket, a
heap that gives the smallest number first. Buckets of the same period are kept in order of their
index, for each phase of the clock, with a bitmap of those that are not empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from restive._kernels import bitmaps, heaps
from restive._kernels.heaps import LEFT, PARENT, RIGHT, ROW
from restive._kernels.uncounted import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]

TIME, YOUNG, FREE = 0, 1, 2  # places in Arms.counters


class Tables(NamedTuple):
    """Indices by row and age, and the order of the buckets; nothing here changes in play."""

    first: Ints  # (kinds,) row of the kind's first state
    sizes: Ints  # (kinds,) states; the row after these is for arms not seen yet
    offset: Ints  # (rows,) where ages 1, 2, ... begin in values
    cap: Ints  # (rows,) first age on the loop
    period: Ints  # (rows,) length of the loop
    phase: Ints  # (rows,) where the row's buckets begin in bucket_of, by time of last pull
    values: Floats  # indices of ages 1, ..., cap - 1 of each row and then a NaN
    bucket_of: Numbers  # bucket of each row and phase
    periods: Ints  # (groups,) of buckets with the same period
    begin: Ints  # (groups + 1,) their buckets
    ranked: Ints  # (groups,) where a group's part of rank, order and height begins
    rank: Numbers  # place of a bucket in the order, by bucket and phase of the clock
    order: Numbers  # buckets by falling index, by phase of the clock and rank
    height: Floats  # their indices
    maps: Ints  # (groups,) first bitmap of the group; one for each phase of the clock
    levels: Ints  # (bitmaps, levels + 1)


class Arms(NamedTuple):
    """Where every arm stands, (K,) each, and the sets they are in."""

    nodes: Numbers  # (K, 4) row (-1: no such arm), left, right, parent (young: place in the list)
    since: Ints  # step of the last pull; for an arm not seen yet, the step before it came
    rank: NDArray[np.int8]  # 0: young
    roots: Numbers  # (buckets,)
    young: Numbers  # (room,) young arms in any order
    base: Ints  # (room,) plus the time: where the index of a young arm is
    words: NDArray[np.uint64]  # the bitmaps
    counters: Ints  # time, number of young arms, heap of free numbers


class Scratch(NamedTuple):
    """Room for one choice of arms."""

    value: Floats  # (m,) heap of the best so far, the worst of them first
    arm: Ints  # (m,)
    edge_value: Floats  # heap of bucketed arms that come next, the best first
    edge_arm: Ints
    cursor: Ints  # (groups,) rank of the next bucket of a group, -1 if there is none
    cursor_value: Floats  # (groups,)


@compiled
def _mark(tables, arms, bucket, filled):
    """Note in the bitmaps that a bucket has become filled or empty."""
    group = 0
    while tables.begin[group + 1] <= bucket:
        group += 1
    period = tables.periods[group]
    start = tables.ranked[group] + (bucket - tables.begin[group]) * period
    for tick in range(period):
        levels = tables.levels[tables.maps[group] + tick]
        if filled:
            bitmaps.add(arms.words, levels, np.int64(tables.rank[start + tick]))
        else:
            bitmaps.discard(arms.words, levels, np.int64(tables.rank[start + tick]))


@compiled
def _bucket(tables, arms, arm):
    row = arms.nodes[arm, ROW]
    return tables.bucket_of[tables.phase[row] + arms.since[arm] % tables.period[row]]


@compiled
def store(tables, arms, arm):
    """Put an arm where its row and its age say; the list of young arms must have room."""
    row = arms.nodes[arm, ROW]
    if arms.counters[TIME] - arms.since[arm] < tables.cap[row]:
        place = arms.counters[YOUNG]
        arms.counters[YOUNG] = place + 1
        arms.young[place] = arm
        arms.base[place] = tables.offset[row] - arms.since[arm] - 1
        arms.nodes[arm, PARENT], arms.rank[arm] = place, 0
        return
    bucket = _bucket(tables, arms, arm)
    root = np.int64(arms.roots[bucket])
    arms.roots[bucket] = heaps.insert(arms.nodes, arms.rank, root, arm)
    if root < 0:
        _mark(tables, arms, bucket, True)


@compiled
def _drop_young(arms, place):
    last = arms.counters[YOUNG] - 1
    arms.counters[YOUNG] = last
    moved = arms.young[last]
    arms.young[place], arms.base[place] = moved, arms.base[last]
    arms.nodes[moved, PARENT] = place


@compiled
def lift(tables, arms, arm):
    """Take an arm out of the set it is in."""
    if arms.rank[arm] == 0:
        _drop_young(arms, np.int64(arms.nodes[arm, PARENT]))
        return
    bucket = _bucket(tables, arms, arm)
    root = heaps.delete(arms.nodes, arms.rank, np.int64(arms.roots[bucket]), arm)
    arms.roots[bucket] = root
    if root < 0:
        _mark(tables, arms, bucket, False)


@compiled
def pass_time(tables, arms, steps):
    """Let time pass; arms that reach their cap go to their bucket."""
    time = arms.counters[TIME] + steps
    arms.counters[TIME] = time
    values, base, now = tables.values, arms.base, np.uint64(time)
    place, count = np.int64(0), arms.counters[YOUNG]
    while place < count:
        if steps == 1:  # one by one: no arm can have passed the cell after its last young age
            value = values[np.uint64(base[np.uint64(place)]) + now]
            old = value != value
        else:
            arm = arms.young[place]
            old = time - arms.since[arm] >= tables.cap[arms.nodes[arm, ROW]]
        if old:
            arm = np.int64(arms.young[place])
            _drop_young(arms, place)
            store(tables, arms, arm)
            count -= 1
        else:
            place += 1


@compiled
def observe(tables, arms, pulled, states):
    """Note what was seen at these arms, all different; then one step passes."""
    time = arms.counters[TIME]
    for k in range(len(pulled)):
        lift(tables, arms, pulled[k])
    pass_time(tables, arms, np.int64(1))
    for k in range(len(pulled)):
        arm = pulled[k]
        arms.nodes[arm, ROW] = tables.first[kind_of(tables, arms.nodes[arm, ROW])] + states[k]
        arms.since[arm] = time
        store(tables, arms, arm)


@compiled
def kind_of(tables, row):
    """Kind of arm that a row belongs to."""
    low, high = 0, len(tables.first)
    while high - low > 1:
        middle = (low + high) // 2
        if tables.first[middle] <= row:
            low = middle
        else:
            high = middle
    return low


@compiled
def _before(value, arm, other_value, other_arm):
    """Whether the first comes first: larger index, or the same and a smaller number."""
    return value > other_value or (value == other_value and arm < other_arm)


@compiled
def _sink(values, items, size, value, arm, worst_first):
    """Put an entry in place of the root of a binary heap and let it sink."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size:
            later = _before(values[child + 1], items[child + 1], values[child], items[child])
            if later != worst_first:
                child += 1
        if _before(values[child], items[child], value, arm) == worst_first:
            break
        values[place], items[place] = values[child], items[child]
        place = child
    values[place], items[place] = value, arm


@compiled
def _rise(values, items, size, value, arm, worst_first):
    """Add an entry to a binary heap of this size."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if _before(values[above], items[above], value, arm) != worst_first:
            break
        values[place], items[place] = values[above], items[above]
        place = above
    values[place], items[place] = value, arm


@compiled
def _turn(tables, arms, scratch, group, rank):
    """Move a group's cursor to its first bucket from a rank on that is not empty."""
    tick = arms.counters[TIME] % tables.periods[group]
    rank = bitmaps.first_from(arms.words, tables.levels[tables.maps[group] + tick], rank)
    scratch.cursor[group] = rank
    if rank >= 0:
        size = tables.begin[group + 1] - tables.begin[group]
        scratch.cursor_value[group] = tables.height[tables.ranked[group] + tick * size + rank]


@compiled
def _open(tables, arms, scratch, edge):
    """Put the roots of all buckets on the edge that may come next; returns the edge's size.

    Buckets of one group may have equal indices, and those of different groups too.
    """
    while True:
        best = np.int64(-1)
        for group in range(len(tables.periods)):
            if scratch.cursor[group] >= 0 and (
                best < 0 or scratch.cursor_value[group] > scratch.cursor_value[best]
            ):
                best = group
        if best < 0 or (edge > 0 and scratch.cursor_value[best] < scratch.edge_value[0]):
            return edge
        tick = arms.counters[TIME] % tables.periods[best]
        size = tables.begin[best + 1] - tables.begin[best]
        rank = scratch.cursor[best]
        bucket = tables.order[tables.ranked[best] + tick * size + rank]
        _rise(scratch.edge_value, scratch.edge_arm, edge, scratch.cursor_value[best],
              np.int64(arms.roots[bucket]), False)  # fmt: skip
        edge += 1
        _turn(tables, arms, scratch, best, rank + 1)


@compiled
def _young_best(tables, arms, pulls, scratch):
    """The best young arms as a heap, the worst of them first; returns how many."""
    values, base, now = tables.values, arms.base, np.uint64(arms.counters[TIME])
    young, size = arms.young, arms.counters[YOUNG]
    count = min(pulls, size)
    for place in range(count):
        value = values[np.uint64(base[place]) + now]
        _rise(scratch.value, scratch.arm, place, value, np.int64(young[place]), True)
    if count < pulls:
        return count
    worst, last = scratch.value[0], scratch.arm[0]
    for place in range(np.uint64(count), np.uint64(size)):
        value = values[np.uint64(base[place]) + now]
        if value >= worst and _before(value, np.int64(young[place]), worst, last):
            _sink(scratch.value, scratch.arm, pulls, value, np.int64(young[place]), True)
            worst, last = scratch.value[0], scratch.arm[0]
    return count


@compiled
def select(tables, arms, pulls, scratch):
    """The arms of largest index, ties by number, into scratch.arm in no particular order."""
    count = _young_best(tables, arms, pulls, scratch)
    for group in range(len(tables.periods)):
        _turn(tables, arms, scratch, group, np.int64(0))
    edge = np.int64(0)
    while True:
        edge = _open(tables, arms, scratch, edge)
        if edge == 0:
            return
        value, arm = scratch.edge_value[0], scratch.edge_arm[0]
        if count < pulls:
            _rise(scratch.value, scratch.arm, count, value, arm, True)
            count += 1
        elif _before(value, arm, scratch.value[0], scratch.arm[0]):
            _sink(scratch.value, scratch.arm, pulls, value, arm, True)
        else:
            return
        edge = _descend(arms, scratch, edge, value, arm)


@compiled
def _descend(arms, scratch, edge, value, arm):
    """Replace the first arm of the edge by its children in the heap of its bucket."""
    values, items = scratch.edge_value, scratch.edge_arm
    left, right = np.int64(arms.nodes[arm, LEFT]), np.int64(arms.nodes[arm, RIGHT])
    if left >= 0:
        _sink(values, items, edge, value, left, False)
    else:  # no left child, so no right one either
        edge -= 1
        _sink(values, items, edge, values[edge], items[edge], False)
    if right >= 0:
        _rise(values, items, edge, value, right, False)
        edge += 1
    return edge


@compiled
def best_first(pulls, scratch):
    """Sort what ``select`` chose, the best first."""
    for size in range(pulls - 1, 0, -1):
        value, arm = scratch.value[size], scratch.arm[size]
        scratch.value[size], scratch.arm[size] = scratch.value[0], scratch.arm[0]
        _sink(scratch.value, scratch.arm, size, value, arm, True)


@compiled
def store_all(tables, arms, begin, end):
    """Put the arms begin, ..., end - 1 in place; from the last on, which heaps take at once."""
    for arm in range(end - 1, begin - 1, -1):
        if arms.nodes[arm, ROW] >= 0:
            store(tables, arms, arm)
        else:
            release(arms, arm)


@compiled
def release(arms, arm):
    """Keep a number that no arm has among the free ones."""
    arms.nodes[arm, ROW] = -1
    arms.counters[FREE] = heaps.insert(arms.nodes, arms.rank,
                                       arms.counters[FREE], arm)  # fmt: skip


@compiled
def admit(tables, arms, kinds, numbers):
    """New arms of these kinds, not seen yet, under the smallest free numbers."""
    for k in range(len(kinds)):
        arm = arms.counters[FREE]
        arms.counters[FREE] = heaps.delete(arms.nodes, arms.rank, arm, arm)
        arms.nodes[arm, ROW] = tables.first[kinds[k]] + tables.sizes[kinds[k]]
        arms.since[arm] = arms.counters[TIME] - 1
        store(tables, arms, arm)
        numbers[k] = arm


@compiled
def dismiss(tables, arms, numbers):
    """Arms that are no more; their numbers become free."""
    for k in range(len(numbers)):
        lift(tables, arms, numbers[k])
        release(arms, numbers[k])


@compiled
def loops(values, begin, length, periods, caps, reduced):
    """Shortest tail and loop of each row: values[begin : begin + length], the last period loops."""
    for row in range(len(begin)):
        end, period = begin[row] + length[row], periods[row]
        for shorter in range(1, period):
            if period % shorter == 0:
                same = True
                for k in range(end - period + shorter, end):
                    same = same and values[k] == values[k - shorter]
                if same:
                    period = shorter
                    break
        cap = length[row] - period + 1
        while cap > 1 and values[begin[row] + cap - 2] == values[begin[row] + cap - 2 + period]:
            cap -= 1
        caps[row], reduced[row] = cap, period


@compiled
def trim(values, begin, caps, offset, out):
    """Copy the ages before the cap of each row; the cell after them stays as it is."""
    for row in range(len(begin)):
        for k in range(caps[row] - 1):
            out[offset[row] + k] = values[begin[row] + k]
