"""Blocks with clocks, state by state: slow twins of the compiled backups."""

from itertools import product

import numpy as np


def mix(matrix, values, axis):
    return np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)


def pull(clocks, values, last, arm, state):
    """Reward and value one step later of pulling ``arm`` in one state, by all that can happen."""
    size = clocks[arm].arm.n_states
    law = (clocks[arm].arm.transitions if arm == last else clocks[arm].shown)[state[arm]]
    total = 0.0
    for outcome in range(size):
        nexts = []
        for j, clock in enumerate(clocks):
            if j == arm:
                nexts.append([(outcome, 1.0)])
            else:
                row = (clock.first if j == last else clock.older)[state[j]]
                nexts.append([(z, row[z]) for z in np.flatnonzero(row)])
        later = sum(np.prod([w for _, w in way]) * values[arm][tuple(z for z, _ in way)]
                    for way in product(*nexts))  # fmt: skip
        total += law[outcome] * (clocks[arm].arm.rewards[outcome] + later)
    return total


def worths(clocks, values, order):
    """What every pull is worth in every state after one of ``order[0]``; arrays along ``order``.

    values: of every arm pulled last, along arms by number, the state of the arm pulled last.
    """
    last = order[0]
    shape = [clocks[j].arm.n_states if j == last else clocks[j].size for j in order]
    worth = np.empty((len(order), *shape))
    for spots in product(*map(range, shape)):
        state = dict(zip(order, spots, strict=True))
        for way, arm in enumerate(order):
            worth[(way, *spots)] = pull(clocks, values, last, arm, state)
    return worth


def blindfolded(clocks, worth, order):
    """The same to who does not see hidden states: their mean."""
    for axis, j in enumerate(order[1:], start=2):
        worth = mix(clocks[j].blind, worth, axis)
    return worth
