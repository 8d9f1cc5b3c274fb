"""Index policies: a number for every state last seen and age of every arm; the largest is pulled.

Theorem 1: no such policy is optimal in general.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.model.arguments import require_bandit
from restive.model.bandit import Bandit
from restive.policies.policy import Policy
from restive.policies.sight import NEVER, Sight

ROW_ERROR = 1e-9  # L1 distance of a row beyond the cap from the one that stands for it
LONGEST_CAP = 100_000


class IndexPolicy(Policy):
    """Pulls the arms with the largest index of (state last seen, age).

    tables: (S_j, stored ages of j) for each arm, on the age lassos of ``rep``. unseen: index of an
    arm before it is first seen. stay: added to the index of the arm pulled last.
    """

    def __init__(
        self, rep: Representation, tables: Sequence[Floats], unseen: float = np.inf,
        stay: float = 0.0,
    ) -> None:  # fmt: skip
        self.rep, self.n_arms, self.sizes = rep, rep.n_arms, rep.sizes
        self.unseen, self.stay = unseen, stay
        self.tables = np.full((rep.n_arms, rep.max_support + 1, max(rep.n_ages)), -np.inf)
        for own, table in zip(self.tables, tables, strict=True):
            own[: table.shape[0], : table.shape[1]] = table
        self.tables[:, NEVER] = unseen

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        stored, _ = self.rep.store(ages)
        arms = np.arange(self.n_arms)
        priorities = self.tables[arms, states, stored - 1] + self.stay * (arms == last[:, None])
        return np.asarray(priorities)

    def play(self, sight: Sight, path: Ints, pulls: Ints, begin: int, end: int) -> None:
        from restive._kernels.rivals_policy import index_path

        rep = self.rep
        ages = np.array([rep.stored_age(j, sight.age(j)) - 1 for j in range(rep.n_arms)])
        last = sight.last if any(sight.seen_at) else NEVER
        index_path(self.tables, self.stay, np.array(rep.caps) - 1, np.array(rep.n_ages), path,
                   pulls, begin, end, np.array(sight.states), ages, last)  # fmt: skip
        sight.follow(pulls[begin:end], path[:, begin:end])


def reward_tables(bandit: Bandit, rep: Representation, loop: str = "limit") -> list[Floats]:
    """Expected reward sum_s' P^n(s, s') r(s') of the next pull, (S_j, stored ages) per arm."""
    rewards = bandit_parameters(bandit, rep, loop=loop).rewards
    return [rewards[rep.color_grid(j)] for j in range(rep.n_arms)]


def myopic_policy(bandit: Bandit) -> IndexPolicy:
    """The largest expected reward at this step.

    Optimal for identical two-state arms where P(0,1) <= P(1,1) (Ahmad, Liu, Javidi, Zhao,
    Krishnamachari 2009: "Optimality of myopic sensing in multichannel opportunistic access").
    """
    arms = require_bandit(bandit).arms
    caps = [min(LONGEST_CAP, arm.mixing_time(ROW_ERROR)) for arm in arms]
    rep = Representation.of(bandit, caps)
    return IndexPolicy(rep, reward_tables(bandit, rep))


def whittle_policy(bandit: Bandit, max_age: int) -> IndexPolicy:
    """The largest Whittle index (Whittle 1988).

    The index of (s, n) is the subsidy for resting at which pulling and resting an arm alone are
    equally good (``restive.planning.indices``). Ages are told apart up to the mixing time to 1e-6
    (L1), at most ``max_age``. Where an arm is not indexable the numbers still define a policy.
    """
    from restive.planning.indices import whittle_indices

    arms = require_bandit(bandit).arms
    caps = [min(max_age, arm.mixing_time(1e-6)) for arm in arms]
    tables = [whittle_indices(arm, cap) for arm, cap in zip(arms, caps, strict=True)]
    return IndexPolicy(Representation.of(bandit, caps), tables)
