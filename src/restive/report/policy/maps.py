"""What the pictures of a policy show, as arrays: nothing here draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.report.policy.visits import Visits, grouped, quantiles

if TYPE_CHECKING:
    from restive.model.bandit import Bandit
    from restive.planning import Plan


EITHER = -1  # no arm is better than the next best by more than the plan can tell
MAX_ROWS, MAX_MAPS = 24, 12
RARE = 0.005  # part of the time below which a situation gets no map
SHORTEST = 10  # ages shown at least
FINE = 40  # up to here every age has a column of its own and the axis is linear


@dataclass(frozen=True, eq=False)
class Strips:
    """Two arms: what to pull as the rested arm's age grows, one row per pair of last states.

    pairs: (R, 2) last states of arms 1 and 2. ages: (N,) from 2 on. actions, gaps: (R, N).
    share: (R,) part of the time in which the policy has pulled ``last`` and knows this pair.
    visits: (R, N) part of the time spent at each age; a column stands for all ages up to the next.
    period: of the rested arm; from its cap on, actions repeat with it.
    """

    last: int
    rested: int
    pairs: Ints
    ages: Ints
    actions: Ints
    gaps: Floats
    share: Floats
    visits: Floats
    period: int


@dataclass(frozen=True, eq=False)
class AgeMap:
    """Three arms: what to pull by the ages of the two rested arms, for given last states.

    others: the rested arms a and b. ages: theirs, (A,) and (B,). actions, gaps, visits: (A, B).
    Two arms never have the same age: such entries of gaps are NaN, unless they stand for longer
    ages too.
    """

    last: int
    states: tuple[int, ...]
    others: tuple[int, int]
    ages: tuple[Ints, Ints]
    actions: Ints
    gaps: Floats
    visits: Floats
    share: float
    also: tuple[tuple[int, ...], ...]  # for each arm: all states for which the map is this one


@dataclass(frozen=True, eq=False)
class Returns:
    """Any number of arms: what follows after seeing a state of an arm, the most frequent first.

    arms, states: (R,) what was pulled and seen. share: (R,) part of the time.
    following: (R, K) law of the next pull. ages: (R, 3) 5 %, 50 % and 95 % quantiles of the arm's
    age at its next pull, NaN where it was not pulled again. rows, columns: names, where arms that
    are alike stand together; ``arms`` has one of them, and following the columns named.
    """

    arms: Ints
    states: Ints
    share: Floats
    following: Floats
    ages: Floats
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


def resolution(plan: Plan) -> float:
    """Gaps below this are not told apart from 0."""
    return max(plan.gain_upper - plan.gain_lower, 1e-12)


def best_pulls(plan: Plan, last_states: Ints, ages: Ints) -> tuple[Ints, Floats]:
    """Arm to pull (or EITHER) and what the second-best pull loses; inputs (..., K)."""
    gaps = plan.gap(last_states, ages)
    if plan.bandit.n_arms == 1:
        return np.zeros(gaps.shape[:-1], np.int64), np.zeros(gaps.shape[:-1])
    second = np.sort(gaps, axis=-1)[..., 1]
    actions = plan.actions(last_states, ages)
    return np.where(second > resolution(plan), actions, EITHER), second


def runs(actions: Ints, ages: Ints) -> list[tuple[int, int, int]]:
    """Stretches of equal actions along one row: (arm, index of the first, index past the last).

    >>> runs(np.array([1, 1, 0]), np.array([2, 3, 4]))
    [(1, 0, 2), (0, 2, 3)]
    """
    cuts = [0, *(np.flatnonzero(np.diff(actions)) + 1).tolist(), len(ages)]
    return [(int(actions[a]), a, b) for a, b in pairwise(cuts)]


def strips(plan: Plan, seen: Visits, max_rows: int = MAX_ROWS) -> list[Strips]:
    """One panel per arm pulled last, of a bandit with two arms; the most frequent pairs."""
    return [_strip(plan, seen, last, max_rows) for last in (0, 1)]


def _strip(plan: Plan, seen: Visits, last: int, max_rows: int) -> Strips:
    rested, states, ages = 1 - last, seen.states, seen.ages
    mine = seen.last == last
    often = grouped(states[mine], seen.shares[mine]) if mine.any() else {}
    every = list(product(*(range(size) for size in plan.bandit.n_states)))
    rows = sorted(sorted(every, key=lambda pair: (-often.get(pair, 0.0), pair))[:max_rows])
    pairs = np.array(rows)
    shown, period = _strip_ages(plan, pairs, last), plan.bandit.arms[rested].period
    actions, gaps = best_pulls(plan, pairs[:, None, :], _with_age(shown, last))
    visits = np.zeros(actions.shape)
    for r, pair in enumerate(rows):
        here = mine & (states == pair).all(axis=1)
        column = _columns(ages[here, rested], shown, period)
        visits[r] = np.bincount(column, seen.shares[here], minlength=len(shown))
    share = np.array([often.get(pair, 0.0) for pair in rows])
    return Strips(last, rested, pairs, shown, actions, gaps, share, visits, period)


def _with_age(ages: Ints, last: int) -> Ints:
    """Ages of both arms, (N, 2): 1 for the arm pulled last."""
    other = np.ones_like(ages)
    return np.stack([other, ages] if last == 0 else [ages, other], axis=-1)


def _strip_ages(plan: Plan, pairs: Ints, last: int) -> Ints:
    """Ages to show: until nothing changes, or two rounds of a period; exact at every switch."""
    rested = 1 - last
    period, end = plan.bandit.arms[rested].period, max(plan.caps[rested], 2)
    every = np.arange(2, max(end + 2 * period, SHORTEST) + 1)
    switches: set[int] = set()
    for pair in pairs:
        actions, _ = best_pulls(plan, pair, _with_age(every, last))
        switches.update(every[np.flatnonzero(np.diff(actions)) + 1].tolist())
    if period == 1:
        until = max(SHORTEST, max(switches, default=0) + 3)
        every = every[every <= until]
    if len(every) <= FINE:
        return every
    return np.array(sorted({*_thinned(every).tolist(), *switches}))


def _thinned(ages: Ints) -> Ints:
    """About 60 of many ages, denser where they are small."""
    targets = np.unique(np.geomspace(ages[0], ages[-1], 60).round().astype(np.int64))
    return targets if len(ages) > FINE else ages


def _columns(ages: Ints, shown: Ints, period: int) -> Ints:
    """Column of each age: that of the last age shown before it.

    Ages beyond the end are in the last column, which stands for them, or with a period one or
    more rounds back.
    """
    beyond = np.maximum(ages - shown[-1], 0)
    if period > 1:
        ages = ages - -(-beyond // period) * period
    return np.asarray(np.searchsorted(shown, ages, side="right") - 1)


def age_maps(plan: Plan, seen: Visits, max_maps: int = MAX_MAPS) -> list[AgeMap]:
    """The most frequent situations (arm pulled last, last states) of a bandit with three arms."""
    last = seen.last
    often = grouped(np.column_stack([last, seen.states]), seen.shares)
    keys = [key for key in often if often[key] >= RARE] or list(often)[:1]
    axes = [_map_ages(plan, keys, arm) for arm in range(3)]
    maps = []
    for key in keys:
        mine = (last == key[0]) & (seen.states == key[1:]).all(axis=1)
        maps.append(_age_map(plan, key, axes, seen.ages[mine], seen.shares[mine]))
    return _merged(maps)[:max_maps]


def _merged(maps: Sequence[AgeMap]) -> list[AgeMap]:
    """Maps that say the same after other states as one; the most frequent first."""
    groups: dict[tuple[object, ...], list[AgeMap]] = {}
    for part in maps:
        drawn = np.where(np.isnan(part.gaps), EITHER - 1, part.actions)
        sight = part.states[part.last]
        groups.setdefault((part.last, sight, drawn.tobytes()), []).append(part)
    merged = []
    for group in groups.values():
        first, share = group[0], sum(part.share for part in group)
        seen = [tuple(sorted({part.states[arm] for part in group})) for arm in range(3)]
        visits = np.sum([part.visits for part in group], axis=0)
        covers = {part.states for part in group} == set(product(*seen))
        if covers:
            merged.append(replace(first, visits=visits, share=share, also=tuple(seen)))
        else:  # not all pairs of what was seen: saying both lists would say too much
            merged += group
    return sorted(merged, key=lambda part: -round(part.share, 12))


def _age_map(
    plan: Plan, key: tuple[int, ...], axes: list[Ints], ages: Ints, shares: Floats
) -> AgeMap:
    last, states = key[0], key[1:]
    a, b = (arm for arm in range(3) if arm != last)
    actions, gaps = best_pulls(plan, np.array(states), _age_grid(axes, last))
    visits = np.zeros(actions.shape)
    periods = [arm.period for arm in plan.bandit.arms]
    places = [_columns(ages[:, arm], axes[arm], periods[arm]) for arm in (a, b)]
    np.add.at(visits, tuple(places), shares)
    gaps[_alone(axes[a])[:, None] & _alone(axes[b]) & (axes[a][:, None] == axes[b])] = np.nan
    share, also = float(shares.sum()), tuple((state,) for state in states)
    return AgeMap(last, states, (a, b), (axes[a], axes[b]), actions, gaps, visits, share, also)


def _alone(ages: Ints) -> Bools:
    """Which columns stand for a single age: not the last one, nor one before a jump."""
    return np.asarray(np.diff(ages, append=ages[-1] + 2) == 1)


def _age_grid(axes: list[Ints], last: int) -> Ints:
    """Ages of all three arms, (A, B, 3): 1 for the arm pulled last, the others from their axes."""
    a, b = (arm for arm in range(3) if arm != last)
    grid = np.ones((len(axes[a]), len(axes[b]), 3), np.int64)
    grid[..., a], grid[..., b] = axes[a][:, None], axes[b]
    return grid


def _map_ages(plan: Plan, keys: list[tuple[int, ...]], arm: int) -> Ints:
    """Ages of one arm to show in all maps: until nothing changes, thinned out if that is long."""
    period, end = plan.bandit.arms[arm].period, max(plan.caps[arm], 2)
    every = np.arange(2, max(end + 2 * period, SHORTEST) + 1)
    if period > 1:
        return _thinned(every)
    axes = [_thinned(np.arange(2, max(cap, 2) + 2)) for cap in plan.caps]
    axes[arm] = _thinned(every)
    until = SHORTEST
    for key in keys:
        if key[0] != arm:
            actions, _ = best_pulls(plan, np.array(key[1:]), _age_grid(axes, key[0]))
            along = 0 if arm == min(j for j in range(3) if j != key[0]) else 1
            changing = np.flatnonzero(np.diff(actions, axis=along).any(axis=1 - along))
            until = max(until, *(axes[arm][changing + 1] + 2).tolist(), 0)
    return _thinned(every[every <= until])


def returns(
    bandit: Bandit, seen: Visits, max_rows: int = MAX_ROWS, kind: Ints | None = None,
    column: Ints | None = None, columns: int = 0,
) -> Returns:  # fmt: skip
    """What follows each sight of a state, and how long the arm then rests.

    kind, column: arms counted as kinds, (K,), and next pulls as so many columns, (N,).
    """
    every, last, pulls = np.arange(len(seen.pulls)), seen.last, seen.pulls
    kinds = np.arange(bandit.n_arms) if kind is None else kind
    next_pulls, count = (pulls, bandit.n_arms) if column is None else (column, columns)
    pairs = np.stack([kinds[last], seen.states[every, last]], axis=-1)
    back = np.stack([kinds[pulls], seen.states[every, pulls]], axis=-1)
    waits = seen.ages[every, pulls]
    often = grouped(pairs, seen.shares)
    rows = list(often)[:max_rows]
    laws, ages = [], []
    for pair in rows:
        here, again = (pairs == pair).all(axis=1), (back == pair).all(axis=1)
        law = np.bincount(next_pulls[here], seen.shares[here], minlength=count)
        laws.append(law / law.sum())
        known = again.any()
        levels = (0.05, 0.5, 0.95)
        ages.append(quantiles(waits[again], seen.shares[again], levels) if known else [np.nan] * 3)
    share, chosen = np.array([often[pair] for pair in rows]), np.array(rows)
    return Returns(chosen[:, 0], chosen[:, 1], share, np.array(laws), np.array(ages))
