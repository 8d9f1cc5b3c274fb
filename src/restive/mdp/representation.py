"""Information states: for each arm the state last seen and the time since, on an age lasso."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.base.arrays import Floats, Ints
from restive.base.errors import ArgumentError
from restive.mdp.layout import MemoryLayout, lay_out, n_bytes
from restive.model.bandit import Bandit


@dataclass(frozen=True)
class Representation:
    """The MDP over information states ((s_1, n_1), ..., (s_K, n_K)), as index arithmetic.

    Arm j keeps the ages 1, ..., caps[j] - 1 apart. From there on ages run on a loop of
    periods[j] stored ages: n and n + periods[j] are the same. With period 1 that is the ordinary
    cap: every age n >= caps[j] is stored as caps[j]. ``caps = T`` for all arms is the paper's
    T-step representation.

    A color is a triple (arm, state last seen, stored age): all that a pull of the arm can do
    depends on it alone. Colors are numbered arm by arm, then state by state, then by age.

    >>> two = Representation((2, 2), caps=(3, 3))
    >>> two.n_states, two.n_colors
    (16, 12)
    >>> two.stored_ages([1, 9])
    (1, 3)
    """

    sizes: tuple[int, ...]
    caps: tuple[int, ...]
    periods: tuple[int, ...]
    cyclic: tuple[tuple[int, ...], ...] | None = None  # cyclic class of each state, where known

    def __init__(
        self,
        sizes: Sequence[int],
        caps: int | Sequence[int],
        periods: int | Sequence[int] = 1,
        cyclic: tuple[tuple[int, ...], ...] | None = None,
    ) -> None:
        object.__setattr__(self, "cyclic", cyclic)
        count = len(sizes)
        for name, entry in (("sizes", sizes), ("caps", caps), ("periods", periods)):
            numbers = (entry,) * count if isinstance(entry, int) else tuple(int(n) for n in entry)
            if len(numbers) != count or count == 0:
                raise ArgumentError(f"{name} must have one entry per arm ({count}), not {entry!r}")
            if min(numbers) < 1:
                raise ArgumentError(f"{name} must be positive, not {entry!r}")
            object.__setattr__(self, name, numbers)

    @classmethod
    def of(cls, bandit: Bandit, caps: int | Sequence[int]) -> Representation:
        """The representation of this bandit, its arms' periods and cyclic classes included."""
        periods = [arm.period for arm in bandit.arms]
        cyclic = tuple(tuple(arm.cyclic_class.tolist()) for arm in bandit.arms)
        return cls(bandit.n_states, caps, periods, cyclic)

    @property
    def n_arms(self) -> int:
        return len(self.sizes)

    n_actions = n_arms

    @cached_property
    def n_ages(self) -> tuple[int, ...]:
        """Stored ages of each arm: a tail of cap - 1 and a loop of one period."""
        return tuple(cap - 1 + m for cap, m in zip(self.caps, self.periods, strict=True))

    @property
    def n_colors(self) -> int:
        """C = sum_j |S_j| times the stored ages of j."""
        return sum(size * ages for size, ages in zip(self.sizes, self.n_ages, strict=True))

    @property
    def max_support(self) -> int:
        """B: the most outcomes a pull can have."""
        return max(self.sizes)

    @cached_property
    def rested(self) -> tuple[int, ...]:
        """Stored ages of an arm not pulled last: age 1 only if the loop comes back to it."""
        return tuple(n - (cap > 1) for cap, n in zip(self.caps, self.n_ages, strict=True))

    @property
    def n_states(self) -> int:
        """Information states kept, including a few that no play reaches (two equal ages)."""
        per_arm = [s * r for s, r in zip(self.sizes, self.rested, strict=True)]
        everything = prod(per_arm)
        return sum(s * (everything // own) for s, own in zip(self.sizes, per_arm, strict=True))

    @property
    def n_bytes(self) -> int:
        """Memory a solution takes at its peak: values with ghost cells, and entry slices."""
        return n_bytes(self)

    def color(self, arm: int, state: int, age: int) -> int:
        """Number of the color (arm, state last seen, age); any age is brought onto the lasso."""
        first = self.first_colors.item(arm)
        return int(first + state * self.n_ages[arm] + self.stored_age(arm, age) - 1)

    def colors(self, last_states: ArrayLike, stored: ArrayLike) -> Ints:
        """Color of every arm in states given by stored ages; inputs and result (..., K)."""
        ages = np.asarray(stored, dtype=np.int64) - 1
        return np.asarray(
            self.first_colors + np.asarray(last_states) * np.array(self.n_ages) + ages
        )

    @cached_property
    def first_colors(self) -> Ints:
        """Color of (state 0, age 1) of each arm, shape (K,)."""
        counts = [size * ages for size, ages in zip(self.sizes, self.n_ages, strict=True)]
        return np.cumsum([0, *counts[:-1]])

    def color_grid(self, arm: int) -> Ints:
        """Numbers of one arm's colors, shape (states, ages)."""
        first = self.color(arm, 0, 1)
        count = self.sizes[arm] * self.n_ages[arm]
        return np.arange(first, first + count).reshape(self.sizes[arm], self.n_ages[arm])

    def stored_age(self, arm: int, age: int) -> int:
        """The age on the lasso (1..n_ages) that stands for ``age``."""
        cap, period = self.caps[arm], self.periods[arm]
        return age if age < cap else cap + (age - cap) % period

    def stored_ages(self, ages: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.stored_age(j, int(n)) for j, n in enumerate(ages))

    def store(self, ages: ArrayLike) -> tuple[Ints, Ints]:
        """Stored ages (1..n_ages) of information states and the arm pulled last; input (..., K).

        The arm pulled last has age 1; the stored ages alone need not tell, since an older age may
        loop back to 1.
        """
        raw = np.asarray(ages, dtype=np.int64)
        caps, periods = np.array(self.caps), np.array(self.periods)
        stored = np.where(raw < caps, raw, caps + (raw - caps) % periods)
        return stored, np.asarray(np.argmin(raw, axis=-1))

    def older(self, stored: ArrayLike, arm: int | None = None) -> Ints:
        """Stored ages after one more step: of all arms, (..., K), or any number of one arm's."""
        which = slice(None) if arm is None else arm
        ages = np.asarray(stored, dtype=np.int64) + 1
        last, back = np.array(self.n_ages)[which], np.array(self.caps)[which]
        return np.where(ages <= last, ages, back)

    @cached_property
    def older_colors(self) -> Ints:
        """Color after one more step of rest, shape (C,)."""
        older = np.arange(1, self.n_colors + 1)
        for arm, cap in enumerate(self.caps):
            grid = self.color_grid(arm)
            older[grid[:, -1]] = grid[:, cap - 1]
        return older

    @cached_property
    def offsets(self) -> Ints:
        """What each color adds to the place of a state, by the arm pulled last, shape (K, C)."""
        lay = self.layout
        steps = np.zeros((self.n_arms, self.n_colors), dtype=np.int64)
        for arm in range(self.n_arms):
            grid = self.color_grid(arm)
            states, ages = np.indices(grid.shape)
            for last in range(self.n_arms):
                age_step = 0 if arm == last else lay.age_stride[last, arm]
                steps[last, grid] = states * lay.state_stride[last, arm]
                steps[last, grid] += (ages - lay.first[arm]) * age_step
        return steps

    def successors(self, last_states: Ints, stored: Ints, arm: int) -> tuple[Ints, Ints]:
        """Last states and stored ages after a pull of ``arm``, one for each outcome.

        Inputs (..., K), results (..., S, K) with the S states of the arm.
        """
        shape = (*np.shape(stored)[:-1], self.sizes[arm], self.n_arms)
        states = np.broadcast_to(np.asarray(last_states)[..., None, :], shape).copy()
        ages = np.broadcast_to(self.older(stored)[..., None, :], shape).copy()
        states[..., arm], ages[..., arm] = np.arange(self.sizes[arm]), 1
        return states, ages

    def pack(self, tables: Sequence[NDArray[Any]]) -> Floats:
        """One table for all colors from one per arm.

        (S_j, ages of j) becomes (C,), and laws (S_j, ages of j, S_j) become (C, B), with zeros
        beyond an arm's own outcomes.
        """
        if tables[0].ndim == 2:
            return np.concatenate([table.ravel() for table in tables])
        packed = np.zeros((self.n_colors, self.max_support))
        for arm, table in enumerate(tables):
            packed[self.color_grid(arm), : self.sizes[arm]] = table
        return packed

    def every_state(self) -> tuple[Ints, Ints, Ints]:
        """All information states kept: arm pulled last (N,), last states and stored ages (N, K)."""
        blocks = []
        for last in range(self.n_arms):
            axes = [np.array([last]), *map(np.arange, self.sizes), *self.block_ages(last)]
            grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
            blocks.append(grid.reshape(-1, 1 + 2 * self.n_arms))
        cells = np.concatenate(blocks)
        return cells[:, 0], cells[:, 1 : 1 + self.n_arms], cells[:, 1 + self.n_arms :]

    def place(self, last: Ints, last_states: Ints, stored: Ints) -> Ints:
        """Place in the array of values of states given by stored ages and the arm pulled last."""
        lay = self.layout
        own = np.arange(self.n_arms) == last[..., None]
        steps = lay.state_stride[last] * last_states
        steps = steps + np.where(own, 0, lay.age_stride[last] * (stored - 1 - lay.first))
        return np.asarray(lay.block[last] + steps.sum(axis=-1))

    def positions(self, last_states: ArrayLike, ages: ArrayLike) -> Ints:
        """Place of information states in the array of values; inputs (..., K), ages >= 1."""
        stored, last = self.store(ages)
        return self.place(last, np.asarray(last_states, dtype=np.int64), stored)

    @cached_property
    def layout(self) -> MemoryLayout:
        return lay_out(self)

    def block(self, values: NDArray[Any], last: int) -> NDArray[Any]:
        """View of the values where arm ``last`` was pulled last, ghosts left out.

        Axes: s_1, ..., s_K, then the rested ages of arms 1, ..., K, of which the last arm's own
        has length 1 (it is 1). A rested age axis starts at age 2, or at 1 where the cap is 1.
        """
        lay = self.layout
        ages = [1 if j == last else self.rested[j] for j in range(self.n_arms)]
        strides = [*lay.state_stride[last], *lay.age_stride[last]]
        begin = int(lay.block[last])
        return np.lib.stride_tricks.as_strided(
            values[begin:],
            shape=(*self.sizes, *ages),
            strides=[int(step) * values.itemsize for step in strides],
        )

    def block_ages(self, last: int) -> list[Ints]:
        """The age that each place along the age axes of ``block`` stands for."""
        ends = enumerate(zip(self.rested, self.n_ages, strict=True))
        return [np.array([1]) if j == last else np.arange(n - r, n) + 1 for j, (r, n) in ends]

    @cached_property
    def orbits(self) -> Ints:
        """Orbit of each vector of phases, shape (m_1, ..., m_K).

        The phase of an arm is the cyclic class its hidden state is in. All phases advance by one
        at each step whatever is pulled, so the orbit never changes: with more than one, the best
        gain depends on the start.
        """
        if self.cyclic is None:
            return np.zeros((1,) * self.n_arms, dtype=np.int64)
        orbit = np.full(self.periods, -1, dtype=np.int64)
        steps = np.arange(lcm(*self.periods))
        for phases in np.ndindex(*self.periods):
            if orbit[phases] < 0:
                shifted = zip(phases, self.periods, strict=True)
                orbit[tuple((f + steps) % m for f, m in shifted)] = orbit.max() + 1
        return orbit

    @property
    def n_classes(self) -> int:
        """Number of orbits: parts of the state space that no policy can leave."""
        return int(self.orbits.max()) + 1

    def classes(self, last_states: ArrayLike, ages: ArrayLike) -> Ints:
        """Orbit of information states; inputs (..., K)."""
        if self.cyclic is None:
            return np.zeros(np.asarray(ages).shape[:-1], dtype=np.int64)
        states, raw = np.asarray(last_states), np.asarray(ages)
        phases = tuple(
            (np.asarray(self.cyclic[j])[states[..., j]] + raw[..., j]) % self.periods[j]
            for j in range(self.n_arms)
        )
        return np.asarray(self.orbits[phases])

    def block_classes(self, last: int) -> Ints:
        """Orbit of every state of a block, in the shape of ``block``."""
        if self.cyclic is None:
            return np.zeros((1,) * (2 * self.n_arms), dtype=np.int64)
        phases = []
        for j, ages in enumerate(self.block_ages(last)):
            phase = (np.asarray(self.cyclic[j])[:, None] + ages) % self.periods[j]
            shape = [1] * (2 * self.n_arms)
            shape[j], shape[self.n_arms + j] = phase.shape
            phases.append(phase.reshape(shape))
        return np.asarray(self.orbits[tuple(phases)])
