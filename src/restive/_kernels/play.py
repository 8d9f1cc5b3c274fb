"""Playing: paths of chains, episodes of a learner along them, and what its pulls lost."""

from __future__ import annotations

import numpy as np
from numba import njit

from restive._kernels.lookup import optimistic_sum, successor

END, LIMIT, UNKNOWN = 0, 1, 2  # why an episode's loop returned


@njit(cache=True, error_model="numpy", nogil=True)
def chain_path(heights, start, means, uniforms, state, states, rewards):
    """A chain by inversion: states[t] is drawn from heights[state], the first one from ``start``.

    state: the one before the path, or -1. heights: (S, S) cumulative rows. rewards[t] is the mean
    reward of states[t]. Returns the last state.
    """
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
def color_of(lay, states, ages, pull):
    return lay.colors[pull] + states[pull] * lay.stored[pull] + ages[pull]


@njit(cache=True, error_model="numpy")
def worth_of(values, lay, tab, extended, last, states, ages, pull):
    """Value of pulling one arm; ages are stored ages counted from 0."""
    color = color_of(lay, states, ages, pull)
    start = successor(lay, last, states, ages, pull)
    stride = lay.state_stride[pull, pull]
    total = tab.rewards[color]
    if extended:
        size = lay.sizes[pull]
        return total + optimistic_sum(values, start, stride, tab.chances, color, size,
                                      tab.radii[color])  # fmt: skip
    for s in range(lay.sizes[pull]):
        total += tab.chances[color, s] * values[start + s * stride]
    return total


@njit(cache=True, error_model="numpy")
def greedy(values, lay, tab, extended, last, states, ages):
    """The arm worth most, the first of several."""
    best, arm = -np.inf, 0
    for pull in range(len(lay.sizes)):
        worth = worth_of(values, lay, tab, extended, last, states, ages, pull)
        if worth > best:
            best, arm = worth, pull
    return arm


@njit(cache=True, error_model="numpy")
def place_of(lay, last, states, ages):
    place = lay.block[last]
    for arm in range(len(lay.sizes)):
        place += states[arm] * lay.state_stride[last, arm]
        if arm != last:
            place += (ages[arm] - lay.first[arm]) * lay.age_stride[last, arm]
    return place


@njit(cache=True, error_model="numpy")
def grow_older(lay, ages, pull):
    """One step of time: ages move along their lassos, the arm pulled is seen."""
    for arm in range(len(lay.sizes)):
        age = ages[arm] + 1
        ages[arm] = age if age < lay.stored[arm] else lay.loop[arm] + lay.first[arm]
    ages[pull] = 0


@njit(cache=True, error_model="numpy", nogil=True)
def episode(values, lay, tab, extended, policy, limits, visits, outcomes, paid, names, path,
            rewards, pulls, begin, end, last, states, ages, pulled):  # fmt: skip
    """Follow the greedy policy until a color's visits reach their limit, or the path ends.

    policy: int8 per place, -1 where nothing was computed yet. names: (K, labels) number of each
    label of the path, -1 if unknown. Counts, states, ages (stored, from 0) and the step of each
    arm's last pull are updated in place. Returns (step, last, why): the loop stops before a pull
    that is over the limit, and before one that shows an unknown state.
    """
    for step in range(begin, end):
        place = place_of(lay, last, states, ages)
        pull = policy[place]
        if pull < 0:
            pull = greedy(values, lay, tab, extended, last, states, ages)
            policy[place] = pull
        color = color_of(lay, states, ages, pull)
        if visits[color] >= limits[color]:
            return step, last, LIMIT
        outcome = names[pull, path[pull, step]]
        if outcome < 0:
            return step, last, UNKNOWN
        visits[color] += 1
        outcomes[color, outcome] += 1
        paid[color, outcome] += rewards[pull, step]
        grow_older(lay, ages, pull)
        states[pull] = outcome
        last = pull
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
def add_gaps(values, lay, tab, table, pulls, path, rewards, gain, total, begin, marks, mark, out,
             last, states, ages):  # fmt: skip
    """Running sum of the pulls' gaps, as ``add_up``; states[arm] = -1 where it was never seen.

    Until every arm has been seen a step counts gain - reward. table: (places, K) of gaps, NaN where
    nothing was computed yet, or empty: then they are computed anew each time. Returns the sum, the
    next mark, the arm pulled last and the value of the first complete information state, NaN if
    that was before this block.
    """
    count = len(lay.sizes)
    unseen = 0
    for arm in range(count):
        unseen += 1 if states[arm] < 0 else 0
    first = np.nan
    for step in range(len(pulls)):
        pull = pulls[step]
        if unseen > 0:
            total += gain - rewards[pull, step]
            if states[pull] < 0:
                unseen -= 1
        else:
            place = place_of(lay, last, states, ages)
            row = place if len(table) else 0
            gap = table[row, pull] if len(table) else np.nan
            if np.isnan(gap):
                best = -np.inf
                for arm in range(count):
                    best = max(best, worth_of(values, lay, tab, False, last, states, ages, arm))
                gap = best - worth_of(values, lay, tab, False, last, states, ages, pull)
                if len(table):
                    table[row, pull] = gap
            total += gap
        was_unseen = states[pull] < 0
        grow_older(lay, ages, pull)
        states[pull] = path[pull, step]
        last = pull
        if was_unseen and unseen == 0:
            first = values[place_of(lay, last, states, ages)]
        if mark < len(marks) and begin + step + 1 == marks[mark]:
            out[mark] = total
            mark += 1
    return total, mark, last, first
