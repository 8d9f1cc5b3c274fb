"""Blocks planned with clocks: both ends certified, however few ages are told apart."""

from itertools import product
from time import perf_counter

import numpy as np
import pytest
from scipy.optimize import linprog

import naive_clocks as naive
from restive import Arm, Bandit, plan
from restive._kernels import clocks as kernel
from restive.base.errors import OutOfTimeError, TooLargeError
from restive.many.clock_ages import arm_uses
from restive.many.clock_blocks import ClockBlocks, ClockPolicy
from restive.many.clock_iteration import solve_clocks
from restive.many.clock_process import STEP, ClockProcess, along
from restive.many.clocks import BeliefPoints, Rows, hidden_clock, limit_laws, mixed_clock
from restive.many.grid_points import Places
from restive.many.pricing import price_out
from restive.planning.evaluation import evaluate

FLIP = Arm([[0.0, 1.0], [1.0, 0.0]], [0.2, 0.7])
CYCLE = Arm([[0, 1, 0], [0, 0, 1], [1, 0, 0]], [0.0, 0.4, 0.9])


def random_arm(rng, size):
    law = 0.6 * rng.dirichlet(np.ones(size), size) + 0.4 * np.eye(size)[rng.permutation(size)]
    return Arm(law, rng.uniform(0, 1, size))


def problem(seed):
    """Two to four arms of two to four states; every fifth problem has a periodic one."""
    rng = np.random.default_rng([seed, 5])
    count = 2 + seed % 3
    most = {2: 5, 3: 4, 4: 3}[count]
    arms = [random_arm(rng, int(rng.integers(2, most))) for _ in range(count)]
    if seed % 5 == 4:
        arms[-1] = FLIP if seed % 2 else CYCLE
    return Bandit(arms)


def hidden(arm, last):
    """A clock whose states have ages up to ``last``, or some less."""
    return hidden_clock(arm, [range(2, max(last - s, 1) + 1) for s in range(arm.n_states)])


def mixed(arm, last):
    """A clock of beliefs of age 2, of some up to ``last``, and of the limits."""
    own = [np.linalg.matrix_power(arm.transitions, n) for n in range(2, last + 1)]
    later = [rows[s] for n, rows in enumerate(own[1:]) for s in range(arm.n_states) if (n + s) % 2]
    beliefs = np.array([*own[0], *limit_laws(arm), *later])
    costs = (beliefs**2).sum(axis=1)
    return mixed_clock(BeliefPoints(arm, beliefs, costs), last)


def test_rows_are_mixed_along_an_axis():
    rng = np.random.default_rng(1)
    for axis, width in product(range(3), (3, 6)):
        values = rng.normal(size=(4, 5, 2))
        matrix = rng.normal(size=(width, values.shape[axis])) * (rng.random((width, 1)) < 0.7)
        np.testing.assert_allclose(along(matrix, values, axis), naive.mix(matrix, values, axis))


def test_rows_keep_a_matrix():
    matrix = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 3.0]])
    rows = Rows.of(matrix)
    assert rows.begin.tolist() == [0, 1, 2, 4]
    assert rows.columns.tolist() == [0, 1, 0, 1]
    assert rows.weights.tolist() == [0.0, 2.0, 1.0, 3.0]
    assert rows.plain == 0


def test_unit_rows_are_copied():
    matrix = np.eye(5)[[2, 3, 4, 0]]
    assert (Rows.of(matrix).shift, Rows.of(matrix).plain) == (2, 3)
    assert (Rows.of(np.eye(3)).shift, Rows.of(np.eye(3)).plain) == (0, 3)
    matrix[1, 3] = 0.5
    assert Rows.of(matrix).plain == 1
    values = np.random.default_rng(7).normal(size=(3, 5, 2))
    np.testing.assert_allclose(along(matrix, values, 1), naive.mix(matrix, values, 1))


@pytest.mark.parametrize("terms", range(1, 12))
def test_rows_are_summed_with_weights(terms):
    rng = np.random.default_rng(terms)
    source, weights, total = rng.normal(size=120), rng.normal(size=terms + 2), np.zeros(9)
    kernel.combine(source, 3, 9, weights, 2, terms, total, 2, 6)
    want = sum(weights[2 + i] * source[3 + 9 * i : 9 + 9 * i] for i in range(terms))
    np.testing.assert_allclose(total[2:8], want)
    assert not total[[0, 1, 8]].any()


