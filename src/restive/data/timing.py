"""From the times of sightings to steps of one clock, or to the reason why they are none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.data.clock import COARSE, FURTHEST, JITTER, steps_on
from restive.data.records import Records

LONGEST_SPAN = 10 * 365 * 86400.0  # seconds; times between 0 and this are durations, not dates


class Timing(NamedTuple):
    """steps: of each sighting. length: of a step, None if rows are steps. began: the second, since
    1970, of step 0, if times are dates on one clock. notes: in words."""

    steps: Ints
    length: float | None
    began: float | None
    notes: list[str]


def timed(records: Records, tick: float | None) -> Timing:
    """Steps of one clock.

    Sightings come by arm and piece; those of one arm and piece must be in order.
    """
    if records.times is None:
        note = "There is no time: rows of an arm are steps, one by one."
        return Timing(_counted(records), None, None, [note])
    _check_order(records)
    steps, length, beside = steps_on(records.clock, records.arms, records.pieces, tick)
    _check_grid(records, length, beside)
    _check_once(records, steps)
    notes = []
    if records.dates or length != 1.0:
        off = float(np.abs(beside).max(initial=0.0))
        words = span_text(length) if records.dates else f"{length:.6g}"
        notes.append(f"A step is {words} long" + (
            f"; times lie up to {off:.2g} steps beside it." if off > 1e-6 else "."))  # fmt: skip
    notes += _far_apart(records, steps, length)
    steps, moved = _one_after_another(records.pieces, steps)
    if moved:
        notes.append("Pieces have clocks of their own and are laid one after another.")
    began = None if moved else _began(records)
    return Timing(steps, length if records.time_column else None, began, notes)


def _began(records: Records) -> float | None:
    """The moment of the first sighting, which is at step 0, if times are dates."""
    if not records.dates or records.times is None or not len(records.times):
        return None
    first = float(records.times.min())
    return None if 0 <= first < LONGEST_SPAN else first


def date_text(second: float, length: float) -> str:
    """The date of a moment, with the time of day where steps are shorter than a day.

    >>> date_text(1325376000.0, 86400.0), date_text(1325376000.0, 60.0)
    ('2012-01-01', '2012-01-01 00:00')
    """
    moment = datetime.fromtimestamp(second, UTC)
    return f"{moment:%Y-%m-%d}" if length >= 86400 else f"{moment:%Y-%m-%d %H:%M}"


def _far_apart(records: Records, steps: Ints, length: float) -> list[str]:
    """Whole numbers that are no steps, such as seconds of sightings once a minute or so."""
    gaps = np.diff(steps)[_same(records)]
    if records.dates or length != 1.0 or not len(gaps) or gaps.min() < COARSE:
        return []
    return [
        f"No arm was seen twice within {gaps.min():,} steps. If a step is longer than 1 in the "
        "unit of the times, give its length (--tick)."
    ]


def span_text(seconds: float) -> str:
    """
    >>> span_text(86400.0), span_text(7200.0), span_text(90.0)
    ('1 day', '2 hours', '90 s')
    """
    seconds = float(f"{seconds:.6g}")  # as exact as a length that was fitted deserves
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        count = seconds / length
        if count >= 1 and count == round(count):
            return f"{count:.0f} {unit}{'s' * (count > 1)}"
    return f"{seconds:g} s"


def _same(records: Records) -> Bools:
    """Whether a sighting is of the same arm and piece as the one before it; (n - 1,)."""
    return np.asarray((np.diff(records.arms) == 0) & (np.diff(records.pieces) == 0))


def _counted(records: Records) -> Ints:
    """Rows of an arm, from 0; a row without a state takes its step too."""
    first = np.searchsorted(records.arms, np.arange(len(records.names)))
    return np.arange(len(records.arms)) - first[records.arms]


def _check_order(records: Records) -> None:
    assert records.times is not None
    back = np.flatnonzero(_same(records) & (np.diff(records.times) <= 0))
    if not len(back):
        return
    k = int(back[0]) + 1
    arm = records.names[records.arms[k]]
    if records.times[k] == records.times[k - 1]:
        message, remedy = f"{arm} was seen at this time before", "Keep one of the two."
    else:
        message = f"the time goes back: {arm} was seen later than this in a row above"
        remedy = "Sort the rows by time, or name the column that tells the pieces apart (--piece)."
    raise records.refuse(k, message, remedy, records.time_column)


def _check_grid(records: Records, length: float, beside: Floats) -> None:
    worst = int(np.abs(beside).argmax()) if len(beside) else 0
    if not len(beside) or abs(beside[worst]) <= JITTER:
        return
    unit = " s" if records.dates else ""
    if np.isinf(beside[worst]):
        worst = int(records.clock.times.argmax())
        message = f"more than {FURTHEST:.0e} steps of {length:.6g}{unit} after the first time"
        remedy = "Give the length of a step with tick (--tick)."
    else:
        message = (
            f"steps would be {length:.6g}{unit} long, and this time lies "
            f"{abs(beside[worst]):.2f} of a step beside them: it could belong to either neighbour"
        )
        remedy = "Give the right length with tick (--tick), or round the times to steps yourself."
    raise records.refuse(worst, message, remedy, records.time_column)


def _check_once(records: Records, steps: Ints) -> None:
    twice = np.flatnonzero(_same(records) & (np.diff(steps) <= 0))
    if len(twice):
        k = int(twice[0]) + 1
        message = f"{records.names[records.arms[k]]} is seen twice in the same step"
        remedy = "Give a shorter step with tick (--tick), or keep one of the two."
        raise records.refuse(k, message, remedy, records.time_column)


def _one_after_another(pieces: Ints, steps: Ints) -> tuple[Ints, bool]:
    """Steps that increase from piece to piece, moved only where pieces overlap."""
    many = int(pieces.max(initial=0)) + 1
    if many == 1:
        return steps, False
    first, last = np.full(many, np.iinfo(np.int64).max), np.full(many, -1)
    np.minimum.at(first, pieces, steps)
    np.maximum.at(last, pieces, steps)
    used = np.flatnonzero(last >= 0)
    order = used[np.argsort(first[used], kind="stable")]
    if (first[order[1:]] > last[order[:-1]]).all():
        return steps, False
    shift, end = np.zeros(many, dtype=np.int64), 0
    for piece in used:  # in the order of the data
        shift[piece] = end - first[piece]
        end += last[piece] - first[piece] + 1
    return steps + shift[pieces], True
