"""Value iteration on blocks of arms with clocks: the best choice, or the best that cannot see.

A state is (arm pulled last, its state, a point of every other arm's clock). Values and choices of
the states after a pull of one arm are an array: that arm's state, then the points of the others,
in the order of ``clocks.axes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from restive._kernels import clocks as kernel
from restive.base.arrays import Floats
from restive.base.errors import OutOfTimeError
from restive.base.machine import share_out
from restive.many.clocks import ArmClock, Choices, Rows, axes

STEP = 0.95  # towards the backup; below 1, or periodic policies make values swing
TIE = 1e-12
IMPROVE = (1, 2, 4, 8, 13, 20, 30, 45)  # sweeps after which a blind policy is chosen anew,
IMPROVE_KNOWN = (2, 5, 10, 16, 24)  # and where values are known about
DEPTH = 3  # points that a shortcut combines with the last one
SAME = 1e-12  # share of what tells them apart that is rounding
ASTRAY = 4.0  # bounds this much wider than before: no more shortcuts from here
STALLED = 40  # sweeps in which the bounds did not come nearer: periods keep them apart
SHRUNK = 0.95
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class _Laws:
    """How points move and what they show; to a blind choice all points of a tail are one."""

    older: list[Rows]
    shown: list[Floats]  # (Z, S)

    @classmethod
    def of(cls, clocks: Sequence[ArmClock], blind: bool) -> _Laws:
        views = [clock.blind if blind else np.eye(clock.size) for clock in clocks]
        older = [Rows.of(view @ clock.older) for view, clock in zip(views, clocks, strict=True)]
        shown = [np.ascontiguousarray(view @ clock.shown)
                 for view, clock in zip(views, clocks, strict=True)]  # fmt: skip
        return cls(older, shown)


@dataclass(frozen=True, eq=False)
class Blindfold:
    """What a blind policy pulls; taken: (rows, arms) which of the choices a row of states has."""

    ways: Choices
    taken: list[NDArray[np.bool_]]


class ClockProcess:
    """Arms with clocks, one pulled a step; ``blind``: choices do not see the points of tails."""

    def __init__(self, clocks: Sequence[ArmClock], blind: bool, deadline: float = np.inf) -> None:
        self.clocks, self.blind, self.deadline = tuple(clocks), blind, deadline
        self.count = len(self.clocks)
        self.sizes = [clock.arm.n_states for clock in self.clocks]
        self.first = [Rows.of(clock.first) for clock in self.clocks]
        self.axes = axes(self.clocks)
        self.laws = _Laws.of(self.clocks, False)
        self.states = sum(prod(self.shape(last)) for last in range(self.count))

    @cached_property
    def _seen(self) -> _Laws:
        return _Laws.of(self.clocks, True) if self.blind else self.laws

    def others(self, last: int) -> list[int]:
        return self.axes[last][1:]

    def shape(self, last: int) -> tuple[int, ...]:
        return self.sizes[last], *(self.clocks[j].size for j in self.others(last))

    def zeros(self) -> list[Floats]:
        """An array for each arm pulled last, all parts of one (their ``base``)."""
        shapes = [self.shape(last) for last in range(self.count)]
        ends = np.cumsum([prod(shape) for shape in shapes])
        parts = np.split(np.zeros(self.states), ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def choose(self, values: list[Floats]) -> Blindfold:
        """The best pulls, as far as choices can see; of equal ones the arm pulled last."""
        ways = [np.empty(self.shape(last), dtype=np.uint8) for last in range(self.count)]
        taken = [np.empty((part.size // self._width(last), self.count), dtype=np.bool_)
                 for last, part in enumerate(ways)]  # fmt: skip

        def work(first: int, stride: int) -> None:
            for last in range(first, self.count, stride):
                kernel.choose_rows(*self._reads(values, last, self._seen), TIE,
                                   ways[last].ravel(), taken[last])  # fmt: skip

        share_out(self.states * self.count, work)
        return Blindfold(ways, taken)

    def sweep(
        self, values: list[Floats], fresh: list[Floats], policy: Blindfold | None, gain: float
    ) -> tuple[float, float]:
        """A damped sweep from values to fresh ones, with the policy's pulls or the best ones.

        Least and largest change of an undamped one. gain: taken off all fresh values.
        """
        changes = np.empty((self.count, 2))

        def work(first: int, stride: int) -> None:
            for last in range(first, self.count, stride):
                reads = self._reads(values, last, self.laws)
                steps = values[last].ravel(), fresh[last].ravel(), STEP, gain
                if policy is None:
                    changes[last] = kernel.best_rows(*reads, *steps)
                else:
                    changes[last] = kernel.chosen_rows(
                        *reads, *steps, policy.ways[last].ravel(), policy.taken[last]
                    )

        share_out(self.states * self.count, work)
        return float(changes[:, 0].min()), float(changes[:, 1].max())

    def _width(self, last: int) -> int:
        """Of a row: the points of the innermost arm."""
        return self.shape(last)[-1] if self.count > 1 else 1

    def _reads(self, values: list[Floats], last: int, laws: _Laws) -> tuple[object, ...]:
        """What the backups of all states after a pull of one arm read."""
        arm, others = self.clocks[last].arm, self.others(last)
        shape = np.array(self.shape(last)[: max(len(others), 1)])
        stays = self._aged(values[last], 1, others, laws)
        parts = [self._entries(values[j], j, last, laws) for j in others]
        strides = np.zeros((len(others), len(shape)), dtype=np.int64)
        numbers = np.zeros((len(others), 5), dtype=np.int64)
        begin = weights = 0
        for way, (j, part) in enumerate(zip(others, parts, strict=True)):
            steps = np.array(part.strides[1:]) // part.itemsize
            rest = [p for p in range(len(shape)) if p != way + 1]
            strides[way, rest] = steps[: len(rest)]
            numbers[way] = begin, part.strides[0] // 8, self.sizes[j], weights, way + 1
            begin, weights = begin + part.size, weights + laws.shown[j].size
        entries = np.concatenate([part.ravel() for part in parts]) if parts else np.empty(0)
        shown = [laws.shown[j] for j in others]
        table = np.concatenate([rows.ravel() for rows in shown]) if shown else np.empty(0)
        innermost = np.ascontiguousarray(shown[-1].T).ravel() if shown else np.empty(0)
        law = np.ascontiguousarray(arm.transitions).ravel()
        return (shape, self._width(last), law, arm.transitions @ arm.rewards, stays.ravel(),
                entries, strides, numbers, table, innermost)  # fmt: skip

    def _entries(self, values: Floats, arm: int, last: int, laws: _Laws) -> Floats:
        """Reward and value after a pull: its outcome, the state of the arm left, the others."""
        if perf_counter() > self.deadline:
            raise OutOfTimeError
        axis = self.others(arm).index(last) + 1
        left = np.moveaxis(_mixed(self.first[last], values, axis), axis, 1)
        rewards = self.clocks[arm].arm.rewards.reshape(-1, *[1] * (left.ndim - 1))
        rest = [j for j in self.others(arm) if j != last]
        return self._aged(np.add(left, rewards, order="C"), 2, rest, laws)

    def _aged(self, values: Floats, axis: int, arms: Sequence[int], laws: _Laws) -> Floats:
        """One step later for these arms, whose axes begin with this one."""
        if perf_counter() > self.deadline:
            raise OutOfTimeError
        for place, j in enumerate(arms, start=axis):
            values = _mixed(laws.older[j], values, place)
        return values

    def rounding(self, values: list[Floats]) -> float:
        """Generous bound of the rounding of one backup."""
        scale = 1.0 + max(float(max(part.max(), -part.min())) for part in values)
        terms = sum(4 + 2 * size * (1 + np.log2(3.0 + clock.oldest))
                    for size, clock in zip(self.sizes, self.clocks, strict=True))  # fmt: skip
        return EPS * scale * (8 + float(terms))


def along(matrix: Floats, values: Floats, axis: int) -> Floats:
    """A matrix applied along one axis."""
    return _mixed(Rows.of(matrix), values, axis)


def _mixed(rows: Rows, source: Floats, axis: int) -> Floats:
    shape = source.shape
    before, after = prod(shape[:axis]), prod(shape[axis + 1 :])
    target = np.empty((*shape[:axis], len(rows.begin) - 1, *shape[axis + 1 :]))
    kernel.mix(source.ravel(), target.ravel(), before, shape[axis], after, rows.shift, rows.plain,
               rows.begin, rows.columns, rows.weights)  # fmt: skip
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


class _Shortcut:
    """Anderson's acceleration: the combination of the last points whose residual is least.

    Bounds hold at every point, so a shortcut that leads astray costs sweeps and nothing else.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self._images: list[Floats] = []
        self._residuals: list[Floats] = []
        self._products = np.empty((0, 0))  # of the residuals

    def take(self, point: Floats, image: Floats) -> None:
        """The next point, in place of the image."""
        residual = image - point
        residual -= residual.mean()
        self._images.append(image.copy())
        self._residuals.append(residual)
        del self._images[: -DEPTH - 1], self._residuals[: -DEPTH - 1]
        # not by BLAS, which would start threads of its own
        row = np.array([np.einsum("i,i->", own, residual) for own in self._residuals])
        before = self._products[-DEPTH:, -DEPTH:]
        self._products = np.block([[before, row[:-1, None]], [row[None]]])
        if len(row) == 1:
            return
        moves = before - row[:-1, None] - row[:-1] + row[-1]  # products of steps from the last one
        shares = np.linalg.lstsq(moves, row[-1] - row[:-1], rcond=SAME)[0]
        image *= 1 - shares.sum()
        for share, own in zip(shares, self._images, strict=False):
            image += share * own


