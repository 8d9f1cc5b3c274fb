"""Blocks of arms planned with clocks: few ages told apart, and both ends certified all the same.

The block alone is planned with hidden tails, for a lower bound and a policy; beside a constant
arm that pays a price with mixed ones, for an upper bound (docs/theory/clocks.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, log2, prod
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.errors import OutOfTimeError, TooLargeError
from restive.base.machine import memory_allowed
from restive.many.block_bounds import HASTY, BlockBounds, BlockPlanner
from restive.many.blocks import ExactBlocks
from restive.many.clocks import ArmClock, Choices, axes, hidden_clock, mixed_clock
from restive.many.grid_points import slip_cost
from restive.model.bandit import Arm
from restive.policies.policy import Policy

FIRST_ERROR = 0.6  # L1 distance of the last ages from the limit law at first,
MOST_FIRST = 40_000  # or more, for fewer ages, where that makes more states than this
COARSEST = 1.8  # error of any clock
TELLING = 0.3  # error from which on bounds are of use
EARLY, LATE = 3, 3.0  # arms that need ages alike; how much more error each later one may have
FINER = 0.9  # in steps of this, until the states have grown
GROWTH = 2.0  # by so much from one level to the next
FINEST = 1e-14
MOST_AGES = 400
SOLVER_SHARE = 0.25  # of the accuracy, for the iteration
NO_TIME = 0.3  # seconds by forecast
SWEEPS = 80  # of a level, about
FIRST_PACE = 6e-9  # seconds a state, arm and sweep
TOO_SHORT = 20_000  # states; what takes less says nothing about pace


class ClockPolicy(Policy):
    """What a block's plan with clocks does; ages beyond a clock's are one."""

    def __init__(self, clocks: Sequence[ArmClock], choices: Choices) -> None:
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

    error: float
    clocks: tuple[ArmClock, ...]
    values: list[Floats]
    bound: float
    choices: Choices | None


class ClockBlocks:
    """The planner of blocks by clocks; ``lower`` is certified without a price, ``upper`` with one.

    deadline: of ``perf_counter``; a plan that is not ready then ends with what is known.
    """

    def __init__(self, memory: int | None = None, deadline: float = np.inf) -> None:
        self.memory, self.deadline = memory_allowed(memory), deadline
        self.patience = HASTY
        self._pace = FIRST_PACE
        self._block: tuple[Arm, ...] = ()  # of the latest plan, and the latest solutions of that
        # and the block before it, without a price and with one
        self._latest: dict[tuple[Arm, ...], dict[bool, _Level]] = {}

    def seconds(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> float:
        """Forecast of a first level that tells something; finer ones follow as far as they fit."""
        return self._seconds(arms, min(_first_error(arms), TELLING), price is not None)

    def _seconds(self, arms: Sequence[Arm], error: float, resting: bool) -> float:
        blocks = _blocks(arms, clock_ages(arms, error), resting)
        if 8 * (3 * sum(blocks) + 4 * max(blocks)) > self.memory:
            return inf
        return self._pace * SWEEPS * sum(blocks) * len(blocks)

    def __call__(
        self, arms: Sequence[Arm], price: float | None, accuracy: float, start: object
    ) -> BlockBounds:
        if tuple(arms) != self._block:
            before, self._block = self._block, tuple(arms)
            self._latest = {arms: self._latest.get(arms, {}) for arms in (before, self._block)}
        if not np.isfinite(self._seconds(arms, _first_error(arms), price is not None)):
            raise TooLargeError(f"a block of {len(arms)} arms does not fit into memory")
        alone, best, change = price is None, None, inf
        for level in self._levels(price, accuracy):
            if best is not None:
                change = abs(level.bound - best.bound)
            if best is None or (level.bound > best.bound) == alone:
                best = level
            if change <= 0.5 * accuracy:
                break
        if best is None:
            raise OutOfTimeError
        error = min(change, accuracy) if np.isfinite(change) else accuracy
        if best.choices is None:
            return BlockBounds(max(best.bound - error, 0.0), best.bound, error)
        most = max(float(arm.rewards.max()) for arm in arms)
        return BlockBounds(best.bound, most, error, ClockPolicy(best.clocks, best.choices))

    def _levels(self, price: float | None, accuracy: float) -> Iterator[_Level]:
        """Finer and finer solutions, from the latest one of this block if there is one."""
        arms, alone = self._block, price is None
        known = self._latest[arms]
        level = known.get(alone)
        error = _first_error(arms) if level is None else level.error
        if level is not None and alone:
            yield level
            error = _finer(arms, error)
        while error > FINEST:
            left = self.deadline - perf_counter()
            if level is not None and self._seconds(arms, error, not alone) > self.patience * left:
                return
            level = self._solved(error, price, accuracy, level)
            if level is None:
                return
            known[alone] = level
            yield level
            error = _finer(arms, error)

    def _solved(
        self, error: float, price: float | None, accuracy: float, start: _Level | None
    ) -> _Level | None:
        from restive.many.clock_iteration import ClockProcess, solve_clocks

        began, alone = perf_counter(), price is None
        make = hidden_clock if alone else mixed_clock
        ages = clock_ages(self._block, error)
        clocks = tuple(make(arm, n) for arm, n in zip(self._block, ages, strict=True))
        if price is not None:
            clocks = (make(Arm([[1.0]], [price], name="resting"), 2), *clocks)
        process = ClockProcess(clocks, alone, self.deadline)
        values = None if start is None else _carried(start, clocks)
        solved = solve_clocks(process, values, max(SOLVER_SHARE * accuracy, 1e-12))
        if solved is None:
            return None
        if process.states > TOO_SHORT:
            self._pace = (perf_counter() - began) / (SWEEPS * process.states * len(clocks))
        if alone:
            return _Level(error, clocks, solved.values, solved.lower, solved.policy)
        extra = sum(slip_cost(clock.arm, clock.slip) for clock in clocks)
        return _Level(error, clocks, solved.values, solved.upper + extra, None)


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


def _blocks(arms: Sequence[Arm], ages: Sequence[int], resting: bool) -> list[int]:
    """States of each block: after a pull of each arm, and after a rest."""
    sizes = [arm.n_states * max(n - 1, 1) for arm, n in zip(arms, ages, strict=True)]
    every = prod(sizes)
    rest = [every] if resting else []
    return [*rest, *(every // size * arm.n_states for arm, size in zip(arms, sizes, strict=True))]


def clock_ages(arms: Sequence[Arm], error: float) -> list[int]:
    """Ages of each arm's clock: until its law is within its error (L1) of the limit, and some.

    Arms join a block in the order of what they earn, and those that come late need few ages.
    """
    ages = []
    for j, arm in enumerate(arms):
        own = min(error * LATE ** max(0, j + 1 - EARLY), COARSEST)
        least = 3 + max(0, int(log2(1 / own)))
        most = min(max(arm.mixing_time(own), least), MOST_AGES)
        ages.append(2 if arm.n_states == 1 else most)
    return ages


def _first_error(arms: Sequence[Arm]) -> float:
    """The more arms there are, the fewer ages to begin with."""
    error = FIRST_ERROR
    while error < COARSEST and sum(_blocks(arms, clock_ages(arms, error), False)) > MOST_FIRST:
        error *= 1.15
    return error


def _finer(arms: Sequence[Arm], error: float) -> float:
    """The next smaller error at which there are clearly more states."""
    states = sum(_blocks(arms, clock_ages(arms, error), False))
    while error > FINEST and sum(_blocks(arms, clock_ages(arms, error), False)) < GROWTH * states:
        error *= FINER
    return error


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