def block(make, count=3):
    """A small process of arms of 2 to 5 states, one of them periodic, and values of its states."""
    rng = np.random.default_rng(3)
    sizes = [(random_arm(rng, 2), 4), (random_arm(rng, 5), 3), (FLIP, 3), (random_arm(rng, 3), 2)]
    process = ClockProcess([make(*size) for size in sizes[:count]], blind=make is hidden)
    return process, [rng.normal(size=process.shape(last)) for last in range(count)]


def by_number(process, values):
    """Values with axes in the order of the arms' numbers."""
    return [np.moveaxis(part, range(process.count), order)
            for part, order in zip(values, process.axes, strict=True)]  # fmt: skip


BLOCKS = [(hidden, 1), (hidden, 3), (hidden, 4), (mixed, 2), (mixed, 3)]


@pytest.mark.parametrize(("make", "count"), BLOCKS)
def test_sweeps_take_the_best_pulls(make, count):
    process, values = block(make, count)
    fresh = process.zeros()
    low, high = process.sweep(values, fresh, None, 0.3)
    plain = by_number(process, values)
    best = [naive.worths(process.clocks, plain, order).max(axis=0) for order in process.axes]
    for target, part, step in zip(best, values, fresh, strict=True):
        np.testing.assert_allclose(step, part + STEP * (target - part - 0.3), atol=1e-12)
    changes = np.concatenate([(t - v).ravel() for t, v in zip(best, values, strict=True)])
    assert (low, high) == pytest.approx((changes.min(), changes.max()))


def test_sweeps_take_the_pulls_of_a_policy():
    process, values = block(hidden)
    policy = process.choose([-part for part in values])  # not the best one
    fresh, plain = process.zeros(), by_number(process, values)
    low, high = process.sweep(values, fresh, policy, 0.0)
    for last, order in enumerate(process.axes):
        worth = naive.worths(process.clocks, plain, order)
        chosen = np.take_along_axis(worth, policy.ways[last][None].astype(int), 0)[0]
        part = values[last]
        np.testing.assert_allclose(fresh[last], part + STEP * (chosen - part), atol=1e-12)
        assert low <= (chosen - part).min() + 1e-12
        assert high >= (chosen - part).max() - 1e-12


def test_choices_are_the_best_to_who_cannot_see():
    process, values = block(hidden)
    policy, plain = process.choose(values), by_number(process, values)
    for last, order in enumerate(process.axes):
        worth = naive.worths(process.clocks, plain, order)
        seen = naive.blindfolded(process.clocks, worth, order)
        chosen = np.take_along_axis(seen, policy.ways[last][None].astype(int), 0)[0]
        np.testing.assert_allclose(chosen, seen.max(axis=0), atol=1e-11)
        rows = policy.ways[last].reshape(len(policy.taken[last]), -1)
        for way in range(process.count):
            np.testing.assert_array_equal(policy.taken[last][:, way], (rows == way).any(axis=1))
    assert any(len(np.unique(ways)) > 1 for ways in policy.ways)


@pytest.mark.parametrize("make", [hidden, mixed])
@pytest.mark.parametrize("ages", [2, 3, 9])
def test_clocks_keep_laws(make, ages):
    for arm in (random_arm(np.random.default_rng(4), 4), FLIP, CYCLE):
        clock = make(arm, ages)
        for rows in (clock.first, clock.older, clock.shown, clock.blind):
            assert rows.min() >= 0
            np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)
        law, step = clock.first, clock.arm.transitions @ clock.arm.transitions
        for _ in range(2 * ages):  # in the mean a clock moves as the arm does
            np.testing.assert_allclose(law @ clock.shown, step, atol=1e-11)
            law, step = law @ clock.older, step @ clock.arm.transitions


def test_choices_do_not_see_the_tail():
    rng = np.random.default_rng(6)
    clocks = [hidden(random_arm(rng, 3), n) for n in (3, 2, 4)]
    process = ClockProcess(clocks, blind=True)
    policy = process.choose([rng.normal(size=process.shape(last)) for last in range(3)]).ways
    assert len(np.unique(policy[0])) > 1
    for last in range(3):
        for axis, j in enumerate(process.others(last), start=1):
            tail = np.moveaxis(policy[last], axis, 0)[clocks[j].tail :]
            assert (tail == tail[0]).all()


@pytest.mark.parametrize("seed", range(12))
def test_the_lower_bound_is_the_gain_of_its_policy(seed):
    bandit = problem(seed)
    ages = [1 + (seed + j) % 4 for j in range(bandit.n_arms)]
    clocks = [hidden(arm, n) for arm, n in zip(bandit.arms, ages, strict=True)]
    solved = solve_clocks(ClockProcess(clocks, blind=True), None, 1e-9)
    value = evaluate(bandit, ClockPolicy(clocks, solved.policy), 1e-7)
    if seed % 5 != 4:
        assert solved.converged
        assert solved.lower == pytest.approx(value.gain, abs=3e-7)
    assert solved.lower <= value.gain_upper + 1e-9


