"""The simulated traces of the verification of Markov tests are what they say."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the suite is not installed with the package

from verification import Settings, markov  # noqa: E402


def test_walks_follow_their_law():
    law = markov.remembering(0.3)
    paths = markov.walks(np.broadcast_to(law, (200, 2, 2, 2)).copy(), 400, np.random.default_rng(0))
    counts = np.zeros((2, 2, 2))
    np.add.at(counts, (paths[:, :-2], paths[:, 1:-1], paths[:, 2:]), 1)
    shares = counts / counts.sum(axis=2, keepdims=True)
    assert shares == pytest.approx(law, abs=0.015)


def test_information_of_a_law():
    assert markov.information(markov.remembering(0.0)) == pytest.approx(0, abs=1e-12)
    coin = np.empty((2, 2, 2))  # the next state is the one before the last, but for 1 in 10
    coin[0], coin[1] = [0.9, 0.1], [0.1, 0.9]
    assert markov.information(coin) == pytest.approx(1 - 0.4689956)


def test_alarms_that_are_too_frequent_are_noticed():
    fair = markov.not_more("fair", np.linspace(0, 1, 1000), 0.05)
    assert fair.verdict == "pass"
    assert markov.not_more("loud", np.linspace(0, 0.5, 1000), 0.05).verdict == "FAIL"
    assert markov.power("blind", [0.9] * 100, 0.5).verdict == "FAIL"
    assert markov.power("blind", [0.9] * 100).verdict == "pass"


def test_traces_are_seen_as_often_as_asked():
    rng = np.random.default_rng(1)
    trace = markov.trace_of(rng.integers(0, 2, 10_000), 2, 0.3, rng)
    assert len(trace.states) == pytest.approx(3000, abs=200)


def test_a_check_runs():
    small = markov.check_alarms("shortest", Settings(quick=True))
    assert {finding.verdict for finding in small} == {"pass"}
