"""Statistics of runs: exact answers where there are any, brute force elsewhere, honest refusals."""

from __future__ import annotations

import itertools
import json
from math import comb

import numpy as np
import pytest
from scipy import stats

from restive.experiments.paired import geometric_ratio, holm, sign_flip_test
from restive.experiments.results import Curves, Results
from restive.experiments.statistics import (
    MIN_RUNS,
    Band,
    Interval,
    mean_band,
    mean_interval,
    median_band,
    median_interval,
    slope,
)
from restive.experiments.summary import summarize

TIMES = np.unique(np.geomspace(1, 10_000, 80).round().astype(np.int64))


def walks(runs, seed=0, points=40):
    return np.random.default_rng(seed).standard_normal((runs, points)).cumsum(axis=1)


# --- bands and intervals ---------------------------------------------------------------------


def test_the_mean_of_normal_runs_is_held_as_by_student():
    """With many runs bootstrap-t and Student agree: bounds within 3% of the width."""
    values = np.random.default_rng(1).normal(5, 2, 400)
    interval = mean_interval(values)
    low, high = stats.t.interval(0.95, 399, values.mean(), stats.sem(values))
    assert interval.value == pytest.approx(values.mean())
    assert interval.lower == pytest.approx(low, abs=0.03 * (high - low))
    assert interval.upper == pytest.approx(high, abs=0.03 * (high - low))


def test_the_interval_of_a_mean_leans_to_the_side_of_the_long_tail():
    values = np.random.default_rng(2).lognormal(0, 1, 30)
    interval = mean_interval(values)
    assert interval.upper - interval.value > 1.3 * (interval.value - interval.lower)
    mirrored = mean_interval(-values)
    assert mirrored.upper == pytest.approx(-interval.lower)
    assert mirrored.lower == pytest.approx(-interval.upper)


def test_bands_do_not_depend_on_scale_or_place():
    runs = walks(20)
    scales, shifts = np.geomspace(1e-3, 1e6, 40), np.linspace(-5, 5, 40)
    for band in (mean_band, median_band):
        plain, moved = band(runs), band(runs * scales + shifts)
        np.testing.assert_allclose(moved.lower, plain.lower * scales + shifts, rtol=1e-9)
        np.testing.assert_allclose(moved.upper, plain.upper * scales + shifts, rtol=1e-9)


def test_a_band_is_wider_than_the_intervals_at_its_points_and_no_wider_than_bonferroni():
    runs = walks(60)
    band = mean_band(runs)
    sure = stats.t.ppf(1 - 0.025 / 40, 59) * stats.sem(runs)
    for g in range(40):
        point = mean_interval(runs[:, g])
        assert band.lower[g] < point.lower < point.upper < band.upper[g]
    assert (band.upper - band.lower < 2.2 * sure).all()


def test_a_band_over_copies_of_one_column_is_its_interval():
    """Perfectly correlated points cost nothing; a method by points would pay for each."""
    column = np.random.default_rng(4).normal(0, 1, 25)
    copies = np.repeat(column[:, None], 30, axis=1)
    for band, interval in ((mean_band, mean_interval), (median_band, median_interval)):
        curve, single = band(copies), interval(column)
        assert (curve.lower[7], curve.upper[7]) == pytest.approx((single.lower, single.upper))


@pytest.mark.parametrize("runs", [6, 7, 10, 31, 50])
def test_the_median_lies_between_exact_ranks(runs):
    values = np.random.default_rng(runs).permutation(np.arange(1, runs + 1)).astype(float)
    interval = median_interval(values)
    k = int(interval.lower)
    assert interval.upper == runs + 1 - k

    def missed(k):  # chance that fewer than k of the runs lie on one given side, twice
        return 2 * sum(comb(runs, i) for i in range(k)) / 2**runs

    assert missed(k) <= 0.05 < missed(k + 1)
    assert interval.value == np.median(values)


