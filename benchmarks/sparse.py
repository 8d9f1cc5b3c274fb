"""The same MDP as restive plans on, as plain arrays that any solver can take.

Built by index arithmetic of its own, so that agreement with restive is a check and not a tautology.
All arms here are aperiodic, with one cap for all: an age n >= cap is stored as cap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from restive.model.bandit import Arm, Bandit

__all__ = ["SparseMDP", "build", "rows", "span_bounds"]


@dataclass(frozen=True)
class SparseMDP:
    """K actions, N states, S outcomes of every pull."""

    successors: NDArray[np.int32]  # (K, N, S)
    probabilities: NDArray[np.float64]  # (K, N, S)
    rewards: NDArray[np.float64]  # (K, N)

    @property
    def n_states(self) -> int:
        return int(self.rewards.shape[1])

    def matrix(self, action: int | None = None) -> csr_array:
        """Transitions of one action, (N, N), or of all of them one below the other, (K N, N)."""
        chosen = slice(None) if action is None else slice(action, action + 1)
        data, columns = self.probabilities[chosen], self.successors[chosen]
        outcomes = data.shape[2]
        starts = np.arange(0, data.size + 1, outcomes, dtype=np.int32)
        shape = (data.size // outcomes, self.n_states)
        return csr_array((data.ravel(), columns.ravel(), starts), shape=shape)


def build(bandit: Bandit, cap: int) -> SparseMDP:
    """All information states with one age 1 and the others distinct (or at the cap)."""
    size, count = bandit.n_states[0], bandit.n_arms
    states, ages = _information_states(count, size, cap)
    number = np.full((size * cap) ** count, -1, dtype=np.int32)
    number[_code(states, ages, size, cap)] = np.arange(len(ages), dtype=np.int32)
    shape = (count, len(ages), size)
    successors, probabilities = np.empty(shape, dtype=np.int32), np.empty(shape)
    rewards = np.empty(shape[:2])
    for j, arm in enumerate(bandit.arms):
        probabilities[j] = rows(arm, cap)[ages[:, j] - 1, states[:, j]]
        rewards[j] = probabilities[j] @ arm.rewards
        older = np.minimum(ages + 1, cap)
        older[:, j] = 1
        for outcome in range(size):
            seen = states.copy()
            seen[:, j] = outcome
            successors[j, :, outcome] = number[_code(seen, older, size, cap)]
    if successors.min() < 0:
        raise ArithmeticError("the set of information states is not closed")
    return SparseMDP(successors, probabilities, rewards)


def _information_states(
    count: int, size: int, cap: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Last states and stored ages of every information state, both (N, K)."""
    others = np.indices((cap - 1,) * (count - 1)).reshape(count - 1, -1).T + 2
    ordered = np.sort(others, axis=1)
    distinct = (np.diff(ordered, axis=1) > 0) | (ordered[:, 1:] == cap)
    others = others[distinct.all(axis=1)]
    ages = np.concatenate([np.insert(others, last, 1, axis=1) for last in range(count)])
    seen = np.indices((size,) * count).reshape(count, -1).T
    return np.tile(seen, (len(ages), 1)), np.repeat(ages, len(seen), axis=0)


def _code(
    states: NDArray[np.int64], ages: NDArray[np.int64], size: int, cap: int
) -> NDArray[np.int64]:
    code = np.zeros(len(ages), dtype=np.int64)
    for j in range(ages.shape[1]):
        code = code * (size * cap) + states[:, j] * cap + ages[:, j] - 1
    return code


def rows(arm: Arm, cap: int) -> NDArray[np.float64]:
    """P^1, ..., P^(cap - 1) and then the stationary law, (cap, S, S)."""
    table = np.empty((cap, *arm.transitions.shape))
    current = np.eye(arm.n_states)
    for age in range(cap - 1):
        current = current @ arm.transitions
        table[age] = current / current.sum(axis=1, keepdims=True)
    table[cap - 1] = arm.stationary
    return table


def span_bounds(mdp: SparseMDP, values: NDArray[np.float64]) -> tuple[float, float]:
    """Odoni bounds min(Th - h) <= gain <= max(Th - h) of any values, one action at a time."""
    best = np.full(mdp.n_states, -np.inf)
    for a, reward in enumerate(mdp.rewards):
        np.maximum(best, reward + mdp.matrix(a) @ values, out=best)
    change = best - values
    return float(change.min()), float(change.max())
