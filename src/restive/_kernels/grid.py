"""Sweeps of a grid process: products of small matrices along one axis an arm.

A block holds the values just after a set A of arms was pulled: [outcomes of A][row], where a row
runs over the grid points of one more arm (the row arm) and the rows over those of all others.
Offsets are unsigned, so that numba drops its check for negative indices and the loops vectorise;
small functions are inlined, since a call counts the references of all its arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from restive._kernels import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FAST = {"nnan", "nsz", "contract", "arcp"}


class Tables(NamedTuple):
    """What time does to each arm's grid points; K arms, t = 0 .. depth steps."""

    places: Ints  # (K, depth + 1, G, W) grid points that make up the belief t steps later
    weights: Floats  # (K, depth + 1, G, W)
    counts: Ints  # (K, depth + 1, G) how many of the W are in use
    laws: Floats  # (K, depth, S, G) the belief itself t steps later, a row for each state


class Block(NamedTuple):
    """One block, and the other sets B that may be pulled next, n of them.

    An entry of B is an array [outcomes of A][outcomes of B - A][grid points of all other arms],
    the arms in the order of the block's own, the row arm last.
    """

    outcomes: Ints  # (1,) joint states of A
    outer: Ints  # (n_outer,) the arms along the rows
    digits: Ints  # (n_outer,) their numbers of grid points
    row: Ints  # (2,) the row arm (-1 if none) and its number of grid points
    stay: Floats  # (outcomes, outcomes) law of the outcomes of pulling A again
    reward: Floats  # (outcomes,) mean reward of that
    begin: Ints  # (n + 1,) where the entries of each B begin
    state_stride: Ints  # (n,) from one outcome of A to the next
    outcome_stride: Ints  # (n,) from one outcome of B - A to the next
    stride: Ints  # (n, n_outer) along the rows, 0 for arms in B
    axes: Ints  # (n, K, 4) arms that age: (arm, cells before, points, cells after)
    n_axes: Ints  # (n,)
    fresh: Ints  # (n, K) arms of B - A; the row arm, if it is one of them, comes last
    n_fresh: Ints  # (n,)
    n_results: Ints  # (n,) joint outcomes of the fresh arms
    results: Ints  # (n, most, K) each joint outcome, state by state
    by_row: Ints  # (n,) states of the row arm if it is in B, else 0
    cut: Ints  # (n,) outer arms up to the last one in B (all of them if the row arm is)


@njit(inline="always")
def mix_two(target, to, x, first, a, y, second, b, run):
    """target[to:] = x first[a:] + y second[b:] on a run of cells."""
    for r in range(uint64(run)):
        target[uint64(to) + r] = x * first[uint64(a) + r] + y * second[uint64(b) + r]


@njit(inline="always")
def add_some(target, to, x, first, a, run):
    """target[to:] += x first[a:] on a run of cells."""
    for r in range(uint64(run)):
        target[uint64(to) + r] += x * first[uint64(a) + r]


@njit(inline="always")
def larger_of(target, source, other, to, run):
    """target[to:] = max(source[to:], other) on a run of cells."""
    for r in range(uint64(run)):
        value = other[r]
        least = source[uint64(to) + r]
        target[uint64(to) + r] = value if value > least else least


@njit(inline="always")
def larger_of_two(target, source, to, x, first, a, y, second, b, run):
    """target[to:] = max(source[to:], x first[a:] + y second[b:]) on a run of cells."""
    for r in range(uint64(run)):
        value = x * first[uint64(a) + r] + y * second[uint64(b) + r]
        least = source[uint64(to) + r]
        target[uint64(to) + r] = value if value > least else least


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def age(source, begin, target, to, before, points, after, places, weights, counts, arm, t):
    """Move every cell along one axis: target[g] = sum_c weights[g, c] source[places[g, c]]."""
    for o in range(before):
        here = begin + o * points * after
        for g in range(points):
            out = to + (o * points + g) * after
            count = counts[arm, t, g]
            if after == 1:
                total = 0.0
                for c in range(count):
                    total += weights[arm, t, g, c] * source[uint64(here + places[arm, t, g, c])]
                target[uint64(out)] = total
                continue
            mix_two(target, out, weights[arm, t, g, 0], source,
                    here + places[arm, t, g, 0] * after, weights[arm, t, g, 1], source,
                    here + places[arm, t, g, 1] * after, after)  # fmt: skip
            for c in range(2, count):
                add_some(target, out, weights[arm, t, g, c], source,
                         here + places[arm, t, g, c] * after, after)  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def age_entries(base, entries, spare, block, tables, t):
    """Entries of every B after t steps, from those (``base``) on the grid itself."""
    for b in range(len(block.state_stride)):
        begin, size = block.begin[b], block.begin[b + 1] - block.begin[b]
        if block.n_axes[b] == 0:
            entries[begin : begin + size] = base[begin : begin + size]
        for i in range(block.n_axes[b]):
            arm, before, points, after = block.axes[b, i]
            into_spare = (block.n_axes[b] - i) % 2 == 0  # so that the last one ends in entries
            target, to = (spare, 0) if into_spare else (entries, begin)
            source, at = (entries, begin) if into_spare else (spare, 0)
            if i == 0:
                source, at = base, begin
            age(source, at, target, to, before, points, after, tables.places, tables.weights,
                tables.counts, arm, t)  # fmt: skip


