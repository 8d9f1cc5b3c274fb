"""Curves of an experiment with their bands: computed once, kept as curves.csv, read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from itertools import product
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from restive.experiments.statistics import Band, json_number, mean_band, median_band

if TYPE_CHECKING:
    from restive.experiments.results import Place, Results

__all__ = ["CENTRES", "COLUMNS", "REGRETS", "Bands"]

Ints = NDArray[np.int64]
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
            curves = self.results.found.get(place)
            runs = None if curves is None else np.asarray(getattr(curves, REGRETS[regret]))
            known = runs is not None and len(runs) > 0 and bool(np.isfinite(runs).all())
            self._bands[key] = CENTRES[centre](runs) if known else None
        return self._bands[key]

    def times(self, problem: str, horizon: int) -> Ints | None:
        """The times that all learners share; None if none of them has run."""
        places = ((problem, learner, horizon) for learner in self.results.learners)
        curves = (self.results.found.get(place) for place in places)
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
                    curves = results.found[place]
                    head = (problem, learner, horizon, regret, len(curves.seconds))
                    columns = [part.tolist() for band in known for part in _parts(band)]
                    for time, *point in zip(curves.times.tolist(), *columns, strict=True):
                        yield (*head, time, *map(json_number, point))

    def to_csv(self) -> bytes:
        """The rows as a table; the same bytes for the same runs."""
        stream = io.StringIO()
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(self.rows())
        return stream.getvalue().encode()

    def read(self, path: Path) -> None:
        """Take the bands from a table that ``to_csv`` wrote of the same results."""
        with open(path, encoding="utf-8", newline="") as stream:
            table = csv.reader(stream)
            if tuple(next(table, ())) != COLUMNS:
                raise ValueError(f"{path} has other columns")
            lines: dict[tuple[Place, str], list[list[float]]] = {}
            for problem, learner, horizon, regret, _, _, *point in table:
                numbers = [float(value) if value else nan for value in point]
                lines.setdefault(((problem, learner, int(horizon)), regret), []).append(numbers)
        for (place, regret), points in lines.items():
            columns = np.array(points, dtype=np.float64).T
            for k, centre in enumerate(CENTRES):
                middle, lower, upper = columns[3 * k : 3 * k + 3]
                reason = NO_BOUNDS if np.isnan(lower).all() else ""
                self._bands[place, regret, centre] = Band(lower, middle, upper, reason=reason)


def _parts(band: Band) -> tuple[NDArray[np.float64], ...]:
    return band.centre, band.lower, band.upper
