"""Blocks of arms planned with clocks: few ages told apart, and both ends certified all the same.

The block alone is planned with hidden tails, for a lower bound and a policy; beside a constant
arm that pays a price with mixed ones, for an upper bound (docs/theory/clocks.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, prod
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.errors import OutOfTimeError, TooLargeError
from restive.base.machine import memory_allowed
from restive.many.block_bounds import HASTY, BlockBounds, BlockPlanner
from restive.many.blocks import ExactBlocks
from restive.many.clock_ages import OLDEST, ArmUse, arm_uses
from restive.many.clocks import (
    ArmClock,
    Choices,
    HiddenClock,
    axes,
    hidden_clock,
    mixed_clock,
    resting,
)
from restive.many.grid_points import slip_cost
from restive.model.bandit import Arm
from restive.policies.policy import Policy

FIRST_LOSS, FIRST_LEAST = 0.02, 0.002  # of a first level: from this one down to that,
FIRST_STATES = 4_000  # until there are so many
TELLING = 0.002  # loss from which on bounds are of use: a block that gets no further is no gain
FINER = 0.9  # in steps of this, until the states have grown
GROWTH = 2.0  # by so much from one level to the next
FINEST = 1e-14
SOLVER_SHARE = 0.25  # of the accuracy, for the iteration
NO_TIME = 0.3  # seconds by forecast
ARRAYS = 13  # values, fresh ones, those that shortcuts remember, and what a sweep reads
SWEEPS = 60  # of a level, about
FIRST_PACE = 6e-9  # seconds a state, arm and sweep
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
class _Level:
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
        self.patience = HASTY
        self._pace = FIRST_PACE  # of the latest plan, and of those of one size
        self._paces: dict[tuple[int, bool], float] = {}
        self._block: tuple[Arm, ...] = ()  # of the latest plan, and the latest solutions of that
        # and the block before it, without a price and with one
        self._latest: dict[tuple[Arm, ...], dict[bool, _Level]] = {}
        self._known_sizes: dict[tuple[Arm, ...], _Sizes] = {}

    def seconds(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> float:
        """Forecast of a level that is so accurate, going by the block before.

        A block that is known goes on from there, as far as its time allows.
        """
        alone, loss = price is None, TELLING
        level = self._latest.get(self._block, {}).get(alone)
        if level is not None and tuple(arms) == self._block:
            loss = level.loss
        elif level is not None and np.isfinite(level.change):
            loss = min(loss, level.loss * accuracy / max(level.change, FINEST))
        return self._seconds(self._sizes(arms), loss, alone)

    def _sizes(self, arms: Sequence[Arm]) -> _Sizes:
        key = tuple(arms)
        if key not in self._known_sizes:
            self._known_sizes[key] = _Sizes(key, self.deadline)
        return self._known_sizes[key]

    def _seconds(self, sizes: _Sizes, loss: float, alone: bool) -> float:
        blocks = sizes.blocks(loss, alone)
        if 8 * (ARRAYS * sum(blocks) + 4 * max(blocks)) > self.memory:
            return inf
        pace = self._paces.get((len(blocks), alone), self._pace)
        return pace * SWEEPS * sum(blocks) * len(blocks)

    def __call__(
        self, arms: Sequence[Arm], price: float | None, accuracy: float, start: object
    ) -> BlockBounds:
        if tuple(arms) != self._block:
            before, self._block = self._block, tuple(arms)
            self._latest = {arms: self._latest.get(arms, {}) for arms in (before, self._block)}
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

    def _levels(self, price: float | None, accuracy: float) -> Iterator[_Level]:
        """Finer and finer solutions, from the latest one of this block if there is one."""
        sizes, alone = self._sizes(self._block), price is None
        known = self._latest[self._block]
        level = known.get(alone)
        loss = sizes.first(alone) if level is None else level.loss
        if level is not None and alone:
            yield level
            loss = sizes.finer(loss, alone)
        while loss > FINEST:
            left = self.deadline - perf_counter()
            if level is not None:
                share = self.patience if loss < level.loss <= TELLING else 1.0
                if self._seconds(sizes, loss, alone) > share * left:
                    return
            finer = self._solved(loss, price, accuracy, level)
            if finer is None:
                return
            change = inf if level is None or loss == level.loss else abs(finer.bound - level.bound)
            known[alone] = level = replace(finer, change=change)
            yield level
            loss = sizes.finer(loss, alone)

    def _solved(
        self, loss: float, price: float | None, accuracy: float, start: _Level | None
    ) -> _Level | None:
        from restive.many.clock_iteration import ClockProcess, solve_clocks

        began, alone = perf_counter(), price is None
        clocks = self._sizes(self._block).clocks(loss, price)
        process = ClockProcess(clocks, alone, self.deadline)
        values = None if start is None else _carried(start, clocks)
        solved = solve_clocks(process, values, max(SOLVER_SHARE * accuracy, 1e-12))
        if solved is None:
            return None
        if process.states > TOO_SHORT:
            self._pace = (perf_counter() - began) / (SWEEPS * process.states * len(clocks))
            self._paces[len(clocks), alone] = self._pace
        if alone:
            hidden = [clock for clock in clocks if isinstance(clock, HiddenClock)]
            policy = ClockPolicy(hidden, solved.policy) if solved.policy else None
            return _Level(loss, inf, clocks, solved.values, solved.lower, policy)
        extra = sum(slip_cost(clock.arm, clock.slip) for clock in clocks)
        return _Level(loss, inf, clocks, solved.values, solved.upper + extra, None)


class QuickBlocks:
    """Blocks planned exactly where that takes no time, and by clocks elsewhere."""

    def __init__(self, memory: int | None = None, deadline: float = np.inf) -> None:
        self.exact, self.clocks = ExactBlocks(memory, deadline), ClockBlocks(memory, deadline)

    @property
    def patience(self) -> float:
        return self.clocks.patience

    @patience.setter
    def patience(self, share: float) -> None:
        self.clocks.patience = share

    def _planner(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> BlockPlanner:
        exact = self.exact.seconds(arms, price, accuracy) <= NO_TIME
        return self.exact if exact else self.clocks

    def seconds(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> float:
        return self._planner(arms, price, accuracy).seconds(arms, price, accuracy)

    def __call__(
        self, arms: Sequence[Arm], price: float | None, accuracy: float, start: object
    ) -> BlockBounds:
        return self._planner(arms, price, accuracy)(arms, price, accuracy, start)


class _Sizes:
    """What a block tells apart by what doing without may cost, and how many states that makes."""

    def __init__(self, arms: Sequence[Arm], deadline: float) -> None:
        self.arms, self.deadline = tuple(arms), deadline
        self._seen: dict[tuple[float, bool], list[int]] = {}

    @cached_property
    def uses(self) -> list[ArmUse]:
        return arm_uses(self.arms, self.deadline)

    def clocks(self, loss: float, price: float | None) -> tuple[ArmClock, ...]:
        """Hidden tails for the arms alone, mixed ones beside a price."""
        if price is None:
            told = [use.ages(loss) for use in self.uses]
            guesses = [use.tail_law(ages) for use, ages in zip(self.uses, told, strict=True)]
            return tuple(map(hidden_clock, self.arms, told, guesses))
        points = (use.beliefs.until(loss) for use in self.uses)
        return resting(price), *(mixed_clock(part, OLDEST) for part in points)

    def blocks(self, loss: float, alone: bool) -> list[int]:
        """States of each block: after a pull of each arm and, beside a price, after a rest."""
        if (loss, alone) not in self._seen:
            sizes = [use.count(loss, alone) for use in self.uses]
            every = prod(sizes)
            after = [
                every // size * arm.n_states for arm, size in zip(self.arms, sizes, strict=True)
            ]
            self._seen[loss, alone] = after if alone else [every, *after]
        return self._seen[loss, alone]

    def first(self, alone: bool) -> float:
        loss = FIRST_LOSS
        while loss > FIRST_LEAST and sum(self.blocks(loss, alone)) < FIRST_STATES:
            loss *= FINER
        return loss

    def finer(self, loss: float, alone: bool) -> float:
        """The next smaller loss with clearly more states."""
        states = sum(self.blocks(loss, alone))
        while loss > FINEST and sum(self.blocks(loss, alone)) < GROWTH * states:
            loss *= FINER
        return loss


def _carried(old: _Level, clocks: tuple[ArmClock, ...]) -> list[Floats]:
    """Old values as a start with other clocks: the tail's where ages were not told apart."""
    from restive.many.clock_iteration import along

    fresh = []
    for (_, *others), part in zip(axes(clocks), old.values, strict=True):
        for axis, j in enumerate(others, start=1):
            if clocks[j].size != old.clocks[j].size:
                part = along(clocks[j].onto(old.clocks[j]), part, axis)
        fresh.append(part)
    return fresh
