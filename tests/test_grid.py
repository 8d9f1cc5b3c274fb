"""Plans on grids: against slow twins, against exact plans, and the policy at true beliefs."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from naive_gains import gain_by_policy_iteration
from naive_grid import NaiveGrid
from restive.base.errors import TooLargeError
from restive.many.grid import GridPlan, plan_grid
from restive.many.grid_improvement import grid_improvements
from restive.many.grid_iteration import GridIteration
from restive.many.grid_layout import Layout, pull_sets
from restive.many.grid_points import ArmGrid, first_ages
from restive.many.grid_value import simulate_gain
from restive.many.lagrangian import lagrangian_bound
from restive.many.several_pulls import plan_pulls
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.planning.evaluation import evaluate
from restive.problems import example1, example3
from zoo import draw_arm, draw_bandit

EASY = ("dense", "sparse", "iid", "single", "periodic")
SLOW_EXACT = 0.7497992  # K = 3 of slow_bandit(3, 0.03, 0), by restive.plan to 1e-5


def two_state(up: float, down: float, reward: float = 1.0) -> Arm:
    return Arm([[1 - up, up], [down, 1 - down]], [0.0, reward])


def slow_bandit(count: int, rate: float, seed: int) -> Bandit:
    """Two-state arms that change about once in 1 / rate steps."""
    rng = np.random.default_rng(seed)
    chains = [(rate * rng.uniform(0.5, 1.5), rate * rng.uniform(0.5, 1.5)) for _ in range(count)]
    return Bandit([two_state(a, b, rng.uniform(0.6, 1)) for a, b in chains])


def layout_of(arms: list[Arm], ages: int, pulls: int, rest: bool) -> Layout:
    grids = tuple(ArmGrid(arm, first_ages(arm, ages)) for arm in arms)
    return Layout(grids, pull_sets(len(arms), pulls, rest))


def naive_of(layout: Layout, pulls: int, depth: int, rest: float | None) -> NaiveGrid:
    """The twin on the same points; for three states and more with the same mixtures."""
    arms, mixes = [grid.arm for grid in layout.grids], []
    for grid in layout.grids:
        spots = grid.locate(grid.after(depth).reshape(-1, grid.arm.n_states))
        pairs = zip(spots.places.tolist(), spots.weights.tolist(), strict=True)
        beliefs = grid.after(depth).reshape(-1, grid.arm.n_states)
        mixes.append({belief.round(9).tobytes(): list(zip(*pair, strict=True))
                      for belief, pair in zip(beliefs, pairs, strict=True)})  # fmt: skip
    flat = all(arm.n_states == 2 for arm in arms)
    points = [grid.points for grid in layout.grids]
    return NaiveGrid(arms, points, None if flat else mixes, pulls, depth, rest)


CASES = [
    ([two_state(0.05, 0.1), two_state(0.03, 0.2, 0.8), two_state(0.1, 0.05, 0.6)], 1, None),
    ([two_state(0.05, 0.1), two_state(0.9, 0.7, 0.8), two_state(0.1, 0.05, 0.6)], 2, None),
    ([two_state(0.05, 0.1), two_state(0.03, 0.2, 0.8)], 1, 0.45),
    ([two_state(0.05, 0.1), two_state(0.03, 0.2, 0.8)], 2, 0.45),
    ([draw_arm("dense", np.random.default_rng(0), 3), two_state(0.1, 0.2)], 1, None),
    ([draw_arm("sparse", np.random.default_rng(1), 4), two_state(0.1, 0.2)], 1, 0.5),
]


@pytest.mark.parametrize(("arms", "pulls", "rest"), CASES)
@pytest.mark.parametrize("depth", [1, 3])
def test_one_sweep_is_that_of_the_spelled_out_stays(arms, pulls, rest, depth):
    layout = layout_of(arms, 2, pulls, rest is not None)
    prices = np.array([(rest or 0.0) * (pulls - len(part)) for part in layout.sets])
    iteration = GridIteration(layout, depth, prices)
    values = np.random.default_rng(5).normal(size=layout.n_states)
    swept = iteration.sweep(values, 0.3)
    twin = naive_of(layout, pulls, depth, rest)
    known = {}  # values of the stored states, by the twin's numbers
    for b, pulled in enumerate(layout.sets):
        order = [*pulled, *layout.others(pulled)]
        for place in product(*(range(n) for n in layout.shape(pulled))):
            where = tuple(place[order.index(j)] for j in range(len(arms)))
            known[twin.number[pulled, where, 0]] = (b, place)
    h = np.zeros(len(twin.number))
    for x, (b, place) in known.items():
        h[x] = layout.block(values, b)[place]
    for phase in range(depth - 1, -1, -1):  # later phases first; phase 0 is what is asked
        fresh = h.copy()
        for state, x in twin.number.items():
            if state[2] == phase:
                fresh[x] = -0.3 + max(
                    sum(p * (r + h[y]) for y, p, r in twin.outcomes(state, then))
                    for then in twin.sets
                )
        h = fresh
    for x, (b, place) in known.items():
        assert layout.block(swept, b)[place] == pytest.approx(h[x], abs=1e-12)


@pytest.mark.parametrize(("arms", "pulls", "rest"), CASES)
def test_the_bounds_hold_the_gain_of_the_grid_process(arms, pulls, rest):
    grid_plan = plan_grid(arms, pulls=pulls, rest=rest, ages=2, depth=2, tolerance=1e-8)
    twin = naive_of(grid_plan.layout, pulls, 2, rest)
    gain = gain_by_policy_iteration(*twin.matrices()).gain
    assert grid_plan.converged
    assert grid_plan.grid_lower - 1e-9 <= gain.min() <= gain.max() <= grid_plan.upper + 1e-9


@pytest.mark.parametrize("kind", ["dense", "sparse", "near reducible", "iid", "single", "periodic"])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_mixtures_are_exact(kind, size):
    arm = draw_arm(kind, np.random.default_rng([size, 3]), size)
    grid = ArmGrid(arm, first_ages(arm, 3))
    assert np.array_equal(grid.points[: arm.n_states], arm.transitions)
    beliefs = grid.after(9).reshape(-1, arm.n_states)
    spots = grid.locate(beliefs)
    assert (spots.weights >= 0).all()
    np.testing.assert_allclose(spots.weights.sum(axis=1), 1, atol=1e-12)
    mixture = (spots.weights[..., None] * grid.points[spots.places]).sum(axis=1)
    assert np.abs(mixture - beliefs).sum(axis=1).max() <= spots.error + 1e-15 <= 1e-11


@pytest.mark.parametrize("seed", range(16))
def test_the_bound_is_above_the_best_gain(seed):
    bandit = draw_bandit(seed, EASY)
    exact = plan(bandit, 1e-6)
    for ages, depth in ((2, 1), (3, 5)):
        grid_plan = plan_grid(bandit, ages=ages, depth=depth, tolerance=1e-5)
        assert (np.array(grid_plan.uppers) >= exact.lower).all()
        assert grid_plan.upper >= exact.gain_lower
    assert (np.array(grid_plan.uppers) <= exact.upper + 0.05).all()  # and not far above


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_above_the_best_gain_with_two_pulls(seed):
    rng = np.random.default_rng([seed, 8])
    kinds = [("dense", 2), ("periodic", 2), ("dense", 2), ("sparse", 3)]
    arms = [draw_arm(*kinds[(seed + j) % 4][:1], rng, kinds[(seed + j) % 4][1]) for j in range(3)]
    exact = plan_pulls(arms, 2, 1e-4)
    grid_plan = plan_grid(arms, pulls=2, ages=3, depth=4)
    assert (np.array(grid_plan.uppers) >= np.array(exact.lowers)).all()
    assert grid_plan.upper <= exact.upper + 0.02


@pytest.mark.parametrize("seed", range(4))
def test_a_price_for_resting_is_one_more_arm_that_pays_it(seed):
    bandit = draw_bandit(seed + 50, ("dense", "sparse", "iid"))
    exact = plan(Bandit([*bandit.arms, Arm([[1.0]], [0.5])]), 1e-6)
    grid_plan = plan_grid(bandit, rest=0.5, ages=5, depth=8, tolerance=1e-6)
    twin = plan_grid([*bandit.arms, Arm([[1.0]], [0.5])], ages=5, depth=8, tolerance=1e-6)
    assert grid_plan.upper >= exact.gain_lower
    assert grid_plan.upper == pytest.approx(twin.upper, abs=3e-6)


def test_refinement_comes_down_to_the_best_gain():
    uppers = [
        grid_plan.upper
        for grid_plan in grid_improvements(slow_bandit(3, 0.03, 0), time=600.0, tolerance=1e-4)
    ]
    assert uppers == sorted(uppers, reverse=True)
    assert SLOW_EXACT - 5e-6 <= uppers[-1] <= SLOW_EXACT + 2e-4
    assert uppers[0] > SLOW_EXACT + 1e-3


def test_longer_stays_and_more_ages_tighten_the_bound():
    bandit = slow_bandit(3, 0.03, 0)
    few = plan_grid(bandit, ages=3, depth=1)
    deep = plan_grid(bandit, ages=3, depth=48)
    many = plan_grid(bandit, ages=6, depth=48)
    assert few.upper - 1e-3 > deep.upper > many.upper + 1e-3 > SLOW_EXACT


def test_a_plan_starts_from_another_grid():
    bandit = slow_bandit(3, 0.03, 1)
    coarse = plan_grid(bandit, ages=3, depth=16)
    cold = plan_grid(bandit, ages=5, depth=16, tolerance=1e-5)
    warm = plan_grid(bandit, ages=5, depth=16, tolerance=1e-5, start=coarse)
    assert warm.upper == pytest.approx(cold.upper, abs=2e-5)
    assert warm.sweeps < cold.sweeps


def fine_plan(bandit: Bandit) -> GridPlan:
    return plan_grid(bandit, ages=8, depth=16, tolerance=1e-7)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_policy_on_a_fine_grid_is_nearly_the_best(seed):
    bandit = draw_bandit(seed, ("dense", "sparse", "periodic"))
    grid_plan, exact = fine_plan(bandit), plan(bandit, 1e-6)
    value = evaluate(bandit, lambda states, ages: int(grid_plan.action(states, ages)), 1e-3)
    assert value.gain_upper >= exact.gain_lower - 3e-3


def test_simulation_agrees_with_exact_evaluation():
    bandit = Bandit([two_state(0.2, 0.3), two_state(0.1, 0.3, 0.9)])
    grid_plan = plan_grid(bandit, ages=3, depth=4)
    value = evaluate(bandit, lambda states, ages: int(grid_plan.action(states, ages)), 1e-5)
    seen = simulate_gain(grid_plan, steps=4000, replications=32, rng=1)
    wide = 6 * seen.half_width / 2.74  # six standard errors: missed with probability 1e-6
    assert abs(seen.mean - value.gain) <= wide <= 1e-3


def test_simulation_is_the_same_twice():
    grid_plan = plan_grid(example3(0.1), ages=3, depth=4)
    first, second = (simulate_gain(grid_plan, steps=500, replications=4, rng=3) for _ in range(2))
    assert first.mean == second.mean
    assert np.array_equal(first.visits, second.visits)


def test_actions_at_any_age():
    grid_plan = plan_grid(example1(0.1), ages=6)
    lasts, ages = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[1, 2], [1, 10**12], [7, 1]])
    many = grid_plan.actions(lasts, ages)
    assert many.tolist() == [grid_plan.action(x, n) for x, n in zip(lasts, ages, strict=True)]
    assert many[0] == 0
    worth = grid_plan.pull_values(lasts, ages)
    np.testing.assert_array_equal(worth.argmax(axis=1), many)


def test_slow_arms_agree_at_shared_ages():
    """Ages beyond the dense part of the tables share slots; beliefs there hardly differ."""
    grid_plan = plan_grid([two_state(1e-4, 2e-4), two_state(2e-4, 1e-4, 0.7)], ages=4, depth=4)
    near = grid_plan.pull_values([[0, 1]] * 3, [[1, 3_000], [1, 3_001], [1, 3_030]])
    assert np.ptp(near, axis=0).max() < 0.02 * np.ptp(grid_plan.values)


def test_ties_go_to_the_arm_pulled_last_then_to_the_first():
    arm = two_state(0.5, 0.5)
    grid_plan = plan_grid([arm, arm, arm], ages=2, depth=2)
    assert grid_plan.action([0, 0, 0], [3, 2, 1]) == 2
    assert grid_plan.action([0, 0, 0], [3, 2, 2]) == 0


def test_two_pulls_and_rests_are_spelled_out():
    arms = [two_state(0.1, 0.1), two_state(0.1, 0.1), two_state(0.1, 0.1)]
    assert plan_grid(arms, pulls=2, ages=2, depth=2).action([1, 0, 1], [1, 1, 2]) == (0, 2)
    dear = plan_grid(arms, rest=0.99, ages=2, depth=2)
    assert dear.action([0, 0, 0], [1, 2, 3]) == -1
    assert dear.actions([[0, 0, 0]], [[1, 2, 3]]).tolist() == [-1]


def test_all_arms_at_once_earn_the_sum_of_their_gains():
    arms = [two_state(0.1, 0.3), two_state(0.2, 0.1, 0.5)]
    grid_plan = plan_grid(arms, pulls=2, tolerance=1e-8)
    assert grid_plan.upper == pytest.approx(sum(arm.gain for arm in arms), abs=1e-7)


def test_numba_is_not_imported_before_it_is_needed():
    code = (
        "import sys, restive.many.grid, restive.many.several_pulls; print('numba' in sys.modules)"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "False"


def test_states_are_counted():
    arms = [two_state(0.01, 0.02)] * 3
    assert plan_grid(arms, pulls=2, ages=3, depth=4).states == 3 * 4 * 7


def test_bad_input_is_refused_in_words():
    bandit = example1(0.1)
    with pytest.raises(ValueError, match=r"pulls: .* from 1 to"):
        plan_grid(bandit, pulls=3)
    with pytest.raises(ValueError, match="price that is not negative"):
        plan_grid(bandit, rest=-0.1)
    with pytest.raises(TooLargeError, match="fewer ages an arm"):
        plan_grid(bandit, ages=50, memory=1000)
    with pytest.raises(ValueError, match="from 1 on"):
        plan_grid(bandit, ages=2).action([0, 0], [0, 1])
    with pytest.raises(ValueError, match="must be below"):
        plan_grid(bandit, ages=2).action([0, 2], [1, 2])


def test_out_of_time_a_plan_holds_with_what_it_knows():
    bandit, seen = slow_bandit(3, 0.03, 0), []
    nothing = plan_grid(bandit, ages=3, depth=8, deadline=0.0)
    assert nothing.upper == max(arm.rewards.max() for arm in bandit.arms)
    assert not nothing.converged

    class EnoughError(Exception):
        pass

    def watch(sweeps: int, lower: float, upper: float) -> None:
        seen.append((lower, upper))
        if len(seen) == 3:
            raise EnoughError

    with pytest.raises(EnoughError):
        plan_grid(bandit, ages=3, depth=8, progress=watch)
    assert all(upper >= SLOW_EXACT - 1e-5 for _, upper in seen)


@pytest.mark.parametrize("count", [2, 3])
def test_a_coarse_grid_bounds_more_arms_than_a_fine_one_can(count):
    bandit = slow_bandit(3, 0.03, 0)
    coarse = plan_grid(bandit, ages=count, depth=4, tolerance=1e-3)
    assert coarse.states < plan_grid(bandit, ages=4, depth=1, tolerance=1e-2).states
    assert SLOW_EXACT - 1e-5 <= coarse.upper <= lagrangian_bound(bandit.arms).upper
