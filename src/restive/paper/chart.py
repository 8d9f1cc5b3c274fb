"""Figures of claims as data: what was measured beside what it is held against, to be drawn later.

Values are rounded to six digits, which no picture shows, so that files stay small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from restive.paper.estimates import Curve

Kind = Literal["line", "guide", "dots", "band", "steps", "range"]
Points = tuple[str, ArrayLike, ArrayLike]
POINTS = 48  # of a curve
BINS = 24


@dataclass(frozen=True)
class Series:
    """Points of one kind.

    line and dots: measured. guide: what it is held against. band: x, then lower and upper y.
    steps: x are edges of bins, y their heights. range: x are the ends, y the row.
    """

    name: str
    kind: Kind
    x: list[float]
    y: list[float]
    upper: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Chart:
    """x, y: titles of the axes. rows: names of the rows of intervals, from the top down.

    Sequences are lists, as in JSON.
    """

    x: str
    y: str
    series: list[Series]
    log_x: bool = False
    log_y: bool = False
    rows: list[str] = field(default_factory=list)


def _rounded(values: ArrayLike) -> list[float]:
    return [float(f"{value:.6g}") for value in np.asarray(values, dtype=np.float64)]


def curves_chart(curves: Mapping[str, Sequence[Curve]], guides: Mapping[str, Any]) -> Chart:
    """Means of curves over time with the range of their runs, and guides, functions of time."""
    many = [curve for runs in curves.values() for curve in runs]
    last = min(float(times[-1]) for times, _ in many)
    grid = np.geomspace(max(last / 1e4, max(float(times[0]) for times, _ in many)), last, POINTS)
    series = []
    for name, runs in curves.items():
        lost = np.array([np.interp(grid, *curve) for curve in runs])
        seen = lost.min(axis=0) > 0  # a logarithmic axis has no place for the others
        x, band = _rounded(grid[seen]), lost[:, seen]
        if len(runs) > 1:
            series.append(
                Series(name, "band", x, _rounded(band.min(axis=0)), _rounded(band.max(axis=0)))
            )
        series.append(Series(name, "line", x, _rounded(band.mean(axis=0))))
    for name, guide in guides.items():
        series.append(Series(name, "guide", _rounded(grid), _rounded(guide(grid))))
    return Chart("step", "gap regret", series, True, True)


def points_chart(
    x: str, y: str, points: Sequence[Points], guides: Sequence[Points], log_x: bool = False,
    log_y: bool = False,
) -> Chart:  # fmt: skip
    """Measured points, and lines that they are held against; each is a name with its x and y."""
    kinds: tuple[tuple[Kind, Sequence[Points]], ...] = (("dots", points), ("guide", guides))
    series = [
        Series(name, kind, _rounded(a), _rounded(b)) for kind, some in kinds for name, a, b in some
    ]
    return Chart(x, y, series, log_x, log_y)


def ratios_chart(
    title: str, ratios: Mapping[str, ArrayLike], limit: float = 1.0, what: str = "chains"
) -> Chart:
    """How often a ratio took which value, and the limit it must not pass.

    The axis is logarithmic where the largest ratios are far below the limit.
    """
    named = {name: np.asarray(values, dtype=np.float64) for name, values in ratios.items()}
    every = np.concatenate(list(named.values()))
    top = max(limit, float(every.max()))
    log_x = bool(every.min() > 0 and every.max() < limit / 10)
    low = float(every.min()) / 1.5 if log_x else min(0.0, float(every.min()))
    edges = np.geomspace(low, top * 1.5, BINS + 1) if log_x else np.linspace(low, top, BINS + 1)
    series = [
        Series(name, "steps", _rounded(edges), _rounded(np.histogram(values, edges)[0]))
        for name, values in named.items()
    ]
    highest = max(max(steps.y) for steps in series)
    series.append(Series(f"limit {limit:g}", "guide", [limit, limit], [0.0, highest]))
    return Chart(title, what, series, log_x)


def intervals_chart(
    title: str, intervals: Mapping[str, Sequence[float]], guides: Mapping[str, float]
) -> Chart:
    """Intervals one below the other, and values that they are held against."""
    rows = list(intervals)
    series = [
        Series("interval", "range", _rounded(ends), [float(k), float(k)])
        for k, ends in enumerate(intervals.values())
    ]
    for name, value in guides.items():
        series.append(Series(name, "guide", _rounded([value] * 2), [-0.5, len(rows) - 0.5]))
    return Chart(title, "", series, rows=rows)
