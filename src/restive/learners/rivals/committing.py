"""Explore first, then follow one policy for ever; and the plainest such learners."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import ceil
from time import perf_counter

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require, require_horizon
from restive.base.errors import TooLargeError
from restive.base.options import Parameter
from restive.learners.contract import SightedLearner
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.paper.inputs import Labels
from restive.learners.storage import SavedArrays, SavedState, Snapshot
from restive.model.bandit import Arm, Bandit
from restive.model.chains import communicating_classes
from restive.planning import plan
from restive.policies.greedy import plan_policy
from restive.policies.policy import Policy
from restive.policies.sight import NEVER, Observation
from restive.policies.tables import whittle_policy

SHARE = Parameter("share", "float", ..., "multiple of T^(2/3) steps to explore", 0, above=True)
LONGEST = 500  # ages that Whittle's index tells apart


class Committing(SightedLearner):
    """Explores arms one at a time, then commits to a policy made of what it saw.

    Transitions are counted where an arm is pulled twice in a row; once it has committed nothing
    is counted any more.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(int(size) for size in sizes)
        super().__init__(len(self.sizes))
        width = max(self.sizes)
        self.labels = Labels(self.n_arms, self.sizes)
        self.moves = np.zeros((self.n_arms, width, width), dtype=np.int64)
        self.visits = np.zeros((self.n_arms, width), dtype=np.int64)
        self.paid = np.zeros((self.n_arms, width))
        self.policy: Policy | None = None
        self.committed_at = 0  # steps of exploration

    @abstractmethod
    def exploring(self) -> tuple[int, int, int] | None:
        """What to explore: (arm, most pulls, target); None once exploration is over.

        The arm is pulled until one of the two is reached: so many pulls, or each of its states
        left ``target`` times (if that is above 0).
        """

    @abstractmethod
    def commit(self) -> Policy:
        """The policy to follow from here on, from the counts."""

    @property
    def episodes(self) -> tuple[int, ...]:
        return () if self.policy is None else (self.committed_at + 1,)

    def ask(self) -> int:
        if self.policy is not None:
            return self.policy.choose(self.sight)
        phase = self.exploring()
        return 0 if phase is None else phase[0]

    def preferences(self) -> Floats:
        return super().preferences() if self.policy is None else self.policy.preferences(self.sight)

    def step(self, observations: Sequence[Observation]) -> None:
        pulled = [
            (arm, self.labels.number(arm, state), reward)
            for arm, state, reward in self.check_step(observations)
        ]
        for arm, number, reward in pulled if self.policy is None else []:
            before = self._just_seen(arm)
            if before != NEVER:
                self.moves[arm, before, number] += 1
            self.visits[arm, number] += 1
            self.paid[arm, number] += reward
        self.sight.see([(arm, number) for arm, number, _ in pulled])
        self._settle()

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        from restive._kernels.rivals_policy import explore

        self.labels.table(states)
        pulls = np.empty(states.shape[1], dtype=np.int64)
        step, count = 0, len(pulls)
        while step < count and self.policy is None:
            phase = self.exploring()
            assert phase is not None
            arm, most, target = phase
            size = self.sizes[arm]
            after = explore(
                states[arm], rewards[arm], step, min(count, step + most), self._just_seen(arm),
                target, self.moves[arm, :size, :size], self.visits[arm], self.paid[arm],
            )  # fmt: skip
            pulls[step:after] = arm
            self.sight.steps += after - step - 1
            self.sight.note(arm, int(states[arm, after - 1]))
            step = int(after)
            self._settle()
        if self.policy is not None:
            self.policy.play(self.sight, states, pulls, step, count)
        return pulls

    def _just_seen(self, arm: int) -> int:
        return self.sight.states[arm] if self.sight.age(arm) == 1 else NEVER

    def _settle(self) -> None:
        if self.policy is None and self.exploring() is None:
            self.committed_at = self.sight.steps
            self._follow()

    def _follow(self) -> None:
        clock = perf_counter()
        self.policy = self.commit()
        self._seconds += perf_counter() - clock

    def snapshot(self) -> Snapshot:
        state, _ = super().snapshot()
        state |= {"committed_at": self.committed_at, "committed": self.policy is not None}
        arrays = {"moves": self.moves, "visits": self.visits, "paid": self.paid}
        return state, {name: array.copy() for name, array in arrays.items()}

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        super().restore(state, arrays)
        self.moves, self.visits = arrays["moves"].copy(), arrays["visits"].copy()
        self.paid = arrays["paid"].copy()
        self.committed_at = int(state["committed_at"])
        self.policy = None
        if state["committed"]:
            self._follow()  # the counts have not changed since: the same policy again