@pytest.mark.parametrize("seed", range(16))
def test_both_ends_hold_the_exact_gain(seed):
    bandit = problem(seed)
    exact = plan(bandit, 1e-7)
    beside = plan(Bandit([Arm([[1.0]], [0.45]), *bandit.arms]), 1e-7)
    planner = ClockBlocks()
    alone = planner(bandit.arms, None, 0.02, None)
    priced = planner(bandit.arms, 0.45, 0.02, None)
    assert alone.lower <= exact.gain_upper
    assert priced.upper >= beside.gain_lower
    if seed % 5 != 4:  # with periods that share a divisor ends hold for all starts
        assert alone.lower >= exact.gain_lower - 0.03
        assert priced.upper <= beside.gain_upper + 0.03


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_long_clocks_are_exact(seed):
    bandit = problem(seed)
    exact = plan(bandit, 1e-8)
    planner = ClockBlocks()
    alone = planner(bandit.arms, None, 1e-7, None)
    assert exact.gain_lower - 1e-6 <= alone.lower <= exact.gain_upper
    beside = plan(Bandit([Arm([[1.0]], [0.45]), *bandit.arms]), 1e-8)
    priced = planner(bandit.arms, 0.45, 1e-7, None)
    assert beside.gain_lower <= priced.upper <= beside.gain_upper + 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_intervals_by_clocks_hold_the_best_gain(seed):
    bandit = problem(seed)
    exact, priced = plan(bandit, 1e-7), price_out(bandit, 1e-4, time=1.0)
    assert priced.lower <= exact.gain_upper
    assert priced.upper >= exact.gain_lower


def slow_arm():
    """Left seldom in its first state, where it stays long."""
    return Arm([[0.98, 0.01, 0.01], [0.1, 0.6, 0.3], [0.05, 0.15, 0.8]], [0.0, 0.4, 0.9])


def test_more_is_told_apart_the_less_may_be_lost():
    arms = [slow_arm(), random_arm(np.random.default_rng(3), 3), Arm([[1.0]], [0.5])]
    uses = arm_uses(arms)
    for use, arm in zip(uses, arms, strict=True):
        coarse, fine = use.ages(0.01), use.ages(1e-5)
        assert all(own == late[: len(own)] for own, late in zip(coarse, fine, strict=True))
        assert use.count(1e-5, True) == sum(map(len, fine)) + arm.n_states
        few, many = use.beliefs.until(0.01).points, use.beliefs.until(1e-5).points
        np.testing.assert_array_equal(many[: len(few)], few)
    assert [use.count(1e-5, True) > use.count(0.01, True) for use in uses] == [True, True, False]
    assert [use.count(1e-5, False) > use.count(0.01, False) for use in uses] == [True, True, False]
    assert len(uses[0].ages(1e-3)[0]) > len(uses[0].ages(1e-3)[2])  # it stays in its last state


def test_beliefs_are_chosen_where_mixtures_spread_most():
    use = arm_uses([slow_arm(), random_arm(np.random.default_rng(3), 3)])[0]
    order = use.beliefs
    first = order.until(np.inf).points
    np.testing.assert_allclose(first[:3], np.linalg.matrix_power(slow_arm().transitions, 2))
    beliefs, often = order._candidates
    order.until(1e-4)
    assert all(a >= b for a, b in zip(order.costs, order.costs[1:], strict=False))
    # what is left to win falls well below what the first belief has won
    mixtures, error = order.until(1e-4).mixtures(beliefs)
    assert error < 1e-11
    worth = order.until(1e-4).points @ order._worth - (beliefs @ order._worth)[:, None]
    left = often * np.sqrt((mixtures[:, :, None] * worth**2).sum(axis=(1, 2)))
    assert left.max() < 0.3 * order.costs[0]


def test_mixtures_are_the_cheapest():
    """Those of a linear program."""
    arm = random_arm(np.random.default_rng(8), 4)
    points = arm_uses([arm, slow_arm()])[0].beliefs.until(1e-4)
    later = points.points @ arm.transitions
    mixtures, _ = points.mixtures(later)
    for mixture, belief in zip(mixtures, later, strict=True):
        best = linprog(points._costs, A_eq=points.points.T, b_eq=belief, method="highs")
        assert mixture @ points._costs <= best.fun + 1e-7


