"""One arm at a price: gains, advantages, Whittle indices and the Lagrangian bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import naive_single_arm as naive
from restive._kernels.two_state import price_one
from restive.many import waits
from restive.many.lagrangian import lagrangian_bound
from restive.many.single_arm import price_arm
from restive.many.two_state import two_state_bound
from restive.many.waits import wait_table
from restive.many.whittle import whittle_table
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.planning.indices import is_indexable, whittle_indices
from restive.problems import example4, random_problem
from strategies import arms as any_arm
from test_indices import liu_zhao


def sparse_arm(seed):
    """Three to five states with few edges; some of these arms are not indexable."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 6))
    chain, order = np.zeros((size, size)), rng.permutation(size)
    chain[order, np.roll(order, -1)] = rng.uniform(0.3, 1, size)
    chain += rng.random((size, size)) * (rng.random((size, size)) < 0.25)
    return Arm(chain / chain.sum(axis=1, keepdims=True), rng.integers(0, 5, size) / 4)


def two_state(p01, p11, r0=0.0, r1=1.0):
    return Arm([[1 - p01, p01], [1 - p11, p11]], [r0, r1])


CYCLE = Arm([[0, 1, 0], [0, 0, 1], [1, 0, 0]], [1.0, 0.5, 0.0])
SWITCH = Arm([[0, 1], [1, 0]], [0.2, 0.9])
FORK = example4().arms[2]
SMALL = [
    two_state(0.2, 0.7), two_state(0.9, 0.2), two_state(0.3, 0.3), SWITCH, CYCLE,
    Arm([[1.0]], [0.4]), random_problem(n_arms=1, n_states=3, rng=4).arms[0],
]  # fmt: skip


@pytest.mark.parametrize("arm", SMALL)
def test_gains_are_those_of_the_best_rule_of_all(arm):
    cap = 6 if arm.n_states < 3 else 4
    for price in (0.0, 0.15, 0.35, 0.55, 0.8):
        priced = price_arm(arm, price, cap=cap)
        doubt = float(wait_table(arm, cap).doubts.max())
        if doubt < 1e-9:
            assert priced.upper - priced.lower < 1e-9
        expected = naive.best_gain(arm, price, cap)
        middle = max(priced._gain, 0.0)
        assert middle == pytest.approx(expected, abs=1e-9)
        assert middle == pytest.approx(naive.program_gain(arm, price, cap), abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(any_arm(4, ("dense", "sparse", "periodic", "near reducible")))
def test_short_tables_give_bounds_that_hold_the_long_one(arm):
    for price in np.linspace(arm.rewards.min(), arm.rewards.max(), 3):
        exact = price_arm(arm, float(price))
        assert exact.lower <= exact.upper
        for cap in (1, 3, 9):
            short = price_arm(arm, float(price), cap=cap)
            assert short.lower <= exact.upper
            assert short.upper >= exact.lower


def test_bounds_of_slow_arms_hold_between_ages_that_are_stored():
    slow = two_state(1e-5, 1 - 3e-5)
    price = price_arm(slow, 0.6)
    table = wait_table(slow)
    assert table.dense < len(table.ages)
    assert table.steps.max() > 1
    assert price.upper - price.lower < 1e-7
    closed = two_state_bound([1e-5], [1 - 3e-5], 0.0, 1.0, 1)
    assert price_arm(slow, closed.price).upper + closed.price >= closed.upper - 1e-9


def test_a_wait_between_two_stored_ages_is_covered(monkeypatch):
    for name, value in (("SPREAD", 16), ("FEWEST", 64), ("MOST", 64)):
        monkeypatch.setattr(waits, name, value)
    waits._cached.cache_clear()
    out = np.zeros(5)
    for price in np.linspace(0.1, 0.7, 40):
        priced = price_arm(two_state(1e-3, 1 - 2e-3), float(price))
        price_one(1e-3, 2e-3, 0.0, 1.0, float(price), out)
        assert priced.lower <= out[1]
        assert out[0] <= priced.upper
        assert priced.upper - priced.lower < 0.02
    waits._cached.cache_clear()


def test_nearly_reducible_arms_say_how_little_rounding_leaves():
    stuck = two_state(1e-14, 1 - 2e-14)
    priced = price_arm(stuck, 0.5)
    assert priced.lower <= 1 / 6 <= priced.upper  # 1/3 of the time it pays 1 - 1/2


def test_what_no_price_pays_for_has_a_gain_of_exactly_zero():
    arm = two_state(0.1, 0.9)
    last = 0.5 / (0.1 + 0.5)  # from the stationary law until the first 0: reward a pull
    assert price_arm(arm, last - 1e-6).lower > 0
    assert price_arm(arm, last + 1e-6).upper == 0.0
    assert price_arm(arm, last + 1e-6).pulls == 0.0


@pytest.mark.parametrize("arm", [two_state(0.2, 0.7), SMALL[-1], sparse_arm(5)])
def test_advantages_agree_with_value_iteration(arm):
    cap = 15
    for price in (0.5 * arm.gain, arm.gain - 0.02):
        priced = price_arm(arm, price, cap=cap)
        expected = naive.advantages(arm, price, cap)
        np.testing.assert_allclose(priced.advantages, expected, atol=1e-8)
        assert priced.advantage(1, 3) == priced.advantages[1, 2]
        np.testing.assert_allclose(priced.age_values[:, 0], priced.values, atol=1e-9)


def test_a_start_changes_nothing_but_the_time():
    arm = sparse_arm(11)
    near = price_arm(arm, 0.3)
    for price in (0.2, 0.31, 0.5, 0.9):
        again, fresh = price_arm(arm, price, start=near), price_arm(arm, price)
        assert again.gain == pytest.approx(fresh.gain, abs=1e-12)


@pytest.mark.parametrize(
    ("p01", "p11"),
    [(0.2, 0.8), (0.1, 0.6), (0.05, 0.95), (0.02, 0.97), (0.8, 0.2), (0.9, 0.5), (0.7, 0.1)],
)
def test_indices_of_two_state_arms_have_the_closed_form(p01, p11):
    table = whittle_table(two_state(p01, p11))
    ages = range(1, len(table.table.ages))
    expected = [[liu_zhao(p01, p11, s, n) for n in ages] for s in (0, 1)]
    np.testing.assert_allclose(table.indices[:, :-1], expected, atol=1e-9)
    assert table.accuracy < 1e-9
    assert table.indexable
    assert table.index(0, 10**9) == table.indices[0, -1]


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 8])
def test_indices_agree_with_bisection(seed):
    arm = sparse_arm(seed)
    table = whittle_table(arm, cap=12)
    assert table.indexable == is_indexable(arm, 12)
    np.testing.assert_allclose(table.indices, whittle_indices(arm, 12, 1e-9), atol=2e-9)


