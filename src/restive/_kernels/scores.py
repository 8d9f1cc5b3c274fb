"""What the pulls of a run were worth: sums of rewards and of gaps."""

from __future__ import annotations

import numpy as np
from numba import njit

from restive._kernels.play import place_of, worths


@njit(cache=True, error_model="numpy", nogil=True)
def add_up(pulls, rewards, total, begin, marks, mark, out, pulled):
    """Running sum of the rewards of the arms pulled, written down at the steps in ``marks``.

    begin: steps before this block. pulled: (K,) pulls of each arm, counted up. Returns the sum and
    the next mark.
    """
    begin += 1  # steps count from 1
    next_mark = marks[mark] if mark < len(marks) else -1
    for step in range(len(pulls)):
        total += rewards[np.uint64(pulls[step]), step]
        if begin + step == next_mark:
            out[mark] = total
            mark += 1
            next_mark = marks[mark] if mark < len(marks) else -1
    for arm in range(len(pulled)):
        pulled[arm] += np.sum(pulls == arm)
    return total, mark


@njit(cache=True, error_model="numpy", nogil=True)
def add_gaps(values, moves, laws, table, pulls, path, rewards, gain, total, begin, marks, mark,
             out, last, seen):  # fmt: skip
    """Running sum of the pulls' gaps, as ``add_up``; seen[arm] = -1 where it was never pulled.

    Until every arm has been seen a step counts gain - reward. table: (places, K) of gaps, NaN where
    nothing was computed yet, or empty: then they are computed anew each time. Returns the sum, the
    next mark, the arm pulled last and the value of the first complete information state, NaN if
    that was before this block.
    """
    block, offset, older, fresh = moves.block, moves.offset, moves.older, moves.seen
    count, stored = len(seen), len(table) > 0
    first = np.nan
    begin += 1  # steps count from 1
    next_mark = marks[mark] if mark < len(marks) else -1
    unseen = np.sum(seen < 0)
    for step in range(len(pulls)):
        pull = pulls[step]
        if unseen > 0:
            total += gain - rewards[pull, step]
            unseen -= seen[pull] < 0
            for arm in range(count):
                seen[arm] = older[seen[arm]] if seen[arm] >= 0 else -1
            seen[pull] = fresh[pull, path[pull, step]]
            if unseen == 0:
                first = values[place_of(moves, pull, seen)]
        else:
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
    return total, mark, last, first