def solve_clocks(
    process: ClockProcess, start: list[Floats] | None, tolerance: float, most: int = 2000
) -> ClockSolution | None:
    """Damped sweeps until the bounds are within ``tolerance``; None if not even one was in time.

    A blind policy is chosen anew now and then at first, and bounds are those of the last one.
    """
    values, fresh = process.zeros(), process.zeros()
    for part, known in zip(values, start or [], strict=False):
        part[:] = known
    policy, best, shortcut = None, None, _Shortcut()
    improve = IMPROVE if start is None else IMPROVE_KNOWN
    gain, lower, upper, narrowest, since = 0.0, -np.inf, np.inf, np.inf, 0
    try:
        for count in range(most):
            if process.blind and (count == 0 or count in improve):
                policy = process.choose(values)
                lower, upper, narrowest = -np.inf, np.inf, np.inf
                shortcut.restart()
            slack = process.rounding(values)
            low, high = process.sweep(values, fresh, policy, gain)
            gain = 0.5 * (low + high)
            lower, upper = max(lower, low - slack), min(upper, high + slack)
            if high - low > ASTRAY * narrowest:
                shortcut.restart()
            if upper - lower < SHRUNK * narrowest:
                narrowest, since = upper - lower, count
            if best is None or not process.blind or lower >= best.lower:
                narrow = upper - lower <= tolerance
                ways = None if policy is None else policy.ways
                best = ClockSolution(lower, upper, fresh, ways, count + 1, narrow)
            settled = not process.blind or count > improve[-1]
            if settled and (upper - lower <= tolerance or count - since > STALLED):
                break
            shortcut.take(_whole(values), _whole(fresh))
            values, fresh = fresh, values
    except OutOfTimeError:
        pass
    return best


def _whole(parts: list[Floats]) -> Floats:
    """The array that these are parts of."""
    whole = parts[0].base
    assert isinstance(whole, np.ndarray)
    return whole
