"""Reading traces: files, arrays and data frames as ``Traces`` on one clock of steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import is_number, is_whole, require
from restive.base.errors import ProblemError, refusal
from restive.base.words import guess, shown
from restive.data.columns import Columns, columns_of
from restive.data.files import read_columns
from restive.data.records import Records, joined, records_of, roles_of
from restive.data.states import LEAVE_OUT, ArmStates, Cut, arm_states
from restive.data.timing import timed
from restive.data.traces import ArmTrace, Traces

MOST_STEPS = 2**62  # of a gap


def read_traces(
    data: Any, *, arm: str | None = None, time: str | None = None, state: str | None = None,
    reward: str | None = None, piece: str | None = None, arms: Sequence[str] | None = None,
    cut: Cut | None = None, labels: Sequence[str] | None = None,
    rewards: Mapping[str, float] | None = None, tick: float | None = None,
    break_after: int | None = None,
) -> Traces:  # fmt: skip
    """Read what was seen of some arms.

    data: a path (CSV, JSON lines, Parquet) or a list of paths, an array (steps, arms), a mapping of
        names to columns, or a data frame. Wide: one column an arm. Long: one row a sighting, with
        columns of arm, time, state and reward, recognised by these names or named here. Several
        files with a column of states but none of arms hold one arm each, named like its file.
    piece: a column; nothing is known of moves from one piece to another.
    arms: columns (wide) or names (long) of the arms to read; all of them by default.
    cut: for numeric signals: thresholds, a number of quantile states, or "fit".
    labels: names for the states, from the lowest.
    rewards: reward of each state by name. Otherwise the column of rewards, or the states' numbers.
    tick: length of a step in the unit of the times, seconds for dates.
    break_after: a gap of more steps than this begins a new piece.

    >>> traces = read_traces({"left": [0, 1, 1, None, 0], "right": [1, 1, 0, 0, 1]})
    >>> traces
    Traces of 2 arms over 5 steps, 9 sightings (90% of all)
    """
    named = {"arm": arm, "time": time, "state": state, "reward": reward, "piece": piece}
    check_reading(named, {"arms": arms, "labels": labels}, rewards, cut, tick, break_after)
    tables = _tables(data)
    parts = [
        records_of(columns, roles_of(columns, named, arms), arms, alone)
        for columns, alone in tables
    ]
    records = joined(parts)
    steps, length, began, notes = timed(records, tick)
    seen = _arms(records, steps, cut, labels, break_after)
    notes += [states.note for _, states in seen if states.note]
    source = ", ".join(columns.source for columns, _ in tables)
    traces, scale, told = _paid(seen, rewards)
    return Traces(tuple(traces), length, source, scale, (*notes, *told), began)


def traces_of(data: Any, reading: Mapping[str, Any]) -> Traces:
    """What is given as traces, or read as ``read_traces`` does with these options."""
    if not isinstance(data, Traces):
        return read_traces(data, **reading)
    if reading:
        remedy = "Give it to read_traces."
        raise refusal(next(iter(reading)), "these traces are read already", "", remedy)
    return data


def _tables(data: Any) -> list[tuple[Columns, str]]:
    """Tables, and what to call the arm of one without names of arms."""
    if isinstance(data, str | PathLike):
        data = [data]
    if isinstance(data, list | tuple) and data and all(isinstance(p, str | PathLike) for p in data):
        return [(read_columns(p), "arm 1" if p == "-" else Path(p).stem) for p in data]
    return [(columns_of(data), "arm 1")]


def _arms(
    records: Records, steps: Ints, cut: Cut | None, labels: Sequence[str] | None,
    break_after: int | None,
) -> list[tuple[ArmTrace, ArmStates]]:  # fmt: skip
    ends = np.searchsorted(records.arms, np.arange(len(records.names) + 1))
    seen = []
    for k, name in enumerate(records.names):
        own = np.arange(ends[k], ends[k + 1])
        own = own[records.codes[own] >= 0]
        if len(own) < 2:
            raise _unseen(records, k, own)
        own = own[np.argsort(steps[own], kind="stable")]
        times, pieces = steps[own], _numbered(records.pieces[own], steps[own], break_after)
        if not (np.diff(pieces) == 0).any():
            message = "no two sightings of the arm are in the same piece"
            raise records.refuse(int(own[0]), message, f"{LEAVE_OUT}, or give longer pieces.")
        near = _next_to(times, pieces)
        states = arm_states(records, own, near, cut, labels)
        paid = records.rewards[own]
        seen.append((ArmTrace(name, times, states.states, paid, states.labels, pieces), states))
    return seen


def _unseen(records: Records, arm: int, own: Ints) -> ProblemError:
    remedy = f"{LEAVE_OUT}, or add sightings of it."
    if len(own):
        return records.refuse(int(own[0]), "this is the only sighting of the arm", remedy)
    column, name = records.columns[arm], records.names[arm]
    rows = np.flatnonzero(records.arms == arm)
    message = f"arm {name!r} is never seen"
    if len(rows):
        return records.refuse(int(rows[0]), message, remedy)
    return records.sheets[0].refuse_column(column, message, remedy)


def _numbered(pieces: Ints, times: Ints, break_after: int | None) -> Ints:
    """Pieces from 0 on, begun anew after long gaps."""
    new = np.diff(pieces) != 0
    if break_after is not None:
        new |= np.diff(times) > break_after
    return np.concatenate([[0], np.cumsum(new)]).astype(np.int64)


def _next_to(times: Ints, pieces: Ints) -> Ints:
    """Places of sightings that follow the one before at the commonest gap."""
    joined_up = np.diff(pieces) == 0
    gaps = np.where(joined_up, np.diff(times), 0)
    lengths, counts = np.unique(gaps[gaps > 0], return_counts=True)
    if not len(lengths):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(gaps == lengths[counts.argmax()]) + 1


def _paid(
    seen: Sequence[tuple[ArmTrace, ArmStates]], rewards: Mapping[str, float] | None
) -> tuple[list[ArmTrace], tuple[float, float], list[str]]:
    """The traces with rewards in [0, 1], what 0 and 1 stand for, and a note."""
    if rewards is not None:
        worth = [_by_label(trace, rewards) for trace, _ in seen]
    elif any((~np.isnan(trace.rewards)).any() for trace, _ in seen):
        worth = [trace.rewards for trace, _ in seen]
    else:
        worth = [states.worth for _, states in seen]
    known = np.concatenate(worth)
    known = known[~np.isnan(known)]
    if not len(known) or (known.min() >= 0 and known.max() <= 1):
        low, high, note = 0.0, 1.0, []
    else:
        low, high = float(known.min()), float(known.max())
        high = high if high > low else low + 1.0
        finite = bool(high / 2 - low / 2 < np.finfo(np.float64).max / 2)
        require(finite, "rewards", [low, high], "Give rewards of a usual size.")
        note = [f"Rewards are scaled: 0 stands for {low:.6g} and 1 for {high:.6g}."]
    paid = [
        replace(trace, rewards=(own - low) / (high - low))
        for (trace, _), own in zip(seen, worth, strict=True)
    ]
    return paid, (low, high), note


def _by_label(trace: ArmTrace, rewards: Mapping[str, float]) -> Floats:
    missing = [label for label in trace.labels if label not in rewards]
    if missing:
        close = guess(missing[0], rewards)
        remedy = f"{close}Give a reward for each of {', '.join(trace.labels)}."
        place, message = "rewards", f"arm {trace.name!r} has a state without a reward"
        raise refusal(place, message, shown(missing[0]), remedy)
    values = np.array([rewards[label] for label in trace.labels], dtype=np.float64)
    require(bool(np.isfinite(values).all()), "rewards", dict(rewards), "Give finite numbers.")
    return values[trace.states]


def check_reading(
    columns: Mapping[str, Any], lists: Mapping[str, Any], rewards: Any, cut: Any, tick: Any,
    break_after: Any,
) -> None:  # fmt: skip
    """Raise ProblemError for the first option that is none.

    columns: names of columns by what they hold. lists: lists of names. None stands for the default.
    """
    for key, name in columns.items():
        require(name is None or isinstance(name, str), key, name, "Give the name of a column.")
    for key, names in lists.items():
        remedy = "Give a list of names."
        require(names is None or _names(names), key, names, remedy)
    remedy = "Give a number for each state: { busy = 0, free = 1 }."
    require(rewards is None or _worth(rewards), "rewards", rewards, remedy)
    remedy = "Give the length of a step, above 0."
    require(tick is None or (is_number(tick) and tick > 0), "tick", tick, remedy)
    remedy = "Give a number of steps from 1 on."
    steps = break_after is None or is_whole(break_after, 1, MOST_STEPS)
    require(steps, "break_after", break_after, remedy)
    remedy = 'Give thresholds in increasing order, a number of states from 2 on, or "fit".'
    require(_cut(cut), "cut", cut, remedy)


def _names(value: Any) -> bool:
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Collection):
        return False
    return len(value) > 0 and all(isinstance(name, str) for name in value)


def _worth(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return all(isinstance(name, str) and is_number(worth) for name, worth in value.items())


def _cut(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value == "fit"):
        return True
    if is_whole(value):
        return 2 <= value <= 64
    if isinstance(value, str | Mapping | Real):
        return False
    try:
        levels = list(value)
    except TypeError:
        return False
    return bool(levels) and all(map(is_number, levels)) and all(a < b for a, b in pairwise(levels))
