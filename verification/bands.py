"""Bands and intervals of experiments: how often they hold the truth, on curves whose law is known.

Regret is rarely normal: most runs lose little and a few lose much. So the curves here are skewed
and correlated in time as well, and few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import binom, binomtest

from restive.experiments.statistics import (
    Band,
    mean_band,
    mean_interval,
    median_band,
    median_interval,
    slope,
)
from verification import ALPHA, Check, Finding, Settings, judge

__all__ = ["CHECKS"]

Floats = NDArray[np.float64]

TIMES = np.geomspace(1, 1e5, 50)
ELAPSED = np.diff(np.log(TIMES), prepend=-1.0) / (np.log(TIMES[-1]) + 1)  # sums to 1
GROWN = ELAPSED.cumsum()
RUNS = (10, 30, 50)


@dataclass(frozen=True)
class Law:
    """Random curves with known mean and median; floor: coverage promised of bands of the mean."""

    name: str
    draw: Callable[[int, np.random.Generator], Floats]
    mean: Floats
    median: Floats
    floor: float


def normal(runs: int, rng: np.random.Generator) -> Floats:
    return rng.standard_normal((runs, len(TIMES)))


def walk(runs: int, rng: np.random.Generator) -> Floats:
    return (normal(runs, rng) * np.sqrt(np.diff(TIMES, prepend=0.0))).cumsum(axis=1)


def lognormal(runs: int, rng: np.random.Generator) -> Floats:
    return np.asarray(np.exp(rng.standard_normal((runs, 1))) * np.sqrt(TIMES))


def lognormal_walk(runs: int, rng: np.random.Generator) -> Floats:
    steps = normal(runs, rng) * np.sqrt(ELAPSED)
    return np.asarray(np.exp(steps.cumsum(axis=1)) * np.sqrt(TIMES))


def jumps(runs: int, rng: np.random.Generator) -> Floats:
    """Losses that come one by one, so rare at first that most runs have none."""
    counts = rng.poisson(np.diff(RARE, prepend=0.0), (runs, len(TIMES)))
    sizes = rng.standard_gamma(np.maximum(counts, 1))
    return np.asarray(np.where(counts > 0, sizes, 0.0).cumsum(axis=1))


RARE = 0.05 * TIMES**0.35
ROOT_T, NOTHING = np.sqrt(TIMES), np.zeros(len(TIMES))
LAWS = (
    Law("independent normal", normal, NOTHING, NOTHING, 0.93),
    Law("random walk", walk, NOTHING, NOTHING, 0.93),
    Law("lognormal factor", lognormal, np.exp(0.5) * ROOT_T, ROOT_T, 0.88),
    Law("lognormal walk", lognormal_walk, np.exp(GROWN / 2) * ROOT_T, ROOT_T, 0.88),
)
EXPONENT = 0.5 + 0.5 / (np.log(TIMES[-1]) + 1)  # of the mean of the lognormal walk


def holds(band: Band, truth: Floats) -> bool | None:
    """Whether the band holds the truth everywhere; None if it was refused for want of runs."""
    if not band.known:
        return None
    return bool(((band.lower <= truth) & (truth <= band.upper)).all())


def outcomes(one: Callable[[int], bool | None], repeats: int) -> list[bool | None]:
    """``one`` for every seed; on all processors, whatever their number."""
    size = 50
    parts = [range(k, min(k + size, repeats)) for k in range(0, repeats, size)]
    found = Parallel(n_jobs=-1)(delayed(_part)(one, part) for part in parts)
    return [outcome for part in found for outcome in part]


def _part(one: Callable[[int], bool | None], seeds: Sequence[int]) -> list[bool | None]:
    return [one(seed) for seed in seeds]


def finding(name: str, what: str, found: Sequence[bool | None], floor: float) -> Finding:
    """Fails if so few would have a chance below ALPHA with the coverage promised.

    Refused bands promise nothing: they are left out of the share, and counted.
    """
    claim = f"{what} in at least {floor:.0%} of cases (nominal 95%)"
    given = [outcome for outcome in found if outcome is not None]
    if not given:
        return Finding(name, claim, f"refused in all of {len(found)} cases", "-", "skipped")
    held = sum(given)
    low, high = binomtest(held, len(given)).proportion_ci(0.95)
    refused = f"; {len(found) - len(given)} refused" if len(given) < len(found) else ""
    return Finding(
        name,
        claim,
        f"{held / len(given):.1%} of {len(given)}{refused}",
        f"{low:.1%}, {high:.1%}",
        judge(bool(binom.cdf(held, len(given), floor) >= ALPHA)),
    )


def mean_held(law: Law, runs: int, seed: int) -> bool | None:
    return holds(mean_band(law.draw(runs, np.random.default_rng([seed, runs, 51]))), law.mean)


def median_held(law: Law, runs: int, seed: int) -> bool | None:
    return holds(median_band(law.draw(runs, np.random.default_rng([seed, runs, 52]))), law.median)


def ends_held(law: Law, runs: int, of_mean: bool, seed: int) -> bool:
    ends = law.draw(runs, np.random.default_rng([seed, runs, 53]))[:, -1]
    found = mean_interval(ends) if of_mean else median_interval(ends)
    return bool(found.lower <= (law.mean if of_mean else law.median)[-1] <= found.upper)


def slope_held(runs: int, seed: int) -> bool:
    curves = lognormal_walk(runs, np.random.default_rng([seed, runs, 54]))
    found = slope(TIMES, curves)
    return found.lower <= EXPONENT <= found.upper


def check_mean_bands(settings: Settings) -> Iterator[Finding]:
    repeats = settings.size(1000, 60)
    for law in LAWS:
        for runs in RUNS:
            found = outcomes(partial(mean_held, law, runs), repeats)
            name = f"mean band: {law.name}, {runs} runs"
            yield finding(name, "holds the mean at all times", found, law.floor)
    rare = Law("jumps", jumps, RARE, NOTHING, 0.0)
    for runs in RUNS:
        found = outcomes(partial(mean_held, rare, runs), repeats)
        shown = finding(f"mean band: rare jumps, {runs} runs", "", found, 0.0)
        claim = "no promise: at first hardly any run has lost anything"
        yield Finding(shown.name, claim, shown.measured, shown.interval, "skipped")


def check_median_bands(settings: Settings) -> Iterator[Finding]:
    repeats = settings.size(1000, 60)
    for law in LAWS[1:]:
        for runs in RUNS:
            found = outcomes(partial(median_held, law, runs), repeats)
            name = f"median band: {law.name}, {runs} runs"
            yield finding(name, "holds the median at all times", found, 0.93)


def check_intervals(settings: Settings) -> Iterator[Finding]:
    repeats = settings.size(1000, 60)
    for law in LAWS[1:3]:
        for runs in RUNS:
            found = outcomes(partial(ends_held, law, runs, True), repeats)
            name = f"final mean: {law.name}, {runs} runs"
            yield finding(name, "the interval holds the mean", found, law.floor)
    for runs in RUNS:
        found = outcomes(partial(ends_held, LAWS[2], runs, False), repeats)
        name = f"final median: lognormal factor, {runs} runs"
        yield finding(name, "the interval holds the median", found, 0.95)
    for runs in RUNS:
        found = outcomes(partial(slope_held, runs), repeats)
        name = f"slope: lognormal walk, {runs} runs"
        yield finding(name, "the interval holds the exponent", found, 0.90)


CHECKS: dict[str, Check] = {
    "mean-bands": check_mean_bands,
    "median-bands": check_median_bands,
    "run-intervals": check_intervals,
}
