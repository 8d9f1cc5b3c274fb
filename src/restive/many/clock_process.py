"""Blocks of arms with clocks as processes: what every pull is worth, in sweeps over all states.

A state is (arm pulled last, its state, a point of every other arm's clock). Values and choices of
the states after a pull of one arm are an array: that arm's state, then the points of the others,
in the order of ``clocks.axes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from restive._kernels import clocks as kernel
from restive.base.arrays import Floats, Ints
from restive.base.errors import OutOfTimeError
from restive.base.machine import share_out
from restive.many.clocks import ArmClock, Choices, Rows, axes

STEP = 0.95  # towards the backup; below 1, or periodic policies make values swing
TIE = 1e-12
EPS = float(np.finfo(np.float64).eps)
Reads = tuple[object, ...]


@dataclass(eq=False)
class _Laws:
    """How points move and what they show; to a blind choice all points of a tail are one."""

    older: list[Rows]
    shown: list[Floats]  # (Z, S)
    layouts: list[_Layout] | None = None  # once they are needed

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


@dataclass(frozen=True, eq=False)
class _Layout:
    """Where a backup after a pull of one arm reads, whatever the values are.

    entries: what it reads after pulls of other arms, each from where it ``begins`` to where the
    next one does. The rest as the kernels take it.
    """

    entries: Floats
    begins: Ints
    shape: Ints
    wide: int
    width: int
    strides: Ints
    numbers: Ints
    shown: Floats
    innermost: Floats


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
        self._rooms: dict[int, list[Floats]] = {}

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
        reads = self._reads(values, self._seen)

        def work(first: int, stride: int) -> None:
            for last in range(first, self.count, stride):
                kernel.choose_rows(*reads[last], TIE, ways[last].ravel(), taken[last])

        share_out(self.states * self.count, work)
        return Blindfold(ways, taken)

    def sweep(
        self, values: list[Floats], fresh: list[Floats], policy: Blindfold | None, gain: float
    ) -> tuple[float, float]:
        """A damped sweep from values to fresh ones, with the policy's pulls or the best ones.

        Least and largest change of an undamped one. gain: taken off all fresh values.
        """
        changes = np.empty((self.count, 2))
        reads = self._reads(values, self.laws)

        def work(first: int, stride: int) -> None:
            for last in range(first, self.count, stride):
                steps = values[last].ravel(), fresh[last].ravel(), STEP, gain
                if policy is None:
                    changes[last] = kernel.best_rows(*reads[last], *steps)
                else:
                    changes[last] = kernel.chosen_rows(
                        *reads[last], *steps, policy.ways[last].ravel(), policy.taken[last]
                    )

        share_out(self.states * self.count, work)
        return float(changes[:, 0].min()), float(changes[:, 1].max())

    def _width(self, last: int) -> int:
        """Of a row: the points of the two innermost arms."""
        return prod(self.shape(last)[1:][-2:])

    def _reads(self, values: list[Floats], laws: _Laws) -> list[Reads]:
        """What the backups of all states read, for every arm pulled last."""

        def work(first: int, stride: int) -> None:
            room = self._room(first)
            for arm in range(first, self.count, stride):
                self._look_ahead(values[arm], arm, laws, room)

        share_out(self.states * self.count, work)
        reads: list[Reads] = []
        for layout, clock, stays in zip(self._layouts(laws), self.clocks, self._stays, strict=True):
            law = np.array(clock.arm.transitions)  # writeable as the rest: compiled once
            reads.append((layout.shape, layout.wide, layout.width, law.ravel(),
                          law @ clock.arm.rewards, stays.ravel(), layout.entries, layout.strides,
                          layout.numbers, layout.shown, layout.innermost))  # fmt: skip
        return reads

    @cached_property
    def _stays(self) -> list[Floats]:
        return self.zeros()

    def _room(self, thread: int) -> list[Floats]:
        """Four arrays that a thread writes to every time: fresh ones cost as much as the work."""
        if thread not in self._rooms:
            most = max(prod(self.shape(last)) for last in range(self.count))
            self._rooms[thread] = [np.empty(most) for _ in range(4)]
        return self._rooms[thread]

    def _look_ahead(self, values: Floats, arm: int, laws: _Laws, room: list[Floats]) -> None:
        """Values after a pull of an arm, a step later for all others, into ``_stays``.

        And into the entries of every other arm, as what was pulled before this one: reward and
        value by the outcome, the state in which that arm is left, and the others.
        """
        others, later, (*turns, spare, last_spare) = self.others(arm), values, room
        for axis in range(len(others), 0, -1):  # innermost first, where loops are short
            last = others[axis - 1]
            layout, way = self._layouts(laws)[last], self.others(last).index(arm)
            entries = layout.entries[layout.begins[way] : layout.begins[way + 1]]
            left = self._left(later, arm, axis, spare if axis > 1 else entries)
            for place, j in enumerate(others[: axis - 1], start=2):
                target = entries if place == axis else (spare, last_spare)[(place - 1) % 2]
                left = self._aged(left, place, j, laws, target)
            target = turns[axis % 2] if axis > 1 else self._stays[arm].ravel()
            later = self._aged(later, axis, last, laws, target)
        if not others:
            self._stays[arm][:] = values

    def _left(self, later: Floats, arm: int, axis: int, target: Floats) -> Floats:
        """Reward and value of an arm's outcomes, by the state in which the arm of an axis is left.

        (outcomes, states of the arm left, points of the others), written to the target.
        """
        rows = self.first[self.others(arm)[axis - 1]]
        rest = later.shape[1:axis] + later.shape[axis + 1 :]
        left = target[: later.size // later.shape[axis] * (len(rows.begin) - 1)]
        left = left.reshape(later.shape[0], -1, *rest)
        rewards = self.clocks[arm].arm.rewards.reshape(-1, *[1] * len(rest))
        points = np.moveaxis(later, axis, 0)
        for state, (begin, end) in enumerate(pairwise(rows.begin.tolist())):
            part, term = left[:, state], rewards
            for column, weight in zip(
                rows.columns[begin:end], rows.weights[begin:end], strict=True
            ):
                own = points[column] if weight == 1.0 else weight * points[column]
                term = np.add(own, term, out=part)
        return left

    def _aged(self, values: Floats, axis: int, arm: int, laws: _Laws, target: Floats) -> Floats:
        """One step later for the arm of an axis, written to the target."""
        if perf_counter() > self.deadline:
            raise OutOfTimeError
        return mixed(laws.older[arm], values, axis, target)

    def _layouts(self, laws: _Laws) -> list[_Layout]:
        if laws.layouts is None:
            laws.layouts = [self._layout(last, laws) for last in range(self.count)]
        return laws.layouts

    def _layout(self, last: int, laws: _Laws) -> _Layout:
        others, shape = self.others(last), self.shape(last)
        strides = np.zeros((len(others), max(len(others), 1)), dtype=np.int64)
        numbers = np.zeros((len(others), 5), dtype=np.int64)
        begins = [0]
        weights = 0
        for way, j in enumerate(others):
            rest = [p for p in range(len(shape)) if p != way + 1]
            sizes = [self.sizes[j], *(shape[p] for p in rest)]
            steps = [prod(sizes[p + 1 :]) for p in range(len(sizes))]
            inside = [p for p in rest if p < len(others)]
            strides[way, inside] = steps[1 : 1 + len(inside)]
            numbers[way] = begins[-1], steps[0], self.sizes[j], weights, way + 1
            begins.append(begins[-1] + prod(sizes))
            weights += laws.shown[j].size
        shown = [laws.shown[j] for j in others]
        table = np.concatenate([rows.ravel() for rows in shown]) if shown else np.empty(0)
        innermost = np.ascontiguousarray(shown[-1].T).ravel() if shown else np.empty(0)
        outer = np.array(shape[: max(len(others) - 1, 1)])
        wide = shape[-2] if len(others) > 1 else 1
        return _Layout(np.empty(begins[-1]), np.array(begins), outer, wide, self._width(last),
                       strides, numbers, table, innermost)  # fmt: skip

    def rounding(self, values: list[Floats]) -> float:
        """Generous bound of the rounding of one backup."""
        scale = 1.0 + max(float(max(part.max(), -part.min())) for part in values)
        terms = sum(4 + 2 * size * (1 + np.log2(3.0 + clock.oldest))
                    for size, clock in zip(self.sizes, self.clocks, strict=True))  # fmt: skip
        return EPS * scale * (8 + float(terms))


def along(matrix: Floats, values: Floats, axis: int) -> Floats:
    """A matrix applied along one axis."""
    return mixed(Rows.of(matrix), values, axis)


def mixed(rows: Rows, source: Floats, axis: int, target: Floats | None = None) -> Floats:
    """Rows applied along one axis; written to the target, which may be too long, if given."""
    shape = source.shape
    before, after = prod(shape[:axis]), prod(shape[axis + 1 :])
    fresh = (*shape[:axis], len(rows.begin) - 1, *shape[axis + 1 :])
    target = np.empty(prod(fresh)) if target is None else target[: prod(fresh)]
    kernel.mix(source.ravel(), target, before, shape[axis], after, rows.shift, rows.plain,
               rows.begin, rows.columns, rows.weights, rows.across)  # fmt: skip
    return target.reshape(fresh)
