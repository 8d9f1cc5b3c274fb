"""Likelihood of one chain from counts at gaps, expected moves, and the climb to its maximum.

Powers are made by a list of products, power k from powers left[k] and right[k], power 0 being the
chain itself. The slope of the likelihood in the chain comes from the same list backwards.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit


@njit(cache=True, error_model="numpy", nogil=True)
def expected_moves(chain, left, right, counts, powers, slopes, moves):
    """log likelihood; ``moves`` receives the expected number of moves from each state to each.

    counts: (M, S, S), how often s' was seen after s at the gap of each power. The expected moves,
    unseen ones included, are P times the slope of the log likelihood in P, entry by entry.
    """
    size, many = len(chain), len(left)
    total = 0.0
    powers[0] = chain
    for k in range(many):
        if k > 0:
            a, b = powers[left[k]], powers[right[k]]
            for i in range(size):
                for j in range(size):
                    entry = 0.0
                    for m in range(size):
                        entry += a[i, m] * b[m, j]
                    powers[k, i, j] = entry
        for i in range(size):
            for j in range(size):
                slopes[k, i, j] = 0.0
                if counts[k, i, j] > 0:
                    if powers[k, i, j] <= 0.0:
                        return -np.inf
                    total += counts[k, i, j] * np.log(powers[k, i, j])
                    slopes[k, i, j] = counts[k, i, j] / powers[k, i, j]
    for k in range(many - 1, 0, -1):
        a, b = powers[left[k]], powers[right[k]]
        for i in range(size):
            for j in range(size):
                slope = slopes[k, i, j]
                if slope != 0.0:
                    for m in range(size):
                        slopes[left[k], i, m] += slope * b[m, j]
                        slopes[right[k], m, j] += a[i, m] * slope
    for i in range(size):
        for j in range(size):
            moves[i, j] = chain[i, j] * slopes[0, i, j]
    return total


@njit(cache=True, error_model="numpy", nogil=True)
def maximise(moves, prior, fixed, value, chain):
    """Rows of the chain by shares of expected moves plus ``prior``.

    fixed: (row, column) of an entry that stays at ``value``; (-1, -1) for none. A row without any
    moves stays as it is.
    """
    size = len(chain)
    for i in range(size):
        total, held = 0.0, 1.0
        for j in range(size):
            if i == fixed[0] and j == fixed[1]:
                held = 1.0 - value
            else:
                total += moves[i, j] + prior
        for j in range(size):
            if i == fixed[0] and j == fixed[1]:
                chain[i, j] = value
            elif total > 0.0:
                chain[i, j] = held * (moves[i, j] + prior) / total


@njit(cache=True, error_model="numpy", nogil=True)
def penalised(likelihood, chain, prior):
    """Log likelihood plus the log density of the prior, up to a constant."""
    if prior > 0.0:
        for i in range(len(chain)):
            for j in range(len(chain)):
                likelihood += prior * np.log(max(chain[i, j], 1e-300))
    return likelihood


@njit(cache=True, error_model="numpy", nogil=True)
def extrapolate(chain, once, twice, far):
    """A long step along two steps of EM (Varadhan and Roland 2008, SqS3), kept inside."""
    size, first, bend = len(chain), 0.0, 0.0
    for i in range(size):
        for j in range(size):
            r = once[i, j] - chain[i, j]
            v = twice[i, j] - once[i, j] - r
            first += r * r
            bend += v * v
    length = 1.0
    if bend > 0.0:
        length = max(1.0, np.sqrt(first / bend))
    for i in range(size):
        total = 0.0
        for j in range(size):
            r = once[i, j] - chain[i, j]
            v = twice[i, j] - once[i, j] - r
            entry = chain[i, j] + 2.0 * length * r + length * length * v
            far[i, j] = max(entry, 0.1 * twice[i, j])
            total += far[i, j]
        for j in range(size):
            far[i, j] /= total


@njit(cache=True, error_model="numpy", nogil=True)
def climb(chain, left, right, counts, prior, fixed, value, rounds, close):
    """Move ``chain`` to a maximum of the likelihood by accelerated EM.

    Stops when a step of EM moves no entry by more than ``close``. Returns the penalised log
    likelihood, the largest move of the last step and the number of likelihoods taken.
    """
    shape = (len(left), len(chain), len(chain))
    powers, slopes = np.empty(shape), np.empty(shape)
    moves = np.empty(shape[1:])
    once, twice, far = chain.copy(), chain.copy(), chain.copy()
    taken, largest, best = 0, np.inf, -np.inf
    for _ in range(rounds):
        best = penalised(
            expected_moves(chain, left, right, counts, powers, slopes, moves), chain, prior
        )
        once[:] = chain
        maximise(moves, prior, fixed, value, once)
        taken += 1
        largest = 0.0
        for i in range(len(chain)):
            for j in range(len(chain)):
                largest = max(largest, abs(once[i, j] - chain[i, j]))
        if largest <= close:
            chain[:] = once
            break
        expected_moves(once, left, right, counts, powers, slopes, moves)
        twice[:] = once
        maximise(moves, prior, fixed, value, twice)
        extrapolate(chain, once, twice, far)
        if fixed[0] >= 0:
            far[fixed[0]] = (
                far[fixed[0]] * (1.0 - value) / max(1e-300, 1.0 - far[fixed[0], fixed[1]])
            )
            far[fixed[0], fixed[1]] = value
        reached = penalised(
            expected_moves(far, left, right, counts, powers, slopes, moves), far, prior
        )
        taken += 2
        if reached >= best:
            chain[:] = far
            maximise(moves, prior, fixed, value, chain)
        else:
            chain[:] = twice
    return best, largest, taken
