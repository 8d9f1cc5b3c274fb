"""The slow oracles against each other and against closed forms; restive's solver plays no part."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import naive
from restive.model.bandit import Arm, Bandit


def symmetric(epsilon: float) -> Arm:
    return Arm([[1 - epsilon, epsilon], [epsilon, 1 - epsilon]], [0, 1])


def example_3(epsilon: float) -> Bandit:
    return Bandit([symmetric(epsilon), Arm([[0.5, 0.5], [0.5, 0.5]], [0, 1])])


def cycle(rewards: list[float]) -> Arm:
    return Arm(np.roll(np.eye(len(rewards)), 1, axis=1), rewards)


LEFT = Arm([[1.0]], [0.5])
CENTER = cycle([1, 0.5, 0])


def right() -> Arm:
    """1 -> 0 -> 0 -> (7/8 -> 3/4) or (0 -> 0), with probability 1/2 each, and back to 1."""
    p = np.zeros((7, 7))
    for here, there, chance in [(0, 1, 1), (1, 2, 1), (2, 3, 0.5), (2, 5, 0.5), (3, 4, 1),
                                (5, 6, 1), (4, 0, 1), (6, 0, 1)]:  # fmt: skip
        p[here, there] = chance
    return Arm(p, [1, 0, 0, 7 / 8, 3 / 4, 0, 0])


def random_arm(rng: np.random.Generator, size: int) -> Arm:
    return Arm(rng.dirichlet(np.ones(size), size), rng.random(size))


@cache
def random_bandit(seed: int) -> Bandit:
    rng = np.random.default_rng(seed)
    return Bandit([random_arm(rng, 2), random_arm(rng, 3)])


# --- closed forms ----------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.8, 0.95])
def test_examples_1_and_2(epsilon: float) -> None:
    bandit = Bandit([symmetric(epsilon)] * 2)
    cap = int(np.ceil(np.log(1e-14) / np.log(abs(1 - 2 * epsilon))))
    gain = naive.true_gain_large_cap(bandit, cap)
    np.testing.assert_allclose(gain, 1 / 2 + abs(1 - 2 * epsilon) / 4, atol=1e-12)


@pytest.mark.parametrize(("epsilon", "gain"), [(0.1, 0.6412169920), (0.2, 37 / 62)])
def test_example_3(epsilon: float, gain: float) -> None:
    cap = int(np.ceil(np.log(1e-14) / np.log(1 - 2 * epsilon)))
    true_gain = naive.true_gain_large_cap(example_3(epsilon), cap)
    np.testing.assert_allclose(true_gain, gain, atol=1e-10)
    w = [(1 - (1 - 2 * epsilon) ** m) / 2 for m in range(60)]
    formula = max(((m - 1) / 2 + w[m] / epsilon) / (m + w[m] / epsilon) for m in range(1, 60))
    np.testing.assert_allclose(true_gain, formula, atol=1e-12)


@pytest.mark.parametrize(
    ("arms", "state", "gain", "lead"),
    [
        ([LEFT, CENTER, right()], ((0, 1), (1, 1), (0, 3)), 0.7375, 1 / 16),
        ([LEFT, right()], ((0, 1), (0, 3)), 0.6125, -1 / 16),
    ],
)
def test_example_4(arms: list[Arm], state: naive.Info, gain: float, lead: float) -> None:
    caps = [{1: 1, 3: 1, 7: 2}[arm.n_states] for arm in arms]
    mdp = naive.dense_mdp(Bandit(arms), caps)
    answer = naive.gain_by_policy_iteration(mdp.P, mdp.r)
    np.testing.assert_allclose(answer.gain, gain, atol=1e-12)
    worth = (mdp.r + mdp.P @ answer.bias)[:, mdp.states.index(state)]
    assert worth[0] - worth[-1] == pytest.approx(lead, abs=1e-12)


def test_gain_depends_on_the_phase_when_periods_share_a_divisor() -> None:
    mdp = naive.dense_mdp(Bandit([cycle([0, 1]), cycle([0, 1])]), [1, 1])
    gain = naive.gain_by_policy_iteration(mdp.P, mdp.r).gain
    np.testing.assert_allclose(gain, naive.gain_by_lp(mdp.P, mdp.r), atol=1e-9)
    # Out of phase: one arm is always at 1. In phase: never both steps.
    phases = [(s + n + u + k) % 2 for (s, n), (u, k) in mdp.states]
    np.testing.assert_allclose(gain, [1.0 if phase else 0.5 for phase in phases], atol=1e-12)


# --- rows and information states -------------------------------------------------------------


def test_periods() -> None:
    arms = [LEFT, CENTER, right(), symmetric(0.1), cycle([0] * 6)]
    assert [naive.period(arm) for arm in arms] == [1, 3, 5, 1, 6]


def test_float_powers_match_fractions() -> None:
    arm = random_bandit(0).arms[1]
    exact = np.array(naive.exact_power(arm, 7), dtype=float)
    np.testing.assert_allclose(naive.row(arm, 7, 9), exact, atol=1e-15)


def test_fractions_read_the_decimals() -> None:
    assert naive.exact_power(symmetric(0.1), 2)[0] == [Fraction(41, 50), Fraction(9, 50)]


@pytest.mark.parametrize("arm", [right(), CENTER, symmetric(0.2)])
def test_limit_rows_are_what_powers_tend_to(arm: Arm) -> None:
    m = naive.period(arm)
    for age in range(1, 1 + m):
        far = np.linalg.matrix_power(arm.transitions, age + 60 * m)
        np.testing.assert_allclose(naive.limit(arm, age), far, atol=1e-12)


def test_lasso_walks_the_tail_and_then_the_loop() -> None:
    assert [naive.stored(n, 3, 1) for n in range(1, 7)] == [1, 2, 3, 3, 3, 3]
    assert [naive.stored(n, 3, 2) for n in range(1, 9)] == [1, 2, 3, 4, 3, 4, 3, 4]
    assert sorted(naive.rows(right(), 2)) == [1, 2, 3, 4, 5, 6]


def test_the_cap_itself_holds_the_limit_and_the_power_on_request() -> None:
    arm = symmetric(0.2)
    np.testing.assert_allclose(naive.row(arm, 2, 3)[0], [0.68, 0.32], atol=1e-15)
    np.testing.assert_allclose(naive.row(arm, 3, 3)[0], [0.5, 0.5], atol=1e-15)
    np.testing.assert_allclose(naive.row(arm, 3, 3, "power")[0], [0.608, 0.392], atol=1e-15)


@pytest.mark.parametrize("cap", [2, 5, 9])
def test_two_aperiodic_arms_have_this_many_states(cap: int) -> None:
    # One age is 1; the other runs from 2 to the cap: 2 x 4 x (cap - 1) states.
    number = naive.information_states(Bandit([symmetric(0.1), symmetric(0.2)]), [cap, cap])
    assert len(number) == 8 * (cap - 1)


def test_states_follow_condition_i_and_ii_of_the_paper() -> None:
    number = naive.information_states(Bandit([symmetric(0.1)] * 3), [4, 4, 4])
    ages = {tuple(n for _, n in state) for state in number}
    below = [(n, m) for n in range(2, 5) for m in range(2, 5) if n != m or n == 4]
    expected = {a for n, m in below for a in [(1, n, m), (n, 1, m), (n, m, 1)]}
    assert ages == expected
    assert len(number) == 8 * len(expected)


# --- the best gain, four ways ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_four_ways_to_the_gain(seed: int) -> None:
    mdp = naive.dense_mdp(random_bandit(seed), [5, 4])
    gain = naive.gain_by_policy_iteration(mdp.P, mdp.r).gain
    assert np.ptp(gain) < 1e-12
    np.testing.assert_allclose(naive.gain_by_lp(mdp.P, mdp.r), gain, atol=1e-8)
    assert naive.gain_by_iteration(mdp.P, mdp.r) == pytest.approx(gain[0], abs=1e-10)


def test_policy_iteration_against_all_policies() -> None:
    mdp = naive.dense_mdp(
        Bandit([symmetric(0.1), Arm([[0.3, 0.7], [0.6, 0.4]], [0.2, 0.9])]), [2, 2]
    )
    best = naive.brute_force_gain(mdp.P, mdp.r)
    np.testing.assert_allclose(naive.gain_by_policy_iteration(mdp.P, mdp.r).gain, best, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_multichain_problems(seed: int) -> None:
    """Sparse random MDPs with several closed classes, where the gain differs between states."""
    rng = np.random.default_rng(seed)
    P = np.zeros((2, 7, 7))
    for a in range(2):
        for x in range(7):
            ahead = rng.choice(7, size=rng.integers(1, 3), replace=False)
            P[a, x, ahead] = rng.dirichlet(np.ones(len(ahead)))
    r = rng.random((2, 7))
    best = naive.brute_force_gain(P, r)
    np.testing.assert_allclose(naive.gain_by_policy_iteration(P, r).gain, best, atol=1e-12)
    np.testing.assert_allclose(naive.gain_by_lp(P, r), best, atol=1e-8)


def test_gain_and_bias_solve_the_evaluation_equations() -> None:
    mdp = naive.dense_mdp(random_bandit(4), [4, 4])
    policy = np.random.default_rng(4).integers(2, size=len(mdp.states))
    gain, bias, _ = naive.evaluate_policy(mdp.P, mdp.r, policy)
    at = np.arange(len(policy))
    p, r = mdp.P[policy, at], mdp.r[policy, at]
    np.testing.assert_allclose(p @ gain, gain, atol=1e-12)
    np.testing.assert_allclose(r + p @ bias - bias, gain, atol=1e-12)
    np.testing.assert_allclose(naive.limiting_matrix(p) @ bias, 0, atol=1e-12)
    average = sum(np.linalg.matrix_power(p, t) for t in range(4000)) @ r / 4000
    np.testing.assert_allclose(average, gain, atol=2 * np.ptp(bias) / 4000)


def test_a_small_cap_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="cap 20 leaves"):
        naive.true_gain_large_cap(Bandit([symmetric(0.1)] * 2), 20)


# --- the true system -------------------------------------------------------------------------


def value_by_belief(bandit: Bandit, belief: np.ndarray, steps: int) -> float:
    """Best expected reward of ``steps`` pulls from a law over hidden joint states, by Bayes."""
    if steps == 0:
        return 0.0
    best = -np.inf
    for j, arm in enumerate(bandit.arms):
        total = 0.0
        for s in range(arm.n_states):
            seen = np.zeros_like(belief)
            at = tuple(s if axis == j else slice(None) for axis in range(belief.ndim))
            seen[at] = belief[at]
            chance = seen.sum()
            if chance > 0:
                moved = seen / chance
                for axis, other in enumerate(bandit.arms):
                    moved = np.moveaxis(np.tensordot(moved, other.transitions, (axis, 0)), -1, axis)
                total += chance * (arm.rewards[s] + value_by_belief(bandit, moved, steps - 1))
        best = max(best, total)
    return best


def test_information_states_carry_all_that_matters() -> None:
    """The T-step representation against exact Bayesian planning over the hidden states."""
    bandit, steps = random_bandit(1), 4
    mdp = naive.dense_mdp(bandit, [steps + 3] * 2, "power")
    values = np.zeros(len(mdp.states))
    for _ in range(steps):
        values = (mdp.r + mdp.P @ values).max(axis=0)
    for state in [((0, 1), (2, 2)), ((1, 3), (0, 1))]:
        seen = zip(bandit.arms, state, strict=True)
        laws = [np.linalg.matrix_power(arm.transitions, n)[s] for arm, (s, n) in seen]
        expected = value_by_belief(bandit, np.outer(*laws), steps)
        assert values[mdp.states.index(state)] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_simulated_reward_is_the_gain(seed: int) -> None:
    """Mean of 30 runs within 6.5 standard errors: t_29 beyond that has probability 5e-7."""
    bandit = random_bandit(seed)
    caps = [12, 12]
    mdp = naive.dense_mdp(bandit, caps)
    number = {state: x for x, state in enumerate(mdp.states)}
    answer = naive.gain_by_policy_iteration(mdp.P, mdp.r)

    def policy(known: naive.Info) -> int:
        return int(answer.policy[number[tuple((s, min(n, 12)) for s, n in known)]])

    means = [
        np.mean([reward for *_, reward in naive.simulate(bandit, policy, 1000, 100 * seed + run)])
        for run in range(30)
    ]
    error = np.std(means, ddof=1) / np.sqrt(30)
    assert error < 0.005
    assert abs(np.mean(means) - answer.gain[0]) < 6.5 * error + np.ptp(answer.bias) / 1000


def test_simulated_chains_move_unseen() -> None:
    """Pulling a 3-cycle and a fixed arm in turn: the cycle is seen two steps later each time."""
    seen = naive.simulate(Bandit([CENTER, LEFT]), lambda known: int(known[0][1] == 1), 9, 0)
    states = [state for arm, state, _ in seen if arm == 0]
    assert all((b - a) % 3 == 2 for a, b in pairwise(states))
    assert len(states) >= 4


# --- optimism --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_extended_backup_is_the_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    p, values = rng.dirichlet(np.ones(size) / 2), rng.normal(size=size).round(1)
    for radius in [0.0, 0.1, 0.7, 1.5, 2.0, 3.0]:
        expected = naive.extended_backup_by_lp(p, values, radius)
        assert naive.extended_backup(p, values, radius) == pytest.approx(expected, abs=1e-9)


def test_extended_gain_between_the_gain_and_one() -> None:
    mdp = naive.dense_mdp(Bandit([symmetric(0.1), symmetric(0.3)]), [3, 3])
    every = {color for of_arm in mdp.colors for color in of_arm}
    none, wide = dict.fromkeys(every, 0.0), dict.fromkeys(every, 2.0)
    plain = naive.gain_by_iteration(mdp.P, mdp.r)
    assert naive.extended_gain_by_iteration(mdp, none, none) == pytest.approx(plain, abs=1e-8)
    assert naive.extended_gain_by_iteration(mdp, wide, none) == pytest.approx(1, abs=1e-8)
    # Rewards are known, so wide transitions reach the best color's reward at best.
    best = naive.extended_gain_by_iteration(mdp, none, wide)
    assert plain < best <= mdp.r.max() + 1e-8


def test_extended_gain_against_all_corner_models() -> None:
    """Two outcomes a color: the optimistic model is one of the corners of the L1 balls."""
    mdp = naive.dense_mdp(Bandit([symmetric(0.3), symmetric(0.4)]), [2, 2])
    every = sorted({color for of_arm in mdp.colors for color in of_arm})
    none, radius = dict.fromkeys(every, 0.0), dict.fromkeys(every, 0.2)
    optimistic = naive.extended_gain_by_iteration(mdp, none, radius)
    gains = []
    for signs in np.ndindex(*[2] * len(every)):
        P = mdp.P.copy()
        shift = dict(zip(every, 0.1 * (1 - 2 * np.array(signs)), strict=True))
        for a in range(2):
            for x, color in enumerate(mdp.colors[a]):
                P[a, x, mdp.successors[a][x]] += [-shift[color], shift[color]]
        gains.append(naive.gain_by_policy_iteration(P, mdp.r).gain.max())
    assert optimistic == pytest.approx(max(gains), abs=1e-8)
