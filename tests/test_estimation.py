"""Chains from sightings at gaps, against listing all paths and against another optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import beta, chi2

import naive_gaps
from restive import ProblemError, make_learner, play, problems
from restive._kernels import tied
from restive.estimation.chain import estimate_chain
from restive.estimation.gap_counts import GapCounts
from restive.estimation.likelihood import (
    climb,
    information,
    log_likelihood,
    moves_expected,
    profile,
)
from restive.estimation.remarks import remarks
from restive.simulation import BanditWorld

SLOW = np.array([[0.9, 0.1], [0.2, 0.8]])
THREE = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.05, 0.25, 0.7]])


def dictionary(counts):
    return {
        (s, int(gap), e): own[s, e]
        for gap, own in zip(counts.gaps, counts.counts, strict=True)
        for s in range(len(own))
        for e in range(len(own))
        if own[s, e]
    }


def sampled(chain, gaps, seed):
    rng = np.random.default_rng(seed)
    gaps = np.array(gaps(rng) if callable(gaps) else gaps)
    seen = naive_gaps.walk(chain, gaps, rng)
    return GapCounts.of_moves(seen[:-1], gaps, seen[1:], len(chain))


def geometric(many, rate=0.1):
    return lambda rng: rng.geometric(rate, many)


@pytest.mark.parametrize("seed", range(4))
def test_expected_moves_are_those_of_all_paths(seed):
    rng = np.random.default_rng(seed)
    chain = rng.dirichlet(np.ones(3), 3)
    counts = sampled(chain, rng.choice([1, 2, 3, 5, 7], 60), seed)
    value, moves = moves_expected(counts, chain)
    assert value == pytest.approx(naive_gaps.log_likelihood(dictionary(counts), chain), rel=1e-12)
    slowly = naive_gaps.expected_moves(dictionary(counts), chain)
    np.testing.assert_allclose(moves, slowly, rtol=1e-9)
    assert moves.sum() == pytest.approx(sum(n * m for (_, n, _), m in dictionary(counts).items()))


def test_the_likelihood_is_the_one_that_learners_sample_from():
    chain = np.random.default_rng(1).dirichlet(np.ones(3), 3)
    table = np.random.default_rng(2).integers(0, 3, (3, 40, 3))
    powers = np.empty((40, 3, 3))
    tied.fill_powers(chain, powers)
    theirs = tied.log_likelihood(table, powers)
    assert log_likelihood(GapCounts.of_table(table), chain) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize(("chain", "seed"), [(SLOW, 1), (THREE, 2), (THREE, 3)])
def test_no_other_optimiser_climbs_higher(chain, seed):
    counts = sampled(chain, geometric(120), seed)
    estimate = estimate_chain(counts)
    seen, size = dictionary(counts), len(chain)

    def height(flat):
        return -naive_gaps.log_likelihood(seen, naive_gaps.softmax_chain(flat.reshape(size, -1)))

    start = np.log(estimate.chain[:, :-1] / estimate.chain[:, -1:]).ravel()
    rng = np.random.default_rng(seed)
    for shift in (0, 0.5, 1.5):
        other = minimize(height, start + shift * rng.standard_normal(len(start)), method="BFGS")
        assert estimate.log_likelihood >= -other.fun - 1e-6
    assert estimate.log_likelihood == pytest.approx(-other.fun, abs=1e-4)
    assert estimate.converged


def test_the_information_is_the_curvature_of_the_likelihood():
    counts = sampled(THREE, geometric(300, 0.3), 4)
    chain = estimate_chain(counts).chain
    assert (chain.argmax(axis=1) == [0, 1, 2]).all()  # those are the entries left out of a row
    seen, step = dictionary(counts), 1e-3
    free = [(s, e) for s in range(3) for e in range(3) if e != s]

    def height(logs):
        moved = chain.copy()
        for (s, e), log in zip(free, logs, strict=True):
            moved[s, e] *= np.exp(log)
        return naive_gaps.log_likelihood(seen, moved / moved.sum(axis=1, keepdims=True))

    unit = step * np.eye(6)
    bends = [[-(height(a + b) - height(a - b) - height(b - a) + height(-a - b)) / (4 * step**2)
              for b in unit] for a in unit]  # fmt: skip
    np.testing.assert_allclose(information(counts, chain), bends, rtol=1e-4, atol=1e-3)


def test_seen_at_every_step_moves_are_counted_and_intervals_are_those_of_jeffreys():
    moves = np.array([[12, 3], [1, 9]])
    before, after = np.repeat([0, 0, 1, 1], moves.ravel()), np.repeat([0, 1, 0, 1], moves.ravel())
    estimate = estimate_chain(
        GapCounts.of_moves(before, np.ones(25, dtype=int), after, 2), level=0.9
    )
    np.testing.assert_allclose(estimate.chain, moves / moves.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(estimate.worth, [[15, 15], [10, 10]], rtol=1e-6)
    np.testing.assert_allclose(
        [estimate.lower, estimate.upper],
        [beta.ppf(q, moves + 0.5, moves[:, ::-1] + 0.5) for q in (0.05, 0.95)],
        rtol=1e-6,
    )
    assert remarks(estimate, ["a", "b"]) == ()


def test_intervals_reach_the_border_where_the_chain_does():
    seen = np.array([0] * 30 + [1] + [0] * 30)
    estimate = estimate_chain(GapCounts.of_moves(seen[:-1], np.ones(60, dtype=int), seen[1:], 2))
    assert estimate.chain[1].tolist() == [1, 0]
    assert estimate.upper[1, 0] == 1
    assert estimate.lower[1, 1] == 0
    assert 0.5 < estimate.upper[1, 1] < 1


@pytest.mark.parametrize("chain", [SLOW, THREE], ids=["two", "three"])
def test_nine_of_ten_steps_unseen_still_show_the_chain(chain):
    estimate = estimate_chain(sampled(chain, geometric(3000), 5))
    assert (np.abs(estimate.chain - chain) < 5 * estimate.standard_errors).all()
    assert estimate.standard_errors.max() < 0.06
    assert estimate.identified
    assert not remarks(estimate, "abc"[: len(chain)])


def test_even_gaps_leave_two_chains():
    chain = np.array([[0.4, 0.6], [0.5, 0.5]])  # eigenvalue -0.1; its twin has 0.1
    counts = GapCounts(np.array([2]), 1e5 * np.linalg.matrix_power(chain, 2)[None])
    estimate = estimate_chain(counts)
    image = 2 * np.array([5 / 11, 6 / 11]) - chain
    np.testing.assert_allclose(estimate.chain, image, atol=1e-4)  # of equals, the slower one
    assert estimate.twin == pytest.approx(chain, abs=1e-4)
    assert (estimate.lower < chain).all()
    assert (estimate.upper > chain).all()
    told = " ".join(remarks(estimate, ["a", "b"]))
    assert "multiples of 2" in told
    assert "a stays with 0.40" in told
    # the twin of SLOW, eigenvalue -0.7, would leave state 1 with probability 1.13
    alone = estimate_chain(GapCounts(np.array([2]), 1e5 * np.linalg.matrix_power(SLOW, 2)[None]))
    assert alone.twin is None
    np.testing.assert_allclose(alone.chain, SLOW, atol=1e-4)


def test_long_gaps_show_the_shares_of_states_only():
    estimate = estimate_chain(sampled(SLOW, lambda rng: rng.integers(90, 110, 400), 6))
    assert not estimate.identified
    assert estimate.profiled
    assert (estimate.lower <= SLOW).all()
    assert (estimate.upper >= SLOW).all()
    assert "look independent" in " ".join(remarks(estimate, ["a", "b"]))


def test_a_state_never_left_is_smoothed_and_said():
    seen = np.array([0, 1, 0, 0, 1, 1, 0, 2])
    estimate = estimate_chain(GapCounts.of_moves(seen[:-1], np.ones(7, dtype=int), seen[1:], 3))
    assert estimate.smoothed > 0
    assert (estimate.chain > 0).all()
    told = remarks(estimate, ["a", "b", "c"])
    assert "c is never seen to be left" in told[0]
    assert "0.5 of a move was added to each row" in told[0]
    np.testing.assert_allclose(estimate.chain[2], 1 / 3)


def test_many_states_at_gaps_have_intervals_from_single_steps():
    rng = np.random.default_rng(9)
    chain = 0.8 * np.eye(24) + 0.2 * np.roll(np.eye(24), 1, axis=1)
    counts = sampled(chain, rng.choice([1, 2], 800, p=[0.8, 0.2]), 9)
    estimate = estimate_chain(counts)
    single = counts.counts[0].sum(axis=1)
    np.testing.assert_array_equal(estimate.worth, np.repeat(single[:, None], 24, axis=1))
    assert "one step apart alone" in " ".join(remarks(estimate, list(map(str, range(24)))))


def test_many_states_at_every_step_have_the_intervals_of_jeffreys():
    """One binomial law a row, whatever the number of states; the row never left knows nothing."""
    rng = np.random.default_rng(5)
    path = np.concatenate([np.arange(24), rng.integers(24, size=600), [24]])
    counts = GapCounts.of_moves(path[:-1], np.ones(len(path) - 1, dtype=int), path[1:], 25)
    estimate = estimate_chain(counts)
    moves = counts.counts[0]
    for s, e in [(0, 1), (3, 7), (23, 24)]:
        n, k = moves[s].sum(), moves[s].sum() * estimate.chain[s, e]
        assert estimate.upper[s, e] == pytest.approx(beta.ppf(0.975, k + 0.5, n - k + 0.5))
    assert (estimate.upper[24] > 0.9).all()


def test_nothing_to_go_by_is_refused():
    empty = np.zeros(0, dtype=int)
    with pytest.raises(ProblemError, match="nothing to estimate"):
        estimate_chain(GapCounts.of_moves(empty, empty, empty, 2))


def test_profiles_are_those_of_a_grid():
    counts = sampled(SLOW, lambda rng: rng.integers(3, 8, 60), 7)
    estimate = estimate_chain(counts)
    p, q = np.meshgrid(np.linspace(0.001, 0.999, 400), np.linspace(0.001, 0.999, 400))
    heights = np.zeros(p.shape)
    for (s, n, e), many in dictionary(counts).items():  # P^n(0, 1) = p (1 - z^n) / (p + q)
        leave = (p, q)[s] * (1 - (1 - p - q) ** n) / (p + q)
        heights += many * np.log(leave if e != s else 1 - leave)
    likely = p[heights >= estimate.log_likelihood - 0.5 * chi2.ppf(0.95, 1)]
    low, high = profile(counts, estimate.chain, (0, 1), [], 0.95)
    assert (low, high) == pytest.approx((likely.min(), likely.max()), abs=0.006)


def test_an_entry_held_stays_and_the_rest_does_its_best():
    counts = sampled(THREE, geometric(200, 0.4), 8)
    held = climb(counts, np.full((3, 3), 1 / 3), fixed=(0, 1), value=0.35)
    assert held.chain[0, 1] == 0.35
    np.testing.assert_allclose(held.chain.sum(axis=1), 1)
    free = estimate_chain(counts)
    assert held.value < free.log_likelihood
    again = climb(counts, THREE, fixed=(0, 1), value=float(free.chain[0, 1]))
    assert again.value == pytest.approx(free.log_likelihood, abs=1e-6)


def test_many_different_gaps_are_rounded_a_little():
    gaps = np.arange(1, 20_001)
    counts = GapCounts.of_moves(gaps % 2, gaps, gaps % 2, 2)
    assert counts.rounded
    assert len(counts.gaps) < 5000
    assert counts.total == 20_000
    kept = np.repeat(counts.gaps, counts.counts.sum(axis=(1, 2)).astype(int))
    assert (np.abs(kept - gaps) <= gaps / 500).all()
    odd = counts.gaps % 2 == 1
    assert counts.counts[odd].sum() == 10_000


def test_learners_share_the_estimator():
    bandit = problems.example1(0.1)
    learner = make_learner("tied-sampling", bandit, 2000, rng=3)
    play(learner, BanditWorld(bandit, 3), 2000)
    for estimate, arm in zip(learner.estimates(), bandit.arms, strict=True):
        assert estimate.chain.shape == arm.transitions.shape
        assert (np.abs(estimate.chain - arm.transitions).max()) < 0.2
        assert estimate.counts.total > 100
