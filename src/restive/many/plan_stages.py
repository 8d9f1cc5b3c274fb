"""Stages of planning: each takes a share of the time and yields bounds and policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import comb, inf, prod
from time import perf_counter

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import TooLargeError
from restive.many.grid import GridPlan
from restive.many.grid_improvement import grid_improvements
from restive.many.grid_value import gain_within
from restive.many.groups import grouped_improvements
from restive.many.lagrangian import LagrangianBound, lagrangian_bound
from restive.many.market import Market
from restive.many.plan_candidates import LEAST_MIXED, index_on_grid, played_value
from restive.many.plan_policies import GridPolicy, PullsPolicy, grouped_policy
from restive.many.plan_task import StageResult, Task
from restive.many.policies import RulePolicy
from restive.many.pricing import improvements
from restive.many.several_pulls import plan_pulls
from restive.many.simulating import SimulatedValue, settled_play, simulate_policy
from restive.many.two_state import two_state_bound, two_state_gains
from restive.model.bandit import Bandit
from restive.planning import forecast, plan
from restive.policies.greedy import plan_policy
from restive.policies.policy import Policy

__all__ = [
    "block_stage",
    "compile_arrays",
    "exact_seconds",
    "exact_stage",
    "grid_ages",
    "grid_stage",
    "group_stage",
    "lagrangian_stage",
    "pair_stage",
    "pulls_fit",
    "pulls_stage",
]

SOME_KINDS = 100  # of two-state arms; more are priced by arrays
EXACT_ARMS = 12  # beyond, a forecast is a number with too many digits
GRID_AGES = (4, 3, 2)  # for each arm and state, of the first grid: as many as fit
GRID_STATES = 2_500_000  # at most,
GRID_PACE = 250_000  # and so many states times sets of arms for each second that is left
PULL_BACKUPS = 3e7  # of one sweep of an exact plan with several pulls a step
CONTENDERS = 40  # arms that may join a block
NEAR = (0.75, 0.9, 1.0)  # times the best price of arms alone: where contenders are looked for
PLAY_SHARE = 0.15  # of a stage's time, for simulated play
WORTH_A_LOOK = 4.0  # seconds for grids from which on the first one's policy is played at once
FROM_START = 2_000  # steps of a run from the true start; more for slow arms
NOISE = 0.3  # share of the interval that is noise from which on it is played again


def lagrangian_stage(task: Task) -> LagrangianBound:
    """Every kind of arm alone at the best price; any number of arms."""
    if task.bound is None:
        pulls, counts = task.bandit.pulls, task.counts
        if _by_arrays(task):
            task.bound = two_state_bound(*_columns(task), pulls, counts=counts)
        else:
            deadline = perf_counter() + 0.3 * task.left
            task.bound = lagrangian_bound(task.kinds, pulls, counts=counts, deadline=deadline)
    return task.bound


def _by_arrays(task: Task) -> bool:
    return len(task.kinds) > SOME_KINDS and all(
        arm.n_states == 2 and arm.period == 1 for arm in task.kinds
    )


def _columns(task: Task) -> tuple[Floats, Floats, Floats, Floats]:
    """p01, p11, r0, r1 of all kinds of two-state arms."""
    p01, p11 = np.array([arm.transitions[:, 1] for arm in task.kinds]).T
    r0, r1 = np.array([arm.rewards for arm in task.kinds]).T
    return p01, p11, r0, r1


def compile_arrays(task: Task) -> None:
    """Compile what prices by arrays take, if they will be needed."""
    if _by_arrays(task):
        two_state_bound([0.5, 0.4], [0.4, 0.5], [0, 0], [1, 1], 1)
        two_state_gains([0.5, 0.4], [0.4, 0.5], [0, 0], [1, 1], 0.5)


def exact_seconds(task: Task) -> float:
    """Forecast of an exact plan with one pull a step; infinite where it does not fit."""
    if task.bandit.pulls > 1 or task.bandit.n_arms > EXACT_ARMS:
        return inf
    try:
        size = forecast(task.bandit, task.tolerance, memory=task.memory)
    except ArithmeticError:
        return inf
    return size.seconds if size.fits else inf


def exact_stage(task: Task, seconds: float) -> Iterator[StageResult]:
    try:
        best = plan(task.bandit, task.tolerance, memory=task.memory, time=seconds)
    except (TooLargeError, ArithmeticError):
        return
    everyone = tuple(range(task.bandit.n_arms))
    yield StageResult("exact", best.gain_upper, None, best.gain_lower, exact=best,
                  policy=partial(plan_policy, best), block=everyone)  # fmt: skip


def block_stage(task: Task, seconds: float) -> Iterator[StageResult]:
    """Arms priced out; both ends certified.

    Of very many arms only the likeliest contenders may join the block: the others are priced
    whenever the upper bound falls, U(x) = (bound of the contenders at price x) + sum of g_j(x).
    """
    ends = perf_counter() + seconds
    arms = list(range(task.bandit.n_arms))
    outside: Callable[[float], float] = lambda price: 0.0  # noqa: E731
    if len(arms) > CONTENDERS:
        arms, outside = _contenders(task)
    pulls = task.bandit.pulls
    some = Bandit([task.bandit.arms[j] for j in arms], pulls=pulls)
    upper = inf
    for priced in improvements(some, task.tolerance, time=ends - perf_counter(),
                               memory=task.memory):  # fmt: skip
        worse = priced.upper >= upper
        upper = min(upper, priced.upper)
        more = 0.0 if worse else outside(priced.price)
        block, own = tuple(arms[j] for j in priced.plan_arms), priced.plan
        yield StageResult(
            "block of all arms" if len(block) == task.bandit.n_arms else "block",
            inf if worse else priced.upper + more, priced.price, priced.lower, block=block,
            policy=None if own is None else partial(grouped_policy, task.sizes, [block], [own],
                                                    [pulls]),
        )  # fmt: skip
        if perf_counter() > ends:
            return


def _contenders(task: Task) -> tuple[list[int], Callable[[float], float]]:
    """The arms that want pulls most at prices near the best one, and what the others still earn."""
    best = lagrangian_stage(task).price
    if _by_arrays(task):
        columns = _columns(task)

        def gains(price: float) -> Floats:
            return np.asarray(two_state_gains(*columns, price)[:, 1])
    else:
        market = Market(task.kinds)

        def gains(price: float) -> Floats:
            return np.array([market.gain(kind, price)[1] for kind in range(len(task.kinds))])

    worth = np.sum([gains(share * best) for share in NEAR], axis=0)[task.kind_of]
    order = np.argsort(-worth, kind="stable")
    left = np.bincount(task.kind_of[order[CONTENDERS:]], minlength=len(task.kinds))

    def outside(price: float) -> float:
        return float(left @ gains(price)) * (1 + 1e-14 * len(left))

    return order[:CONTENDERS].tolist(), outside


def group_stage(task: Task, seconds: float) -> Iterator[StageResult]:
    """Groups of arms with a pull each; the lower end is certified."""
    rounds = grouped_improvements(
        task.bandit, task.bandit.pulls, task.tolerance, time=seconds, memory=task.memory
    )
    for grouped in rounds:
        plans = [own for own in grouped.plans if own is not None]
        if len(plans) == len(grouped.groups):
            policy = partial(grouped_policy, task.sizes, grouped.groups, plans)
            block = tuple(arm for group in grouped.groups for arm in group)
            yield StageResult("groups", inf, None, grouped.lower, policy=policy, block=block)


def grid_ages(task: Task) -> int:
    """Ages for each arm and state of a first grid that fits the time; 0 where none does."""
    n_arms, pulls = task.bandit.n_arms, task.bandit.pulls
    if n_arms > EXACT_ARMS:
        return 0
    sets, backups = comb(n_arms, pulls), GRID_PACE * task.left
    for ages in GRID_AGES:
        points = [ages * arm.n_states + arm.period for arm in task.bandit.arms]
        seen = prod(sorted((arm.n_states / size for arm, size
                            in zip(task.bandit.arms, points, strict=True)))[-pulls:])  # fmt: skip
        states = sets * prod(points) * seen  # of the arms just pulled only the states
        if states <= GRID_STATES and states * sets <= backups:
            return ages
    return 0


def grid_stage(task: Task, seconds: float) -> Iterator[StageResult]:
    """Grids of beliefs: an upper bound, and a policy whose value is simulated."""
    best: GridPlan | None = None
    rounds = grid_improvements(
        task.bandit, task.bandit.pulls, time=(1 - 2 * PLAY_SHARE) * seconds, memory=task.memory,
        ages=grid_ages(task) or min(GRID_AGES), tolerance=0.1 * task.tolerance,
    )  # fmt: skip
    began, played = perf_counter(), None
    try:
        for best in rounds:
            yield StageResult("grid", best.upper)
            if seconds >= WORTH_A_LOOK and _noisy(best, played):
                spent = perf_counter() - began
                look = _played(task, best, PLAY_SHARE * spent if played else 0.0)
                played = look.simulated
                yield look
    except TooLargeError:
        pass
    if best is not None:
        yield _played(task, best, PLAY_SHARE * seconds)
        yield from index_on_grid(task, best, PLAY_SHARE * seconds)


def _noisy(own: GridPlan, played: SimulatedValue | None) -> bool:
    """Whether play would narrow the interval: it was not played yet, or noise is much of it.

    The finer the grid, the less noise its values leave in simulated play.
    """
    if played is None or played.lower == -inf:  # arms too slow for one look are so for others
        return played is None
    return played.upper - played.lower > NOISE * (own.upper - played.lower)


def _played(task: Task, own: GridPlan, seconds: float) -> StageResult:
    policy = GridPolicy(own)
    if len(own.uppers) > 1:  # the gain depends on the start: play from the true one
        value = _played_from_start(task, policy, seconds)
    else:
        value = played_value(gain_within(own, seconds, task.rng))
    everyone = tuple(range(task.bandit.n_arms))
    return StageResult(
        "grid", own.upper, None, simulated=value, policy=lambda: policy, block=everyone
    )


def _played_from_start(task: Task, policy: Policy, seconds: float) -> SimulatedValue:
    population = task.population(range(task.bandit.n_arms))

    def rule(states: Ints, ages: Ints, pulls: int) -> Ints:
        worth = policy.ranking(states, ages, ages.argmin(axis=1))
        return np.asarray(np.argsort(-worth, axis=1, kind="stable")[:, :pulls])

    steps = max(FROM_START, LEAST_MIXED * population.slowest)
    settled, warmup = settled_play(population, steps)
    return simulate_policy(settled, RulePolicy("grid", population, rule), task.bandit.pulls, steps,
                           256, rng=task.rng, warmup=warmup, time_limit=seconds)  # fmt: skip


def pair_stage(task: Task, seconds: float) -> Iterator[StageResult]:
    """Pairs of arms with conditional budgets: an upper bound where all arms contend."""
    from restive.many.pairs import pair_improvements  # and with it linear programming

    rounds = pair_improvements(
        task.kinds, task.counts, task.bandit.pulls, time=max(seconds, 1e-3), memory=task.memory,
        tolerance=max(0.1 * task.tolerance, 1e-6),
    )  # fmt: skip
    try:
        for bound in rounds:
            yield StageResult("pairs", bound.upper, bound.price)
    except TooLargeError:
        return


def pulls_fit(task: Task) -> bool:
    """Whether an exact plan with several pulls a step is small enough to be tried."""
    arms, pulls = task.bandit.arms, task.bandit.pulls
    if len(arms) > EXACT_ARMS:
        return False
    try:
        ages = [arm.mixing_time(0.1 * task.tolerance) + arm.period for arm in arms]
    except ArithmeticError:
        return False
    sets = comb(len(arms), pulls)
    cells = prod(arm.n_states * n for arm, n in zip(arms, ages, strict=True))
    least = prod(sorted(ages)[:pulls])  # at the least, of arms just pulled there is one age
    return sets * sets * (cells / least) <= PULL_BACKUPS


def pulls_stage(task: Task, seconds: float) -> Iterator[StageResult]:
    """Exact planning with several pulls a step."""
    ends = perf_counter() + seconds
    try:
        own = plan_pulls(task.bandit, task.bandit.pulls, task.tolerance, task.memory, ends)
    except TooLargeError:
        return
    policy, everyone = PullsPolicy(own), tuple(range(task.bandit.n_arms))
    yield StageResult("exact", own.upper, None, own.lower, policy=lambda: policy, block=everyone)
