"""Backups of blocks whose arms are told apart up to some age, row by row.

A row is a run of states that differ only in the points of two arms, the innermost axes. What a
pull is worth in a row is a sum of a few rows read elsewhere, so all loops run along rows. Places
are unsigned in them: numba looks for negative ones at every step, and then takes one step at a
time.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

SPARSE = 6  # entries of a full matrix that cost as much as one that is looked up


@njit(cache=True, nogil=True, error_model="numpy")
def combine(source, place, gap, weights, first, count, target, begin, width):
    """target[begin + k] = sum over i < count of weights[first + i] source[place + i gap + k].

    For k < width. Written out for four terms at a time: a loop over terms around one over k would
    read the target again and again.
    """
    size, out = np.uint64(width), np.uint64(begin)
    p0, p1 = np.uint64(place), np.uint64(place + gap)
    p2, p3 = np.uint64(place + 2 * gap), np.uint64(place + 3 * gap)
    w0 = weights[first]
    if count == 1:
        for k in range(size):
            target[out + k] = w0 * source[p0 + k]
        return
    w1 = weights[first + 1]
    if count == 2:
        for k in range(size):
            target[out + k] = w0 * source[p0 + k] + w1 * source[p1 + k]
        return
    w2 = weights[first + 2]
    if count == 3:
        for k in range(size):
            target[out + k] = w0 * source[p0 + k] + w1 * source[p1 + k] + w2 * source[p2 + k]
        return
    w3 = weights[first + 3]
    if count == 5:
        p4, w4 = np.uint64(place + 4 * gap), weights[first + 4]
        for k in range(size):
            target[out + k] = (w0 * source[p0 + k] + w1 * source[p1 + k] + w2 * source[p2 + k]
                               + w3 * source[p3 + k] + w4 * source[p4 + k])  # fmt: skip
        return
    for k in range(size):
        target[out + k] = (w0 * source[p0 + k] + w1 * source[p1 + k]
                           + w2 * source[p2 + k] + w3 * source[p3 + k])  # fmt: skip
    for i in range(4, count - count % 4, 4):
        p0, p1 = np.uint64(place + i * gap), np.uint64(place + (i + 1) * gap)
        p2, p3 = np.uint64(place + (i + 2) * gap), np.uint64(place + (i + 3) * gap)
        w0, w1 = weights[first + i], weights[first + i + 1]
        w2, w3 = weights[first + i + 2], weights[first + i + 3]
        for k in range(size):
            target[out + k] += (w0 * source[p0 + k] + w1 * source[p1 + k]
                                + w2 * source[p2 + k] + w3 * source[p3 + k])  # fmt: skip
    for i in range(count - count % 4, count):
        spot, weight = np.uint64(place + i * gap), weights[first + i]
        for k in range(size):
            target[out + k] += weight * source[spot + k]


@njit(cache=True, nogil=True, error_model="numpy")
def _gathered(source, place, after, columns, weights, begin, end, target, out):
    """target[out + k] = sum of weights[c] source[place + columns[c] after + k], begin <= c < end.

    For k < after; at least one term.
    """
    size, out = np.uint64(after), np.uint64(out)
    c = begin
    while c < end:
        p0, w0 = np.uint64(place + columns[c] * after), weights[c]
        if end - c >= 4:
            p1, w1 = np.uint64(place + columns[c + 1] * after), weights[c + 1]
            p2, w2 = np.uint64(place + columns[c + 2] * after), weights[c + 2]
            p3, w3 = np.uint64(place + columns[c + 3] * after), weights[c + 3]
            if c == begin:
                for k in range(size):
                    target[out + k] = (w0 * source[p0 + k] + w1 * source[p1 + k]
                                       + w2 * source[p2 + k] + w3 * source[p3 + k])  # fmt: skip
            else:
                for k in range(size):
                    target[out + k] += (w0 * source[p0 + k] + w1 * source[p1 + k]
                                        + w2 * source[p2 + k] + w3 * source[p3 + k])  # fmt: skip
            c += 4
        elif end - c >= 2:
            p1, w1 = np.uint64(place + columns[c + 1] * after), weights[c + 1]
            if c == begin:
                for k in range(size):
                    target[out + k] = w0 * source[p0 + k] + w1 * source[p1 + k]
            else:
                for k in range(size):
                    target[out + k] += w0 * source[p0 + k] + w1 * source[p1 + k]
            c += 2
        else:
            if c == begin:
                for k in range(size):
                    target[out + k] = w0 * source[p0 + k]
            else:
                for k in range(size):
                    target[out + k] += w0 * source[p0 + k]
            c += 1


@njit(cache=True, nogil=True, error_model="numpy")
def mix(source, target, before, size, after, shift, plain, begin, columns, weights, across):
    """target[b, r] = sum over c of weights[c] source[b, columns[c]], c from begin[r] on.

    source: (before, size, after) and target: (before, rows, after), both flat; row r has the
    entries from begin[r] to before begin[r + 1]. The first ``plain`` rows are those of the source
    from ``shift`` on, as they are. across: (size, rows) the same matrix in full, flat, to run
    along where ``after`` is 1 and few entries are 0.
    """
    rows = len(begin) - 1
    few = SPARSE * len(columns) < size * rows
    for b in range(before):
        if after == 1 and few:
            for r in range(rows):
                total = 0.0
                for c in range(np.uint64(begin[r]), np.uint64(begin[r + 1])):
                    total += weights[c] * source[np.uint64(b * size + columns[c])]
                target[np.uint64(b * rows + r)] = total
            continue
        if after == 1:
            combine(across, 0 * b, rows, source, b * size, size, target, b * rows, rows)
            continue
        place, out = np.uint64((b * size + shift) * after), np.uint64(b * rows * after)
        for k in range(np.uint64(plain * after)):
            target[out + k] = source[place + k]
        for r in range(plain, rows):
            _gathered(source, b * size * after, after, columns, weights, begin[r], begin[r + 1],
                      target, (b * rows + r) * after)  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _pulled(way, at, wide, entries, strides, numbers, shown, innermost, few, worth):
    """What a pull of another arm is worth in the row at these coordinates.

    strides: (ways, coordinates + 1) of the arm's entries, the last one along the first of the two
    arms of a row, which has ``wide`` points. numbers: (ways, 5) where its entries begin, from
    outcome to outcome, outcomes, where its laws begin in ``shown``, and which coordinate is its
    point. The last two ways are the arms of a row; the laws of the last one stand in
    ``innermost``, an outcome a row.
    """
    place, gap, count, first = numbers[way, 0], numbers[way, 1], numbers[way, 2], numbers[way, 3]
    for p in range(len(at)):
        place += at[p] * strides[way, p]
    ways, width = len(numbers), len(worth) // wide
    none = 0 * width  # a constant would compile ``combine`` once more, for itself
    if way < ways - 2:
        first += at[numbers[way, 4]] * count
        combine(entries, place, gap, shown, first, count, worth, none, len(worth))
    elif way == ways - 2:
        for k in range(wide):
            combine(entries, place, gap, shown, first + k * count, count, worth, k * width, width)
    else:
        for k in range(wide):
            for i in range(count):
                few[i] = entries[place + k * strides[way, len(at)] + i * gap]
            combine(innermost, none, width, few, none, count, worth, k * width, width)


@njit(cache=True, nogil=True, error_model="numpy")
def _stayed(row, at, law, reward, stays, best):
    """What pulling the same arm again is worth: law: (S, S), reward: (S,), stays: (S, rest)."""
    state, size, width = at[0], len(reward), len(best)
    rest = len(stays) // size
    combine(stays, row * width - state * rest, rest, law, state * size, size, best, 0 * row, width)
    for k in range(width):
        best[k] += reward[state]


@njit(cache=True, nogil=True, error_model="numpy")
def _most(numbers):
    """Outcomes of the arm along the row."""
    return numbers[-1, 2] if len(numbers) else 0


@njit(cache=True, nogil=True, error_model="numpy")
def _next(at, shape):
    """The coordinates of the next row."""
    p = len(at) - 1
    at[p] += 1
    while p > 0 and at[p] == shape[p]:
        at[p] = 0
        p -= 1
        at[p] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _stepped(place, best, values, fresh, step, gain, lows, highs):
    """Changes of a row, and its values a damped step further."""
    start, width = np.uint64(place), np.uint64(len(best))
    for k in range(width):
        change = best[k] - values[start + k]
        lows[k] = change if change < lows[k] else lows[k]
        highs[k] = change if change > highs[k] else highs[k]
    for k in range(width):
        old = values[start + k]
        fresh[start + k] = old + step * (best[k] - old - gain)


@njit(cache=True, nogil=True, error_model="numpy")
def best_rows(shape, wide, width, law, reward, stays, entries, strides, numbers, shown, innermost,
              values, fresh, step, gain):  # fmt: skip
    """A damped sweep with the best pulls; the least and the largest change of an undamped one.

    shape: of the coordinates, the state of the arm pulled last first. width: of a row; wide: how
    many points the first of its two arms has.
    """
    best, worth, few = np.empty(width), np.empty(width), np.empty(_most(numbers))
    lows, highs = np.full(width, np.inf), np.full(width, -np.inf)
    at = np.zeros(len(shape), dtype=np.int64)
    for row in range(len(values) // width):
        _stayed(row, at, law, reward, stays, best)
        for way in range(len(numbers)):
            _pulled(way, at, wide, entries, strides, numbers, shown, innermost, few, worth)
            for k in range(width):
                best[k] = worth[k] if worth[k] > best[k] else best[k]
        _stepped(row * width, best, values, fresh, step, gain, lows, highs)
        _next(at, shape)
    return lows.min(), highs.max()


@njit(cache=True, nogil=True, error_model="numpy")
def chosen_rows(shape, wide, width, law, reward, stays, entries, strides, numbers, shown, innermost,
                values, fresh, step, gain, choices, taken):  # fmt: skip
    """The same with the pulls that a policy chooses.

    choices: way of every state, 0 for the same arm again. taken: (rows, ways + 1) whether a row
    has states with that choice.
    """
    best, worth, few = np.empty(width), np.empty(width), np.empty(_most(numbers))
    lows, highs = np.full(width, np.inf), np.full(width, -np.inf)
    at = np.zeros(len(shape), dtype=np.int64)
    for row in range(len(values) // width):
        if taken[row, 0]:
            _stayed(row, at, law, reward, stays, best)
        for way in range(len(numbers)):
            if not taken[row, way + 1]:
                continue
            _pulled(way, at, wide, entries, strides, numbers, shown, innermost, few, worth)
            place = np.uint64(row * width)
            for k in range(np.uint64(width)):
                best[k] = worth[k] if choices[place + k] == way + 1 else best[k]
        _stepped(row * width, best, values, fresh, step, gain, lows, highs)
        _next(at, shape)
    return lows.min(), highs.max()


@njit(cache=True, nogil=True, error_model="numpy")
def choose_rows(shape, wide, width, law, reward, stays, entries, strides, numbers, shown, innermost,
                margin, choices, taken):  # fmt: skip
    """The best way of every state; a later one only where it is better by a margin."""
    best, worth, few = np.empty(width), np.empty(width), np.empty(_most(numbers))
    at = np.zeros(len(shape), dtype=np.int64)
    for row in range(len(choices) // width):
        place = row * width
        _stayed(row, at, law, reward, stays, best)
        choices[place : place + width] = 0
        for way in range(len(numbers)):
            _pulled(way, at, wide, entries, strides, numbers, shown, innermost, few, worth)
            for k in range(width):
                if worth[k] > best[k] + margin:
                    best[k], choices[place + k] = worth[k], way + 1
        taken[row] = False
        for k in range(width):
            taken[row, choices[place + k]] = True
        _next(at, shape)
