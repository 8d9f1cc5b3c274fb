"""One look ahead at the true beliefs with values on a grid: decisions, and play of many steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from restive._kernels import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIE = 1e-11  # worths nearer than this are equal: stay, else take the first set


class Board(NamedTuple):
    """Values of a grid process and where beliefs lie on it; K arms, n sets of arms."""

    values: Floats
    begin: Ints  # (n,) where the block of each set begins
    strides: Ints  # (n, K) along an arm's points, or along its states if it is in the set
    member: Ints  # (n, K) 1 where the arm is in the set
    price: Floats  # (n,) reward of the set itself (for pulling fewer arms)
    sizes: Ints  # (K,) states
    dense: Ints  # (K,) ages 1 .. dense have a slot each
    period: Ints  # (K,) later slots come in groups of this many ages
    starts: Ints  # (K, m) first age of each group, ascending, padded with the largest integer
    laws: Floats  # (K, S, slots, S) belief at the age of a slot, by last state
    places: Ints  # (K, S, slots, W) the belief one step later, on the grid
    weights: Floats  # (K, S, slots, W)
    rewards: Floats  # (K, S)


@njit(cache=True, nogil=True, error_model="numpy")
def slot_of(board, arm, age):
    """Where an age stands in the tables."""
    dense = board.dense[arm]
    if age <= dense:
        return age - 1
    group = np.searchsorted(board.starts[arm], age, side="right") - 1
    period = board.period[arm]
    return dense + group * period + (age - board.starts[arm, group]) % period


@njit(cache=True, nogil=True, error_model="numpy")
def mixed(values, begin, strides, b, spots, shares, counts, places, weights):
    """sum over one spot an arm of the product of shares times the value there, in block b.

    places, weights: room for the products of the shares.
    """
    places[0], weights[0], size = begin[b], 1.0, 1
    for j in range(len(counts)):
        for c in range(counts[j] - 1, -1, -1):  # the first spot last: it overwrites
            step, share = spots[j, c] * strides[b, j], shares[j, c]
            for i in range(size):
                places[c * size + i] = places[i] + step
                weights[c * size + i] = weights[i] * share
        size *= counts[j]
    total = 0.0
    for i in range(size):
        total += weights[i] * values[places[i]]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def set_out(board, b, lasts, slots, laws, spots, shares, counts):
    """Spots and shares after pulling set b; returns the mean reward of that. laws: (K, S)."""
    reward = board.price[b]
    width = board.places.shape[3]
    for j in range(len(counts)):
        if board.member[b, j]:
            counts[j] = board.sizes[j]
            for s in range(board.sizes[j]):
                spots[j, s], shares[j, s] = s, laws[j, s]
                reward += laws[j, s] * board.rewards[j, s]
        else:
            counts[j] = 0
            for c in range(width):
                share = board.weights[j, lasts[j], slots[j], c]
                if share > 0.0:
                    spots[j, counts[j]] = board.places[j, lasts[j], slots[j], c]
                    shares[j, counts[j]] = share
                    counts[j] += 1
    return reward


@njit(cache=True, nogil=True, error_model="numpy")
def choose(board, lasts, ages, slots, laws, spots, shares, counts, worth, room):
    """The best set by one look ahead; its tables' laws and slots are filled in."""
    for j in range(len(lasts)):
        slots[j] = slot_of(board, j, ages[j])
        for s in range(board.sizes[j]):
            laws[j, s] = board.laws[j, lasts[j], slots[j], s]
    best = -np.inf
    for b in range(len(worth)):
        reward = set_out(board, b, lasts, slots, laws, spots, shares, counts)
        worth[b] = reward + mixed(
            board.values, board.begin, board.strides, b, spots, shares, counts, *room
        )
        best = max(best, worth[b])
    choice = -1
    for b in range(len(worth)):
        if worth[b] < best - TIE:
            continue
        stay = True
        for j in range(len(lasts)):
            stay = stay and board.member[b, j] == (ages[j] == 1)
        if stay:
            return b
        if choice < 0:
            choice = b
    return choice


