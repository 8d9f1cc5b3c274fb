"""Playing: paths of chains, episodes of a learner along them, and what its pulls lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from restive._kernels import njit
from restive._kernels.lookup import optimistic_sum

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rows = NDArray[np.uint32]

END, LIMIT, UNKNOWN, FULL = 0, 1, 2, 3  # why an episode's loop returned
NOWHERE = np.uint32(2**32 - 1)  # no row
_1, _2 = np.uint64(1), np.uint64(2)


class Moves(NamedTuple):
    """Information states as one color per arm (arm, state last seen, stored age), and their moves.

    The place of a state among the values is block[last] + the sum of offset[last, color] over the
    colors of all arms, where last is the arm pulled last.
    """

    block: Ints  # (K + 1,)
    offset: Ints  # (K, C)
    older: Ints  # (C,) color after one step of rest
    seen: Ints  # (K, B) color of an arm just seen in a state
    sizes: Ints  # (K,) number of states
    stride: Ints  # (K,) from the place where an arm was just seen in a state to that of the next


class Laws(NamedTuple):
    """What a pull of each color does: mean reward, law over the states, L1 radius around it."""

    rewards: Floats  # (C,)
    chances: Floats  # (C, B)
    radii: Floats  # (C,)


class Graph(NamedTuple):
    """The information states met under one policy, a row for each, linked by what is seen next.

    A row holds the arm to pull, the pull's color, the row that follows each label of a path
    (NOWHERE until it is needed), the arm pulled last and the colors of all arms.
    """

    row: Rows  # (places,) where the row of each begins, or NOWHERE
    rows: Rows  # all rows, one after the other
    used: Ints  # (1,) length of the rows in use
    width: int


@njit(cache=True, error_model="numpy")
def place_of(moves, last, seen):
    """Place among the values of the state whose arms have the colors ``seen``."""
    place = moves.block[last]
    for arm in range(len(seen)):
        place += moves.offset[last, seen[arm]]
    return place


@njit(cache=True, error_model="numpy")
def worths(values, moves, laws, extended, seen):
    """Value of pulling each arm, shape (K,)."""
    count = len(seen)
    out = np.empty(count)
    for arm in range(count):
        color, size, stride = seen[arm], moves.sizes[arm], moves.stride[arm]
        start = moves.block[arm]  # the successor's place, but for the state found
        for other in range(count):
            after = moves.seen[arm, 0] if other == arm else moves.older[seen[other]]
            start += moves.offset[arm, after]
        out[arm] = laws.rewards[color]
        if extended:
            out[arm] += optimistic_sum(values, start, stride, laws.chances, color, size,
                                       laws.radii[color])  # fmt: skip
        else:
            for s in range(size):
                out[arm] += laws.chances[color, s] * values[start + s * stride]
    return out


@njit(cache=True, error_model="numpy", nogil=True)
def all_worths(values, moves, laws, extended, colors):
    """``worths`` in n situations; colors: (n, K)."""
    out = np.empty(colors.shape)
    for row in range(len(colors)):
        out[row] = worths(values, moves, laws, extended, colors[row])
    return out


@njit(cache=True, error_model="numpy")
def greedy(values, moves, laws, extended, seen):
    """The arm worth most, the first of several."""
    return np.argmax(worths(values, moves, laws, extended, seen))


@njit(cache=True, error_model="numpy")
def _row_of(values, moves, laws, extended, policy, graph, last, seen):
    """Where the row of a state begins, made if need be; NOWHERE if there is no room."""
    place = place_of(moves, last, seen)
    width, count, row = graph.width, len(seen), graph.used[0]
    if graph.row[place] != NOWHERE:
        return graph.row[place]
    if row + width > len(graph.rows):
        return NOWHERE
    if policy[place] < 0:
        policy[place] = greedy(values, moves, laws, extended, seen)
    cells = graph.rows[row : row + width]
    cells[0], cells[1] = policy[place], seen[policy[place]]
    cells[2 : width - count - 1] = NOWHERE
    cells[width - count - 1] = last
    for arm in range(count):
        cells[width - count + arm] = seen[arm]
    graph.used[0], graph.row[place] = row + width, row
    return graph.row[place]


@njit(cache=True, error_model="numpy")
def _row_after(values, moves, laws, extended, policy, graph, row, outcome):
    """Where the row of the state begins that an outcome leads to."""
    count = len(moves.sizes)
    cells = graph.rows[row : row + graph.width]
    seen = np.empty(count, dtype=np.int64)
    for arm in range(count):
        seen[arm] = moves.older[cells[graph.width - count + arm]]
    pull = np.int64(cells[0])
    seen[pull] = moves.seen[pull, outcome]
    return _row_of(values, moves, laws, extended, policy, graph, pull, seen)


@njit(cache=True, error_model="numpy", nogil=True, forceinline=True)
def count(visits, outcomes, paid, squares, color, outcome, reward):
    """Add a sample to the counts of its color."""
    visits[color] += 1
    outcomes[color, outcome] += 1
    paid[color, outcome] += reward
    if squares is not None:
        squares[color, outcome] += reward * reward


@njit(cache=True, error_model="numpy", nogil=True)
def episode(values, moves, laws, extended, policy, graph, limits, visits, outcomes, paid, squares,
            names, path, rewards, pulls, begin, end, last, seen, pulled):  # fmt: skip
    """Follow the greedy policy until a color's visits reach their limit, or the path ends.

    policy: int8 per place, -1 where nothing was computed yet. names: (K, labels) number of each
    label of the path, -1 if unknown. Counts, colors and the step of each arm's last pull are
    updated in place. Returns (step, last, why): the loop stops before a pull that is over the
    limit, before one that shows an unknown state, and where the graph has no room.
    """
    rows, step, why = graph.rows, begin, END
    row = _row_of(values, moves, laws, extended, policy, graph, last, seen)
    if row == NOWHERE:
        return begin, last, FULL
    while step < end:
        # Each step waits for the row that the one before it found, so that comes first. All its
        # indices are unsigned: a negative one would count from the end, and checks take time.
        pull, color = rows[row], rows[row + _1]
        label = np.uint64(path[pull, np.uint64(step)])
        after = rows[row + _2 + label]
        outcome = names[pull, label]
        if visits[color] >= limits[color]:
            why = LIMIT
            break
        if after == NOWHERE:
            if outcome < 0:
                why = UNKNOWN
                break
            after = _row_after(values, moves, laws, extended, policy, graph, row, outcome)
            if after == NOWHERE:
                why = FULL
                break
            rows[row + _2 + label] = after
        row = after
        reward = rewards[pull, np.uint64(step)]
        count(visits, outcomes, paid, squares, color, np.uint64(outcome), reward)
        pulls[np.uint64(step)] = pull
        pulled[pull] = step
        step += 1
    ends = np.int64(row) + graph.width - len(seen)
    for arm in range(len(seen)):
        seen[arm] = rows[ends + arm]
    return step, np.int64(rows[ends - 1]), why


@njit(cache=True, error_model="numpy", nogil=True)
def walk(values, moves, laws, extended, policy, seen, left, names, path, pulls, begin, end, last):
    """Follow the greedy policy until an arm has no pulls left, or the path ends; count nothing.

    seen: (K,) colors of the information state, left: (K,) pulls left to each arm; both move along.
    Returns (step, why) as ``episode`` does. No graph: it would not pay in short episodes.
    """
    for step in range(begin, end):
        place = place_of(moves, last, seen)
        pull = np.int64(policy[place])
        if pull < 0:
            pull = greedy(values, moves, laws, extended, seen)
            policy[place] = pull
        if left[pull] <= 0:
            return step, LIMIT
        outcome = names[pull, path[pull, step]]
        if outcome < 0:
            return step, UNKNOWN
        left[pull] -= 1
        for arm in range(len(seen)):
            seen[arm] = moves.older[seen[arm]]
        seen[pull] = moves.seen[pull, outcome]
        last = pulls[step] = pull
    return end, END


@njit(cache=True, error_model="numpy", nogil=True)
def pair_path(colors, successors, policy, limits, visits, outcomes, paid, squares, path, rewards,
              pulls, begin, end, state, pulled):  # fmt: skip
    """As ``episode`` in an MDP given by arrays whose outcomes are what a path shows.

    pulled: step of each arm's last pull. Returns (step, why).
    """
    for step in range(begin, end):
        pull = policy[state]
        color = colors[state, pull]
        if visits[color] >= limits[color]:
            return step, LIMIT
        outcome, reward = path[pull, step], rewards[pull, step]
        count(visits, outcomes, paid, squares, color, outcome, reward)
        pulls[step], pulled[pull] = pull, step
        state = successors[state, pull, outcome]
    return end, END


@njit(cache=True, error_model="numpy", nogil=True)
def pair_episode(colors, successors, policy, limits, visits, outcomes, paid, squares, heights,
                 means, noisy, uniforms, pulls, rewards, begin, end, state):  # fmt: skip
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
        count(visits, outcomes, paid, squares, color, outcome, reward)
        pulls[step], rewards[step] = pull, reward
        state = after
    return end, state, END
