"""Where the values of a grid process lie: one block for each set of arms just pulled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.many.grid_points import ArmGrid

if TYPE_CHECKING:
    from restive._kernels.grid import Block, Tables


def pull_sets(count: int, pulls: int, rest: bool) -> tuple[tuple[int, ...], ...]:
    """The sets of arms that may be pulled in one step: ``pulls`` arms, or up to that many."""
    sizes = range(pulls, -1, -1) if rest else (pulls,)
    return tuple(part for size in sizes for part in combinations(range(count), size))


@dataclass(frozen=True, eq=False)
class Layout:
    """States of the grid process: (A, outcomes of A, a grid point for every other arm).

    Block A is laid out as [outcomes][points of the outer arms][points of the row arm]. The row
    arm is the one with most points outside A.
    """

    grids: tuple[ArmGrid, ...]
    sets: tuple[tuple[int, ...], ...]

    @cached_property
    def points(self) -> tuple[int, ...]:
        return tuple(grid.size for grid in self.grids)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(grid.arm.n_states for grid in self.grids)

    def others(self, pulled: tuple[int, ...]) -> tuple[int, ...]:
        """Arms outside the set, in the block's order: the one with most points last."""
        rest = [j for j in range(len(self.grids)) if j not in pulled]
        return tuple(sorted(rest, key=lambda j: (self.points[j], j)))

    def shape(self, pulled: tuple[int, ...]) -> tuple[int, ...]:
        """One axis an arm: the states of those pulled, then the points of the others."""
        own = tuple(self.sizes[j] for j in pulled)
        return own + tuple(self.points[j] for j in self.others(pulled))

    @cached_property
    def begin(self) -> tuple[int, ...]:
        """Where each block begins, and where the last one ends."""
        return tuple(np.cumsum([0, *(prod(self.shape(part)) for part in self.sets)]).tolist())

    @property
    def n_states(self) -> int:
        return self.begin[-1]

    def block(self, values: Floats, number: int) -> Floats:
        """View of one block with one axis an arm, as ``shape`` says."""
        part = values[self.begin[number] : self.begin[number + 1]]
        return part.reshape(self.shape(self.sets[number]))

    def entry_shape(self, now: tuple[int, ...], then: tuple[int, ...]) -> tuple[int, ...]:
        arms = [*now, *self.fresh(now, then), *self.ageing(now, then)]
        count = len(arms) - len(self.ageing(now, then))
        return tuple((self.sizes if i < count else self.points)[j] for i, j in enumerate(arms))

    def fresh(self, now: tuple[int, ...], then: tuple[int, ...]) -> tuple[int, ...]:
        """Arms pulled next that were not pulled now, in the block's order (row arm last)."""
        return tuple(j for j in self.others(now) if j in then)

    def ageing(self, now: tuple[int, ...], then: tuple[int, ...]) -> tuple[int, ...]:
        """Arms pulled neither now nor next, in the block's order."""
        return tuple(j for j in self.others(now) if j not in then)

    def entry_cells(self, number: int) -> int:
        now = self.sets[number]
        return sum(prod(self.entry_shape(now, then)) for then in self.sets if then != now)

    def kernel_block(self, number: int) -> Block:
        """The block as the compiled sweep wants it."""
        from restive._kernels.grid import Block

        now = self.sets[number]
        others = self.others(now)
        nexts = [then for then in self.sets if then != now]
        outer, row = others[:-1], (others[-1] if others else -1)
        stay = _product([self.grids[j].arm.transitions for j in now])
        means = [self.grids[j].arm.rewards for j in now]
        parts = [self._entry(now, then, outer, row) for then in nexts]
        width = max(1, len(self.grids))
        most = max([len(part.results) for part in parts], default=1)
        results = np.zeros((len(parts), most, width), dtype=np.int64)
        axes = np.zeros((len(parts), width, 4), dtype=np.int64)
        fresh = np.zeros((len(parts), width), dtype=np.int64)
        for b, part in enumerate(parts):
            results[b, : len(part.results), : len(part.fresh)] = part.results
            axes[b, : len(part.axes)] = np.array(part.axes).reshape(-1, 4)
            fresh[b, : len(part.fresh)] = part.fresh
        return Block(
            outcomes=_ints([len(stay)]),
            outer=_ints(outer),
            digits=_ints([self.points[j] for j in outer]),
            row=_ints([row, self.points[row] if others else 1]),
            stay=stay,
            reward=np.ascontiguousarray(stay @ joint_rewards(means)),
            begin=np.cumsum(_ints([0, *(part.cells for part in parts)])),
            state_stride=_ints([part.state_stride for part in parts]),
            outcome_stride=_ints([part.outcome_stride for part in parts]),
            stride=_ints([part.stride for part in parts]).reshape(len(parts), len(outer)),
            axes=axes,
            n_axes=_ints([len(part.axes) for part in parts]),
            fresh=fresh,
            n_fresh=_ints([len(part.fresh) for part in parts]),
            n_results=_ints([len(part.results) for part in parts]),
            results=results,
            by_row=_ints([self.sizes[row] if row in part.fresh else 0 for part in parts]),
            cut=_ints([_cut(outer, row, part.fresh) for part in parts]),
        )

    def _entry(
        self, now: tuple[int, ...], then: tuple[int, ...], outer: tuple[int, ...], row: int
    ) -> _Entry:
        shape = self.entry_shape(now, then)
        fresh, ageing = self.fresh(now, then), self.ageing(now, then)
        arms = [*now, *fresh, *ageing]
        steps = [prod(shape[i + 1 :]) for i in range(len(shape))]
        results = np.array(list(product(*(range(self.sizes[j]) for j in fresh))), dtype=np.int64)
        count = prod(self.points[j] for j in ageing)
        return _Entry(
            cells=prod(shape),
            state_stride=count * len(results),
            outcome_stride=count,
            stride=[steps[arms.index(j)] if j in ageing else 0 for j in outer],
            axes=[(j, prod(shape[: arms.index(j)]), self.points[j], steps[arms.index(j)])
                  for j in ageing],
            fresh=fresh,
            results=results.reshape(len(results), len(fresh)),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Entry:
    """Index arithmetic of one entry: from the block of one set to that of the next."""

    cells: int
    state_stride: int
    outcome_stride: int
    stride: list[int]
    axes: list[tuple[int, int, int, int]]
    fresh: tuple[int, ...]
    results: Ints


def time_tables(grids: Sequence[ArmGrid], depth: int) -> tuple[Tables, Floats]:
    """Where every grid point is 0, ..., ``depth`` steps later; and each arm's largest error."""
    from restive._kernels.grid import Tables

    sizes = [grid.arm.n_states for grid in grids]
    points, states = max(grid.size for grid in grids), max(sizes)
    shape = (len(grids), depth + 1, points, max(2, states))
    places, weights = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    laws = np.zeros((len(grids), depth + 1, states, points))
    errors = np.zeros(len(grids))
    for j, grid in enumerate(grids):
        beliefs = grid.after(depth)
        spots = grid.locate(beliefs.reshape(-1, sizes[j]))
        width = spots.places.shape[1]
        split = (depth + 1, grid.size, width)
        order = np.argsort(-spots.weights, axis=1, kind="stable")  # those in use come first
        for table, values in ((places, spots.places), (weights, spots.weights)):
            ranked = np.take_along_axis(values, order, axis=1).reshape(split)
            table[j, :, : grid.size, :width] = ranked
        laws[j, :, : sizes[j], : grid.size] = beliefs.transpose(0, 2, 1)
        errors[j] = spots.error
    counts = np.maximum(1, (weights > 0).sum(axis=3))
    return Tables(places, weights, counts, laws), errors


def joint_rewards(means: Sequence[Floats]) -> Floats:
    """Sum of the arms' rewards for each joint state, flat."""
    total = np.zeros(())
    for part in means:
        total = np.add.outer(total, part)
    return np.asarray(total).ravel()


def _cut(outer: tuple[int, ...], row: int, fresh: tuple[int, ...]) -> int:
    """How many outer arms the chances of a pull may depend on."""
    if row in fresh:
        return len(outer)
    return max([outer.index(j) + 1 for j in fresh], default=0)


def _product(laws: Sequence[Floats]) -> Floats:
    joint: Floats = np.ones((1, 1))
    for law in laws:
        joint = np.asarray(np.kron(joint, law), dtype=np.float64)
    return joint


def _ints(numbers: Sequence[int] | Sequence[Sequence[int]]) -> Ints:
    return np.array(numbers, dtype=np.int64)
