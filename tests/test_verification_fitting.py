"""The verification of fits: its bound and its logs are right, and it notices bad estimates."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the suite is not installed with the package

from verification import Settings, fitting  # noqa: E402

SMALL = Settings(quick=True)


def test_the_bound_of_a_full_trace_is_that_of_shares():
    case = fitting.Case(np.array([[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7]]), 301, 1.0)
    law = np.linalg.matrix_power(case.chain, 1000)[0]
    shares = case.chain * (1 - case.chain) / (300 * law[:, None])
    np.testing.assert_allclose(fitting.information_bound(case), shares, rtol=1e-9)


def test_the_bound_of_gaps_is_that_of_slopes_taken_slowly():
    p, q, seen, many = 0.3, 0.2, 0.4, 500
    case = fitting.Case(np.array([[1 - p, p], [q, 1 - q]]), many + 1, seen)
    matrix = np.zeros((2, 2))
    for n in range(1, 80):

        def leave(a, b, n=n):  # P^n(0, 1) and P^n(1, 0)
            return np.array([a, b]) * (1 - (1 - a - b) ** n) / (a + b)

        step, weight = 1e-6, seen * (1 - seen) ** (n - 1)
        slopes = np.array([leave(p + step, q) - leave(p - step, q),
                           leave(p, q + step) - leave(p, q - step)]) / (2 * step)  # fmt: skip
        chance = leave(p, q)
        law = np.array([q, p]) / (p + q)
        matrix += weight * (slopes * law / (chance * (1 - chance))) @ slopes.T
    least = np.diag(np.linalg.inv(many * matrix))
    bound = fitting.information_bound(case)
    np.testing.assert_allclose([bound[0, 1], bound[1, 0]], least, rtol=1e-5)


def test_logs_have_the_law_of_their_chain():
    case = fitting.Case(np.array([[0.9, 0.1], [0.3, 0.7]]), 400, 0.25)
    gaps, states = fitting.logs(case, 300, 1)
    assert gaps.mean() == pytest.approx(4, abs=0.1)
    assert states.mean() == pytest.approx(0.25, abs=0.02)
    after = states[:, 1:][(gaps == 2) & (states[:, :-1] == 0)]
    assert after.mean() == pytest.approx(0.1 * 0.9 + 0.1 * 0.7, abs=0.02)


def verdicts(check):
    return {finding.verdict for finding in check(SMALL)}


def test_bad_estimates_and_narrow_intervals_are_noticed(monkeypatch):
    some = {name: replace(fitting.CASES[name], sightings=400) for name in ["slow, two states"]}
    monkeypatch.setattr(fitting, "CASES", some)
    monkeypatch.setattr(fitting, "SMALL", {})
    assert verdicts(fitting.check_bound) == verdicts(fitting.check_coverage) == {"pass"}
    honest = fitting.estimates

    def spoilt(case, runs, seed):
        for estimate in honest(case, runs, seed):
            chain = 0.7 * estimate.chain + 0.3 * estimate.chain[::-1]
            near = 0.2 * (estimate.upper - estimate.chain)
            yield replace(estimate, chain=chain, lower=estimate.chain - near,
                          upper=estimate.chain + near)  # fmt: skip

    monkeypatch.setattr(fitting, "estimates", spoilt)
    assert verdicts(fitting.check_bound) == verdicts(fitting.check_coverage) == {"FAIL"}


def test_plans_on_fits_are_judged(monkeypatch):
    monkeypatch.setattr(fitting, "LOSS", 1.0)
    finding = next(iter(fitting.check_plans(SMALL)))
    assert finding.verdict == "pass"
    monkeypatch.setattr(fitting, "LOSS", -1.0)
    assert next(iter(fitting.check_plans(SMALL))).verdict == "FAIL"
