"""Small bandits of every awkward kind, drawn from a seed; shared by the tests of the planner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from restive.model.bandit import Arm, Bandit

__all__ = ["KINDS", "as_arrays", "draw_arm", "draw_bandit", "draw_caps", "is_slow"]

Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]

KINDS = ("dense", "sparse", "near reducible", "iid", "single", "periodic")
COUPLING = 1e-6


def _rows(weights: Matrix) -> Matrix:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _periodic(size: int, classes: int, rng: np.random.Generator) -> Matrix:
    """State s is in class s mod ``classes``, and every step leads to the next class."""
    label = np.arange(size) % classes
    allowed = (label[:, None] + 1) % classes == label
    return _rows(np.where(allowed, rng.uniform(0.1, 1, (size, size)), 0.0))


def _near_reducible(size: int, rng: np.random.Generator) -> Matrix:
    """A ring of states that are hardly ever left."""
    leave = COUPLING * rng.uniform(0.5, 2, size)
    return np.asarray(np.diag(1 - leave) + np.diag(leave) @ np.roll(np.eye(size), 1, axis=1))


def _sparse(size: int, rng: np.random.Generator) -> Matrix:
    ring = np.roll(np.eye(size), 1, axis=1) * rng.uniform(0.1, 1, (size, 1))
    return _rows(ring + rng.random((size, size)) * (rng.random((size, size)) < 0.25))


def draw_arm(kind: str, rng: np.random.Generator, size: int | None = None) -> Arm:
    """One arm with rewards uniform on [0, 1] and, half of the time, a start of its own."""
    size = int(rng.integers(2, 5)) if size is None else size
    if kind == "dense":
        matrix = _rows(rng.uniform(0.05, 1, (size, size)))
    elif kind == "sparse":
        matrix = _sparse(size, rng)
    elif kind == "near reducible":
        matrix = _near_reducible(size, rng)
    elif kind == "iid":
        matrix = np.tile(rng.dirichlet(np.ones(size)), (size, 1))
    elif kind == "single":
        size, matrix = 1, np.ones((1, 1))
    else:
        matrix = _periodic(size, int(rng.integers(2, size + 1)), rng)
    initial = "stationary" if rng.random() < 0.5 else rng.dirichlet(np.ones(size))
    return Arm(matrix, rng.random(size), initial=initial)


def draw_bandit(seed: int, kinds: tuple[str, ...] = KINDS, most_arms: int = 3) -> Bandit:
    """One to three arms of random kinds; three arms have two states each, to stay small."""
    rng = np.random.default_rng([seed, 20240])
    count = int(rng.integers(1, most_arms + 1))
    size = 2 if count == 3 else None
    return Bandit([draw_arm(str(rng.choice(kinds)), rng, size) for _ in range(count)])


def draw_caps(seed: int, bandit: Bandit) -> list[int]:
    """Caps from 1 to 6, from 1 to 4 where there are three arms."""
    rng = np.random.default_rng([seed, 77])
    return [int(c) for c in rng.integers(1, 5 if bandit.n_arms == 3 else 7, bandit.n_arms)]


def is_slow(arm: Arm) -> bool:
    """Whether the arm is nearly reducible."""
    return arm.mixing_time() > 1000


def as_arrays(states: list[tuple[tuple[int, int], ...]]) -> tuple[Ints, Ints]:
    """Information states ((s_1, n_1), ...) as arrays of last states and of ages, both (N, K)."""
    pairs = np.array(states, dtype=np.int64)
    return pairs[..., 0], pairs[..., 1]
