"""Value iteration on blocks of arms with clocks: the best choice, or the best that cannot see.

A state is (arm pulled last, its state, a point of every other arm's clock). Pulls of all arms are
worked out for whole blocks of states at once, one axis an arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from time import perf_counter

import numpy as np

from restive._kernels import clocks as kernel
from restive.base.arrays import Floats
from restive.many.clocks import ArmClock, Choices, Rows

STEP = 0.95  # towards the backup; below 1, or periodic policies make values swing
TIE = 1e-12
IMPROVE = (1, 2, 4, 8, 13, 20, 30, 45)  # sweeps after which a blind policy is chosen anew
STALLED = 40  # sweeps in which the bounds did not come nearer: periods keep them apart
SHRUNK = 0.95
EPS = float(np.finfo(np.float64).eps)


class LateError(Exception):
    """The deadline came in the middle of a sweep."""


class ClockProcess:
    """Arms with clocks, one pulled a step; ``blind``: choices do not see the points of tails."""

    def __init__(self, clocks: Sequence[ArmClock], blind: bool, deadline: float = np.inf) -> None:
        self.clocks, self.blind, self.deadline = tuple(clocks), blind, deadline
        self.count = len(self.clocks)
        self.sizes = [clock.arm.n_states for clock in self.clocks]
        self.stay = [Rows.of(np.array(clock.arm.transitions)) for clock in self.clocks]
        self.first = [Rows.of(clock.first) for clock in self.clocks]
        self.older = [Rows.of(clock.older) for clock in self.clocks]
        self.shown = [Rows.of(clock.shown) for clock in self.clocks]
        self.means = [Rows.of(clock.blind) for clock in self.clocks] if blind else []

    def shape(self, last: int) -> tuple[int, ...]:
        return tuple(self.sizes[j] if j == last else self.clocks[j].size
                     for j in range(self.count))  # fmt: skip

    def zeros(self) -> list[Floats]:
        return [np.zeros(self.shape(last)) for last in range(self.count)]

    def pull(self, values: list[Floats], last: int, arm: int) -> Floats:
        """Reward and value one step later of a pull, in all states where ``last`` was pulled."""
        if perf_counter() > self.deadline:
            raise LateError
        shape = [1] * self.count
        shape[arm] = self.sizes[arm]
        worth = values[arm] + self.clocks[arm].arm.rewards.reshape(shape)
        if arm != last:
            worth = _mixed(self.first[last], worth, last)
        for j in range(self.count):
            if j not in (arm, last):
                worth = _mixed(self.older[j], worth, j)
        return _mixed(self.stay[arm] if arm == last else self.shown[arm], worth, arm)

    def choose(self, values: list[Floats]) -> Choices:
        """The best pulls, as far as choices can see."""
        policies = []
        for last in range(self.count):
            best = np.full(self.shape(last), -np.inf)
            policy = np.zeros(best.shape, dtype=np.uint8)
            for arm in self._order(last):
                worth = self.pull(values, last, arm)
                for j in range(self.count):
                    if self.blind and j != last:
                        worth = _mixed(self.means[j], worth, j)
                kernel.keep_best(worth.ravel(), arm, best.ravel(), policy.ravel(), TIE)
            policies.append(policy)
        return policies

    def _order(self, last: int) -> list[int]:
        """Of equal pulls the arm pulled last, then the first."""
        return [last, *(arm for arm in range(self.count) if arm != last)]

    def sweep(self, values: list[Floats], policy: Choices | None) -> list[Floats]:
        """One backup of all values, with the policy's pulls or with the best ones."""
        targets = []
        for last in range(self.count):
            target = np.full(self.shape(last), -np.inf)
            spare = np.zeros(target.shape if policy is None else (0,), dtype=np.uint8)
            for arm in self._order(last):
                worth = self.pull(values, last, arm).ravel()
                if policy is None:
                    kernel.keep_best(worth, arm, target.ravel(), spare.ravel(), 0.0)
                else:
                    kernel.keep_chosen(worth, arm, policy[last].ravel(), target.ravel())
            targets.append(target)
        return targets

    def rounding(self, values: list[Floats]) -> float:
        """Generous bound of the rounding of one backup."""
        scale = 1.0 + max(float(np.abs(part).max()) for part in values)
        terms = sum(4 + 2 * size * (1 + np.log2(2.0 + clock.ages))
                    for size, clock in zip(self.sizes, self.clocks, strict=True))  # fmt: skip
        return EPS * scale * (8 + float(terms))


def along(matrix: Floats, values: Floats, axis: int) -> Floats:
    """A matrix applied along one axis."""
    return _mixed(Rows.of(matrix), values, axis)


def _mixed(rows: Rows, source: Floats, axis: int) -> Floats:
    shape = source.shape
    before, after = prod(shape[:axis]), prod(shape[axis + 1 :])
    target = np.empty((*shape[:axis], len(rows.begin) - 1, *shape[axis + 1 :]))
    kernel.mix(source.ravel(), target.ravel(), before, shape[axis], after, rows.begin,
               rows.columns, rows.weights)  # fmt: skip
    return target


@dataclass(frozen=True, eq=False)
class ClockSolution:
    """Bounds of the process' gain (of a blind policy's gain), certified; values and policy."""

    lower: float
    upper: float
    values: list[Floats]
    policy: Choices | None
    sweeps: int
    converged: bool


def solve_clocks(
    process: ClockProcess, start: list[Floats] | None, tolerance: float, most: int = 2000
) -> ClockSolution | None:
    """Damped sweeps until the bounds are within ``tolerance``; None if not even one was in time.

    A blind policy is chosen anew now and then at first, and bounds are those of the last one.
    """
    values = process.zeros() if start is None else [part.copy() for part in start]
    policy, best = None, None
    lower, upper, narrowest, since = -np.inf, np.inf, np.inf, 0
    try:
        for count in range(most):
            if process.blind and (count == 0 or count in IMPROVE):
                policy = process.choose(values)
                lower, upper, narrowest = -np.inf, np.inf, np.inf
            low, high = _advanced(process, values, policy)
            slack = process.rounding(values)
            lower, upper = max(lower, low - slack), min(upper, high + slack)
            if upper - lower < SHRUNK * narrowest:
                narrowest, since = upper - lower, count
            if best is None or not process.blind or lower >= best.lower:
                narrow = upper - lower <= tolerance
                best = ClockSolution(lower, upper, values, policy, count + 1, narrow)
            settled = not process.blind or count > IMPROVE[-1]
            if settled and (upper - lower <= tolerance or count - since > STALLED):
                break
    except LateError:
        pass
    return best


def _advanced(
    process: ClockProcess, values: list[Floats], policy: Choices | None
) -> tuple[float, float]:
    """One damped sweep in place; least and largest change of an undamped one."""
    targets = process.sweep(values, policy)
    pairs = [(target.ravel(), part.ravel()) for target, part in zip(targets, values, strict=True)]
    changes = [kernel.extremes(*pair) for pair in pairs]
    low, high = min(least for least, _ in changes), max(most for _, most in changes)
    for target, part in pairs:
        kernel.advance(part, target, STEP, 0.5 * (low + high))
    return float(low), float(high)
