"""Cells that cover all chains of two states whose likelihood is large, and their n-step rows."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit
from restive._kernels.plausible_chains import (
    QUARTER,
    ends,
    log_likelihood,
    measure,
    sums_between,
    switches_between,
)

CELLS = 2048  # room for the cover; cells are no longer halved when it is full
FINE = 2.0  # cells are halved until log-likelihoods in them are linear up to so many nats
NARROW = 0.002  # half width below which a cell at the edge is not halved
SLACK = 1e-6  # nats, far above rounding
SIDE = 4  # the first cells are so many squared


@njit(cache=True, error_model="numpy", nogil=True)
def mass(cell):
    """log of a cell's share of all angles."""
    return np.log(4.0 * cell[2] * cell[3] / QUARTER**2)


@njit(cache=True, error_model="numpy", nogil=True)
def climb(counts):
    """Angles of a large likelihood: from the best of 64 to neighbors ever closer."""
    best, a, b, step = -np.inf, 0.0, 0.0, QUARTER / 8
    for i in range(8):
        for j in range(8):
            x, y = (i + 0.5) * step, (j + 0.5) * step
            value = log_likelihood(counts, np.sin(x) ** 2, np.sin(y) ** 2)
            if value > best:
                best, a, b = value, x, y
    step *= 0.5
    while step > 1e-5:
        before = best
        for turn in range(8):
            angle = 0.25 * np.pi * turn
            x, y = a + step * np.cos(angle), b + step * np.sin(angle)
            if 0.0 < x < QUARTER and 0.0 < y < QUARTER:
                value = log_likelihood(counts, np.sin(x) ** 2, np.sin(y) ** 2)
                if value > best:
                    best, a, b = value, x, y
        if best <= before + 0.01:
            step *= 0.5
    return a, b


@njit(cache=True, error_model="numpy", nogil=True)
def around(counts, a, b, sums, switches):
    """Lower bound of the log of the mean likelihood, from the best of the squares around (a, b)."""
    measures, cell, best = np.empty(7), np.empty(4), -np.inf
    width = min(min(a, QUARTER - a), min(b, QUARTER - b))
    for _ in range(30):
        cell[0], cell[1], cell[2], cell[3] = a, b, width, width
        measure(counts, cell, -np.inf, sums, switches, measures)
        value = measures[6] + mass(cell)
        if value < best:
            break
        best, width = value, 0.5 * width
    return best


@njit(cache=True, error_model="numpy", nogil=True)
def axis_to_halve(cell, measures):
    """0 or 1: the axis along which the slopes say least; -1 if the cell is fine as it is."""
    if np.isinf(measures[2]):  # the likelihood is 0 somewhere at the edge
        if max(cell[2], cell[3]) < NARROW:
            return -1
        edges = (min(cell[0], QUARTER - cell[0]) <= cell[2] * 1.01,
                 min(cell[1], QUARTER - cell[1]) <= cell[3] * 1.01)  # fmt: skip
        if edges[0] != edges[1]:
            return 0 if edges[0] else 1
        return 0 if cell[2] >= cell[3] else 1
    along_a, along_b = (measures[3] - measures[2]) * cell[2], (measures[5] - measures[4]) * cell[3]
    if along_a + along_b <= FINE:
        return -1
    return 0 if along_a >= along_b else 1


@njit(cache=True, error_model="numpy", nogil=True)
def halve(counts, cells, measures, k, free, axis, floor, sums, switches):
    """Cell k becomes its lower half along an axis, place ``free`` its upper half."""
    cells[k, 2 + axis] *= 0.5
    cells[free] = cells[k]
    cells[k, axis] -= cells[k, 2 + axis]
    cells[free, axis] += cells[k, 2 + axis]
    measure(counts, cells[k], floor, sums, switches, measures[k])
    measure(counts, cells[free], floor, sums, switches, measures[free])


