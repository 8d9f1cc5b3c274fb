"""What the pulls of a run were worth: sums of rewards and of gaps."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit
from restive._kernels.play import worths


@njit(cache=True, error_model="numpy", nogil=True)
def add_up(pulls, rewards, total, begin, marks, mark, out, pulled):
    """Running sum of the rewards of the arms pulled, written down at the steps in ``marks``.

    begin: steps before this block. pulled: (K,) pulls of each arm, counted up. Returns the sum and
    the next mark.
    """
    step = 0
    while step < len(pulls):
        marked = mark < len(marks) and marks[mark] <= begin + len(pulls)
        end = marks[mark] - begin if marked else len(pulls)
        total += sum_of(pulls, rewards, step, end)
        if marked:
            out[mark] = total
            mark += 1
        step = end
    for arm in range(len(pulled)):
        count = 0
        for step in range(len(pulls)):  # one arm at a time: that vectorises
            count += pulls[step] == arm
        pulled[arm] += count
    return total, mark


@njit(cache=True, error_model="numpy")
def sum_of(pulls, rewards, begin, end):
    """Sum of the rewards of the arms pulled from step ``begin`` to before ``end``."""
    a = b = c = d = 0.0  # four sums, so that no addition waits for the one before it
    step, stop = np.uint64(begin), np.uint64(end)
    unit = np.uint64(1)
    while step + np.uint64(3) < stop:
        a += rewards[np.uint64(pulls[step]), step]
        b += rewards[np.uint64(pulls[step + unit]), step + unit]
        c += rewards[np.uint64(pulls[step + np.uint64(2)]), step + np.uint64(2)]
        d += rewards[np.uint64(pulls[step + np.uint64(3)]), step + np.uint64(3)]
        step += np.uint64(4)
    while step < stop:
        a += rewards[np.uint64(pulls[step]), step]
        step += unit
    return (a + b) + (c + d)


@njit(cache=True, error_model="numpy", nogil=True)
def add_gaps(values, moves, laws, table, pulls, path, total, begin, marks, mark, out, last, seen):
    """Running sum of the pulls' gaps, as ``add_up``; ``seen``, a color per arm, moves along.

    table: (places, K) of gaps, NaN where nothing was computed yet, or empty: then they are computed
    anew each time. Returns the sum, the next mark and the arm pulled last.
    """
    block, offset, older, fresh = moves.block, moves.offset, moves.older, moves.seen
    count, stored = len(seen), len(table) > 0
    begin += 1  # steps count from 1
    next_mark = marks[mark] if mark < len(marks) else -1
    for step in range(len(pulls)):
        pull = pulls[step]
        place = block[last]
        for arm in range(count):
            place += offset[last, seen[arm]]
        gap = table[place, pull] if stored else np.nan
        if np.isnan(gap):
            worth = worths(values, moves, laws, False, seen)
            gap = worth.max() - worth[pull]
            if stored:
                table[place, pull] = gap
        for arm in range(count):
            seen[arm] = older[seen[arm]]
        seen[pull] = fresh[pull, path[pull, step]]
        total += gap
        last = pull
        if begin + step == next_mark:
            out[mark] = total
            mark += 1
            next_mark = marks[mark] if mark < len(marks) else -1
    return total, mark, last
