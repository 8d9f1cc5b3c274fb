"""Exact plans of small bandits with several pulls a step: the oracle for everything faster.

Information states are kept in blocks, one for each set A of arms just pulled. A block has one
axis an arm: the state seen for arms in A (their age is 1), last state and stored age for others.
Ages are stored on a lasso as in ``Representation``; bounds hold for the true ages, by the argument
of docs/theory/certificate.md with the errors of all arms of a pull added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import prod
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief
from restive.base.errors import TooLargeError, refuse
from restive.base.machine import memory_allowed
from restive.base.words import size_text
from restive.many.orbits import orbit_law
from restive.mdp.representation import Representation
from restive.model import chains
from restive.model.bandit import Arm, Bandit
from restive.model.validation import check_pulls
from restive.planning.size import caps_for_error, check_tolerance

Blocks = list[Floats]

DAMPING = 0.8
CHECK_EVERY = 10  # sweeps between two looks at the bounds
MOST_SWEEPS = 100_000
MOST_BACKUPS = 300_000_000  # of one sweep; more is no small problem
TIE = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class PullsPlan(Brief):
    """The best policy with ``pulls`` pulls a step, and an interval that contains its gain.

    lowers, uppers: bounds for each orbit of phases, of which there is one except where the
    periods of several arms have a common divisor; ``lower`` and ``upper`` are their means over
    the arms' initial laws.
    """

    arms: tuple[Arm, ...]
    pulls: int
    lowers: tuple[float, ...]
    uppers: tuple[float, ...]
    process: PullsProcess = field(repr=False)
    values: Blocks = field(repr=False)
    tolerance: float
    sweeps: int
    seconds: float
    note: str = ""  # why it is not finer

    @property
    def bandit(self) -> Bandit:
        return self.process.bandit

    @property
    def lower(self) -> float:
        return float(self.process.orbit_law @ np.array(self.lowers))

    @property
    def upper(self) -> float:
        return float(self.process.orbit_law @ np.array(self.uppers))

    gain_lower, gain_upper = lower, upper  # as other plans call them

    @property
    def gain(self) -> float:
        return 0.5 * (self.lower + self.upper)

    @property
    def converged(self) -> bool:
        return self.upper - self.lower <= self.tolerance

    @property
    def states(self) -> int:
        return self.process.n_states

    def action(self, last_states: ArrayLike, ages: ArrayLike) -> tuple[int, ...]:
        """Arms to pull; ties go to the arms pulled last, then to the first set."""
        worth, sets = self.pull_values(last_states, ages), self.process.sets
        now = tuple(int(j) for j in np.flatnonzero(np.asarray(ages) == 1))
        best = [part for part, value in zip(sets, worth, strict=True) if value >= max(worth) - TIE]
        return now if now in best else best[0]

    def pull_values(self, last_states: ArrayLike, ages: ArrayLike) -> Floats:
        """r(x, A) + E h(next) for every set A, in one information state."""
        states, raw = np.asarray(last_states), np.asarray(ages)
        rep = self.process.representation
        stored = [rep.stored_age(j, int(n)) for j, n in enumerate(raw)]
        laws = [self.process.rows[j][s * rep.n_ages[j] + stored[j] - 1]
                for j, s in enumerate(states)]  # fmt: skip
        worth = []
        for block, part in zip(self.values, self.process.sets, strict=True):
            total = 0.0
            for seen in product(*(range(self.arms[j].n_states) for j in part)):
                place = [s * rep.n_ages[j] + rep.stored_age(j, int(raw[j]) + 1) - 1
                         for j, s in enumerate(states)]  # fmt: skip
                chance, reward = 1.0, 0.0
                for j, s in zip(part, seen, strict=True):
                    place[j] = s
                    chance *= laws[j][s]
                    reward += self.arms[j].rewards[s]
                total += chance * (reward + block[tuple(place)])
            worth.append(total)
        return np.array(worth)


def plan_pulls(
    arms: Bandit | Sequence[Arm], pulls: int, tolerance: float = 1e-6,
    memory: int | None = None, deadline: float = np.inf,
) -> PullsPlan:  # fmt: skip
    """Plan exactly with ``pulls`` arms pulled in each step; for small problems.

    deadline: of ``perf_counter``; the interval is then as wide as that makes it.

    >>> from restive.problems import example1
    >>> plan = plan_pulls(example1(epsilon=0.2), 1, 1e-4)
    >>> bool(plan.lower <= 0.65 <= plan.upper), plan.converged
    (True, True)
    """
    began = perf_counter()
    check_tolerance(tolerance)
    bandit = arms if isinstance(arms, Bandit) else Bandit(arms)
    refuse(check_pulls(pulls, bandit.n_arms))
    allowed, sweeps, error = memory_allowed(memory), 0, 0.1
    process, values = None, None
    while True:
        caps = caps_for_error(bandit, error)
        finer = PullsProcess(bandit, Representation.of(bandit, caps), pulls)
        finer.refuse_if_large(allowed)
        start = finer.zeros() if process is None else process.carry_over(values, finer)
        process = finer
        accuracy = max(0.25 * tolerance, 0.02 * error)
        values, more = process.solve(start, accuracy, deadline)
        sweeps += more
        lower, upper = process.certificate(values)
        width = float((upper - lower).max())
        exact = error <= 1e-14 and accuracy <= 0.25 * tolerance
        if width <= tolerance or exact or perf_counter() > deadline:
            break
        error = max(1e-15, error * min(0.3, 0.5 * tolerance / width))
    return PullsPlan(
        bandit.arms, pulls, tuple(lower.tolist()), tuple(upper.tolist()), process, values,
        tolerance, sweeps, perf_counter() - began,
    )  # fmt: skip


class PullsProcess:
    """The process over information states with ages on a lasso, block by block."""

    def __init__(self, bandit: Bandit, representation: Representation, pulls: int) -> None:
        self.bandit, self.representation = bandit, representation
        self.sets = tuple(combinations(range(bandit.n_arms), pulls))
        rep = representation
        self.older = [
            (np.arange(size)[:, None] * count + rep.older(np.arange(1, count + 1), j) - 1).ravel()
            for j, (size, count) in enumerate(zip(rep.sizes, rep.n_ages, strict=True))
        ]
        self.rows, self.errors = [], []
        for j, arm in enumerate(bandit.arms):
            rows = chains.powers(arm.transitions, rep.n_ages[j])
            errors = np.zeros((rep.n_ages[j], arm.n_states))
            for age in range(rep.caps[j], rep.n_ages[j] + 1):  # later ages: their limit
                rows[age - 1] = chains.limit_rows(arm.transitions, age)
                errors[age - 1] = chains.distance_to_limit(arm.transitions, age)
            self.rows.append(rows.transpose(1, 0, 2).reshape(-1, arm.n_states))
            self.errors.append(errors.T.ravel())

    def shape(self, now: tuple[int, ...]) -> tuple[int, ...]:
        rep = self.representation
        return tuple(size if j in now else size * rep.n_ages[j] for j, size in enumerate(rep.sizes))

    @property
    def n_states(self) -> int:
        return sum(prod(self.shape(now)) for now in self.sets)

    def zeros(self) -> Blocks:
        return [np.zeros(self.shape(now)) for now in self.sets]

    def refuse_if_large(self, allowed: int) -> None:
        size, backups = 8 * 6 * self.n_states, self.n_states * len(self.sets)
        if size > allowed or backups > MOST_BACKUPS:
            raise TooLargeError(
                f"exact planning with {len(self.sets[0])} pulls a step takes {self.n_states:.3g} "
                f"information states ({size_text(size)}) and {len(self.sets)} sets of arms; "
                "ask for a larger tolerance, plan fewer arms, or use a grid (plan_grid)"
            )

    def worth(self, values: Blocks, now: int, then: int) -> tuple[Floats, Floats]:
        """Value of pulling set ``then`` in the block of set ``now``, and how far it may be off.

        Q(x, B) = sum over outcomes s' of B of prod_j p_j(s'_j) [sum_j r_j(s'_j) + h(next)];
        doubt = 1/2 sum_j e_j times the span of the bracket over the outcomes.
        """
        first, second = self.sets[now], self.sets[then]
        rep = self.representation
        value = values[then]
        for j in second:
            rewards = self.bandit.arms[j].rewards
            value = value + rewards.reshape([-1 if i == j else 1 for i in range(rep.n_arms)])
        for j in range(rep.n_arms):
            if j not in second:
                began = np.arange(rep.sizes[j]) * rep.n_ages[j]
                value = value.take(self.older[j][began] if j in first else self.older[j], axis=j)
        span = value.max(axis=second, keepdims=True) - value.min(axis=second, keepdims=True)
        error = np.zeros((1,) * rep.n_arms)
        for j in second:
            matrix = self.bandit.arms[j].transitions if j in first else self.rows[j]
            value = np.moveaxis(np.tensordot(matrix, value, axes=(1, j)), 0, j)
            if j not in first:
                shape = [-1 if i == j else 1 for i in range(rep.n_arms)]
                error = error + self.errors[j].reshape(shape)
        return value, 0.5 * error * span

    def backup(self, values: Blocks, sign: float = 0.0) -> Blocks:
        """Best value over all sets, each moved by ``sign`` times its doubt."""
        best = []
        for now in range(len(self.sets)):
            top = np.full(self.shape(self.sets[now]), -np.inf)
            for then in range(len(self.sets)):
                value, doubt = self.worth(values, now, then)
                np.maximum(top, value + sign * doubt if sign else value, out=top)
            best.append(top)
        return best

    def solve(self, values: Blocks, accuracy: float, deadline: float) -> tuple[Blocks, int]:
        """Damped sweeps until the bounds of this process' gain are within the accuracy."""
        gains = np.zeros(self.representation.n_classes)
        for sweep in range(1, MOST_SWEEPS + 1):
            fresh = self.backup(values)
            if sweep % CHECK_EVERY == 1:
                lower, upper = self._bounds(fresh, values)
                gains = 0.5 * (lower + upper)
                if float((upper - lower).max()) <= accuracy or perf_counter() > deadline:
                    break
            values = [
                old + DAMPING * (new - old - gains[orbit])
                for old, new, orbit in zip(values, fresh, self.orbits, strict=True)
            ]
        return values, sweep

    def certificate(self, values: Blocks) -> tuple[Floats, Floats]:
        """Bounds of the best gain at the true ages, for each orbit."""
        low = self._bounds(self.backup(values, -1.0), values)[0]
        high = self._bounds(self.backup(values, 1.0), values)[1]
        scale = 1.0 + max(float(np.abs(part).max()) for part in values)
        terms = sum(self.representation.sizes) * (2 + np.log2(max(self.representation.n_ages)))
        slack = float(np.finfo(np.float64).eps) * scale * (8 + 2 * terms)
        return low - slack, high + slack

    def _bounds(self, fresh: Blocks, values: Blocks) -> tuple[Floats, Floats]:
        count = self.representation.n_classes
        lower, upper = np.full(count, np.inf), np.full(count, -np.inf)
        for new, old, orbit in zip(fresh, values, self.orbits, strict=True):
            change, part = np.broadcast_arrays(new - old, orbit)
            np.minimum.at(lower, part.ravel(), change.ravel())
            np.maximum.at(upper, part.ravel(), change.ravel())
        return lower, upper

    @cached_property
    def orbits(self) -> list[Ints]:
        """Orbit of the phases in every block; shapes that broadcast to the blocks'."""
        rep = self.representation
        if rep.n_classes == 1:
            return [np.zeros((1,) * rep.n_arms, dtype=np.int64) for _ in self.sets]
        parts = []
        for now in self.sets:
            phases = []
            for j, arm in enumerate(self.bandit.arms):
                ages = np.array([1]) if j in now else np.arange(1, rep.n_ages[j] + 1)
                phases.append(((arm.cyclic_class[:, None] + ages) % arm.period).ravel())
            parts.append(np.asarray(rep.orbits[np.ix_(*phases)]))
        return parts

    @cached_property
    def orbit_law(self) -> Floats:
        return orbit_law(self.bandit.arms)

    def carry_over(self, values: Blocks | None, finer: PullsProcess) -> Blocks:
        """Values read at the ages that stand here for the ages of a finer process."""
        rep, fine = self.representation, finer.representation
        places = []
        for j, size in enumerate(rep.sizes):
            ages = np.array([rep.stored_age(j, n) for n in range(1, fine.n_ages[j] + 1)]) - 1
            places.append((np.arange(size)[:, None] * rep.n_ages[j] + ages).ravel())
        return [
            part[np.ix_(*(np.arange(part.shape[j]) if j in now else places[j]
                          for j in range(rep.n_arms)))]
            for part, now in zip(values or self.zeros(), self.sets, strict=True)
        ]  # fmt: skip
