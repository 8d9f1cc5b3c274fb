"""Blocks of arms with several pulls a step: bounds that hold the truth and close on it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import naive_clocks
import naive_pulls as naive
from restive.base.errors import TooLargeError
from restive.many import pricing
from restive.many.clock_process import STEP
from restive.many.clocks import (
    BeliefPoints,
    hidden_clock,
    limit_laws,
    mixed_clock,
    pull_sets,
    set_count,
)
from restive.many.envelope import Envelope, Known
from restive.many.pricing import improvements, price_out
from restive.many.pulls_blocks import PullsBlocks
from restive.many.pulls_process import SetProcess
from restive.many.several_pulls import plan_pulls
from restive.model.bandit import Arm, Bandit

FLIP = Arm([[0.0, 1.0], [1.0, 0.0]], [0.2, 0.7])
ROUNDING = 1e-10


def random_arm(rng, size, stay=0.3):
    law = (1 - stay) * rng.dirichlet(np.ones(size), size) + stay * np.eye(size)
    return Arm(law, rng.uniform(0, 1, size))


def problem(seed, pulls):
    """Three to five arms: two or three states, every third one with twins or a periodic arm."""
    rng = np.random.default_rng([seed, pulls])
    count = int(rng.integers(max(pulls, 3), 6))
    arms = [random_arm(rng, 3 if k == 0 and count < 5 else 2) for k in range(count)]
    if seed % 3 == 0:
        arms[1:3] = [arms[-1]] * 2
    if seed % 3 == 1:
        arms[-1] = FLIP
    return Bandit(arms, pulls=pulls)


def hidden(arm, last):
    return hidden_clock(arm, [range(2, max(last - s, 1) + 1) for s in range(arm.n_states)])


def mixed(arm, last):
    own = [np.linalg.matrix_power(arm.transitions, n) for n in range(2, last + 1)]
    beliefs = np.array([*own[0], *limit_laws(arm), *(rows[0] for rows in own[1:])])
    return mixed_clock(BeliefPoints(arm, beliefs, (beliefs**2).sum(axis=1)), last)


def process_of(pulls, price, count=3):
    rng = np.random.default_rng(3)
    make = hidden if price is None else mixed
    clocks = [make(random_arm(rng, 2), 3), make(random_arm(rng, 3), 2), make(FLIP, 2),
              make(random_arm(rng, 2), 2)][:count]  # fmt: skip
    process = SetProcess(clocks, pulls, price)
    return process, [rng.normal(size=process.shape(now)) for now in range(process.count)]


def by_number(process, parts):
    """Arrays with axes in the order of the arms' numbers."""
    return [np.transpose(part, np.argsort(process.order)) for part in parts]


def naive_worths(process, values):
    plain = by_number(process, values)
    every = naive.sets(len(process.clocks), process.pulls, process.price is not None)
    assert list(process.sets) == every
    return [naive.worths(process.clocks, plain, now, every, process.pulls, process.price)
            for now in every]  # fmt: skip


PROCESSES = [(2, None, 3), (3, None, 4), (2, None, 2), (2, 0.4, 3), (3, 0.2, 3), (1, 0.3, 2)]


@pytest.mark.parametrize(("pulls", "price", "count"), PROCESSES)
def test_sweeps_take_the_best_sets(pulls, price, count):
    process, values = process_of(pulls, price, count)
    assert process.count == set_count(count, pulls, price) == len(pull_sets(count, pulls, price))
    fresh = process.zeros()
    low, high = process.sweep(values, fresh, None, 0.3)
    best = [worth.max(axis=0) for worth in naive_worths(process, values)]
    changes = []
    for target, old, new in zip(best, by_number(process, values), by_number(process, fresh),
                                strict=True):  # fmt: skip
        np.testing.assert_allclose(new, old + STEP * (target - old - 0.3), atol=1e-12)
        changes += [(target - old).min(), (target - old).max()]
    assert (low, high) == pytest.approx((min(changes), max(changes)))