def test_discounted_indices_are_where_pulling_and_resting_are_worth_the_same():
    arm, cap, discount = SMALL[-1], 8, 0.9
    table = whittle_table(arm, cap=cap, discount=discount)
    for s, k in np.ndindex(table.indices.shape):
        index = float(table.indices[s, k])
        worth = naive.discounted_advantages(arm, index, cap, discount)[s, k]
        assert abs(worth) < 1e-8
    assert not len(table.prices)
    with pytest.raises(ValueError, match="no average gain"):
        table.gain(0.3)


@pytest.mark.parametrize("seed", [685, 1158])
def test_a_witness_shows_a_rested_state_that_is_pulled_at_a_higher_price(seed):
    arm, cap = sparse_arm(seed), 10
    table = whittle_table(arm, cap=cap)
    assert not table.indexable
    seen = table.witness
    assert seen.rested_at < seen.pulled_at
    assert naive.advantages(arm, seen.rested_at, cap)[seen.state, seen.age - 1] < 0
    assert naive.advantages(arm, seen.pulled_at, cap)[seen.state, seen.age - 1] > 0


@pytest.mark.parametrize("seed", [685, 7, 20, 21, 22])
def test_the_verdict_is_that_of_a_fine_grid_of_prices(seed):
    arm, cap = sparse_arm(seed), 6
    prices = np.linspace(arm.rewards.min(), arm.gain - 0.005, 60)  # above, values are not unique
    grid = np.array([naive.advantages(arm, float(x), cap) for x in prices])
    again = [naive.crossings(grid[:, s, k]) for s, k in np.ndindex(grid.shape[1:])]
    table = whittle_table(arm, cap=cap)
    if any(again):
        assert not table.indexable
    elif not table.indexable:
        assert table.witness.pulled_at > prices[-1] or table.witness.pulled_at - (
            table.witness.rested_at
        ) < 2 * (prices[1] - prices[0])


def test_deterministic_cycles_are_worth_what_they_show_next():
    table = whittle_table(CYCLE)
    for s, n in [(0, 1), (0, 2), (1, 3), (2, 7), (1, 100)]:
        assert table.index(s, n) == pytest.approx(CYCLE.rewards[(s + n) % 3], abs=1e-9)


def test_a_pull_now_or_a_period_later_counts_as_now():
    table = whittle_table(FORK)  # "unlucky too" is followed by 1, now as well as a round later
    assert table.index(6, 1) == pytest.approx(1.0, abs=1e-9)
    close = whittle_table(FORK, discount=1 - 1e-6)
    assert table.index(6, 1) == pytest.approx(close.index(6, 1), abs=1e-4)


