"""Pricing arms out: intervals that hold the truth and close on it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from naive_single_arm import best_gain_of_several
from restive.many import blocks
from restive.many.block_search import BlockSearch
from restive.many.blocks import BlockBounds, ExactBlocks
from restive.many.envelope import Envelope, Known
from restive.many.groups import grouped_improvements
from restive.many.lagrangian import lagrangian_bound
from restive.many.pricing import improvements, price_out
from restive.many.single_arm import price_arm
from restive.mdp.certificate import bandit_parameters
from restive.mdp.solver import solve
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.problems import example4, random_problem

ROUNDING = 1e-12


def random_channels(count, seed, low=0.1, high=0.6):
    rng = np.random.default_rng(seed)
    ups, downs = rng.uniform(low, high, (2, count))
    rewards = rng.uniform(0.5, 1, count)
    rows = zip(ups, downs, rewards, strict=True)
    return Bandit([Arm([[1 - up, up], [down, 1 - down]], [0, top]) for up, down, top in rows])


def beside(arms, price):
    return Bandit([*arms, Arm([[1.0]], [price])])


@pytest.mark.parametrize("seed", range(4))
def test_every_interval_on_the_way_holds_the_best_gain(seed):
    bandit = random_channels(4, seed)
    exact = plan(bandit, 1e-6)
    steps = list(improvements(bandit, 1e-4))
    for step in steps:
        assert step.lower <= exact.gain_upper
        assert step.upper >= exact.gain_lower
    for before, after in pairwise(steps):
        assert after.lower >= before.lower
        assert after.upper <= before.upper
    last = steps[-1]
    assert last.proven_optimal
    assert last.upper - last.lower <= 1e-4
    assert last.lower_kind == last.upper_kind == "certified"


@pytest.mark.parametrize("states", [3, [2, 4, 3]])
def test_arms_of_any_number_of_states(states):
    bandit = random_problem(n_arms=3, n_states=states, rng=2)
    exact = plan(bandit, 1e-6)
    priced = price_out(bandit, 1e-3)
    assert priced.lower <= exact.gain_upper
    assert priced.upper >= exact.gain_lower
    assert priced.upper - priced.lower <= 1e-3


def test_periodic_arms_hold_their_mean_over_starts():
    bandit = example4()
    exact = plan(bandit, 1e-6)
    priced = price_out(bandit, 1e-3)
    assert priced.lower <= exact.gain_upper
    assert priced.upper >= exact.gain_lower


def test_poor_arms_stay_outside_and_the_small_plan_is_proven_optimal():
    good = Bandit([Arm([[0.8, 0.2], [0.2, 0.8]], [0, 1]), Arm([[0.8, 0.2], [0.3, 0.7]], [0, 0.9])])
    poor = [Arm([[0.7, 0.3], [0.4, 0.6]], [0, 0.2 + 0.005 * k]) for k in range(20)]
    priced = price_out(Bandit([*poor, *good.arms]), 1e-5)
    assert priced.proven_optimal
    assert set(priced.block) == {20, 21}
    assert set(priced.plan_arms) == {20, 21}
    assert priced.outside <= 1e-5
    exact = plan(good, 1e-6)
    assert priced.lower - ROUNDING <= exact.gain_upper
    assert exact.gain_lower <= priced.upper + ROUNDING


def test_the_policy_behind_the_lower_end_earns_it():
    bandit = random_channels(6, 1)
    priced = price_out(bandit, 1e-3, time=20)
    own = plan(Bandit([bandit.arms[j] for j in priced.plan_arms]), 1e-6)
    assert priced.plan.gain_lower == priced.lower
    assert own.gain_lower - 1e-6 <= priced.plan.gain_upper
    assert priced.lower <= own.gain_upper
    assert priced.plan.action([0] * len(priced.plan_arms), range(1, len(priced.plan_arms) + 1)) >= 0


def test_more_time_never_hurts_and_none_gives_the_lagrangian_bound():
    bandit = random_channels(8, 3)
    none = price_out(bandit, 1e-5, time=0.0)
    assert none.block == ()
    assert none.upper == pytest.approx(lagrangian_bound(bandit.arms).upper)
    assert none.lower == pytest.approx(max(arm.gain for arm in bandit.arms), abs=1e-6)
    small = price_out(bandit, 1e-5, memory=200_000)
    assert none.lower <= small.lower
    assert small.upper <= none.upper


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_a_block_carry_over_to_the_block_with_one_more_arm(seed):
    bandit = random_channels(4, seed, 0.1, 0.25)
    search = BlockSearch(bandit, 1e-4, ExactBlocks(), 0.0, np.inf)
    search.grow()
    list(search.alone(1.0))
    list(search.at_prices(0.3))
    solved = ExactBlocks()([bandit.arms[j] for j in search.block], 0.3, 1e-6, None)
    search.known.append(Known(0.3, solved.lower, solved.upper))  # where every arm wants pulls
    search.grow()
    arms = [bandit.arms[j] for j in search.block]
    for known in search.known:
        exact = plan(beside(arms, known.price), 1e-4)
        assert known.lower <= exact.gain_upper
        assert known.upper >= exact.gain_lower
    alone = plan(Bandit(arms), 1e-4)
    assert search.own.lower <= alone.gain_upper
    assert alone.gain_lower <= search.own.upper < max(arm.rewards.max() for arm in arms) + 1


@pytest.mark.parametrize("seed", range(4))
def test_prices_are_close_also_where_the_grid_of_all_is_coarse(seed, monkeypatch):
    monkeypatch.setattr("restive.many.market.CELLS", 1)  # 17 prices
    search = BlockSearch(random_channels(8, seed), 1e-4, ExactBlocks(), 0.0, np.inf)
    search.grow()
    list(search.alone(1.0))
    envelope = search._envelope(max(search.arms[j].rewards.max() for j in search.block))
    floor, price = search._promise(envelope)
    prices = np.linspace(0, 1, 2001)
    least = [envelope.lower(x) + search.market.outside(search.block, x)[0] for x in prices.tolist()]
    assert floor == pytest.approx(min(least), abs=0.006)
    assert price == pytest.approx(prices[np.argmin(least)], abs=0.02)


def test_progress_sees_every_interval():
    seen = []
    last = price_out(random_channels(4, 2), 1e-3, progress=seen.append)
    assert seen[-1] is last
    assert len(seen) > 2


def test_an_interrupt_leaves_what_was_seen_before():
    class Interrupted(ExactBlocks):
        def __call__(self, arms, price, accuracy, start):
            if len(arms) == 3:
                raise KeyboardInterrupt
            return super().__call__(arms, price, accuracy, start)

    bandit = random_channels(5, 4)
    exact = plan(bandit, 1e-5)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        price_out(bandit, 1e-6, planner=Interrupted(), progress=seen.append)
    assert seen[-1].lower <= exact.gain_upper
    assert seen[-1].upper >= exact.gain_lower


def test_any_planner_of_blocks_will_do():
    class Rough:
        """Certified, but a hundredth too wide: the interval must stay valid and say so."""

        def __call__(self, arms, price, accuracy, start):
            exact = plan(Bandit(arms) if price is None else beside(arms, price), 1e-4)
            return BlockBounds(exact.gain_lower - 0.005, exact.gain_upper + 0.005)

        def seconds(self, arms, price, accuracy):
            return 0.0 if len(arms) <= 3 else np.inf

    bandit = random_channels(4, 6)
    exact = plan(bandit, 1e-6)
    priced = price_out(bandit, 1e-4, planner=Rough())
    assert priced.lower <= exact.gain_upper
    assert priced.upper >= exact.gain_lower
    assert not priced.proven_optimal


@pytest.mark.parametrize("price", [0.3, 0.55, 0.7])
def test_a_block_beside_its_price_is_the_exact_plan_wherever_it_starts(price):
    arms = random_channels(3, 7).arms
    exact = plan(beside(arms, price), 1e-7)
    planner = ExactBlocks()
    pair = planner(arms[:2], price - 0.05, 1e-3, None)
    for start in (None, pair.state, planner(arms, price + 0.02, 1e-2, pair.state).state):
        bounds = planner(arms, price, 1e-5, start)
        assert bounds.lower <= exact.gain_upper
        assert bounds.upper >= exact.gain_lower
        assert bounds.upper - bounds.lower <= 1e-5
    alone = planner(arms, None, 1e-5, pair.state)
    assert alone.plan is not None
    assert abs(0.5 * (alone.lower + alone.upper) - plan(Bandit(arms), 1e-7).gain) < 1e-5


def test_values_carried_over_are_closer_to_the_solution_than_none():
    arms = random_channels(3, 8, 0.05, 0.2).arms
    price, planner = 0.5, ExactBlocks()  # the third arm hardly matters here
    pair, own = planner(arms[:2], price, 1e-4, None), planner(arms, price, 1e-4, None)
    rep = own.state.representation
    bandit = Bandit([Arm([[1.0]], [price]), *arms])
    parameters = bandit_parameters(bandit, rep)

    def width(start):
        solution = solve(rep, parameters, start=start, max_sweeps=1)
        return float(solution.upper[0] - solution.lower[0])

    nothing = width(None)
    assert width(blocks._carry(pair.state, arms, price, rep)) < 0.01 * nothing
    assert width(blocks._carry(own.state, arms, price, rep)) < 0.01 * nothing


def test_a_block_of_one_arm_is_the_arm_at_its_price():
    arm = random_channels(1, 9).arms[0]
    for price in (0.2, 0.4, 0.6):
        bounds = ExactBlocks()([arm], price, 1e-7, None)
        priced = price_arm(arm, price)
        assert bounds.lower <= price + priced.upper
        assert bounds.upper >= price + priced.lower


def test_chords_lie_above_a_convex_function_and_the_lower_model_below():
    arms = random_channels(2, 10).arms
    largest = max(float(arm.rewards.max()) for arm in arms)
    alone = plan(Bandit(arms), 1e-7)
    points = []
    for price in (0.35, 0.6):
        solved = plan(beside(arms, price), 1e-7)
        points.append(Known(price, solved.gain_lower, solved.gain_upper))
    envelope = Envelope.of((alone.gain_lower, alone.gain_upper), largest, points)
    for price in np.linspace(0, 1, 23):
        truth = plan(beside(arms, float(price)), 1e-7)
        assert envelope.upper(float(price))[0] >= truth.gain_lower
        assert envelope.lower(float(price)) <= truth.gain_upper
    assert envelope.upper(0.6)[0] <= points[1].upper + ROUNDING


@pytest.mark.parametrize("seed", range(3))
def test_groups_and_prices_hold_the_best_gain_of_two_pulls_a_step(seed):
    bandit = random_channels(3, seed, 0.42, 0.58)  # forgotten to 2e-5 within six steps
    low, high = best_gain_of_several(bandit.arms, 2, 6)
    for interval in grouped_improvements(bandit, 2, 1e-4):
        assert interval.lower <= high + 1e-4
        assert interval.upper >= low - 1e-4
        assert sorted(j for group in interval.groups for j in group) == sorted(
            {j for group in interval.groups for j in group}
        )
    assert interval.lower > sum(sorted(arm.gain for arm in bandit.arms)[-2:]) - 1e-6
    assert len(interval.plans) == 2


def test_one_group_of_all_arms_is_the_exact_plan():
    bandit = random_channels(3, 11)
    *_, last = grouped_improvements(bandit, 1, 1e-6)
    assert last.lower == pytest.approx(plan(bandit, 1e-6).gain, abs=1e-3)
    with pytest.raises(ValueError, match=r"pulls: .* from 1 to 3, the number of arms"):
        next(grouped_improvements(bandit, 4))


@pytest.mark.parametrize("price", [None, 0.4])
def test_out_of_time_a_block_ends_with_bounds_that_hold(price):
    bandit = random_channels(3, 1)
    rough = ExactBlocks(deadline=0.0)(bandit.arms, price, 1e-6, None)
    exact = plan(bandit if price is None else beside(bandit.arms, price), 1e-6)
    assert rough.lower <= exact.gain_upper
    assert rough.upper >= exact.gain_lower
    assert rough.upper - rough.lower > 1e-6
