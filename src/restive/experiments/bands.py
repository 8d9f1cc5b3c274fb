"""Curves of an experiment with their bands: computed once, kept as curves.csv, read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.words import formula_free
from restive.experiments.statistics import Band, json_number, mean_band, median_band

if TYPE_CHECKING:
    from restive.experiments.results import Place, Results

Key = tuple["Place", str, str]  # place, regret, centre

REGRETS = {"gap": "gap_regret", "plain": "regret", "weak": "weak_regret"}
CENTRES: dict[str, Callable[[Any], Band]] = {"mean": mean_band, "median": median_band}
COLUMNS = (
    "problem", "learner", "horizon", "regret", "runs", "time",
    "mean", "mean_lower", "mean_upper", "median", "median_lower", "median_upper",
)  # fmt: skip
NO_BOUNDS = "the runs allow no band"


class Bands:
    """The bands of an experiment's curves, each computed once."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._bands: dict[Key, Band | None] = {}

    def of(self, place: Place, regret: str, centre: str = "mean") -> Band | None:
        """The band of one learner over all its times; None if it did not run or is not known."""
        key = (place, regret, centre)
        if key not in self._bands:
            curves = self.results.finished.get(place)
            runs = None if curves is None else np.asarray(getattr(curves, REGRETS[regret]))
            known = runs is not None and len(runs) > 0 and bool(np.isfinite(runs).all())
            band = CENTRES[centre](runs) if known else None
            self._bands[key] = _rising(band) if band and regret == "gap" else band
        return self._bands[key]

    def times(self, problem: str, horizon: int) -> Ints | None:
        """The times that all learners share; None if none of them has run."""
        places = ((problem, learner, horizon) for learner in self.results.learners)
        curves = (self.results.finished.get(place) for place in places)
        return next((curve.times for curve in curves if curve is not None), None)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Every point of every band in the order of COLUMNS; None for unknown bounds."""
        results = self.results
        for problem, horizon, learner in product(
            results.problems, results.horizons, results.learners
        ):
            place = (problem, learner, horizon)
            for regret in REGRETS:
                bands = [self.of(place, regret, centre) for centre in CENTRES]
                known = [band for band in bands if band is not None]
                if known:
                    curves = results.finished[place]
                    head = (problem, learner, horizon, regret, len(curves.seconds))
                    columns = [part.tolist() for band in known for part in _parts(band)]
                    for time, *point in zip(curves.times.tolist(), *columns, strict=True):
                        yield (*head, time, *map(json_number, point))

    def to_csv(self) -> bytes:
        """The rows as a table; the same bytes for the same runs."""
        stream = io.StringIO()
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(map(formula_free, row) for row in self.rows())
        return stream.getvalue().encode()

    def read(self, content: bytes) -> None:
        """Take the bands from a table that ``to_csv`` wrote of the same results."""
        table = csv.reader(io.StringIO(content.decode(), newline=""))
        if tuple(next(table, ())) != COLUMNS:
            raise ValueError("a table with other columns")
        lines: dict[tuple[Place, str], list[list[float]]] = {}
        results = self.results
        names = {formula_free(name): name for name in (*results.problems, *results.learners)}
        for problem, learner, horizon, regret, _, _, *point in table:
            numbers = [float(value) if value else nan for value in point]
            place = (names[problem], names[learner], int(horizon))
            lines.setdefault((place, regret), []).append(numbers)
        for (place, regret), points in lines.items():
            columns = np.array(points, dtype=np.float64).T
            for k, centre in enumerate(CENTRES):
                middle, lower, upper = columns[3 * k : 3 * k + 3]
                reason = NO_BOUNDS if np.isnan(lower).all() else ""
                self._bands[place, regret, centre] = Band(lower, middle, upper, reason=reason)


def _rising(band: Band) -> Band:
    """The band of a curve that never falls, as gap regret does not, and is never below 0.

    Where the whole curve is inside the band, it is inside this one too: what it has passed by one
    time it keeps, and what it does not pass until later it has not passed now.
    """
    lower = np.maximum(np.maximum.accumulate(band.lower), 0.0)
    upper = np.minimum.accumulate(band.upper[::-1])[::-1]
    return replace(band, lower=lower, upper=upper)


def _parts(band: Band) -> tuple[Floats, ...]:
    return band.centre, band.lower, band.upper
