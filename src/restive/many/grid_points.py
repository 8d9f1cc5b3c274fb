"""A few beliefs that stand for all beliefs about one arm, and how others are mixed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.errors import ArgumentError
from restive.many.grid_cells import Cells
from restive.model import chains
from restive.model.bandit import Arm

SAME = 1e-12  # beliefs nearer than this (L1) are one point
INSIDE = 1e-13  # weights above minus this count as not negative
EXACT = 1e-12  # a mixture this near (L1) to its belief is kept without asking for a better one
ROUND = 1e-3  # weight of plain distance beside distance in rewards to come
NEAR_LIMIT = 0.05  # distance from the limit (relative to age 1) of the oldest age at first,
HALF_WAY = 0.4  # and where there is only one age besides age 1


@dataclass(frozen=True, eq=False)
class Places:
    """Beliefs as mixtures of grid points: sum_c weights[q, c] points[places[q, c]]."""

    places: Ints  # (Q, W)
    weights: Floats  # (Q, W), not negative, with sum 1
    error: float  # largest L1 distance of a mixture from its belief


@dataclass(frozen=True, eq=False)
class ArmGrid:
    """Grid beliefs of one arm: e_s P^n for some ages n of each last state s, and the limits.

    ages: for each state the ages that it has points for, ascending from 1. The points of age 1
    come first, one for each state, so that every later belief is a mixture of points:
    b P = sum_s b(s) e_s P. A belief is a belief whichever state it began from, so all points
    serve all mixtures.
    """

    arm: Arm
    ages: tuple[tuple[int, ...], ...]

    def __init__(self, arm: Arm, ages: Sequence[Sequence[int]]) -> None:
        object.__setattr__(self, "arm", arm)
        tidy = tuple(tuple(sorted({1, *(int(n) for n in part)})) for part in ages)
        if len(tidy) != arm.n_states or min(part[0] for part in tidy) < 1:
            raise ArgumentError(
                f"ages: give one list of ages from 1 on for each state, not {ages!r}"
            )
        object.__setattr__(self, "ages", tidy)

    @cached_property
    def points(self) -> Floats:
        """(G, S): the beliefs, those of age 1 first."""
        p = self.arm.transitions
        rows = [p[s] for s in range(self.arm.n_states)]
        powers = {n: chains.power(p, n) for n in sorted({n for part in self.ages for n in part})}
        later = [powers[n][s] for s, part in enumerate(self.ages) for n in part[1:]]
        limits = [row for n in range(1, self.arm.period + 1) for row in chains.limit_rows(p, n)]
        for row in later + limits:
            if np.abs(np.array(rows) - row).sum(axis=1).min() > SAME:
                rows.append(row)
        return np.array(rows)

    @property
    def size(self) -> int:
        return len(self.points)

    def after(self, steps: int) -> Floats:
        """(steps + 1, G, S): every point's belief 0, ..., ``steps`` steps later."""
        powers = np.eye(self.arm.n_states)[None]
        if steps:
            powers = np.concatenate([powers, chains.powers(self.arm.transitions, steps)])
        return np.asarray(self.points @ powers)

    def locate(self, beliefs: ArrayLike, slack: float = 0.0) -> Places:
        """Beliefs (Q, S) of this arm at ages from 1 on as mixtures of near points.

        slack: how far off mixtures may be, where bounds do not depend on them.
        """
        queries = np.asarray(beliefs, dtype=np.float64)
        if self.arm.n_states == 1:
            zeros = np.zeros((len(queries), 1), dtype=np.int64)
            return Places(zeros, np.ones(zeros.shape), 0.0)
        flat = self.arm.n_states == 2
        places, weights = (
            self._on_segment(queries[:, 1]) if flat else self._in_cells(queries, slack)
        )
        mixture = np.einsum("qc,qcs->qs", weights, self.points[places])
        return Places(
            places, weights, float(np.abs(mixture - queries).sum(axis=1).max(initial=0.0))
        )

    def _on_segment(self, queries: Floats) -> tuple[Ints, Floats]:
        """Two states: the two neighbours on the segment of beliefs."""
        order = np.argsort(self.points[:, 1], kind="stable")
        heights = self.points[order, 1]
        if len(order) == 1 or heights[-1] - heights[0] <= SAME:
            zeros = np.zeros((len(queries), 2), dtype=np.int64)
            return zeros, np.repeat([[1.0, 0.0]], len(queries), axis=0)
        right = np.clip(np.searchsorted(heights, queries, side="left"), 1, len(order) - 1)
        width = heights[right] - heights[right - 1]
        share = np.where(width > 0, (queries - heights[right - 1]) / np.where(width, width, 1), 1.0)
        share = np.clip(share, 0.0, 1.0)
        places = np.stack([order[right - 1], order[right]], axis=1)
        return places, np.stack([1 - share, share], axis=1)

    def _in_cells(self, queries: Floats, slack: float) -> tuple[Ints, Floats]:
        """The mixture of least sum_g w_g |g - b|^2, by small linear programs.

        The cost is sum_g w_g |g|^2 up to a constant, so whether a set of points is the best one
        does not depend on the belief, only whether the belief lies in its hull: each program
        settles all beliefs in one cell.
        """
        size = self.arm.n_states
        places = np.zeros((len(queries), size), dtype=np.int64)
        weights = np.zeros((len(queries), size))
        waiting = np.arange(len(queries))
        while len(waiting):
            cell = self._cell(queries[waiting[0]])
            mixed = queries[waiting] @ np.linalg.pinv(self.points[cell])
            left = np.abs(mixed @ self.points[cell] - queries[waiting]).sum(axis=1)
            inside = (mixed.min(axis=1) >= -INSIDE - slack) & (left <= EXACT + slack)
            first, inside[0] = bool(inside[0]), True
            clipped = np.maximum(mixed[inside], 0.0)
            places[waiting[inside], : len(cell)] = cell
            weights[waiting[inside], : len(cell)] = clipped / clipped.sum(axis=1, keepdims=True)
            if not first:  # rounding tells points of this cell hardly apart
                places[waiting[0]], weights[waiting[0]] = self._nearest(
                    queries[waiting[0]], places[waiting[0]], weights[waiting[0]]
                )
            waiting = waiting[~inside]
        return places, weights

    def _nearest(self, belief: Floats, places: Ints, weights: Floats) -> tuple[Ints, Floats]:
        """Of this mixture, one of the points of age 1 and one by least squares the best.

        The most exact one, but of those that are exact but for rounding the cheapest.
        """
        from scipy.optimize import nnls

        def rank(mixture: tuple[Ints, Floats]) -> tuple[float, float]:
            distance = float(np.abs(mixture[1] @ self.points[mixture[0]] - belief).sum())
            return max(distance, EXACT), float(mixture[1] @ self._costs[mixture[0]])

        size = self.arm.n_states
        mixtures = [(places, weights)]
        for count in (size, self.size):
            shares = nnls(self.points[:count].T, belief)[0]
            largest = np.argsort(-shares, kind="stable")[:size]
            mixtures.append((largest, shares[largest] / shares[largest].sum()))
        return min(mixtures, key=rank)

    def _cell(self, belief: Floats) -> Ints:
        """The points that make up this belief at the least cost."""
        there = np.flatnonzero(self.phases == self.arm.cyclic_class[np.argmax(belief)])
        phase = int(self.phases[there[0]])
        if phase not in self._cells:
            self._cells[phase] = Cells(self.points[there], self._costs[there])
        return there[self._cells[phase].cheapest(belief)]

    @cached_property
    def _cells(self) -> dict[int, Cells]:
        return {}

    @cached_property
    def phases(self) -> Ints:
        """(G,): the cyclic class on which each point lies."""
        return np.asarray(self.arm.cyclic_class[np.argmax(self.points, axis=1)])

    @cached_property
    def _costs(self) -> Floats:
        """|g|^2 of each point, in rewards to be expected at several later times."""
        law, step = self.arm.stationary, np.array(self.arm.transitions)
        rewards = self.arm.rewards - law @ self.arm.rewards
        costs = ROUND * (self.points**2).sum(axis=1)
        for _ in range(12):
            costs = costs + (self.points @ rewards) ** 2
            rewards = step @ rewards
            step = step @ step
        return np.asarray(costs)