@declare(
    "explore-then-plan",
    "estimate the bandit for about T^(2/3) steps, plan once, follow the plan",
    guarantee="regret against rho* of order T^(2/3), up to logarithms, not proven for this version",
    assumes="irreducible chains, rewards in [0, 1]",
    told="the horizon and the state spaces",
    cites=("lattimore2020: chapter 6",),
    options=(SHARE,),
    practice=Practice({"share": 1.5}, "c is tuned, not 1"),
)
class ExploreThenPlan(Committing):
    """Explores for about c T^(2/3) steps, plans once for the estimated bandit, follows the plan.

    The textbook scheme, with a planner. Regret: of order T^(2/3) where the plan depends smoothly on
    the chains. Parameters: share c = 1, the standard choice. Each arm is pulled in one block of
    ceil(c T^(2/3) / K), at least 2, so that one-step transitions are seen; chains and rewards are
    sample means.

    A chain estimated as reducible gets 1/S of a sample for every transition; a state never seen
    pays its arm's mean reward.
    """

    def __init__(self, sizes: Sequence[int], horizon: int, share: float = 1.0) -> None:
        super().__init__(sizes)
        self.horizon = require_horizon(horizon)
        require(share > 0, "share", share, "Give a positive multiple of T^(2/3).")
        self.share = float(share)
        self.block = max(2, ceil(self.share * self.horizon ** (2 / 3) / self.n_arms))

    def exploring(self) -> tuple[int, int, int] | None:
        for arm, seen in enumerate(self.visits.sum(axis=1).tolist()):
            if seen < self.block:
                return arm, self.block - seen, 0
        return None

    def estimated(self) -> Bandit:
        """The bandit that the counts make likely."""
        return Bandit([
            estimated_arm(self.moves[j, :size, :size], self.visits[j, :size], self.paid[j, :size])
            for j, size in enumerate(self.sizes)
        ])  # fmt: skip

    def commit(self) -> Policy:
        return best_policy(self.estimated(), self.horizon)


@declare(
    "explore-then-whittle",
    "estimate the bandit for about T^(2/3) steps, then follow Whittle's index; for many arms",
    guarantee="none against rho*: Whittle's policy may lose linearly (Theorem 1), even if the "
    "chains were known",
    assumes="irreducible chains, rewards in [0, 1]; meant for indexable arms",
    told="the horizon and the state spaces",
    cites=(
        "lattimore2020: chapter 6",
        "whittle1988",
    ),
    options=(SHARE,),
    practice=Practice({"share": 1.5}, "c is tuned, not 1"),
)
class ExploreThenWhittle(ExploreThenPlan):
    """As explore-then-plan, but commits to Whittle's index policy of the estimated bandit.

    Its cost grows with the number of arms and not with its powers. Ages are told apart up to the
    mixing time of an estimated chain to 1e-6, at most 500.
    """

    def commit(self) -> Policy:
        return whittle_policy(self.estimated(), LONGEST)


def best_policy(model: Bandit, horizon: int) -> Policy:
    """That of an estimated bandit's plan, to a tolerance of 1/T or the next one that fits."""
    tolerance = min(0.01, max(1e-6, 1.0 / horizon))
    while True:
        try:
            return plan_policy(plan(model, tolerance))
        except TooLargeError:
            tolerance *= 10
            if tolerance > 0.1:
                raise


def estimated_arm(moves: Ints, visits: Ints, paid: Floats) -> Arm:
    """Sample means of one arm's chain and rewards; see ExploreThenPlan for the corners."""
    weights = moves.astype(np.float64)
    if (weights.sum(axis=1) == 0).any() or len(communicating_classes(_rows(weights))) > 1:
        weights += 1 / len(weights)
    overall = paid.sum() / max(1, visits.sum())
    means = np.where(visits > 0, paid / np.maximum(1, visits), overall)
    return Arm(_rows(weights), np.clip(means, 0.0, 1.0))


def _rows(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
