"""Problems of varied kinds, drawn from a seed: for tuning with one, for the benchmark with another.

No problem is chosen by a learner's regret on it; every draw is taken as it comes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from restive.model.bandit import Arm, Bandit

__all__ = ["KINDS", "MANY", "draw", "draws"]

Rng = np.random.Generator
Floats = NDArray[np.float64]

MANY = "many arms"  # too large for an exact plan: no gap regret


def _two(up: float, down: float, low: float = 0.0, high: float = 1.0) -> Arm:
    """A two-state arm with P(0, 1) = up and P(1, 0) = down."""
    return Arm([[1 - up, up], [down, 1 - down]], [low, high])


def _channels(rng: Rng, count: int, low: float, high: float) -> Bandit:
    """Two-state arms with rates and best rewards drawn evenly."""
    rates, pays = rng.uniform(low, high, (count, 2)), rng.uniform(0.6, 1.0, count)
    return Bandit([_two(up, down, 0.0, pay) for (up, down), pay in zip(rates, pays, strict=True)])


def _dirichlet(rng: Rng, size: int, stay: float) -> Arm:
    rows = (1 - stay) * rng.dirichlet(np.full(size, 0.7), size) + stay * np.eye(size)
    return Arm(rows, rng.random(size))


def _line(rng: Rng, size: int) -> Arm:
    """A birth-death chain along increasing rewards."""
    rows = np.zeros((size, size))
    for k in range(size):
        for near in (k - 1, k + 1):
            if 0 <= near < size:
                rows[k, near] = rng.uniform(0.05, 0.45)
        rows[k, k] = 1 - rows[k].sum()
    return Arm(rows, np.sort(rng.random(size)))


def _ring(rng: Rng, size: int) -> Arm:
    return Arm(np.roll(np.eye(size), 1, axis=1), rng.random(size))


def _contested(arm: Callable[[], Arm], other: Callable[[], Arm]) -> Bandit:
    """Two arms, drawn anew until neither pays 0.1 more than the other in the long run."""
    while True:
        arms = [arm(), other()]
        if abs(arms[0].gain - arms[1].gain) < 0.1:
            return Bandit(arms)


def _random(rng: Rng, size: int) -> Bandit:
    return _contested(*[lambda: _dirichlet(rng, size, 0.35)] * 2)


def _periodic(rng: Rng) -> Bandit:
    """A ring of three or four states, which runs round and round, beside a two-state arm."""
    size = int(rng.integers(3, 5))
    return _contested(lambda: _ring(rng, size), lambda: _channels(rng, 1, 0.05, 0.4).arms[0])


def _slow_and_steady(rng: Rng, rate: float, count: int) -> Bandit:
    """Arms that change with about this chance a step, beside one that pays evenly."""
    arms = _channels(rng, count, 0.5 * rate, 1.5 * rate).arms
    return Bandit([*arms, Arm([[1.0]], [rng.uniform(0.3, 0.5)])])


def _rare(rng: Rng) -> Bandit:
    """A good state that is seen once in a hundred steps or less, and lasts, beside a steady arm."""
    rare = _two(rng.uniform(0.004, 0.012), rng.uniform(0.02, 0.06), 0.05, 1.0)
    return Bandit([rare, Arm([[1.0]], [rng.uniform(0.15, 0.3)])])


def _identical(rng: Rng) -> Bandit:
    return Bandit([_two(*rng.uniform(0.05, 0.4, 2))] * int(rng.integers(2, 5)))


def _small_gaps(rng: Rng) -> Bandit:
    """Independent draws from pull to pull, with means a few hundredths apart."""
    best = rng.uniform(0.4, 0.7)
    means = best - np.cumsum(rng.uniform(0.01, 0.03, int(rng.integers(2, 5))))
    return Bandit([_two(mean, 1 - mean) for mean in (best, *means)])


def _single(rng: Rng) -> Bandit:
    """A two-state channel beside a steady arm, as in Example 3."""
    channel = _two(*rng.uniform(0.03, 0.3, 2))
    return Bandit([channel, Arm([[1.0]], [rng.uniform(0.35, 0.65)])])


KINDS: dict[str, Callable[[Rng], Bandit]] = {
    "two channels": lambda rng: _channels(rng, 2, 0.05, 0.5),
    "three channels": lambda rng: _channels(rng, 3, 0.1, 0.5),
    "three states": lambda rng: _random(rng, 3),
    "five states": lambda rng: _random(rng, 5),
    "birth and death": lambda rng: _contested(lambda: _line(rng, 3), lambda: _line(rng, 4)),
    "periodic": _periodic,
    "slow": lambda rng: _channels(rng, 2, 0.01, 0.03),
    "very slow": lambda rng: _slow_and_steady(rng, 0.002, 1),
    "negative correlation": lambda rng: _channels(rng, int(rng.integers(2, 4)), 0.6, 0.95),
    "rare good state": _rare,
    "identical": _identical,
    "small gaps": _small_gaps,
    "single channel": _single,
    "five or six": lambda rng: _channels(rng, int(rng.integers(5, 7)), 0.25, 0.6),
    MANY: lambda rng: _channels(rng, int(rng.integers(10, 21)), 0.05, 0.4),
}


def draw(kind: str, seed: int, number: int) -> Bandit:
    """The draw of this number; it depends on the seed, the kind and the number alone."""
    key = [seed, sorted(KINDS).index(kind), number]
    return KINDS[kind](np.random.default_rng(key))


def draws(seed: int, each: int, without: tuple[str, ...] = ()) -> dict[str, Bandit]:
    """So many problems of every kind, by name."""
    names = [kind for kind in KINDS if kind not in without]
    return {
        f"{kind} {number + 1}": draw(kind, seed, number)
        for kind in names for number in range(each)
    }  # fmt: skip
