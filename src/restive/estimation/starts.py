"""Where to start climbing a likelihood that may have several maxima."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from restive.base.arrays import Floats
from restive.estimation.gap_counts import GapCounts

RANDOM = 3  # starts drawn at random, for arms of up to SMALL states
SMALL = 8


def starts(counts: GapCounts, rng: np.random.Generator) -> Iterator[Floats]:
    """Chains, all entries positive: what the shortest gaps show, slow ones, restless ones, any."""
    size = counts.n_states
    even = np.full((size, size), 1.0 / size)
    ends = counts.counts.sum(axis=(0, 1)) + 1.0
    shares = np.broadcast_to(ends / ends.sum(), (size, size))
    shortest = counts.counts[0] + even
    yield shortest / shortest.sum(axis=1, keepdims=True)
    yield 0.9 * np.eye(size) + 0.1 * shares
    restless = shares * (1.0 - 0.9 * np.eye(size))
    yield restless / restless.sum(axis=1, keepdims=True)
    if size <= SMALL:
        for _ in range(RANDOM):
            yield np.maximum(rng.dirichlet(np.ones(size), size), 1e-6)
