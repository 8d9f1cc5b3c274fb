"""Blocks of arms planned with clocks: few ages told apart, and both ends certified all the same.

The block alone is planned with hidden tails, for a lower bound and a policy; beside a constant
arm that pays a price with mixed ones, for an upper bound (docs/theory/clocks.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.errors import OutOfTimeError, TooLargeError
from restive.base.machine import memory_allowed
from restive.many.block_bounds import HASTY, BlockBounds, BlockPlanner
from restive.many.blocks import ExactBlocks
from restive.many.clock_sizes import FINEST, BlockSizes
from restive.many.clocks import ArmClock, Choices, HiddenClock, axes
from restive.many.grid_points import slip_cost
from restive.model.bandit import Arm
from restive.policies.policy import Policy

TELLING = 0.002  # loss from which on bounds are of use: a block that gets no further is no gain
SOLVER_SHARE = 0.25  # of the accuracy, for the iteration,
ROUGH = 0.1  # but no less than this share of what the level before has changed
NO_TIME = 0.3  # seconds by forecast
ARRAYS = 22  # what shortcuts remember, what a sweep reads and writes, values of other blocks
SWEEPS = 60  # of a level, about
FIRST_PACE = 3e-9  # seconds a state, arm and sweep
KEPT = 3  # blocks whose solutions are remembered
ADVANCE = 0.5  # of what a level has changed is what the next one promises
TOO_SHORT = 20_000  # states; what takes less says nothing about pace


class ClockPolicy(Policy):
    """What a block's plan with clocks does; ages beyond a clock's are one."""

    def __init__(self, clocks: Sequence[HiddenClock], choices: Choices) -> None:
        self.clocks, self.choices, self.n_arms = tuple(clocks), choices, len(clocks)
        self.sizes = tuple(clock.arm.n_states for clock in clocks)

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        chosen = self.arms(states, ages, last)
        return np.asarray(np.arange(self.n_arms) == chosen[:, None], dtype=np.float64)

    def arms(self, states: Ints, ages: Ints, last: Ints) -> Ints:
        chosen = np.zeros(len(ages), dtype=np.int64)
        places = np.stack([clock.place(states[:, j], np.maximum(ages[:, j], 2))
                           for j, clock in enumerate(self.clocks)])  # fmt: skip
        for arm, order in enumerate(axes(self.clocks)):
            there = last == arm
            index = places[order][:, there]
            index[0] = states[there, arm]
            chosen[there] = np.array(order)[self.choices[arm][tuple(index)]]
        return chosen

    def action(self, last_states: ArrayLike, ages: ArrayLike) -> int:
        """The arm to pull, given the state last seen and the age of every arm."""
        raw = np.array([ages], dtype=np.int64)
        return int(self.arms(np.array([last_states]), raw, raw.argmin(axis=1))[0])


@dataclass(frozen=True, eq=False)
class BlockLevel:
    """A solved block: to go on from at another price or with more ages."""

    loss: float
    change: float  # from the bound of the level before
    clocks: tuple[ArmClock, ...]
    values: list[Floats]
    bound: float
    policy: ClockPolicy | None


class ClockBlocks:
    """The planner of blocks by clocks; ``lower`` is certified without a price, ``upper`` with one.

    deadline: of ``perf_counter``; a plan that is not ready then ends with what is known.
    """

    def __init__(self, memory: int | None = None, deadline: float = np.inf) -> None:
        self.memory, self.deadline = memory_allowed(memory), deadline
        self.patience, self.rate = HASTY, 0.0
        self._pace = FIRST_PACE  # of the latest plan, and of those of one size
        self._paces: dict[tuple[int, bool], float] = {}
        self._block: tuple[Arm, ...] = ()  # of the latest plan, and the latest solutions of that
        # and the blocks before it, without a price and with one
        self._latest: dict[tuple[Arm, ...], dict[bool, BlockLevel]] = {}
        self._known_sizes: dict[tuple[Arm, ...], BlockSizes] = {}

    def seconds(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> float:
        """Forecast of a level that tells something; alone, of one as fine as the block before's.

        Coarse levels of a larger block lower the upper end already; the lower end only rises with
        fine ones. A block that is known goes on from there, as far as its time allows.
        """
        alone, loss = price is None, TELLING
        level = self._latest.get(self._block, {}).get(alone)
        if level is not None and tuple(arms) == self._block:
            loss = level.loss
        elif alone and level is not None and np.isfinite(level.change):
            loss = min(loss, level.loss * max(accuracy / max(level.change, FINEST), 1.0))
        return self._seconds(self._sizes(arms), loss, alone)

    def _sizes(self, arms: Sequence[Arm]) -> BlockSizes:
        key = tuple(arms)
        if key not in self._known_sizes:
            self._known_sizes[key] = BlockSizes(key, self.deadline)
        return self._known_sizes[key]

    def _seconds(self, sizes: BlockSizes, loss: float, alone: bool) -> float:
        blocks = sizes.blocks(loss, alone)
        if 8 * (ARRAYS * sum(blocks) + 4 * max(blocks)) > self.memory:
            return inf
        pace = self._paces.get((len(blocks), alone), self._pace)
        return pace * SWEEPS * sum(blocks) * len(blocks)

    def __call__(
        self, arms: Sequence[Arm], price: float | None, accuracy: float, start: object
    ) -> BlockBounds:
        if tuple(arms) != self._block:
            self._block = tuple(arms)
            self._latest[self._block] = self._latest.pop(self._block, {})  # to the end
            for forgotten in list(self._latest)[:-KEPT]:
                del self._latest[forgotten]
        alone, best, change = price is None, None, inf
        sizes = self._sizes(arms)
        if not np.isfinite(self._seconds(sizes, sizes.first(alone), alone)):
            raise TooLargeError(f"a block of {len(arms)} arms does not fit into memory")
        for level in self._levels(price, accuracy):
            change = level.change
            if best is None or (level.bound > best.bound) == alone:
                best = level
            if change <= 0.5 * accuracy and level.loss <= TELLING:
                break
        if best is None:
            raise OutOfTimeError
        error = change if np.isfinite(change) else accuracy
        if best.policy is None:
            return BlockBounds(max(best.bound - error, 0.0), best.bound, error)
        most = max(float(arm.rewards.max()) for arm in arms)
        return BlockBounds(best.bound, most, error, best.policy)

    def _levels(self, price: float | None, accuracy: float) -> Iterator[BlockLevel]:
        """Finer and finer solutions, from the latest one of this block if there is one."""
        sizes, alone = self._sizes(self._block), price is None
        levels = self._latest[self._block]
        level = levels.get(alone)
        loss = sizes.first(alone) if level is None else level.loss
        if level is not None and alone:
            yield level
            loss = sizes.finer(loss, alone)
        while loss > FINEST:
            left = self.deadline - perf_counter()
            if level is not None:
                share = self.patience if loss < level.loss <= TELLING else 1.0
                ahead = self._seconds(sizes, loss, alone)
                known = np.isfinite(level.change) and loss < level.loss <= TELLING
                if ahead > share * left or (known and ADVANCE * level.change < self.rate * ahead):
                    return
            finer = self._solved(loss, price, accuracy, level)
            if finer is None:
                return
            change = inf if level is None or loss == level.loss else abs(finer.bound - level.bound)
            levels[alone] = level = replace(finer, change=change)
            yield level
            loss = sizes.finer(loss, alone)

    def _solved(
        self, loss: float, price: float | None, accuracy: float, start: BlockLevel | None
    ) -> BlockLevel | None:
        from restive.many.clock_iteration import solve_clocks
        from restive.many.clock_process import ClockProcess

        began, alone = perf_counter(), price is None
        clocks = self._sizes(self._block).clocks(loss, price)
        process = ClockProcess(clocks, alone, self.deadline)
        values = None if start is None else _carried(start, clocks)
        solved = solve_clocks(process, values, solver_error(accuracy, loss, start))
        if solved is None:
            return None
        if process.states > TOO_SHORT:
            self._pace = (perf_counter() - began) / (SWEEPS * process.states * len(clocks))
            self._paces[len(clocks), alone] = self._pace
        if alone:
            hidden = [clock for clock in clocks if isinstance(clock, HiddenClock)]
            policy = ClockPolicy(hidden, solved.policy) if solved.policy else None
            return BlockLevel(loss, inf, clocks, solved.values, solved.lower, policy)
        extra = sum(slip_cost(clock.arm, clock.slip) for clock in clocks)
        return BlockLevel(loss, inf, clocks, solved.values, solved.upper + extra, None)


class QuickBlocks:
    """Blocks planned exactly where that takes no time, and by clocks elsewhere."""

    def __init__(self, memory: int | None = None, deadline: float = np.inf) -> None:
        self.exact, self.clocks = ExactBlocks(memory, deadline), ClockBlocks(memory, deadline)
        self.patience, self.rate = HASTY, 0.0

    def _planner(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> BlockPlanner:
        exact = self.exact.seconds(arms, price, accuracy) <= NO_TIME
        return self.exact if exact else self.clocks

    def seconds(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> float:
        return self._planner(arms, price, accuracy).seconds(arms, price, accuracy)

    def __call__(
        self, arms: Sequence[Arm], price: float | None, accuracy: float, start: object
    ) -> BlockBounds:
        planner = self._planner(arms, price, accuracy)
        planner.patience, planner.rate = self.patience, self.rate
        return planner(arms, price, accuracy, start)


def solver_error(accuracy: float, loss: float, start: BlockLevel | None) -> float:
    """How far from its gain a level may be left, beside what a finer one would change."""
    error = max(SOLVER_SHARE * accuracy, 1e-12)
    if start is not None and loss < start.loss and np.isfinite(start.change):
        return max(error, ROUGH * start.change)
    return error


def _carried(old: BlockLevel, clocks: tuple[ArmClock, ...]) -> list[Floats]:
    """Old values as a start with other clocks: the tail's where ages were not told apart."""
    from restive.many.clock_process import along

    fresh = []
    for known, order, part in zip(axes(old.clocks), axes(clocks), old.values, strict=True):
        part = np.ascontiguousarray(part.transpose([known.index(j) for j in order]))
        for axis, j in enumerate(order[1:], start=1):
            if clocks[j].size != old.clocks[j].size:
                part = along(clocks[j].onto(old.clocks[j]), part, axis)
        fresh.append(part)
    return fresh
