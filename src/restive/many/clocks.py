"""What is remembered of an arm at rest: its age up to a limit, and beyond that little or nothing.

A clock of N ages tells the ages 2, ..., N - 1 of an arm apart, by the state last seen. What
becomes of it at age N makes the difference (docs/theory/clocks.md):

- *hidden*: the policy forgets the arm, but its true state goes on. Every policy that forgets is a
  policy, and its gain is that of a finite chain: a certified lower bound.
- *mixed*: the belief is replaced by a random one of its own mean, an older one or the limit law.
  Knowing more than the bandit shows, no policy earns less: a certified upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log2

import numpy as np
from numpy.typing import NDArray

from restive.base.arrays import Floats, Ints
from restive.many.grid_points import SAME, ArmGrid
from restive.model import chains
from restive.model.bandit import Arm

# for each arm pulled last what to pull in every state: its place in the order of ``axes``
Choices = list[NDArray[np.uint8]]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Rows:
    """A sparse matrix by rows: those of row r are entries begin[r] to begin[r + 1].

    The first ``plain`` rows are unit vectors, those from ``shift`` on: they are copied.
    """

    begin: Ints
    columns: Ints
    weights: Floats
    shift: int
    plain: int

    @classmethod
    def of(cls, matrix: Floats) -> Rows:
        """Rows without any entry keep one that is 0."""
        there = matrix != 0
        there[~there.any(axis=1), 0] = True
        rows, columns = np.nonzero(there)
        begin = np.searchsorted(rows, np.arange(len(matrix) + 1))
        weights = np.ascontiguousarray(matrix[rows, columns])
        shift, at = int(columns[0]), begin[:-1]
        units = (np.diff(begin) == 1) & (weights[at] == 1.0)
        units &= columns[at] == np.arange(len(matrix)) + shift
        plain = len(units) if units.all() else int(np.argmin(units))
        return cls(begin, columns, weights, shift, plain)


@dataclass(frozen=True, eq=False)
class ArmClock:
    """What is remembered of one arm at rest: ages 2, ..., ages - 1 by last state, then a tail.

    first: (S, Z) where an arm just seen in a state is one step later. older: (Z, Z) where
    points are one step later. shown: (Z, S) law of the state that a pull shows. error: largest
    L1 distance by which a replaced belief misses its mean.
    """

    arm: Arm
    ages: int
    first: Floats
    older: Floats
    shown: Floats
    error: float = 0.0

    @property
    def size(self) -> int:
        return len(self.older)

    @property
    def slip(self) -> float:
        """How far replaced beliefs may be off, rounding included (L1)."""
        return self.error + EPS * (8 + 2 * self.arm.n_states * log2(2.0 + self.ages))

    @property
    def tail(self) -> int:
        """Where the points beyond the last age begin."""
        return self.arm.n_states * (self.ages - 2)

    def place(self, states: Ints, ages: Ints) -> Ints:
        """Points of an arm at rest; those of the tail are one to the policy."""
        known = (ages - 2) * self.arm.n_states + states
        return np.where(ages < self.ages, known, self.tail)

    def onto(self, old: ArmClock) -> Floats:
        """(Z, old Z): an older clock's points to read values off; its tail where ages are new."""
        matrix = np.zeros((self.size, old.size))
        known = min(self.tail, old.tail)
        matrix[:known, :known] = np.eye(known)
        if old.size - old.tail == self.arm.n_states == self.size - self.tail:
            matrix[known:, old.tail :] = self.shown[known:]
        else:
            matrix[known:, old.tail] = 1.0
        return matrix

    @cached_property
    def breadth(self) -> float:
        """About how many points matter, whatever the number of ages."""
        try:
            return self.arm.n_states * self.arm.mixing_time(0.25)
        except ArithmeticError:  # too slow to count
            return inf

    @cached_property
    def blind(self) -> Floats:
        """(Z, Z): hidden states replaced by their mean, for choices that cannot see them."""
        matrix = np.eye(self.size)
        matrix[self.tail :, self.tail :] = self.arm.stationary
        return matrix


def axes(clocks: Sequence[ArmClock]) -> list[list[int]]:
    """For each arm pulled last: that arm, then the others in the order of their axes.

    The broadest arm comes last: loops run along its points.
    """
    order = sorted(range(len(clocks)), key=lambda j: clocks[j].breadth)
    return [[last, *(j for j in order if j != last)] for last in range(len(clocks))]


def hidden_clock(arm: Arm, ages: int) -> ArmClock:
    """From the last age on the arm's true state, which the policy does not see."""
    size, powers = arm.n_states, _powers(arm, ages)
    tail = size * (ages - 2)
    older = np.zeros((tail + size, tail + size))
    older[: tail - size, size:tail] = np.eye(max(tail - size, 0))
    if tail:
        older[tail - size : tail, tail:] = powers[ages]
    older[tail:, tail:] = arm.transitions
    shown = np.concatenate([*(powers[n] for n in range(2, ages)), np.eye(size)])
    first = np.zeros((size, tail + size))
    first[:, :size] = np.eye(size) if tail else powers[2]
    return ArmClock(arm, ages, first, older, shown)


def mixed_clock(arm: Arm, ages: int) -> ArmClock:
    """At the last age a random belief of the same mean, of those remembered and the limit laws."""
    size, powers = arm.n_states, _powers(arm, ages)
    tail = size * (ages - 2)
    limits = _limits(arm)
    points = np.concatenate([*(powers[n] for n in range(2, ages)), limits])
    places = _Points(arm, points).locate(np.concatenate([powers[ages], limits @ arm.transitions]))
    moved = np.zeros((size + len(limits), len(points)))
    for row, (spots, weights) in enumerate(zip(places.places, places.weights, strict=True)):
        np.add.at(moved[row], spots, weights)
    older = np.zeros((len(points), len(points)))
    older[: tail - size, size:tail] = np.eye(max(tail - size, 0))
    older[max(tail - size, 0) :] = moved if tail else moved[size:]
    first = np.zeros((size, len(points)))
    first[:, :size] = np.eye(size) if tail else 1.0
    return ArmClock(arm, ages, first, older, points, places.error)


def _powers(arm: Arm, ages: int) -> dict[int, Floats]:
    return dict(enumerate(chains.powers(arm.transitions, ages), start=1))


def _limits(arm: Arm) -> Floats:
    """The laws that old beliefs approach: one for each cyclic class."""
    limits: list[Floats] = []
    for n in range(1, arm.period + 1):
        for row in chains.limit_rows(arm.transitions, n):
            if not limits or np.abs(np.array(limits) - row).sum(axis=1).min() > SAME:
                limits.append(row)
    return np.array(limits)


class _Points(ArmGrid):
    """Given beliefs as grid points."""

    def __init__(self, arm: Arm, points: Floats) -> None:
        super().__init__(arm, [[1]] * arm.n_states)
        self.__dict__["points"] = points
