"""Index policies for any number of arms, and what they earn in simulated play."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from time import perf_counter

import numpy as np

from restive.many.grid import GridPlan
from restive.many.grid_board import slot_ages
from restive.many.grid_value import SimulatedGain, gain_within, scores_of
from restive.many.index_tables import IndexTable
from restive.many.lagrangian import LagrangianBound
from restive.many.plan_policies import GroupsPolicy
from restive.many.plan_task import StageResult, Task
from restive.many.policies import (
    KindIndexPolicy,
    PopulationPolicy,
    RolloutPolicy,
    index_table,
    reward_table,
    rollout,
    stay_else_oldest,
)
from restive.many.population import Population
from restive.many.simulating import SimulatedValue, best_of, settled_play, simulate_policy
from restive.many.single_arm import price_arm
from restive.many.whittle import whittle_table
from restive.model.bandit import Arm
from restive.policies.policy import Policy

MOST_KINDS = 256  # of arms that index policies look at
ROW_ERROR = 1e-6  # from where on ages share an index,
MOST_AGES = 4_000  # or after so many
SHORTEST, LONGEST = 3_000, 100_000  # steps of a simulated run with one pull a step,
LEAST_MIXED = 10  # but at least so many mixing times of the slowest arm
PACE = 2e7  # steps a second that no machine exceeds
RUNS = 32
LOOKS = 3  # choices by rollout that tell how long one takes
LEAST_SECONDS = 3.0  # for the first, short look at what the policies earn


def contenders(task: Task, bound: LagrangianBound) -> tuple[int, ...]:
    """Arms worth looking at: those that want pulls at the best price, as many as there is time for.

    The rest are left alone; a policy that does so is a policy.
    """
    n_kinds = len(task.kinds)
    if n_kinds <= MOST_KINDS:
        return tuple(range(task.bandit.n_arms))
    worth = np.asarray(bound.gains)
    order = np.argsort(-worth, kind="stable")
    numbers = np.cumsum(np.array(task.counts)[order])
    enough = max(MOST_KINDS, int(np.searchsorted(numbers, 2 * task.bandit.pulls)) + 1)
    chosen = np.isin(task.kind_of, order[:enough])
    return tuple(np.flatnonzero(chosen).tolist())


def index_findings(task: Task, bound: LagrangianBound, seconds: float) -> Iterator[StageResult]:
    """The best of the index policies that can be made in time."""
    ends = perf_counter() + seconds
    arms = contenders(task, bound)
    population = task.population(arms)
    policies = list(_policies(population, bound.price, perf_counter() + 0.5 * seconds))
    rollouts = [(policy, _step_seconds(policy, task.bandit.pulls))
                for policy in _rollout(policies, bound.price, task.bandit.pulls)]  # fmt: skip
    makers = {policy.name: partial(lifted, task, arms, policy)
              for policy in (*policies, *(p for p, _ in rollouts))}  # fmt: skip
    left = LEAST_SECONDS
    for steps in _horizons(population, task.bandit.pulls):
        left = max(left, ends - perf_counter())
        settled, warmup = settled_play(population, steps)
        if not policies or left <= 0 or warmup + steps > PACE * left:
            return
        share = 0.5 * left / (len(policies) + 2) / (warmup + steps)  # of a step
        tried = [*policies, *(p for p, seconds in rollouts if seconds <= share)]
        choice = best_of(settled, tried, task.bandit.pulls, steps, RUNS, rng=task.rng,
                         warmup=warmup, time_limit=left)  # fmt: skip
        left = 0.0
        if isinstance(choice.policy, KindIndexPolicy | RolloutPolicy):
            indices = [policy for policy in policies if isinstance(policy, KindIndexPolicy)]
            earned = [choice.values[policy.name].mean for policy in indices]
            task.index_policy = indices[int(np.argmax(earned))]
        if choice.value.runs > 1:
            yield StageResult(choice.policy.name, simulated=choice.value, block=arms,
                              policy=makers[choice.policy.name])  # fmt: skip


def index_on_grid(task: Task, own: GridPlan, seconds: float) -> Iterator[StageResult]:
    """The best index policy once more: a grid's values take most of the noise out of its play.

    Ages that share a slot of the grid share an index, in what is played and in the policy.
    """
    policy = task.index_policy
    if policy is None or len(own.uppers) > 1 or any(table.period > 1 for table in policy.tables):
        return
    kind_of = policy.population.kind_of.tolist()
    grids = dict(zip(kind_of, own.layout.grids, strict=True))
    tables = []
    for kind, table in enumerate(policy.tables):
        dense, starts = slot_ages(grids[kind])
        ages = np.arange(1, table.values.shape[1] + 1)
        shared = starts[np.maximum(np.searchsorted(starts, ages, side="right") - 1, 0)]
        columns = np.where(ages <= dense, ages, shared) - 1
        tables.append(IndexTable(table.values[:, columns], 1, table.unseen))
    same = replace(policy, tables=tuple(tables))
    scores = scores_of(own, [tables[kind].values for kind in kind_of])
    value = played_value(gain_within(own, seconds, task.rng, scores))
    everyone = tuple(range(task.bandit.n_arms))
    yield StageResult(policy.name, simulated=value, policy=lambda: same, block=everyone)


def played_value(gain: SimulatedGain) -> SimulatedValue:
    return SimulatedValue(
        gain.mean, gain.lower, gain.upper, gain.replications, gain.steps, gain.level
    )


def longer_play(
    task: Task, finding: StageResult, seconds: float, enough: float
) -> Iterator[StageResult]:
    """The same index policy, played for longer and longer on fresh random numbers.

    enough: half width of the interval at which to stop.
    """
    ends = perf_counter() + seconds
    policy = finding.policy() if finding.policy is not None else None
    if isinstance(policy, GroupsPolicy) and isinstance(policy.policies[0], PopulationPolicy):
        policy = policy.policies[0]
    value = finding.simulated
    if not isinstance(policy, PopulationPolicy) or value is None:
        return
    width = value.upper - value.lower
    for times in count(1):
        if 0.5 * (value.upper - value.lower) <= enough:
            return
        began, steps = perf_counter(), value.steps
        seeds = np.random.SeedSequence([task.rng, times])
        settled, warmup = settled_play(policy.population, 4 * steps)
        value = simulate_policy(settled, policy, task.bandit.pulls, 4 * steps, RUNS, rng=seeds,
                                warmup=warmup, time_limit=ends - began)  # fmt: skip
        if value.runs < RUNS:
            return
        if value.upper - value.lower < width:  # a grid's values may have told more already
            width = value.upper - value.lower
            yield StageResult(
                finding.method, simulated=value, policy=finding.policy, block=finding.block
            )
        if 5 * (perf_counter() - began) > ends - perf_counter():
            return


def lifted(task: Task, arms: tuple[int, ...], policy: Policy) -> Policy:
    """A policy for some of the arms as one for all of them."""
    return policy if len(arms) == task.bandit.n_arms else _Some(task.sizes, arms, policy)


class _Some(GroupsPolicy):
    """One group with all pulls."""

    def __init__(self, sizes: tuple[int, ...], arms: tuple[int, ...], policy: Policy) -> None:
        super().__init__(sizes, [arms], [policy])
        self.unseen = None

    @property
    def most_pulls(self) -> int:
        return len(self.groups[0])


def _policies(population: Population, price: float, ends: float) -> Iterator[PopulationPolicy]:
    makers: dict[str, Callable[[Arm], IndexTable]] = {
        "lagrangian": lambda arm: index_table(arm, price_arm(arm, price, cap=_cap(arm)).advantages),
        "myopic": _rewards,
        "whittle": lambda arm: index_table(arm, whittle_table(arm, cap=_cap(arm)).indices),
    }
    yield stay_else_oldest(population)
    for name, maker in makers.items():
        tables = []
        for arm in population.kinds:
            if perf_counter() > ends:
                return
            tables.append(maker(arm))
        yield KindIndexPolicy(name, population, tuple(tables))


def _rollout(policies: Sequence[PopulationPolicy], price: float, pulls: int) -> list[RolloutPolicy]:
    """Two steps ahead from the Lagrangian priority, if that is among the policies."""
    known = next((p for p in policies if p.name == "lagrangian"), None)
    if not isinstance(known, KindIndexPolicy):
        return []
    tables = dict(zip(known.population.kinds, known.tables, strict=True))
    return [rollout(known.population, price, lambda arm, _: tables[arm].values, pulls)]


def _step_seconds(policy: RolloutPolicy, pulls: int) -> float:
    """What a step of play takes: choices of all runs at once, in NumPy."""
    ages = np.tile(np.arange(policy.n_arms) + 1, (RUNS, 1))
    began = perf_counter()
    for _ in range(LOOKS):
        policy.select(np.zeros_like(ages), ages, pulls)
    return (perf_counter() - began) / LOOKS


def _rewards(arm: Arm) -> IndexTable:
    if arm.mixing_time(1e-9, MOST_AGES + 1) <= MOST_AGES:
        return reward_table(arm)
    return index_table(arm, price_arm(arm, 0.0, cap=_cap(arm)).table.means)


def _cap(arm: Arm) -> int:
    return arm.mixing_time(ROW_ERROR, MOST_AGES)


def _horizons(population: Population, pulls: int) -> tuple[int, int]:
    """Steps of a first look and of a longer one; shorter where many pulls a step average out.

    Long enough for the slowest arm: a run that sees it in one state says little of its mean.
    """
    slowest, fewer = population.slowest, min(pulls, 10)
    steps = max(min(max(SHORTEST, 200 * slowest), LONGEST), 2 * LEAST_MIXED * slowest)
    return max(steps // 8, LEAST_MIXED * slowest) // fewer, steps // fewer
