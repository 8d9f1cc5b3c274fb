"""Formulas of the page, written down apart from the code that is held against them."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from restive.base.arrays import Floats
from restive.mdp.structured import Parameters, StructuredMDP


def published_radii(
    visits: Any, t: int, colors: int, support: int, delta: float, epsilon: float
) -> tuple[Floats, Floats]:
    """Right-hand sides of eqs (2) and (3), from the page and not from ``restive.theory``."""
    many = np.maximum(1, visits)
    rewards = epsilon + np.sqrt(7 * log(2 * colors * t / delta) / (2 * many))
    laws = epsilon + np.sqrt(56 * support * log(4 * colors * t / delta) / many)
    return rewards, laws


def favoured(laws: Floats, radii: Floats, worth: Floats) -> Floats:
    """Most that laws (..., B) within L1 radii (...) may expect of what outcomes are worth.

    Half of the radius goes to the best outcome, from the worst ones (extended value iteration).
    """
    order = np.argsort(-worth, axis=-1)
    sorted_laws = np.take_along_axis(laws, order, -1)
    sorted_laws[..., 0] = np.minimum(1.0, sorted_laws[..., 0] + radii / 2)
    excess = sorted_laws.sum(axis=-1) - 1
    for k in range(laws.shape[-1] - 1, 0, -1):
        cut = np.minimum(sorted_laws[..., k], np.maximum(0.0, excess))
        sorted_laws[..., k] -= cut
        excess -= cut
    return np.asarray((sorted_laws * np.take_along_axis(worth, order, -1)).sum(axis=-1))


def optimistic_sweep(model: Parameters, mdp: StructuredMDP, values: Floats) -> Floats:
    """T~ h - h, with the best law of every pair and the best reward."""
    radii = np.zeros(mdp.n_colors) if model.radii is None else model.radii
    bonus = 0.0 if model.reward_radii is None else model.reward_radii
    paid = np.minimum(1.0, model.rewards + bonus)[mdp.colors]
    laws = model.probabilities[mdp.colors]
    pairs = paid + favoured(laws, radii[mdp.colors], values[mdp.successors])
    return np.asarray(pairs.max(axis=1) - values)
