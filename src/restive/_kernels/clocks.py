"""Backups of blocks whose arms are told apart up to some age: rows mixed along one axis."""

from __future__ import annotations

from restive._kernels import njit


@njit(cache=True, nogil=True, error_model="numpy")
def mix(source, target, before, size, after, begin, columns, weights):
    """target[b, r] = sum over c of weights[c] source[b, columns[c]], c from begin[r] on.

    source: (before, size, after) and target: (before, rows, after), both flat; row r has the
    entries from begin[r] to before begin[r + 1].
    """
    rows = len(begin) - 1
    if after == 1:
        for b in range(before):
            for r in range(rows):
                total = 0.0
                for c in range(begin[r], begin[r + 1]):
                    total += weights[c] * source[b * size + columns[c]]
                target[b * rows + r] = total
        return
    for b in range(before):
        for r in range(rows):
            out = (b * rows + r) * after
            place = (b * size + columns[begin[r]]) * after
            weight = weights[begin[r]]
            for k in range(after):
                target[out + k] = weight * source[place + k]
            for c in range(begin[r] + 1, begin[r + 1]):
                place, weight = (b * size + columns[c]) * after, weights[c]
                for k in range(after):
                    target[out + k] += weight * source[place + k]


@njit(cache=True, nogil=True, error_model="numpy")
def keep_best(worth, action, best, policy, margin):
    """Take an action where it is worth more than the best one so far by a margin."""
    for x in range(len(worth)):
        if worth[x] > best[x] + margin:
            best[x], policy[x] = worth[x], action


@njit(cache=True, nogil=True, error_model="numpy")
def keep_chosen(worth, action, policy, target):
    """What the action is worth where the policy takes it."""
    for x in range(len(worth)):
        if policy[x] == action:
            target[x] = worth[x]


@njit(cache=True, nogil=True, error_model="numpy")
def extremes(target, values):
    """Least and largest change from the values to the target."""
    low = high = target[0] - values[0]
    for x in range(len(values)):
        change = target[x] - values[x]
        low, high = min(low, change), max(high, change)
    return low, high


@njit(cache=True, nogil=True, error_model="numpy")
def advance(values, target, step, gain):
    """values + step (target - values - gain), in place."""
    for x in range(len(values)):
        values[x] += step * (target[x] - values[x] - gain)
