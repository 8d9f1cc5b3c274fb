"""The one solver against dense brute force, linear programs and the naive extended iteration."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import naive
import restive.mdp.iteration
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.mdp.solver import solve
from restive.mdp.structured import Parameters, StructuredMDP
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.problems import random_problem
from zoo import as_arrays, draw_arm, draw_bandit, draw_caps, is_slow

BATCHES = [range(first, first + 30) for first in range(0, 240, 30)]


def middle(bandit: Bandit, caps: list[int], states: list[naive.Info]) -> np.ndarray:
    """The solver's gain of every information state of the naive MDP."""
    rep = Representation.of(bandit, caps)
    solution = solve(rep, bandit_parameters(bandit, rep), tolerance=1e-10)
    assert solution.converged
    assert (solution.upper - solution.lower <= 1e-10).all()
    return 0.5 * (solution.lower + solution.upper)[rep.classes(*as_arrays(states))]


@pytest.mark.parametrize("seeds", BATCHES)
def test_gain_per_class_agrees_with_brute_force(seeds):
    """Policy iteration on everything; the linear program where it is small.

    HiGHS meets its constraints to 1e-7, which nearly reducible chains do not shrink.
    """
    for seed in seeds:
        bandit = draw_bandit(seed)
        if bandit.n_arms == 1 and is_slow(bandit.arms[0]):
            continue  # see the test of a single slow arm
        caps = draw_caps(seed, bandit)
        mdp = naive.dense_mdp(bandit, caps)
        gains = middle(bandit, caps, mdp.states)
        truth = naive.gain_by_policy_iteration(mdp.P, mdp.r).gain
        np.testing.assert_allclose(gains, truth, atol=1e-8, err_msg=f"seed {seed}")
        if len(mdp.states) <= 100:
            close = 5e-7 if any(is_slow(arm) for arm in bandit.arms) else 1e-8
            by_lp = naive.gain_by_lp(mdp.P, mdp.r)
            np.testing.assert_allclose(gains, by_lp, atol=close, err_msg=f"seed {seed}")


@pytest.mark.parametrize("periods", [(2, 2), (2, 4), (3, 3), (2, 3), (4, 4), (2, 2, 2)])
def test_gain_depends_on_the_start_where_periods_have_a_common_divisor(periods):
    rng, spread = np.random.default_rng(periods), 0.0
    for _ in range(5):
        arms = [Arm(np.roll(np.eye(m), 1, axis=1), rng.random(m)) for m in periods]
        bandit, caps = Bandit(arms), [int(c) for c in rng.integers(1, 4, len(periods))]
        mdp = naive.dense_mdp(bandit, caps)
        truth = naive.gain_by_policy_iteration(mdp.P, mdp.r).gain
        np.testing.assert_allclose(middle(bandit, caps, mdp.states), truth, atol=1e-9)
        rep = Representation.of(bandit, caps)
        assert rep.n_classes == np.prod(periods) // np.lcm.reduce(periods)
        if rep.n_classes > 1:
            spread = max(spread, np.ptp(truth))
            solution = solve(rep, bandit_parameters(bandit, rep))
            with pytest.raises(ValueError, match="depends on the start"):
                _ = solution.gain
    assert (spread > 1e-3) == (rep.n_classes > 1)


def test_a_single_slow_arm_needs_no_sweeps_to_speak_of():
    rng = np.random.default_rng(3)
    for _ in range(5):
        arm = draw_arm("near reducible", rng)
        rep = Representation.of(Bandit([arm]), 2)
        solution = solve(rep, bandit_parameters(Bandit([arm]), rep), tolerance=1e-9, max_sweeps=300)
        assert solution.converged
        assert solution.gain == pytest.approx(arm.gain, abs=1e-8)


@pytest.mark.parametrize("max_sweeps", [1, 2, 7, 40])
@pytest.mark.parametrize("accelerate", [True, False])
def test_a_solution_cut_short_says_so_and_its_bounds_hold(max_sweeps, accelerate):
    for seed in range(10):
        bandit = random_problem(2, 2, rng=seed, stickiness=0.9)
        mdp = naive.dense_mdp(bandit, [6, 6])
        truth = naive.gain_by_policy_iteration(mdp.P, mdp.r).gain[0]
        rep = Representation.of(bandit, 6)
        parameters = bandit_parameters(bandit, rep)
        solution = solve(
            rep, parameters, tolerance=1e-12, max_sweeps=max_sweeps, accelerate=accelerate
        )
        assert solution.converged == (solution.gain_upper - solution.gain_lower <= 1e-12)
        if not accelerate or max_sweeps < 40:  # before the first check nothing is extrapolated
            assert not solution.converged
            assert solution.sweeps <= max_sweeps
        assert solution.gain_lower - 1e-13 <= truth <= solution.gain_upper + 1e-13


