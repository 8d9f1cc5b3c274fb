"""A stretch of simulated play by any policy, for pictures and tables of many arms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.many.bounded import BoundedPlan
from restive.model.bandit import Arm
from restive.planning import Plan

Law = Callable[[Arm, int, int, dict[tuple[int, int], Floats]], Floats]

STEPS = 4_000
CELLS = 4_000_000  # arms times steps, at most
WORLDS, WORLD_STEPS, WORLD_CELLS = 48, 600, 10_000_000
MORE_ARMS = 12  # than are pulled in a step: up to here situations are told apart


@dataclass(frozen=True, eq=False)
class Stretch:
    """pulls: (n, m) arms; paid: (n, m); situations: (states, ages, arms pulled) -> how often.

    States and ages are those of the arms of the block.
    """

    pulls: Ints
    paid: Floats
    block: tuple[int, ...]
    situations: Counter[tuple[tuple[int, ...], ...]]


def play_stretch(plan: BoundedPlan | Plan) -> Stretch:
    """Play the policy in one world from its start; the first quarter is left out."""
    bandit, block = plan.bandit, list(plan.block)
    pulls, paid, situations = [], [], Counter[tuple[tuple[int, ...], ...]]()
    for states, ages, arms, seen in _steps(plan, 1, STEPS, _law):
        pulled = arms[0].tolist()
        pulls.append(pulled)
        paid.append([float(bandit.arms[j].rewards_given[seen[0, j]]) for j in pulled])
        if len(block) <= len(pulled) + MORE_ARMS:
            known = (tuple(numbers[0, block].tolist()) for numbers in (states, ages))
            situations[*known, tuple(pulled)] += 1
    return Stretch(np.array(pulls), np.array(paid), plan.block, situations)


def pull_shares(plan: BoundedPlan | Plan) -> Floats:
    """Share of all pulls that each arm gets, (K,), in many worlds at once.

    Arms that hardly move in one of them show all their states across them: the aperiodic ones
    are at their stationary law from the beginning.
    """
    n_arms = plan.bandit.n_arms
    worlds = min(WORLDS, max(1, WORLD_CELLS // (WORLD_STEPS * n_arms)))
    counts = np.zeros(n_arms)
    for _, _, arms, _ in _steps(plan, worlds, WORLD_STEPS, _settled_law):
        np.add.at(counts, arms.ravel(), 1)
    return np.asarray(counts / counts.sum())


def _steps(
    plan: BoundedPlan | Plan, worlds: int, most: int, law_of: Law
) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Steps of play in so many worlds at once, after the first quarter.

    States last seen (-1: none) and ages before the pulls, (B, K), the arms pulled, (B, m), and
    the states last seen after them, (B, K).
    """
    bandit, policy, rng = plan.bandit, plan.policy, np.random.default_rng(0)
    steps = max(200, min(most, CELLS // bandit.n_arms))
    states = np.full((worlds, bandit.n_arms), -1)
    ages = np.ones_like(states)
    powers: dict[tuple[int, int], Floats] = {}
    for step in range(steps):
        worth = policy.ranking(states, ages, ages.argmin(axis=1))
        arms = np.argsort(-worth, axis=1, kind="stable")[:, : bandit.pulls]
        seen = states.copy()
        for world, pulled in enumerate(arms):
            for j in pulled.tolist():
                law = law_of(bandit.arms[j], int(states[world, j]), int(ages[world, j]), powers)
                seen[world, j] = rng.choice(len(law), p=law)
        if step >= steps // 4:
            yield states, ages, arms, seen
        states = seen
        ages += 1
        np.put_along_axis(ages, arms, 1, axis=1)


def _settled_law(arm: Arm, state: int, age: int, powers: dict[tuple[int, int], Floats]) -> Floats:
    if state < 0 and arm.period == 1:
        return arm.stationary
    return _law(arm, state, age, powers)


def _law(arm: Arm, state: int, age: int, powers: dict[tuple[int, int], Floats]) -> Floats:
    """Of the state that a pull shows."""
    if state < 0:
        law = arm.initial_law @ arm.power(age - 1)
    else:
        key = id(arm), age
        if key not in powers:
            powers[key] = arm.power(age)
        law = powers[key][state]
    return np.asarray(np.maximum(law, 0.0) / np.maximum(law, 0.0).sum())
