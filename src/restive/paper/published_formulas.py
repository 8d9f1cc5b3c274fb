"""Formulas of the page, written down apart from the code that is held against them."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

import numpy as np

from restive.base.arrays import Floats, Ints
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


class Note(NamedTuple):
    """What Algorithm 2 had at the start of an episode, after ``step`` steps."""

    step: int
    visits: Ints
    model: Parameters
    grids: list[Ints]  # (S, A) colors of each arm
    values: Callable[[Ints, Ints], Floats]  # planned, of last states and ages (..., K)


def note_of(learner: Any) -> Note:
    """What it has now, at the start of an episode."""
    rep, planned = learner.structure, learner.planner.values
    return Note(
        learner.sight.steps,
        learner.counts.visits.copy(),
        learner.planner.parameters,
        [rep.color_grid(arm) for arm in range(rep.n_arms)],
        lambda states, ages: planned[rep.positions(states, ages)],
    )


def worth(note: Note, states: Ints, ages: Ints, stored: Ints) -> Floats:
    """What each arm is worth, (n, K), under the most favourable model of the sets.

    states, ages, stored: (n, K), ages as they are and as the colors have them.
    """
    model = note.model
    total = np.empty(ages.shape)
    assert model.radii is not None
    assert model.reward_radii is not None
    for arm, grid in enumerate(note.grids):
        size = len(grid)
        after, older = (np.repeat(many[:, None], size, axis=1) for many in (states, ages + 1))
        after[..., arm], older[..., arm] = np.arange(size), 1
        colors = grid[states[:, arm], stored[:, arm] - 1]
        paid = np.minimum(1.0, (model.rewards + model.reward_radii)[colors])
        laws = model.probabilities[colors, :size]
        total[:, arm] = paid + favoured(laws, model.radii[colors], note.values(after, older))
    return total


def plan_width(learner: Any) -> float:
    """Width of the optimistic gain's bounds by a sweep over all information states."""
    note = note_of(learner)
    _, states, stored = learner.structure.every_state()
    best = worth(note, states, stored, stored).max(axis=1)
    return float(np.ptp(best - note.values(states, stored)))
