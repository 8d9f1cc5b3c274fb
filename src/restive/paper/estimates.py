"""Statistics of the verdicts: exponents of growth with intervals, and counts that chance allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom
from scipy.stats import t as student

from restive.base.arrays import Floats, Ints
from restive.paper.criteria import ALPHA, DELTA

Curve = tuple[Floats, Floats]  # times and gap regret


def log_slope(curve: Curve, begin: float, end: float) -> float:
    """Exponent of growth between two times: the straight line through log regret over log t.

    >>> times = np.geomspace(1, 1e4, 50)
    >>> round(log_slope((times, 3 * times**0.7), 10, 1e4), 6)
    0.7
    """
    times, lost = curve
    inside = (times >= begin) & (times <= end * (1 + 1e-9)) & (lost > 0)
    return float(np.polyfit(np.log(times[inside]), np.log(lost[inside]), 1)[0])


def at_end(curves: Sequence[Curve], time: float) -> float:
    """Mean gap regret at the last point up to ``time``."""
    return float(np.mean([lost[np.searchsorted(t, time * (1 + 1e-9)) - 1] for t, lost in curves]))


def interval(values: Sequence[float] | Floats, alpha: float = ALPHA) -> tuple[float, float]:
    """Where the mean lies but for a chance of alpha, from independent values (Student)."""
    many = np.asarray(values)
    width = student.ppf(1 - alpha / 2, len(many) - 1) * many.std(ddof=1) / np.sqrt(len(many))
    return float(many.mean() - width), float(many.mean() + width)


def growth_exponent(sizes: Ints, lost: Floats) -> tuple[float, float, float]:
    """Exponent of the mean of ``lost`` (seeds, sizes) in the size, and where it lies (ALPHA).

    A straight line through log mean regret; its error by the delta method.

    >>> sizes, lost = np.array([1, 4, 16]), np.array([[1, 2, 4], [3, 6, 12.0]])
    >>> exponent, low, high = growth_exponent(sizes, lost)
    >>> round(exponent, 6)
    0.5
    """
    x, count = np.log(sizes), len(lost)
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    mean, variance = lost.mean(axis=0), lost.var(axis=0, ddof=1)
    exponent = float(weights @ np.log(mean))
    error = float(np.sqrt((weights**2 * variance / mean**2).sum() / count))
    reach = float(student.ppf(1 - ALPHA / 2, count - 1)) * error
    return exponent, exponent - reach, exponent + reach


def most_failures(runs: int, delta: float = DELTA, alpha: float = ALPHA) -> int:
    """Failures that runs with failure probability delta exceed with probability alpha at most.

    >>> most_failures(1000)
    77
    """
    return int(binom.isf(alpha, runs, delta))
