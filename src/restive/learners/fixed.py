"""Learners that learn nothing: each follows a policy, and others are measured by it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require_arms
from restive.base.options import Parameter
from restive.learners.contract import SightedLearner
from restive.learners.declaration import declare
from restive.learners.paper.inputs import Labels
from restive.model.bandit import Bandit
from restive.planning import plan
from restive.policies.greedy import plan_policy
from restive.policies.policy import Always, InTurn, Policy
from restive.policies.sight import Observation
from restive.policies.tables import myopic_policy, whittle_policy


class FollowPolicy(SightedLearner):
    """Follows a fixed policy: a plan, index tables, one arm, all in turn, or a function.

    A learner that is declared builds its policy from arguments that it keeps as attributes, so that
    it can be loaded; one made of just any policy goes on from its file by ``load``.

    >>> from restive.planning import plan
    >>> from restive.policies.greedy import plan_policy
    >>> from restive.problems import example1
    >>> FollowPolicy(plan_policy(plan(example1()))).ask()
    0
    """

    name = "policy"
    guarantee = "none: it learns nothing"
    several_pulls = True

    def __init__(self, policy: Policy, name: str = "") -> None:
        super().__init__(policy.n_arms)
        self.policy, self.name = policy, name or self.name
        self._labels = None if policy.sizes is None else Labels(self.n_arms, policy.sizes)

    @property
    def most_pulls(self) -> int:
        return min(super().most_pulls, self.policy.most_pulls)

    def ask(self) -> int:
        return self.policy.choose(self.sight)

    def preferences(self) -> Floats:
        return self.policy.preferences(self.sight)

    def step(self, observations: Sequence[Observation]) -> None:
        pulled = self.check_step(observations)
        labels = self._labels
        self.sight.see(
            [(arm, 0 if labels is None else labels.number(arm, state)) for arm, state, _ in pulled]
        )

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        if self._labels is None:
            states = np.broadcast_to(np.int64(0), states.shape)  # as ``step`` notes them
        else:
            self._labels.table(states)  # refuses states that there are not
        pulls = np.empty(states.shape[1], dtype=np.int64)
        self.policy.play(self.sight, states, pulls, 0, len(pulls))
        return pulls


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


@declare(
    "optimal",
    "knows the bandit and follows its plan",
    guarantee="regret against rho* that does not grow but for luck; no gap regret",
    assumes="irreducible chains, rewards in [0, 1]",
    told="the bandit",
    options=(Parameter("tolerance", "float", ..., "width of the plan's interval", 1e-12, 1),),
    yardstick=True,
)
class Optimal(FollowPolicy):
    """Follows a plan of the true bandit, after one pull of each arm: what learners are measured by.

    caps: ages that the plan tells apart; by default what the tolerance takes.
    """

    def __init__(
        self, bandit: Bandit, tolerance: float = 1e-6, caps: int | Sequence[int] | None = None
    ) -> None:
        self.bandit, self.tolerance, self.caps = bandit, tolerance, caps
        self.plan = plan(bandit, tolerance, caps=caps)
        super().__init__(plan_policy(self.plan))


@declare(
    "best-arm",
    "knows which single arm pays most and pulls it for ever",
    guarantee="weak regret that does not grow but for luck; regret against rho* may grow linearly",
    assumes="nothing",
    told="which arm pays most on average",
    yardstick=True,
)
class BestArm(FollowPolicy):
    """Pulls one arm for ever."""

    def __init__(self, n_arms: int, arm: int) -> None:
        super().__init__(Always(n_arms, arm))
        self.arm = arm

    @classmethod
    def from_problem(cls, bandit: Bandit) -> BestArm:
        return cls(bandit.n_arms, bandit.best_arm)


@declare(
    "round-robin",
    "pulls all arms in turn",
    guarantee="none",
    assumes="nothing",
    told="the number of arms",
    several_pulls=True,
)
class RoundRobin(FollowPolicy):
    """Pulls all arms in turn, going on after the arm that was pulled last."""

    def __init__(self, n_arms: int) -> None:
        require_arms(n_arms)
        super().__init__(InTurn(n_arms))