def test_median_bands_take_outer_ranks_where_points_are_many():
    runs = np.random.default_rng(5).standard_normal((40, 60))
    band, ordered = median_band(runs), np.sort(runs, axis=0)
    k = int(np.flatnonzero(ordered[:, 0] == band.lower[0])[0]) + 1
    assert (band.upper == ordered[40 - k]).all()
    single = np.flatnonzero(ordered[:, 0] == median_interval(runs[:, 0]).lower)[0] + 1
    assert k < single
    # independent points: chances multiply, exactly
    missed = 2 * sum(comb(40, i) for i in range(k)) / 2**40
    more = 2 * sum(comb(40, i) for i in range(k + 1)) / 2**40
    assert 1 - (1 - missed) ** 60 < 0.06
    assert 1 - (1 - more) ** 60 > 0.04


def held(band, runs=30, points=20, repeats=100):
    """How often a band of random walks holds their true mean and median, 0, everywhere."""
    count = 0
    for seed in range(repeats):
        bounds = band(walks(runs, seed=[seed, 77], points=points))
        count += bool(((bounds.lower <= 0) & (bounds.upper >= 0)).all())
    return count


LEAST_HELD = int(stats.binom.ppf(1e-4, 100, 0.95))


@pytest.mark.parametrize("band", [mean_band, median_band])
def test_bands_hold_the_truth_as_often_as_they_say(band):
    assert LEAST_HELD <= held(band) < 100


def test_intervals_by_points_would_be_noticed():
    def pointwise(runs):
        width = stats.t.ppf(0.975, len(runs) - 1) * stats.sem(runs)
        return Band(runs.mean(axis=0) - width, runs.mean(axis=0), runs.mean(axis=0) + width)

    assert held(pointwise) < LEAST_HELD


@pytest.mark.parametrize("runs", [1, 2, 3, 5])
def test_few_runs_get_a_reason_instead_of_bounds(runs):
    band = mean_band(walks(runs))
    assert np.isnan(band.lower).all()
    assert np.isnan(band.upper).all()
    np.testing.assert_allclose(band.centre, walks(runs).mean(axis=0))
    assert not band.known
    for interval in (mean_interval(walks(runs)[:, 0]), median_interval(walks(runs)[:, 0])):
        assert not interval.known
        assert "too few" in interval.reason
        assert interval.to_dict()["lower"] is None
        assert interval.value is not None


def test_a_median_band_over_many_points_may_need_more_runs():
    runs = np.random.default_rng(0).standard_normal((MIN_RUNS, 100))
    assert median_interval(runs[:, 0]).known
    assert "too few" in median_band(runs).reason


def test_runs_that_agree_have_a_band_without_width():
    runs = np.tile(np.linspace(0, 0.1, 30) ** 3, (12, 1))
    for band in (mean_band(runs), median_band(runs)):
        assert (band.upper == band.lower).all() or np.ptp(band.upper - band.lower) < 1e-15
        np.testing.assert_allclose(band.lower, runs[0], atol=1e-15)


def test_one_odd_run_does_not_make_the_band_endless():
    """At one point 11 of 12 runs agree: resamples without the odd one have no spread there."""
    runs = walks(12)
    quiet = mean_band(runs[:, 1:])
    runs[:, 0] = 0.0
    runs[3, 0] = 1.0
    width = mean_band(runs).upper[20] - mean_band(runs).lower[20]
    assert width < 3 * (quiet.upper[19] - quiet.lower[19])


def test_unknown_regret_stays_unknown():
    runs = walks(10)
    runs[2, 5] = np.nan
    assert mean_band(runs).reason == median_band(runs).reason == "the regret is not known"
    assert np.isnan(slope(np.arange(1, 41), runs, since=1).value)


def test_the_same_runs_give_the_same_bytes():
    first, again = mean_band(walks(15)), mean_band(walks(15))
    assert first.lower.tobytes() == again.lower.tobytes()


# --- slopes ----------------------------------------------------------------------------------


