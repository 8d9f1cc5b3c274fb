"""Sweeps of (extended) value iteration over the information states of a restless bandit.

Values lie as ``representation.Layout`` describes. "Stay on i" reads block i one age further on,
"switch to j" reads an entry slice copied beforehand, so a sweep may update a block in place:
with ages ascending every value is read before it is overwritten (Jacobi), with ages descending
the newest values are used along each run of stays (propagation).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from restive._kernels.rows import (
    FAST,
    bound_row,
    expected,
    expected_max,
    expected_two_pulls,
    finish_two,
    larger,
    move_row,
    optimistic,
    optimistic_two_pulls,
    optimistic_weights,
    switch_row,
)

Floats = NDArray[np.float64]


class Tables(NamedTuple):
    """Parameters per color, and once more along the rows of the two possible row arms."""

    rewards: Floats  # (C,) optimistic where there are radii
    chances: Floats  # (C, B)
    radii: Floats  # (C,) L1 radius of the law
    row_rewards: Floats  # (2, L)
    row_chances: Floats  # (2, B, L)
    row_radii: Floats  # (2, L)


@njit(cache=True, error_model="numpy")
def copy_entries(values, entries, lay, pair):
    """Copy the slice of block j that a switch i -> j reads, with ghosts, in block i's order."""
    count = len(lay.sizes)
    i = pair // count
    j = pair % count
    if i == j:
        return
    z = lay.row_arm[i]
    n_outer = lay.n_outer[i]
    digits = np.zeros(2 * count, dtype=np.int64)
    sizes = np.zeros(2 * count, dtype=np.int64)
    source = np.zeros(2 * count, dtype=np.int64)
    target = np.zeros(2 * count, dtype=np.int64)
    n_digits = 0
    for o in range(n_outer):
        arm = lay.outer[i, o]
        if arm != j:
            sizes[n_digits] = lay.sizes[arm]
            source[n_digits] = lay.state_stride[j, arm]
            target[n_digits] = lay.entry_state_stride[i, j, arm]
            sizes[n_digits + 1] = lay.rested[arm]
            source[n_digits + 1] = lay.age_stride[j, arm]
            target[n_digits + 1] = lay.entry_age_stride[i, j, arm]
            n_digits += 2
    for arm in (i, j):
        sizes[n_digits] = lay.sizes[arm]
        source[n_digits] = lay.state_stride[j, arm]
        target[n_digits] = lay.entry_state_stride[i, j, arm]
        n_digits += 1
    read = lay.block[j] + lay.enter[i] * lay.age_stride[j, i]
    write = lay.entry[i, j]
    while True:
        if j == z:
            entries[write] = values[read]
        else:
            copy_row(values, entries, lay, read, write, i, j, z)
        d = n_digits - 1
        while d >= 0:
            digits[d] += 1
            read += source[d]
            write += target[d]
            if digits[d] < sizes[d]:
                break
            read -= source[d] * sizes[d]
            write -= target[d] * sizes[d]
            digits[d] = 0
            d -= 1
        if d < 0:
            return


