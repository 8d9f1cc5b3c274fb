"""Hypothesis strategies: transition matrices of every awkward kind, arms and bandits."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from restive.model.bandit import Arm, Bandit

__all__ = ["arms", "bandits", "seeds", "transition_matrices"]

Matrix = NDArray[np.float64]

seeds = st.integers(0, 2**32 - 1)
KINDS = ("dense", "sparse", "periodic", "near reducible", "single")


def _normalised(weights: Matrix) -> Matrix:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _ring(size: int, rng: np.random.Generator) -> Matrix:
    """A cycle through all states in random order, which makes any matrix irreducible."""
    order = rng.permutation(size)
    ring = np.zeros((size, size))
    ring[order, np.roll(order, -1)] = 1.0
    return ring


def _sparse(size: int, rng: np.random.Generator) -> Matrix:
    extra = rng.random((size, size)) * (rng.random((size, size)) < 0.3)
    return _normalised(_ring(size, rng) * rng.uniform(0.05, 1, (size, 1)) + extra)


def _periodic(size: int, rng: np.random.Generator) -> Matrix:
    """Every edge leads from one class of states to the next, so the period is a multiple of m."""
    classes = int(rng.integers(2, size + 1))
    label = np.concatenate([np.arange(classes), rng.integers(0, classes, size - classes)])
    allowed = (label[:, None] + 1) % classes == label[None, :]
    return _normalised(np.where(allowed, rng.uniform(0.05, 1, (size, size)), 0.0))


def _near_reducible(size: int, rng: np.random.Generator) -> Matrix:
    """Off-diagonal entries down to 1e-14: 1 - p then rounds to 1 or close to it."""
    matrix = _ring(size, rng) + (rng.random((size, size)) < 0.3)
    np.fill_diagonal(matrix, 0.0)
    matrix *= 10.0 ** rng.uniform(-14, -1, (size, size)) / size
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=1))
    return matrix


@st.composite
def transition_matrices(
    draw: st.DrawFn, max_states: int = 6, kinds: tuple[str, ...] = KINDS
) -> Matrix:
    """An irreducible stochastic matrix with at most ``max_states`` states, of one of ``kinds``."""
    kind = draw(st.sampled_from(kinds))
    if kind == "single":
        return np.ones((1, 1))
    size = draw(st.integers(2, max_states))
    rng = np.random.default_rng(draw(seeds))
    if kind == "dense":
        return _normalised(rng.uniform(0.02, 1, (size, size)))
    return {"sparse": _sparse, "periodic": _periodic, "near reducible": _near_reducible}[kind](
        size, rng
    )


@st.composite
def arms(
    draw: st.DrawFn, max_states: int = 4, kinds: tuple[str, ...] = ("dense", "sparse", "single")
) -> Arm:
    """A valid arm whose rewards are drawn from [0, 1]."""
    matrix = draw(transition_matrices(max_states, kinds))
    rewards = draw(st.lists(st.floats(0, 1, width=32), min_size=len(matrix), max_size=len(matrix)))
    return Arm(matrix, rewards)


@st.composite
def bandits(
    draw: st.DrawFn,
    max_arms: int = 3,
    max_states: int = 3,
    kinds: tuple[str, ...] = ("dense", "sparse", "single"),
) -> Bandit:
    """A bandit with one to ``max_arms`` arms."""
    return Bandit(draw(st.lists(arms(max_states, kinds), min_size=1, max_size=max_arms)))
