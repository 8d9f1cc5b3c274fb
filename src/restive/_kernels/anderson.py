"""Anderson acceleration of the passes that solve all runs of stays at once.

A point holds the values on entry, the corners and the gain. One pass maps it to its image; what
the image lacks to the point is the residual. The next point combines the last few images so that
the combined residual is least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from restive._kernels import njit
from restive._kernels.sweeps import read_entries, sweep

Floats = NDArray[np.float64]

RANK = 1e-13  # steps of the residual that add less than this share are combinations of the others
SHIFT = 1e-3  # change of the gain from which the mean time between switches is found
GOING, FOUND, FAILED = 0, 1, 2


class Search(NamedTuple):
    """The state of a search; the last axis of the long arrays is (entries, corners, gain)."""

    point: Floats
    image: Floats
    residual: Floats
    images: Floats  # (memory, n) steps from image to image
    residuals: Floats  # (memory, n) steps from residual to residual
    gram: Floats  # (memory, memory) products of the residuals' steps
    duration: Floats  # (1,) mean time from entry to the next switch
    level: Floats  # (1,) mean value on entry after the first pass
    limits: Floats  # (2,) between which the gain lies
    before: Floats  # (1,) error of the last pass
    counts: NDArray[np.int64]  # steps kept, failures, passes made, whether there is a last image
    status: NDArray[np.int64]  # (1,)

    @classmethod
    def of(cls, size: int, memory: int) -> Search:
        """Room for points of this size."""
        point, image, residual = np.zeros((3, size))
        images, residuals = np.zeros((2, memory, size))
        return cls(point, image, residual, images, residuals, np.zeros((memory, memory)),
                   np.zeros(1), np.zeros(1), np.array([-np.inf, np.inf]), np.full(1, np.inf),
                   np.zeros(4, np.int64), np.zeros(1, np.int64))  # fmt: skip

    @property
    def passes(self) -> int:
        return int(self.counts[2])


@njit(cache=True, error_model="numpy", nogil=True)
def advance(
    values, entries, corners, search, lay, tab, many, extended, target, patience, passes, bounds
):
    """Up to ``passes`` passes on this thread, until the search ends."""
    # constants would compile the whole sweep once more, for themselves
    descending, alone, none = passes > 0, passes < 0, min(passes, 0)
    for _ in range(passes):
        enter(values, entries, corners, search)
        sweep(values, values, search.point, lay, tab, many, extended, 1.0, search.point[-1],
              descending, none, alone, bounds, none, none + 1)  # fmt: skip
        read_entries(values, entries, lay, none, none + 1)
        judge(values, entries, corners, search, target, patience)
        if search.status[0] != GOING:
            return


@njit(cache=True, error_model="numpy", nogil=True)
def enter(values, entries, corners, search):
    """Make ready for a pass from ``search.point``; the first one goes on from the values.

    Values matter up to a constant only. The corners feed back into themselves, so a pass takes
    them as they are.
    """
    n, point = len(entries), search.point
    if search.counts[2] == 0:
        level = entries.mean()
        for k in range(n):
            point[k] = entries[k] - level
        for k in range(len(corners)):
            point[n + k] = values[corners[k]] - level
    for k in range(len(corners)):
        values[corners[k]] = point[n + k]


@njit(cache=True, error_model="numpy", nogil=True)
def judge(values, entries, corners, search, target, patience):
    """The error of the pass just made; unless it ends the search, the next point."""
    point, counts = search.point, search.counts
    counts[2] += 1
    n = len(entries)
    level = entries.mean()
    if counts[2] <= 2:  # the same point with two gains: the slope tells the time between switches
        if counts[2] == 2:
            search.duration[0] = max(1.0, (search.level[0] - level) / SHIFT)
        search.level[0] = level
        point[-1] += SHIFT if counts[2] == 1 else -SHIFT
        return
    drift = level - point[:n].mean()
    images, residuals = search.images[counts[0] % len(search.gram)], search.residuals
    steps = residuals[counts[0] % len(search.gram)]
    known = counts[3] > 0
    least, most = np.inf, -np.inf
    for k in range(n + len(corners)):
        fresh = entries[k] if k < n else values[corners[k - n]]
        change = fresh - point[k]
        least, most = min(least, change), max(most, change)
        images[k] = fresh - level - search.image[k]
        steps[k] = change - drift - search.residual[k]
        search.image[k], search.residual[k] = fresh - level, change - drift
    gain = point[-1] + drift / search.duration[0]
    images[-1], steps[-1] = gain - search.image[-1], drift - search.residual[-1]
    search.image[-1], search.residual[-1] = gain, drift
    error = most - least + abs(drift)
    if error <= target:
        search.status[0] = FOUND
        return
    if not error < 4 * search.before[0]:  # the policy has changed: the past no longer tells
        counts[1] += 1
        if counts[1] > patience or not np.isfinite(error):
            search.status[0] = FAILED
            return
        counts[0], known = 0, False
    search.before[0], counts[3] = error, 1
    if known:
        keep_step(search)
    for k in range(len(point)):  # point[:] = ... would compile a long message about its shape
        point[k] = search.image[k]
    used = min(counts[0], len(search.gram))
    if used:
        sides = np.empty(used)
        products(residuals, search.residual, sides)
        weights = least_squares(search.gram, sides)
        for k in range(used):
            for q in range(len(point)):
                point[q] -= weights[k] * search.images[k, q]
    point[-1] = min(max(point[-1], search.limits[0]), search.limits[1])


@njit(cache=True, error_model="numpy")
def keep_step(search):
    """Take the steps just written into the history."""
    memory = len(search.gram)
    slot = search.counts[0] % memory
    search.counts[0] += 1
    row = np.empty(min(search.counts[0], memory))
    products(search.residuals, search.residuals[slot], row)
    for k in range(len(row)):
        search.gram[slot, k] = search.gram[k, slot] = row[k]


@njit(cache=True, fastmath=True, error_model="numpy")
def products(rows, vector, out):
    """out[k] = rows[k] . vector for as many rows as ``out`` has entries."""
    for k in range(len(out)):
        total = 0.0
        for q in range(len(vector)):
            total += rows[k, q] * vector[q]
        out[k] = total


@njit(cache=True, error_model="numpy")
def least_squares(gram, sides):
    """Solve gram x = sides for a Gram matrix that may be singular, by pivoted Cholesky.

    Vectors that depend on those taken before them get weight 0.
    """
    n = len(sides)
    root, left = np.zeros((n, n)), np.zeros(n)
    order, half, weights = np.arange(n), np.zeros(n), np.zeros(n)
    for k in range(n):
        left[k] = gram[k, k]
    limit = RANK * left.max()
    rank = 0
    while rank < n:
        best = rank
        for k in range(rank + 1, n):
            if left[order[k]] > left[order[best]]:
                best = k
        order[rank], order[best] = order[best], order[rank]
        pivot = order[rank]
        if not left[pivot] > limit:
            break
        root[pivot, rank] = np.sqrt(left[pivot])
        for k in range(rank + 1, n):
            other = order[k]
            total = gram[other, pivot]
            for c in range(rank):
                total -= root[other, c] * root[pivot, c]
            root[other, rank] = total / root[pivot, rank]
            left[other] -= root[other, rank] ** 2
        rank += 1
    for k in range(rank):
        half[k] = sides[order[k]]
        for c in range(k):
            half[k] -= root[order[k], c] * half[c]
        half[k] /= root[order[k], k]
    for k in range(rank - 1, -1, -1):
        for later in range(k + 1, rank):
            half[k] -= root[order[later], k] * weights[order[later]]
        weights[order[k]] = half[k] / root[order[k], k]
    return weights
