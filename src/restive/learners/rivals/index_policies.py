"""Yardsticks that know the bandit: the myopic policy and Whittle's index policy."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.learners.contract import Learner
from restive.learners.defaults import MAX_AGE
from restive.learners.paper.inputs import Labels
from restive.learners.rivals.following import IndexTables, myopic_tables
from restive.learners.storage import Snapshot
from restive.mdp.representation import Representation
from restive.model.bandit import Bandit
from restive.policies.greedy import Sight

__all__ = ["IndexPolicy", "myopic", "whittle"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROW_ERROR = 1e-9  # L1 distance of a row beyond the cap from the one that stands for it
LONGEST_CAP = 100_000


class IndexPolicy(Learner):
    """Pulls the arm with the largest index of (state last seen, age); unseen arms first.

    Theorem 1: no such policy is optimal in general.
    """

    def __init__(self, name: str, guarantee: str, sizes: tuple[int, ...], tables: IndexTables):
        self.name, self.guarantee = name, guarantee
        self.n_arms = len(sizes)
        self.tables = tables
        self.sight = Sight(self.n_arms)
        self.labels = Labels(self.n_arms, sizes)

    def ask(self) -> int:
        return self.tables.arm(self.sight)

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm = self.check_arm(arm)
        self.check_reward(reward)
        self.sight.note(arm, self.labels.number(arm, state))

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        self.labels.table(states)
        pulls = np.empty(states.shape[1], dtype=np.int64)
        self.tables.follow(self.sight, states, rewards, pulls, 0, len(pulls))
        return pulls

    def snapshot(self) -> Snapshot:
        state = {"name": self.name, "settings": self.settings, "sight": self.sight.snapshot()}
        return state, {}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.check_origin(state)
        self.sight.restore(state["sight"])


def myopic(
    bandit: Bandit, horizon: int | None, delta: float, rng: int | np.random.Generator
) -> IndexPolicy:
    """Knows the bandit and pulls the arm with the largest expected reward at this step.

    Optimal for identical two-state arms where P(0,1) <= P(1,1) (Ahmad, Liu, Javidi, Zhao,
    Krishnamachari 2009: "Optimality of myopic sensing in multichannel opportunistic access").
    """
    caps = [min(LONGEST_CAP, arm.mixing_time(ROW_ERROR)) for arm in bandit.arms]
    rep = Representation.of(bandit, caps)
    words = "Knows the bandit; regret against rho* may grow linearly, except for identical "
    words += "two-state arms that are positively correlated, where it does not grow."
    tables = IndexTables(rep, myopic_tables(bandit, rep), [np.inf] * bandit.n_arms)
    return IndexPolicy("myopic", words, bandit.n_states, tables)


def whittle(
    bandit: Bandit, horizon: int | None, delta: float, rng: int | np.random.Generator,
    max_age: int = MAX_AGE,
) -> IndexPolicy:  # fmt: skip
    """Knows the bandit and pulls the arm with the largest Whittle index (Whittle 1988).

    The index of (s, n) is the subsidy for resting at which pulling and resting an arm alone are
    equally good (``restive.planning.indices``). Ages are told apart up to the
    mixing time to 1e-6 (L1), at most ``max_age``. Where an arm is not indexable the numbers still
    define a policy.
    """
    from restive.planning.indices import whittle_indices

    caps = [min(max_age, arm.mixing_time(1e-6)) for arm in bandit.arms]
    rep = Representation.of(bandit, caps)
    tables = [whittle_indices(arm, cap) for arm, cap in zip(bandit.arms, caps, strict=True)]
    words = "Knows the bandit; regret against rho* may grow linearly (Theorem 1)."
    return IndexPolicy(
        "whittle", words, bandit.n_states, IndexTables(rep, tables, [np.inf] * bandit.n_arms)
    )