def test_of_mixtures_exact_but_for_rounding_the_cheapest_is_taken():
    arm = random_arm(np.random.default_rng(8), 4)
    points = arm_uses([arm, slow_arm()])[0].beliefs.until(1e-4)
    own = np.array([points.size - 1, 0, 1, 2]), np.array([1.0, 0.0, 0.0, 0.0])
    belief = points.points[-1] + 1e-15 * np.array([1, -1, 1, -1])
    places, weights = points._nearest(belief, *own)
    assert (places[0], weights[0]) == (own[0][0], 1.0)


def test_hidden_states_are_guessed_by_where_arms_are_left():
    use = arm_uses([slow_arm(), random_arm(np.random.default_rng(3), 3)])[0]
    law = use.tail_law(use.ages(0.01))
    assert law.sum() == pytest.approx(1)
    assert law[0] > slow_arm().stationary[0]  # mostly it was left in its slow state


@pytest.mark.parametrize("make", [hidden, mixed])
def test_values_are_carried_to_finer_clocks(make):
    arm = random_arm(np.random.default_rng(5), 3)
    coarse, fine = make(arm, 3), make(arm, 6)
    onto = fine.onto(coarse)
    assert onto.shape == (fine.size, coarse.size)
    np.testing.assert_allclose(onto @ coarse.shown, fine.shown, atol=1e-12)
    np.testing.assert_allclose(coarse.onto(coarse), np.eye(coarse.size))


def test_a_belief_is_taken_once(monkeypatch):
    """Also where mixtures are so bad that the same belief stays the worst."""
    order = arm_uses([slow_arm(), random_arm(np.random.default_rng(3), 3)])[0].beliefs
    count = len(order._candidates[0])

    def scattered(points, beliefs):
        places = np.zeros((len(beliefs), 1), dtype=int)
        return Places(places, np.ones(places.shape), 0.0)

    monkeypatch.setattr(BeliefPoints, "locate", scattered)
    points = order.until(0.0).points
    assert len(points) <= count + 4
    assert len(np.unique(points, axis=0)) == len(points)


def test_one_arm_alone_is_its_mean():
    """The smallest block; it has one array, which is the whole."""
    arm = slow_arm()
    solved = solve_clocks(ClockProcess([hidden(arm, 3)], blind=True), None, 1e-9)
    assert solved.lower == pytest.approx(arm.gain, abs=1e-8)


def test_shortcuts_need_fewer_sweeps(monkeypatch):
    clocks = [mixed(arm, 6) for arm in (slow_arm(), *problem(1).arms[:2])]
    short = solve_clocks(ClockProcess(clocks, blind=False), None, 1e-8)
    monkeypatch.setattr("restive.many.clock_iteration._Shortcut.take", lambda *arrays: None)
    plain = solve_clocks(ClockProcess(clocks, blind=False), None, 1e-8)
    assert short.converged
    assert plain.converged
    assert short.sweeps < 0.7 * plain.sweeps
    assert short.lower <= plain.upper
    assert plain.lower <= short.upper


def test_time_and_memory_are_kept():
    arms = problem(2).arms
    with pytest.raises(OutOfTimeError):
        ClockBlocks(deadline=0.0)(arms, None, 1e-3, None)
    small = ClockBlocks(memory=1000)
    assert small.seconds(arms, 0.5, 1e-3) == np.inf
    with pytest.raises(TooLargeError, match="memory"):
        small(arms, 0.5, 1e-3, None)


def test_a_block_is_planned_at_another_price_without_time_for_more():
    bandit = problem(1)
    planner = ClockBlocks(deadline=perf_counter() + 600)
    planner(bandit.arms, 0.45, 1e-4, None)
    planner.patience = 0.0
    beside = plan(Bandit([Arm([[1.0]], [0.5]), *bandit.arms]), 1e-7)
    assert planner(bandit.arms, 0.5, 1e-4, None).upper >= beside.gain_lower


def test_policies_name_the_arm_to_pull():
    bandit = problem(1)
    policy = ClockBlocks()(bandit.arms, None, 1e-3, None).plan
    assert isinstance(policy, ClockPolicy)
    states, ages = np.zeros(bandit.n_arms, dtype=int), np.arange(1, bandit.n_arms + 1)
    arm = policy.action(states, ages)
    assert policy.priorities(states[None], ages[None], np.array([0]))[0].argmax() == arm
    assert policy.action(states, 1000 * ages - 999) == policy.action(states, 3000 * ages - 2999)
