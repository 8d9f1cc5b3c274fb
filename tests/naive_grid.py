"""A slow, readable grid process: dictionaries of states, loops over outcomes, dense matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from restive.model.bandit import Arm

__all__ = ["NaiveGrid", "neighbours"]

Array = NDArray[np.float64]
Mixture = list[tuple[int, float]]
State = tuple[tuple[int, ...], tuple[int, ...], int]  # (pulled, state or point of each arm, phase)


def neighbours(points: Array, belief: Array) -> Mixture:
    """Two states: the belief as a mixture of the nearest points on either side."""
    height = belief[1]
    below = [g for g in range(len(points)) if points[g][1] <= height + 1e-15]
    above = [g for g in range(len(points)) if points[g][1] >= height - 1e-15]
    low = max(below, key=lambda g: points[g][1])
    high = min(above, key=lambda g: points[g][1])
    width = points[high][1] - points[low][1]
    if width <= 0:
        return [(low, 1.0)]
    share = (height - points[low][1]) / width
    return [(low, 1 - share), (high, share)]


class NaiveGrid:
    """Stays are spelled out: a state for every phase 0, ..., depth - 1 of a stay."""

    def __init__(
        self,
        arms: Sequence[Arm],
        points: Sequence[Array],
        mix: Sequence[dict[bytes, Mixture]] | None,
        pulls: int,
        depth: int,
        rest: float | None = None,
    ) -> None:
        self.arms, self.points, self.depth, self.rest, self.pulls = arms, points, depth, rest, pulls
        self.mix = mix
        sizes = range(pulls + 1) if rest is not None else [pulls]
        self.sets = [part for size in sizes for part in combinations(range(len(arms)), size)]
        self.number: dict[State, int] = {}
        for pulled in self.sets:
            options = [range(arm.n_states) if j in pulled else range(len(points[j]))
                       for j, arm in enumerate(arms)]  # fmt: skip
            for where in product(*options):
                for phase in range(depth):
                    self.number[pulled, where, phase] = len(self.number)

    def belief(self, state: State, arm: int) -> Array:
        pulled, where, phase = state
        p = self.arms[arm].transitions
        if arm in pulled:
            return np.asarray(p[where[arm]])
        return np.asarray(self.points[arm][where[arm]] @ np.linalg.matrix_power(p, phase))

    def mixture(self, arm: int, belief: Array) -> Mixture:
        if self.mix is None:
            return neighbours(self.points[arm], belief)
        return self.mix[arm][belief.round(9).tobytes()]

    def matrices(self) -> tuple[Array, Array]:
        """P[A, x, y] and r[A, x] over all states and phases."""
        size = len(self.number)
        P, r = np.zeros((len(self.sets), size, size)), np.zeros((len(self.sets), size))
        for state, x in self.number.items():
            for a, then in enumerate(self.sets):
                for y, chance, reward in self.outcomes(state, then):
                    P[a, x, y] += chance
                    r[a, x] += chance * reward
        return P, r

    def outcomes(self, state: State, then: tuple[int, ...]) -> list[tuple[int, float, float]]:
        """(next state, probability, reward) of pulling the set ``then``."""
        pulled, where, phase = state
        stays = then == pulled and phase + 1 < self.depth
        options: list[list[tuple[int, float, float]]] = []
        for j, arm in enumerate(self.arms):
            belief = self.belief(state, j)
            if j in then:
                options.append([(s, belief[s], arm.rewards[s]) for s in range(arm.n_states)])
            elif stays:
                options.append([(where[j], 1.0, 0.0)])
            else:
                after = belief @ arm.transitions
                options.append([(g, w, 0.0) for g, w in self.mixture(j, after)])
        price = 0.0 if self.rest is None else self.rest * (self.pulls - len(then))
        successors = []
        for choice in product(*options):
            spots, chances, rewards = zip(*choice, strict=True)
            y = self.number[then, spots, phase + 1 if stays else 0]
            successors.append((y, float(np.prod(chances)), float(sum(rewards)) + price))
        return successors
