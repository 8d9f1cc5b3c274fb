"""What is remembered of an arm at rest: some ages or beliefs, and else little or nothing.

Two kinds of clocks make the difference (docs/theory/clocks.md):

- *hidden*: by the state last seen, ages one by one up to some age; then the policy forgets the
  arm, but its true state goes on. Every policy that forgets is a policy, and its gain is that of a
  finite chain: a certified lower bound.
- *mixed*: some beliefs. Any other one that the arm comes to is replaced by a random one of its own
  mean. Knowing more than the bandit shows, no policy earns less: a certified upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, log2

import numpy as np
from numpy.typing import NDArray

from restive.base.arrays import Floats, Ints
from restive.many.grid_points import SAME, ArmGrid
from restive.model import chains
from restive.model.bandit import Arm

# for each arm pulled last what to pull in every state: its place in the order of ``axes``
Choices = list[NDArray[np.uint8]]
PulledSet = tuple[int, ...]  # arms pulled in one step
Ages = tuple[tuple[int, ...], ...]  # for each state those that are told apart, ascending

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Rows:
    """A sparse matrix by rows: those of row r are entries begin[r] to begin[r + 1].

    The first ``plain`` rows are unit vectors, those from ``shift`` on: they are copied. across:
    the transposed matrix in full, flat.
    """

    begin: Ints
    columns: Ints
    weights: Floats
    shift: int
    plain: int
    across: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Rows:
        """Rows without any entry keep one that is 0."""
        there = matrix != 0
        there[~there.any(axis=1), 0] = True
        rows, columns = map(np.ascontiguousarray, np.nonzero(there))
        begin = np.searchsorted(rows, np.arange(len(matrix) + 1))
        weights = np.ascontiguousarray(matrix[rows, columns])
        shift, at = int(columns[0]), begin[:-1]
        units = (np.diff(begin) == 1) & (weights[at] == 1.0)
        units &= columns[at] == np.arange(len(matrix)) + shift
        plain = len(units) if units.all() else int(np.argmin(units))
        return cls(begin, columns, weights, shift, plain, np.ascontiguousarray(matrix.T).ravel())


@dataclass(frozen=True, eq=False)
class ArmClock:
    """What is remembered of one arm at rest, as Z points.

    first: (S, Z) where an arm just seen in a state is one step later. older: (Z, Z) where points
    are one step later. shown: (Z, S) law of the state that a pull shows. oldest: the last age told
    apart.
    """

    arm: Arm
    first: Floats
    older: Floats
    shown: Floats
    oldest: int

    @property
    def size(self) -> int:
        return len(self.older)

    @property
    def slip(self) -> float:
        """How far replaced beliefs may be off, rounding included (L1)."""
        return EPS * (8 + 2 * self.arm.n_states * log2(3.0 + self.oldest))

    @cached_property
    def blind(self) -> Floats:
        """(Z, Z): what choices see instead of each point."""
        return np.eye(self.size)

    def onto(self, old: ArmClock) -> Floats:
        """(Z, old Z): an older clock's points to read values off."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class HiddenClock(ArmClock):
    """For each last state its ages, then the true states, which choices do not see.

    ages: for each state those told apart, ascending from 2. guess: (S,) the law of a hidden state
    by which choices are made.
    """

    ages: Ages
    guess: Floats

    @cached_property
    def begins(self) -> Ints:
        """(S + 1,): where the points of each last state begin, and the tail."""
        return np.cumsum([0, *map(len, self.ages)])

    @property
    def tail(self) -> int:
        """Where the hidden states begin."""
        return int(self.begins[-1])

    def place(self, states: Ints, ages: Ints) -> Ints:
        """Points of an arm at rest; those of the tail are one to the policy."""
        known = ages - 2 < np.diff(self.begins)[states]
        return np.where(known, self.begins[states] + ages - 2, self.tail)

    def onto(self, old: ArmClock) -> Floats:
        """The tail's where ages are new."""
        assert isinstance(old, HiddenClock)
        matrix = np.zeros((self.size, old.size))
        matrix[self.tail :, old.tail :] = np.eye(self.arm.n_states)
        for state, (own, told) in enumerate(zip(self.ages, old.ages, strict=True)):
            begin, known = int(self.begins[state]), min(len(own), len(told))
            spots = np.arange(known)
            matrix[begin + spots, int(old.begins[state]) + spots] = 1.0
            fresh = slice(begin + known, begin + len(own))
            matrix[fresh, old.tail :] = self.shown[fresh]
        return matrix

    @cached_property
    def blind(self) -> Floats:
        """Hidden states replaced by a law."""
        matrix = np.eye(self.size)
        matrix[self.tail :, self.tail :] = self.guess
        return matrix


