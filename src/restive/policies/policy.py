"""What a policy is, and the ones that need no tables: one arm, all in turn, anybody's function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Sequence

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.described import in_brief
from restive.base.errors import ArgumentError, refusal
from restive.policies.sight import NEVER, Sight

Function = Callable[[tuple[int, ...], tuple[int, ...]], int | Sequence[int]]


def most_preferred(
    preferences: Floats, pulls: int = 1, available: Container[int] | None = None
) -> tuple[int, ...]:
    """The arms with the largest preferences among those available, the first of several first.

    >>> most_preferred(np.array([0.5, 0.7, 0.7, 0.2]), 2, {0, 2, 3})
    (2, 0)
    """
    order = np.argsort(-preferences, kind="stable").tolist()
    return tuple([arm for arm in order if available is None or arm in available][:pulls])


class Policy(ABC):
    """Which arms to pull, given the state last seen and the age of every arm; it learns nothing.

    It says how much it prefers each arm, and those with the largest numbers are pulled, of several
    the first. An age counts the steps since an arm was seen: 1 if it was pulled just now.
    """

    n_arms: int
    sizes: tuple[int, ...] | None = None  # states of each arm; None if it does not look at them
    unseen: float | Floats | None = np.inf  # preference for arms never seen; None: as the others

    def __repr__(self) -> str:
        return in_brief(self, n_arms=self.n_arms)

    @abstractmethod
    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        """Preferences in n situations; states, ages: (n, K), last: (n,) arm pulled last; (n, K)."""

    @property
    def most_pulls(self) -> int:
        """How many arms it can choose for one step."""
        return self.n_arms

    def arms(self, states: Ints, ages: Ints, last: Ints) -> Ints:
        """The arm to pull in each of n situations."""
        return np.asarray(np.argmax(self.priorities(states, ages, last), axis=1))

    def preferences(self, sight: Sight) -> Floats:
        """How much each arm is preferred where ``sight`` is, shape (K,)."""
        states = np.array([sight.states])
        ages = np.array([sight.ages])
        last = np.array([sight.last if any(sight.seen_at) else NEVER])
        return np.asarray(self.ranking(states, ages, last)[0])

    def ranking(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        """As ``priorities`` where some arms may not have been seen yet (state NEVER)."""
        never = states == NEVER
        known = self.priorities(np.where(never, 0, states), ages, last)
        return known if self.unseen is None else np.where(never, self.unseen, known)

    def choose(self, sight: Sight) -> int:
        """The arm to pull where ``sight`` is."""
        return int(np.argmax(self.preferences(sight)))

    def play(self, sight: Sight, path: Ints, pulls: Ints, begin: int, end: int) -> None:
        """One pull a step from ``begin`` to before ``end`` along a path (K, n) of states.

        ``pulls`` and ``sight`` are brought up to date.
        """
        for step in range(begin, end):
            arm = pulls[step] = self.choose(sight)
            sight.note(arm, int(path[arm, step]))


class Always(Policy):
    """One arm for ever; others, in their order, only where that one is not to be had."""

    unseen = None

    def __init__(self, n_arms: int, arm: int) -> None:
        if not isinstance(arm, int | np.integer) or not 0 <= arm < n_arms:
            raise refusal("policy", "no such arm", repr(arm), f"Arms are numbered 0..{n_arms - 1}.")
        self.n_arms, self.arm = n_arms, int(arm)

    def __repr__(self) -> str:
        return in_brief(self, n_arms=self.n_arms, arm=self.arm)

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        return np.tile(np.arange(self.n_arms) == self.arm, (len(last), 1)).astype(np.float64)

    def play(self, sight: Sight, path: Ints, pulls: Ints, begin: int, end: int) -> None:
        pulls[begin:end] = self.arm
        sight.follow(pulls[begin:end], path[:, begin:end])


class InTurn(Policy):
    """All arms in turn, going on after the arm that was pulled last."""

    unseen = None

    def __init__(self, n_arms: int) -> None:
        self.n_arms = n_arms

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        turns = (np.arange(self.n_arms) - last[:, None] - 1) % self.n_arms
        return -turns.astype(np.float64)

    def play(self, sight: Sight, path: Ints, pulls: Ints, begin: int, end: int) -> None:
        pulls[begin:end] = (self.choose(sight) + np.arange(end - begin)) % self.n_arms
        sight.follow(pulls[begin:end], path[:, begin:end])


class FunctionPolicy(Policy):
    """What a function says, given two tuples: the state last seen and the age of every arm.

    It returns the arm to pull, or several in the order of preference.
    """

    def __init__(self, function: Function, sizes: Sequence[int]) -> None:
        self.function, self.sizes, self.n_arms = function, tuple(sizes), len(sizes)

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        priorities = np.zeros(states.shape)
        for row, seen in enumerate(zip(states.tolist(), ages.tolist(), strict=True)):
            arms = self._asked(tuple(seen[0]), tuple(seen[1]))
            priorities[row, arms] = np.arange(len(arms), 0, -1)
        return priorities

    def _asked(self, states: tuple[int, ...], ages: tuple[int, ...]) -> list[int]:
        answer = self.function(states, ages)
        named = list(answer) if isinstance(answer, tuple | list) else [answer]
        arms = [int(arm) for arm in named if isinstance(arm, int | np.integer)]
        if not named or len(arms) < len(named) or not all(0 <= arm < self.n_arms for arm in arms):
            raise ArgumentError(
                f"the policy must return an arm 0..{self.n_arms - 1}, "
                f"not {answer!r} (last states {states}, ages {ages})"
            )
        return arms
