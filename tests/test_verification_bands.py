"""The check of bands: its laws are what it says, and it notices bands that are too narrow."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from restive.experiments.statistics import Band

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the suite is not installed with the package

from verification import Settings, bands  # noqa: E402

RARE = bands.Law("jumps", bands.jumps, bands.RARE, bands.NOTHING, 0.0)


@pytest.mark.parametrize("law", [*bands.LAWS, RARE], ids=lambda law: law.name)
def test_laws_have_the_mean_and_median_they_claim(law):
    """20,000 curves; 50 points each within 5.5 standard deviations (false alarms: 2e-6)."""
    drawn = law.draw(20_000, np.random.default_rng(1))
    errors = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - law.mean) < 5.5 * errors).all()
    if law is not RARE:
        below = (drawn < law.median).mean(axis=0)
        assert (np.abs(below - 0.5) < 5.5 * 0.5 / np.sqrt(len(drawn))).all()


def test_the_exponent_is_that_of_the_mean():
    mean = bands.LAWS[3].mean
    fitted = np.polyfit(np.log(bands.TIMES), np.log(mean), 1)[0]
    assert fitted == pytest.approx(bands.EXPONENT, abs=1e-12)


@pytest.mark.parametrize(("held", "verdict"), [(950, "pass"), (925, "pass"), (890, "FAIL")])
def test_too_few_held_fail(held, verdict):
    coverage = bands.finding("name", "holds", [k < held for k in range(1000)], 0.93)
    assert coverage.verdict == verdict
    low, high = (float(word.rstrip("%")) for word in coverage.interval.split(", "))
    assert low < held / 10 < high


def test_bands_by_points_fail_and_honest_ones_pass(monkeypatch):
    monkeypatch.setattr(Settings, "size", lambda self, full, quick: 60)
    monkeypatch.setattr(bands, "outcomes", lambda one, repeats: [*map(one, range(repeats))])
    monkeypatch.setattr(bands, "RUNS", (30,))
    monkeypatch.setattr(bands, "LAWS", bands.LAWS[1:2])
    assert [f.verdict for f in bands.check_mean_bands(Settings())] == ["pass", "skipped"]

    def pointwise(runs):
        width = stats.t.ppf(0.975, len(runs) - 1) * stats.sem(runs)
        return Band(runs.mean(axis=0) - width, runs.mean(axis=0), runs.mean(axis=0) + width)

    monkeypatch.setattr(bands, "mean_band", pointwise)
    assert [f.verdict for f in bands.check_mean_bands(Settings())] == ["FAIL", "skipped"]


def test_holding_means_everywhere():
    around = Band(-np.ones(3), np.zeros(3), np.ones(3))
    assert bands.holds(around, np.zeros(3)) is True
    assert bands.holds(around, np.array([0, 0, 2.0])) is False


def test_refused_bands_are_counted_and_promise_nothing():
    refused = bands.mean_band(np.zeros((2, 3)))
    assert bands.holds(refused, np.zeros(3)) is None
    coverage = bands.finding("name", "holds", [True] * 19 + [False] + [None] * 30, 0.93)
    assert coverage.measured == "95.0% of 20; 30 refused"
    assert bands.finding("name", "holds", [None, None], 0.93).verdict == "skipped"
