"""Index tables on ages stored at growing distances: the ages, two-state indices, and play by them.

Shared arguments. tables: (K, S, A) index of every arm by state last seen and stored age; ages:
(K, A) the stored ages, 1 first; stored: (K,) how many of them an arm has; back: (K,) place that
follows the last one. A place stands for all ages up to the next one; from ages[back] on they go
round one by one.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit
from restive._kernels.play import END, LIMIT, UNKNOWN
from restive._kernels.tied import distance, multiply

DENSE = 64  # stored ages are at most 1/32 of the age apart, and up to here one by one


@njit(cache=True, error_model="numpy", nogil=True)
def limit_of(chain):
    """A power of the chain that is as good as its limit, rows summing to 1."""
    limit, square = chain.copy(), np.empty_like(chain)
    for _ in range(50):
        multiply(limit, limit, square)
        for s in range(len(chain)):
            limit[s] = square[s] / square[s].sum()
    return limit


@njit(cache=True, error_model="numpy", nogil=True)
def spread(chain, error, cap, loop, oldest, ages, rows):
    """Fill ages (A,) and rows (A, S, S) with the powers that tell ages apart; returns how many.

    cap, loop: age from which on powers repeat, and after how many steps; cap 0: not known, then it
    ends once rows are within ``error`` of their limit, or at ``oldest``. With a loop of 1, ages are
    stored at distances that double where rows one and two of the old distances apart are within
    twice ``error`` in L1: chains that alternate keep all ages.
    """
    move, other, ahead = chain.copy(), np.empty_like(chain), np.empty_like(chain)
    limit = limit_of(chain) if cap == 0 else chain
    ages[0], rows[0] = 1, chain
    stride, count = 1, 1
    while count < len(ages):
        last, here = ages[count - 1], rows[count - 1]
        if cap > 0 and last >= cap + loop - 1:
            break
        if cap == 0 and (last >= oldest or distance(here, limit) <= error):
            break
        if loop == 1 and last >= DENSE * stride:
            multiply(here, move, ahead)
            near = distance(ahead, here)
            multiply(move, move, other)
            multiply(here, other, ahead)
            if max(near, distance(ahead, here)) <= 2.0 * error:
                move[:] = other
                stride *= 2
        ages[count] = last + stride
        multiply(here, move, rows[count])
        count += 1
    return count


@njit(cache=True, error_model="numpy", nogil=True)
def two_state(up, down, rewards, ages, out):
    """out (2, A): Whittle's index of a two-state arm (Liu and Zhao 2010, average reward).

    up, down: chances to move from the worse state to the better one, and back. With rewards 0 and 1
    and w the chance to find the better state, T(w) that of a step later: where p01 <= p11 the
    index is w / (p10 + w) from the stationary law on, and below it
    ((w - T w)(n + 1) + T w) / (p10 + (w - T w) n + T w), n steps after the worse state; where
    p01 > p11 it is p01 / (1 + p01 - max(w, T p11)) from the stationary law on, and below it
    (p01 - T w + w) / (1 + p01 - T p11 + T w - w). One step after a look it is w.
    """
    better = 1 if rewards[1] >= rewards[0] else 0
    low, gap = rewards[1 - better], abs(rewards[1] - rewards[0])
    eigen, mean = 1.0 - up - down, up / (up + down)
    best_rested = up + eigen * (1.0 - down)  # T p11
    for k in range(len(ages)):
        fade = eigen ** ages[k]
        for good in range(2):
            w = mean + (1.0 - mean) * fade if good else mean * (1.0 - fade)
            later = up + eigen * w
            index = w
            if ages[k] > 1 and eigen >= 0.0:
                if good:
                    index = w / (down + w)
                else:
                    drift = (w - later) * ages[k]
                    index = (drift + w) / (down + drift + later)
            elif ages[k] > 1:
                if w >= mean:
                    index = up / (1.0 + up - max(w, best_rested))
                else:
                    index = (up - later + w) / (1.0 + up - best_rested + later - w)
            out[better if good else 1 - better, k] = low + gap * index


@njit(cache=True, error_model="numpy", nogil=True)
def find(ages, stored, back, since, places, rests):
    """Places (K,) of arms seen ``since`` steps ago, and steps until each is at its next place."""
    for arm in range(len(since)):
        age, first = since[arm], ages[arm, back[arm]]
        if age >= first:
            places[arm] = back[arm] + (age - first) % (stored[arm] - back[arm])
            rests[arm] = 1
            continue
        place = np.searchsorted(ages[arm, : back[arm] + 1], age, side="right") - 1
        places[arm] = place
        rests[arm] = ages[arm, place + 1] - age


@njit(cache=True, error_model="numpy", nogil=True)
def walk(tables, ages, stored, back, states, places, rests, left, names, path, pulls, begin, end):
    """Pull the arm of the largest index, the first of several, until one has no pulls left.

    states, places, rests, left: (K,) state last seen, place, steps until the next place, and pulls
    left of each arm; all move along. Returns (step, why) as ``play.walk`` does.
    """
    count = len(states)
    for step in range(begin, end):
        best, pull = -np.inf, 0
        for arm in range(count):
            index = tables[arm, states[arm], places[arm]]
            if index > best:
                best, pull = index, arm
        if left[pull] <= 0:
            return step, LIMIT
        outcome = names[pull, path[pull, step]]
        if outcome < 0:
            return step, UNKNOWN
        left[pull] -= 1
        for arm in range(count):
            rests[arm] -= 1
            if rests[arm] == 0:
                place = places[arm] + 1
                places[arm] = place = place if place < stored[arm] else back[arm]
                rests[arm] = 1 if place >= back[arm] else ages[arm, place + 1] - ages[arm, place]
        places[pull] = 0
        rests[pull] = 1 if back[pull] == 0 else ages[pull, 1] - ages[pull, 0]
        states[pull] = outcome
        pulls[step] = pull
    return end, END