def test_the_slope_of_a_power_is_its_exponent():
    factors = np.random.default_rng(0).lognormal(0, 1, (8, 1))
    growth = slope(TIMES, factors * TIMES**0.7)
    assert (growth.value, growth.lower, growth.upper) == pytest.approx((0.7, 0.7, 0.7))


def test_the_slope_is_that_of_polyfit_on_the_window():
    runs = 50 + walks(10, points=len(TIMES)) * 0.5 + TIMES**0.5
    inside = TIMES >= 100
    expected = np.polyfit(np.log(TIMES[inside]), np.log(runs.mean(axis=0)[inside]), 1)[0]
    assert slope(TIMES, runs).value == pytest.approx(expected)
    everything = np.polyfit(np.log(TIMES), np.log(runs.mean(axis=0)), 1)[0]
    assert slope(TIMES, runs, since=1).value == pytest.approx(everything)


def test_the_slope_interval_agrees_with_the_jackknife():
    rng = np.random.default_rng(3)
    runs = np.array([TIMES**e for e in rng.normal(0.5, 0.01, 40)])
    growth = slope(TIMES, runs)
    left_out = [slope(TIMES, np.delete(runs, i, axis=0)).value for i in range(40)]
    error = np.sqrt(39 / 40 * np.square(left_out - np.mean(left_out)).sum())
    assert growth.upper - growth.lower == pytest.approx(2 * 2.0 * error, rel=0.15)


def test_regret_below_zero_has_no_slope():
    growth = slope(TIMES, -np.ones((10, len(TIMES))))
    assert np.isnan(growth.value)
    assert "above 0" in growth.reason
    # single runs that lost nothing are no obstacle as long as the mean is above 0
    runs = np.array([TIMES**0.5 if i % 2 else 0.0 * TIMES for i in range(20)])
    assert slope(TIMES, runs).value == pytest.approx(0.5)
    wild = 0.3 + 2 * np.random.default_rng(4).standard_normal((10, 1)) + 0 * TIMES
    growth = slope(TIMES, wild + 0.2 - wild.mean())
    assert growth.value == pytest.approx(0)
    assert "close to 0" in growth.reason
    assert not growth.known


# --- tests, corrections, ratios --------------------------------------------------------------


def all_flips(values):
    """By brute force, in whole numbers."""
    sums = [abs(sum(s * v for s, v in zip(signs, values, strict=True)))
            for signs in itertools.product((1, -1), repeat=len(values))]  # fmt: skip
    return sum(total >= abs(sum(values)) for total in sums) / len(sums)


@pytest.mark.parametrize("values", [[1], [3, -1], [5, 4, 3, 2, 1, 1], [2, -7, 1, 8, 2, 8, -1, 8],
                                    [0, 0, 3, 4], [10, 10, 10, 10, 10, 10, 10]])  # fmt: skip
def test_sign_flips_by_brute_force(values):
    assert sign_flip_test(values) == all_flips(values)
    assert sign_flip_test([0.1 * v for v in values]) == all_flips(values)  # ties survive rounding
    assert sign_flip_test([-v for v in values]) == all_flips(values)


def test_many_runs_are_flipped_at_random_with_the_same_answer():
    """17 runs by 49,999 flips beside all 131,072: within 5 standard deviations."""
    values = np.random.default_rng(5).normal(0.4, 1, 17).round(3)
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    exact = (np.abs(sums) >= abs(values.sum()) - 1e-9).mean()
    assert 0.01 < exact < 0.5
    error = np.sqrt(exact * (1 - exact) / 49_999)
    assert abs(sign_flip_test(values) - exact) < 5 * error
    assert sign_flip_test(values) == sign_flip_test(values)


def test_runs_without_differences_prove_nothing():
    assert sign_flip_test(np.zeros(8)) == sign_flip_test(np.zeros(40)) == 1.0
    assert sign_flip_test([0.3]) == 1.0  # one run proves nothing either
    assert np.isnan(sign_flip_test([1.0, np.nan]))


