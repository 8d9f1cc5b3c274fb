"""Simulated values: intervals that know of slow arms, of periods and of runs that are all equal."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

import numpy as np
import pytest
from scipy import stats

from restive import Always, Arm, Bandit
from restive.many import grid_improvement, plan_stages, planner
from restive.many.grid import plan_grid
from restive.many.grid_value import _half_width, gain_within, simulate_gain
from restive.many.plan_candidates import _horizons, index_findings
from restive.many.plan_stages import lagrangian_stage
from restive.many.plan_task import StageResult, Standing, Task
from restive.many.policies import myopic, round_robin, stay_else_oldest
from restive.many.population import Population
from restive.many.simulating import SimulatedValue, settled_play, simulate_policy
from restive.report.policy.bounded_play import pull_shares
from restive.report.policy.bounded_words import bounded_words

STICKY = Arm([[0.7, 0.3], [0.4, 0.6]], [0, 1])


def slow_arms(up=1e-5, down=1e-4, count=8):
    """All of them good at first and rarely so later; no policy earns more than some arm pays."""
    return [Arm([[1 - up, up], [down, 1 - down]], [0, 1], initial=1)] * count


def cycles():
    """Deterministic arms that pay most in turn, and what always pulling the best of them earns."""
    rng = np.random.default_rng(1)
    sizes = (2, 3, 5, 7, 11, 13)
    arms = [Arm(np.roll(np.eye(n), 1, axis=1), rng.uniform(0, 1, n), initial=0) for n in sizes]
    best = [max(arm.rewards[t % arm.n_states] for arm in arms) for t in range(int(np.prod(sizes)))]
    return arms, float(np.mean(best))


# --- the start -------------------------------------------------------------------------------


def test_the_start_of_slow_arms_is_not_taken_for_the_long_run():
    task = Task(Bandit(slow_arms()), 1e-4, 60.0, None, 0)
    most = 1 - (10 / 11) ** 8  # the share of time in which some arm pays
    for finding in index_findings(task, lagrangian_stage(task), 2.0):
        assert finding.simulated.lower <= most
    population = task.population(range(8))
    settled, warmup = settled_play(population, _horizons(population, 1)[0])
    assert warmup >= 4 * population.slowest
    assert all(arm.initial == "stationary" for arm in settled.kinds)
    turns = simulate_policy(settled, round_robin(population), 1, 20_000, 128, rng=0, warmup=0)
    assert turns.lower <= 1 / 11 <= turns.upper


def test_every_look_is_many_mixing_times_long():
    population = Population.of(slow_arms())
    assert min(_horizons(population, 1)) >= 10 * population.slowest
    assert min(_horizons(Population.of([STICKY]), 1)) == 3_000 // 8


def test_periodic_arms_keep_their_own_start():
    flip = Arm([[0, 1], [1, 0]], [0.2, 0.7], initial=1)
    population = Population.of([flip, *slow_arms(count=1)])
    kept, settled = population.settled.kinds
    assert kept is flip
    assert settled.initial == "stationary"


def test_a_rule_that_earns_more_than_any_policy_can_is_not_told(monkeypatch):
    task = Task(Bandit([STICKY] * 3), 1e-4, 60.0, None, 0)
    standing = Standing(task)
    standing.add(StageResult("prices", 0.55))
    policy = stay_else_oldest(task.population(range(3)))
    played = SimulatedValue(0.545, 0.54, 0.55, 8, 100, 0.99)
    standing.add(StageResult("stay", simulated=played, policy=lambda: policy, block=(0, 1, 2)))
    lucky = SimulatedValue(0.8, 0.79, 0.81, 32, 100, 0.999)
    monkeypatch.setattr("restive.report.policy.bounded_words.simulate_policy",
                        lambda *_, **__: lucky)  # fmt: skip
    assert bounded_words(standing.plan()).rule == ""


def test_shares_of_the_pulls_are_those_of_the_long_run():
    arms = [slow_arms(count=1)[0], Arm([[1 - 1e-4, 1e-4], [1e-4, 1 - 1e-4]], [0, 0.9])]
    task = Task(Bandit(arms), 1e-4, 60.0, None, 0)
    standing = Standing(task)
    policy = stay_else_oldest(task.population(range(2)), 0.8)
    played = SimulatedValue(0.545, 0.54, 0.55, 8, 100, 0.99)
    standing.add(StageResult("stay", simulated=played, policy=lambda: policy, block=(0, 1)))
    assert pull_shares(standing.plan())[0] < 0.6  # it pays in a share of 1/11 of the time


# --- the interval ----------------------------------------------------------------------------


@pytest.mark.parametrize("horizon", [2000, 3000, 5000])
def test_runs_that_are_all_equal_make_no_interval(horizon):
    arms, gain = cycles()
    population = Population.of(arms)
    value = simulate_policy(population, myopic(population), 1, horizon, 8, rng=1)
    assert np.ptp(value.run_means) == 0
    assert value.lower <= gain <= value.upper
    assert value.upper - value.lower > 0.5  # all that the rewards allow


def test_a_period_cut_short_is_in_the_interval():
    """State 0 pays 1 at every other step; what follows it hardly varies."""
    arm = Arm([[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]], [1, 0, 1e-3], initial=0)
    population = Population.of([arm])
    value = simulate_policy(population, round_robin(population), 1, 101, 16, rng=1, warmup=10)
    assert np.ptp(value.run_means) > 0
    assert value.lower <= 0.5 + 0.00025 <= value.upper


def test_constant_rewards_are_known_from_any_play():
    population = Population.of([Arm([[0.5, 0.5], [0.4, 0.6]], [0.5, 0.5])] * 2)
    value = simulate_policy(population, round_robin(population), 1, 50, 4, rng=0)
    assert value.lower == value.upper == 0.5


# --- the best of all findings ----------------------------------------------------------------


def played(lower, upper, steps=100):
    return SimulatedValue(0.5 * (lower + upper), lower, upper, 8, steps, 0.99)


def standing_of(*findings, tolerance=1e-3):
    standing = Standing(Task(Bandit([STICKY, STICKY]), tolerance, 1.0, None, 0))
    for finding in findings:
        standing.add(finding)
    return standing


def by_play(name, value):
    return StageResult(name, simulated=value, policy=lambda: Always(2, 0))


def test_a_worse_policy_of_the_same_name_replaces_nothing():
    good = by_play("lagrangian", played(0.6, 0.62))
    standing = standing_of(good, by_play("lagrangian", played(0.5, 0.7, steps=9000)))
    assert standing.plan().lower == 0.6


def test_longer_play_of_the_same_policy_replaces_what_it_said():
    first = by_play("whittle", played(0.6, 0.7))
    longer = StageResult("whittle", simulated=played(0.58, 0.61, steps=400), policy=first.policy)
    other = by_play("myopic", played(0.55, 0.6))
    assert standing_of(first, other, longer).plan().lower == 0.58
    assert standing_of(longer, other, first).plan().lower == 0.58
    much_longer = StageResult("whittle", simulated=played(0.53, 0.54, 9000), policy=first.policy)
    best = standing_of(first, other, much_longer).plan()
    assert (best.method, best.lower) == ("myopic", 0.55)


def test_an_interval_above_the_certified_bound_is_dropped():
    wrong, right = by_play("whittle", played(0.7, 0.8)), by_play("myopic", played(0.55, 0.6))
    standing = standing_of(right, wrong, StageResult("prices", 0.65))
    best = standing.plan()
    assert (best.method, best.lower, best.upper) == ("myopic", 0.55, 0.65)
    assert not standing.done
    alone = standing_of(wrong, StageResult("prices", 0.65)).plan()
    assert (alone.lower_kind, alone.simulated) == ("certified", None)


def test_certain_is_better_than_likely():
    gain = STICKY.gain
    near = by_play("whittle", played(gain + 1e-15, gain + 1e-14))
    assert standing_of(near).plan().lower_kind == "certified"
    a_little_more = by_play("whittle", played(gain + 2e-4, gain + 3e-4))
    assert standing_of(a_little_more).plan().lower_kind == "simulated"
    best = standing_of(a_little_more, StageResult("prices", gain + 5e-4)).plan()
    assert best.proven_optimal
    assert best.lower_kind == "certified"


@pytest.mark.parametrize("arm", [Arm([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5]), Arm([[1]], [0.7])])
def test_what_prices_prove_is_not_played(arm, monkeypatch):
    monkeypatch.setattr(plan_stages, "exact_seconds", lambda task: np.inf)
    best = planner.best_plan(Bandit([arm] * 12), time=20.0)
    assert best.proven_optimal
    assert (best.lower_kind, best.method, len(best.block)) == ("certified", "one arm for ever", 1)


# --- grids -----------------------------------------------------------------------------------


def test_play_on_a_grid_ends_at_its_deadline():
    own = plan_grid(slow_arms(count=2), ages=2, depth=2)
    none = simulate_gain(own, steps=100, deadline=perf_counter() - 1)
    assert (none.replications, none.lower, none.upper) == (0, -np.inf, np.inf)
    whole = simulate_gain(own, steps=100, replications=4, warm_up=10)
    assert whole.replications == 4
    assert whole.upper < np.inf


def test_a_look_at_slow_arms_is_long_enough_or_none(monkeypatch):
    own = plan_grid(slow_arms(1e-4, 1e-3, 2), ages=2, depth=2)
    value = gain_within(own, 20.0, 0)
    assert value.steps >= 4 * own.arms[0].mixing_time(0.25)
    monkeypatch.setattr("restive.many.grid_value.LEAST_SECONDS", 0.0)
    assert gain_within(own, 0.0, 0).lower == -np.inf


def test_grids_of_slow_arms_are_probed_without_a_long_warm_up(monkeypatch):
    own, before = plan_grid(slow_arms(count=2), ages=2, depth=2), []

    def watched(plan, *, warm_up, **options):
        before.append(warm_up)
        return simulate_gain(plan, warm_up=warm_up, **options)

    monkeypatch.setattr(grid_improvement, "simulate_gain", watched)
    grid_improvement._finer(own)
    assert before == [grid_improvement.PROBE_STEPS]


def test_play_on_a_grid_does_without_a_slow_import():
    """scipy.stats takes half a second, in every plan."""
    words = (
        "import sys; from restive import Arm; from restive.many.grid import plan_grid;"
        "from restive.many.grid_value import simulate_gain;"
        "arm = Arm([[.9, .1], [.1, .9]], [0, 1]);"
        "own = plan_grid([arm, arm], ages=2, depth=2);"
        "simulate_gain(own, steps=10, replications=2, warm_up=9);"
        "assert 'scipy.stats' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", words], check=True)


@pytest.mark.parametrize("count", [2, 8, 16])
def test_the_interval_is_students(count):
    gains = np.random.default_rng(count).normal(size=count)
    interval = stats.t.interval(0.99, count - 1, gains.mean(), stats.sem(gains))
    assert _half_width(gains, 0.99, 1) == pytest.approx(0.5 * (interval[1] - interval[0]))
    assert _half_width(np.full(count, 0.5), 0.99, 2) == np.inf
