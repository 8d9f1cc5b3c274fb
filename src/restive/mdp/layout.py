"""Where the values of information states lie in memory, as the kernels read them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from restive.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from restive.mdp.representation import Representation


SPARE = 16  # cells after the last row: a row is read one age further on than it is written


class MemoryLayout(NamedTuple):
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


def n_bytes(rep: Representation) -> int:
    """Memory of values with ghost cells, and of entry slices."""
    cells = 0
    for i, z in enumerate(_row_arms(rep)):
        others = [arm for arm in range(rep.n_arms) if arm not in (i, z)]
        outer = prod(rep.sizes[arm] * rep.rested[arm] for arm in others)
        row = _row_length(rep, z)
        cells += outer * rep.sizes[i] * row
        for j in others:
            part = outer // rep.rested[j]  # s_j' takes the place of (s_j, age)
            cells += part * rep.sizes[i] * row
        if z >= 0:
            cells += outer * rep.sizes[i] * rep.sizes[z]
    return 8 * (cells + 2 * SPARE)


def fill_ghosts(rep: Representation, values: Floats) -> None:
    """Copy into the ghost cell of each run of ages what follows its last age."""
    lay = rep.layout
    for last in range(rep.n_arms):
        z = int(lay.row_arm[last])
        run, states = (int(lay.rested[z]), rep.sizes[z]) if z >= 0 else (1, 1)
        loop = int(lay.loop[z]) if z >= 0 else 0
        row = int(lay.row[last])
        block = values[lay.block[last] : lay.block[last + 1]]
        block = block[: len(block) // row * row].reshape(-1, row)
        for s in range(states):
            block[:, s * (run + 1) + run] = block[:, s * (run + 1) + loop]


def longest_first(rep: Representation) -> list[int]:
    """Arms by the length of their rows, the longest first: the first two serve as row arms."""
    return sorted(range(rep.n_arms), key=lambda j: -rep.sizes[j] * rep.rested[j])


def _row_arms(rep: Representation) -> tuple[int, ...]:
    """Row arm of each block: the one with the longest row that is not the block's own."""
    if rep.n_arms == 1:
        return (-1,)
    longest = longest_first(rep)
    return tuple(longest[1] if i == longest[0] else longest[0] for i in range(rep.n_arms))


def _row_length(rep: Representation, row_arm: int) -> int:
    """Cells of a row: ages and a ghost per state, in whole lines of cache."""
    cells = rep.sizes[row_arm] * (rep.rested[row_arm] + 1) if row_arm >= 0 else 2
    return -(-cells // 16) * 16


def _strides(arms: Sequence[int], rep: Representation, inner: int, state: Ints, age: Ints) -> int:
    """Lay out [states of arms][ages of arms] around ``inner`` cells; returns the total."""
    step = inner
    for arm in reversed(arms):
        age[arm] = step
        step *= rep.rested[arm]
    for arm in reversed(arms):
        state[arm] = step
        step *= rep.sizes[arm]
    return step


def _rows(rep: Representation) -> tuple[Ints, Ints, Ints]:
    """For each arm pulled last: the arm along rows, which of two tables it has, their length."""
    arms = np.array(_row_arms(rep))
    tables = np.array([0 if z == longest_first(rep)[0] else 1 for z in arms])
    return arms, tables, np.array([_row_length(rep, int(z)) for z in arms])


def lay_out(rep: Representation) -> MemoryLayout:
    count = rep.n_arms
    sizes, ages = np.array(rep.sizes), np.array(rep.n_ages)
    caps, rested = np.array(rep.caps), np.array(rep.rested)
    first = np.where(caps == 1, 0, 1)
    after_one = np.where(ages > 1, 1, 0)  # stored age (from 0) after one step of rest
    row_arm, row_table, row = _rows(rep)
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
    return MemoryLayout(
        sizes, ages, rested, first, after_one - first, caps - 1 - first, rep.first_colors,
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