@njit(cache=True, error_model="numpy", nogil=True)
def refine(counts, budget, cells, measures, sums, switches):
    """Fill cells and what ``measure`` says of them; returns (number of cells, threshold).

    The cells left cover all angles at which the log-likelihood is at least the log of its mean
    over all angles, less ``budget``; the threshold is a lower bound of that.
    """
    a, b = climb(counts)
    seed, width = around(counts, a, b, sums, switches), 0.5 * QUARTER / SIDE
    floor = seed - budget - SLACK
    for k in range(SIDE * SIDE):
        cells[k, 0], cells[k, 1] = (2 * (k // SIDE) + 1) * width, (2 * (k % SIDE) + 1) * width
        cells[k, 2] = cells[k, 3] = width
        measure(counts, cells[k], floor, sums, switches, measures[k])
    lost, size, halved = -np.inf, SIDE * SIDE, True
    while True:
        mean = lost
        for k in range(size):
            mean = np.logaddexp(mean, measures[k, 6] + mass(cells[k]))
        floor = max(seed, mean) - budget - SLACK
        kept = 0
        for k in range(size):
            if measures[k, 1] >= floor:
                cells[kept], measures[kept] = cells[k], measures[k]
                kept += 1
            else:
                lost = np.logaddexp(lost, measures[k, 6] + mass(cells[k]))
        size = kept
        if not halved:
            return size, floor
        halved = False
        for k in range(size):
            axis = axis_to_halve(cells[k], measures[k])
            if axis >= 0 and kept < len(cells):
                halve(counts, cells, measures, k, kept, axis, floor, sums, switches)
                kept += 1
                halved = True
        size = kept


@njit(cache=True, error_model="numpy", nogil=True)
def least(low, high, width, need):
    """The least x in [-width, width] with slope x >= need for a slope in [low, high]."""
    if need <= 0.0:
        return max(-width, need / low) if low > 0.0 else -width
    if low < 0.0 and low * -width >= need:
        return -width
    return min(width, need / high) if high > 0.0 else width


@njit(cache=True, error_model="numpy", nogil=True)
def narrowed(cell, measures, floor):
    """The part of a cell where slopes allow the threshold, as bounds (a0, a1, b0, b1)."""
    bounds = np.empty(4)
    for axis in range(2):
        low, high, width = measures[2 + 2 * axis], measures[3 + 2 * axis], cell[2 + axis]
        x0, x1 = -width, width
        if not np.isinf(low):
            off0, off1 = measures[4 - 2 * axis], measures[5 - 2 * axis]
            need = floor - measures[0] - max(off1, -off0) * cell[3 - axis]
            x0, x1 = least(low, high, width, need), -least(-high, -low, width, need)
        bounds[2 * axis], bounds[2 * axis + 1] = cell[axis] + x0, cell[axis] + x1
    return bounds


@njit(cache=True, error_model="numpy", nogil=True)
def likely_switches(counts, budget, bounds):
    """Bounds (A, 2, 2) of the n-step switches over all chains of large likelihood.

    Large: log L >= log(mean of L over angles) - budget. Returns the threshold used, which is at
    most that. counts: (A, 2, 2) switches and stays from each state at each age.
    """
    ages = len(counts)
    sums, switches = np.empty((ages, 6)), np.empty((ages, 2, 2))
    cells, measures = np.empty((CELLS, 4)), np.empty((CELLS, 7))
    seen = ages
    while seen > 0 and counts[seen - 1].sum() == 0.0:
        seen -= 1
    size, floor = refine(counts[:seen], budget, cells, measures, sums[:seen], switches[:seen])
    bounds[:, :, 0], bounds[:, :, 1] = 1.0, 0.0
    for k in range(size):
        a0, a1, b0, b1 = narrowed(cells[k], measures[k], floor)
        p0, p1, _, _ = ends(0.5 * (a0 + a1), 0.5 * (a1 - a0))
        q0, q1, _, _ = ends(0.5 * (b0 + b1), 0.5 * (b1 - b0))
        sums_between(1.0 - p1 - q1, 1.0 - p0 - q0, sums)
        switches_between(p0, p1, q0, q1, sums, switches)
        for n in range(ages):
            for s in range(2):
                bounds[n, s, 0] = min(bounds[n, s, 0], switches[n, s, 0])
                bounds[n, s, 1] = max(bounds[n, s, 1], switches[n, s, 1])
    return floor, size
