"""Whittle indices against the closed form of two-state arms and against value iteration."""

from __future__ import annotations

import numpy as np
import pytest

from restive.model.bandit import Arm
from restive.planning.indices import is_indexable, rest_advantage, whittle_indices
from restive.problems import random_problem


def liu_zhao(p01, p11, state, age):
    """Index of a two-state arm with rewards 0 and 1 (Liu, Zhao 2010, average reward)."""
    eigen = p11 - p01
    mean = p01 / (1 - eigen)

    def later(steps, belief):
        return mean + (belief - mean) * eigen**steps

    belief = later(age, float(state))
    low, high = min(p01, p11), max(p01, p11)
    if belief <= low or belief >= high:
        return belief
    if eigen >= 0:
        if belief >= mean:
            return belief / (1 - p11 + belief)
        wait = next(k for k in range(10_000) if later(k, p01) > belief)
        drift = belief - later(1, belief)
        reached = later(wait, p01)
        return (drift * (wait + 1) + reached) / (1 - p11 + drift * wait + reached)
    if belief < mean:
        drift = later(1, belief) - belief
        return (p01 - drift) / (1 + p01 - later(1, p11) + drift)
    return p01 / (1 + p01 - max(belief, later(1, p11)))


@pytest.mark.parametrize(
    ("p01", "p11"), [(0.2, 0.8), (0.1, 0.6), (0.05, 0.95), (0.8, 0.2), (0.9, 0.5), (0.7, 0.1)]
)
def test_indices_of_two_state_arms_have_the_closed_form(p01, p11):
    arm = Arm([[1 - p01, p01], [1 - p11, p11]], [0, 1])
    indices = whittle_indices(arm, 60)
    expected = [[liu_zhao(p01, p11, s, n) for n in range(1, 16)] for s in (0, 1)]
    np.testing.assert_allclose(indices[:, :15], expected, atol=2e-6)
    assert is_indexable(arm, 60)


def test_indices_move_with_the_rewards():
    chain = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.4, 0.5]]
    plain = whittle_indices(Arm(chain, [0.0, 0.5, 1.0]), 25)
    scaled = whittle_indices(Arm(chain, [0.2, 0.4, 0.6]), 25)
    np.testing.assert_allclose(scaled, 0.2 + 0.4 * plain, atol=1e-6)


def sweeps(arm, subsidy, cap, count=40_000, step=0.5):
    """Damped relative value iteration of the arm with a subsidy; advantage of resting."""
    limit = np.tile(arm.stationary, (arm.n_states, 1))
    rows = np.array([*(arm.power(n) for n in range(1, cap)), limit])
    means = rows @ arm.rewards  # (ages, states)
    after = [*range(1, cap), cap - 1]
    h = np.zeros((cap, arm.n_states))
    for _ in range(count):
        pull, rest = means + rows @ h[0], subsidy + h[after]
        best = np.maximum(pull, rest)
        change = best - h
        if np.ptp(change) < 1e-12:
            break
        h = h + step * (change - change[0, 0])
    return (rest - pull).T


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_advantages_agree_with_value_iteration(seed):
    arm = random_problem(n_arms=1, n_states=3, rng=seed).arms[0]
    cap = 12
    lowest = float(arm.rewards.min())
    for subsidy in (lowest, 0.5 * (lowest + arm.gain), arm.gain - 0.01):
        # below the arm's gain resting for ever is not best, and values are unique
        np.testing.assert_allclose(
            rest_advantage(arm, subsidy, cap), sweeps(arm, subsidy, cap), atol=1e-7
        )


def test_at_its_index_a_state_is_as_good_rested_as_pulled():
    arm = random_problem(n_arms=1, n_states=4, rng=8).arms[0]
    indices = whittle_indices(arm, 15)
    for s, n in [(0, 0), (1, 3), (3, 14), (2, 7)]:
        assert abs(rest_advantage(arm, float(indices[s, n]), 15)[s, n]) < 1e-5
        assert rest_advantage(arm, float(indices[s, n]) + 0.01, 15)[s, n] > 1e-4
        assert rest_advantage(arm, float(indices[s, n]) - 0.01, 15)[s, n] < -1e-4


def test_equal_rewards_and_single_states_have_that_reward_as_index():
    assert whittle_indices(Arm([[1.0]], [0.3])).tolist() == [[0.3]]
    indices = whittle_indices(Arm([[0.5, 0.5], [0.2, 0.8]], [0.4, 0.4]), 5)
    assert (indices == 0.4).all()


def test_deterministic_cycles_are_worth_what_they_show_next():
    cycle = Arm([[0, 1, 0], [0, 0, 1], [1, 0, 0]], [1.0, 0.5, 0.0])
    indices = whittle_indices(cycle)
    expected = [[cycle.rewards[(s + n) % 3] for n in (1, 2, 3)] for s in range(3)]
    np.testing.assert_allclose(indices, expected, atol=1e-6)