@njit(cache=True, error_model="numpy")
def copy_row(values, entries, lay, read, write, i, j, z):
    """One row over (state, age) of arm z, the ghost after each run of ages included."""
    ages = lay.rested[z]
    end = write + lay.row[i]
    step = lay.age_stride[j, z]
    for _ in range(lay.sizes[z]):
        for a in range(ages):
            entries[write + a] = values[read + a * step]
        entries[write + ages] = values[read + lay.loop[z] * step]
        read += lay.state_stride[j, z]
        write += ages + 1
    for cell in range(write, end):  # unused, but the extrapolation looks at all cells
        entries[cell] = entries[write - 1]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def sweep_task(
    target, source, entries, lay, tab, extended, task, step, gain, descending, want_bounds, bounds
):
    """Update all states of one block with the outer arms' states fixed.

    target holds the old values, as source does: the same array, or a copy where ages wrap round.
    Reading and writing the same array in one loop tells the compiler that they do not clash.

    bounds[task] receives min and max of (backup - old value) if they are wanted.
    """
    i = lay.tasks[task, 0]
    begin = lay.block[i] + lay.tasks[task, 1]
    count, size, n_outer, z = len(lay.sizes), lay.sizes[i], lay.n_outer[i], lay.row_arm[i]
    length = uint64(lay.row[i])
    n = length - uint64(1)
    table = lay.row_table[i]
    z_size = lay.sizes[z] if z >= 0 else 0
    run = lay.rested[z] if z >= 0 else 1
    runs = lay.sizes[z] if z >= 0 else 1
    loop = lay.loop[z] if z >= 0 else 0
    # unpacked here once: passing whole tuples down to the rows would cost more than the rows
    chances, rewards, radii = tab.chances, tab.rewards, tab.radii
    row_chances, row_rewards, row_radii = tab.row_chances, tab.row_rewards, tab.row_radii
    outer, states = lay.outer, lay.task_states
    entry_state, entry_age = lay.entry_state_stride, lay.entry_age_stride
    width = chances.shape[1]
    out = np.empty(2 * size * lay.row[i])
    weights, now_values = np.empty(width), np.empty(width)
    order = np.empty(width, dtype=np.int64)
    ages, ahead = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    columns = lay.row[i] if want_bounds else 0
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    which = np.zeros(size, dtype=np.uint64)
    fused = not want_bounds and z_size == 2
    pair = fused and size == 2 and n_outer and lay.sizes[outer[i, 0]] == 2
    held = np.empty(size * lay.row[i])
    if descending:
        for k in range(n_outer):
            ages[outer[i, k]] = lay.rested[outer[i, k]] - 1
    while True:
        here = begin
        after = begin
        for k in range(n_outer):
            arm = outer[i, k]
            ahead[arm] = ages[arm] + 1 if ages[arm] + 1 < lay.rested[arm] else lay.loop[arm]
            here += ages[arm] * lay.age_stride[i, arm]
            after += ahead[arm] * lay.age_stride[i, arm]
        face = here == after
        stays, stay_start = source, uint64(after + 1)
        if face:  # these rows read themselves, and would be overwritten before they are read
            for q in range(uint64(size) * length):
                held[q] = source[uint64(here) + q]
            stays, stay_start = held, uint64(1)
        for s in range(size):
            first = uint64(2 * s) * length  # two rows take turns
            at, best = first, first + length
            color = lay.colors[i] + s * lay.stored[i]
            done = 0
            solving = face and descending
            if solving:
                for q in range(n):
                    out[at + q] = -1e300
            elif pair:
                j = outer[i, 0]
                place = lay.entry[i, j] + s * entry_state[i, j, i] + 1
                for k in range(1, n_outer):
                    arm = outer[i, k]
                    place += states[task, arm] * entry_state[i, j, arm]
                    place += ahead[arm] * entry_age[i, j, arm]
                other = lay.colors[j] + states[task, j] * lay.stored[j] + lay.first[j] + ages[j]
                if extended:
                    optimistic_two_pulls(out, at, stays, stay_start, length, chances, color,
                                         rewards[color], radii[color], entries, uint64(place),
                                         other, rewards[other], radii[other], n)  # fmt: skip
                else:
                    expected_two_pulls(out, at, stays, stay_start, length, chances, color,
                                       rewards[color], entries, uint64(place), other,
                                       rewards[other], n)  # fmt: skip
                done = 1
            elif extended:
                optimistic(out, at, stays, stay_start, length, chances, color, size,
                           rewards[color], radii[color], n, weights, order,
                           now_values)  # fmt: skip
            else:
                expected(out, at, stays, stay_start, length, chances, color, size,
                         rewards[color], n)  # fmt: skip
            for o in range(done, n_outer):
                j = outer[i, o]
                place = lay.entry[i, j] + s * entry_state[i, j, i] + 1
                for k in range(n_outer):
                    arm = outer[i, k]
                    if arm != j:
                        place += states[task, arm] * entry_state[i, j, arm]
                        place += ahead[arm] * entry_age[i, j, arm]
                color = lay.colors[j] + states[task, j] * lay.stored[j] + lay.first[j] + ages[j]
                start = uint64(place)
                at, best = best, at
                if extended:
                    optimistic(out, at, entries, start, length, chances, color, lay.sizes[j],
                               rewards[color], radii[color], n, weights, order,
                               now_values)  # fmt: skip
                    larger(out, at, best, n)
                else:
                    expected_max(out, at, best, entries, start, length, chances, color,
                                 lay.sizes[j], rewards[color], n)  # fmt: skip
            row = uint64(here) + uint64(s) * length
            if z >= 0:
                place = lay.entry[i, z] + s * entry_state[i, z, i]
                for k in range(n_outer):
                    arm = outer[i, k]
                    place += states[task, arm] * entry_state[i, z, arm]
                    place += ahead[arm] * entry_age[i, z, arm]
                if fused and not solving:
                    finish_two(target, row, out, at, entries, uint64(place), row_chances,
                               row_rewards, row_radii, table, extended, step, gain, n)  # fmt: skip
                else:
                    at, best = best, at
                    switch_row(out, at, best, entries, uint64(place), z_size, row_chances,
                               row_rewards, row_radii, table, extended, n, order)  # fmt: skip
            if solving:
                which[s] = at
            else:
                if want_bounds:
                    bound_row(source, row, out, at, low, high, n)
                if not fused:
                    move_row(target, row, out, at, step, gain, n)
                cell = here + s * lay.row[i]
                for _ in range(runs):
                    target[cell + run] = target[cell + loop]
                    cell += run + 1
        if face and descending:
            propagate(target, here, lay.row[i], out, which, size, run, runs, loop, chances,
                      rewards, radii, lay.colors[i], lay.stored[i], extended, gain, weights,
                      order, now_values)  # fmt: skip
        o = n_outer - 1
        while o >= 0:
            arm = outer[i, o]
            if descending:
                ages[arm] -= 1
                if ages[arm] >= 0:
                    break
                ages[arm] = lay.rested[arm] - 1
            else:
                ages[arm] += 1
                if ages[arm] < lay.rested[arm]:
                    break
                ages[arm] = 0
            o -= 1
        if o < 0:
            break
    if want_bounds:
        bounds[task, 0], bounds[task, 1] = np.inf, -np.inf
        for r in range(runs):
            for q in range(r * (run + 1), r * (run + 1) + run):
                bounds[task, 0] = min(bounds[task, 0], low[q])
                bounds[task, 1] = max(bounds[task, 1], high[q])


