"""Where random numbers come from, and how laws are drawn from them."""

from __future__ import annotations

import numpy as np

from restive.base.arrays import Floats
from restive.base.errors import ProblemError, refusal

Seed = int | np.random.SeedSequence | np.random.Generator | None


def seed_sequence(rng: Seed) -> np.random.SeedSequence:
    """The seeds to draw from; a generator is asked for fresh ones."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(0, 2**32, size=4).tolist())
    try:
        return np.random.SeedSequence(rng)
    except (TypeError, ValueError):
        raise _no_seed(rng) from None


def generator(rng: Seed) -> np.random.Generator:
    """Random numbers from a seed; a generator is used as it is."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise _no_seed(rng) from None


def _no_seed(rng: object) -> ProblemError:
    remedy = "Give a whole number from 0 on, or a numpy.random.Generator."
    return refusal("rng", "not a seed", repr(rng)[:80], remedy)


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