def test_false_alarms_are_as_rare_as_they_should_be():
    """Symmetric differences, exact test: p <= 0.05 in at most 5% (binomial bound, 1e-4)."""
    rng = np.random.default_rng(6)
    alarms = sum(sign_flip_test(rng.standard_cauchy(9)) <= 0.05 for _ in range(600))
    assert alarms <= stats.binom.ppf(1 - 1e-4, 600, 0.05)
    assert alarms >= stats.binom.ppf(1e-4, 600, 24 / 512)  # the largest level below 5% it has


def test_holm_steps_down():
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []
    assert holm([0.02, np.nan])[0] == 0.02  # a test that was not made does not count
    bonferroni = 5 * np.array([0.001, 0.2, 0.01, 0.04, 0.03])
    assert (holm(bonferroni / 5) <= np.minimum(bonferroni, 1)).all()


def test_ratios_over_problems_are_geometric_means():
    steady = [np.full(10, 2.0), np.full(10, 8.0)]
    others = [[np.full(10, 4.0), np.full(10, 1.0)], [np.full(10, 2.0), np.full(10, 5.0)]]
    ratio = geometric_ratio(steady, others)
    assert ratio.ratios == (2.0, 4.0)
    assert (ratio.best, ratio.worst) == ((1, 0), 1)
    assert ratio.interval.value == pytest.approx(np.sqrt(8))
    assert (ratio.interval.lower, ratio.interval.upper) == pytest.approx([np.sqrt(8)] * 2)


def test_ratios_use_that_runs_are_paired():
    """Twice the same luck: the ratio is known exactly, although the means are not."""
    luck = np.random.default_rng(7).lognormal(0, 1, 20)
    interval = geometric_ratio([luck], [[3 * luck]]).interval
    assert (interval.lower, interval.upper) == pytest.approx((1 / 3, 1 / 3))
    apart = geometric_ratio([luck], [[3 * luck[::-1]]]).interval
    assert apart.upper / apart.lower > 1.5


def test_ratios_say_when_they_make_no_sense():
    assert "above 0" in geometric_ratio([np.full(9, -1.0)], [[np.ones(9)]]).interval.reason
    assert "no problem" in geometric_ratio([], []).interval.reason
    assert "too few" in geometric_ratio([np.ones(2)], [[np.ones(2)]]).interval.reason
    uneven = geometric_ratio([np.ones(8)], [[np.ones(9)]]).interval
    assert uneven.value == 1.0
    assert "same runs" in uneven.reason


# --- the summary -----------------------------------------------------------------------------


def curves(level, runs=12, seed=0, exponent=0.5):
    rng = np.random.default_rng(seed)
    lost = level * rng.lognormal(0, 0.1, (runs, 1)) * TIMES**exponent
    noise = rng.standard_normal(lost.shape)
    seconds = np.arange(runs) + 0.5
    return Curves(TIMES, lost + noise, lost, lost - TIMES, seconds, seconds / 2, np.arange(runs))


def results(runs=12, **changes):
    names = ("slow", "quick", "optimal", "odd")
    finished = {
        (problem, name, 10_000): curves(level, runs, seed)
        for seed, problem in enumerate(("one", "two"))
        for name, level in zip(names, (4.0, 1.0, 0.1, 2.0), strict=True)
    }
    del finished["two", "odd", 10_000]
    given = {
        "problems": ("one", "two"), "learners": names, "horizons": (10_000,), "runs": runs,
        "seed": 0, "bandits": {}, "gains": {}, "best_arms": {},
        "refusals": {("two", "odd", 10_000): "not for this"}, "provenance": {}, "command": "",
        "finished": finished,
    }  # fmt: skip
    return Results(**(given | changes))


