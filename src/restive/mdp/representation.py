"""Information states: for each arm the state last seen and the time since, on an age lasso."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.model.bandit import Bandit

__all__ = ["Layout", "Representation"]

Ints = NDArray[np.int64]

SPARE = 16  # cells after the last row: a row is read one age further on than it is written


class Layout(NamedTuple):
    """Where things lie in memory, for the kernels; K arms, all int64.

    Values are kept in K blocks, block i for the states in which arm i was pulled last. A block is
    laid out as [states of the outer arms][ages of the outer arms][state of i][row], where the row
    runs over (state, age) of one more arm, the row arm, with a ghost cell after each run of ages.
    Entry (i, j) is the slice of block j that a switch from i to j reads: there arm i has age 2.
    """

    sizes: Ints  # (K,) states of each arm
    stored: Ints  # (K,) stored ages
    rested: Ints  # (K,) stored ages of an arm that was not pulled last
    first: Ints  # (K,) the first of these, counted from 0
    enter: Ints  # (K,) place among the rested ages after one step of rest
    loop: Ints  # (K,) place among the rested ages that follows the last one
    colors: Ints  # (K,) color of (state 0, age 1) of each arm
    row_arm: Ints  # (K,) row arm of each block, -1 if there is no other arm
    row_table: Ints  # (K,) which of the two possible row arms that is
    outer: Ints  # (K, K) outer arms of each block, padded with -1
    n_outer: Ints  # (K,)
    row: Ints  # (K,) length of a row, ghosts included
    block: Ints  # (K + 1,) offset of each block; the end leaves some cells to spare
    state_stride: Ints  # (K, K) [block, arm]
    age_stride: Ints  # (K, K)
    entry: Ints  # (K, K) offset of each entry slice
    entry_state_stride: Ints  # (K, K, K) [from, to, arm]
    entry_age_stride: Ints  # (K, K, K)
    entry_length: Ints  # (1,)
    tasks: Ints  # (n, 2) [block, offset of the outer arms' states]: independent parts of a sweep
    task_states: Ints  # (n, K) the outer arms' states of each task


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
        for name, given in (("sizes", sizes), ("caps", caps), ("periods", periods)):
            numbers = (given,) * count if isinstance(given, int) else tuple(int(n) for n in given)
            if len(numbers) != count or count == 0:
                raise ValueError(f"{name} must have one entry per arm ({count}), not {given!r}")
            if min(numbers) < 1:
                raise ValueError(f"{name} must be positive, not {given!r}")
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

    @property
    def n_actions(self) -> int:
        return len(self.sizes)

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
    def _rested(self) -> tuple[int, ...]:
        """Stored ages of an arm not pulled last: age 1 only if the loop comes back to it."""
        return tuple(
            ages if cap == 1 else ages - 1 for cap, ages in zip(self.caps, self.n_ages, strict=True)
        )

    @property
    def n_states(self) -> int:
        """Information states kept, including a few that no play reaches (two equal ages)."""
        per_arm = [s * r for s, r in zip(self.sizes, self._rested, strict=True)]
        return sum(self.sizes[i] * prod(per_arm[:i] + per_arm[i + 1 :]) for i in range(self.n_arms))

    @property
    def n_bytes(self) -> int:
        """Memory a solution takes at its peak: values with ghost cells, and entry slices."""
        cells = 0
        for i, z in enumerate(self._row_arms):
            others = [arm for arm in range(self.n_arms) if arm not in (i, z)]
            outer = prod(self.sizes[arm] * self._rested[arm] for arm in others)
            row = self._row_length(z)
            cells += outer * self.sizes[i] * row
            for j in others:
                part = outer // self._rested[j]  # s_j' takes the place of (s_j, age)
                cells += part * self.sizes[i] * row
            if z >= 0:
                cells += outer * self.sizes[i] * self.sizes[z]
        return 8 * (cells + 2 * SPARE)

    @property
    def _row_arms(self) -> tuple[int, ...]:
        """Row arm of each block: the one with the longest row that is not the block's own."""
        longest = [j for j, _ in self.longest_first]
        if self.n_arms == 1:
            return (-1,)
        return tuple(longest[1] if i == longest[0] else longest[0] for i in range(self.n_arms))

    @property
    def longest_first(self) -> list[tuple[int, int]]:
        """(arm, cells of its row), the longest first: the first two serve as row arms."""
        lengths = [
            (j, s * r) for j, (s, r) in enumerate(zip(self.sizes, self._rested, strict=True))
        ]
        return sorted(lengths, key=lambda pair: -pair[1])

    def _row_length(self, row_arm: int) -> int:
        """Cells of a row: ages and a ghost per state, in whole lines of cache."""
        cells = self.sizes[row_arm] * (self._rested[row_arm] + 1) if row_arm >= 0 else 2
        return -(-cells // 16) * 16

    def color(self, arm: int, state: int, age: int) -> int:
        """Number of the color (arm, state last seen, age); any age is brought onto the lasso."""
        before = sum(self.sizes[j] * self.n_ages[j] for j in range(arm))
        return before + state * self.n_ages[arm] + self.stored_age(arm, age) - 1

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
    def layout(self) -> Layout:
        return _lay_out(self)

    def block(self, values: NDArray[Any], last: int) -> NDArray[Any]:
        """View of the values where arm ``last`` was pulled last, ghosts left out.

        Axes: s_1, ..., s_K, then the rested ages of arms 1, ..., K, of which the last arm's own
        has length 1 (it is 1). A rested age axis starts at age 2, or at 1 where the cap is 1.
        """
        lay = self.layout
        ages = [1 if j == last else self._rested[j] for j in range(self.n_arms)]
        strides = [*lay.state_stride[last], *lay.age_stride[last]]
        begin = int(lay.block[last])
        return np.lib.stride_tricks.as_strided(
            values[begin:],
            shape=(*self.sizes, *ages),
            strides=[int(step) * values.itemsize for step in strides],
        )

    def block_ages(self, last: int) -> list[Ints]:
        """The age that each place along the age axes of ``block`` stands for."""
        first = self.layout.first
        return [
            np.array([1]) if j == last else np.arange(self._rested[j]) + 1 + first[j]
            for j in range(self.n_arms)
        ]

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
        for phases in np.ndindex(*self.periods):
            if orbit[phases] < 0:
                label = orbit.max() + 1
                for t in range(lcm(*self.periods)):
                    orbit[tuple((f + t) % m for f, m in zip(phases, self.periods, strict=True))] = (
                        label
                    )
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


def _strides(arms: Sequence[int], rep: Representation, inner: int, state: Ints, age: Ints) -> int:
    """Lay out [states of arms][ages of arms] around ``inner`` cells; returns the total."""
    step = inner
    for arm in reversed(arms):
        age[arm] = step
        step *= rep._rested[arm]
    for arm in reversed(arms):
        state[arm] = step
        step *= rep.sizes[arm]
    return step


def _lay_out(rep: Representation) -> Layout:
    count = rep.n_arms
    sizes, ages = np.array(rep.sizes), np.array(rep.n_ages)
    caps, rested = np.array(rep.caps), np.array(rep._rested)
    first = np.where(caps == 1, 0, 1)
    after_one = np.where(ages > 1, 1, 0)  # stored age (from 0) after one step of rest
    colors = np.concatenate([[0], np.cumsum(sizes * ages)[:-1]])
    row_arm = np.array(rep._row_arms)
    row_table = np.array([0 if z == rep.longest_first[0][0] else 1 for z in row_arm])
    row = np.array([rep._row_length(int(z)) for z in row_arm])
    outer = np.full((count, count), -1)
    state_stride, age_stride = np.zeros((2, count, count), dtype=np.int64)
    entry_state, entry_age = np.zeros((2, count, count, count), dtype=np.int64)
    block, entry = np.zeros(count + 1, dtype=np.int64), np.zeros((count, count), dtype=np.int64)
    entries = 0
    for i in range(count):
        z = int(row_arm[i])
        others = [arm for arm in range(count) if arm not in (i, z)]
        outer[i, : len(others)] = others
        state_stride[i, i] = row[i]
        inner = int(sizes[i] * row[i])
        block[i + 1] = block[i] + _strides(others, rep, inner, state_stride[i], age_stride[i])
        if z >= 0:
            state_stride[i, z], age_stride[i, z] = rested[z] + 1, 1
            entry[i, z], entry_state[i, z, z] = entries, 1
            entry_state[i, z, i] = sizes[z]
            inner = int(sizes[i] * sizes[z])
            entries += _strides(others, rep, inner, entry_state[i, z], entry_age[i, z])
        for j in others:
            rest = [arm for arm in others if arm != j]
            entry[i, j], entry_state[i, j, j] = entries, row[i]
            entry_state[i, j, i] = sizes[j] * row[i]
            inner = int(sizes[i] * sizes[j] * row[i])
            entry_state[i, j, z], entry_age[i, j, z] = rested[z] + 1, 1
            entries += _strides(rest, rep, inner, entry_state[i, j], entry_age[i, j])
    block[count] += SPARE
    tasks, task_states = _tasks(rep, outer, state_stride)
    return Layout(
        sizes, ages, rested, first, after_one - first, caps - 1 - first, colors,
        row_arm, row_table, outer, (outer >= 0).sum(axis=1), row, block, state_stride, age_stride,
        entry, entry_state, entry_age, np.array([entries + SPARE]), tasks, task_states,
    )  # fmt: skip


def _tasks(rep: Representation, outer: Ints, state_stride: Ints) -> tuple[Ints, Ints]:
    tasks, states = [], []
    for i in range(rep.n_arms):
        arms = [int(arm) for arm in outer[i] if arm >= 0]
        for combination in np.ndindex(*(rep.sizes[arm] for arm in arms)):
            chosen = np.zeros(rep.n_arms, dtype=np.int64)
            chosen[arms] = combination
            tasks.append((i, int((chosen * state_stride[i])[arms].sum())))
            states.append(chosen)
    return np.array(tasks, dtype=np.int64), np.array(states, dtype=np.int64)