# --- optimism --------------------------------------------------------------------------------


def with_radii(base: Parameters, rng: np.random.Generator, scale: float | None) -> Parameters:
    """Random radii: about ``scale``, or a mixture of 0, small and vacuous ones."""
    colors = len(base.rewards)
    if scale is None:
        radii = rng.choice([0.0, 0.05, 0.4, 2.0, 9.0], colors)
    else:
        radii = scale * rng.uniform(0.5, 1.5, colors)
    return Parameters(base.rewards, base.probabilities, radii * rng.random(colors), radii)


def naive_extended(bandit: Bandit, caps: list[int], rep: Representation, p: Parameters) -> float:
    mdp = naive.dense_mdp(bandit, caps)
    names = {color for colors in mdp.colors for color in colors}
    law = {name: float(p.radii[rep.color(*name)]) for name in names}
    pay = {name: float(p.reward_radii[rep.color(*name)]) for name in names}
    return naive.extended_gain_by_iteration(mdp, pay, law, span=1e-8)


@pytest.mark.parametrize("scale", [0.0, 0.01, 0.3, 4.0, None])
@pytest.mark.parametrize("sizes", [(1,), (3,), (1, 2), (2, 2), (3, 2), (5, 2), (5, 3), (2, 2, 1)])
def test_optimistic_gain_against_the_naive_iteration(sizes, scale):
    rng = np.random.default_rng([*sizes, int(100 * (scale or 7))])
    bandit = Bandit([draw_arm("dense" if size > 1 else "single", rng, size) for size in sizes])
    caps = [int(c) for c in rng.integers(1, 4, len(sizes))]
    rep = Representation.of(bandit, caps)
    parameters = with_radii(bandit_parameters(bandit, rep), rng, scale)
    truth = naive_extended(bandit, caps, rep, parameters)
    for accelerate in (True, False):
        solution = solve(rep, parameters, tolerance=1e-9, accelerate=accelerate)
        assert solution.converged
        assert solution.gain == pytest.approx(truth, abs=2e-8)


@pytest.mark.parametrize("seed", range(8))
def test_optimistic_gain_grows_with_the_radii_from_the_true_gain(seed):
    rng = np.random.default_rng(seed)
    bandit = random_problem(int(rng.integers(1, 4)), int(rng.integers(2, 5)), rng=seed)
    rep = Representation.of(bandit, 4)
    base = bandit_parameters(bandit, rep)
    shape, pay = rng.random(rep.n_colors), 0.05 * rng.random(rep.n_colors)
    true_gain = solve(rep, base, tolerance=1e-10).gain
    gains = []
    for scale in (0, 1e-3, 0.05, 0.3, 1, 4, 100):
        radii = Parameters(base.rewards, base.probabilities, scale * pay, scale * shape)
        gains.append(solve(rep, radii, tolerance=1e-10).gain)
    assert gains[0] == pytest.approx(true_gain, abs=1e-10)
    assert all(b >= a - 1e-10 for a, b in pairwise(gains))
    assert gains[1] > true_gain
    assert gains[-1] == pytest.approx(1.0)


# --- other roads to the same gain ------------------------------------------------------------


def written_out(bandit: Bandit, caps: list[int], rep: Representation) -> StructuredMDP:
    """The naive enumeration as arrays, colors numbered as in the representation.

    Where an arm has fewer outcomes than the largest, the first one is repeated.
    """
    mdp = naive.dense_mdp(bandit, caps)
    count, support = len(mdp.states), max(bandit.n_states)
    successors = np.zeros((count, bandit.n_arms, support), dtype=int)
    colors = np.zeros((count, bandit.n_arms), dtype=int)
    for j, size in enumerate(bandit.n_states):
        successors[:, j] = np.array(mdp.successors[j])[:, [*range(size), *[0] * (support - size)]]
        colors[:, j] = [rep.color(*color) for color in mdp.colors[j]]
    return StructuredMDP(colors, successors)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("optimistic", [False, True])
