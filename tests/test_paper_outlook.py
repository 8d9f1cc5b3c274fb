"""Remark 2, Exp3.S, chains of order 2 and aperiodic cycles: problems, oracles, verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from restive.paper import criteria, regret_runs
from restive.paper.claim import Scale
from restive.paper.claims import hard, outlook
from restive.planning import plan
from restive.problems import example3, lower_bound

QUICK = Scale(quick=True)


@pytest.mark.parametrize("pays", [True, False])
def test_rare_states_change_the_diameter_and_nothing_else(pays):
    arms = [outlook.rare_state(k, pays).arms[0] for k in criteria.DIAMETER.rarities]
    assert [arm.mixing_time() for arm in arms] == [2, 2, 2]
    sides = np.array([arm.diameter for arm in arms])
    assert sides == pytest.approx(sides[0] * np.array(criteria.DIAMETER.rarities))


def regrets(exponents, idle):
    rng = np.random.default_rng(2)
    sides = [3.0, 12.0, 48.0]
    rows = []
    for pays, exponent in zip((True, False), exponents, strict=True):
        for _ in range(8):
            lost = [1e4 * (side / 3) ** exponent * rng.normal(1, 0.02) for side in sides]
            rows.append((pays, np.array([lost, [idle, idle, idle]]), sides))
    return rows


@pytest.mark.parametrize(
    ("exponents", "expected"),
    [((0.2, -0.2), "holds"), ((0.2, 1.5), "not decided"), ((2.5, 0.0), "fails")],
)
def test_regret_that_grows_with_the_diameter_is_told(exponents, expected):
    assert outlook.judge_diameter(QUICK, regrets(exponents, 1e8)).verdict == expected


def test_regret_that_does_not_grow_with_the_diameter_says_nothing_if_nothing_is_learned():
    assert outlook.judge_diameter(QUICK, regrets((0.2, -0.2), 1.5e4)).verdict == "not decided"


def test_an_order_of_1_is_the_channel_of_example_3():
    gain, _ = outlook.promise(0.1, 1, 0.5)
    assert gain == pytest.approx(plan(example3(0.1), 1e-7).gain, abs=1e-5)


@pytest.mark.parametrize("lag", [1, 2, 3])
def test_chains_turn_as_often_as_they_should(lag):
    path = outlook.chain_of_order_2(0.1, 200_001, np.random.default_rng(8), lag)
    assert len(path) == 200_001
    assert set(path.tolist()) == {0, 1}
    turned = np.mean(path[lag:] != path[:-lag])
    assert abs(turned - 0.1) < 4 * np.sqrt(0.09 / 200_000)
    if lag > 1:  # neighbours belong to chains that know nothing of each other
        assert abs(np.mean(path[1:] != path[:-1]) - 0.5) < 0.05


def test_order_2_must_break_its_promise_and_order_1_keep_it():
    rng = np.random.default_rng(3)
    second = [(2, float(x)) for x in rng.normal(0.1, 0.01, 12)]
    first = [(1, float(x)) for x in rng.normal(0.0, 0.01, 12)]
    assert outlook.judge_order(QUICK, second + first).verdict == "holds"
    kept = [(2, float(x)) for x in rng.normal(0.0, 0.01, 12)]
    assert outlook.judge_order(QUICK, kept + first).verdict == "fails"
    wrong = [(1, float(x)) for x in rng.normal(0.1, 0.01, 12)]
    assert outlook.judge_order(QUICK, second + wrong).verdict == "fails"


@pytest.mark.parametrize(("slopes", "expected"), [((1.0, 0.6), "holds"), ((0.8, 0.6), "fails"),
                                                  ((1.0, 1.0), "fails")])  # fmt: skip
def test_exp3s_is_linear_where_arms_change_and_not_on_coins(slopes, expected):
    rng = np.random.default_rng(4)
    kinds = zip((True, False), slopes, strict=True)
    rows = [(k, float(rng.normal(mean, 0.003)), 0.7) for k, mean in kinds for _ in range(8)]
    assert outlook.judge_exp3s(QUICK, rows).verdict == expected


# --- Theorem 3, aperiodic --------------------------------------------------------------------


def test_a_learner_that_knows_the_good_arms_loses_nothing_on_aperiodic_cycles(monkeypatch):
    """Pulling the good arm of every phase is the policy that regret is measured against."""

    def clairvoyant(path, paid, phases, rng):
        means = [[paid[arm, path[arm] == phase].mean() for phase in range(phases)]
                 for arm in range(len(path))]  # fmt: skip
        return np.array(means).argmax(axis=0)[path[0]]

    monkeypatch.setattr(regret_runs, "STAYING", 0.0)
    monkeypatch.setattr(regret_runs, "_told_pulls", clairvoyant)
    regrets = [regret_runs.staying_regret("told", 400, (2, 2), seed) for seed in range(6)]
    assert min(regrets) == 0  # where 200 tosses an arm and phase are enough


def test_told_learners_lose_about_what_they_lose_on_cycles():
    lost = [regret_runs.staying_regret("told", 2000, (2, 2), seed) for seed in range(8)]
    share = np.mean(lost) / np.sqrt(4 * 2000)
    assert 0.05 < share < 0.25


def test_aperiodic_cycles_are_judged_by_height():
    rng = np.random.default_rng(5)
    roots = np.array([np.sqrt(k * m * 5000) for k, m in hard.SMALL])
    for height, expected in ((0.1, "holds"), (0.03, "fails")):
        rows = [(player, 5000, list(height * roots * rng.normal(1, 0.05, 3)))
                for player in hard.CLOCKS for _ in range(8)]  # fmt: skip
        assert hard.judge_staying(QUICK, rows).verdict == expected


def test_arms_that_drift_apart_pay_less_than_in_step(monkeypatch):
    """Two phases, each good arm in one: in step 3/4; half of the time both are good at once."""
    drifted = plan(lower_bound(2, 2, 0.25, best=[0, 1], stay=0.02), 1e-4).gain
    assert 0.68 < drifted < 0.72
    monkeypatch.setattr(criteria, "LOWER", replace(criteria.LOWER, drifting=0.02))
    rows = [(player, 5000, [50.0, 60.0, 70.0]) for player in hard.CLOCKS for _ in range(4)]
    rows = [(player, T, [x + k for x in lost]) for k, (player, T, lost) in enumerate(rows)]
    assert f"rho* is {drifted:.4f}" in hard.judge_staying(QUICK, rows).note