@njit(inline="always")
def chance(fresh, count, results, laws, k, b, result, digit):
    """Probability of a joint outcome of the first ``count`` fresh arms of B."""
    p = 1.0
    for i in range(count):
        arm = fresh[b, i]
        p *= laws[arm, k, results[b, result, i], digit[arm]]
    return p


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def switch(entries, block, laws, k, b, outcome, digit, source, target, slab, spare):
    """target = max(source, value of pulling B now) on a slab: one point of the first outer arm.

    The slab falls into runs of cells with the same chances of the outcomes of B, or into rows
    along which the chances of the row arm change.
    """
    fresh, results, outer, stride = block.fresh, block.results, block.outer, block.stride
    arm, length = block.row[0], block.row[1]
    step, count, states = block.outcome_stride[b], block.n_results[b], block.by_row[b]
    n_fresh, cut, lines = block.n_fresh[b], block.cut[b], 1
    base = block.begin[b] + outcome * block.state_stride[b]
    if len(outer) > 0:
        base += digit[outer[0]] * stride[b, 0]
    for o in range(1, cut):
        lines *= block.digits[o]
        digit[outer[o]] = 0
    run = slab // lines
    for line in range(lines):
        at, to = base, line * run
        for o in range(1, cut):
            at += digit[outer[o]] * stride[b, o]
        if states > 0:
            for s in range(states):
                total = 0.0
                for result in range(s, count, states):
                    p = chance(fresh, n_fresh - 1, results, laws, k, b, result, digit)
                    total += p * entries[uint64(at + result * step)]
                if s == 0:
                    for r in range(uint64(length)):
                        spare[r] = total * laws[uint64(arm), uint64(k), uint64(0), r]
                else:
                    for r in range(uint64(length)):
                        spare[r] += total * laws[uint64(arm), uint64(k), uint64(s), r]
            larger_of(target, source, spare, to, length)
        elif count == 2:  # the common case, in one pass
            x = chance(fresh, n_fresh, results, laws, k, b, 0, digit)
            y = chance(fresh, n_fresh, results, laws, k, b, 1, digit)
            larger_of_two(target, source, to, x, entries, at, y, entries, at + step, run)
        else:
            x = chance(fresh, n_fresh, results, laws, k, b, 0, digit)
            for r in range(uint64(run)):
                spare[r] = x * entries[uint64(at) + r]
            for result in range(1, count):
                x = chance(fresh, n_fresh, results, laws, k, b, result, digit)
                add_some(spare, 0, x, entries, at + result * step, run)
            larger_of(target, source, spare, to, run)
        for o in range(cut - 1, 0, -1):  # the next line
            digit[outer[o]] += 1
            if digit[outer[o]] < block.digits[o]:
                break
            digit[outer[o]] = 0


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def step_back(values, begin, entries, block, laws, k, gain, digit, old, best, other, spare):
    """values <- max(stay, switch) - gain at phase k of a stay, from those at phase k + 1."""
    count, slabs, slab = block.outcomes[0], 1, len(best)
    if len(block.outer) > 0:
        slabs = block.digits[0]
    for d in range(slabs):
        if len(block.outer) > 0:
            digit[block.outer[0]] = d
        for a in range(count):
            at, to = uint64(begin + (a * slabs + d) * slab), uint64(a * slab)
            for r in range(uint64(slab)):
                old[to + r] = values[at + r]
        for a in range(count):
            source, target = best, other
            x, reward = block.stay[a, 0], block.reward[a]
            for r in range(uint64(slab)):
                source[r] = reward + x * old[r]
            for c in range(1, count):
                add_some(source, 0, block.stay[a, c], old, c * slab, slab)
            for b in range(len(block.state_stride)):
                switch(entries, block, laws, k, b, a, digit, source, target, slab, spare)
                source, target = target, source
            at = uint64(begin + (a * slabs + d) * slab)
            for r in range(uint64(slab)):
                values[at + r] = source[r] - gain


@njit(cache=True, nogil=True, error_model="numpy")
def stays(values, begin, base, entries, spare, block, tables, gain, first, last):
    """Values at phase ``last`` of a stay from those at phase ``first`` > last, in place."""
    digit = np.zeros(tables.places.shape[0], dtype=np.int64)
    slab = block.row[1]
    for o in range(1, len(block.outer)):
        slab *= block.digits[o]
    old = np.empty(block.outcomes[0] * slab)
    best, other, row = np.empty(slab), np.empty(slab), np.empty(slab)
    for k in range(first - 1, last - 1, -1):
        age_entries(base, entries, spare, block, tables, k + 1)
        step_back(values, begin, entries, block, tables.laws, k, gain, digit, old, best, other, row)
