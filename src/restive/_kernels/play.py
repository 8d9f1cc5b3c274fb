"""Playing: paths of chains, episodes of a learner along them, and what its pulls lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from restive._kernels.lookup import optimistic_sum, successor

Ints = NDArray[np.int64]

END, LIMIT, UNKNOWN = 0, 1, 2  # why an episode's loop returned


class Moves(NamedTuple):
    """Information states as one color per arm (arm, state last seen, stored age), and their moves.

    The place of a state among the values is block[last] + the sum of offset[last, color] over the
    colors of all arms, where last is the arm pulled last.
    """

    block: Ints  # (K + 1,)
    offset: Ints  # (K, C)
    older: Ints  # (C,) color after one step of rest
    seen: Ints  # (K, B) color of an arm just seen in a state


@njit(cache=True, error_model="numpy", nogil=True)
def chain_path(heights, start, means, uniforms, state, states, rewards):
    """A chain by inversion: states[t] is drawn from heights[state], the first one from ``start``.

    state: the one before the path, or -1. heights: (S, S) cumulative rows. rewards[t] is the mean
    reward of states[t]. Returns the last state.
    """
    if len(means) == 2:
        return _two_state_path(heights, start, means, uniforms, state, states, rewards)
    for t in range(len(uniforms)):
        u = uniforms[t]
        k = 0
        if state < 0:
            while u >= start[k]:
                k += 1
        else:
            while u >= heights[state, k]:
                k += 1
        state = k
        states[t] = k
        rewards[t] = means[k]
    return state


@njit(cache=True, error_model="numpy")
def _two_state_path(heights, start, means, uniforms, state, states, rewards):
    """The same for two states, where both rows are compared before the state is known."""
    from_0, from_1 = heights[0, 0], heights[1, 0]
    mean_0, mean_1 = means[0], means[1]
    for t in range(len(uniforms)):
        u = uniforms[t]
        if state < 0:
            state = 1 if u >= start[0] else 0
        else:
            after_0 = u >= from_0
            after_1 = u >= from_1
            state = (after_1 if state else after_0) + 0
        states[t] = state
        rewards[t] = mean_1 if state else mean_0
    return state


@njit(cache=True, error_model="numpy")
def place_of(moves, last, seen):
    """Place among the values of the state whose arms have the colors ``seen``."""
    place = moves.block[last]
    for arm in range(len(seen)):
        place += moves.offset[last, seen[arm]]
    return place


@njit(cache=True, error_model="numpy")
def worths(values, lay, tab, extended, last, seen):
    """Value of pulling each arm, shape (K,)."""
    count = len(seen)
    states, ages = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for arm in range(count):
        states[arm] = (seen[arm] - lay.colors[arm]) // lay.stored[arm]
        ages[arm] = (seen[arm] - lay.colors[arm]) % lay.stored[arm]
    out = np.empty(count)
    for arm in range(count):
        color, size = seen[arm], lay.sizes[arm]
        start = successor(lay, last, states, ages, arm)
        stride = lay.state_stride[arm, arm]
        out[arm] = tab.rewards[color]
        if extended:
            out[arm] += optimistic_sum(values, start, stride, tab.chances, color, size,
                                       tab.radii[color])  # fmt: skip
        else:
            for s in range(size):
                out[arm] += tab.chances[color, s] * values[start + s * stride]
    return out


@njit(cache=True, error_model="numpy")
def greedy(values, lay, tab, extended, last, seen):
    """The arm worth most, the first of several."""
    return np.argmax(worths(values, lay, tab, extended, last, seen))


@njit(cache=True, error_model="numpy", nogil=True)
def episode(values, lay, tab, extended, moves, policy, limits, visits, outcomes, paid, names, shown,
            path, rewards, pulls, begin, end, last, seen, pulled):  # fmt: skip
    """Follow the greedy policy until a color's visits reach their limit, or the path ends.

    policy: int8 per place, -1 where nothing was computed yet. names, shown: (K, labels) number of
    each label of the path and color of an arm that has just shown it, -1 if unknown. Counts, colors
    and the step of each arm's last pull are updated in place. Returns (step, last, why): the loop
    stops before a pull that is over the limit, and before one that shows an unknown state.
    """
    block, offset, older = moves.block, moves.offset, moves.older
    count = len(seen)
    for step in range(begin, end):
        place = block[last]
        for arm in range(count):
            place += offset[last, seen[arm]]
        pull = np.int64(policy[place])
        if pull < 0:
            pull = greedy(values, lay, tab, extended, last, seen)
            policy[place] = pull
        # the next step waits for the next state: find it first, count afterwards
        label = path[pull, step]
        after = shown[pull, label]
        color = seen[pull]
        if visits[color] >= limits[color]:
            return step, last, LIMIT
        if after < 0:
            return step, last, UNKNOWN
        for arm in range(count):
            seen[arm] = older[seen[arm]]
        seen[pull] = after
        last = pull
        outcome = names[pull, label]
        visits[color] += 1
        outcomes[color, outcome] += 1
        paid[color, outcome] += rewards[pull, step]
        pulls[step] = pull
        pulled[pull] = step
    return end, last, END


@njit(cache=True, error_model="numpy", nogil=True)
def pair_episode(colors, successors, policy, limits, visits, outcomes, paid, heights, means, noisy,
                 uniforms, pulls, rewards, begin, end, state):  # fmt: skip
    """As ``episode`` in an MDP given by arrays; returns (step, state, why)."""
    for step in range(begin, end):
        pull = policy[state]
        color = colors[state, pull]
        if visits[color] >= limits[color]:
            return step, state, LIMIT
        outcome = 0
        while uniforms[step, 0] >= heights[state, pull, outcome]:
            outcome += 1
        reward = means[state, pull]
        if noisy:
            reward = 1.0 if uniforms[step, 1] < reward else 0.0
        after = successors[state, pull, outcome]
        outcome = 0  # the learner sees the state only: outcomes that lead there are one to it
        while successors[state, pull, outcome] != after:
            outcome += 1
        visits[color] += 1
        outcomes[color, outcome] += 1
        paid[color, outcome] += reward
        pulls[step], rewards[step] = pull, reward
        state = after
    return end, state, END


@njit(cache=True, error_model="numpy", nogil=True)
def add_up(pulls, rewards, total, begin, marks, mark, out):
    """Running sum of the rewards of the arms pulled, written down at the steps in ``marks``.

    begin: steps before this block. Returns the sum and the next mark.
    """
    for step in range(len(pulls)):
        total += rewards[pulls[step], step]
        if mark < len(marks) and begin + step + 1 == marks[mark]:
            out[mark] = total
            mark += 1
    return total, mark


@njit(cache=True, error_model="numpy", nogil=True)
def add_gaps(values, lay, tab, moves, table, pulls, path, rewards, gain, total, begin, marks, mark,
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
                worth = worths(values, lay, tab, False, last, seen)
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