def test_arrays_and_index_arithmetic_give_the_same_gain(seed, optimistic):
    bandit = draw_bandit(seed, ("dense", "sparse", "iid", "single"))
    rng, caps = np.random.default_rng(seed), [2 + seed % 4] * bandit.n_arms
    rep = Representation.of(bandit, caps)
    parameters = bandit_parameters(bandit, rep)
    if optimistic:
        parameters = with_radii(parameters, rng, None)
    structured = written_out(bandit, caps, rep)
    used = structured.n_colors  # with a single arm only age 1 occurs
    short = Parameters(*(None if a is None else a[:used] for a in vars(parameters).values()))
    by_arrays = solve(structured, short, tolerance=1e-10)
    assert by_arrays.converged
    assert by_arrays.gain == pytest.approx(solve(rep, parameters, tolerance=1e-10).gain, abs=1e-9)


def test_entries_beyond_the_outcomes_of_a_color_are_unused():
    """Color 0 has one outcome only, so no radius can make it lead to the paradise in state 1."""
    structured = StructuredMDP([[0], [1]], [[[0, -1]], [[1, -1]]])
    parameters = Parameters(
        np.array([0.3, 1.0]), np.array([[1.0, 0.0], [1.0, 0.0]]), None, np.array([0.5, 0.0])
    )
    start = solve(structured, parameters, tolerance=1e-9, max_sweeps=2000)
    assert start.gain_lower == pytest.approx(0.3)


def test_optimism_joins_the_classes_of_periodic_arms():
    flip = [[0, 1], [1, 0]]
    bandit = Bandit([Arm(flip, [0.1, 0.5]), Arm(flip, [0.3, 0.9])])
    rep = Representation.of(bandit, 1)
    base = bandit_parameters(bandit, rep)
    radii = np.full(rep.n_colors, 0.2)
    parameters = Parameters(base.rewards, base.probabilities, 0 * radii, radii)
    truth = naive_extended(bandit, [1, 1], rep, parameters)
    solution = solve(rep, parameters, tolerance=1e-9, max_sweeps=5000)
    assert (solution.lower - 1e-8 <= truth).all()
    assert (solution.upper + 1e-8 >= truth).all()


def test_a_slow_arm_beside_a_constant_one_is_quick():
    slow, rate = 1e-3, 0.6
    bandit = Bandit([Arm([[1 - slow, slow], [slow, 1 - slow]], [0, 1]), Arm([[1.0]], [rate])])
    planned = plan(bandit, 1e-6)
    # renewal: stay while it pays; after it stops, rest n steps and look again
    best, lam = 0.0, 1 - 2 * slow
    for n in range(1, 3000):
        back = (1 - lam**n) / 2  # chance to find it paying n steps after it did not
        looks = 1 / back
        reward = 1 / slow + looks * (n - 1) * rate
        best = max(best, reward / (1 / slow + looks * n))
    assert planned.gain_lower - 1e-9 <= best <= planned.gain_upper + 1e-9
    assert planned.sweeps < 600  # plain sweeps need five times as many


@pytest.mark.parametrize("arms", [2, 3])
def test_acceleration_changes_the_time_not_the_gain(arms, monkeypatch):
    monkeypatch.setattr("restive.mdp.convergence.CHEAP_PAIRS", 0)  # else these are left to sweeps
    saved = 0
    for seed in range(20):
        bandit = random_problem(arms, 2 + seed % 2, rng=seed, stickiness=0.9 + 0.004 * seed)
        rep = Representation.of(bandit, 60 if arms == 2 else 12)
        parameters = bandit_parameters(bandit, rep)
        plain = solve(rep, parameters, tolerance=1e-8, accelerate=False)
        fast = solve(rep, parameters, tolerance=1e-8)
        assert plain.converged
        assert fast.converged
        assert max(plain.gain_lower, fast.gain_lower) <= min(plain.gain_upper, fast.gain_upper)
        assert fast.gain == pytest.approx(plain.gain, abs=1e-8)
        saved += fast.sweeps < plain.sweeps
    assert saved >= 5  # else nothing was accelerated here


@pytest.mark.parametrize("optimistic", [False, True])
def test_threads_give_the_same_bytes(optimistic, monkeypatch):
    rng = np.random.default_rng(1)
    for bandit in (random_problem(3, 2, rng=4), random_problem(2, 3, rng=5, period=3)):
        rep = Representation.of(bandit, 8)
        base = bandit_parameters(bandit, rep)
        cases = [(rep, base)]
        if optimistic:
            cases = [(Representation(rep.sizes, rep.caps), with_radii(base, rng, 0.1))]
            cases = cases if max(rep.periods) == 1 else []
        cases += [StructuredMDP.plain(rng.dirichlet(np.ones(70), (70, 2)), rng.random((70, 2)))]
        for structure, parameters in cases:
            alone = solve(structure, parameters, tolerance=1e-9)
            with monkeypatch.context() as patch:
                patch.setattr(restive.mdp.iteration, "THREADS_FROM_PAIRS", 0)
                patch.setenv("RESTIVE_THREADS", "3")
                together = solve(structure, parameters, tolerance=1e-9)
            assert alone.values.tobytes() == together.values.tobytes()
            assert alone.lower.tobytes() == together.lower.tobytes()
            assert alone.sweeps == together.sweeps