@njit(cache=True, nogil=True, error_model="numpy")
def rank(board, scores, lasts, ages, slots, pulls):
    """The set of the arms with the largest scores (arm, last state, slot), ties by number."""
    count = len(lasts)
    taken = np.zeros(count, dtype=np.int64)
    for j in range(count):
        slots[j] = slot_of(board, j, ages[j])
    for _ in range(pulls):
        top = -1
        for j in range(count):
            better = top < 0 or (
                scores[j, lasts[j], slots[j]] > scores[top, lasts[top], slots[top]]
            )
            if not taken[j] and better:
                top = j
        taken[top] = 1
    for b in range(len(board.begin)):
        same = True
        for j in range(count):
            same = same and board.member[b, j] == taken[j]
        if same:
            return b
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def decide(board, lasts, ages, choices, worth):
    """The best set in many information states: lasts, ages (N, K), choices (N,), worth (N, n)."""
    count, width = lasts.shape[1], max(board.places.shape[3], board.laws.shape[3])
    slots, counts = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    laws, shares = np.zeros((count, board.laws.shape[3])), np.zeros((count, width))
    spots = np.zeros((count, width), dtype=np.int64)
    room = (np.zeros(width**count, dtype=np.int64), np.zeros(width**count))
    for x in range(len(lasts)):
        choices[x] = choose(
            board, lasts[x], ages[x], slots, laws, spots, shares, counts, worth[x], room
        )


@njit(cache=True, nogil=True, error_model="numpy")
def play(board, chains, scores, pulls, draws, lasts, ages, true_laws, bias, visits, every, totals):
    """Play on by one look ahead (or by scores), one row of draws a step.

    The gain is estimated by the mean of r(x, a) + E h(next) - h(x), whose mean over time is the
    policy's gain whatever h is and which hardly varies where h is near the policy's own values.
    lasts, ages, true_laws, bias[0] = h: where play stands, updated. totals: its sum, the sum of
    mean rewards and the number of switches. visits: every ``every``-th step's (set, last states,
    ages) after the step.
    """
    count, width = len(lasts), max(board.places.shape[3], board.laws.shape[3])
    slots, counts = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    laws, shares = np.zeros(true_laws.shape), np.zeros((count, width))
    spots = np.zeros((count, width), dtype=np.int64)
    room = (np.zeros(width**count, dtype=np.int64), np.zeros(width**count))
    worth, moved = np.zeros(len(board.begin)), np.zeros(true_laws.shape[1])
    for t in range(len(draws)):
        if scores.shape[1] > 0:
            b = rank(board, scores, lasts, ages, slots, pulls)
        else:
            b = choose(board, lasts, ages, slots, laws, spots, shares, counts, worth, room)
        reward = set_out(board, b, lasts, slots, true_laws, spots, shares, counts)
        ahead = mixed(board.values, board.begin, board.strides, b, spots, shares, counts, *room)
        totals[0] += reward + ahead - bias[0]
        totals[1] += reward
        stay, used = True, 0
        for j in range(count):
            stay = stay and board.member[b, j] == (ages[j] == 1)
            ages[j] += 1
            if board.member[b, j]:
                left, s = draws[t, used], 0
                used += 1
                while s < board.sizes[j] - 1 and left >= true_laws[j, s]:
                    left -= true_laws[j, s]
                    s += 1
                lasts[j], ages[j] = s, 1
                counts[j], spots[j, 0], shares[j, 0] = 1, s, 1.0
                for c in range(board.sizes[j]):
                    true_laws[j, c] = chains[j, s, c]
            else:
                for c in range(board.sizes[j]):
                    moved[c] = 0.0
                    for s in range(board.sizes[j]):
                        moved[c] += true_laws[j, s] * chains[j, s, c]
                for c in range(board.sizes[j]):
                    true_laws[j, c] = moved[c]
        if not stay:
            totals[2] += 1.0
        bias[0] = mixed(board.values, board.begin, board.strides, b, spots, shares, counts, *room)
        if every > 0 and t % every == every - 1:
            row = t // every
            visits[row, 0] = b
            for j in range(count):
                visits[row, 1 + j], visits[row, 1 + count + j] = lasts[j], ages[j]
