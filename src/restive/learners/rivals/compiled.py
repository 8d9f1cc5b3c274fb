"""Learners whose memory is a few arrays, moved on by compiled steps."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require_arms
from restive.learners.contract import Learner
from restive.learners.storage import (
    Arrays,
    SavedArrays,
    SavedState,
    Snapshot,
    decode_label,
    encode_label,
    generator_from,
    generator_state,
    plain_label,
)

Steps = tuple[Callable[..., Any], Callable[..., Any]]  # compiled: of one step, along a path

NO_ARM = -1
NO_STATE = -1  # code of a mark that no state of a path can equal


class CompiledLearner(Learner):
    """Base: arrays as memory, numbers as constants, and two compiled functions that move them on.

    The same compiled step serves ``tell`` and ``play_path``, so both end with the same bytes.
    """

    kernels: ClassVar[tuple[str, str]]  # in _kernels/rivals_weak: of one step, along a path

    def __init__(self, n_arms: int, memory: Arrays, **constants: Any) -> None:
        require_arms(n_arms)
        self.n_arms = n_arms
        self.memory = memory
        self.constants = constants

    def steps(self) -> Steps:
        """The kernels themselves; numba is imported when they are needed."""
        from restive._kernels import rivals_weak

        step, path = self.kernels
        return getattr(rivals_weak, step), getattr(rivals_weak, path)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Memory and constants, as the compiled steps take them."""
        return (*self.memory.values(), *self.constants.values())

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        learn, _ = self.steps()
        learn(*self.inputs, self.check_arm(arm), self.check_reward(reward))

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        pulls = np.empty(states.shape[1], dtype=np.int64)
        self.steps()[1](*self.inputs, np.ascontiguousarray(rewards), pulls)
        return pulls

    def snapshot(self) -> Snapshot:
        state = {"name": self.name, "settings": self.settings}
        return state, {name: array.copy() for name, array in self.memory.items()}

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        self.check_origin(state)
        for name, array in self.memory.items():
            if arrays[name].shape != array.shape:
                raise ValueError(f"{name} has shape {arrays[name].shape}, not {array.shape}")
            array[...] = arrays[name]


class DrawingLearner(CompiledLearner):
    """Base for learners that choose at random.

    The next arm is drawn as soon as an observation comes in, so that asking changes nothing.
    """

    rng: np.random.Generator

    def ask(self) -> int:
        return int(self.memory["chosen"][0])

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        return {**state, "rng": generator_state(self.rng)}, arrays

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        super().restore(state, arrays)
        self.rng = generator_from(state["rng"])


class MarkedLearner(CompiledLearner):
    """Base for learners that wait until an arm is found in one marked state of its own.

    Which states are marked is all they remember of states, so any label will do.
    """

    def __init__(self, n_arms: int, memory: Arrays, **constants: Any) -> None:
        super().__init__(n_arms, memory, **constants)
        self.marks: list[Hashable] = [None] * n_arms

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm, label = self.check_arm(arm), plain_label(state)
        hit = bool(self.memory["marked"][arm]) and self.marks[arm] == label
        learn, _ = self.steps()
        if learn(*self.inputs, arm, hit, self.check_reward(reward)):
            self.marks[arm] = label

    def pass_time(self) -> None:
        """As a pull of some other arm: the chain that it follows moved on unseen."""
        learn, _ = self.steps()
        learn(*self.inputs, NO_ARM, False, 0.0)

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        pulls = np.empty(states.shape[1], dtype=np.int64)
        before = [mark if isinstance(mark, int) else NO_STATE for mark in self.marks]
        marks = np.array(before, dtype=np.int64)
        paths = np.ascontiguousarray(states), np.ascontiguousarray(rewards)
        self.steps()[1](*self.inputs, marks, *paths, pulls)
        for arm in np.flatnonzero(marks != before):
            self.marks[arm] = int(marks[arm])
        return pulls

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        return {**state, "marks": [encode_label(mark) for mark in self.marks]}, arrays

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        super().restore(state, arrays)
        self.marks = [decode_label(code) for code in state["marks"]]


def zeros(n_arms: int) -> Arrays:
    """Plays of each arm at the start, and sums of its rewards with what rounding added to them."""
    require_arms(n_arms)
    return {"plays": np.zeros(n_arms, dtype=np.int64), "sums": np.zeros((n_arms, 2))}
