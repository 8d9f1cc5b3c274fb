"""Chains that are looked at only when pulled: the state after n unseen steps, drawn from P^n.

n is written in digits of ``bits`` bits. P^n is a product of powers P^(digit * 2^(bits * place)),
so drawing the state after each of them in turn gives the law of P^n, for any n, from few tables.
Every draw has its own random number, a hash of (key of the run, arm, step, place): what an arm
shows at a step does not depend on what else is pulled, nor on the order of the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from restive._kernels import njit
from restive._kernels.heaps import ROW
from restive._kernels.schedule import TIME, kind_of, observe, select
from restive._kernels.uncounted import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS, TOTAL = 0, 1  # places in a run's sums
FRESH = 31  # place of the draw of an arm not seen yet; digits have smaller ones
_11, _27, _30, _31 = (np.uint64(n) for n in (11, 27, 30, 31))
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Laws(NamedTuple):
    """Cumulative laws of all kinds of arms."""

    sizes: Ints  # (kinds,)
    first: Ints  # (kinds,) where a kind's rewards and start begin
    begin: Ints  # (kinds,) where its powers begin: [place][digit - 1][state][state after]
    places: Ints  # (kinds,) digits it has; from 2^(bits * places) steps on P^n has converged
    periods: Ints  # (kinds,)
    bits: int
    heights: Floats  # of the powers
    start: Floats  # of the law of the first step
    rest: Floats  # of the stationary law
    at_rest: NDArray[np.bool_]  # (kinds,) whether the first step's law is the stationary one
    rewards: Floats


@compiled
def _mixed(word):
    """SplitMix64's output function (Steele, Lea, Flood 2014)."""
    word = (word ^ (word >> _30)) * _MIX_A
    word = (word ^ (word >> _27)) * _MIX_B
    return word ^ (word >> _31)


@compiled
def uniform(key, arm, step, place):
    """A number in [0, 1) that depends on nothing but its arguments."""
    word = _mixed(key + np.uint64(arm + 1) * _GOLDEN)
    word = _mixed(word + np.uint64(32 * (step + 2) + place) * _GOLDEN)
    return np.float64(word >> _11) * 2.0**-53


@compiled
def _first_above(heights, begin, size, chance):
    k = 0
    while k < size - 1 and chance >= heights[begin + k]:
        k += 1
    return k


@compiled
def draw(laws, kind, state, age, key, arm, step):
    """State seen at a step by an arm last seen ``age`` steps ago; state -1: not seen yet."""
    size, steps = laws.sizes[kind], age
    if state < 0:
        steps = age - 1
        if laws.at_rest[kind]:
            steps = 0
        chance = uniform(key, arm, step, np.int64(FRESH))
        state = _first_above(laws.start, laws.first[kind], size, chance)
    if steps == 0 or size == 1:
        return state
    places = laws.places[kind]
    most = np.int64(1) << (laws.bits * places)
    if steps >= most:
        period = laws.periods[kind]
        if period == 1:
            chance = uniform(key, arm, step, np.int64(0))
            return _first_above(laws.rest, laws.first[kind], size, chance)
        steps = most - period + (steps - most) % period
    digits = (1 << laws.bits) - 1
    for place in range(places):
        digit = steps & digits
        steps >>= laws.bits
        if digit > 0:
            row = ((place * digits + digit - 1) * size + state) * size
            chance = uniform(key, arm, step, place)
            state = _first_above(laws.heights, laws.begin[kind] + row, size, chance)
        if steps == 0:
            break
    return state


@compiled
def draw_all(laws, kinds, states, ages, keys, arms, step, seen, paid):
    """What is seen and paid at each of (runs, m) arms."""
    for run in range(len(keys)):
        for k in range(arms.shape[1]):
            arm = arms[run, k]
            kind = kinds[arm]
            state = draw(laws, kind, states[run, arm], ages[run, arm], keys[run], arm, step)
            seen[run, k] = state
            paid[run, k] = laws.rewards[laws.first[kind] + state]


@compiled
def play_index(tables, arms, laws, key, pulls, steps, warmup, scratch, pulled, seen, sums):
    """Pull the arms of largest index for some steps; rewards after the warm-up are summed."""
    for _ in range(steps):
        select(tables, arms, pulls, scratch)
        time = arms.counters[TIME]
        total = 0.0
        for k in range(pulls):
            arm = scratch.arm[k]
            row, age = arms.nodes[arm, ROW], time - arms.since[arm]
            kind = kind_of(tables, row)
            state = row - tables.first[kind]
            if state == tables.sizes[kind]:
                state = -1
            pulled[k] = arm
            seen[k] = draw(laws, kind, state, age, key, arm, time)
            total += laws.rewards[laws.first[kind] + seen[k]]
        if time >= warmup:
            sums[STEPS] += 1
            sums[TOTAL] += total
        observe(tables, arms, pulled, seen)


@njit(cache=True, error_model="numpy", nogil=True)
def play_stay(good, kinds, laws, key, pulls, steps, warmup, states, since, queue, counters, held,
              sums):  # fmt: skip
    """Stay where the state last seen is good, else pull the arms unseen longest, for some steps.

    good: bool per state, laid out like rewards. queue: a ring of the arms that are not held, the
    one unseen longest first, those of one step by number. counters: time, head of the ring, held.
    """
    count = len(kinds)
    drops = np.empty(pulls, dtype=np.int32)
    for _ in range(steps):
        time, head, kept = counters[0], counters[1], counters[2]
        tail = (head + count - kept) % count
        while kept < pulls:
            held[kept] = queue[head]
            head = head + 1 if head + 1 < count else 0
            kept += 1
        total, kept, dropped = 0.0, 0, 0
        for k in range(pulls):
            arm = held[k]
            kind = kinds[arm]
            state = draw(laws, kind, states[arm], time - since[arm], key, arm, time)
            place = laws.first[kind] + state
            states[arm], since[arm] = state, time
            total += laws.rewards[place]
            if good[place]:
                held[kept] = arm
                kept += 1
            else:
                drops[dropped] = arm
                dropped += 1
        for arm in np.sort(drops[:dropped]):
            queue[tail] = arm
            tail = tail + 1 if tail + 1 < count else 0
        if time >= warmup:
            sums[STEPS] += 1
            sums[TOTAL] += total
        counters[0], counters[1], counters[2] = time + 1, head, kept
