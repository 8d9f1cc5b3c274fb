"""How arms that change are verified: times to be back, ratios, and verdicts that can fail."""

from __future__ import annotations

import numpy as np
import pytest
from verification import Settings, drift
from verification.drift import AHEAD, WINDOW, back_after, ratio_interval
from verification.kept import kept_runs

from restive.planning import plan

WINDOWS = 4 * AHEAD


def climbing(low, high, at, windows=WINDOWS, runs=3):
    """Windows that earn ``low`` before the one at which they earn ``high``."""
    return np.tile(np.where(np.arange(windows) < at, low, high), (runs, 1))


def test_a_learner_is_back_when_the_windows_ahead_earn_enough():
    late = AHEAD + 12
    # nine of ten windows ahead must pay 1, or one in three if the others pay 0.85
    assert back_after(climbing(0.0, 1.0, late), 1.0) == (late - AHEAD // 10) * WINDOW
    third = -(-AHEAD // 3)
    assert back_after(climbing(0.85, 1.0, late), 1.0) == (late - AHEAD + third) * WINDOW
    assert back_after(climbing(0.0, 0.8, late), 1.0) == WINDOWS * WINDOW  # never
    assert back_after(climbing(1.0, 1.0, 0), 1.0) == 0


def test_ratios_are_of_the_same_runs():
    rng = np.random.default_rng(1)
    other = rng.random((30, 1)) + 1
    assert ratio_interval(2 * other, other, lambda rows: float(rows.mean())) == pytest.approx(
        (2, 2)
    )
    low, high = ratio_interval(rng.random((30, 1)) + 1, other, lambda rows: float(rows.mean()))
    assert low < 1 < high


@pytest.mark.parametrize(("slow", "verdict"), [(20, "pass"), (40, "FAIL")])
def test_a_learner_that_forgets_too_late_fails(slow, verdict, monkeypatch):
    def earned(learner, jump, begin, after, seed):
        at = slow if learner == drift.FORGETS else 4 * AHEAD
        return climbing(0.0, plan(jump.after).gain, at, after // WINDOW)[0]

    monkeypatch.setattr(drift, "earned_after", earned)
    monkeypatch.setattr(drift, "kept_runs", lambda path, name, run, seeds: [*map(run, seeds)])
    (finding,) = drift.check_jumps(Settings(quick=True))
    assert finding.verdict == verdict
    assert f"tied-sampling {(4 * AHEAD - AHEAD // 10) * WINDOW:,}" in finding.measured


@pytest.mark.parametrize(("dear", "verdict"), [(1.3, "pass"), (1.6, "FAIL")])
def test_a_learner_that_watches_too_dearly_fails(dear, verdict, monkeypatch):
    def lost(learner, bandit, horizon, seed):
        return 10.0 + seed if learner == "tied-sampling" else dear * (10.0 + seed)

    monkeypatch.setattr(drift, "_lost", lost)
    monkeypatch.setattr(drift, "kept_runs", lambda path, name, run, seeds: [*map(run, seeds)])
    (finding,) = drift.check_calm(Settings(quick=True))
    assert finding.verdict == verdict


def test_runs_are_kept_and_only_missing_ones_are_made(tmp_path):
    path = tmp_path / "runs.jsonl"
    assert kept_runs(path, "square", square, [1, 2]) == [1, 4]
    assert kept_runs(path, "halves", halves, [2]) == [[1.0]]
    with open(path, "a") as lines:
        lines.write('{"name": "square", "seed": 3, "val')  # stopped in the middle of a line
    assert kept_runs(path, "square", cube, [3, 2, 1]) == [27, 4, 1]
    assert kept_runs(path, "square", halves, [1, 2, 3]) == [1, 4, 27]
    assert kept_runs(None, "square", cube, [2]) == [8]


def square(seed):
    return seed**2


def cube(seed):
    return seed**3


def halves(seed):
    return [seed / 2]
