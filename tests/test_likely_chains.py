"""Chains of two states that samples of many ages leave plausible, against plain evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import binom

from restive._kernels import cover, plausible_chains
from restive.learners.tied.sets import pooled

RARE = 1e-5
QUARTER = 0.5 * np.pi


def rows_of(p, q, ages):
    """P^n(0, 1) and P^n(1, 0), shape (..., A, 2), with p and q alike of any shape."""
    p, q = np.broadcast_arrays(np.asarray(p, float), np.asarray(q, float))
    chain = np.stack([np.stack([1 - p, p], -1), np.stack([q, 1 - q], -1)], -2)
    powers = [chain]
    for _ in range(ages - 1):
        powers.append(powers[-1] @ chain)
    every = np.stack(powers, axis=-3)
    return np.stack([every[..., 0, 1], every[..., 1, 0]], axis=-1).clip(0, 1)


def likelihoods(counts, p, q):
    rows = rows_of(p, q, len(counts))
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(counts[..., 0] > 0, counts[..., 0] * np.log(rows), 0.0)
        parts = parts + np.where(counts[..., 1] > 0, counts[..., 1] * np.log1p(-rows), 0.0)
    return parts.sum(axis=(-1, -2))


def samples(rng, p, q, ages, many, even=False):
    """Switches and stays (A, 2, 2), about ``many``, most of them at a few ages."""
    share = rng.dirichlet(np.full(ages, 0.3))
    share[::2] *= not even
    tried = rng.poisson(0.5 * many * share[:, None], (ages, 2))
    moved = rng.binomial(tried, rows_of(p, q, ages))
    return np.stack([moved, tried - moved], axis=-1).astype(float)


CASES = [
    (0.1, 0.2, 6, 40, False), (0.8, 0.9, 5, 60, False), (0.02, 0.6, 9, 2000, False),
    (0.7, 0.8, 8, 500, True), (0.0, 0.3, 4, 30, False), (1.0, 0.9, 5, 30, False),
    (0.3, 0.3, 4, 0, False), (0.5, 0.45, 17, 20_000, False),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["positive", "negative", "both", "point"])
def test_sums_of_powers_lie_between_their_bounds(kind):
    rng, ages = np.random.default_rng(1), 9
    limits = np.empty((ages, 6))
    for _ in range(300):
        ends = np.sort(rng.uniform(-1, 1, 2)) if kind == "both" else np.sort(rng.random(2))
        x, y = {"negative": -ends[::-1], "point": ends[[0, 0]] * rng.choice([-1, 1])}.get(
            kind, ends
        )
        plausible_chains.sums_between(x, y, limits)
        z = np.linspace(x, y, 40)[:, None]
        n = np.arange(ages)
        powers, falling = z**n, n * z ** np.maximum(n - 1, 0)
        truth = np.stack([powers.cumsum(1), falling.cumsum(1), (n + 1) * powers], axis=-1)
        assert (truth >= limits[:, ::2] - 1e-12).all()
        assert (truth <= limits[:, 1::2] + 1e-12).all()
        if kind == "point":
            np.testing.assert_allclose(limits[:, ::2], truth[0], atol=1e-12)
            np.testing.assert_allclose(limits[:, 1::2], truth[0], atol=1e-12)


def test_rows_lie_between_their_bounds_which_are_exact_to_first_order():
    rng, ages = np.random.default_rng(2), 9
    sums, limits = np.empty((ages, 6)), np.empty((ages, 2, 2))
    for _ in range(400):
        wide = float(rng.choice([0.002, 0.1, 1.0]))
        p0, q0 = rng.random(2) * (1 - wide)
        p1, q1 = (p0, q0) + rng.random(2) * wide
        plausible_chains.sums_between(1 - p1 - q1, 1 - p0 - q0, sums)
        plausible_chains.switches_between(p0, p1, q0, q1, sums, limits)
        p, q = np.meshgrid(np.linspace(p0, p1, 9), np.linspace(q0, q1, 9))
        truth = rows_of(p.ravel(), q.ravel(), ages)
        assert (truth >= limits[..., 0] - 1e-12).all()
        assert (truth <= limits[..., 1] + 1e-12).all()
        if p1 + q1 <= 1:  # two corners
            np.testing.assert_allclose(limits[..., 0], truth.min(axis=0), atol=1e-12)
            np.testing.assert_allclose(limits[..., 1], truth.max(axis=0), atol=1e-12)
        if wide == 0.002:
            extra = limits[..., 1] - limits[..., 0] - np.ptp(truth, axis=0)
            assert extra.max() < 3e-4


@pytest.mark.parametrize("case", range(len(CASES)))
def test_bounds_of_a_cell_hold_in_all_of_it(case):
    rng = np.random.default_rng([3, case])
    counts = samples(rng, *CASES[case])
    ages = len(counts)
    sums, rows, limits = np.empty((ages, 6)), np.empty((ages, 2, 2)), np.empty(7)
    for _ in range(60):
        half = rng.choice([0.4, 0.05, 0.005], 2) * rng.random(2)
        cell = np.concatenate([half + rng.random(2) * (QUARTER - 2 * half), half])
        plausible_chains.measure(counts, cell, -np.inf, sums, rows, limits)
        a, b = np.meshgrid(*(cell[k] + cell[2 + k] * np.linspace(-1, 1, 41) for k in (0, 1)))
        values = likelihoods(counts, np.sin(a) ** 2, np.sin(b) ** 2)
        slack = 1e-9 * (1 + counts.sum())
        assert limits[0] == pytest.approx(values[20, 20], abs=slack)
        assert values.max() <= limits[1] + slack
        slopes = np.diff(values, axis=1)[:, 20] / np.diff(a, axis=1)[:, 20]  # mean value theorem
        assert (slopes >= limits[2] - 1e-6 * (1 + counts.sum())).all()
        assert (slopes <= limits[3] + 1e-6 * (1 + counts.sum())).all()
        slopes = np.diff(values, axis=0)[20] / np.diff(b, axis=0)[20]
        assert (slopes >= limits[4] - 1e-6 * (1 + counts.sum())).all()
        assert (slopes <= limits[5] + 1e-6 * (1 + counts.sum())).all()
        inner = values[:-1, :-1] + 0.0  # a Riemann sum is near enough where the cell says something
        if np.isfinite(limits[6]) and values.max() - values.min() < 3:
            mean = np.log(np.mean(np.exp(inner - inner.max()))) + inner.max()
            assert limits[6] <= mean + 0.1
            assert limits[6] <= limits[0]


def region(counts, budget, side=240):
    """log of the mean likelihood over angles, and the rows of all chains on a grid that are likely.

    The grid covers all angles, then ever less around those within 25 nats of the best.
    """
    box = np.array([[0, QUARTER], [0, QUARTER]])
    for _ in range(12):
        step = (box[:, 1] - box[:, 0]) / side
        a, b = (box[k, 0] + (np.arange(side) + 0.5) * step[k] for k in (0, 1))
        values = likelihoods(counts, np.sin(a[:, None]) ** 2, np.sin(b) ** 2)
        near = np.argwhere(values > values.max() - 25)
        low, high = np.maximum(near.min(axis=0) - 1, 0), np.minimum(near.max(axis=0) + 2, side)
        if ((high - low) > 0.7 * side).any():
            break
        box = np.stack([box[:, 0] + low * step, box[:, 0] + high * step], axis=1)
    shifted = np.exp(values - values.max()).sum() * step.prod() / QUARTER**2
    mean = np.log(shifted) + values.max()
    p, q = np.broadcast_arrays(np.sin(a[:, None]) ** 2, np.sin(b) ** 2)
    likely = values >= mean - budget
    return mean, rows_of(p[likely], q[likely], len(counts))


@pytest.mark.parametrize("case", range(len(CASES)))
def test_all_likely_chains_have_their_rows_in_the_bounds_and_little_else(case):
    counts = samples(np.random.default_rng([4, case]), *CASES[case])
    bounds = np.empty((len(counts), 2, 2))
    floor, size = cover.likely_switches(counts, 5.0, bounds)
    mean, rows = region(counts, 5.0)
    assert floor <= mean - 5.0 + 1e-3
    assert floor >= mean - 5.0 - 0.7
    low, high = rows.min(axis=0), rows.max(axis=0)
    assert (bounds[..., 0] <= low + 1e-12).all()
    assert (bounds[..., 1] >= high - 1e-12).all()
    assert (bounds[..., 1] - bounds[..., 0] <= 1.35 * (high - low) + 0.01).all()
    assert size < 1500


@pytest.mark.parametrize("case", [0, 1, 4])
def test_the_threshold_is_just_below_the_integral(case):
    counts = samples(np.random.default_rng([5, case]), *CASES[case])
    floor, _ = cover.likely_switches(counts, 3.0, np.empty((len(counts), 2, 2)))
    best = region(counts, 0.0)[0]

    def likelihood(b, a):
        return np.exp(
            plausible_chains.log_likelihood(counts, np.sin(a) ** 2, np.sin(b) ** 2) - best
        )

    mean = dblquad(likelihood, 0, QUARTER, 0, QUARTER, epsabs=1e-4)[0] / QUARTER**2
    assert -0.7 <= floor + 3.0 - (np.log(mean) + best) <= 1e-3


def test_samples_of_even_ages_alone_leave_both_twins():
    counts = samples(np.random.default_rng(6), 0.8, 0.9, 4, 400_000, even=True)
    bounds = np.empty((4, 2, 2))
    cover.likely_switches(counts, 5.0, bounds)
    # z^2 and p/q are known, so the other chain is (p, q) (1 - z)^-1 (1 + z) with z = -0.7
    for p, q in [(0.8, 0.9), (0.8 * 0.3 / 1.7, 0.9 * 0.3 / 1.7)]:
        rows = rows_of(p, q, 4)
        assert (bounds[..., 0] <= rows).all()
        assert (rows <= bounds[..., 1]).all()
    assert (bounds[1::2, :, 1] - bounds[1::2, :, 0]).max() < 0.12
    assert (bounds[0, :, 1] - bounds[0, :, 0]).min() > 0.6


def test_few_cells_still_cover_the_likely_chains():
    counts = samples(np.random.default_rng(7), 0.2, 0.7, 6, 5000)
    sums, rows = np.empty((6, 6)), np.empty((6, 2, 2))
    cells, limits = np.empty((40, 4)), np.empty((40, 7))
    size, _ = cover.refine.py_func(counts, 5.0, cells, limits, sums, rows)
    _, likely = region(counts, 5.0)
    assert size <= 40
    q = likely[:, 0, 1]
    p = likely[:, 0, 0]
    a, b = np.arcsin(np.sqrt(p)), np.arcsin(np.sqrt(q))
    inside = (np.abs(a[:, None] - cells[:size, 0]) <= cells[:size, 2] + 1e-9) & (
        np.abs(b[:, None] - cells[:size, 1]) <= cells[:size, 3] + 1e-9
    )
    assert inside.any(axis=1).all()


def test_cells_are_narrowed_to_where_slopes_allow_the_threshold():
    rng = np.random.default_rng(9)
    for _ in range(2000):
        low, high = np.sort(rng.normal(size=2)) + rng.choice([-2, 0, 2])
        width, need = rng.random(), rng.normal()
        x = np.linspace(-width, width, 4001)
        allowed = x[np.maximum(low * x, high * x) >= need]
        limits = cover.least(low, high, width, need)
        if len(allowed):
            assert limits == pytest.approx(allowed[0], abs=width / 1000)
        else:
            assert limits >= width - width / 1000


def walked(rng, p, q, ages, steps):
    """Counts (2, A, 2) after each of some steps of a chain seen at ages that depend on the past."""
    counts, state, out = np.zeros((2, ages, 2)), 0, []
    rows = rows_of(p, q, ages)
    for n in range(1, steps + 1):
        age = int(rng.integers(ages)) if counts[state, :, 1 - state].sum() % 2 else 0
        after = 1 - state if rng.random() < rows[age, state] else state
        counts[state, age, after] += 1
        state = after
        if n in (3, 10, 30, 100, steps):
            out.append(counts.copy())
    return out


@pytest.mark.parametrize(("p", "q"), [(0.05, 0.1), (0.7, 0.9)])
def test_pooled_bounds_hold_at_all_times_at_once(p, q):
    rng, runs, ages, failed, tight = np.random.default_rng(8), 250, 5, 0, 0
    rows = rows_of(p, q, ages)
    truth = np.stack([1 - rows[:, 0], rows[:, 1]])
    for _ in range(runs):
        seen = walked(rng, p, q, ages, 300)
        missed = [((low > truth) | (truth > high)).any()
                  for low, high in (pooled(counts, 0.3) for counts in seen)]  # fmt: skip
        failed += any(missed)
        low, high = pooled(seen[-1], 300.0)  # far more than one: the bounds must then miss it
        tight += bool(((low > truth) | (truth > high)).any())
    assert failed <= binom.isf(RARE, runs, 0.3)
    assert tight > 50
