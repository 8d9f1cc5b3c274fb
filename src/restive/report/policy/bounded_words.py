"""The policy of a plan for many arms in words: a short rule that does as well, and who is pulled.

Where the plan is an exact one of some of the arms, rule and shares are computed. Otherwise rules
are tried in simulated play, and all that is said of them is said to be simulated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from restive.base.arrays import Bools, Floats
from restive.base.words import outward
from restive.many.bounded import BoundedPlan
from restive.many.index_tables import IndexTable
from restive.many.plan_candidates import LEAST_MIXED
from restive.many.plan_policies import GroupsPolicy
from restive.many.policies import (
    KindIndexPolicy,
    PopulationPolicy,
    StayPolicy,
    myopic,
    round_robin,
)
from restive.many.population import Population
from restive.many.simulating import SimulatedValue, settled_play, simulate_policy
from restive.model.bandit import Bandit
from restive.planning import Plan, plan_within
from restive.policies.policy import Policy
from restive.report.policy.alike import alike, called, names_of
from restive.report.policy.bounded_play import pull_shares
from restive.report.policy.rules import ShortRule, chosen_words, short_rule
from restive.report.policy.visits import visits_of

SECONDS = 6.0  # for rules; shares take about one more
NEAR = 5e-3  # a rule that loses at most this part of what the policy earns is worth saying
CONFIDENCE = 0.999  # of each rule's interval: several are tried
RUNS = 32
SHORT, LONG = 3_000, 200_000  # steps of a run: for a first look, and to tell
BLOCK = 4  # arms that are planned again
LEVELS = 6
SHOWN = 6
MOST_KINDS = 256
MOST_ARMS = 20_000  # to be sorted into kinds again
INDICES = {"whittle": "Whittle index", "lagrangian": "worth at the price of a pull"}


@dataclass(frozen=True)
class BoundedWords:
    """rule: a sentence or two, empty if none was found. value: what the rule earns, if simulated.

    shares: of the pulls, of arms that are alike together, the largest first; computed: whether
    they are the policy's stationary law, or come from simulated play.
    """

    rule: str
    value: SimulatedValue | None
    shares: tuple[tuple[str, float], ...]
    computed: bool

    @property
    def sentence(self) -> str:
        """Who is pulled how often."""
        shown = [f"{share:.0%} {name}" for name, share in self.shares[:SHOWN] if share >= 0.005]
        rest = sum(share for _, share in self.shares[len(shown) :])
        if rest >= 0.005:
            shown.append(f"{rest:.0%} all others")
        how = "computed" if self.computed else "simulated"
        return f"Share of the pulls ({how}): {', '.join(shown)}."


def bounded_words(plan: BoundedPlan) -> BoundedWords:
    """What the policy does, as far as some seconds allow to find out."""
    exact = _block_plan(plan, SECONDS / 2)
    if exact is not None:
        visits = visits_of(exact)
        if visits.computed:
            shares = np.zeros(plan.bandit.n_arms)
            shares[list(plan.block)] = visits.pulled(len(plan.block))
            words = _exact_rule(plan, short_rule(exact, visits.arms_pulled))
            return BoundedWords(words, None, _together(plan.bandit, shares), True)
    words, value = _simulated_rule(plan, perf_counter() + SECONDS)
    shares = pull_shares(plan)
    return BoundedWords(words, value, _together(plan.bandit, shares), False)


def _block_plan(plan: BoundedPlan, seconds: float) -> Plan | None:
    """The exact plan of the arms that the policy pulls, where it is one and quickly made again."""
    bandit = plan.bandit
    if plan.method != "block" or bandit.pulls > 1 or len(plan.block) > BLOCK:
        return None
    own = Bandit([called(bandit.arms[j], bandit.arm_name(j)) for j in plan.block])
    again = plan_within(own, seconds, tolerances=(plan.tolerance, 1e-3))
    return again if isinstance(again, Plan) else None


def _exact_rule(plan: BoundedPlan, rule: ShortRule | None) -> str:
    """A rule for the arms that are pulled, compared with the policy and not with the best one."""
    if rule is None:
        return ""
    units = plan.bandit.units
    if rule.optimal:
        return (
            f"{rule.words}. The rule earns what this policy does, to within {rule.tolerance:.0e}."
        )
    lost = units.loss(max(0.0, plan.upper - rule.gain))
    earns = f"The rule earns {units.mean(rule.gain):.4f} a step"
    return f"{rule.words}. {earns}, at most {lost:.2g} less than any policy could."


# --- rules -----------------------------------------------------------------------------------


def _simulated_rule(plan: BoundedPlan, ends: float) -> tuple[str, SimulatedValue | None]:
    """The first rule that surely, by simulation, loses no more than NEAR against the policy."""
    population = _population(plan)
    if population is None or len(plan.block) <= plan.bandit.pulls:  # no choice, nothing to tell
        return "", None
    pulls, least = plan.bandit.pulls, (1 - NEAR) * plan.lower
    for words, policy in _candidates(plan, population):
        for steps in (SHORT, LONG):
            left = ends - perf_counter()
            if left <= 0:
                return "", None
            counted = max(steps, LEAST_MIXED * population.slowest) // pulls + 1
            settled, warmup = settled_play(population, counted)
            value = simulate_policy(settled, policy, pulls, counted, RUNS, rng=0, warmup=warmup,
                                    confidence=CONFIDENCE, time_limit=left)  # fmt: skip
            # an interval above what any policy earns is one that misses
            if value.runs < RUNS or value.upper < least or value.lower > plan.upper:
                break
            if value.lower >= least:
                return f"{words}. {_earned(plan, value)}", value
    return "", None


def _earned(plan: BoundedPlan, value: SimulatedValue) -> str:
    """What the rule earns beside the policy, in the units of the rewards."""
    units, pulls = plan.bandit.units, plan.bandit.pulls
    low, high = outward(units.mean(value.lower, pulls), units.mean(value.upper, pulls), 4)
    lost = units.loss(max(0.0, plan.lower - value.lower))
    beside = f"at most {lost:.2g} less than this policy" if lost > 0 else "no less than this policy"
    return f"In simulated play the rule earns {low} to {high} a step, {beside}."


def _population(plan: BoundedPlan) -> Population | None:
    """The arms that the policy pulls by kinds; None where they are too many to look at."""
    policy = _inner(plan)
    if isinstance(policy, PopulationPolicy):
        return policy.population if len(policy.population.kinds) <= MOST_KINDS else None
    if len(plan.block) > MOST_ARMS:
        return None
    population = Population.of(called(plan.bandit.arms[j], "") for j in plan.block)
    return population if len(population.kinds) <= MOST_KINDS else None


def _inner(plan: BoundedPlan) -> Policy:
    """The policy, or that of the one group that has all pulls."""
    policy = plan.policy
    if isinstance(policy, GroupsPolicy) and len(policy.policies) == 1:
        return policy.policies[0]
    return policy


def _candidates(
    plan: BoundedPlan, population: Population
) -> Iterator[tuple[str, PopulationPolicy]]:
    """Rules with their words, the simplest first."""
    several = plan.bandit.pulls > 1
    pulls = f"the {plan.bandit.pulls:,} arms" if several else "the arm"
    among = (
        "" if len(plan.block) == plan.bandit.n_arms else f" of the {len(plan.block):,} it may pull"
    )
    if len(plan.block) > plan.bandit.pulls:
        yield f"Pull the arms{among} in turn", round_robin(population)
    stays = list(_stays(population, plan.bandit))
    oldest = "those unseen longest" if several else "the one unseen longest"
    for words, good in stays:
        yield f"Stay {words}, else pull {oldest}{among}", StayPolicy("stay", population, good)
    promise = "promise" if several else "promises"
    words = f"Pull {pulls}{among} that {promise} the largest reward for the next step"
    yield words, myopic(population)
    policy = _inner(plan)
    if isinstance(policy, KindIndexPolicy) and policy.name in INDICES:
        best = f"those of largest {INDICES[policy.name]}" if several else (
            f"the one of largest {INDICES[policy.name]}")  # fmt: skip
        for words, good in stays:
            yield f"Stay {words}, else pull {best}{among}", _staying(policy, good)


def _staying(policy: KindIndexPolicy, good: tuple[Bools, ...]) -> KindIndexPolicy:
    """The same indices, but arms just seen in a good state come first."""
    top = 1.0 + max(max(table.values.max(), table.unseen.max()) for table in policy.tables)
    tables = []
    for table, mine in zip(policy.tables, good, strict=True):
        values = table.values
        if values.shape[1] <= table.period:  # age 1 would repeat
            values = np.concatenate([values, values], axis=1)
        values = values.copy()
        values[mine, 0] += top
        tables.append(IndexTable(values, table.period, table.unseen))
    return KindIndexPolicy("stay, else index", policy.population, tuple(tables))


def _stays(population: Population, bandit: Bandit) -> Iterator[tuple[str, tuple[Bools, ...]]]:
    """States to stay in: those that promise at least some amount for the next step."""
    promises = [arm.transitions @ arm.rewards for arm in population.kinds]
    amounts = np.unique(np.concatenate(promises).round(12))
    gain = max(arm.gain for arm in population.kinds)
    order = np.argsort(np.abs(amounts - gain), kind="stable")[:LEVELS]
    tried: set[tuple[bytes, ...]] = set()
    for level in amounts[order].tolist():
        good = tuple(own >= level - 1e-9 for own in promises)
        key = tuple(mine.tobytes() for mine in good)
        if key in tried or all(mine.all() for mine in good) or not any(map(np.any, good)):
            continue
        tried.add(key)
        shared = {(arm.states, tuple(mine.tolist()))
                  for arm, mine in zip(population.kinds, good, strict=True)}  # fmt: skip
        if len(shared) == 1:
            yield f"while {chosen_words(*shared.pop())}", good
        else:
            amount = f"{bandit.units.mean(level):.3g}"
            yield f"where the next step promises {amount} or more", good


# --- shares ----------------------------------------------------------------------------------


def _together(bandit: Bandit, shares: Floats) -> tuple[tuple[str, float], ...]:
    """Shares of arms that are alike, added up, the largest first, without those never pulled."""
    groups = alike(bandit, np.flatnonzero(shares > 0).tolist())
    named = [(names_of(bandit, arms), float(shares[arms].sum())) for arms in groups]
    return tuple(sorted(named, key=lambda pair: -pair[1]))
