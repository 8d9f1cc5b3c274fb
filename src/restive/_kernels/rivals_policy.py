"""Playing along a path: index tables, and exploring one arm."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit


@njit(cache=True, error_model="numpy", nogil=True)
def index_path(tables, stay, back, stored, path, pulls, begin, end, states, ages, last):
    """Pull the arm of the largest index, the first of several; states and ages move along.

    tables: (K, B + 1, A), the last row for arms never seen (state -1). ages: stored, from 0;
    back: the age that follows the last one. stay: added to the index of the arm pulled last.
    """
    count = len(back)
    for step in range(begin, end):
        best, pull = -np.inf, 0
        for arm in range(count):
            index = tables[arm, states[arm], ages[arm]]
            if arm == last:
                index += stay
            if index > best:
                best, pull = index, arm
        for arm in range(count):
            age = ages[arm] + 1
            ages[arm] = age if age < stored[arm] else back[arm]
        ages[pull] = 0
        states[pull] = path[pull, step]
        pulls[step] = last = pull


@njit(cache=True, error_model="numpy", nogil=True)
def explore(path, rewards, begin, end, state, target, moves, visits, paid):
    """Pull one arm from ``begin`` on, at most to ``end``; returns the step after the last pull.

    state: the one seen one step ago, or -1. It stops early once every state has been left
    ``target`` times, if target > 0. moves (S, S), visits and paid (S,) are counted up.
    """
    for step in range(begin, end):
        after = path[step]
        visits[after] += 1
        paid[after] += rewards[step]
        if state >= 0:
            moves[state, after] += 1
            if target > 0 and moves[state].sum() == target and moves.sum(axis=1).min() >= target:
                return step + 1
        state = after
    return end
