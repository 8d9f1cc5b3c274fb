"""Yardsticks that know the bandit: the myopic policy and Whittle's index policy."""

from __future__ import annotations

from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.fixed import FollowPolicy
from restive.model.bandit import Bandit
from restive.policies.tables import myopic_policy, whittle_policy


@declare(
    "myopic",
    "knows the bandit and pulls the arm with the largest expected reward at this step",
    guarantee="regret against rho* may grow linearly, except for identical two-state arms that are "
    "positively correlated, where it does not grow",
    assumes="irreducible chains, rewards in [0, 1]",
    told="the bandit",
    cites=("ahmad2009",),
    yardstick=True,
    several_pulls=True,
)
class Myopic(FollowPolicy):
    """The index is the expected reward; optimal for identical arms where P(0,1) <= P(1,1)."""

    def __init__(self, bandit: Bandit) -> None:
        self.bandit = bandit
        super().__init__(myopic_policy(bandit))


@declare(
    "whittle",
    "knows the bandit and pulls the arm with the largest Whittle index",
    guarantee="none in general: regret against rho* may grow linearly (Theorem 1)",
    assumes="irreducible chains, rewards in [0, 1]; meant for indexable arms",
    told="the bandit",
    cites=("whittle1988",),
    options=(Parameter("max_age", "int", ..., "most ages to tell apart", 1),),
    yardstick=True,
    several_pulls=True,
)
class Whittle(FollowPolicy):
    """The index of (s, n) is the subsidy at which pulling and resting an arm alone are as good.

    See ``restive.planning.indices``. Ages are told apart up to the mixing time to 1e-6 (L1), at
    most ``max_age``. Where an arm is not indexable the numbers still define a policy.
    """

    def __init__(self, bandit: Bandit, max_age: int = 500) -> None:
        self.bandit, self.max_age = bandit, max_age
        super().__init__(whittle_policy(bandit, max_age))
