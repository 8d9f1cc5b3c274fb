"""Paths of chains, drawn from a generator of their own."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

_1, _3, _11, _24, _40 = (np.uint64(n) for n in (1, 3, 11, 24, 40))


@njit(cache=True, error_model="numpy", inline="always")
def _draw(a, b, c, n):
    """One word of SFC64, the generator of that name in NumPy, and its next state.

    The word's upper 53 bits, as a whole number below 2^53, come first.
    """
    word = a + b + n
    turned = ((c << _24) | (c >> _40)) + word
    return np.int64(word >> _11), b ^ (b >> _11), c + (c << _3), turned, n + _1


@njit(cache=True, error_model="numpy", nogil=True)
def chain_path(steps, start, means, generator, state, states, rewards):
    """A chain by inversion: states[t] is the first k with a draw below steps[state, k].

    steps: (S, S) cumulative rows in units of 2^-53; start: (S,) the same for the first state.
    state: the one before the path, or -1. generator: (4,) state of SFC64, moved on by one word a
    step. rewards[t] is the mean reward of states[t]. Returns the last state.
    """
    if len(states) == 0:
        return state
    row = steps[state] if state >= 0 else start
    a, b, c, n = generator[0], generator[1], generator[2], generator[3]
    draw, a, b, c, n = _draw(a, b, c, n)
    state = 0
    while draw >= row[state]:
        state += 1
    states[0], rewards[0] = state, means[state]
    generator[0], generator[1], generator[2], generator[3] = a, b, c, n
    if len(means) == 2:
        return _two_state_path(steps, means, generator, state, states, rewards)
    for t in range(1, len(states)):
        draw, a, b, c, n = _draw(a, b, c, n)
        k = 0
        while draw >= steps[state, k]:
            k += 1
        state = k
        states[t], rewards[t] = k, means[k]
    generator[0], generator[1], generator[2], generator[3] = a, b, c, n
    return state


@njit(cache=True, error_model="numpy")
def _two_state_path(steps, means, generator, state, states, rewards):
    """The same from step 1 on for two states, without a branch that nobody could foresee."""
    from_0, from_1 = steps[0, 0], steps[1, 0]
    a, b, c, n = generator[0], generator[1], generator[2], generator[3]
    for t in range(1, len(states)):
        draw, a, b, c, n = _draw(a, b, c, n)
        after_0, after_1 = np.int64(draw >= from_0), np.int64(draw >= from_1)
        state = after_0 ^ (state & (after_0 ^ after_1))
        states[t], rewards[t] = state, means[state]
    generator[0], generator[1], generator[2], generator[3] = a, b, c, n
    return state