def test_choices_do_not_see_hidden_states_and_sweeps_follow_them():
    process, values = process_of(2, None, 4)
    policy = process.choose(values)
    fresh = process.zeros()
    process.sweep(values, fresh, policy, 0.0)
    ways, olds, news = (by_number(process, part) for part in (policy.ways, values, fresh))
    for now, worth in enumerate(naive_worths(process, values)):
        seen = worth
        for j, clock in enumerate(process.clocks):
            if j not in process.sets[now]:
                seen = naive_clocks.mix(clock.blind, seen, j + 1)
        chosen = ways[now][None].astype(int)
        np.testing.assert_allclose(np.take_along_axis(seen, chosen, 0)[0], seen.max(axis=0))
        target = np.take_along_axis(worth, chosen, 0)[0]
        np.testing.assert_allclose(news[now], olds[now] + STEP * (target - olds[now]), atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pulls", [2, 3])
def test_every_interval_holds_the_exact_gain(seed, pulls):
    bandit = problem(seed, pulls)
    exact = plan_pulls(bandit, pulls, 1e-5)
    steps = list(improvements(bandit, 1e-4, time=60))
    for step in steps:
        assert step.lower <= exact.upper
        assert step.upper >= exact.lower
    for before, after in pairwise(steps):
        assert after.lower >= before.lower
        assert after.upper <= before.upper
    assert steps[-1].proven_optimal
    assert len(steps[-1].plan_arms) >= pulls


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("price", [0.15, 0.35, 0.6])
def test_unused_pulls_are_constant_arms(seed, price):
    """The slow way: as many arms that always pay the price as there are pulls."""
    bandit = Bandit(problem(seed, 2).arms[:3], pulls=2)
    constant = Arm([[1.0]], [price])
    joint = plan_pulls(Bandit([*bandit.arms, constant, constant]), 2, 1e-4)
    own = PullsBlocks(2)(bandit.arms, price, 1e-4, None)
    assert own.upper >= joint.lower
    assert own.upper <= joint.upper + 2e-3


@pytest.mark.parametrize("seed", range(4))
def test_the_policy_earns_its_certified_end(seed):
    rng = np.random.default_rng(seed)
    arms = [random_arm(rng, 2, stay=0.1) for _ in range(4)]
    planner, cap = PullsBlocks(2), max(arm.mixing_time(1e-5) for arm in arms)
    for _ in range(3):  # coarse ages first
        alone = planner(arms, None, 1e-3, None)
        value = naive.policy_gain(arms, alone.plan.action, 2, cap)
        assert alone.lower <= value + 1e-4
        assert value <= alone.lower + 1e-2


def test_more_sets_than_choices_can_name_are_refused():
    planner, arms = PullsBlocks(20), [FLIP] * 41
    assert planner.seconds(arms, None, 1e-3) == np.inf
    with pytest.raises(TooLargeError, match="sets"):
        planner(arms, 0.5, 1e-3, None)
    interval = price_out(Bandit(arms, pulls=20), time=5)
    assert interval.lower <= interval.upper


def test_as_many_pulls_as_arms():
    bandit = Bandit(problem(2, 2).arms[:2], pulls=2)
    interval = price_out(bandit, 1e-6)
    assert interval.proven_optimal
    assert interval.lower <= sum(arm.gain for arm in bandit.arms) <= interval.upper


def test_envelopes_have_slopes_up_to_the_pulls():
    """G(x) = max(2 x, .5 + x, .9) known at two prices: bounds hold everywhere and meet there."""

    def gain(price):
        return max(2 * price, 0.5 + price, 0.9)

    known = [Known(x, gain(x), gain(x)) for x in (0.3, 0.6)]
    envelope = Envelope.of((0.9, 0.9), 1.0, known, pulls=2)
    for price in np.linspace(0, 1.2, 61):
        assert envelope.lower(price) <= gain(price) + ROUNDING
        assert envelope.upper(price)[0] >= gain(price) - ROUNDING
    assert envelope.upper(1.5) == (3.0, 2.0)
    assert envelope.lower(1.1) == pytest.approx(2.2)
    for point in known:
        assert envelope.lower(point.price) == pytest.approx(point.upper)
        assert envelope.upper(point.price)[0] == pytest.approx(point.upper)


def test_one_pull_is_planned_as_before():
    bandit = Bandit(problem(2, 2).arms)
    assert type(pricing._planner(1, None, np.inf)).__name__ == "QuickBlocks"
    several = price_out(bandit, 1e-4, planner=PullsBlocks(1))
    single = price_out(bandit, 1e-4)
    assert several.lower <= single.upper
    assert single.lower <= several.upper
    assert several.proven_optimal
