"""What a learner may follow once it has made up its mind: a plan's values, or index tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from restive.base.errors import TooLargeError
from restive.learners.paper.inputs import Labels
from restive.learners.paper.rules import FOREVER, Counts
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.model.bandit import Bandit
from restive.planning import Plan, plan
from restive.policies.greedy import NEVER, GreedyPolicy, Sight

__all__ = ["Follower", "IndexTables", "PlanFollower", "myopic_tables", "plan_model"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Follower(Protocol):
    """A fixed policy on what was last seen."""

    def arm(self, sight: Sight) -> int:
        """The arm to pull."""

    def follow(
        self, sight: Sight, path: Ints, rewards: Floats, pulls: Ints, begin: int, end: int
    ) -> None:
        """Pull from ``begin`` to ``end`` along a path; ``pulls`` and ``sight`` are brought up."""


class PlanFollower:
    """Follows a plan; needs an information state, that is every arm seen."""

    def __init__(self, found: Plan) -> None:
        rep = found.representation
        self._labels = Labels(rep.n_arms, rep.sizes)
        self._policy = GreedyPolicy(rep, found.values, bandit_parameters(found.bandit, rep))
        self._unused = Counts.none(rep)
        self._limits = np.full(rep.n_colors, FOREVER)

    def arm(self, sight: Sight) -> int:
        return self._policy.arm(sight)

    def follow(
        self, sight: Sight, path: Ints, rewards: Floats, pulls: Ints, begin: int, end: int
    ) -> None:
        names = self._labels.table(path)
        self._policy.follow(sight, self._unused, self._limits, names, path, rewards, pulls,
                            begin, end)  # fmt: skip


class IndexTables:
    """Pulls the arm with the largest index of (state last seen, age), the first of several.

    tables: (S_j, stored ages of j) for each arm, on the age lassos of ``rep``; unseen: index of
    each arm before it is first seen.
    """

    def __init__(
        self, rep: Representation, tables: Sequence[Floats], unseen: Sequence[float]
    ) -> None:
        self._rep = rep
        shape = (rep.n_arms, rep.max_support + 1, max(rep.n_ages))
        self.tables = np.full(shape, -np.inf)
        for own, table, value in zip(self.tables, tables, unseen, strict=True):
            own[: table.shape[0], : table.shape[1]] = table
            own[NEVER] = value
        self._back = np.array(rep.caps) - 1
        self._stored = np.array(rep.n_ages)

    def arm(self, sight: Sight) -> int:
        ages = self._ages(sight)
        found = [t[s, n] for t, s, n in zip(self.tables, sight.states, ages, strict=True)]
        return int(np.argmax(found))

    def follow(
        self, sight: Sight, path: Ints, rewards: Floats, pulls: Ints, begin: int, end: int
    ) -> None:
        from restive._kernels.rivals_policy import index_path

        states, ages = np.array(sight.states), self._ages(sight)
        pulled = np.full(len(states), NEVER)
        index_path(self.tables, self._back, self._stored, path, pulls, begin, end, states, ages,
                   pulled)  # fmt: skip
        for arm in np.flatnonzero(pulled != NEVER):
            sight.seen_at[arm] = sight.steps + int(pulled[arm]) - begin + 1
        sight.steps += end - begin
        sight.states = states.tolist()
        if end > begin:
            sight.last = int(pulls[end - 1])

    def _ages(self, sight: Sight) -> Ints:
        rep = self._rep
        return np.array([rep.stored_age(j, sight.age(j)) - 1 for j in range(rep.n_arms)])


def myopic_tables(bandit: Bandit, rep: Representation) -> list[Floats]:
    """Expected reward sum_s' P^n(s, s') r(s') of the next pull, (S_j, stored ages) per arm."""
    rewards = bandit_parameters(bandit, rep).rewards
    return [rewards[rep.color_grid(j)] for j in range(rep.n_arms)]


def plan_model(model: Bandit, horizon: int) -> Plan:
    """The plan of an estimated bandit, to a tolerance of 1/T or the next one that fits."""
    tolerance = min(0.01, max(1e-6, 1.0 / horizon))
    while True:
        try:
            return plan(model, tolerance)
        except TooLargeError:
            tolerance *= 10
            if tolerance > 0.1:
                raise