def test_equal_rewards_and_single_states_have_that_reward_as_index():
    assert whittle_table(Arm([[1.0]], [0.3])).indices == pytest.approx(0.3, abs=1e-9)
    level = whittle_table(Arm([[0.5, 0.5], [0.2, 0.8]], [0.4, 0.4]), cap=5)
    np.testing.assert_allclose(level.indices, 0.4, atol=1e-9)


@pytest.mark.parametrize("arm", [*SMALL, sparse_arm(7), FORK])
def test_the_curve_of_the_sweep_is_the_gain_at_every_price(arm):
    table = whittle_table(arm)
    for price in np.linspace(arm.rewards.min() - 0.1, arm.rewards.max(), 17):
        gain = price_arm(arm, float(price)).gain
        assert table.gain(float(price)) == pytest.approx(gain, abs=1e-9)
    assert (np.diff(table.gains) <= 1e-12).all()


def test_the_lagrangian_bound_is_the_least_over_prices():
    arms = random_problem(n_arms=4, n_states=3, rng=3).arms
    tables = [whittle_table(arm) for arm in arms]
    for pulls in (1, 2, 4):
        bound = lagrangian_bound(arms, pulls)
        grid = np.linspace(0, 1, 5001)
        least = min(pulls * x + sum(t.gain(float(x)) for t in tables) for x in grid)
        assert least - 2 * pulls / 5000 <= bound.upper <= least + 1e-9
        assert bound.slack < 1e-8
    assert bound.upper == pytest.approx(sum(arm.gain for arm in arms))  # all are pulled


@pytest.mark.parametrize("seed", range(4))
def test_the_lagrangian_bound_is_above_the_best_gain(seed):
    bandit = random_problem(n_arms=3, n_states=2, rng=seed)
    exact = plan(bandit)
    assert lagrangian_bound(bandit.arms).upper >= exact.gain_lower
    both = Bandit([SWITCH, CYCLE])
    assert lagrangian_bound(both.arms).upper >= plan(both).gain_lower


def test_counted_arms_are_the_same_as_listed_ones():
    first, second = two_state(0.1, 0.8), two_state(0.6, 0.3, 0.1, 0.8)
    listed = lagrangian_bound([first] * 5 + [second] * 3, 2)
    counted = lagrangian_bound([first, second], 2, counts=[5, 3])
    assert counted.upper == pytest.approx(listed.upper, abs=1e-9)
    assert counted.gains == pytest.approx(listed.gains[[0, 5]], abs=1e-8)


def many_arms(count, rng):
    p01, p11 = rng.uniform(0.01, 1, (2, count))
    r0, r1 = rng.random((2, count))
    p01[0], p11[0] = 1.0, 0.0  # period 2
    p01[1], p11[1] = 0.4, 0.4  # no memory
    r1[2] = r0[2]
    p01[3], p11[3] = 1e-3, 1 - 2e-3
    return p01, np.minimum(p11, 0.999), r0, r1


def test_many_two_state_arms_have_the_bound_of_the_general_engine():
    columns = many_arms(60, np.random.default_rng(1))
    arms = [two_state(*row) for row in zip(*columns, strict=True)]
    for pulls in (1, 7, 50):
        fast, general = two_state_bound(*columns, pulls), lagrangian_bound(arms, pulls)
        assert fast.upper == pytest.approx(general.upper, abs=1e-8)
    prices = {fast.price, 0.2, 0.5}
    for price in prices:
        for row, arm in zip(zip(*columns, strict=True), arms, strict=True):
            out = np.zeros(5)
            price_one(row[0], 1 - row[1], row[2], row[3], price, out)
            exact = price_arm(arm, price)
            assert out[0] <= exact.upper + 1e-15
            assert exact.lower <= out[1] + 1e-15
            assert out[1] - out[0] < 1e-9
            assert out[2] == pytest.approx(exact.pulls, abs=1e-6)


def test_threads_change_no_byte():
    columns = many_arms(50_000, np.random.default_rng(2))
    bounds = [two_state_bound(*columns, 5_000, threads=threads) for threads in (1, 2, 5)]
    assert len({(b.upper, b.price, b.gains.tobytes(), b.wanted.tobytes()) for b in bounds}) == 1


def test_bad_numbers_are_named():
    with pytest.raises(ValueError, match=r"p01\[1\] must be a chance above 0"):
        two_state_bound([0.1, 0.0], [0.5, 0.5], 0, 1, 1)
    with pytest.raises(ValueError, match="pulls must be a whole number from 1 on"):
        lagrangian_bound([CYCLE], 0)
    with pytest.raises(ValueError, match="counts must be 1 numbers"):
        lagrangian_bound([CYCLE], 1, counts=[-1])
    with pytest.raises(ValueError, match="discount"):
        whittle_table(CYCLE, discount=1.5)
    with pytest.raises(ValueError, match="finite"):
        price_arm(CYCLE, float("nan"))
