"""Curves of an experiment as numbers, thinned for a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from restive.experiments.bands import CENTRES, REGRETS, Bands

if TYPE_CHECKING:
    from restive.experiments.statistics import Band

__all__ = ["DIGITS", "page_curves", "points_allowed", "written"]

Ints = NDArray[np.int64]

MOST, LEAST = 120, 8  # points of a curve on the page
LETTERS = 3  # of a number on the page
# 85 letters that neither JSON nor HTML writes as more than one
DIGITS = "".join(chr(k) for k in range(33, 127) if chr(k) not in "\"\\<>&'`{}")
LOWEST, POWERS = -6, 34  # powers of ten that are written


def points_allowed(bands: Bands, room: int) -> int:
    """Points per curve so that all of them together take no more letters than there is room for."""
    lines = 0
    for place in bands.results.found:
        for regret, centre in product(REGRETS, CENTRES):
            band = bands.of(place, regret, centre)
            lines += 0 if band is None else 3 if band.known else 1
    return int(np.clip(room / (LETTERS * max(lines, 1)), LEAST, MOST))


def page_curves(
    bands: Bands, problem: str, horizon: int, most: int = MOST
) -> dict[str, Any] | None:
    """Times and, for each regret and centre, [centre, lower, upper] of each learner (or None)."""
    times, results = bands.times(problem, horizon), bands.results
    if times is None:
        return None
    kept = _kept(len(times), most)
    places = [(problem, learner, horizon) for learner in results.learners]
    regrets: dict[str, Any] = {}
    for name in REGRETS:
        lines = {
            centre: [_line(bands.of(place, name, centre), kept) for place in places]
            for centre in CENTRES
        }
        if any(line is not None for line in lines["mean"]):
            regrets[name] = lines
    return {"times": times[kept].tolist(), "regrets": regrets}


def _kept(count: int, most: int) -> Ints:
    """Which points stay: spread evenly, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _line(band: Band | None, kept: Ints) -> list[Any] | None:
    if band is None:
        return None
    return [_rounded(part[kept].tolist()) for part in (band.centre, band.lower, band.upper)]


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


def written(panel: dict[str, Any]) -> dict[str, Any]:
    """The same with each line as text: three letters a number, bounds only where there are any."""
    regrets = {
        name: {
            centre: [None if line is None else _written(line) for line in lines]
            for centre, lines in found.items()
        }
        for name, found in panel["regrets"].items()
    }
    return {"times": panel["times"], "regrets": regrets}


def _written(line: Sequence[Sequence[float | None]]) -> str:
    bounded = any(value is not None for part in line[1:] for value in part)
    return "".join(_code(value) for part in line[: 3 if bounded else 1] for value in part)


def _code(value: float | None) -> str:
    """Sign, power of ten and four digits as a number of three digits to the base 85.

    >>> [_code(value) for value in (None, 0, 1e-6, -2.5)]
    ['!!!', '!!#', '!!$', 'X$z']
    """
    number = 0 if value is None else 1
    if value and abs(value) >= 10.0**LOWEST:
        digits, power = f"{abs(value):.3e}".split("e")
        place = min(int(power) - LOWEST, POWERS - 1) + (POWERS if value < 0 else 0)
        number = 2 + 9000 * place + round(1000 * float(digits)) - 1000
    base = len(DIGITS)
    return DIGITS[number // base**2] + DIGITS[number // base % base] + DIGITS[number % base]
