"""What runs say about a learner: means, medians and slopes, each with its uncertainty.

Arrays are (runs, points in time). The run, with its seed, is the unit: points of one run are never
taken for independent. Random numbers come from fixed seeds, so the same runs give the same answer.
docs/statistics.md says what is computed, docs/decisions/0008 why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats

LEVEL = 0.95
MIN_RUNS = 6  # with fewer, even the whole range misses the median too often
RESAMPLES = 2000
LEAST_ERROR = 0.2  # of the runs' standard error; a resample without the outlier has almost none
WINDOW = 100.0  # slopes are taken from T / WINDOW to T
UNKNOWN = "the regret is not known"


@dataclass(frozen=True)
class Interval:
    """A value and where the truth lies; bounds are nan where that cannot be said, with a reason."""

    value: float
    lower: float = nan
    upper: float = nan
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether there are bounds."""
        return isfinite(self.lower) and isfinite(self.upper)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: None in place of nan, and the reason where there is one."""
        names = ("value", "lower", "upper")
        fields: dict[str, Any] = {name: json_number(getattr(self, name)) for name in names}
        return fields | ({"reason": self.reason} if self.reason else {})

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Interval:
        """What ``to_dict`` wrote."""
        value, lower, upper = (from_json(content[key]) for key in ("value", "lower", "upper"))
        return cls(value, lower, upper, content.get("reason", ""))


@dataclass(frozen=True, eq=False)
class Band:
    """A curve, and bounds that hold it at all points in time at once with probability LEVEL."""

    lower: Floats
    centre: Floats
    upper: Floats
    reason: str = ""  # why the bounds are nan, if they are

    @property
    def known(self) -> bool:
        """Whether there are bounds."""
        return not self.reason

    def at(self, point: int) -> Interval:
        """The band at one point."""
        value, low, high = (float(curve[point]) for curve in (self.centre, self.lower, self.upper))
        return Interval(value, low, high, self.reason)


def json_number(value: float) -> float | None:
    """For JSON: nine digits, since libraries differ in the last ones; None in place of nan."""
    return float(f"{value:.9g}") if isfinite(value) else None


def from_json(number: float | None) -> float:
    """What ``json_number`` wrote."""
    return nan if number is None else float(number)


def mean_band(curves: ArrayLike) -> Band:
    """The mean curve, in a band that holds the true one everywhere at once.

    Bootstrap-t: runs are resampled whole, and what counts is the largest deviation over all
    points, in standard errors of the resample, upwards and downwards by themselves.
    """
    runs = _as_runs(curves)
    centre = runs.mean(axis=0)
    if reason := _lacking(runs):
        return _unbounded(centre, reason)
    low, high = _extremes(runs)
    error = _errors(runs)
    return Band(centre - high * error, centre, centre - low * error)


def median_band(curves: ArrayLike) -> Band:
    """The median curve, between two order statistics that hold the true one everywhere at once.

    At one point the rank is exact for any law. Over many, it is the largest rank that flips of the
    runs' signs (above or below the median) leave within the level.
    """
    runs = _as_runs(curves)
    centre = np.median(runs, axis=0)
    if reason := _lacking(runs):
        return _unbounded(centre, reason)
    rank = _median_rank(runs)
    if rank == 0:
        reason = f"{len(runs)} runs are too few for a band around the median over so many points"
        return _unbounded(centre, reason)
    ordered = np.sort(runs, axis=0)
    return Band(ordered[rank - 1], centre, ordered[len(runs) - rank])


def mean_interval(values: ArrayLike) -> Interval:
    """The mean of one number per run, with its bootstrap-t interval."""
    return mean_band(np.asarray(values, dtype=np.float64)[:, None]).at(0)


def median_interval(values: ArrayLike) -> Interval:
    """The median of one number per run, with its exact interval of order statistics."""
    return median_band(np.asarray(values, dtype=np.float64)[:, None]).at(0)


def slope(times: ArrayLike, curves: ArrayLike, since: float | None = None) -> Interval:
    """Exponent of growth: the straight line through log mean regret over log t.

    From ``since`` (the end / 100 unless given) to the end. The mean is taken before the logarithm,
    since single runs may have lost nothing or less. The interval is a bootstrap-t over runs.
    """
    runs, at = _as_runs(curves), np.asarray(times, dtype=np.float64)
    first = at[-1] / WINDOW if since is None else since
    inside = at >= first * (1 - 1e-9)
    runs, logs = runs[:, inside], np.log(at[inside])
    if len(logs) < 2:
        return Interval(nan, reason="fewer than two points in time")
    mean = runs.mean(axis=0)
    if not (mean > 0).all():
        reason = UNKNOWN if np.isnan(mean).any() else "the mean regret is not above 0 throughout"
        return Interval(nan, reason=reason)
    weights = (logs - logs.mean()) / np.square(logs - logs.mean()).sum()
    value = float(weights @ np.log(mean))
    if reason := _lacking(runs):
        return Interval(value, reason=reason)
    return _slope_interval(value, runs, weights)


def _slope_interval(value: float, runs: Floats, weights: Floats) -> Interval:
    """Studentized by the linearised error: run i moves the slope by sum_g w_g x_i(g) / mean(g)."""
    picks = resamples(len(runs))
    means = blockwise(picks, runs)
    positive = (means > 0).all(axis=1)
    if positive.mean() < 1 - 0.1 * (1 - LEVEL):
        return Interval(value, reason="the regret is too close to 0 for an interval")
    picks, means = picks[positive], means[positive]
    error = _errors((runs @ (weights / runs.mean(axis=0)))[:, None])[0]
    if error <= 1e-12:
        return Interval(value, value, value)
    moved = (weights / means) @ runs.T  # (resamples, runs); their weighted mean is 0
    errors = np.sqrt((picks * np.square(moved)).sum(axis=1) / (len(runs) - 1))
    away = np.log(means) @ weights - value
    scores = away / np.maximum(errors, LEAST_ERROR * error)
    low, high = np.quantile(scores, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(value - high * error), float(value - low * error))


@lru_cache(maxsize=8)
def resamples(runs: int) -> Floats:
    """Shares of each run in bootstrap resamples, (RESAMPLES, runs), the same at every call."""
    rng = np.random.default_rng([0, runs, 8])
    shares = rng.multinomial(runs, np.full(runs, 1 / runs), RESAMPLES) / runs
    shares.setflags(write=False)
    return np.asarray(shares)


def blockwise(left: Floats, right: Floats) -> Floats:
    """left @ right in blocks that the linear-algebra library leaves to one thread.

    So the bits do not depend on the number of threads, and a busy machine is not slowed down.
    """
    rows = max(1, 200_000 // right.size)
    return np.concatenate([left[k : k + rows] @ right for k in range(0, len(left), rows)])


def _extremes(runs: Floats) -> tuple[float, float]:
    """Quantiles of the lowest and the highest studentized deviation over the points."""
    error = _errors(runs)
    differ = error > 0  # where all runs agree there is nothing to resample
    if not differ.any():
        return 0.0, 0.0
    error, around = error[differ], runs[:, differ] - runs[:, differ].mean(axis=0)
    picks = resamples(len(runs))
    away = blockwise(picks, around)
    spread = np.maximum(blockwise(picks, np.square(around)) - np.square(away), 0)
    scores = away / np.maximum(np.sqrt(spread / (len(runs) - 1)), LEAST_ERROR * error)
    low = np.quantile(scores.min(axis=1), (1 - LEVEL) / 2)
    high = np.quantile(scores.max(axis=1), (1 + LEVEL) / 2)
    return float(low), float(high)


def _median_rank(runs: Floats) -> int:
    """Largest k such that the k-th lowest and k-th highest runs hold the median; 0 if none does."""
    from scipy.stats import binom

    count, points = runs.shape
    rank = int(binom.ppf((1 - LEVEL) / 2, count, 0.5))  # 2 P(fewer than k below) <= 1 - level
    if points == 1 or rank == 0:
        return rank
    upper = runs.argsort(axis=0, kind="stable").argsort(axis=0) >= count / 2
    rng = np.random.default_rng([count, 9])
    flips = (2 * rng.integers(0, 2, size=(RESAMPLES, count)) - 1).astype(np.float64)
    farthest = np.abs(blockwise(flips, np.where(upper, 1.0, -1.0))).max(axis=1)
    while rank and (farthest > count - 2 * rank + 1).mean() > 1 - LEVEL:
        rank -= 1
    return rank


def _errors(runs: Floats) -> Floats:
    """Standard errors of the mean at every point; 0 where all runs agree, to the last bit."""
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    return np.where((runs == runs[0]).all(axis=0), 0.0, error)


def _as_runs(curves: ArrayLike) -> Floats:
    runs = np.asarray(curves, dtype=np.float64)
    if runs.ndim != 2 or 0 in runs.shape:
        raise ValueError(f"curves have one row per run and one column per point, not {runs.shape}")
    return runs


def _lacking(runs: Floats) -> str:
    """Why there can be no bounds, or nothing."""
    if not np.isfinite(runs).all():
        return UNKNOWN
    if len(runs) < MIN_RUNS:
        words = "1 run is" if len(runs) == 1 else f"{len(runs)} runs are"
        return f"{words} too few for an interval; it takes {MIN_RUNS}"
    return ""


def _unbounded(centre: Floats, reason: str) -> Band:
    nothing = np.full_like(centre, nan)
    return Band(nothing, centre, nothing, reason)
