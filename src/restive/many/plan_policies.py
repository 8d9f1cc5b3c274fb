"""Policies that follow plans made on grids, for some of the arms only, or with several pulls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.many.grid import GridPlan
from restive.many.several_pulls import PullsPlan
from restive.model.bandit import Bandit
from restive.planning import Plan
from restive.policies.greedy import plan_policy
from restive.policies.policy import Policy


class GroupsPolicy(Policy):
    """Disjoint groups of arms, each with a policy and pulls of its own; other arms are left alone.

    One group is a policy for some of the arms. The arms that a group's policy likes best have
    preference 1, as many as it has pulls, the next one 1/2, and so on; arms of no group have 0.
    pulls: of each group, by default one.
    """

    def __init__(
        self, sizes: Sequence[int], groups: Sequence[Sequence[int]], policies: Sequence[Policy],
        pulls: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.n_arms, self.sizes = len(sizes), tuple(sizes)
        self.groups, self.policies = tuple(map(tuple, groups)), tuple(policies)
        self.pulls = (1,) * len(self.groups) if pulls is None else tuple(pulls)
        self.unseen = np.zeros(self.n_arms)
        self.unseen[[arm for group in self.groups for arm in group]] = 2.0

    @property
    def most_pulls(self) -> int:
        return sum(self.pulls)

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        preferred = np.zeros(ages.shape)
        for group, policy, pulls in zip(self.groups, self.policies, self.pulls, strict=True):
            own = states[:, group], ages[:, group]
            worth = policy.priorities(*own, own[1].argmin(axis=1))
            order = np.argsort(-worth, axis=1, kind="stable")
            places = np.argsort(order, axis=1)
            preferred[:, group] = 1.0 / (1.0 + np.maximum(places - (pulls - 1), 0))
        return preferred


def grouped_policy(
    sizes: Sequence[int], groups: Sequence[Sequence[int]], plans: Sequence[Plan | Policy],
    pulls: Sequence[int] | None = None,
) -> GroupsPolicy:  # fmt: skip
    """Every group by its own plan."""
    policies = [own if isinstance(own, Policy) else plan_policy(own) for own in plans]
    return GroupsPolicy(sizes, groups, policies, pulls)


class GridPolicy(Policy):
    """One look ahead from the true beliefs at the values of a grid."""

    def __init__(self, plan: GridPlan) -> None:
        self.plan, self.n_arms = plan, len(plan.arms)
        self.sizes = plan.layout.sizes

    @property
    def most_pulls(self) -> int:
        return self.plan.pulls

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        if self.plan.pulls == 1:
            return self.plan.pull_values(states, ages)
        preferred = np.zeros(ages.shape)
        np.put_along_axis(preferred, self.plan.actions(states, ages), 1.0, axis=1)
        return preferred


class PullsPolicy(Policy):
    """The sets of arms that an exact plan with several pulls a step names."""

    def __init__(self, plan: PullsPlan) -> None:
        self.plan, self.n_arms = plan, len(plan.arms)
        self.sizes = tuple(arm.n_states for arm in plan.arms)

    @property
    def most_pulls(self) -> int:
        return self.plan.pulls

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        preferred = np.zeros(ages.shape)
        for row in range(len(ages)):
            preferred[row, list(self.plan.action(states[row], ages[row]))] = 1.0
        return preferred


class _BestAlone(Policy):
    """The arms that pay most on average, for ever."""

    unseen = None

    def __init__(self, gains: Floats) -> None:
        self.n_arms, self.gains = len(gains), gains

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        return np.tile(self.gains, (len(ages), 1))


def best_alone(bandit: Bandit, gains: Floats) -> tuple[Policy, tuple[int, ...], float]:
    """Pulling the best arms for ever: the policy, its arms, and what it earns at least.

    gains: of each arm alone.
    """
    arms = np.argsort(-gains, kind="stable")[: bandit.pulls].tolist()
    slack = 1e-14 * sum(bandit.arms[j].n_states for j in arms)
    return _BestAlone(gains), tuple(arms), max(0.0, float(gains[arms].sum()) - slack)
