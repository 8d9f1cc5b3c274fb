"""One arm with a subsidy for resting: its average-reward problem, and indices by bisection."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

RESTART = 1e-10  # uniform mass in every row: embedded chains of periodic arms stay unichain
GAIN_TIES = 1e-13
ROUNDS = 1000


@njit(cache=True, error_model="numpy")
def pulling_gain(rows, means, subsidy):
    """Best gain and bias among policies that pull again after w_s steps, by policy iteration.

    rows: (A, S, S) laws of the state seen after each wait, means: (A, S). h(s) is the largest over
    w of (w - 1) subsidy - w g + means[w, s] + rows[w, s] h.
    """
    ages, size = means.shape
    waits = np.zeros(size, dtype=np.int64)
    gain, bias = 0.0, np.zeros(size)
    for _ in range(ROUNDS):
        matrix, right = np.zeros((size, size)), np.empty(size)
        for s in range(size):
            w = waits[s]
            for k in range(1, size):
                matrix[s, k] = (1.0 if s == k else 0.0) - (
                    (1 - RESTART) * rows[w, s, k] + RESTART / size
                )
            matrix[s, 0] = w + 1.0  # in place of h(0) = 0: the coefficient of the gain
            right[s] = w * subsidy + means[w, s]
        bias = np.linalg.solve(matrix, right)
        gain, bias[0] = bias[0], 0.0
        changed = False
        for s in range(size):
            best, at = -np.inf, waits[s]
            now = 0.0
            for w in range(ages):
                value = w * subsidy - (w + 1) * gain + means[w, s]
                for k in range(size):
                    value += ((1 - RESTART) * rows[w, s, k] + RESTART / size) * bias[k]
                if w == waits[s]:
                    now = value
                if value > best:
                    best, at = value, w
            if best > now + GAIN_TIES * (1 + abs(now)) and best > now:
                waits[s] = at
                changed = True
        if not changed:
            break
    return gain, bias


@njit(cache=True, error_model="numpy")
def stopping_bias(rows, means, subsidy):
    """h(s) = max(0, max over w of means[w, s] - subsidy + rows[w, s] h): rest for ever in the end.

    For subsidies at least as large as the gain of every policy that goes on pulling.
    """
    ages, size = means.shape
    acts = np.full(size, -1)
    bias = np.zeros(size)
    for _ in range(ROUNDS):
        changed, stops = False, 0
        for s in range(size):
            best, at = 0.0 if acts[s] < 0 else bias[s], acts[s]
            for w in range(ages):
                value = means[w, s] - subsidy
                for k in range(size):
                    value += rows[w, s, k] * bias[k]
                if value > best + GAIN_TIES:
                    best, at = value, w
            if at != acts[s]:
                acts[s] = at
                changed = True
            stops += 1 if acts[s] < 0 else 0
        if not changed or stops == 0:
            break
        matrix, right = np.eye(size), np.zeros(size)
        for s in range(size):
            if acts[s] >= 0:
                right[s] = means[acts[s], s] - subsidy
                for k in range(size):
                    matrix[s, k] -= (1 - RESTART) * rows[acts[s], s, k]
        bias = np.linalg.solve(matrix, right)
    return bias


@njit(cache=True, error_model="numpy")
def rest_advantage(rows, means, back, subsidy, out):
    """out (A, S): what resting now is worth more than pulling, both followed by the best."""
    ages, size = means.shape
    gain, bias = pulling_gain(rows, means, subsidy)
    for_ever = gain <= subsidy
    if for_ever:
        gain = subsidy
        bias = stopping_bias(rows, means, subsidy)
    for s in range(size):
        pull = np.empty(ages)
        for n in range(ages):
            pull[n] = means[n, s] - gain
            for k in range(size):
                pull[n] += rows[n, s, k] * bias[k]
        value = pull.copy()
        for _ in range(2):  # twice, since ages run on a loop
            for n in range(ages - 1, -1, -1):
                after = n + 1 if n + 1 < ages else back
                rest = subsidy - gain + value[after]
                value[n] = max(pull[n], rest)
                if for_ever:
                    value[n] = max(value[n], 0.0)
        for n in range(ages):
            after = n + 1 if n + 1 < ages else back
            rest = subsidy - gain + value[after]
            if for_ever:
                rest = max(rest, 0.0)
            out[n, s] = rest - pull[n]


@njit(cache=True, error_model="numpy", nogil=True)
def indices(rows, means, back, low, high, tolerance):
    """Subsidies (A, S) at which resting and pulling are equally good, by bisection."""
    ages, size = means.shape
    equal, out = np.empty((ages, size)), np.empty((ages, size))
    for n in range(ages):
        for s in range(size):
            below, above = low, high
            while above - below > tolerance:
                middle = 0.5 * (below + above)
                rest_advantage(rows, means, back, middle, out)
                if out[n, s] < 0.0:
                    below = middle
                else:
                    above = middle
            equal[n, s] = 0.5 * (below + above)
    return equal
