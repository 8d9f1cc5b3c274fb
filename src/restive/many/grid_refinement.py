"""Where more grid points would lower the bound most, judged at states that play visits."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.many.grid_points import ArmGrid
from restive.model import chains

if TYPE_CHECKING:
    from restive.many.grid import GridPlan

Cell = tuple[int, int, int]  # (arm, last state, age at which the cell begins)
AgeLists = tuple[tuple[tuple[int, ...], ...], ...]

NEAR = 1e-9  # a cell narrower than this (L1) is not split


def refined_ages(plan: GridPlan, visits: Ints, growth: float) -> AgeLists:
    """The plan's ages and some more: the most useful ones until the states grow by ``growth``.

    visits: (V, 1 + 2 K) states (set, last states, ages) of the plan's policy at play.
    """
    ranking = scores(plan, visits)
    ages = [[list(part) for part in arm] for arm in plan.ages]
    points = list(plan.sizes)
    grown = 1.0
    # a point of an arm with many points adds a smaller share to the states
    worth = sorted(ranking, key=lambda cell: -ranking[cell] * points[cell[0]])
    for arm, state, age in worth:
        fresh = _between(plan.layout.grids[arm], state, age)
        if fresh is None:
            continue
        share = 1 + (1 - plan.pulls / len(points)) / points[arm]
        if grown * share > growth:
            break
        grown *= share
        points[arm] += 1
        ages[arm][state].append(fresh)
    return tuple(tuple(tuple(sorted(part)) for part in arm) for arm in ages)


def scores(plan: GridPlan, visits: Ints) -> dict[Cell, float]:
    """About what interpolation between two ages adds to the values, summed over the visits.

    At each visited state the values are read along one arm's ages, all other arms at their true
    beliefs. The excess of the chord over the parabola through three neighbours is the score.
    """
    curves = _Curves(plan)
    total: dict[Cell, float] = defaultdict(float)
    count = len(plan.arms)
    for row in visits:
        b, lasts, ages = int(row[0]), row[1 : 1 + count], row[1 + count :]
        for arm in range(count):
            if arm not in plan.layout.sets[b] and plan.arms[arm].n_states > 1:
                cell, excess = curves.excess(b, lasts, ages, arm)
                total[cell] += excess
    return dict(total)


class _Curves:
    """Values along the ages of one arm, read off a plan."""

    def __init__(self, plan: GridPlan) -> None:
        self.plan, self.board, self.grids = plan, plan.board, plan.layout.grids
        self._nodes: dict[tuple[int, int, int], tuple[Ints, Ints, Floats]] = {}

    def nodes(self, arm: int, state: int, age: int) -> tuple[Ints, Ints, Floats]:
        """Ages in the phase of ``age``, the limit last; their points; how far along they lie."""
        grid = self.grids[arm]
        phase = age % grid.arm.period
        key = (arm, state, phase)
        if key not in self._nodes:
            ages = np.array([n for n in grid.ages[state] if n % grid.arm.period == phase])
            rows = [chains.power(grid.arm.transitions, int(n))[state] for n in ages]
            rows.append(chains.limit_rows(grid.arm.transitions, phase)[state])
            beliefs = np.array(rows)
            near = np.abs(beliefs[:, None] - grid.points).sum(axis=2).argmin(axis=1)
            steps = np.abs(np.diff(beliefs, axis=0)).sum(axis=1)
            self._nodes[key] = ages, near, np.concatenate([[0.0], np.cumsum(steps)])
        return self._nodes[key]

    def excess(self, b: int, lasts: Ints, ages: Ints, arm: int) -> tuple[Cell, float]:
        state, age = int(lasts[arm]), int(ages[arm])
        known, points, along = self.nodes(arm, state, age)
        left = int(np.searchsorted(known, age, side="right")) - 1
        cell = (arm, state, int(known[max(left, 0)]) if len(known) else age)
        if left < 0 or left + 1 >= len(along):
            return cell, 0.0
        belief = self._belief(arm, state, age)
        here = along[left] + float(np.abs(belief - self.grids[arm].points[points[left]]).sum())
        trio = [left - 1, left, left + 1] if left > 0 else [left, left + 1, left + 2]
        trio = [i for i in trio if i < len(along)]
        x, v = along[trio], self._profile(b, lasts, ages, arm)[points[trio]]
        if len(trio) < 3 or np.diff(x).min() <= NEAR or not along[left] < here < along[left + 1]:
            return cell, 0.0
        first = (v[1] - v[0]) / (x[1] - x[0])
        bend = ((v[2] - v[1]) / (x[2] - x[1]) - first) / (x[2] - x[0])
        return cell, max(0.0, bend * (here - along[left]) * (along[left + 1] - here))

    def _belief(self, arm: int, state: int, age: int) -> Floats:
        slot = min(age, self.board.laws.shape[2], int(self.board.dense[arm])) - 1
        return np.asarray(self.board.laws[arm, state, slot, : self.grids[arm].arm.n_states])

    def _profile(self, b: int, lasts: Ints, ages: Ints, arm: int) -> Floats:
        """Values over the arm's grid points, all other arms at their true beliefs."""
        board, pulled = self.board, self.plan.layout.sets[b]
        size = self.grids[arm].size
        along = np.arange(size) * board.strides[b, arm] + board.begin[b]
        spots, shares = np.zeros(1, dtype=np.int64), np.ones(1)
        for j in range(len(lasts)):
            if j == arm:
                continue
            if j in pulled:
                spots = spots + lasts[j] * board.strides[b, j]
                continue
            slot = min(int(ages[j]) - 1, int(board.dense[j])) - 1  # tables are one step ahead
            place = board.places[j, lasts[j], max(slot, 0)] * board.strides[b, j]
            share = board.weights[j, lasts[j], max(slot, 0)]
            spots = (spots[:, None] + place).ravel()
            shares = (shares[:, None] * share).ravel()
        used = shares > 1e-9
        return np.asarray(shares[used] @ board.values[spots[used][:, None] + along])


def _between(grid: ArmGrid, state: int, age: int) -> int | None:
    """The age whose belief is half-way from ``age`` to the next one on the grid, or the limit."""
    p, period = grid.arm.transitions, grid.arm.period
    later = [n for n in grid.ages[state] if n > age and (n - age) % period == 0]
    begin = chains.power(p, age)[state]
    end = chains.power(p, later[0])[state] if later else chains.limit_rows(p, age)[state]
    width = float(np.abs(end - begin).sum())
    low, high = 0, (later[0] - age) // period if later else 1
    if not later:
        while float(np.abs(chains.power(p, age + high * period)[state] - begin).sum()) < width / 2:
            high *= 2
            if high > 2**40:
                return None
    if width <= NEAR or (later and high < 2):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        moved = float(np.abs(chains.power(p, age + middle * period)[state] - begin).sum())
        low, high = (middle, high) if moved < width / 2 else (low, middle)
    return age + max(1, low) * period
