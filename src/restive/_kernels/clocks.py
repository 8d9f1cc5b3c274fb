"""Backups of blocks whose arms are told apart up to some age, row by row.

A row is a run of states that differ only in the point of one arm, the innermost axis. What a pull
is worth in a row is a sum of a few rows read elsewhere, so all loops run along rows. Places are
unsigned in them: numba looks for negative ones at every step, and then takes one step at a time.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit


@njit(cache=True, nogil=True, error_model="numpy")
def mix(source, target, before, size, after, shift, plain, begin, columns, weights):
    """target[b, r] = sum over c of weights[c] source[b, columns[c]], c from begin[r] on.

    source: (before, size, after) and target: (before, rows, after), both flat; row r has the
    entries from begin[r] to before begin[r + 1]. The first ``plain`` rows are those of the source
    from ``shift`` on, as they are.
    """
    rows = len(begin) - 1
    for b in range(before):
        place, out = np.uint64((b * size + shift) * after), np.uint64(b * rows * after)
        for k in range(np.uint64(plain * after)):
            target[out + k] = source[place + k]
        for r in range(plain, rows):
            out = np.uint64((b * rows + r) * after)
            if after == 1:  # nothing to run along
                total = 0.0
                for c in range(np.uint64(begin[r]), np.uint64(begin[r + 1])):
                    total += weights[c] * source[np.uint64(b * size + columns[c])]
                target[out] = total
                continue
            for c in range(begin[r], begin[r + 1]):
                place, weight = np.uint64((b * size + columns[c]) * after), weights[c]
                if c == begin[r]:
                    for k in range(np.uint64(after)):
                        target[out + k] = weight * source[place + k]
                else:
                    for k in range(np.uint64(after)):
                        target[out + k] += weight * source[place + k]


@njit(cache=True, nogil=True, error_model="numpy")
def combine(source, place, gap, weights, first, count, target):
    """target[k] = sum over i < count of weights[first + i] source[place + i gap + k].

    Written out for few terms: a loop over terms around one over k would read the target again
    and again.
    """
    size = np.uint64(len(target))
    p0, p1 = np.uint64(place), np.uint64(place + gap)
    p2, p3 = np.uint64(place + 2 * gap), np.uint64(place + 3 * gap)
    w0 = weights[first]
    if count == 1:
        for k in range(size):
            target[k] = w0 * source[p0 + k]
    elif count == 2:
        w1 = weights[first + 1]
        for k in range(size):
            target[k] = w0 * source[p0 + k] + w1 * source[p1 + k]
    elif count == 3:
        w1, w2 = weights[first + 1], weights[first + 2]
        for k in range(size):
            target[k] = w0 * source[p0 + k] + w1 * source[p1 + k] + w2 * source[p2 + k]
    else:
        w1, w2, w3 = weights[first + 1], weights[first + 2], weights[first + 3]
        for k in range(size):
            target[k] = (w0 * source[p0 + k] + w1 * source[p1 + k]
                         + w2 * source[p2 + k] + w3 * source[p3 + k])  # fmt: skip
        for i in range(4, count):
            spot, weight = np.uint64(place + i * gap), weights[first + i]
            for k in range(size):
                target[k] += weight * source[spot + k]


@njit(cache=True, nogil=True, error_model="numpy")
def _pulled(way, at, entries, strides, numbers, shown, innermost, few, worth):
    """What a pull of another arm is worth in the row at these coordinates.

    strides: (ways, coordinates) of the arm's entries. numbers: (ways, 5) where its entries begin,
    from outcome to outcome, outcomes, where its laws begin in ``shown``, and which coordinate is
    its point. The last way is the arm along the row, whose laws stand in ``innermost``, an outcome
    a row.
    """
    place, gap, count = numbers[way, 0], numbers[way, 1], numbers[way, 2]
    for p in range(len(at)):
        place += at[p] * strides[way, p]
    if way < len(numbers) - 1:
        first = numbers[way, 3] + at[numbers[way, 4]] * count
        combine(entries, place, gap, shown, first, count, worth)
    else:
        for i in range(count):
            few[i] = entries[place + i * gap]
        combine(innermost, 0, len(worth), few, 0, count, worth)


@njit(cache=True, nogil=True, error_model="numpy")
def _stayed(row, at, law, reward, stays, best):
    """What pulling the same arm again is worth: law: (S, S), reward: (S,), stays: (S, rest)."""
    state, size, width = at[0], len(reward), len(best)
    rest = len(stays) // size
    combine(stays, row * width - state * rest, rest, law, state * size, size, best)
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
def best_rows(shape, width, law, reward, stays, entries, strides, numbers, shown, innermost,
              values, fresh, step, gain):  # fmt: skip
    """A damped sweep with the best pulls; the least and the largest change of an undamped one.

    shape: of the coordinates, the state of the arm pulled last first; width: of a row.
    """
    best, worth, few = np.empty(width), np.empty(width), np.empty(_most(numbers))
    lows, highs = np.full(width, np.inf), np.full(width, -np.inf)
    at = np.zeros(len(shape), dtype=np.int64)
    for row in range(len(values) // width):
        _stayed(row, at, law, reward, stays, best)
        for way in range(len(numbers)):
            _pulled(way, at, entries, strides, numbers, shown, innermost, few, worth)
            for k in range(width):
                best[k] = worth[k] if worth[k] > best[k] else best[k]
        _stepped(row * width, best, values, fresh, step, gain, lows, highs)
        _next(at, shape)
    return lows.min(), highs.max()


@njit(cache=True, nogil=True, error_model="numpy")
def chosen_rows(shape, width, law, reward, stays, entries, strides, numbers, shown, innermost,
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
            _pulled(way, at, entries, strides, numbers, shown, innermost, few, worth)
            place = np.uint64(row * width)
            for k in range(np.uint64(width)):
                best[k] = worth[k] if choices[place + k] == way + 1 else best[k]
        _stepped(row * width, best, values, fresh, step, gain, lows, highs)
        _next(at, shape)
    return lows.min(), highs.max()


@njit(cache=True, nogil=True, error_model="numpy")
def choose_rows(shape, width, law, reward, stays, entries, strides, numbers, shown, innermost,
                margin, choices, taken):  # fmt: skip
    """The best way of every state; a later one only where it is better by a margin."""
    best, worth, few = np.empty(width), np.empty(width), np.empty(_most(numbers))
    at = np.zeros(len(shape), dtype=np.int64)
    for row in range(len(choices) // width):
        place = row * width
        _stayed(row, at, law, reward, stays, best)
        choices[place : place + width] = 0
        for way in range(len(numbers)):
            _pulled(way, at, entries, strides, numbers, shown, innermost, few, worth)
            for k in range(width):
                if worth[k] > best[k] + margin:
                    best[k], choices[place + k] = worth[k], way + 1
        taken[row] = False
        for k in range(width):
            taken[row, choices[place + k]] = True
        _next(at, shape)
