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


def keep_best(worth, action, best, policy, margin):
    better = worth > best + margin
    return np.where(better, worth, best), np.where(better, action, policy)


def keep_chosen(worth, action, policy, target):
    return np.where(policy == action, worth, target)
