"""The true diameter, against linear programs, all policies, closed forms and Lemma 1."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import naive
from restive import Arm, Bandit, StructuredMDP, TooLargeError, theory
from restive._kernels import hitting
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.planning import diameter as module
from restive.planning.diameter import bandit_diameter, diameter
from restive.problems import example1
from zoo import draw_bandit, draw_caps, is_slow

CYCLE = np.roll(np.eye(4), 1, axis=1)


def times_by_lp(P, target):
    """The largest v with v(target) = 0 and v <= 1 + P_a v for every action a."""
    actions, size = P.shape[:2]
    rest = np.delete(np.arange(size), target)
    limits = np.vstack([np.eye(size)[rest] - P[a][rest] for a in range(actions)])[:, rest]
    program = linprog(-np.ones(size - 1), limits, np.ones(len(limits)), method="highs")
    assert program.status == 0, program.message
    return np.insert(program.x, target, 0.0)


def times_by_enumeration(P, target):
    """Entrywise least hitting times over all policies that surely arrive."""
    actions, size = P.shape[:2]
    rest = np.delete(np.arange(size), target)
    best = np.full(size, np.inf)
    best[target] = 0.0
    for policy in product(range(actions), repeat=size - 1):
        inner = P[policy, rest][:, rest]
        if np.abs(np.linalg.eigvals(inner)).max() < 1 - 1e-12:
            times = np.linalg.solve(np.eye(size - 1) - inner, np.ones(size - 1))
            best[rest] = np.minimum(best[rest], times)
    return best


def draw_mdp(seed, size=4, actions=2):
    """A random MDP with many zeros, in which every state leads to the next one somehow."""
    rng = np.random.default_rng([seed, 5])
    P = rng.random((size, actions, size)) * (rng.random((size, actions, size)) < 0.4)
    P[np.arange(size), rng.integers(0, actions, size), (np.arange(size) + 1) % size] += 0.2
    stay = P.sum(axis=2) == 0
    P[stay] = np.eye(size)[np.nonzero(stay)[0]]
    return P / P.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("seed", range(40))
def test_every_policy_of_small_mdps(seed):
    P = draw_mdp(seed)
    mdp, parameters = StructuredMDP.plain(P, np.zeros(P.shape[:2]))
    bounds = diameter(mdp, parameters, tolerance=1e-9)
    by_hand = P.transpose(1, 0, 2)
    truth = np.array([times_by_enumeration(by_hand, y) for y in range(len(P))])  # [y, x]
    assert bounds.lower <= truth.max() * (1 + 1e-12)
    assert bounds.upper >= truth.max() * (1 - 1e-12)
    assert bounds.upper - bounds.lower <= 1e-8 * bounds.upper
    assert truth[bounds.target, bounds.source] == pytest.approx(truth.max(), rel=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_dense_bandits_by_linear_programming(seed):
    bandit = draw_bandit(seed)
    if any(map(is_slow, bandit.arms)):
        bandit = Bandit([Arm([[0.9, 0.1], [0.4, 0.6]], [0, 1]), *bandit.arms[1:2]])
    if any(map(is_slow, bandit.arms)):
        bandit = Bandit(bandit.arms[:1])
    caps = [min(cap, 6 - bandit.n_arms) for cap in draw_caps(seed, bandit)]
    mdp = naive.dense_mdp(bandit, caps)
    bounds = bandit_diameter(bandit, caps, tolerance=1e-7)
    assert bounds.n_states == len(mdp.states)
    part_of, count = parts(mdp.P.sum(axis=0))
    assert (bounds.n_parts, bounds.finite) == (count, count == 1)
    truth = 0.0
    for part in range(count):
        members = np.flatnonzero(part_of == part)
        P = mdp.P[:, members][:, :, members]
        assert P.sum(axis=2) == pytest.approx(1)
        for y in range(len(members) if len(members) > 1 else 0):
            truth = max(truth, times_by_lp(P, y).max())
    low, high = bounds.within
    assert low * (1 - 1e-6) <= truth <= high * (1 + 1e-6)
    assert high - low <= 1e-6 * max(high, 1)
    assert (bounds.lower, bounds.upper) == (bounds.within if count == 1 else (math.inf, math.inf))


def parts(moves):
    """States that reach each other, by powers of the graph."""
    reach = np.linalg.matrix_power(np.eye(len(moves)) + (moves > 0), 2).astype(bool)
    for _ in range(len(moves)):
        reach = (reach.astype(float) @ reach) > 0
    both = reach & reach.T
    label = np.unique(np.argmax(both, axis=1), return_inverse=True)[1]
    return label, label.max() + 1


def test_one_arm_has_the_diameter_of_its_chain():
    """Staying on the one arm is all one can do; a cycle of 4 needs 3 steps, and so on."""
    assert bandit_diameter(Bandit([Arm(CYCLE, [0, 0, 0, 1])]), 5).upper == pytest.approx(3)
    iid = Bandit([Arm(np.tile([0.2, 0.5, 0.3], (3, 1)), [0, 0, 1])])
    assert bandit_diameter(iid, 1).upper == pytest.approx(5, rel=2e-6)
    for seed in range(20):
        alone = Bandit([draw_bandit(seed, most_arms=1).arms[0]])
        bounds = bandit_diameter(alone, 3)
        assert bounds.lower <= alone.arms[0].diameter * (1 + 1e-9)
        assert bounds.upper >= alone.arms[0].diameter * (1 - 1e-9)


def test_a_single_state_is_reached_at_once():
    bounds = bandit_diameter(Bandit([Arm([[1.0]], [0.3])]), 1)
    assert (bounds.lower, bounds.upper, bounds.n_states) == (0, 0, 1)


def test_fixed_arms_take_as_long_as_their_ages():
    """Only ages count: from (M, 1) to (1, M) it is 1 + (M - 2) steps, and nothing is farther."""
    still = Arm([[1.0]], [0.3])
    for cap in (3, 5, 9):
        bounds = bandit_diameter(Bandit([still, still]), cap)
        assert bounds.upper == pytest.approx(cap - 1, rel=2e-6)


def test_example_1_at_a_million_steps():
    """Caps 70 from eq. (1), 31 = Tmix(0.001) itself; the oldest age told apart is the hardest."""
    bounds = theory.problem_bounds(example1(0.1), 10**6)
    farthest = bandit_diameter(example1(0.1), bounds.caps)
    assert bounds.caps == (70, 70)
    assert farthest.lower <= 152.00008 <= farthest.upper
    assert farthest.n_states == 552
    assert 69 in [age for _, age in farthest.target]
    assert bandit_diameter(example1(0.1), 31).upper == pytest.approx(74.0341, abs=1e-3)


def test_the_page_quotes_these_numbers(request):
    page = (request.config.rootpath / "docs" / "theory" / "bounds.md").read_text("utf-8")
    assert "The true diameter, 152.0," in page
    assert "they would give 74.0" in page


@pytest.mark.parametrize("seed", range(30))
def test_lemma_1_holds(seed):
    """With ages told apart at least up to Tmix(1/4), as the lemma asks."""
    bandit = draw_bandit(seed, ("dense", "sparse", "iid", "single", "periodic"), most_arms=2)
    caps = [min(arm.mixing_time(), 25) + seed % 3 for arm in bandit.arms]
    if any(arm.mixing_time() > 25 for arm in bandit.arms):
        bandit, caps = Bandit([Arm([[0.7, 0.3], [0.3, 0.7]], [0, 1])] * 2), [2 + seed % 3] * 2
    loops = [arm.period for arm in bandit.arms]
    bound = theory.diameter_bound([arm.diameter for arm in bandit.arms], max(caps), loops)
    assert bandit_diameter(bandit, caps).within[1] <= bound


def test_periodic_arms_in_step_are_never_out_of_step():
    arm = Arm(CYCLE, [0, 0, 0, 1])
    bounds = bandit_diameter(Bandit([arm, arm]), 3)
    assert (bounds.lower, bounds.upper) == (math.inf, math.inf)
    assert (bounds.n_parts, bounds.finite) == (4, False)
    assert bounds.within[1] < 20


def test_states_without_a_way_back():
    P = np.array([[[0.5, 0.5]], [[0.0, 1.0]]])  # state 1 is never left
    mdp, parameters = StructuredMDP.plain(P, np.zeros((2, 1)))
    bounds = diameter(mdp, parameters)
    assert bounds.within == (math.inf, math.inf)
    assert bounds.upper == math.inf


def test_slow_chains_take_policy_iteration(monkeypatch):
    """The same numbers from both ways; and a time of a million steps is no trouble."""
    bandit = draw_bandit(4, ("dense",))
    swept = bandit_diameter(bandit, 3)
    monkeypatch.setattr(module, "MOST_SWEEPS", 8)
    solved = bandit_diameter(bandit, 3)
    assert solved.upper - solved.lower <= 1e-9 * solved.upper
    assert swept.lower * (1 - 1e-9) <= solved.lower <= swept.upper
    slow = Arm([[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]], [0, 1])
    bounds = bandit_diameter(Bandit([slow, slow]), 2)
    assert bounds.upper - bounds.lower <= 1e-6 * bounds.upper
    monkeypatch.setattr(module, "_iterate_policies", lambda target, problem, known: (known, 0))
    assert bandit_diameter(Bandit([slow, slow]), 2).upper > bounds.upper


@pytest.mark.parametrize("seed", range(50))
def test_certificates_hold_for_any_guess(seed):
    rng = np.random.default_rng(seed)
    P = draw_mdp(seed)
    mdp, parameters = StructuredMDP.plain(P, np.zeros(P.shape[:2]))
    truth = times_by_enumeration(P.transpose(1, 0, 2), 0)
    guess = truth * (1 + rng.choice([1e-6, 1e-2, 0.5]) * rng.uniform(-1, 1, len(P)))
    low, high = hitting.certify(guess, 0, mdp.colors, mdp.successors, parameters.probabilities)
    assert low <= truth.max() <= high


def test_large_problems_are_refused_with_their_size():
    with pytest.raises(TooLargeError, match=r"11,992 states.*10,000 states.*smaller caps"):
        bandit_diameter(example1(), 1500)
    rep = Representation.of(example1(), 5)
    with pytest.raises(TooLargeError, match="up to 31 states"):
        diameter(rep, bandit_parameters(example1(), rep), states=31)


@pytest.mark.parametrize("tolerance", [0.0, 1.0, math.nan, -1e-6])
def test_tolerances_that_are_none(tolerance):
    with pytest.raises(ValueError, match="tolerance must lie between"):
        bandit_diameter(example1(), 3, tolerance=tolerance)