def first_ages(arm: Arm, count: int) -> tuple[tuple[int, ...], ...]:
    """``count`` ages for each state, about geometric up to where the belief has nearly settled.

    A periodic arm has that many in each of its phases.
    """
    if arm.n_states == 1:
        return ((1,),)
    start = float(chains.distance_to_limit(arm.transitions, 1).max())
    if start <= SAME:
        return ((1,),) * arm.n_states
    near = HALF_WAY if count == 2 else NEAR_LIMIT
    oldest = arm.mixing_time(max(near * start, 1e-9)) // arm.period + 1
    steps = np.unique(np.round(np.geomspace(1, max(oldest, 2), max(count, 2))).astype(np.int64))
    ages = (steps[:, None] - 1) * arm.period + 1 + np.arange(arm.period)
    return (tuple(int(n) for n in np.unique(ages)),) * arm.n_states


def slip_cost(arm: Arm, slip: float) -> float:
    """What a belief about this arm that is off by ``slip`` (L1) in every step takes from a gain.

    It changes no value by more than slip/2 times the rewards that an arm can lose until two
    copies of it have met, at most span(r) 4/3 Tmix (docs/theory/grids.md).
    """
    if arm.n_states == 1:
        return 0.0
    return 0.5 * slip * 4 / 3 * arm.mixing_time(0.25) * float(np.ptp(arm.rewards))
