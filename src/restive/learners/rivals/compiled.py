"""Learners whose memory is a few arrays, moved on by compiled steps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.learners.contract import Learner, require_arms
from restive.learners.storage import Arrays, Snapshot, decode_label, encode_label, plain_label

__all__ = ["CompiledLearner", "MarkedLearner", "zeros"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NO_STATE = -1  # code of a mark that no state of a path can equal


class CompiledLearner(Learner):
    """Base: arrays as memory, numbers as constants, and steps from one compiled family.

    The same compiled steps serve ``tell`` and ``play_path``, so both end with the same bytes.
    """

    def __init__(self, n_arms: int, memory: Arrays, **constants: Any) -> None:
        require_arms(n_arms)
        self.n_arms = n_arms
        self.memory = memory
        self.constants = constants

    @property
    def settings(self) -> dict[str, Any]:
        return {"n_arms": self.n_arms, **self.constants}

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Memory and constants, as the compiled steps take them."""
        return (*self.memory.values(), *self.constants.values())

    def snapshot(self) -> Snapshot:
        state = {"name": self.name, "settings": self.settings}
        return state, {name: array.copy() for name, array in self.memory.items()}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.check_origin(state)
        for name, array in self.memory.items():
            array[...] = arrays[name]

    @staticmethod
    def compiled(name: str) -> Callable[..., Any]:
        """A compiled step; numba is imported when the first one is needed."""
        step: Callable[..., Any] = getattr(import_module("restive._kernels.rivals_weak"), name)
        return step


class MarkedLearner(CompiledLearner):
    """Base for learners that wait until an arm is found in one marked state of its own.

    Which states are marked is all they remember of states, so any label will do.
    """

    family = ""

    def __init__(self, n_arms: int, memory: Arrays, **constants: Any) -> None:
        super().__init__(n_arms, memory, **constants)
        self.marks: list[Hashable] = [None] * n_arms

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm, label = self.check_arm(arm), plain_label(state)
        hit = bool(self.memory["marked"][arm]) and self.marks[arm] == label
        if self.compiled(f"learn_{self.family}")(*self.inputs, arm, hit, self.check_reward(reward)):
            self.marks[arm] = label

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        pulls = np.empty(states.shape[1], dtype=np.int64)
        before = [mark if isinstance(mark, int) else NO_STATE for mark in self.marks]
        marks = np.array(before, dtype=np.int64)
        play = self.compiled(f"play_{self.family}")
        play(
            *self.inputs, marks, np.ascontiguousarray(states), np.ascontiguousarray(rewards), pulls
        )
        for arm in np.flatnonzero(marks != before):
            self.marks[arm] = int(marks[arm])
        return pulls

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        return {**state, "marks": [encode_label(mark) for mark in self.marks]}, arrays

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(state, arrays)
        self.marks = [decode_label(code) for code in state["marks"]]


def zeros(n_arms: int) -> Arrays:
    """Plays and sums of rewards of each arm, at the start."""
    require_arms(n_arms)
    return {"plays": np.zeros(n_arms, dtype=np.int64), "sums": np.zeros(n_arms)}
