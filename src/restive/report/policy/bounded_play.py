"""A stretch of simulated play by any policy, for pictures and tables of many arms."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.many.bounded import BoundedPlan
from restive.model.bandit import Arm
from restive.planning import Plan

STEPS = 4_000
CELLS = 4_000_000  # arms times steps, at most
WORLDS, WORLD_STEPS, WORLD_CELLS = 48, 600, 10_000_000


@dataclass(frozen=True, eq=False)
class Stretch:
    """pulls: (n, m) arms; paid: (n, m); situations: (states, ages) of the block -> how often."""

    pulls: Ints
    paid: Floats
    block: tuple[int, ...]
    situations: Counter[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]


def play_stretch(plan: BoundedPlan | Plan) -> Stretch:
    """Play the policy from its start; the first quarter is left out."""
    bandit, policy, block = plan.bandit, plan.policy, plan.block
    rng = np.random.default_rng(0)
    steps = max(200, min(STEPS, CELLS // bandit.n_arms))
    states, ages = np.full(bandit.n_arms, -1), np.ones(bandit.n_arms, dtype=np.int64)
    rows: dict[tuple[int, int], Floats] = {}
    pulls, paid, seen = [], [], Counter[tuple[tuple[int, ...], ...]]()
    for step in range(steps):
        worth = policy.ranking(states[None], ages[None], np.array([int(ages.argmin())]))[0]
        arms = np.argsort(-worth, kind="stable")[: bandit.pulls]
        if step >= steps // 4:
            key = (_part(states, block), _part(ages, block), tuple(arms.tolist()))
            if len(block) <= len(arms) + 12:
                seen[key] += 1
        rewards = []
        for j in arms.tolist():
            law = _law(bandit.arms[j], int(states[j]), int(ages[j]), rows)
            states[j] = rng.choice(len(law), p=law)
            rewards.append(float(bandit.arms[j].rewards_given[states[j]]))
        ages += 1
        ages[arms] = 1
        if step >= steps // 4:
            pulls.append(arms)
            paid.append(rewards)
    return Stretch(np.array(pulls), np.array(paid), block, seen)  # type: ignore[arg-type]


def pull_shares(plan: BoundedPlan | Plan) -> Floats:
    """Share of all pulls that each arm gets, (K,), in many worlds at once.

    Arms that hardly move in one of them show all their states across them.
    """
    bandit, policy, rng = plan.bandit, plan.policy, np.random.default_rng(0)
    worlds = min(WORLDS, max(1, WORLD_CELLS // (WORLD_STEPS * bandit.n_arms)))
    steps = max(200, min(WORLD_STEPS, CELLS // bandit.n_arms))
    states = np.full((worlds, bandit.n_arms), -1)
    ages, counts = np.ones_like(states), np.zeros(bandit.n_arms)
    rows: dict[tuple[int, int], Floats] = {}
    for step in range(steps):
        worth = policy.ranking(states, ages, ages.argmin(axis=1))
        arms = np.argsort(-worth, axis=1, kind="stable")[:, : bandit.pulls]
        for world, j in enumerate(arms):
            for k in j.tolist():
                law = _law(bandit.arms[k], int(states[world, k]), int(ages[world, k]), rows)
                states[world, k] = rng.choice(len(law), p=law)
        ages += 1
        np.put_along_axis(ages, arms, 1, axis=1)
        if step >= steps // 4:
            np.add.at(counts, arms.ravel(), 1)
    return np.asarray(counts / counts.sum())


def _part(numbers: Ints, block: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(numbers[list(block)].tolist())


def _law(arm: Arm, state: int, age: int, rows: dict[tuple[int, int], Floats]) -> Floats:
    """Of the state that a pull shows."""
    if state < 0:
        law = arm.initial_law @ arm.power(age - 1)
    else:
        key = id(arm), age
        if key not in rows:
            rows[key] = arm.power(age)
        law = rows[key][state]
    return np.asarray(np.maximum(law, 0.0) / np.maximum(law, 0.0).sum())
