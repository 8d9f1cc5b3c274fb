"""Sweeps of (extended) value iteration over an MDP given by arrays of colors and successors."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit
from restive._kernels.rows import optimistic_weights

CHUNKS = 64  # parts of a sweep, fixed so that the result does not depend on the threads


@njit(cache=True, error_model="numpy")
def pair_value(values, successors, state, action, chances, color, reward, radius, extended,
               weights, order, nexts):  # fmt: skip
    """Value of one state-action pair: its reward plus the (optimistic) expectation."""
    width = chances.shape[1]
    total = reward
    if not extended:
        for b in range(width):
            p = chances[color, b]
            if p > 0.0:
                total += p * values[successors[state, action, b]]
        return total
    size = 0
    while size < width and successors[state, action, size] >= 0:
        nexts[size] = values[successors[state, action, size]]
        order[size] = size
        size += 1
    optimistic_weights(weights, order, nexts, chances, color, size, radius)
    for b in range(size):
        total += weights[b] * nexts[b]
    return total


@njit(cache=True, error_model="numpy", forceinline=True)
def state_values(out, values, state, colors, successors, rewards, chances, radii, extended,
                 weights, order, nexts):  # fmt: skip
    """Values of all pairs of one state; -inf where the action is not available."""
    for action in range(len(out)):
        color = colors[state, action]
        out[action] = -np.inf
        if color >= 0:
            out[action] = pair_value(values, successors, state, action, chances, color,
                                     rewards[color], radii[color], extended, weights, order,
                                     nexts)  # fmt: skip


@njit(cache=True, error_model="numpy", nogil=True)
def sweep(target, source, colors, successors, rewards, chances, radii, extended, step, gain,
          bounds, first, stride):  # fmt: skip
    """Chunks first, first + stride, ...: target = source + step (backup - gain - source).

    bounds (CHUNKS, 2) receives min and max of backup - source.
    """
    n, width = len(colors), chances.shape[1]
    weights, nexts, worth = np.empty(width), np.empty(width), np.empty(colors.shape[1])
    order = np.empty(width, dtype=np.int64)
    for chunk in range(first, CHUNKS, stride):
        low, high = np.inf, -np.inf
        for state in range(n * chunk // CHUNKS, n * (chunk + 1) // CHUNKS):
            state_values(worth, source, state, colors, successors, rewards, chances, radii,
                         extended, weights, order, nexts)  # fmt: skip
            change = worth.max() - source[state]
            low, high = min(low, change), max(high, change)
            target[state] = source[state] + step * (change - gain)
        bounds[chunk, 0], bounds[chunk, 1] = low, high


@njit(cache=True, error_model="numpy", nogil=True)
def pair_values(values, colors, successors, rewards, chances, radii, extended):
    """Value of every pair, shape (N, A); -inf where the action is not available."""
    width = chances.shape[1]
    weights, nexts = np.empty(width), np.empty(width)
    order = np.empty(width, dtype=np.int64)
    out = np.empty(colors.shape)
    for state in range(len(colors)):
        state_values(out[state], values, state, colors, successors, rewards, chances, radii,
                     extended, weights, order, nexts)  # fmt: skip
    return out
