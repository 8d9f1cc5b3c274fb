"""A chain seen at gaps, slowly: powers by repeated products, hidden moves by listing all paths."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np


def log_likelihood(counts, chain):
    """counts: {(s, n, s'): how often}."""
    total = 0.0
    for (s, n, e), many in counts.items():
        total += many * np.log(np.linalg.matrix_power(chain, n)[s, e])
    return total


def expected_moves(counts, chain):
    """Expected number of moves between each two states, over all paths that fit the sightings."""
    size = len(chain)
    moves = np.zeros((size, size))
    for (s, n, e), many in counts.items():
        paths = [(s, *inner, e) for inner in product(range(size), repeat=n - 1)]
        weights = np.array([np.prod([chain[a, b] for a, b in pairwise(p)]) for p in paths])
        for path, weight in zip(paths, weights / weights.sum(), strict=True):
            for a, b in pairwise(path):
                moves[a, b] += many * weight
    return moves


def softmax_chain(theta):
    """Rows exp(theta) / (1 + sum exp(theta)), the last state being the one left out."""
    full = np.concatenate([theta, np.zeros((len(theta), 1))], axis=1)
    rows = np.exp(full - full.max(axis=1, keepdims=True))
    return rows / rows.sum(axis=1, keepdims=True)


def walk(chain, gaps, rng, start=0):
    """States of a chain at cumulated gaps, drawn step by step; the first is ``start``."""
    heights, state, seen = chain.cumsum(axis=1), start, [start]
    for gap in gaps:
        for _ in range(gap):
            state = min(len(chain) - 1, int(np.searchsorted(heights[state], rng.random())))
        seen.append(state)
    return np.array(seen)
