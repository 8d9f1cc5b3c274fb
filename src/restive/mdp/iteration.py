"""Structures made ready for the compiled sweeps, on threads where it pays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from restive._kernels import anderson, arrays, lookup, sweeps
from restive.base.arrays import Floats, Ints
from restive.base.machine import THREADS_FROM_PAIRS, share_out
from restive.mdp.layout import fill_ghosts, longest_first
from restive.mdp.numpy_iteration import DAMPING, PERIODIC_DAMPING
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters, StructuredMDP


def aligned_zeros(count: int) -> Floats:
    """Zeros that begin where a line of cache does, as rows then do as well."""
    room = np.zeros(count + 8)
    skip = -(room.ctypes.data // 8) % 8
    return room[skip : skip + count]


class BanditIteration:
    """Sweeps over information states; values lie as ``MemoryLayout`` says."""

    def __init__(
        self, structure: Representation, parameters: Parameters, start: Floats | None = None
    ) -> None:
        self.structure = structure
        self.layout = lay = structure.layout
        self.extended = parameters.radii is not None
        self.tables = row_tables(structure, parameters)
        many = None if structure.n_arms > 1 and set(structure.sizes) == {2} else True
        self._model = (lay, self.tables, many, True if self.extended else None)
        self.values = aligned_zeros(int(lay.block[-1]))
        if start is not None:
            self.values[:] = start
        self.entries = aligned_zeros(int(lay.entry_length[0]))
        self.bounds = np.zeros((len(lay.tasks), 2))
        self.pairs = structure.n_states * structure.n_arms
        # with radii a model may leave its orbit of phases: then all states belong together
        self.n_classes = 1 if self.extended else structure.n_classes
        # wrapping ages read what a sweep in place has overwritten already
        self.in_place = all(m == 1 for m in structure.periods)
        self.damping = DAMPING if self.in_place else PERIODIC_DAMPING
        self._spare = self.values if self.in_place else aligned_zeros(len(self.values))
        self.expired: Callable[[], bool] = lambda: False  # checked between sweeps

    @property
    def can_propagate(self) -> bool:
        return self.in_place and self.n_classes == 1 and self.structure.n_arms > 1

    def read_entries(self, entries: Floats) -> Floats:
        """Fill ``entries`` with the values on entry, just after each possible switch."""
        share_out(self.pairs, sweeps.read_entries, self.values, entries, self.layout)
        return entries

    def _run(self, target: Floats, step: float, gain: float, bounds: bool) -> None:
        self.read_entries(self.entries)
        if not self.in_place:
            target[:] = self.values
        share_out(self.pairs, sweeps.sweep, target, self.values, self.entries, *self._model, step,
                  gain, False, int(bounds), False, self.bounds)  # fmt: skip

    def sweep(self, gain: Floats, count: int) -> tuple[Floats, Floats]:
        if self.in_place and self.pairs < THREADS_FROM_PAIRS:
            sweeps.sweep(self.values, self.values, self.entries, *self._model, self.damping,
                         float(gain[0]), False, count, True, self.bounds, 0, 1)  # fmt: skip
            return self.bounds[:, 0].min(keepdims=True), self.bounds[:, 1].max(keepdims=True)
        for _ in range(count - 1):
            if self.expired():
                break
            if self.n_classes > 1:
                self._sweep_by_class(gain)
            else:
                self._run(self._spare, self.damping, float(gain[0]), False)
                self.values, self._spare = self._spare, self.values
        return self._bounded_sweep(gain)

    def _bounded_sweep(self, gain: Floats) -> tuple[Floats, Floats]:
        if self.n_classes > 1:
            return self._sweep_by_class(gain)
        self._run(self._spare, self.damping, float(gain[0]), True)
        self.values, self._spare = self._spare, self.values
        return self.bounds[:, 0].min(keepdims=True), self.bounds[:, 1].max(keepdims=True)

    def _sweep_by_class(self, gain: Floats) -> tuple[Floats, Floats]:
        """As ``_bounded_sweep`` where the gain differs between parts (rare, so in NumPy)."""
        rep = self.structure
        gain = np.broadcast_to(gain, self.n_classes)
        lower, upper = np.full(self.n_classes, np.inf), np.full(self.n_classes, -np.inf)
        self._run(self._spare, 1.0, 0.0, False)
        for last in range(rep.n_arms):
            old, new = rep.block(self.values, last), rep.block(self._spare, last)
            change = new - old
            part = np.broadcast_to(rep.block_classes(last), change.shape)
            np.minimum.at(lower, part, change)
            np.maximum.at(upper, part, change)
            new[...] = old + self.damping * (change - gain[part])
        fill_ghosts(rep, self._spare)
        self.values, self._spare = self._spare, self.values
        return lower, upper

    def propagate(
        self, search: anderson.Search, corners: Ints, target: float, patience: int, most: int
    ) -> None:
        """Passes of a search: each solves all runs of stays given the values on entry."""
        if self.pairs < THREADS_FROM_PAIRS:
            anderson.advance(self.values, self.entries, corners, search, *self._model, target,
                             patience, most, self.bounds)  # fmt: skip
            return
        anderson.enter(self.values, self.entries, corners, search)
        share_out(self.pairs, sweeps.sweep, self.values, self.values, search.point, *self._model,
                  1.0, search.point[-1], True, 0, False, self.bounds)  # fmt: skip
        self.read_entries(self.entries)
        anderson.judge(self.values, self.entries, corners, search, target, patience)

    def certify(self, errors: Floats, rewards: Floats) -> tuple[Floats, Floats]:
        """Bounds of the true T h - h per class; see ``numpy_iteration.NumpyIteration.certify``."""
        rep, lay = self.structure, self.layout
        shape = (len(lay.tasks), rep.n_classes)
        lower, upper = np.full(shape, np.inf), np.full(shape, -np.inf)
        share_out(self.pairs, lookup.certify, self.values, lay, self.tables, errors, rewards,
                  _phases(rep), rep.orbits.ravel(), lower, upper)  # fmt: skip
        return lower.min(axis=0), upper.max(axis=0)


def _phases(rep: Representation) -> Ints:
    """What each color adds to the index of the phase vector in ``rep.orbits``."""
    steps = []
    for j, (size, ages) in enumerate(zip(rep.sizes, rep.n_ages, strict=True)):
        cyclic = np.zeros(size, np.int64) if rep.cyclic is None else np.asarray(rep.cyclic[j])
        phases = (cyclic[:, None] + np.arange(1, ages + 1)) % rep.orbits.shape[j]
        steps.append((phases * int(np.prod(rep.orbits.shape[j + 1 :]))).ravel())
    return np.concatenate(steps)


def row_tables(rep: Representation, parameters: Parameters) -> sweeps.Tables:
    """Parameters per color, and laid out once more along the rows of the two row arms."""
    lay = rep.layout
    rewards, chances, radii = parameters.arrays
    width, length = chances.shape[1], int(lay.row.max())
    row_rewards, row_radii = aligned_zeros(4 * length).reshape(2, 2, length)
    row_chances = aligned_zeros(2 * width * length).reshape(2, width, length)
    for table, arm in enumerate(longest_first(rep)[:2] if rep.n_arms > 1 else []):
        states, ages, skip = rep.sizes[arm], rep.n_ages[arm], int(lay.first[arm])
        colors, run = slice(begin := int(lay.colors[arm]), begin + states * ages), ages - skip
        for row, values in (
            (row_rewards[table], rewards),
            (row_radii[table], radii),
            *((row_chances[table, b], chances[:, b]) for b in range(width)),
        ):
            cells = row[: states * (run + 1)].reshape(states, run + 1)
            cells[:, :run] = values[colors].reshape(states, ages)[:, skip:]
    least = row_chances
    if parameters.radii is not None:
        least = np.maximum(0.0, row_chances - 0.5 * row_radii[:, None])
    return sweeps.Tables(rewards, chances, radii, row_rewards, row_chances, row_radii, least)


class ArrayIteration:
    """Sweeps over a structured MDP given by arrays."""

    def __init__(
        self, structure: StructuredMDP, parameters: Parameters, start: Floats | None = None
    ) -> None:
        self.extended = parameters.radii is not None
        self.arguments = (
            structure.colors, structure.successors, *parameters.arrays, self.extended
        )  # fmt: skip
        self.values = np.zeros(structure.n_states) if start is None else start.copy()
        self._spare = np.empty_like(self.values)
        self.bounds = np.zeros((arrays.CHUNKS, 2))
        self.pairs = structure.n_states * structure.n_actions

    def pair_values(self) -> Floats:
        """Value of every pair, shape (N, A); -inf where the action is not available."""
        return np.asarray(arrays.pair_values(self.values, *self.arguments))

    def sweep(self, gain: Floats, count: int) -> tuple[Floats, Floats]:
        for _ in range(count):
            share_out(self.pairs, arrays.sweep, self._spare, self.values, *self.arguments, DAMPING,
                      float(gain[0]), self.bounds)  # fmt: skip
            self.values, self._spare = self._spare, self.values
        return self.bounds[:, 0].min(keepdims=True), self.bounds[:, 1].max(keepdims=True)
