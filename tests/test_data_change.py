"""Change over time, periods, and arms that move together."""

from __future__ import annotations

import numpy as np
import pytest

from markov_traces import STICKY, THREE, arm_of, thinned, walk
from restive.data.change import BINS, EDGE, change_test, find_moves, jump_scan, period_test
from restive.data.surprises import dependence_tests, find_cycle, find_surprises, state_scores

TURNED = np.array([[0.5, 0.5], [0.1, 0.9]])


def test_moves_stay_in_their_piece():
    arm = arm_of([0, 1, 1, 0], times=[0, 2, 3, 7], pieces=[0, 0, 1, 1])
    moves = find_moves(arm)
    assert moves.states.tolist() == [0, 1]
    assert moves.gaps.tolist() == [2, 4]
    assert moves.after.tolist() == [1, 0]
    assert moves.times.tolist() == [2, 7]


def test_a_scan_compares_all_before_with_all_after():
    counts = np.random.default_rng(0).integers(0, 6, (1, 2, BINS, 3))
    scan = jump_scan(counts)[0]
    for k, value in enumerate(scan):
        parts = counts[0, :, : k + EDGE].sum(axis=1), counts[0, :, k + EDGE :].sum(axis=1)
        assert value == pytest.approx(two_laws(*parts))
    assert len(scan) == BINS - 2 * EDGE + 1


def two_laws(before, after):
    """Twice the log-likelihood that laws of their own add for two parts (strata, columns)."""
    gain = 0.0
    for old, new in zip(before, after, strict=True):
        for part in (old, new):
            gain += sum(n * np.log(n / part.sum()) for n in part if n)
        gain -= sum(n * np.log(n / (old + new).sum()) for n in old + new if n)
    return 2 * gain


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_a_jump_is_found_where_it_is(share):
    rng = np.random.default_rng(1)
    states = np.concatenate([walk(STICKY, 1200, rng), walk(TURNED, 600, rng)])
    arm = arm_of(states)
    test = change_test(thinned(arm, share, rng) if share < 1 else arm, rng)
    assert test.p < 1e-4
    assert test.jump == pytest.approx(1200, abs=120)
    assert test.reading.bits > 0.005


def test_a_steady_drift_is_no_jump():
    rng, states = np.random.default_rng(2), [0]
    for k in range(6000):
        states.append(int(rng.random() < (0.1 if states[-1] else 0.0) + 0.1 + 0.7 * k / 6000))
    test = change_test(arm_of(states), rng)
    assert test.p < 1e-4
    assert test.jump is None


def test_change_from_piece_to_piece_is_seen():
    rng = np.random.default_rng(3)
    states = np.concatenate([walk(STICKY, 500, rng), walk(TURNED, 500, rng)])
    arm = arm_of(states, pieces=np.repeat([0, 1], 500))
    test = change_test(arm, rng)
    assert test.p < 1e-4
    assert "margins" in test.reading.method


def seasonal(period, steps, rng):
    states = [0]
    for k in range(1, steps):
        wave = 0.5 + 0.4 * np.sin(2 * np.pi * k / period)
        states.append(int(rng.random() < 0.4 * states[-1] + 0.6 * wave))
    return arm_of(states)


@pytest.mark.parametrize("period", [24.0, 7.0])
def test_a_period_is_found_and_seen_by_name(period):
    rng = np.random.default_rng(4)
    arm = seasonal(period, 1700, rng)
    cycle = find_cycle(arm)
    assert cycle.p < 1e-4
    assert cycle.period == pytest.approx(period, rel=0.02)
    assert period_test(arm, period, rng).p < 1e-4
    assert period_test(arm, period * 1.37, rng).p > 1e-4


def test_no_period_in_a_chain_and_none_sought_in_a_short_one():
    rng = np.random.default_rng(5)
    arm = arm_of(walk(THREE, 1500, rng))
    assert find_cycle(arm).p > 1e-3
    assert period_test(arm, 12.5, rng).p > 1e-3
    assert find_cycle(arm_of(walk(THREE, 40, rng))) is None
    assert find_cycle(arm_of(np.zeros(500), size=2)) is None


def test_periods_of_sparse_logs_on_a_coarse_grid():
    rng = np.random.default_rng(6)
    times = 500 * np.arange(5_000)
    states = rng.random(5_000) < 0.5 + 0.3 * np.sin(2 * np.pi * times / 90_000)
    cycle = find_cycle(arm_of(states, times=times))
    assert cycle.p < 1e-4
    assert cycle.period == pytest.approx(90_000, rel=0.02)


def test_long_times_are_looked_at_coarsely(monkeypatch):
    monkeypatch.setattr("restive.data.surprises.GRID", 1 << 12)
    cycle = find_cycle(seasonal(400.0, 8_001, np.random.default_rng(7)))
    assert cycle.p < 1e-4
    assert cycle.period == pytest.approx(400, rel=0.05)


def test_surprises_have_no_mean_after_any_state():
    arm = arm_of(walk(THREE, 600, np.random.default_rng(7)))
    surprises = find_surprises(arm)
    moves = find_moves(arm)
    for state in range(3):
        own = surprises.values[moves.states == state]
        assert own.mean() == pytest.approx(0, abs=1e-12)


def test_scores_are_rewards_or_the_commonest_state():
    arm = arm_of([0, 1, 1, 2], rewards=[0.1, 0.4, 0.6, np.nan])
    assert state_scores(arm).tolist() == [0.1, 0.5, 0.0]
    flat = arm_of([0, 1, 1, 2], rewards=np.full(4, 0.5))
    assert state_scores(flat).tolist() == [0.0, 1.0, 0.0]


def test_arms_that_move_together_are_told_from_those_that_do_not():
    rng = np.random.default_rng(8)
    first, other = walk(STICKY, 800, rng), walk(STICKY, 800, rng)
    mixed = np.where(rng.random(800) < 0.5, first, other)
    late = np.concatenate([[0], mixed[:-1]])
    arms = [arm_of(first), arm_of(other), arm_of(mixed), arm_of(late)]
    tests = {(t.first, t.second): t for t in dependence_tests(arms, rng)}
    assert tests[0, 1].p > 1e-4
    assert tests[0, 2].p < 1e-4
    assert (tests[0, 2].lag, tests[0, 3].lag, tests[2, 3].lag) == (0, 1, 1)
    assert tests[2, 3].correlation > 0.8
    assert tests[0, 3].p < 1e-4


@pytest.mark.parametrize("steps", [1500, 5000])
def test_arms_seen_in_turn_are_compared_nearby(steps):
    rng = np.random.default_rng(9)
    path = walk([[0.97, 0.03], [0.03, 0.97]], steps, rng)
    times = np.arange(steps)
    arms = [arm_of(path[k::2], times=times[k::2]) for k in (0, 1)]
    alone = arm_of(walk([[0.97, 0.03], [0.03, 0.97]], steps, rng)[1::2], times=times[1::2])
    together, apart = (dependence_tests([arms[0], arm], rng)[0] for arm in (arms[1], alone))
    assert together.p < 1e-4
    assert together.within == 1
    assert apart.p > 1e-4


def test_arms_never_seen_near_each_other_cannot_be_judged():
    rng = np.random.default_rng(10)
    path = walk(STICKY, 200, rng)
    far = arm_of(path, times=np.arange(200) + 1000)
    test = dependence_tests([arm_of(path), far], rng)[0]
    assert test.p is None
    assert dependence_tests([far], rng) == []
