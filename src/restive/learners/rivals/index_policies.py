"""Yardsticks that know the bandit: the myopic policy and Whittle's index policy."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.options import Parameter
from restive.learners.contract import Learner
from restive.learners.declaration import declare
from restive.learners.paper.inputs import Labels
from restive.learners.rivals.following import IndexTables, myopic_tables
from restive.learners.storage import Snapshot
from restive.mdp.representation import Representation
from restive.model.bandit import Bandit
from restive.policies.greedy import Sight

__all__ = ["IndexPolicy", "Myopic", "Whittle"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROW_ERROR = 1e-9  # L1 distance of a row beyond the cap from the one that stands for it
LONGEST_CAP = 100_000


class IndexPolicy(Learner):
    """Pulls the arm with the largest index of (state last seen, age); unseen arms first.

    Theorem 1: no such policy is optimal in general.
    """

    def __init__(self, bandit: Bandit, rep: Representation, tables: Sequence[Floats]) -> None:
        self.bandit, self.n_arms = bandit, bandit.n_arms
        self.tables = IndexTables(rep, tables, [np.inf] * self.n_arms)
        self.sight = Sight(self.n_arms)
        self.labels = Labels(self.n_arms, bandit.n_states)

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


@declare(
    "myopic",
    "knows the bandit and pulls the arm with the largest expected reward at this step",
    guarantee="regret against rho* may grow linearly, except for identical two-state arms that are "
    "positively correlated, where it does not grow",
    assumes="irreducible chains, rewards in [0, 1]",
    told="the bandit",
    cites=(
        "Ahmad, Liu, Javidi, Zhao, Krishnamachari: Optimality of myopic sensing in multichannel "
        "opportunistic access, IEEE Transactions on Information Theory 55 (2009)",
    ),
    yardstick=True,
)
class Myopic(IndexPolicy):
    """The index is the expected reward; optimal for identical arms where P(0,1) <= P(1,1)."""

    def __init__(self, bandit: Bandit) -> None:
        caps = [min(LONGEST_CAP, arm.mixing_time(ROW_ERROR)) for arm in bandit.arms]
        rep = Representation.of(bandit, caps)
        super().__init__(bandit, rep, myopic_tables(bandit, rep))


@declare(
    "whittle",
    "knows the bandit and pulls the arm with the largest Whittle index",
    guarantee="none in general: regret against rho* may grow linearly (Theorem 1)",
    assumes="irreducible chains, rewards in [0, 1]; meant for indexable arms",
    told="the bandit",
    cites=(
        "Whittle: Restless bandits: activity allocation in a changing world, Journal of Applied "
        "Probability 25A (1988)",
    ),
    options=(Parameter("max_age", "int", ..., "most ages to tell apart", 1),),
    yardstick=True,
)
class Whittle(IndexPolicy):
    """The index of (s, n) is the subsidy at which pulling and resting an arm alone are as good.

    See ``restive.planning.indices``. Ages are told apart up to the mixing time to 1e-6 (L1), at
    most ``max_age``. Where an arm is not indexable the numbers still define a policy.
    """

    def __init__(self, bandit: Bandit, max_age: int = 500) -> None:
        from restive.planning.indices import whittle_indices

        self.max_age = max_age
        caps = [min(max_age, arm.mixing_time(1e-6)) for arm in bandit.arms]
        tables = [whittle_indices(arm, cap) for arm, cap in zip(bandit.arms, caps, strict=True)]
        super().__init__(bandit, Representation.of(bandit, caps), tables)