def test_warm_start_needs_fewer_sweeps_and_finds_the_same():
    bandit = random_problem(2, 3, rng=8, stickiness=0.5)
    rep = Representation.of(bandit, 10)
    parameters = bandit_parameters(bandit, rep)
    cold = solve(rep, parameters, tolerance=1e-9)
    warm = solve(rep, parameters, tolerance=1e-9, start=cold.values)
    assert warm.sweeps < cold.sweeps / 3
    assert warm.gain == pytest.approx(cold.gain, abs=1e-9)


# --- a user's own arrays ---------------------------------------------------------------------


def spoiled(name: str, color: int, value: float) -> Parameters:
    mdp_parameters = StructuredMDP.plain(np.full((2, 2, 2), 0.5), np.zeros((2, 2)))[1]
    getattr(mdp_parameters, name)[color] = value
    return mdp_parameters


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (spoiled("probabilities", 2, 1.0), r"probabilities\[2\] must be a law.*\[1\. 1\.\]"),
        (spoiled("probabilities", 1, np.nan), r"probabilities\[1\] must be a law"),
        (spoiled("probabilities", 3, [1.5, -0.5]), r"probabilities\[3\] must be a law"),
        (spoiled("rewards", 1, np.nan), r"rewards\[1\] is nan, not a finite"),
        (spoiled("rewards", 0, np.inf), r"rewards\[0\] is inf, not a finite"),
    ],
)
def test_arrays_that_are_no_mdp_are_refused(parameters, words):
    mdp, right = StructuredMDP.plain(np.full((2, 2, 2), 0.5), np.zeros((2, 2)))
    assert solve(mdp, right).converged
    with pytest.raises(ValueError, match=words):
        solve(mdp, parameters)


def test_a_chance_of_leading_nowhere_is_refused():
    mdp = StructuredMDP([[0], [1]], [[[0, -1]], [[1, 0]]])
    with pytest.raises(ValueError, match=r"action 0 in state 0.*leads nowhere"):
        solve(mdp, Parameters(np.zeros(2), np.full((2, 2), 0.5)))


def test_information_states_are_checked_too():
    bandit = random_problem(2, 2, rng=1)
    rep = Representation.of(bandit, 3)
    truth = bandit_parameters(bandit, rep)
    with pytest.raises(ValueError, match=r"probabilities\[0\] must be a law"):
        solve(rep, Parameters(truth.rewards, 2 * truth.probabilities))
    with pytest.raises(ValueError, match="action"):
        _ = solve(rep, truth).policy


@pytest.mark.parametrize("seed", range(6))
def test_the_policy_of_arrays_earns_the_gain(seed):
    """Its chain's stationary reward, by least squares, is the optimal gain; others earn less."""
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.ones(4), (4, 3))
    rewards = rng.random((4, 3))
    mdp, parameters = StructuredMDP.plain(law, rewards)
    solution = solve(mdp, parameters, tolerance=1e-10)
    states = np.arange(4)

    def earned(policy: np.ndarray) -> float:
        chain = law[states, policy]
        system = np.vstack([chain.T - np.eye(4), np.ones(4)])
        share = np.linalg.lstsq(system, np.array([0, 0, 0, 0, 1.0]), rcond=None)[0]
        return float(share @ rewards[states, policy])

    assert solution.policy.shape == (4,)
    assert earned(solution.policy) == pytest.approx(solution.gain, abs=1e-8)
    assert earned((solution.policy + 1) % 3) < solution.gain - 1e-3


def test_the_optimistic_policy_goes_where_a_radius_may_lead():
    """Staying pays .3; leaving pays nothing and cannot succeed, unless a radius allows it."""
    mdp, parameters = StructuredMDP.plain(
        [[[1, 0], [1, 0]], [[0, 1], [0, 1]]], [[0.3, 0.0], [1.0, 1.0]]
    )
    assert solve(mdp, parameters, max_sweeps=500).policy[0] == 0
    radii = np.array([0.0, 0.5, 0.0, 0.0])
    hopeful = Parameters(parameters.rewards, parameters.probabilities, None, radii)
    assert solve(mdp, hopeful, tolerance=1e-9).policy[0] == 1
