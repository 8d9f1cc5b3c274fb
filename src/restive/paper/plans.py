"""Plans of an episode, held against eq. (4): sweeps over the printed sets, written down apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.mdp.structured import Parameters
from restive.paper.printed import favoured


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
