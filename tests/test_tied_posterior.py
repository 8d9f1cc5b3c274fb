"""The posterior of one chain seen at gaps: its kernels by enumeration, its draws by integration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import beta, chisquare, kstest
from scipy.stats import t as student

from restive._kernels import tied
from restive.learners.tied.gaps import LONGEST_GAP, PLACES, place_of
from restive.learners.tied.posterior import ChainPosterior, RewardPosterior, mirror_volume
from restive.model.chains import mirror

RARE = 1e-5  # chance of a false alarm of one comparison


def chain_of(size, seed, weight=1.0):
    return np.random.default_rng([seed, 5]).dirichlet(np.full(size, weight), size)


def powers_of(chain, count):
    return np.stack([np.linalg.matrix_power(chain, n) for n in range(1, count + 1)])


def paths(chain, start, end, steps):
    """Every path with these ends, its probability given them, and its moves (S, S)."""
    size = len(chain)
    for inner in product(range(size), repeat=steps - 1):
        states = (start, *inner, end)
        moves = np.zeros((size, size))
        np.add.at(moves, (states[:-1], states[1:]), 1)
        chance = np.prod(chain[list(states[:-1]), list(states[1:])])
        yield chance / np.linalg.matrix_power(chain, steps)[start, end], moves


# --- kernels ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_powers_are_those_of_numpy(size):
    chain, powers = chain_of(size, 1), np.empty((30, size, size))
    tied.fill_powers(chain, powers)
    np.testing.assert_allclose(powers, powers_of(chain, 30), rtol=1e-12)


def test_the_likelihood_is_the_sum_over_all_observations():
    rng = np.random.default_rng(2)
    powers, counts = powers_of(chain_of(3, 2), 6), rng.integers(0, 4, (3, 6, 3))
    expected = xlogy(counts, powers.transpose(1, 0, 2)).sum()
    assert tied.log_likelihood(counts, powers) == pytest.approx(expected, rel=1e-12)
    powers[1, 0, 2] = 0.0
    counts[0, 1, 2] = 0
    assert np.isfinite(tied.log_likelihood(counts, powers))
    counts[0, 1, 2] = 1
    assert tied.log_likelihood(counts, powers) == -np.inf


def impute(chain, counts, rng):
    work = np.empty_like(counts)
    tied.impute(counts, powers_of(chain, counts.shape[1]), work, rng)
    return work[:, 0]


@pytest.mark.parametrize("steps", [2, 3, 4, 5, 7])
def test_imputed_moves_have_the_mean_of_all_paths(steps):
    """False alarms: 9 entries at 5 standard deviations, 5e-6."""
    chain, many, rng = chain_of(3, 3), 40_000, np.random.default_rng(steps)
    for start, end in [(0, 2), (1, 1)]:
        counts = np.zeros((3, steps, 3), dtype=np.int64)
        counts[start, -1, end] = many
        chances, moves = zip(*paths(chain, start, end, steps), strict=True)
        mean = np.tensordot(chances, moves, 1)
        variance = np.tensordot(chances, np.square(moves), 1) - mean**2
        error = impute(chain, counts, rng) - many * mean
        assert (np.abs(error) <= 5 * np.sqrt(many * variance) + 1e-6).all()


def test_imputed_moves_of_two_gaps_have_the_right_joint_law():
    chain, rng = np.array([[0.7, 0.3], [0.4, 0.6]]), np.random.default_rng(4)
    law: dict[tuple[float, ...], float] = {}
    for (p, moves), (q, more) in product(paths(chain, 0, 1, 4), paths(chain, 0, 1, 3)):
        key = tuple((moves + more).ravel())
        law[key] = law.get(key, 0.0) + p * q
    counts = np.zeros((2, 4, 2), dtype=np.int64)
    counts[0, 3, 1] = counts[0, 2, 1] = 1
    seen = [tuple(impute(chain, counts, rng).ravel()) for _ in range(20_000)]
    assert set(seen) <= law.keys()
    chances = np.array(list(law.values()))
    tallies = np.array([seen.count(key) for key in law])
    assert (chances * len(seen)).min() > 10
    assert chisquare(tallies, chances * len(seen)).pvalue > RARE


@pytest.mark.parametrize("seed", range(8))
def test_imputing_loses_no_move_and_keeps_the_ends(seed):
    rng = np.random.default_rng([seed, 6])
    size, ages = int(rng.integers(1, 5)), int(rng.integers(1, 40))
    counts = rng.integers(0, 50, (size, ages, size)) * (rng.random((size, ages, size)) < 0.3)
    moves = impute(chain_of(size, seed, 0.1), counts, rng)
    lengths = np.arange(1, ages + 1)
    assert moves.sum() == (counts.sum(axis=(0, 2)) * lengths).sum()
    net = counts.sum(axis=(1, 2)) - counts.sum(axis=(0, 1))  # each gap leaves s and ends in e
    assert (moves.sum(axis=1) - moves.sum(axis=0) == net).all()
    assert (moves >= 0).all()


def test_long_gaps_have_places_an_eighth_of_an_octave_apart():
    """Every gap at the nearest place, in compiled code and in Python; halves add up to it."""
    gaps = [*range(1, 3_000), *range(3_000, LONGEST_GAP, 4_999), LONGEST_GAP]
    for gap in gaps:
        place = place_of(gap)
        assert place == tied.place_of(gap)
        assert abs(int(PLACES[place]) - gap) == np.abs(PLACES - gap).min() <= gap / 16
    assert place_of(3 * LONGEST_GAP) >= len(PLACES) - 1
    for place in range(1, len(PLACES)):
        assert sum(PLACES[half] for half in tied.halves(place)) == PLACES[place]


def test_powers_at_long_gaps_are_those_of_numpy():
    chain = np.array([[0.9993, 0.0007, 0], [0.0002, 0.9997, 0.0001], [0.0004, 0.0006, 0.999]])
    powers = np.empty((len(PLACES), 3, 3))
    tied.fill_gap_powers(chain, powers)
    for place in (0, 1, 254, 255, 256, 263, 264, 271, 272, 300, len(PLACES) - 1):
        expected = np.linalg.matrix_power(chain, int(PLACES[place]))
        np.testing.assert_allclose(powers[place], expected, rtol=1e-9)


def test_imputing_long_gaps_loses_no_move_and_keeps_the_ends():
    rng = np.random.default_rng(7)
    counts = np.zeros((2, len(PLACES), 2), dtype=np.int64)
    counts[:, rng.choice(len(PLACES), 40)] = rng.integers(0, 5, (2, 40, 2))
    chain = np.array([[0.99, 0.01], [0.02, 0.98]])
    powers, work = np.empty((len(PLACES), 2, 2)), np.empty_like(counts)
    tied.fill_gap_powers(chain, powers)
    tied.impute(counts, powers, work, rng)
    assert work[:, 0].sum() == (counts.sum(axis=(0, 2)) * PLACES).sum()
    net = counts.sum(axis=(1, 2)) - counts.sum(axis=(0, 1))
    assert (work[:, 0].sum(axis=1) - work[:, 0].sum(axis=0) == net).all()


def test_a_chain_seen_at_long_gaps_is_found():
    """It moves once in 2,500 steps; counted as if 256 steps old, gaps would say once in 300.

    Two looks at the next step tell it from its mirror image.
    """
    chain, rng = np.array([[0.9996, 0.0004], [0.0004, 0.9996]]), np.random.default_rng(3)
    counts = np.zeros((2, len(PLACES), 2), dtype=np.int64)
    counts[0, 0, 0] = counts[1, 0, 1] = 1
    for gap in (700, 1_500, 3_000):
        place = place_of(gap)
        for state in (0, 1):
            moved = rng.binomial(400, np.linalg.matrix_power(chain, gap)[state, 1 - state])
            counts[state, place] = [400 - moved, moved] if state == 0 else [moved, 400 - moved]
    drawn, draws = np.array([[0.998, 0.002], [0.002, 0.998]]), []
    for _ in range(400):
        drawn = ChainPosterior().draw(drawn, counts, rng)
        draws.append(1 - np.trace(drawn) / 2)
    assert 0.0003 < np.median(draws[100:]) < 0.0005


def test_a_matrix_that_cannot_explain_the_data_still_imputes_all_of_it():
    counts = np.zeros((2, 3, 2), dtype=np.int64)
    counts[0, 2, 1] = 7
    moves = impute(np.eye(2), counts, np.random.default_rng(0))
    assert moves.sum() == 21
    chain = ChainPosterior().draw(np.eye(2), counts, np.random.default_rng(0))
    assert chain[0, 1] > 0
    assert chain.sum(axis=1) == pytest.approx(1)


def test_rows_are_dirichlet():
    work, rng = np.zeros((3, 1, 3), dtype=np.int64), np.random.default_rng(8)
    work[0, 0], work[1, 0] = (3, 0, 1), (0, 0, 9)
    drawn = np.empty((5000, 3, 3))
    for chain in drawn:
        tied.draw_rows(chain, work, 0.5, rng)
    assert drawn.sum(axis=2) == pytest.approx(1)
    for s, e in product(range(3), range(3)):
        weight, total = work[s, 0, e] + 0.5, work[s, 0].sum() + 1.5
        assert kstest(drawn[:, s, e], beta(weight, total - weight).cdf).pvalue > RARE
    pair = drawn[:, 0, 0] * drawn[:, 0, 2]  # of a Dirichlet(3.5, .5, 1.5) row
    assert abs(pair.mean() - 3.5 * 1.5 / (5.5 * 6.5)) < 4.5 * pair.std() / np.sqrt(len(pair))


# --- the mirror image ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_mirror_image_has_the_same_even_powers(size):
    chain = chain_of(size, 9, 8.0)
    image = mirror(chain)
    assert image is not None
    assert image.sum(axis=1) == pytest.approx(1)
    for n in (2, 4, 10):
        np.testing.assert_allclose(
            np.linalg.matrix_power(image, n), np.linalg.matrix_power(chain, n), atol=1e-12
        )
    assert np.abs(np.linalg.matrix_power(image, 3) - np.linalg.matrix_power(chain, 3)).max() > 1e-3
    np.testing.assert_allclose(mirror(image), chain, atol=1e-12)
    assert mirror_volume(image) == pytest.approx(-mirror_volume(chain))  # there and back


def test_a_mirror_image_outside_the_chains_is_none():
    assert mirror(np.array([[0.1, 0.9], [0.05, 0.95]])) is not None
    assert mirror(np.array([[0.999, 0.001], [0.2, 0.8]])) is None  # 2 * 0.2/0.201 - 0.8 > 1


@pytest.mark.parametrize(("a", "b"), [(0.2, 0.3), (0.9, 0.6), (1e-12, 1e-11), (0.5, 0.5)])
def test_the_volume_for_two_states_is_known(a, b):
    """With s = a + b and u = a/s the image is (2 - s, u), and da db = s ds du."""
    chain = np.array([[1 - a, a], [b, 1 - b]])
    assert mirror_volume(chain) == pytest.approx(np.log((2 - a - b) / (a + b)), rel=1e-6, abs=1e-9)


def stationary_by_solving(chain):
    size = len(chain)
    system = np.vstack([chain.T - np.eye(size), np.ones(size)])
    return np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0]


@pytest.mark.parametrize("size", [3, 5])
def test_the_volume_is_that_of_the_numeric_derivative(size):
    chain, step = chain_of(size, 11, 2.0), 1e-6

    def image(free):
        rows = np.column_stack([free.reshape(size, -1), 1 - free.reshape(size, -1).sum(axis=1)])
        return (2 * stationary_by_solving(rows)[None] - rows)[:, :-1].ravel()

    free = chain[:, :-1].ravel()
    slopes = [(image(free + step * e) - image(free - step * e)) / (2 * step)
              for e in np.eye(len(free))]  # fmt: skip
    assert mirror_volume(chain) == pytest.approx(np.linalg.slogdet(slopes)[1], abs=1e-6)


# --- draws -----------------------------------------------------------------------------------

MIXED = {(0, 1): (9, 2), (1, 1): (1, 4), (0, 3): (3, 4), (1, 6): (2, 5), (0, 11): (4, 4)}
EVEN = {(0, 2): (15, 6), (1, 2): (5, 16), (0, 4): (6, 4), (1, 8): (4, 6)}
LONG = {(0, 7): (12, 5), (1, 20): (3, 2)}


def counts_of(data, ages=24):
    counts = np.zeros((2, ages, 2), dtype=np.int64)
    for (s, n), seen in data.items():
        counts[s, n - 1] = seen
    return counts


def functionals(chain):
    """What to compare of matrices (..., S, S)."""
    fifth = np.linalg.matrix_power(chain, 5)
    second = np.trace(chain, axis1=-2, axis2=-1) - 1
    up, down = chain[..., 0, 1], chain[..., 1, 0]
    return np.stack(
        [up, down, up**2, fifth[..., 0, 1], second, second > 0, up < 0.15, down < 0.3,
         fifth[..., 1, 0] > 0.5]
    )  # fmt: skip


def on_grid(data, prior, points=500):
    """Posterior means for two states; a = sin^2(x) is Beta(1/2, 1/2) where x is uniform."""
    side = np.sin((np.arange(points) + 0.5) * np.pi / (2 * points)) ** 2
    a, b = np.meshgrid(side, side, indexing="ij")
    chain = np.stack([np.stack([1 - a, a], -1), np.stack([b, 1 - b], -1)], -2)
    log = (prior - 0.5) * np.log(a * (1 - a) * b * (1 - b))
    for (s, n), seen in data.items():
        log += (np.array(seen) * np.log(np.linalg.matrix_power(chain, n)[..., s, :])).sum(axis=-1)
    weights = np.exp(log - log.max())
    return (functionals(chain) * weights).sum(axis=(1, 2)) / weights.sum()


def compare(drawn, expected, batches=40):
    """Means of a Markov chain's batches against the truth; at most RARE for each."""
    means = functionals(drawn)[:, : len(drawn) // batches * batches]
    means = means.reshape(len(expected), batches, -1).mean(axis=2)
    error = means.std(axis=1, ddof=1) / np.sqrt(batches)
    bound = student.ppf(1 - RARE / 2, batches - 1) * np.maximum(error, 1e-9)
    np.testing.assert_array_less(np.abs(means.mean(axis=1) - expected), bound)


def walk(posterior, counts, steps, seed):
    rng = np.random.default_rng(seed)
    chain = np.full((len(counts), len(counts)), 1 / len(counts))
    drawn = np.empty((steps, *chain.shape))
    for k in range(steps):
        drawn[k] = chain = posterior.draw(chain, counts, rng)
    return drawn


@pytest.mark.parametrize(
    ("data", "posterior"),
    [
        (MIXED, ChainPosterior()),
        (MIXED, ChainPosterior(nudges=0)),  # imputing alone
        (EVEN, ChainPosterior()),
        (LONG, ChainPosterior()),
        (LONG, ChainPosterior(mass=2.0, sweeps=1, nudges=2)),
        ({}, ChainPosterior()),
    ],
    ids=["mixed", "mixed, no nudges", "even ages", "long gaps", "uniform prior", "no data"],
)
def test_draws_for_two_states_have_the_posterior_law(data, posterior):
    drawn = walk(posterior, counts_of(data), 8_000, 12)
    compare(drawn, on_grid(data, posterior.mass / 2))


def test_nudges_alone_leave_the_posterior_unchanged():
    counts, rng = counts_of(MIXED, 11), np.random.default_rng(13)
    chain, drawn = np.full((2, 2), 0.5), np.empty((20_000, 2, 2))
    powers, trial = powers_of(chain, 11), np.empty((11, 2, 2))
    for k in range(len(drawn)):
        powers, trial = tied.nudge_rows(chain, counts, powers, trial, 0.5, rng, 1)
        drawn[k] = chain
    np.testing.assert_allclose(powers, powers_of(chain, 11))
    compare(drawn, on_grid(MIXED, 0.5))


def test_even_ages_show_both_modes_in_their_proportion():
    """Both have the same height; the one with more moves is wider by (2 - a - b)/(a + b)."""
    share = on_grid(EVEN, 0.5)[5]
    assert 0.15 < share < 0.2
    drawn = walk(ChainPosterior(), counts_of(EVEN), 4000, 14)
    sticky = np.trace(drawn, axis1=1, axis2=2) > 1
    assert abs(sticky.mean() - share) < 0.06
    assert np.count_nonzero(np.diff(sticky.astype(int))) > 200


def test_draws_for_three_states_have_the_posterior_law():
    """Against the prior weighted by the likelihood; two thirds of the data at even ages."""
    data = {(0, 2, 1): 4, (0, 2, 0): 2, (1, 4, 2): 3, (2, 2, 0): 4, (1, 1, 2): 2, (2, 5, 1): 3}
    counts = np.zeros((3, 5, 3), dtype=np.int64)
    prior = np.random.default_rng(15).dirichlet(np.full(3, 1 / 3), (600_000, 3))
    log = np.zeros(len(prior))
    for (s, n, e), many in data.items():
        counts[s, n - 1, e] = many
        log += many * np.log(np.maximum(np.linalg.matrix_power(prior, n)[:, s, e], 1e-300))
    weights = np.exp(log - log.max())
    values = functionals(prior)
    mean = values @ weights / weights.sum()
    error = np.sqrt(((values - mean[:, None]) ** 2) @ weights**2) / weights.sum()
    drawn = functionals(walk(ChainPosterior(), counts, 8_000, 16)).reshape(len(mean), 40, -1)
    means = drawn.mean(axis=2)
    own = means.std(axis=1, ddof=1) / np.sqrt(40)
    np.testing.assert_array_less(np.abs(means.mean(axis=1) - mean), 5.2 * np.hypot(error, own))


def test_one_state_has_one_matrix_and_old_ages_are_cut():
    rng = np.random.default_rng(0)
    matrix = ChainPosterior().draw(np.ones((1, 1)), np.full((1, 4, 1), 3), rng)
    assert matrix.tolist() == [[1.0]]
    short, padded = counts_of(MIXED, 11), counts_of(MIXED, 256)
    same = [ChainPosterior().draw(np.full((2, 2), 0.5), counts, np.random.default_rng(1))
            for counts in (short, padded)]  # fmt: skip
    assert same[0].tolist() == same[1].tolist()


# --- rewards ---------------------------------------------------------------------------------


def learned(posterior, rewards):
    """Normal-inverse-gamma updated one reward at a time, and its Student law of the mean."""
    center, weight = posterior.center, posterior.weight
    shape, scale = posterior.shape, posterior.spread * posterior.shape
    for reward in rewards:
        scale += 0.5 * weight / (weight + 1) * (reward - center) ** 2
        center = (weight * center + reward) / (weight + 1)
        weight, shape = weight + 1, shape + 0.5
    return student(2 * shape, center, np.sqrt(scale / (shape * weight)))


@pytest.mark.parametrize("rewards", [[0.9], [0.1, 0.4, 0.35, 0.9], [0.25] * 30, [0, 1] * 50])
def test_mean_rewards_have_the_student_law(rewards):
    posterior, rng = RewardPosterior(), np.random.default_rng([len(rewards), 17])
    known = np.array(rewards, dtype=float)
    totals = np.array([[len(known), known.sum(), np.square(known).sum()], [0.0, 0.0, 0.0]])
    drawn = np.array([posterior.draw(totals, rng) for _ in range(8000)])
    assert kstest(drawn[:, 0], learned(posterior, rewards).cdf).pvalue > RARE
    assert kstest(drawn[:, 1], "uniform").pvalue > RARE  # nothing seen: anything may be paid
    assert abs(np.corrcoef(np.clip(drawn.T, -3, 3))[0, 1]) < 0.06


def test_rewards_without_noise_are_soon_known():
    posterior = RewardPosterior()
    widths = []
    for n in (100, 200):
        totals = np.array([[n, 0.3 * n, 0.09 * n]])
        rng = np.random.default_rng(18)
        widths.append(np.std([posterior.draw(totals, rng)[0] for _ in range(4000)]))
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.1)  # 1/n, not 1/sqrt(n)
