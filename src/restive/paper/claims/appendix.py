"""Displays of the appendix: from six terms to 42, and two slips."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from restive import theory
from restive.paper import criteria
from restive.paper.chart import Chart, points_chart
from restive.paper.claim import Claim, Finding, Measurement, Scale, judged


def _grid(scale: Scale) -> Sequence[float]:
    return [float(t) for t in np.geomspace(10, 1e16, scale.size(61, 31)).round()]


def measure_terms(horizon: float) -> tuple[int, float]:
    """Arguments tried at this horizon for which Theorem 4 says something, and the largest ratio."""
    sizes = product((1.0, 3.0, 30.0, 1000.0), (1, 2, 5, 50), (1, 4, 100, 10_000),
                    (0.5, 0.05, 1e-3, 1e-9))  # fmt: skip
    count, worst = 0, 0.0
    for reach, support, colors, delta in sizes:
        arguments = (reach, support, colors, horizon, delta, 0.0)
        bound = theory.regret_bound(*arguments)
        if bound <= horizon and support <= colors * 50:
            count += 1
            worst = max(worst, theory.regret_terms(*arguments).total / bound)
    return count, worst


TERMS = Measurement("terms", _grid, measure_terms, (0.01, 0.01))


def judge_terms(scale: Scale, results: Sequence[Any]) -> Finding:
    count, worst = sum(n for n, _ in results), max(ratio for _, ratio in results)
    return Finding(
        f"{count:,} values of D, B, C, T and delta at which Theorem 4's bound is below T",
        f"largest sum / bound {worst:.3f}",
        "at most 1 everywhere",
        judged(count > 0 and worst <= criteria.MOST),
        "Where the bound is above T the sum may be larger, and the theorem holds because regret "
        "never exceeds T.",
        {"largest": worst, "values": count},
        _terms_chart(_grid(scale), [ratio for _, ratio in results]),
    )


def _terms_chart(horizons: Sequence[float], ratios: Sequence[float]) -> Chart:
    """The largest ratio at every horizon where a bound is below it."""
    seen = [(t, ratio) for t, ratio in zip(horizons, ratios, strict=True) if ratio > 0]
    times = [t for t, _ in seen]
    guide = ("limit 1", [times[0], times[-1]], [1, 1])
    points = [("largest of all values tried", times, [ratio for _, ratio in seen])]
    return points_chart("T", "sum of six terms / bound", points, [guide], log_x=True)


def judge_norm(scale: Scale, results: Sequence[Any]) -> Finding:
    """The L1 norm of a difference of laws against the supremum over x in {0, 1} and {-1, 1}."""
    rng = np.random.default_rng(41)
    small, right = 0.0, 0.0
    for _ in range(200):
        p, q = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
        norm = np.abs(p - q).sum()
        subsets = np.array(list(product((0, 1), repeat=4)))
        small = max(small, norm / (subsets @ (p - q)).max())
        right = max(right, norm / ((2 * subsets - 1) @ (p - q)).max())
    return Finding(
        "200 pairs of random laws over four outcomes, all x",
        f"norm / supremum over {{0, 1}}: {small:.3f}; over {{-1, 1}}: {right:.3f}",
        "the norm is at most the supremum over x in {0, 1}",
        judged(bool(small <= criteria.MOST + criteria.ROUNDING)),
        "Counterexample: (1, 0) and (0, 1) are 2 apart, and the supremum over x in {0, 1} is 1. "
        "With x in {-1, 1} the display holds, and so does the rest of the proof, where |X_i| <= 2 "
        "is allowed for already.",
        {"zero_one": float(small), "minus_one_one": float(right)},
    )


def judge_values(scale: Scale, results: Sequence[Any]) -> Finding:
    """The normalised values w_k as printed and as meant."""
    u, reach = np.array([0.0, 4.0, 10.0]), 10.0
    printed = np.abs(u - (u.min() - u.max()) / 2).max()
    meant = np.abs(u - (u.min() + u.max()) / 2).max()
    return Finding(
        "values 0, 4 and 10, of span D = 10",
        f"largest |w| {printed:g} as printed, {meant:g} with min u + max u",
        f"at most D/2 = {reach / 2:g}",
        judged(bool(printed <= reach / 2)),
        "Counterexample: these values. The sign is a slip: w = u - (min u + "
        "max u)/2 is meant, and the proof uses nothing else.",
        {"printed": float(printed), "meant": float(meant)},
    )


CLAIMS = (
    Claim("simplification", "Appendix, last display",
          "The six terms of the proof add up to at most Theorem 4's 42.", TERMS, judge_terms,
          notices=("bound-constant", "bound-without-root-T")),
    Claim("appendix-norm", "Appendix, Failing Confidence Intervals, first display",
          "The L1 distance of two laws is at most the supremum over x in {0, 1}.",
          TERMS, judge_norm, "fails"),
    Claim("appendix-values", "Appendix, Episodes with M in M_k",
          "w = u - (min u - max u)/2 is at most D/2 in absolute value.",
          TERMS, judge_values, "fails"),
)  # fmt: skip
