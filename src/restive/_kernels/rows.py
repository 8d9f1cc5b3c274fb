"""Backups of a whole row of states at once; the innermost loops of planning.

A pull with outcomes s = 0..S-1 is worth ``constant + sum_s p[s] * value[s]``. Along a row only ages
change, so the values of one outcome are consecutive in memory and every loop has unit stride.
Rows are named by (array, offset): slices would count references, which threads then fight over.
Offsets are unsigned: numba then drops its check for negative indices, and the loops vectorise.

Functions for two outcomes have no branches and are inlined: elsewhere numba counts the references
of all arrays at every call, which costs as much as a row of a hundred cells.

The optimistic backups maximise over all laws q with ||q - p||_1 <= radius (extended value
iteration): radius/2 of the mass moves to the best outcome, taken from the worst ones upwards.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from restive._kernels import njit

ONE = np.uint64(1)
NEVER = -1e300  # the value of a pull that is not allowed
TIE = 1e-12  # values closer than this may change places without harm
CHUNK = 64  # cells backed up with one choice of optimistic weights before it is checked
FAST = {"nnan", "nsz", "contract", "arcp"}


@njit(cache=True, fastmath=FAST, error_model="numpy")
def expected(out, o, values, start, stride, chances, color, size, constant, n):
    """out[o + q] = constant + sum_s p[s] values[start + s stride + q] for q < n."""
    if size == 2:
        p0, p1 = chances[color, 0], chances[color, 1]
        second = start + stride
        for q in range(n):
            out[o + q] = constant + p0 * values[start + q] + p1 * values[second + q]
        return
    for q in range(n):
        out[o + q] = constant
    a = start
    s = 0
    while s + 3 < size:  # four outcomes in one pass over the row
        p0, p1, p2, p3 = (
            chances[color, s], chances[color, s + 1], chances[color, s + 2], chances[color, s + 3],
        )  # fmt: skip
        b = a + stride
        c = b + stride
        d = c + stride
        for q in range(n):
            out[o + q] += (p0 * values[a + q] + p1 * values[b + q]) + (
                p2 * values[c + q] + p3 * values[d + q]
            )
        a = d + stride
        s += 4
    while s < size:
        p0 = chances[color, s]
        for q in range(n):
            out[o + q] += p0 * values[a + q]
        a = a + stride
        s += 1


@njit(cache=True, fastmath=FAST, error_model="numpy")
def expected_max(out, o, best, values, start, stride, chances, color, size, constant, n):
    """out[o + q] = max(out[best + q], the expected backup)."""
    if size == 2:
        p0, p1 = chances[color, 0], chances[color, 1]
        second = start + stride
        for q in range(n):
            value = constant + p0 * values[start + q] + p1 * values[second + q]
            out[o + q] = max(out[best + q], value)
        return
    expected(out, o, values, start, stride, chances, color, size, constant, n)
    larger(out, o, best, n)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def larger(out, o, best, n):
    """out[o + q] = max(out[o + q], out[best + q])."""
    for q in range(n):
        value = out[o + q]
        out[o + q] = value if value > out[best + q] else out[best + q]


@njit(cache=True, error_model="numpy")
def optimistic_weights(weights, order, values, chances, color, size, radius):
    """Fill ``weights`` with the best law within ``radius`` (L1) for these outcome values.

    ``order``, a permutation of the outcomes, is sorted from worst to best; the fewer of them are
    out of place the quicker. Returns the place in it at which the moved mass runs out.
    """
    for k in range(size):
        weights[k] = chances[color, k]
        item, place = order[k], k
        while place > 0 and values[order[place - 1]] > values[item]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = item
    top = order[size - 1]
    moved = max(0.0, min(0.5 * radius, 1.0 - weights[top]))
    weights[top] += moved
    pivot = 0
    for place in range(size - 1):
        s = order[place]
        pivot = place
        taken = min(moved, weights[s])
        weights[s] -= taken
        moved -= taken
        if moved <= 0.0:
            break
    return pivot


@njit(cache=True, fastmath=FAST, error_model="numpy")
def optimistic(
    out, o, values, start, stride, chances, color, size, constant, radius, n, weights, order, now
):
    """out[o + q] = constant + max over laws within ``radius`` of the expected value, q < n."""
    if size == 1 or radius == 0.0:
        expected(out, o, values, start, stride, chances, color, size, constant, n)
    elif size == 2:
        # linear in the chance of the first outcome, so best at an end of its range
        most = min(1.0, chances[color, 0] + 0.5 * radius)
        least = max(0.0, chances[color, 0] - 0.5 * radius)
        second = start + stride
        for q in range(n):
            base = constant + values[second + q]
            gap = values[start + q] - values[second + q]
            out[o + q] = max(base + most * gap, base + least * gap)
    else:
        optimistic_many(
            out, o, values, start, stride, chances, color, size, constant, radius, n,
            weights, order, now,
        )  # fmt: skip


@njit(cache=True, fastmath=FAST, error_model="numpy")
def optimistic_many(
    out, o, values, start, stride, chances, color, size, constant, radius, n, weights, order, now
):
    """As ``optimistic`` for three outcomes or more.

    Weights found for one cell serve its neighbours as long as the same outcomes are best, drained
    and kept there; ``wrong`` is positive where they do not, and the next cell starts anew.
    """
    for k in range(size):
        order[k] = k
    wrong = np.empty(CHUNK)
    reach = uint64(CHUNK)
    q = uint64(0)
    while q < n:
        for s in range(size):
            now[s] = values[start + uint64(s) * stride + q]
        place = optimistic_weights(weights, order, now, chances, color, size, radius)
        length = min(reach, n - q)
        top = start + uint64(order[size - 1]) * stride + q
        pivot = start + uint64(order[place]) * stride + q
        cell = o + q
        for k in range(length):
            out[cell + k] = constant
            wrong[k] = 0.0
        rank = 0
        while rank < size:  # two outcomes in one pass; an odd last one is paired with the best
            s, w = order[rank], weights[order[rank]]
            side = 1.0 if rank < place else -1.0
            here = start + uint64(s) * stride + q
            other, w_other, side_other = top, 0.0, -1.0
            if rank + 1 < size:
                w_other = weights[order[rank + 1]]
                side_other = 1.0 if rank + 1 < place else -1.0
                other = start + uint64(order[rank + 1]) * stride + q
            for k in range(length):
                out[cell + k] += w * values[here + k] + w_other * values[other + k]
            for k in range(length):  # apart: the compiler compares only so many rows for overlap
                value, second = values[here + k], values[other + k]
                late = max(side * (value - values[pivot + k]), value - values[top + k])
                late = max(late, side_other * (second - values[pivot + k]))
                wrong[k] = max(wrong[k], max(late, second - values[top + k]))
            rank += 2
        good = uint64(1)
        while good < length and wrong[good] <= TIE:
            good += ONE
        q += good
        reach = min(uint64(CHUNK), max(uint64(16), uint64(2) * good))  # as far as it went well


@njit(cache=True, fastmath=FAST, error_model="numpy")
def switch_row(
    out, o, best, values, start, size, chances, constants, radii, table, extended, n, order
):
    """out[o + q] = max(out[best + q], a pull whose law varies along the row, not its values).

    values[start + s]: the outcomes' values; chances: (2, S, L); constants, radii: (2, L).
    """
    if extended is None:
        for q in range(n):
            out[o + q] = constants[table, q]
        for s in range(size):
            value = values[start + uint64(s)]
            for q in range(n):
                out[o + q] += chances[table, s, q] * value
    else:
        drain_row(out, o, values, start, size, chances, constants, radii, table, n, order)
    larger(out, o, best, n)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def drain_row(out, o, values, start, size, chances, constants, radii, table, n, order):
    """Expected values after radius/2 has moved from the worst outcomes to the best one."""
    for k in range(size):
        place = k
        while place > 0 and values[start + uint64(order[place - 1])] > values[start + uint64(k)]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = k
    top = order[size - 1]
    value = values[start + uint64(top)]
    left = np.empty(n)
    for q in range(n):
        moved = max(0.0, min(0.5 * radii[table, q], 1.0 - chances[table, top, q]))
        left[q] = moved
        out[o + q] = constants[table, q] + (chances[table, top, q] + moved) * value
    for place in range(0, size - 1, 2):  # two outcomes in one pass, or the last one
        s = order[place]
        t = order[min(place + 1, size - 2)]
        value = values[start + uint64(s)]
        second = values[start + uint64(t)] if t != s else 0.0
        for q in range(n):
            kept = chances[table, s, q] - left[q]
            rest = max(0.0, -kept)
            later = chances[table, t, q] - rest
            out[o + q] += max(0.0, kept) * value + max(0.0, later) * second
            left[q] = max(0.0, -later)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def backup_row(
    out, at, spare, source, stay, entries, starts, own, s, length, chances, rewards, radii, color,
    constant, colors, sizes, pulls, size, n_outer, z, row_chances, row_rewards, row_radii, table,
    extended, n, weights, order, now,
):  # fmt: skip
    """The best of all pulls along a row, in out[at ...] or out[spare ...]; returns which."""
    if extended is not None:
        optimistic(out, at, source, stay, length, chances, color, size, constant, radii[color], n,
                   weights, order, now)  # fmt: skip
    else:
        expected(out, at, source, stay, length, chances, color, size, constant, n)
    for k in range(n_outer):
        at, spare = spare, at
        place, law = uint64(starts[k] + s * own[k]), colors[k]
        if extended is not None:
            optimistic(out, at, entries, place, length, chances, law, sizes[pulls[k]],
                       rewards[law], radii[law], n, weights, order, now)  # fmt: skip
            larger(out, at, spare, n)
        else:
            expected_max(out, at, spare, entries, place, length, chances, law, sizes[pulls[k]],
                         rewards[law], n)  # fmt: skip
    if z >= 0:
        at, spare = spare, at
        switch_row(out, at, spare, entries, uint64(starts[n_outer] + s * own[n_outer]), sizes[z],
                   row_chances, row_rewards, row_radii, table, extended, n, order)  # fmt: skip
    return at


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def switch_two(out, o, best, values, start, second, constant, p0, p1, n):
    """out[o + q] = max(out[best + q], a pull with two outcomes)."""
    for q in range(n):
        value = constant + p0 * values[start + q] + p1 * values[second + q]
        out[o + q] = max(out[best + q], value)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def optimistic_switch_two(out, o, best, values, start, second, constant, least, most, scale, n):
    """As ``switch_two``, the chance of the first outcome being any in [least, most]."""
    for q in range(n):
        base = constant + scale * values[second + q]
        gap = values[start + q] - values[second + q]  # linear in the chance: an end is best
        out[o + q] = max(out[best + q], max(base + most * gap, base + least * gap))


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def stay_two(
    out, o, best, values, start, second, constant, p0, p1, rewards, chances, table, low, top, loss,
    n,
):  # fmt: skip
    """As ``switch_two``, and in the same pass the switch whose law varies along the row.

    Its outcomes are worth top, and top - loss with chance chances[table, low, q].
    """
    for q in range(n):
        value = constant + p0 * values[start + q] + p1 * values[second + q]
        switch = rewards[table, q] + top - chances[table, low, q] * loss
        out[o + q] = max(max(out[best + q], switch), value)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def optimistic_stay_two(
    out, o, best, values, start, second, constant, least, most, rewards, chances, table, low, top,
    loss, n,
):  # fmt: skip
    """As ``stay_two``, the chance of the first outcome of the stay being any in [least, most]."""
    for q in range(n):
        base = constant + values[second + q]
        gap = values[start + q] - values[second + q]
        value = max(base + most * gap, base + least * gap)
        switch = rewards[table, q] + top - chances[table, low, q] * loss
        out[o + q] = max(max(out[best + q], switch), value)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def move_two(
    target, at, keep, out, best, values, start, second, constant, p0, p1, others, other,
    other_second, other_constant, q0, q1, pays, chances, table, low, top, loss, n,
):  # fmt: skip
    """target = keep target + the best of all pulls, in one pass along a row.

    The pulls are worth what ``switch_two`` and ``stay_two`` make of them, a step's size and the
    gain being contained in the numbers given.
    """
    for q in range(n):
        value = constant + p0 * values[start + q] + p1 * values[second + q]
        worth = other_constant + q0 * others[other + q] + q1 * others[other_second + q]
        switch = pays[q] + top - chances[table, low, q] * loss
        value = max(max(out[best + q], switch), max(value, worth))
        target[at + q] = keep * target[at + q] + value


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def optimistic_move_two(
    target, at, keep, step, out, best, values, start, second, constant, least, most, others, other,
    other_second, other_constant, other_least, other_most, pays, chances, table, low, top, loss, n,
):  # fmt: skip
    """As ``move_two`` with chances of the first outcomes in [least, most]."""
    for q in range(n):
        base = constant + step * values[second + q]
        gap = values[start + q] - values[second + q]
        value = max(base + most * gap, base + least * gap)
        base = other_constant + step * others[other_second + q]
        gap = others[other + q] - others[other_second + q]
        worth = max(base + other_most * gap, base + other_least * gap)
        switch = pays[q] + top - chances[table, low, q] * loss
        value = max(max(out[best + q], switch), max(value, worth))
        target[at + q] = keep * target[at + q] + value


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def move_row(target, at, fresh, o, step, gain, n):
    """target += step (fresh - target - gain), along a row."""
    for q in range(n):
        old = target[at + q]
        target[at + q] = old + step * (fresh[o + q] - old - gain)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def copy_cells(out, o, values, start, n):
    """out[o + q] = values[start + q] for q < n."""
    for q in range(n):
        out[o + q] = values[start + q]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def bound_row(fresh, at, old, o, extremes, before, after, n):
    """Fold fresh - old into the least and, n cells on, the greatest of each column so far.

    They are read from one place and written to another: in place the loop would not vectorise.
    """
    for q in range(n):
        change = fresh[at + q] - old[o + q]
        extremes[after + q] = min(extremes[before + q], change)
        extremes[after + n + q] = max(extremes[before + n + q], change)
