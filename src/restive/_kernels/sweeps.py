"""Sweeps of (extended) value iteration over the information states of a restless bandit.

Values lie as ``mdp.layout.MemoryLayout`` describes. "Stay on i" reads block i one age further on,
"switch to j" reads an entry slice copied beforehand, so a sweep may update a block in place:
with ages ascending every value is read before it is overwritten (Jacobi), with ages descending
the newest values are used along each run of stays (propagation).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from restive._kernels import njit
from restive._kernels.rows import (
    FAST,
    NEVER,
    ONE,
    backup_row,
    bound_row,
    copy_cells,
    move_row,
    move_two,
    optimistic_move_two,
    optimistic_stay_two,
    optimistic_switch_two,
    optimistic_weights,
    stay_two,
    switch_two,
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
    row_least: Floats  # (2, B, L) each outcome's least chance within the radius


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
    digits, sizes, source, target = np.zeros((4, 2 * count), dtype=np.int64)
    n_digits = 0
    for arm in (i, j):
        sizes[n_digits] = lay.sizes[arm]
        source[n_digits] = lay.state_stride[j, arm]
        target[n_digits] = lay.entry_state_stride[i, j, arm]
        n_digits += 1
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
    read = lay.block[j] + lay.enter[i] * lay.age_stride[j, i]
    write = lay.entry[i, j]
    # numbers and no tuples go down to the rows: a tuple counts the references of all its arrays
    length, states, ages, loop = lay.row[i], lay.sizes[z], lay.rested[z], lay.loop[z]
    step, state_step = lay.age_stride[j, z], lay.state_stride[j, z]
    many, here, there = sizes[n_digits - 1], source[n_digits - 1], target[n_digits - 1]
    if j == z:
        n_digits -= 1  # the last one is a loop of its own
    while True:
        if j == z:
            for k in range(many):
                entries[write + k * there] = values[read + k * here]
        else:
            copy_row(values, entries, read, write, length, states, ages, step, state_step, loop)
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
def copy_row(values, entries, read, write, length, states, ages, step, state_step, loop):
    """One row over (state, age) of an arm, the ghost after each run of ages included."""
    end = write + length
    for _ in range(states):
        for a in range(ages):
            entries[write + a] = values[read + a * step]
        entries[write + ages] = values[read + loop * step]
        read += state_step
        write += ages + 1
    for cell in range(write, end):  # unused, but the extrapolation looks at all cells
        entries[cell] = entries[write - 1]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def sweep_task(
    target, source, entries, lay, tab, many, extended, task, step, gain, descending, want_bounds,
    bounds,
):  # fmt: skip
    """Update all states of one block with the outer arms' states fixed.

    target holds the old values, as source does: the same array, or a copy where ages wrap round.
    many, extended: None for no, True for yes; numba compiles each choice on its own, and for None
    only what it needs. many: some arm has not two states. descending: whether ages are visited from
    the oldest down and stays solved on the way; asked once a row, which is no reason to compile all
    of this twice.
    bounds[task] receives min and max of (backup - old value) if they are wanted.
    """
    i = lay.tasks[task, 0]
    begin = lay.block[i] + lay.tasks[task, 1]
    size, n_outer, z = lay.sizes[i], lay.n_outer[i], lay.row_arm[i]
    n = length = uint64(lay.row[i])
    run = lay.rested[z] if z >= 0 else 1
    runs = lay.sizes[z] if z >= 0 else 1
    loop = lay.loop[z] if z >= 0 else 0
    # unpacked here once: passing whole tuples down to the rows would cost more than the rows
    chances, rewards, radii = tab.chances, tab.rewards, tab.radii
    row_chances, row_rewards, row_radii = tab.row_chances, tab.row_rewards, tab.row_radii
    row_least, table = tab.row_least, lay.row_table[i]
    width = chances.shape[1]
    out = np.empty((2 * size + 2) * lay.row[i])
    floor = uint64(2 * size) * length  # a row below any value
    old = floor + length  # a row as it was before it moved
    out[floor:] = NEVER
    weights, now_values = np.empty(width), np.empty(width)
    order = np.empty(width, dtype=np.int64)
    extremes = np.empty(4 * lay.row[i])  # least and greatest move of each column, twice
    latest, last = uint64(0), uint64(2) * length
    extremes[:length], extremes[length:last] = np.inf, -np.inf
    which = np.zeros(size, dtype=np.uint64)
    # a switch to pulls[k] in own state s reads entries[starts[k] + s * own[k] ...]
    pulls, own, fixed = np.empty((3, n_outer + 1), dtype=np.int64)
    starts, colors, ages = np.zeros((3, n_outer + 1), dtype=np.int64)
    youngest, rested, loops, strides = np.empty((4, n_outer + 1), dtype=np.int64)
    further = np.zeros((n_outer + 1, n_outer + 1), dtype=np.int64)
    n_pulls = n_outer + (1 if z >= 0 else 0)
    for k in range(n_pulls):
        j = lay.outer[i, k] if k < n_outer else z
        pulls[k], own[k] = j, lay.entry_state_stride[i, j, i]
        fixed[k] = lay.entry[i, j] + (1 if j != z else 0)
        rested[k], loops[k], strides[k] = lay.rested[j], lay.loop[j], lay.age_stride[i, j]
        youngest[k] = lay.colors[j] + lay.task_states[task, j] * lay.stored[j] + lay.first[j]
        for o in range(n_outer):
            arm = lay.outer[i, o]
            further[o, k] = lay.entry_age_stride[i, j, arm]
            if o != k:
                fixed[k] += lay.task_states[task, arm] * lay.entry_state_stride[i, j, arm]
        ages[k] = rested[k] - 1 if descending else 0
    own_color, own_stored, cells = lay.colors[i], lay.stored[i], lay.row[i]
    sizes, keep = lay.sizes, 1.0 - step
    pays = np.empty(cells)
    for q in range(n):
        pays[q] = step * (row_rewards[table, q] - gain)
    while True:
        here, after = begin, begin
        for k in range(n_pulls):
            starts[k] = fixed[k]
        for o in range(n_outer):
            ahead = ages[o] + 1 if ages[o] + 1 < rested[o] else loops[o]
            here += ages[o] * strides[o]
            after += ahead * strides[o]
            colors[o] = youngest[o] + ages[o]
            for k in range(n_pulls):
                starts[k] += ahead * further[o, k]
        face = here == after  # these rows read themselves, so they are written last
        solving = face and descending
        stay = uint64(after + 1)
        direct = many is None and not face
        scale, level = (step, gain) if direct else (1.0, 0.0)
        for s in range(size):
            at, spare = uint64(2 * s) * length, uint64(2 * s + 1) * length  # they take turns
            color = own_color + s * own_stored
            constant = NEVER if solving else rewards[color]
            if many is None:
                best = floor
                for k in range(1 if direct else 0, n_outer):
                    law, place = colors[k], uint64(starts[k] + s * own[k])
                    pay, p0, p1 = scale * (rewards[law] - level), chances[law, 0], chances[law, 1]
                    if extended is not None:
                        half = 0.5 * radii[law]
                        optimistic_switch_two(out, at, best, entries, place, place + length, pay,
                                              scale * max(0.0, p0 - half),
                                              scale * min(1.0, p0 + half), scale, n)  # fmt: skip
                    else:
                        switch_two(out, at, best, entries, place, place + length, pay,
                                   scale * p0, scale * p1, n)  # fmt: skip
                    best, at = at, (spare if best == floor else best)
                place = uint64(starts[n_outer] + s * own[n_outer])
                v0, v1 = scale * entries[place], scale * entries[place + ONE]
                worse, top, loss = int(v0 >= v1), max(v0, v1), abs(v0 - v1)
                p0, p1, half = chances[color, 0], chances[color, 1], 0.5 * radii[color]
                least, most = scale * max(0.0, p0 - half), scale * min(1.0, p0 + half)
                if direct:
                    if want_bounds:
                        copy_cells(out, old, target, uint64(here + s * cells), n)
                    law, place = colors[0], uint64(starts[0] + s * own[0])
                    row, pay = uint64(here + s * cells), scale * (rewards[law] - level)
                    r0, r1, half = chances[law, 0], chances[law, 1], 0.5 * radii[law]
                    if extended is not None:
                        optimistic_move_two(
                            target, row, keep, scale, out, best, source, stay, stay + length,
                            scale * (constant - level), least, most, entries, place,
                            place + length, pay, scale * max(0.0, r0 - half),
                            scale * min(1.0, r0 + half), pays, row_least, table, worse, top, loss,
                            n,
                        )  # fmt: skip
                    else:
                        move_two(
                            target, row, keep, out, best, source, stay, stay + length,
                            scale * (constant - level), scale * p0, scale * p1, entries, place,
                            place + length, pay, scale * r0, scale * r1, pays, row_least, table,
                            worse, top, loss, n,
                        )  # fmt: skip
                elif extended is not None:
                    optimistic_stay_two(out, at, best, source, stay, stay + length, constant,
                                        least, most, row_rewards, row_least, table, worse, top,
                                        loss, n)  # fmt: skip
                else:
                    stay_two(out, at, best, source, stay, stay + length, constant, p0, p1,
                             row_rewards, row_least, table, worse, top, loss, n)  # fmt: skip
            else:
                at = backup_row(
                    out, at, spare, source, stay, entries, starts, own, s, length, chances,
                    rewards, radii, color, constant, colors, sizes, pulls, size, n_outer, z,
                    row_chances, row_rewards, row_radii, table, extended, n, weights, order,
                    now_values,
                )  # fmt: skip
            which[s] = at
            if face and s + 1 < size:
                continue
            if solving:
                propagate(target, here, cells, out, which, size, run, runs, loop, chances, rewards,
                          radii, own_color, own_stored, extended, gain, weights, order,
                          now_values)  # fmt: skip
                continue
            for k in range(0 if face else s, s + 1):
                row = here + k * cells
                if not direct:
                    if want_bounds:
                        copy_cells(out, old, target, uint64(row), n)
                    move_row(target, uint64(row), out, which[k], step, gain, n)
                if want_bounds:
                    bound_row(target, uint64(row), out, old, extremes, latest, last, n)
                    latest, last = last, latest
                for _ in range(runs):
                    target[row + run] = target[row + loop]
                    row += run + 1
                # the last cell has read what another thread may be writing; nobody reads it, but
                # the same problem should give the same bytes
                target[here + (k + 1) * cells - 1] = target[row - 1]
        o = n_outer - 1
        while o >= 0:
            ages[o] += -1 if descending else 1
            if 0 <= ages[o] < rested[o]:
                break
            ages[o] = rested[o] - 1 if descending else 0
            o -= 1
        if o < 0:
            break
    if want_bounds:
        least, most = np.inf, -np.inf
        for r in range(runs):
            for q in range(r * (run + 1), r * (run + 1) + run):
                at = latest + uint64(q)
                least, most = min(least, extremes[at]), max(most, extremes[at + length])
        # a move is step (backup - old value - gain)
        bounds[task, 0], bounds[task, 1] = least / step + gain, most / step + gain


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
    for k in range(size):
        order[k] = k
    for r in range(runs):
        first = r * (run + 1)
        for age in range(run - 1, -1, -1):
            for k in range(size):
                nexts[k] = values[here + k * length + first + age + 1]
            for k in range(size):
                c = color + k * stored
                total = rewards[c]
                if extended is not None:
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
    target, source, entries, lay, tab, many, extended, step, gain, descending, count, alone, bounds,
    first, stride,
):  # fmt: skip
    """Sweep the tasks first, first + stride, ...: target += step (backup - gain - target).

    Switches read ``entries``. Tasks are independent of each other, so threads may share them out;
    the result does not depend on how. alone: fill the entries first; then ``count`` sweeps in
    place may follow each other in one call. The last one gives bounds, unless count is 0 (one
    sweep without).
    """
    for k in range(max(1, count)):
        if alone:
            for pair in range(len(lay.sizes) ** 2):
                copy_entries(source, entries, lay, pair)
        for task in range(first, len(lay.tasks), stride):
            sweep_task(target, source, entries, lay, tab, many, extended, task, step, gain,
                       descending, k + 1 == count, bounds)  # fmt: skip
