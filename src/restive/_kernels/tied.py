"""One chain seen at gaps: its posterior from counts N(s, n, s'), and the counting itself.

Counts have a place for each gap of up to DENSE steps, then for eight gaps an octave, so that an arm
that moves once in thousands of steps is told from one that moves once in hundreds. A gap beyond
DENSE is cut in halves that have places too, and a power is the square of that of the half.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

DENSE, OCTAVE = 256, 8


@njit(cache=True, error_model="numpy", nogil=True)
def place_of(gap):
    """Where a gap is counted: that of the nearest gap that has a place."""
    if gap <= DENSE:
        return gap - 1
    octaves, width = 0, DENSE // OCTAVE
    while gap > OCTAVE * width * 2:
        octaves, width = octaves + 1, width * 2
    return DENSE - 1 + OCTAVE * octaves + (gap - OCTAVE * width + width // 2) // width


@njit(cache=True, error_model="numpy", nogil=True)
def halves(place):
    """Places of the two gaps that make up the one at ``place``, which is not the first."""
    if place < DENSE:
        return (place - 1) // 2, place // 2
    if place < DENSE + OCTAVE:
        half = DENSE // 2 - 1 + (place - DENSE + 1) * DENSE // OCTAVE // 2
        return half, half
    return place - OCTAVE, place - OCTAVE


@njit(cache=True, error_model="numpy", nogil=True)
def multiply(left, right, product):
    """product = left @ right, for matrices too small for BLAS."""
    size = len(left)
    for i in range(size):
        for j in range(size):
            total = 0.0
            for k in range(size):
                total += left[i, k] * right[k, j]
            product[i, j] = total


@njit(cache=True, error_model="numpy", nogil=True)
def copy_matrix(matrix, copy):
    """copy[:] = matrix; what numba compiles for that is mostly a message about unequal shapes."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            copy[i, j] = matrix[i, j]


@njit(cache=True, error_model="numpy", nogil=True)
def fill_powers(chain, powers):
    """powers[n - 1] = chain^n for as many n as there is room for."""
    copy_matrix(chain, powers[0])
    for n in range(1, len(powers)):
        multiply(powers[n - 1], chain, powers[n])


@njit(cache=True, error_model="numpy", nogil=True)
def fill_gap_powers(chain, powers):
    """powers[k] = chain^n, n the gap at place k, for as many k as there is room for."""
    fill_powers(chain, powers[:DENSE])
    for place in range(DENSE, len(powers)):
        half = halves(place)[0]
        multiply(powers[half], powers[half], powers[place])


@njit(cache=True, error_model="numpy", nogil=True)
def distance(rows, others):
    """Largest L1 distance between rows of the same number."""
    most = 0.0
    for i in range(len(rows)):
        total = 0.0
        for j in range(len(rows)):
            total += abs(rows[i, j] - others[i, j])
        most = max(most, total)
    return most


@njit(cache=True, error_model="numpy", nogil=True)
def lasso(chain, error, caps, doublings):
    """Smallest cap in ``caps``, and loop of at most S ages, from which on powers repeat.

    Row by row P^cap is within ``error`` in L1 of P^(cap + loop) and of P^(cap + 2^doublings loops).
    If no cap will do, the largest, with the loop that fits best there.
    """
    size = len(chain)
    powers = np.empty((caps[-1] + size, size, size))
    fill_powers(chain, powers[:size])
    far = powers[:size].copy()
    beyond, squared = np.empty((size, size)), np.empty((size, size))
    for loop in range(size):
        for _ in range(doublings):
            multiply(far[loop], far[loop], squared)
            copy_matrix(squared, far[loop])
    filled, nearest, best = size, np.inf, 0
    for cap in caps:
        for n in range(filled, cap + size):
            multiply(powers[n - 1], chain, powers[n])
        filled = cap + size
        here, nearest = powers[cap - 1], np.inf
        for loop in range(size):
            near = distance(powers[cap + loop], here)
            if near < nearest:
                nearest, best = near, loop
            if near <= error:
                multiply(here, far[loop], beyond)
                if distance(beyond, here) <= error:
                    return cap, loop + 1
    return caps[-1], best + 1


@njit(cache=True, error_model="numpy", nogil=True)
def mirror(chain, image):
    """Write 2 Pi - P to ``image``, rows summing to 1; False if it is no chain.

    Pi, the stationary law, by Grassmann, Taksar and Heyman.
    """
    size = len(chain)
    law = np.zeros(size)
    work = np.maximum(chain, 1e-300)
    for k in range(size - 1, 0, -1):
        out = work[k, :k].sum()
        for i in range(k):
            work[i, k] /= out
            for j in range(k):
                work[i, j] += work[i, k] * work[k, j]
    law[0] = total = 1.0
    for k in range(1, size):
        for i in range(k):
            law[k] += law[i] * work[i, k]
        total += law[k]
    for i in range(size):
        row = 0.0
        for j in range(size):
            image[i, j] = 2.0 * law[j] / total - chain[i, j]
            if image[i, j] <= 0.0:
                return False
            row += image[i, j]
        for j in range(size):
            image[i, j] /= row
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def log_posterior(chain, counts, prior):
    """Log density of ``chain`` given the counts, up to a constant; Dirichlet(prior, ...) rows."""
    size = len(chain)
    powers = np.empty((counts.shape[1], size, size))
    fill_gap_powers(chain, powers)
    law = 0.0
    for i in range(size):
        for j in range(size):
            law += np.log(max(chain[i, j], 1e-300))
    return log_likelihood(counts, powers) + (prior - 1.0) * law


