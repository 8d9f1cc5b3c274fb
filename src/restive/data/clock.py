"""Times of a file as steps: whole numbers, numbers on a grid, dates and durations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.data.columns import Columns, is_missing, number

JITTER = 0.3  # steps by which a time may lie beside the grid; beyond, its step is anybody's guess
COARSE = 30  # whole times whose gaps are all multiples of this or more are not steps
SURE = 4.0  # standard errors of a step's length within which a round one is taken for it
ROUNDING = 1e-12  # share of a step's length that is none of the clock's
FURTHEST = 10**12  # steps between first and last sighting, at most
DATE = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(.*)", re.DOTALL)
SPAN = re.compile(r"(?:(\d+) days?, )?(\d+):(\d\d):(\d\d(?:\.\d+)?)")


@dataclass(frozen=True, eq=False)
class Clock:
    """Times as read: numbers, or seconds since some moment if they were dates."""

    times: Floats
    dates: bool

    @property
    def whole(self) -> bool:
        return not self.dates and bool((self.times == np.rint(self.times)).all())


def read_times(columns: Columns, name: str) -> Clock:
    """The time of each row; a row without one is refused."""
    cells = columns.cells[name]
    dates = isinstance(cells, np.ndarray) and cells.dtype.kind == "M"
    if isinstance(cells, np.ndarray) and dates:
        seconds = cells.astype("datetime64[us]").astype(np.int64) / 1e6
        times = np.where(np.isnat(cells), np.nan, seconds)
    else:
        try:
            times = np.array(cells, dtype=np.float64)  # all at once, if they are numbers
        except (TypeError, ValueError):
            first = next((cell for cell in cells if not is_missing(cell)), None)
            dates = number(first) is None
            read = _dates(columns, name) if dates else [number(cell) for cell in cells]
            times = np.array(read, dtype=np.float64)  # nan for None
    if bad := np.flatnonzero(~np.isfinite(times)).tolist():
        raise _no_time(columns, name, bad[0])
    return Clock(times, dates)


def _no_time(columns: Columns, name: str, row: int) -> Exception:
    cell = columns.cells[name][row]
    if is_missing(cell):
        message = "there is no time"
    elif number(cell) is not None or _moment(cell) is not None:
        message = "not a time like those of the other rows"
    else:
        impossible = isinstance(cell, str) and DATE.fullmatch(cell.strip())
        message = "there is no such date or time" if impossible else "not a time"
    remedy = "Write a number, or a date such as 2026-01-31 or 2026-01-31T12:30:00, in every row."
    return columns.refuse(row, name, message, remedy)


def _dates(columns: Columns, name: str) -> list[float | None]:
    """Seconds of dates and durations; dates without a zone are taken as UTC."""
    moments = [_moment(cell) for cell in columns.cells[name]]
    zoned = [None if not isinstance(m, datetime) else m.tzinfo is not None for m in moments]
    if True in zoned and False in zoned:
        remedy = "Give every time a zone, such as Z or +01:00, or none."
        message = "this time has no zone, and others have"
        raise columns.refuse(zoned.index(False), name, message, remedy)
    return [_second(moment) for moment in moments]


def _second(moment: datetime | float | None) -> float | None:
    if not isinstance(moment, datetime):
        return moment
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _moment(cell: Any) -> datetime | float | None:
    """A date, or the seconds of a duration."""
    if is_missing(cell):
        return None
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    if isinstance(cell, date):
        return cell if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)
    if not isinstance(cell, str):
        return None
    text = cell.strip()
    if span := SPAN.fullmatch(text):
        days, hours, minutes, seconds = span.groups()
        whole = 24 * int(days or 0) + int(hours)
        return 3600.0 * whole + 60.0 * int(minutes) + float(seconds)
    try:
        return datetime.fromisoformat(_padded(text))
    except ValueError:
        return None


def _padded(text: str) -> str:
    """2014-7-1 as 2014-07-01."""
    if parts := DATE.fullmatch(text):
        return f"{parts[1]}-{int(parts[2]):02}-{int(parts[3]):02}{parts[4]}"
    return text


def steps_on(
    clock: Clock, arms: Ints, pieces: Ints, tick: float | None
) -> tuple[Ints, float, Floats]:
    """Step of each time, the length of a step, and how far beside its step each time lies.

    arms, pieces: whose time it is; those of one arm and piece must be increasing. Whole numbers
    are steps, unless all gaps share a large divisor. Otherwise the shortest usual gap is a step.
    """
    times = clock.times
    if len(times) == 0:
        return np.zeros(0, dtype=np.int64), tick or 1.0, times
    if tick is None and clock.whole:
        gaps = np.abs(np.diff(np.unique(times)))
        shared = float(np.gcd.reduce(gaps.astype(np.int64))) if len(gaps) else 1.0
        tick = shared if shared >= COARSE else 1.0
    if tick is None:
        tick, phase = _grid(times, _usual_gap(times, arms, pieces))
    else:
        turns = np.exp(2j * np.pi * (times - times[0]) / tick)
        phase = float(times[0] + np.angle(turns.mean()) / (2 * np.pi) * tick)
    places = (times - phase) / tick
    if np.ptp(places) > FURTHEST:
        return np.zeros(len(times), dtype=np.int64), tick, np.full(len(times), np.inf)
    steps = np.rint(places)
    return (steps - steps.min()).astype(np.int64), tick, places - steps


def _usual_gap(times: Floats, arms: Ints, pieces: Ints) -> float:
    """The median of the shorter gaps between sightings of the same arm."""
    order = np.lexsort((times, pieces, arms))
    same = (np.diff(arms[order]) == 0) & (np.diff(pieces[order]) == 0)
    gaps = np.diff(times[order])[same]
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return 1.0
    short = float(np.quantile(gaps, 0.05))
    return float(np.median(gaps[gaps <= 1.5 * short]))


def _grid(times: Floats, tick: float) -> tuple[float, float]:
    """Step length and phase that fit all times, from a first guess at the length.

    Short gaps give the length well enough to count the steps in longer ones.
    """
    moments = np.unique(times)
    gaps = np.diff(moments)
    for longest in (10, 300, 10_000, np.inf):
        near = (gaps > 0.5 * tick) & (gaps <= longest * tick)
        if near.any():
            tick = float(gaps[near].sum() / np.maximum(1, np.rint(gaps[near] / tick)).sum())
    counts = np.concatenate([[0.0], np.cumsum(np.rint(gaps / tick))])
    for _ in range(2):
        if counts[-1] == counts[0]:
            break
        tick, phase = np.polyfit(counts, moments - moments[0], 1)
        counts = np.rint((moments - moments[0] - phase) / tick)
    else:
        return _round_length(float(tick), float(phase), counts, moments - moments[0], moments[0])
    return tick, float(moments[0])


def _round_length(
    tick: float, phase: float, counts: Floats, spans: Floats, start: float
) -> tuple[float, float]:
    """Length and phase; the roundest length that the times do not speak against, if any.

    Least squares know the length of a step up to their error: of hourly times with jitter they say
    3599.99 seconds. A length within ``SURE`` of these errors is as good, if it keeps all in place.
    """
    beside = spans - phase - tick * counts
    spread = np.sqrt((beside**2).sum() / max(1, len(spans) - 2))
    error = max(SURE * spread / np.sqrt(((counts - counts.mean()) ** 2).sum()), ROUNDING * tick)
    for digits in range(-5, 7):
        length = round(tick, digits)
        moved = spans - length * counts
        middle = float(moved.mean())
        if abs(tick - length) <= error and np.abs(moved - middle).max() <= JITTER * tick:
            return length, middle + float(start)
    return tick, phase + float(start)
