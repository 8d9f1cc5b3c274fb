"""Several pulls a step, exactly: against brute force, against one pull and against all pulls."""

from __future__ import annotations

from collections import deque
from itertools import combinations, product

import numpy as np
import pytest

from naive import rows, stored
from naive_gains import gain_by_policy_iteration
from restive.base.errors import TooLargeError
from restive.experiments import compare
from restive.learners import make_learner
from restive.many.several_pulls import plan_pulls
from restive.many.yardsticks import yardstick_within
from restive.model.bandit import Arm, Bandit
from restive.planning import Plan, Refusal, plan
from restive.problems import example1
from restive.report.comparison import words
from restive.simulation import BanditWorld, play
from zoo import draw_arm, draw_bandit

EASY = ("dense", "sparse", "iid", "single", "periodic")
FAST = ("dense", "iid", "periodic")


def brute_force(arms: list[Arm], pulls: int, cap: int) -> tuple[np.ndarray, dict]:
    """Gain from every reachable information state, by policy iteration on dense matrices."""
    sets = list(combinations(range(len(arms)), pulls))
    tables = [rows(arm, cap, "limit") for arm in arms]
    spread = range(1, -(-len(arms) // pulls) + 1)
    queue = deque(
        tuple((s, stored(n, cap, arm.period)) for s, n, arm in zip(x, ages, arms, strict=True))
        for ages in product(spread, repeat=len(arms))
        if ages.count(1) == pulls
        for x in product(*(range(arm.n_states) for arm in arms))
    )
    number: dict = {}
    moves = []
    while queue:
        state = queue.popleft()
        if state in number:
            continue
        number[state] = len(number)
        for a, part in enumerate(sets):
            for seen in product(*(range(arms[j].n_states) for j in part)):
                after = tuple(
                    (seen[part.index(j)], 1) if j in part
                    else (s, stored(n + 1, cap, arms[j].period))
                    for j, (s, n) in enumerate(state)
                )  # fmt: skip
                laws = [tables[j][state[j][1]][state[j][0]] for j in part]
                chance = np.prod([law[s] for law, s in zip(laws, seen, strict=True)])
                reward = sum(arms[j].rewards[s] for j, s in zip(part, seen, strict=True))
                if chance > 0:
                    moves.append((a, state, after, chance, reward))
                    queue.append(after)
    P = np.zeros((len(sets), len(number), len(number)))
    r = np.zeros((len(sets), len(number)))
    for a, state, after, chance, reward in moves:
        P[a, number[state], number[after]] += chance
        r[a, number[state]] += chance * reward
    return gain_by_policy_iteration(P, r).gain, number


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pulls", [1, 2])
def test_against_brute_force(seed, pulls):
    rng = np.random.default_rng([seed, pulls])
    arms = [draw_arm(str(rng.choice(FAST)), rng, 2) for _ in range(3)]
    cap = max(arm.mixing_time(3e-3) for arm in arms)
    if cap > 6:
        arms = [Arm(0.75 * arm.stationary + 0.25 * arm.transitions, arm.rewards) for arm in arms]
        cap = max(arm.mixing_time(3e-3) for arm in arms)
    gain, _ = brute_force(arms, pulls, cap)
    joint = plan_pulls(arms, pulls, 1e-5)
    slack = 3e-3 * 3 * pulls  # rows of the brute force beyond its cap
    assert min(joint.lowers) - slack <= gain.min()
    assert gain.max() <= max(joint.uppers) + slack
    assert gain.max() - gain.min() == pytest.approx(
        max(joint.uppers) - min(joint.uppers), abs=2 * slack
    )


@pytest.mark.parametrize("seed", range(20))
def test_one_pull_is_the_ordinary_plan(seed):
    bandit = draw_bandit(seed, EASY)
    exact, joint = plan(bandit, 1e-6), plan_pulls(bandit, 1, 1e-4)
    assert joint.converged
    assert (np.array(joint.lowers) <= exact.upper).all()
    assert (np.array(joint.uppers) >= exact.lower).all()
    assert joint.lower <= exact.gain_upper
    assert joint.upper >= exact.gain_lower


@pytest.mark.parametrize("seed", range(10))
def test_all_pulls_earn_the_sum_of_the_gains(seed):
    bandit = draw_bandit(seed, ("dense", "sparse", "iid", "periodic"))
    joint = plan_pulls(bandit, bandit.n_arms, 1e-6)
    total = sum(float(arm.stationary @ arm.rewards) for arm in bandit.arms)
    assert joint.lower - 1e-12 <= total <= joint.upper + 1e-12
    assert joint.upper - joint.lower <= 1e-6


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_intervals_of_all_tolerances_overlap(tolerance):
    rng = np.random.default_rng(2)
    arms = [draw_arm("dense", rng, 3) for _ in range(3)]
    fine, rough = plan_pulls(arms, 2, 1e-6), plan_pulls(arms, 2, tolerance)
    assert rough.lower <= fine.upper
    assert fine.lower <= rough.upper
    assert rough.upper - rough.lower <= tolerance


def test_values_satisfy_the_optimality_equation_where_asked():
    """max_A r(x, A) + E h(next) - h(x) lies within the bounds at states given by raw ages."""
    rng = np.random.default_rng(4)
    arms = [draw_arm("dense", rng, 2) for _ in range(3)]
    joint = plan_pulls(arms, 2, 1e-6)
    rep, values = joint.process.representation, joint.values
    for states in product(range(2), repeat=3):
        for age in (2, 3, 5):
            place = (states[0], states[1], states[2] * rep.n_ages[2] + rep.stored_age(2, age) - 1)
            change = max(joint.pull_values(states, (1, 1, age))) - values[0][place]
            assert joint.lower - 1e-4 <= change <= joint.upper + 1e-4


def test_the_action_takes_the_best_pair():
    good, bad = [[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]
    arms = [Arm(good, [0, 1]), Arm(bad, [0, 0.4]), Arm(good, [0, 1])]
    joint = plan_pulls(arms, 2, 1e-3)
    assert joint.action([1, 0, 1], [1, 2, 1]) == (0, 2)
    twins = plan_pulls([arms[1]] * 3, 2, 1e-3)
    assert twins.action([0, 0, 0], [2, 1, 1]) == (1, 2)  # ties: those pulled last


def test_too_large_is_refused_in_words():
    slow = [Arm([[0.999, 0.001], [0.001, 0.999]], [0, 1])] * 4
    with pytest.raises(TooLargeError, match="use a grid"):
        plan_pulls(slow, 2, 1e-6)
    with pytest.raises(ValueError, match=r"pulls: .* from 1 to"):
        plan_pulls(example1(0.1), 3)
    assert isinstance(plan_pulls(Bandit(slow[:1]), 1, 1e-2).gain, float)


def test_a_comparison_with_several_pulls_knows_the_best_gain(tmp_path):
    """Regret is against an exact plan where that is small, and ranks are of it."""
    rng = np.random.default_rng(4)
    bandit = Bandit([draw_arm("dense", rng, 2) for _ in range(3)], "three", pulls=2)
    results = compare([bandit], tmp_path, ["round-robin", "tied-sampling"], 300, 2, workers=1)
    exact = plan_pulls(bandit.arms, 2, 1e-7)
    gain, lower, upper = results.gains["three"]
    assert lower <= exact.upper
    assert exact.lower <= upper
    assert upper - lower <= 1e-5
    curves = results.curves("three", "round-robin", 300)
    assert np.isfinite(curves.regret).all()
    assert np.isnan(curves.gap_regret).all()
    alone = sum(sorted(arm.gain for arm in bandit.arms)[1:])
    assert np.allclose(curves.regret - curves.weak_regret, (gain - alone) * curves.times)
    summary = results.summary
    assert words.ranking_measure(results, summary, "three") == "regret"
    assert "plain regret" in words.ranked_by(results, summary, "three")
    ends = {name: results.curves("three", name, 300).regret[:, -1].mean()
            for name in results.learners}  # fmt: skip
    first = min(ends, key=ends.get)
    assert summary.ranking("three", 300)[0].learner == first


def test_a_comparison_with_several_pulls_of_slow_arms_knows_a_ceiling(tmp_path):
    """No exact plan stands behind it; weak regret is against the best arms together."""
    rows = ([0.999, 0.001], [0.002, 0.998])
    bandit = Bandit([Arm(rows, [0, 0.7 + 0.1 * k]) for k in range(3)] * 2, "three", pulls=2)
    results = compare([bandit], tmp_path, ["round-robin"], 300, 2, workers=1)
    assert np.isnan(results.gains["three"][0])
    alone = sum(sorted(arm.gain for arm in bandit.arms)[-2:])
    assert results.best_arms["three"][1] == pytest.approx(alone)
    assert alone <= results.ceiling("three") <= 2
    assert words.ranking_measure(results, results.summary, "three") == "weak_regret"
    curves = results.curves("three", "round-robin", 300)
    assert curves is not None
    assert np.all(curves.weak_regret[:, -1] <= 300 * alone)


def test_regret_of_several_pulls_is_against_the_exact_gain():
    rng = np.random.default_rng(5)
    bandit = Bandit([draw_arm("dense", rng, 2) for _ in range(3)], pulls=2)
    best = yardstick_within(bandit, 20.0)
    exact = plan_pulls(bandit.arms, 2, 1e-7)
    assert best.gain == pytest.approx(exact.gain, abs=1e-6)
    run = play(make_learner("round-robin", bandit), BanditWorld(bandit, 1), 200, plan=best)
    assert np.allclose(run.regret, best.gain * run.times - run.rewards)
    assert run.gap_regret is None
    assert run.missing == {"gap_regret": "gap regret is only defined for one pull a step"}
    assert isinstance(yardstick_within(example1(0.1), 20.0), Plan)


def test_no_yardstick_where_it_is_large_or_depends_on_the_start():
    slow = Bandit([Arm([[0.999, 0.001], [0.001, 0.999]], [0, 1])] * 5, pulls=2)
    large = yardstick_within(slow, 20.0)
    assert isinstance(large, Refusal)
    assert "information states" in large.reason
    flip = Arm([[0, 1], [1, 0]], [0, 1], initial=[1, 0])
    phases = yardstick_within(Bandit([flip, flip, flip], pulls=2), 20.0)
    assert isinstance(phases, Refusal)
    assert "phases" in phases.reason
