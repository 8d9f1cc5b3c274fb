"""Minimal expected hitting times of one target at a time, with a certificate."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

CHECK_EVERY = 8  # sweeps between two certificates


@njit(cache=True, error_model="numpy", forceinline=True)
def least_time(times, x, colors, successors, chances, solved):
    """Least expected time from x over the actions; solved: for a loop from x to itself."""
    best = np.inf
    for action in range(successors.shape[1]):
        color = colors[x, action]
        if color < 0:
            continue
        total, leave = 1.0, 1.0
        for b in range(successors.shape[2]):
            y = successors[x, action, b]
            if solved and y == x:
                leave -= chances[color, b]
            elif chances[color, b] > 0.0:
                total += chances[color, b] * times[y]
        if leave > 1e-9:  # less might be rounding alone
            best = min(best, total / leave)
    return best


@njit(cache=True, error_model="numpy")
def sweep_in_place(times, target, colors, successors, chances):
    """times[x] = min over actions of the expected time, a loop from x to itself solved for."""
    for x in range(len(successors)):
        if x != target:
            best = least_time(times, x, colors, successors, chances, True)
            times[x] = best if best < np.inf else times[x]


@njit(cache=True, error_model="numpy")
def changes(times, target, colors, successors, chances):
    """Largest T v - v and largest v - T v, where T v = 1 + min over actions of the mean of v."""
    up, down = 0.0, 0.0
    for x in range(len(successors)):
        if x != target:
            best = least_time(times, x, colors, successors, chances, False)
            up, down = max(up, best - times[x]), max(down, times[x] - best)
    return up, down


@njit(cache=True, error_model="numpy")
def certify(times, target, colors, successors, chances):
    """Bounds of the largest minimal hitting time of the target, from any v >= 0, v(target) = 0.

    If T v <= v + u with u < 1 then v/(1 - u) is at least 1 plus its mean under some policy, so it
    is at least that policy's hitting time; if T v >= v - d then v/(1 + d) is at most 1 plus its
    mean under every policy, so it is at most the smallest hitting time.
    """
    up, down = changes(times, target, colors, successors, chances)
    top = times.max()
    slack = 2.2e-16 * (4 + 2 * chances.shape[1]) * (1.0 + top)
    up += slack
    down += slack
    return top / (1.0 + down), top / (1.0 - up) if up < 1.0 else np.inf


@njit(cache=True, error_model="numpy")
def reach(times, target, colors, successors, chances, tolerance, floor, most):
    """Sweep ``times`` until the certificate is narrow, or below ``floor``; (lower, upper)."""
    low, high = 0.0, np.inf
    for _ in range(0, most, CHECK_EVERY):
        for _ in range(CHECK_EVERY):
            sweep_in_place(times, target, colors, successors, chances)
        below, above = certify(times, target, colors, successors, chances)
        low, high = max(low, below), min(high, above)
        if high <= floor or (high < np.inf and high - low <= tolerance * high):
            break
    return low, high


@njit(cache=True, error_model="numpy", nogil=True)
def reach_all(targets, colors, successors, chances, tolerance, floor, most, bounds, hardest,
              first, stride):  # fmt: skip
    """``reach`` for targets first, first + stride, ...; bounds (n, 2), hardest (n,) the start.

    floor: targets that are certainly easier than this are given up early; it rises on the way.
    Each target starts from the times of the one before, which are about as large.
    """
    times = np.zeros(len(colors))
    for k in range(first, len(targets), stride):
        times[targets[k]] = 0.0
        low, high = reach(times, targets[k], colors, successors, chances, tolerance, floor, most)
        bounds[k, 0], bounds[k, 1], hardest[k] = low, high, times.argmax()
        floor = max(floor, low)