def test_the_summary_holds_everything():
    summary = summarize(results())
    assert [e.rank for e in summary.entries] == [4, 2, 1, 3, 3, 2, 1, None]
    assert [e.learner for e in summary.ranking("two", 10_000)] == [
        "optimal",
        "quick",
        "slow",
        "odd",
    ]
    entry = summary.entry("one", "quick", 10_000)
    ends = curves(1.0).gap_regret[:, -1]
    assert entry.final["gap_regret"].mean == mean_interval(ends)
    assert entry.final["regret"].median == median_interval(curves(1.0).regret[:, -1])
    assert entry.slope.value == pytest.approx(0.5)
    assert (entry.runs, entry.seconds, entry.planning_seconds, entry.episodes) == (12, 6, 3, 5.5)
    assert summary.entry("two", "odd", 10_000).refusal == "not for this"
    assert summary.entry("three", "odd", 10_000) is None


def test_comparisons_with_the_first_and_with_the_best():
    summary = summarize(results())
    first = [c for c in summary.first if c.problem == "one"]
    assert [(c.learner, c.against) for c in first] == [
        ("quick", "slow"), ("optimal", "slow"), ("odd", "slow"),
    ]  # fmt: skip
    assert {c.p_value for c in first} == {2 / 2**12}
    assert {c.corrected for c in first} == {3 * 2 / 2**12}
    expected = curves(1.0).gap_regret[:, -1] - curves(4.0).gap_regret[:, -1]
    assert first[0].difference == mean_interval(expected)
    best = [c for c in summary.best if c.problem == "one"]
    assert {c.against for c in best} == {"quick"}  # a yardstick is not the best
    assert sorted(c.learner for c in best) == ["odd", "optimal", "slow"]
    assert {c.corrected for c in best} == {6 * 2 / 2**12}  # all pairs of four


def test_ratios_to_the_first_learner():
    quick, optimal, odd = summarize(results()).ratios
    assert (quick.learner, quick.against, quick.problems) == ("quick", "slow", ("one", "two"))
    assert quick.ratio.interval.value == pytest.approx(0.25)  # same luck
    assert optimal.ratio.interval.value == pytest.approx(0.025)
    assert odd.problems == ("one",)


@pytest.mark.parametrize("runs", [1, 2, 3, 12])
def test_the_summary_is_json_and_knows_no_clock(runs):
    comparison = results(runs)
    text = json.dumps(summarize(comparison).to_dict(), allow_nan=False)
    for played in comparison.finished.values():
        played.seconds[:] = 99.0
        played.planning_seconds[:] = np.nan
    assert json.dumps(summarize(comparison).to_dict(), allow_nan=False) == text
    entry = json.loads(text)["entries"][0]
    assert set(entry["gap_regret"]["mean"]) >= {"value", "lower", "upper"}
    assert (entry["gap_regret"]["mean"]["lower"] is None) == (runs < MIN_RUNS)


def test_without_a_plan_weak_regret_takes_its_place():
    comparison = results()
    for place, played in comparison.finished.items():
        if place[0] == "one":
            played.gap_regret[:] = np.nan
            played.regret[:] = np.nan
    summary = summarize(comparison)
    assert [e.rank for e in summary.entries[:4]] == [4, 2, 1, 3]
    entry = summary.entry("one", "slow", 10_000)
    assert entry.final["gap_regret"].mean.reason == "the regret is not known"
    assert entry.final["weak_regret"].mean.known
    assert summary.ratios[0].problems == ("two",)


def test_nothing_finished_is_an_empty_summary():
    summary = summarize(results(finished={}, refusals={}))
    assert summary.entries == summary.first == summary.best == ()
    json.dumps(summary.to_dict(), allow_nan=False)


def test_identical_learners_share_a_rank():
    comparison = results()
    comparison.finished["one", "slow", 10_000] = comparison.finished["one", "odd", 10_000] = curves(
        3.0
    )
    summary = summarize(comparison)
    assert [e.rank for e in summary.entries[:4]] == [3, 2, 1, 3]
    same = next(c for c in summary.first if (c.problem, c.learner) == ("one", "odd"))
    assert same.difference == Interval(0.0, 0.0, 0.0)
    assert same.p_value == same.corrected == 1.0
