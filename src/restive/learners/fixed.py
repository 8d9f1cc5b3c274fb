"""Learners that know what to do: a plan's policy, one arm for ever, all arms in turn."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.options import Parameter
from restive.learners.contract import Learner, require_arms
from restive.learners.declaration import declare
from restive.learners.paper.inputs import Labels
from restive.learners.paper.rules import FOREVER, Counts
from restive.learners.storage import Snapshot, decode_bandit, encode_bandit
from restive.mdp.certificate import bandit_parameters
from restive.model.bandit import Bandit
from restive.planning import Plan, plan
from restive.policies.greedy import NEVER, GreedyPolicy, Sight

__all__ = ["PlanPolicy", "RoundRobin", "SingleArm"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@declare(
    "optimal",
    "knows the bandit and follows its plan",
    guarantee="regret against rho* that does not grow but for luck; no gap regret",
    assumes="irreducible chains, rewards in [0, 1]",
    told="the bandit",
    options=(Parameter("tolerance", "float", ..., "width of the plan's interval", 1e-12, 1),),
    yardstick=True,
)
class PlanPolicy(Learner):
    """Follows a plan of the true bandit, after one pull of each arm: what learners are measured by.

    >>> from restive.planning import plan
    >>> from restive.problems import example1
    >>> PlanPolicy(plan(example1())).ask()
    0
    """

    def __init__(self, plan: Plan) -> None:
        rep = plan.representation
        self.n_arms = rep.n_arms
        self.plan = plan
        self.sight = Sight(rep.n_arms)
        self.labels = Labels(rep.n_arms, rep.sizes)
        self.policy = GreedyPolicy(rep, plan.values, bandit_parameters(plan.bandit, rep))
        self._unused = Counts.none(rep)
        self._limits = np.full(rep.n_colors, FOREVER)

    @classmethod
    def from_problem(cls, bandit: Bandit, tolerance: float = 1e-6) -> PlanPolicy:
        return cls(plan(bandit, tolerance))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> PlanPolicy:
        bandit, tolerance = decode_bandit(settings["bandit"]), settings["tolerance"]
        made = plan(bandit, tolerance)
        if list(made.representation.caps) != settings["caps"]:
            made = plan(bandit, tolerance, caps=settings["caps"])
        return cls(made)

    @property
    def settings(self) -> dict[str, Any]:
        caps = list(self.plan.representation.caps)
        bandit = encode_bandit(self.plan.bandit)
        return {"bandit": bandit, "tolerance": self.plan.tolerance, "caps": caps}

    def ask(self) -> int:
        if not self.sight.complete:
            return self.sight.states.index(NEVER)
        return self.policy.arm(self.sight)

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm = self.check_arm(arm)
        self.check_reward(reward)
        self.sight.note(arm, self.labels.number(arm, state))

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        count = states.shape[1]
        first = 0
        pulls = np.empty(count, dtype=np.int64)
        while not self.sight.complete and first < count:
            arm = pulls[first] = self.ask()
            self.tell(int(arm), int(states[arm, first]), 0.0)
            first += 1
        if first < count:
            self.policy.follow(self.sight, self._unused, self._limits, self.labels.table(states),
                               states, rewards, pulls, first, count)  # fmt: skip
        return pulls

    def snapshot(self) -> Snapshot:
        state = {"name": self.name, "settings": self.settings, "sight": self.sight.snapshot()}
        return state, {}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.check_origin(state)
        self.sight.restore(state["sight"])


@declare(
    "best-arm",
    "knows which single arm pays most and pulls it for ever",
    guarantee="weak regret that does not grow but for luck; regret against rho* may grow linearly",
    assumes="nothing",
    told="which arm pays most on average",
    yardstick=True,
)
class SingleArm(Learner):
    """Pulls one arm for ever."""

    def __init__(self, n_arms: int, arm: int) -> None:
        self.n_arms = n_arms
        self.arm = self.check_arm(arm)

    @classmethod
    def from_problem(cls, bandit: Bandit) -> SingleArm:
        return cls(bandit.n_arms, bandit.best_arm)

    def ask(self) -> int:
        return self.arm

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        self.check_arm(arm)
        self.check_reward(reward)

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        return np.full(states.shape[1], self.arm)

    def snapshot(self) -> Snapshot:
        return {"name": self.name, "settings": self.settings}, {}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.check_origin(state)


@declare(
    "round-robin",
    "pulls all arms in turn",
    guarantee="none",
    assumes="nothing",
    told="the number of arms",
)
class RoundRobin(Learner):
    """Pulls all arms in turn, going on after the arm that was pulled last."""

    def __init__(self, n_arms: int) -> None:
        require_arms(n_arms)
        self.n_arms = n_arms
        self._next = 0

    def ask(self) -> int:
        return self._next

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        self.check_reward(reward)
        self._next = (self.check_arm(arm) + 1) % self.n_arms

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        pulls = np.asarray((self._next + np.arange(states.shape[1])) % self.n_arms)
        self._next = (self._next + len(pulls)) % self.n_arms
        return pulls

    def snapshot(self) -> Snapshot:
        return {"name": self.name, "settings": self.settings, "next": self._next}, {}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.check_origin(state)
        self._next = int(state["next"])