@njit(cache=True, error_model="numpy")
def propagate(
    values, here, length, switch, which, size, run, runs, loop, chances, rewards, radii, color,
    stored, extended, gain, weights, order, nexts,
):  # fmt: skip
    """Solve the stays of one row whose outer arms age no further, from the oldest age down.

    switch: the best switch for each cell, own state k's row at which[k]. The ghost, which stands
    for the oldest age itself, is read as it is and renewed at the end.
    """
    fresh = np.empty(size)
    for r in range(runs):
        first = r * (run + 1)
        for age in range(run - 1, -1, -1):
            for k in range(size):
                nexts[k] = values[here + k * length + first + age + 1]
            for k in range(size):
                c = color + k * stored
                total = rewards[c]
                if extended:
                    optimistic_weights(weights, order, nexts, chances, c, size, radii[c])
                    for s in range(size):
                        total += weights[s] * nexts[s]
                else:
                    for s in range(size):
                        total += chances[c, s] * nexts[s]
                fresh[k] = max(total, switch[which[k] + uint64(first + age)]) - gain
            for k in range(size):
                values[here + k * length + first + age] = fresh[k]
        for k in range(size):
            row = here + k * length + first
            values[row + run] = values[row + loop]


@njit(cache=True, error_model="numpy", nogil=True)
def read_entries(values, entries, lay, first, step):
    """Copy the entry slices number first, first + step, ... out of the values."""
    for pair in range(first, len(lay.sizes) ** 2, step):
        copy_entries(values, entries, lay, pair)


@njit(cache=True, error_model="numpy", nogil=True)
def sweep(
    target, source, entries, lay, tab, extended, step, gain, descending, want_bounds, bounds,
    first, stride,
):  # fmt: skip
    """Sweep the tasks first, first + stride, ...: target += step (backup - gain - target).

    Switches read ``entries``, which the caller fills. Tasks are independent of each other, so
    threads may share them out; the result does not depend on how.
    """
    for task in range(first, len(lay.tasks), stride):
        sweep_task(target, source, entries, lay, tab, extended, task, step, gain, descending,
                   want_bounds, bounds)  # fmt: skip


@njit(cache=True, error_model="numpy", nogil=True)
def sweep_often(values, entries, lay, tab, extended, step, gain, count, bounds):
    """``count`` sweeps in place, the bounds of the last one; saves small problems the calls."""
    for k in range(count):
        read_entries(values, entries, lay, 0, 1)
        sweep(values, values, entries, lay, tab, extended, step, gain, False, k == count - 1,
              bounds, 0, 1)  # fmt: skip
