"""What was last seen of every arm, and when: all that a policy may look at."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from restive.base.arrays import Ints
from restive.base.described import in_brief

NEVER = -1


class Observation(NamedTuple):
    """An arm that was pulled, the state it was in and what it paid."""

    arm: int
    state: Hashable
    reward: float


class Sight:
    """What was last seen of each arm, and at which step; NEVER where it was not pulled yet.

    All arms move at every step of time, however many of them are pulled in it.
    """

    def __init__(self, n_arms: int) -> None:
        self.steps = 0
        self.states = [NEVER] * n_arms
        self.seen_at = [0] * n_arms
        self.last = 0

    def __repr__(self) -> str:
        return in_brief(self, steps=self.steps, states=self.states, seen_at=self.seen_at)

    def note(self, arm: int, state: int) -> None:
        """A step with one pull."""
        self.see([(arm, state)])

    def see(self, pulled: Iterable[tuple[int, int]]) -> None:
        """A step in which these arms were found in these states; none of them: a missed step."""
        self.steps += 1
        for arm, state in pulled:
            self.states[arm] = state
            self.seen_at[arm] = self.steps
            self.last = arm

    def follow(self, pulls: Ints, path: Ints) -> None:
        """Steps with one pull each: pulls (n,), and the states (K, n) of all arms along them."""
        latest = np.full(len(self.states), NEVER)
        latest[pulls] = np.arange(len(pulls))  # of several the last one stays
        self.advance(latest, path, 0, len(pulls))

    def advance(
        self, pulled: Ints, path: Ints, begin: int, end: int, names: Ints | None = None
    ) -> None:
        """Steps ``begin`` to before ``end`` of a path, one pull each.

        pulled: (K,) where on the path each arm was pulled last, or NEVER. names: (K, labels) number
        of each label, if the path shows labels.
        """
        for arm in np.flatnonzero(pulled != NEVER).tolist():
            shown = int(path[arm, pulled[arm]])
            self.states[arm] = shown if names is None else int(names[arm, shown])
            self.seen_at[arm] = self.steps + int(pulled[arm]) - begin + 1
        if end > begin:
            self.last = int(np.argmax(pulled))
        self.steps += end - begin

    def age(self, arm: int) -> int:
        """Steps since the arm was seen, counted at the next pull: 1 if it was pulled just now."""
        return self.steps + 1 - self.seen_at[arm]

    @property
    def ages(self) -> list[int]:
        """The age of every arm."""
        return [self.steps + 1 - seen for seen in self.seen_at]

    @property
    def complete(self) -> bool:
        """Whether every arm was seen, so that there is an information state."""
        return NEVER not in self.states

    @property
    def regular(self) -> bool:
        """Whether it is what one pull at every step leads to: the last arm just seen, no other."""
        return self.complete and self.seen_at.count(self.steps) == 1

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
