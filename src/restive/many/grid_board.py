"""Values on a grid made ready for one look ahead at true beliefs of any age."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.many.grid_layout import Layout
from restive.many.grid_points import ArmGrid
from restive.model import chains

if TYPE_CHECKING:
    from restive._kernels.grid_play import Board


SETTLED = 1e-6  # L1 distance from the limit beyond which ages are no longer told apart
DENSE = 1024  # ages with a slot each; later ones share slots
RATIO = 1.02  # from one later slot to the next
SLACK = 1e-5  # of mixtures, which only guide the policy
NEVER = np.iinfo(np.int64).max


def slot_ages(grid: ArmGrid) -> tuple[int, Ints]:
    """(D, starts): ages 1, ..., D have a slot each; a group of one period begins at each start."""
    arm = grid.arm
    last = arm.mixing_time(SETTLED) if arm.n_states > 1 else 1
    dense = min(last, DENSE)
    starts, age = [dense + 1], float(dense + 1)
    while starts[-1] < last:
        age *= RATIO
        steps = max(1, int(age - starts[-1]) // arm.period)
        starts.append(starts[-1] + steps * arm.period)
    return dense, np.array(starts, dtype=np.int64)


def slots_of(grid: ArmGrid) -> Ints:
    """The age that each slot stands for."""
    dense, starts = slot_ages(grid)
    later = (starts[:, None] + np.arange(grid.arm.period)).ravel()
    return np.concatenate([np.arange(1, dense + 1), later])


def _beliefs(grid: ArmGrid, ages: Ints) -> Floats:
    """(S, ages, S): the belief at each age, by last state."""
    dense = int((ages <= DENSE).sum())
    rows = chains.powers(grid.arm.transitions, max(1, dense))[: len(ages)]
    later = [chains.power(grid.arm.transitions, int(n)) for n in ages[len(rows) :]]
    table = np.concatenate([rows, np.array(later).reshape(-1, *rows.shape[1:])])
    return np.ascontiguousarray(table.transpose(1, 0, 2))


def board_of(layout: Layout, values: Floats, prices: Floats) -> Board:
    """Tables of beliefs and of their places on the grid, for the compiled look ahead.

    prices: what pulling each set pays beside the rewards.
    """
    from restive._kernels.grid_play import Board

    grids, count = layout.grids, len(layout.grids)
    slots = [slots_of(grid) for grid in grids]
    most, states = max(len(part) for part in slots), max(layout.sizes)
    laws = np.zeros((count, states, most, states))
    places = np.zeros((count, states, most, max(2, states)), dtype=np.int64)
    weights, rewards = np.zeros(places.shape), np.zeros((count, states))
    starts = [slot_ages(grid)[1] for grid in grids]
    padded = np.full((count, max(len(part) for part in starts)), NEVER)
    for j, grid in enumerate(grids):
        size, here = grid.arm.n_states, len(slots[j])
        table = _beliefs(grid, slots[j])
        spots = grid.locate((table @ grid.arm.transitions).reshape(-1, size), SLACK)
        shape = (size, here, spots.places.shape[1])
        laws[j, :size, :here, :size] = table
        places[j, :size, :here, : shape[2]] = spots.places.reshape(shape)
        weights[j, :size, :here, : shape[2]] = spots.weights.reshape(shape)
        rewards[j, :size] = grid.arm.rewards
        padded[j, : len(starts[j])] = starts[j]
    return Board(
        values=values,
        begin=np.array(layout.begin[:-1], dtype=np.int64),
        strides=np.array([_strides(layout, part) for part in layout.sets], dtype=np.int64),
        member=np.array([[int(j in part) for j in range(count)] for part in layout.sets]),
        price=prices,
        sizes=np.array(layout.sizes),
        dense=np.array([slot_ages(grid)[0] for grid in grids]),
        period=np.array([grid.arm.period for grid in grids]),
        starts=padded,
        laws=laws,
        places=places,
        weights=weights,
        rewards=rewards,
    )


def _strides(layout: Layout, pulled: tuple[int, ...]) -> list[int]:
    shape, arms = layout.shape(pulled), [*pulled, *layout.others(pulled)]
    steps = {j: prod(shape[i + 1 :]) for i, j in enumerate(arms)}
    return [steps[j] for j in range(len(layout.grids))]
