"""A learner that is told rewards in the user's own units."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import refusal, refuse
from restive.learners.contract import Learner
from restive.learners.storage import SavedArrays, SavedState, Snapshot
from restive.model.units import Units, check_range
from restive.policies.sight import Observation

if TYPE_CHECKING:
    from restive.simulation.structured import StructuredWalk

KEY = "reward_range"


class InUnits(Learner):
    """Another learner behind a change of units: whatever it is told is brought to [0, 1] first.

    Worlds pay rewards from 0 to 1, so ``play`` reaches the learner itself.
    """

    def __init__(self, learner: Learner, units: Units) -> None:
        self.learner, self.units = learner, units
        self.name, self.n_arms = learner.name, learner.n_arms
        self.guarantee, self.deviation = learner.guarantee, learner.deviation

    @property
    def most_pulls(self) -> int:
        return self.learner.most_pulls

    def ask(self) -> int:
        return self.learner.ask()

    def ask_step(self, pulls: int = 1, available: Iterable[int] | None = None) -> tuple[int, ...]:
        return self.learner.ask_step(pulls, available)

    def preferences(self) -> Floats:
        return self.learner.preferences()

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        self.learner.tell(arm, state, self._inside(reward))

    def step(self, observations: Sequence[Observation]) -> None:
        inside = [Observation(arm, state, self._inside(r)) for arm, state, r in observations]
        self.learner.step(inside)

    def pass_time(self) -> None:
        self.learner.pass_time()

    def _inside(self, reward: float) -> float:
        number = isinstance(reward, Real | np.bool_)
        if not number or not self.units.low <= reward <= self.units.high:
            message = f"not a number from {self.units.low:g} to {self.units.high:g}"
            remedy = f"Build the learner with a {KEY} that holds all rewards."
            raise refusal("reward", message, repr(reward)[:80], remedy)
        return float(np.clip(self.units.inside(float(reward)), 0.0, 1.0))

    def snapshot(self) -> Snapshot:
        state, arrays = self.learner.snapshot()
        return {**state, KEY: list(self.units.range)}, arrays

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        if list(state.get(KEY, (0.0, 1.0))) != list(self.units.range):
            remedy = f"Restore it into a learner built with {KEY} {state.get(KEY)}."
            raise refusal(f"snapshot.{KEY}", "other units", str(self.units.range), remedy)
        self.learner.restore({key: part for key, part in state.items() if key != KEY}, arrays)

    @property
    def settings(self) -> dict[str, Any]:
        return {**self.learner.settings, KEY: list(self.units.range)}

    @property
    def episodes(self) -> tuple[int, ...]:
        return self.learner.episodes

    @property
    def planning_seconds(self) -> float:
        return self.learner.planning_seconds

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        return self.learner.play_path(states, rewards)

    def play_steps(self, states: Ints, rewards: Floats, pulls: int) -> Ints:
        return self.learner.play_steps(states, rewards, pulls)

    def play_walk(self, walk: StructuredWalk, count: int) -> tuple[Ints, Floats]:
        return self.learner.play_walk(walk, count)


def in_units(learner: Learner, reward_range: object) -> Learner:
    """The learner, told rewards between these two numbers from now on."""
    units, faults = check_range(reward_range)
    refuse(faults)
    return learner if units.plain else InUnits(learner, units)
