"""Curves of an experiment as numbers, thinned for a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.arrays import Ints
from restive.experiments.bands import CENTRES, REGRETS, Bands

if TYPE_CHECKING:
    from restive.experiments.results import Place, Results
    from restive.experiments.statistics import Band


MOST, LEAST = 120, 6  # points of a curve on the page
TRACES, TRACE_POINTS = 8, 40  # single runs of a learner, and points of each
LETTERS = 6  # of a number on the page, with its comma


def points_allowed(bands: Bands, room: int) -> int:
    """Points per curve so that all of them together take no more letters than there is room for."""
    return int(np.clip(room / (LETTERS * max(_lines(bands), 1)), LEAST, MOST))


def _lines(bands: Bands) -> int:
    keys = product(bands.results.finished, REGRETS, CENTRES)
    return 3 * sum(bands.of(*key) is not None for key in keys)  # centre, lower, upper


def traces_allowed(bands: Bands, room: int, points: int) -> int:
    """How many single runs of each learner fit beside curves of so many points; not one alone."""
    left = room - LETTERS * points * _lines(bands)
    lines = 2 * len(bands.results.finished)  # gap and weak regret
    count = int(min(left / (LETTERS * TRACE_POINTS * max(lines, 1)), TRACES))
    return count if count > 1 else 0


def page_curves(
    bands: Bands, problem: str, horizon: int, most: int = MOST, traces: int = 0
) -> dict[str, Any] | None:
    """Times and, for each regret and centre, [centre, lower, upper] of each learner (or None).

    traces: how many single runs of each learner come with them.
    """
    times, results = bands.times(problem, horizon), bands.results
    if times is None:
        return None
    chosen = _evenly(len(times), most)
    places = [(problem, learner, horizon) for learner in results.learners]
    regrets: dict[str, Any] = {}
    for name in REGRETS:
        lines = {
            centre: [_line(bands.of(place, name, centre), chosen) for place in places]
            for centre in CENTRES
        }
        if any(line is not None for line in lines["mean"]):
            regrets[name] = lines
    curves: dict[str, Any] = {"times": times[chosen].tolist(), "regrets": regrets}
    return curves | (_single_runs(results, places, times, traces) if traces else {})


def _single_runs(
    results: Results, places: Sequence[Place], times: Ints, most: int
) -> dict[str, Any]:
    """The first runs of each learner: gap and weak regret, from which the others follow."""
    chosen = _evenly(len(times), TRACE_POINTS)
    runs = {
        name: [
            [_rounded(run[chosen].tolist()) for run in getattr(curves, REGRETS[name])[:most]]
            if (curves := results.finished.get(place)) is not None
            else []
            for place in places
        ]
        for name in ("gap", "weak")
    }
    return {"run_times": times[chosen].tolist(), "runs": runs}


def _evenly(count: int, most: int) -> Ints:
    """Which points stay: spread evenly, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _line(band: Band | None, chosen: Ints) -> list[Any] | None:
    if band is None:
        return None
    return [_rounded(part[chosen].tolist()) for part in (band.centre, band.lower, band.upper)]


def _rounded(values: Sequence[float]) -> list[float | int | None]:
    """Four digits each, whole numbers without a point; None for what is unknown.

    >>> _rounded([1234.56, 0.123456, 2.0, -0.0000012, float("nan")])
    [1235, 0.1235, 2, 0, None]
    """
    return [_short(value) for value in values]


def _short(value: float) -> float | int | None:
    if not np.isfinite(value):
        return None
    rounded = round(float(f"{value:.4g}"), 5)
    return int(rounded) if rounded == int(rounded) else rounded
