"""Blocks of arms with several pulls a step, planned with clocks: both ends certified.

The block alone is planned with hidden tails, for a lower bound and a policy; with pulls that need
not be used and then earn the price, with mixed ones, for an upper bound (docs/theory/prices.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf, prod
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.errors import TooLargeError
from restive.many.block_bounds import BlockBounds
from restive.many.clock_ages import ArmUse, arm_uses
from restive.many.clock_blocks import SWEEPS, TOO_SHORT, BlockLevel, ClockBlocks, solver_error
from restive.many.clock_sizes import BlockSizes
from restive.many.clocks import (
    ArmClock,
    Choices,
    HiddenClock,
    pull_order,
    pull_sets,
    set_count,
)
from restive.many.grid_points import slip_cost
from restive.model.bandit import Arm
from restive.policies.policy import Policy

if TYPE_CHECKING:
    from restive.many.pulls_process import SetProcess

Sets = tuple[tuple[int, ...], ...]

MOST_SETS = 255  # that choices can name; beyond, blocks are too large anyway
SAME = 1e-9  # change of a bound that is none


class PullsClockPolicy(Policy):
    """What a block's plan with clocks does; ages beyond a clock's are one."""

    def __init__(self, clocks: Sequence[HiddenClock], sets: Sets, choices: Choices) -> None:
        self.clocks, self.choices, self.n_arms = tuple(clocks), choices, len(clocks)
        self.sets, self.sizes = sets, tuple(clock.arm.n_states for clock in clocks)
        self.order = pull_order(self.clocks)
        self._members = np.array([np.isin(np.arange(self.n_arms), part) for part in sets])

    @property
    def most_pulls(self) -> int:
        return len(self.sets[0])

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        return self._members[self._numbers(states, ages)].astype(np.float64)

    def action(self, last_states: ArrayLike, ages: ArrayLike) -> tuple[int, ...]:
        """The arms to pull, given the state last seen and the age of every arm."""
        return self.sets[int(self._numbers(np.array([last_states]), np.array([ages]))[0])]

    def _numbers(self, states: Ints, ages: Ints) -> Ints:
        """The set to pull in each of n situations; the arms seen last are those pulled last."""
        latest = np.sort(np.argsort(ages, axis=1, kind="stable")[:, : self.most_pulls], axis=1)
        places = np.stack([clock.place(states[:, j], np.maximum(ages[:, j], 2))
                           for j, clock in enumerate(self.clocks)], axis=1)  # fmt: skip
        chosen = np.zeros(len(ages), dtype=np.int64)
        for number, now in enumerate(self.sets):
            there = (latest == now).all(axis=1)
            spots = np.where(self._members[number], states[there], places[there])
            chosen[there] = self.choices[number][tuple(spots[:, self.order].T)]
        return chosen


class PullsBlocks(ClockBlocks):
    """The planner of blocks by clocks where ``pulls`` arms are pulled a step.

    Without a price as many as there are up to that, beside one at most so many; the rest of the
    pulls then earn the price.
    """

    def __init__(self, pulls: int, memory: int | None = None, deadline: float = inf) -> None:
        super().__init__(memory, deadline)
        self.pulls = pulls

    def __call__(
        self, arms: Sequence[Arm], price: float | None, accuracy: float, start: object
    ) -> BlockBounds:
        if set_count(len(arms), self.pulls, price) > MOST_SETS:
            raise TooLargeError(f"{self.pulls} of {len(arms)} arms are more than {MOST_SETS} sets")
        bounds = super().__call__(arms, price, accuracy, start)
        if price is not None:
            return bounds
        return replace(bounds, upper=min(self.pulls, len(arms)) * bounds.upper)

    def seconds(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> float:
        if set_count(len(arms), self.pulls, price) > MOST_SETS:
            return inf
        return super().seconds(arms, price, accuracy)

    def _sizes(self, arms: Sequence[Arm]) -> BlockSizes:
        key = tuple(arms)
        if key not in self._known_sizes:
            self._known_sizes[key] = _PullsSizes(key, self.deadline, self.pulls)
        return self._known_sizes[key]

    def _levels(self, price: float | None, accuracy: float) -> Iterator[BlockLevel]:
        """That a policy did not change says little while it leaves alone an arm hardly told apart.

        What doing without more ages may cost stands for the change then.
        """
        for level in super()._levels(price, accuracy):
            still = price is None and level.change < SAME
            yield replace(level, change=level.loss) if still else level

    def _solved(
        self, loss: float, price: float | None, accuracy: float, start: BlockLevel | None
    ) -> BlockLevel | None:
        from restive.many.clock_iteration import solve_clocks
        from restive.many.pulls_process import SetProcess

        began, alone = perf_counter(), price is None
        clocks = self._sizes(self._block).clocks(loss, price)
        process = SetProcess(clocks, self.pulls, price, self.deadline)
        values = None if start is None else _carried(start, clocks, process)
        solved = solve_clocks(process, values, solver_error(accuracy, loss, start))
        if solved is None:
            return None
        if process.states > TOO_SHORT:
            self._pace = (perf_counter() - began) / (SWEEPS * process.states * process.count)
            self._paces[process.count, alone] = self._pace
        if alone:
            hidden = [clock for clock in clocks if isinstance(clock, HiddenClock)]
            choices = solved.policy
            policy = PullsClockPolicy(hidden, process.sets, choices) if choices else None
            return BlockLevel(loss, inf, clocks, solved.values, solved.lower, policy)  # type: ignore[arg-type]
        extra = sum(slip_cost(clock.arm, clock.slip) for clock in clocks)
        return BlockLevel(loss, inf, clocks, solved.values, solved.upper + extra, None)


class _PullsSizes(BlockSizes):
    """What a block tells apart, and how many states that makes."""

    def __init__(self, arms: Sequence[Arm], deadline: float, pulls: int) -> None:
        super().__init__(arms, deadline)
        self.pulls = pulls

    @cached_property
    def uses(self) -> list[ArmUse]:
        return arm_uses(self.arms, self.deadline, self.pulls)

    def clocks(self, loss: float, price: float | None) -> tuple[ArmClock, ...]:
        """The arms' own; no arm pays the price."""
        clocks = super().clocks(loss, price)
        return clocks if price is None else clocks[1:]

    def blocks(self, loss: float, alone: bool) -> list[int]:
        """States after each set of arms."""
        if (loss, alone) not in self._seen:
            sizes = [use.count(loss, alone) for use in self.uses]
            self._seen[loss, alone] = [
                prod(self.arms[j].n_states if j in now else size for j, size in enumerate(sizes))
                for now in pull_sets(len(sizes), self.pulls, None if alone else 0.0)
            ]
        return self._seen[loss, alone]


def _carried(old: BlockLevel, clocks: tuple[ArmClock, ...], process: SetProcess) -> list[Floats]:
    """Old values as a start with other clocks: the tail's where ages were not told apart."""
    from restive.many.clock_process import along

    fresh, known = [], pull_order(old.clocks)
    for now, part in zip(process.sets, old.values, strict=True):
        part = np.ascontiguousarray(part.transpose([known.index(j) for j in process.order]))
        for axis, j in enumerate(process.order):
            if j not in now and clocks[j].size != old.clocks[j].size:
                part = along(clocks[j].onto(old.clocks[j]), part, axis)
        fresh.append(part)
    return fresh
