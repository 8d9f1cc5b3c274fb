"""Where random numbers come from, and how laws are drawn from them."""

from __future__ import annotations

import numpy as np

from restive.base.arrays import Floats

Seed = int | np.random.SeedSequence | np.random.Generator | None


def seed_sequence(rng: Seed) -> np.random.SeedSequence:
    """The seeds to draw from; a generator is asked for fresh ones."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(0, 2**32, size=4).tolist())
    return np.random.SeedSequence(rng)


def recorded_seed(seeds: np.random.SeedSequence) -> int | list[int] | None:
    """Entropy and spawn key as one number or a list, for JSON."""
    entropy = seeds.entropy
    numbers = [] if entropy is None else list(np.atleast_1d(np.array(entropy, dtype=object)))
    numbers += list(seeds.spawn_key)
    if len(numbers) == 1:
        return int(numbers[0])
    return [int(number) for number in numbers]


def heights_of(laws: Floats) -> Floats:
    """Cumulative sums along the last axis, above 1 from the last possible outcome on."""
    heights = np.cumsum(laws, axis=-1)
    possible = laws > 0
    from_here = np.flip(np.cumsum(np.flip(possible, axis=-1), axis=-1), axis=-1)
    heights[from_here - possible == 0] = 2.0  # nothing comes after it: rounding cannot pass it
    return np.ascontiguousarray(heights)