class BeliefPoints(ArmGrid):
    """Beliefs of an arm and the cost of each in a mixture: a cheap one is of near beliefs."""

    def __init__(self, arm: Arm, points: Floats, costs: Floats) -> None:
        super().__init__(arm, [[1]] * arm.n_states)
        self.__dict__.update(points=points, _costs=costs)

    def mixtures(self, beliefs: Floats) -> tuple[Floats, float]:
        """(Q, G): weights of the points for each belief, and how far off they are (L1)."""
        places = self.locate(beliefs)
        matrix = np.zeros((len(beliefs), self.size))
        for row, spots, weights in zip(matrix, places.places, places.weights, strict=True):
            np.add.at(row, spots, weights)
        return matrix, places.error


@dataclass(frozen=True, eq=False)
class MixedClock(ArmClock):
    """Beliefs, and whatever lies between them as a mixture of them.

    error: largest L1 distance by which a replaced belief misses its mean.
    """

    points: BeliefPoints
    error: float

    @property
    def slip(self) -> float:
        return self.error + super().slip

    def onto(self, old: ArmClock) -> Floats:
        """Mixed where points are new."""
        assert isinstance(old, MixedClock)
        same = min(self.size, old.size)
        if np.array_equal(self.shown[:same], old.shown[:same]):
            fresh = old.points.mixtures(self.shown[same:])[0]
            return np.concatenate([np.eye(same, old.size), fresh])
        return old.points.mixtures(self.shown)[0]


def axes(clocks: Sequence[ArmClock]) -> list[list[int]]:
    """For each arm pulled last: that arm, then the others in the order of their axes.

    The largest clocks come last: loops run along their points.
    """
    order = sorted(range(len(clocks)), key=lambda j: clocks[j].size)
    return [[last, *(j for j in order if j != last)] for last in range(len(clocks))]


def pull_order(clocks: Sequence[ArmClock]) -> list[int]:
    """Arms in the order of their axes where several are pulled: the largest clock comes last."""
    return sorted(range(len(clocks)), key=lambda j: clocks[j].size)


def set_count(count: int, pulls: int, price: float | None) -> int:
    """How many sets of arms may be pulled, without listing them."""
    most = min(pulls, count)
    return sum(comb(count, size) for size in ([most] if price is None else range(most + 1)))


def pull_sets(count: int, pulls: int, price: float | None) -> tuple[PulledSet, ...]:
    """Sets of arms that may be pulled: beside a price any number of arms up to ``pulls``."""
    most = min(pulls, count)
    sizes = [most] if price is None else range(most + 1)
    return tuple(part for size in sizes for part in combinations(range(count), size))


def hidden_clock(
    arm: Arm, ages: Sequence[Sequence[int]], guess: Floats | None = None
) -> HiddenClock:
    """Beyond the ages of the last state seen the arm's true state, which the policy does not see.

    ages: for each state 2, 3, ... up to some age, or none. guess: where the arm is likely to be
    then, by default as in the long run.
    """
    told = tuple(tuple(int(n) for n in part) for part in ages)
    begins, longest = np.cumsum([0, *map(len, told)]), max(map(len, told))
    tail, size = int(begins[-1]), arm.n_states
    powers = chains.powers(arm.transitions, 2 + longest)  # powers[n - 1] is P^n
    older, shown = np.zeros((tail + size, tail + size)), np.eye(tail + size, size, -tail)
    first = np.zeros((size, tail + size))
    for state, (begin, part) in enumerate(zip(begins.tolist(), told, strict=False)):
        rows = np.arange(begin, begin + len(part))
        shown[rows] = powers[1 : 1 + len(part), state]
        older[rows[:-1], rows[1:]] = 1.0
        first[state, rows[:1]] = 1.0
        last = older[rows[-1]] if part else first[state]
        last[tail:] = powers[1 + len(part), state]
    older[tail:, tail:] = arm.transitions
    law = arm.stationary if guess is None else guess
    return HiddenClock(arm, first, older, shown, 1 + longest, told, law)


def mixed_clock(points: BeliefPoints, oldest: int) -> MixedClock:
    """Beliefs a step older as random ones of the same mean.

    points: those of age 2 first, one for each state. oldest: none of them is older.
    """
    arm = points.arm
    older, error = points.mixtures(points.points @ arm.transitions)
    first = np.eye(arm.n_states, points.size)
    return MixedClock(arm, first, older, points.points, oldest, points, error)


def resting(price: float) -> MixedClock:
    """The arm that pays a price at every pull."""
    points = BeliefPoints(Arm([[1.0]], [price], name="resting"), np.ones((1, 1)), np.zeros(1))
    return mixed_clock(points, 2)


def limit_laws(arm: Arm) -> Floats:
    """The laws that old beliefs approach: one for each cyclic class."""
    limits: list[Floats] = []
    for n in range(1, arm.period + 1):
        for row in chains.limit_rows(arm.transitions, n):
            if not limits or np.abs(np.array(limits) - row).sum(axis=1).min() > SAME:
                limits.append(row)
    return np.array(limits)