@njit(cache=True, error_model="numpy", nogil=True)
def log_likelihood(counts, powers):
    """sum over s, n, s' of N(s, n, s') log P^n(s, s'); counts (S, A, S), powers (A, S, S)."""
    total = 0.0
    for s in range(counts.shape[0]):
        for a in range(counts.shape[1]):
            for e in range(counts.shape[2]):
                if counts[s, a, e] > 0:
                    chance = powers[a, s, e]
                    if chance <= 0.0:
                        return -np.inf
                    total += counts[s, a, e] * np.log(chance)
    return total


@njit(cache=True, error_model="numpy", nogil=True)
def impute(counts, powers, work, rng):
    """Draw the unseen states between observations; work[:, 0] receives the one-step counts.

    A gap of n is cut in half at a state drawn from its law given both ends, and the halves join
    the shorter gaps. All gaps with the same ends and length are cut at once (a multinomial draw),
    so the cost does not grow with the number of observations.
    """
    size, longest = counts.shape[0], counts.shape[1]
    weights = np.empty(size)
    for s in range(size):
        copy_matrix(counts[s], work[s])
    for a in range(longest - 1, 0, -1):
        left, right = halves(a)
        for s in range(size):
            for e in range(size):
                many = work[s, a, e]
                if many == 0:
                    continue
                total = 0.0
                for k in range(size):
                    weights[k] = powers[left, s, k] * powers[right, k, e]
                    total += weights[k]
                for k in range(size):
                    part = many
                    if k < size - 1:
                        share = weights[k] / total if total > 0.0 else 1.0
                        part = rng.binomial(many, min(1.0, max(0.0, share)))
                    total -= weights[k]
                    work[s, left, k] += part
                    work[k, right, e] += part
                    many -= part
                    if many == 0:
                        break


@njit(cache=True, error_model="numpy", nogil=True)
def draw_rows(chain, work, prior, rng):
    """Dirichlet draw of every row given the one-step counts in work[:, 0]."""
    size = len(chain)
    for s in range(size):
        total = 0.0
        for e in range(size):
            chain[s, e] = rng.standard_gamma(prior + work[s, 0, e]) + 1e-300
            total += chain[s, e]
        for e in range(size):
            chain[s, e] /= total


@njit(cache=True, error_model="numpy", nogil=True)
def nudge_rows(chain, counts, powers, trial, prior, rng, times):
    """Metropolis steps on one row at a time, its logarithms moved by a normal step of any scale.

    Imputing alone moves slowly where most of the data are long gaps. Returns the powers of
    ``chain`` and the other array of the two.
    """
    size = len(chain)
    current = log_likelihood(counts, powers)
    kept = np.empty(size)
    for _ in range(times):
        for s in range(size):
            scale = np.exp(-4.0 * rng.random())
            total = 0.0
            for e in range(size):
                kept[e] = chain[s, e]
                chain[s, e] = max(kept[e] * np.exp(2.0 * scale * rng.standard_normal()), 1e-300)
                total += chain[s, e]
            ratio = 0.0
            for e in range(size):
                chain[s, e] /= total
                ratio += prior * np.log(chain[s, e] / kept[e])
            fill_gap_powers(chain, trial)
            proposed = log_likelihood(counts, trial)
            if np.log(rng.random()) < proposed - current + ratio:
                current = proposed
                powers, trial = trial, powers
            else:
                for e in range(size):
                    chain[s, e] = kept[e]
    return powers, trial


@njit(cache=True, error_model="numpy", nogil=True)
def update(chain, counts, prior, rng, sweeps, nudges):
    """Move ``chain`` by some steps of a Markov chain whose law is the posterior."""
    shape = (counts.shape[1], len(chain), len(chain))
    powers, trial = np.empty(shape), np.empty(shape)
    work = np.empty(counts.shape, dtype=np.int64)
    for _ in range(sweeps):
        fill_gap_powers(chain, powers)
        if nudges > 0 and len(chain) > 1:
            powers, trial = nudge_rows(chain, counts, powers, trial, prior, rng, nudges)
        impute(counts, powers, work, rng)
        draw_rows(chain, work, prior, rng)


@njit(cache=True, error_model="numpy", nogil=True)
def count_pulls(visits, gaps, paid, names, path, rewards, pulls, begin, end, steps, states,
                seen_at):  # fmt: skip
    """Count pulls along a path, every one under its true age.

    visits: (K,). gaps: (K, S, A, S) counts N(s, n, s'), gaps beyond the last at the last. paid:
    (K, S, 3) number, sum and sum of squares of the rewards in each state. steps: steps before
    ``begin``. states, seen_at: (K,) what was last seen of each arm and at which step; they move
    along.
    """
    longest = gaps.shape[2]
    for step in range(begin, end):
        pull = pulls[step]
        outcome, reward = names[pull, path[pull, step]], rewards[pull, step]
        now = steps + step - begin + 1
        place = min(place_of(now - seen_at[pull]), longest - 1)
        visits[pull] += 1
        gaps[pull, states[pull], place, outcome] += 1
        paid[pull, outcome, 0] += 1.0
        paid[pull, outcome, 1] += reward
        paid[pull, outcome, 2] += reward * reward
        states[pull], seen_at[pull] = outcome, now
