"""Policies for any number of arms and of pulls a step: by index, by rule of thumb, by look-ahead.

A policy sees of every arm the state last seen (-1: none yet) and the time since (for an arm not
seen yet, the steps it has been there, this one included) and names the arms to pull.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.base.described import Brief
from restive.many.index_tables import IndexTable
from restive.many.population import Population, start_rows
from restive.model import chains
from restive.model.bandit import Arm
from restive.policies.policy import Policy

Rule = Callable[[Ints, Ints, int], Ints]

MYOPIC_TOLERANCE = 1e-9  # ages from which on expected rewards are within this of their limit merge


@dataclass(frozen=True, eq=False, repr=False)
class PopulationPolicy(Brief, Policy):
    """A policy for the arms of a population; it knows what to do with arms not seen yet."""

    name: str
    population: Population

    unseen = None

    def __post_init__(self) -> None:
        kinds = np.array([arm.n_states for arm in self.population.kinds])
        object.__setattr__(self, "n_arms", self.population.n_arms)
        object.__setattr__(self, "sizes", tuple(kinds[self.population.kind_of].tolist()))

    def ranking(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        return self.priorities(states, ages, last)

    def select(self, last_states: Ints, ages: Ints, pulls: int) -> Ints:
        """Arms to pull, (runs, m), all different; last_states (-1: none yet), ages: (runs, K)."""
        return _largest(self.priorities(last_states, ages, ages.argmin(axis=1)), pulls)


@dataclass(frozen=True, eq=False, repr=False)
class KindIndexPolicy(PopulationPolicy):
    """Pull the m arms of largest index, ties by number."""

    tables: tuple[IndexTable, ...]  # one per kind

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        return _by_kind(self.population, self.tables, states, ages)


@dataclass(frozen=True, eq=False, repr=False)
class StayPolicy(PopulationPolicy):
    """Stay on arms just seen in a good state; for the rest, the arms unseen longest, by number."""

    good: tuple[Bools, ...]  # (S,) per kind

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        stay = np.zeros(ages.shape, dtype=bool)
        for kind, good in enumerate(self.good):
            mine = self.population.kind_of == kind
            seen = states[:, mine]
            stay[:, mine] = (seen >= 0) & (ages[:, mine] == 1) & good[seen]
        return np.where(stay, np.inf, ages.astype(np.float64))


@dataclass(frozen=True, eq=False, repr=False)
class RulePolicy(PopulationPolicy):
    """Any function of (last states, ages, m), all runs at once as in ``select``."""

    rule: Rule

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        order = self.rule(states, ages, self.n_arms)
        preferred = np.zeros(ages.shape)
        np.put_along_axis(preferred, order, -np.arange(order.shape[1], dtype=np.float64), axis=1)
        return preferred

    def select(self, last_states: Ints, ages: Ints, pulls: int) -> Ints:
        return self.rule(last_states, ages, pulls)


@dataclass(frozen=True, eq=False, repr=False)
class RolloutPolicy(PopulationPolicy):
    """Two steps ahead on the sum of the arms' priced values.

    Looking one step ahead on that sum is the Lagrangian priority: pull the largest advantages
    a_j. Two steps ahead the next choice counts too. With theta_j the m-th largest advantage that
    the other arms will have one step later, pull the largest

        a_j(s, n) + a_j(s, n + 1)^+ - (a_j(s, n + 1) - theta_j)^+
            + sum_s' P^n(s, s') [(a_j(s', 1) - theta_j)^+ - a_j(s', 1)^+]

    For m = 1 that is two steps of value iteration from the sum of the priced values. For m > 1
    each arm is looked at by itself, as if no other were pulled in this step.
    """

    advantages: tuple[IndexTable, ...]
    rows: tuple[Floats, ...]  # (S + 1, ages, S) per kind: law of the state seen; last: not seen yet
    pulls: int = 1  # that ``priorities`` count on

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        return self.scores(states, ages, self.pulls)

    def select(self, last_states: Ints, ages: Ints, pulls: int) -> Ints:
        return _largest(self.scores(last_states, ages, pulls), pulls)

    def scores(self, last_states: Ints, ages: Ints, pulls: int) -> Floats:
        """What each arm is pulled for, (runs, K): differences are those of two-step values."""
        score = _by_kind(self.population, self.advantages, last_states, ages)
        if pulls == score.shape[-1]:
            return score
        later = _by_kind(self.population, self.advantages, last_states, ages + 1)
        theta = _others(later, pulls)
        score += np.maximum(later, 0.0) - np.maximum(later - theta, 0.0)
        for kind, table in enumerate(self.advantages):
            mine = self.population.kind_of == kind
            places = _stored(ages[:, mine], self.rows[kind].shape[1], table.period)
            law = self.rows[kind][last_states[:, mine], places]  # (runs, arms, S)
            after = table.values[:, 0]
            worth = np.maximum(after - theta[:, mine, None], 0.0) - np.maximum(after, 0.0)
            score[:, mine] += (law * worth).sum(axis=-1)
        return score


def _stored(ages: Ints, count: int, period: int) -> Ints:
    """Column of each age in a table whose last ``period`` columns repeat."""
    loop = count - period
    return np.where(ages - 1 < loop, ages - 1, loop + (ages - 1 - loop) % period)


def _by_kind(
    population: Population, tables: Sequence[IndexTable], last_states: Ints, ages: Ints
) -> Floats:
    """Index of every arm, (runs, K)."""
    scores = np.empty(ages.shape)
    for kind, table in enumerate(tables):
        mine = population.kind_of == kind
        scores[:, mine] = table.look_up(last_states[:, mine], ages[:, mine])
    return scores


def _largest(scores: Floats, pulls: int) -> Ints:
    """The arms of largest score, the first of several."""
    return np.asarray(np.argsort(-scores, axis=-1, kind="stable")[..., :pulls])


def _others(values: Floats, pulls: int) -> Floats:
    """For each arm the m-th largest value among the other arms, of which there are that many."""
    ordered = -np.sort(-values, axis=-1)
    inside = values >= ordered[..., pulls - 1 : pulls]  # without it the next one moves up
    return np.where(inside, ordered[..., pulls : pulls + 1], ordered[..., pulls - 1 : pulls])


def index_policy(
    name: str, population: Population, index: Callable[[Arm], Floats]
) -> KindIndexPolicy:
    """The policy of an index given as a function: arm -> (S, ages), the last period repeating.

    An arm not seen yet has the index averaged over its first state, taken as seen at its first
    step; at the stationary law that is the mean over the loop.
    """
    tables = tuple(index_table(arm, index(arm)) for arm in population.kinds)
    return KindIndexPolicy(name, population, tables)


def index_table(arm: Arm, values: Floats) -> IndexTable:
    """Indices (S, ages) of an arm, with that of the arm before it is seen."""
    if (arm.initial_law == arm.stationary).all():
        loop = values[:, -arm.period :].mean(axis=1)
        return IndexTable(values, arm.period, float(arm.stationary @ loop))
    fresh = arm.initial_law @ values
    return IndexTable(values, arm.period, np.concatenate([fresh[:1], fresh]))


def whittle(
    population: Population, indices: Callable[[Arm], Floats] | None = None
) -> KindIndexPolicy:
    """Pull the arms of largest Whittle index."""
    from restive.planning.indices import whittle_indices

    return index_policy("whittle", population, indices or whittle_indices)


def lagrangian(
    population: Population,
    price: float,
    advantages: Callable[[Arm, float], Floats] | None = None,
) -> KindIndexPolicy:
    """Pull the arms to which a pull at this price is worth most: the Lagrangian priority.

    advantages: value of pulling now minus that of waiting, (S, ages), at a price.
    """
    worth = advantages or _advantages
    return index_policy("lagrangian", population, lambda arm: worth(arm, price))


def _advantages(arm: Arm, price: float) -> Floats:
    from restive.planning.indices import rest_advantage

    return -rest_advantage(arm, price)


def rollout(
    population: Population,
    price: float,
    advantages: Callable[[Arm, float], Floats] | None = None,
    pulls: int = 1,
) -> RolloutPolicy:
    """Two steps ahead on the sum of the arms' priced values, see ``RolloutPolicy``."""
    tables = lagrangian(population, price, advantages).tables
    rows = []
    for arm, table in zip(population.kinds, tables, strict=True):
        ages = table.values.shape[1]
        seen = _rows(arm, ages).transpose(1, 0, 2)
        rows.append(np.concatenate([seen, start_rows(arm, ages)[None]]))
    return RolloutPolicy("rollout", population, tables, tuple(rows), pulls)


def _rows(arm: Arm, ages: int) -> Floats:
    """Rows of P^n, (ages, S, S); on the last period what they approach."""
    rows = chains.powers(arm.transitions, ages)
    for age in range(max(ages - arm.period + 1, 1), ages + 1):
        rows[age - 1] = chains.limit_rows(arm.transitions, age)
    return rows


def myopic(population: Population) -> KindIndexPolicy:
    """Pull the arms of largest expected reward in this step."""
    return KindIndexPolicy("myopic", population, tuple(map(reward_table, population.kinds)))


def reward_table(arm: Arm) -> IndexTable:
    """Expected reward of a pull by state last seen and age."""
    ages = arm.mixing_time(MYOPIC_TOLERANCE) + arm.period
    values = (_rows(arm, ages) @ arm.rewards).T
    return IndexTable(values, arm.period, start_rows(arm, ages) @ arm.rewards)


def stay_else_oldest(population: Population, threshold: float | None = None) -> StayPolicy:
    """The rule of thumb: stay while the state last seen pays enough, else the arm unseen longest.

    Enough is ``threshold``, by default the best average reward of any arm.
    """
    level = max(arm.gain for arm in population.kinds) if threshold is None else threshold
    good = tuple(arm.rewards >= level - 1e-12 for arm in population.kinds)
    return StayPolicy("stay, else oldest", population, good)


def round_robin(population: Population) -> StayPolicy:
    """Pull the arms unseen longest."""
    nowhere = tuple(np.zeros(arm.n_states, dtype=bool) for arm in population.kinds)
    return StayPolicy("round robin", population, nowhere)
