"""Following the values of a plan: what was last seen of each arm, and the arm worth most there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.learners.rules import Counts
from restive.representation import Representation
from restive.structured import Parameters

__all__ = ["GreedyPolicy", "Sight"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEVER = -1


class Sight:
    """What was last seen of each arm, and at which step; NEVER where it was not pulled yet."""

    def __init__(self, n_arms: int) -> None:
        self.steps = 0
        self.states = [NEVER] * n_arms
        self.seen_at = [0] * n_arms
        self.last = 0

    def note(self, arm: int, state: int) -> None:
        self.steps += 1
        self.states[arm] = state
        self.seen_at[arm] = self.steps
        self.last = arm

    def age(self, arm: int) -> int:
        """Steps since the arm was seen, counted at the next pull: 1 for the arm pulled last."""
        return self.steps + 1 - self.seen_at[arm]

    @property
    def complete(self) -> bool:
        """Whether every arm was seen, so that there is an information state."""
        return NEVER not in self.states

    def snapshot(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "states": list(self.states),
            "seen_at": list(self.seen_at),
            "last": self.last,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.steps, self.last = int(state["steps"]), int(state["last"])
        self.states = [int(s) for s in state["states"]]
        self.seen_at = [int(n) for n in state["seen_at"]]


class GreedyPolicy:
    """The policy that is greedy for given values and parameters, worked out where it is needed.

    Of several arms worth the same the first is pulled.
    """

    def __init__(self, rep: Representation, values: Floats, parameters: Parameters) -> None:
        from restive._iteration import row_tables

        self.rep = rep
        self.values = values
        self._tables = row_tables(rep, parameters)
        self._extended = parameters.radii is not None
        self._known = np.full(len(values), NEVER, dtype=np.int8)
        lay = rep.layout
        self._block = lay.block.tolist()
        self._state_stride, self._age_stride = lay.state_stride.tolist(), lay.age_stride.tolist()
        self._first, self._colors = lay.first.tolist(), lay.colors.tolist()

    def color(self, sight: Sight, arm: int) -> int:
        """Color of a pull: (arm, state last seen, stored age)."""
        age = self.rep.stored_age(arm, sight.age(arm))
        return int(self._colors[arm] + sight.states[arm] * self.rep.n_ages[arm] + age - 1)

    def arm(self, sight: Sight) -> int:
        """The arm to pull in a complete information state."""
        ages = [self.rep.stored_age(j, sight.age(j)) - 1 for j in range(self.rep.n_arms)]
        last = sight.last
        place = self._block[last]
        for j, state in enumerate(sight.states):
            place += state * self._state_stride[last][j]
            if j != last:
                place += (ages[j] - self._first[j]) * self._age_stride[last][j]
        if self._known[place] == NEVER:
            self._known[place] = self._compute(last, sight.states, ages)
        return int(self._known[place])

    def _compute(self, last: int, states: list[int], ages: list[int]) -> int:
        from restive._kernels import play

        return int(
            play.greedy(self.values, self.rep.layout, self._tables, self._extended, last,
                        np.array(states), np.array(ages))
        )  # fmt: skip

    def follow(
        self, sight: Sight, counts: Counts, limits: Ints, names: Ints, path: Ints, rewards: Floats,
        pulls: Ints, begin: int, end: int,
    ) -> tuple[int, int]:  # fmt: skip
        """Play along a path from ``begin`` to at most ``end``; returns where and why it stopped.

        Counts, ``pulls`` and ``sight`` are brought up to date.
        """
        from restive._kernels import play

        states = np.array(sight.states)
        ages = np.array([self.rep.stored_age(j, sight.age(j)) - 1 for j in range(self.rep.n_arms)])
        pulled = np.full(self.rep.n_arms, NEVER)
        step, last, why = play.episode(
            self.values, self.rep.layout, self._tables, self._extended, self._known, limits,
            counts.visits, counts.outcomes, counts.rewards, names, path, rewards, pulls, begin, end,
            sight.last, states, ages, pulled,
        )  # fmt: skip
        for arm in np.flatnonzero(pulled != NEVER):
            sight.seen_at[arm] = sight.steps + int(pulled[arm]) - begin + 1
        sight.steps += step - begin
        sight.states = states.tolist()
        sight.last = int(last)
        return int(step), int(why)
