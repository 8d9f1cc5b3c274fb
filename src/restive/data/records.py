"""Sightings of all arms in one list, each with its place in the data, whatever their layout.

First which column plays which part (``Roles``): one column an arm, or columns of arm, time, state
and reward. Then what stands in them (``Records``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import ProblemError, refusal
from restive.base.words import guess
from restive.data.clock import Clock, read_times
from restive.data.columns import Coded, Columns, coded, number

MOST_ARMS = 10_000
LARGEST = 1e100  # of a reward; means of larger ones could overflow
# Names by which a column is recognised where none is named by an option.
KNOWN = {
    "arm": ("arm", "arms", "channel", "location", "machine", "sensor", "site"),
    "time": ("time", "timestamp", "datetime", "date", "step", "t", "slot"),
    "state": ("state", "status", "observation", "seen"),
    "reward": ("reward", "rewards", "payoff"),
    "piece": ("piece", "session", "run"),
}


@dataclass(frozen=True)
class Roles:
    """Names of columns; ``arms`` has one an arm if the table is wide, else ``state`` is there."""

    arm: str | None
    time: str | None
    state: str | None
    reward: str | None
    piece: str | None
    arms: tuple[str, ...] = ()


def roles_of(columns: Columns, named: dict[str, str | None], arms: Sequence[str] | None) -> Roles:
    """What was named, what is recognised by its name, and what is left."""
    names = list(columns.cells)
    for role, name in named.items():
        if name is not None and name not in names:
            raise _unknown(columns, role, name)
    taken = {name for name in named.values() if name}
    part = {role: named[role] or _recognised(role, names, taken) for role in KNOWN}
    lonely = not named["arm"] and not set(names) - {name for name in part.values() if name}
    if not part["state"] and (not part["arm"] or lonely):  # a machine by itself is an arm
        return _wide(columns, part, arms)
    state = part["state"] or _only_one_left(columns, part)
    return Roles(part["arm"], part["time"], state, part["reward"], part["piece"])


def _recognised(role: str, names: list[str], taken: set[str]) -> str | None:
    free = {name.lower(): name for name in reversed(names) if name not in taken}
    return next((free[known] for known in KNOWN[role] if known in free), None)


def _unknown(columns: Columns, role: str, name: str) -> ProblemError:
    names = list(columns.cells)
    close = guess(name, names).strip() or f"The columns are {', '.join(names[:12])}."
    return columns.refuse_column(name, f"there is no such column for the {role}", close)


def _wide(columns: Columns, part: dict[str, str | None], arms: Sequence[str] | None) -> Roles:
    """One column an arm: all but time and piece, or those of ``arms``."""
    if part["reward"]:
        remedy = "Name the column of states (--state), or give rewards by state (--rewards)."
        raise columns.refuse_column(part["reward"], "rewards, but no column of states", remedy)
    others = {part["time"], part["piece"]}
    chosen = list(arms or [name for name in columns.cells if name not in others])
    for name in chosen:
        if name not in columns.cells:
            raise _unknown(columns, "arm", name)
    if not chosen:
        remedy = "Give one column an arm, or columns of arm, time and state."
        raise refusal(columns.source or "data", "there are no arms", "", remedy)
    return Roles(None, part["time"], None, None, part["piece"], tuple(chosen))


def _only_one_left(columns: Columns, part: dict[str, str | None]) -> str:
    left = [name for name in columns.cells if name not in part.values()]
    if len(left) == 1:
        return left[0]
    place = columns.source or "data"
    remedy = "Name the column with state (--state on the command line)."
    names = ", ".join(left[:12]) or "no other columns"
    raise refusal(place, "it is unclear which column holds the state", names, remedy)


@dataclass(frozen=True, eq=False)
class Records:
    """n sightings by arm and piece, those of an arm and piece in the order of the data.

    arms: (n,) numbers of names. times: None if the rows of an arm are its steps. words: distinct
    cells, of which ``codes`` are numbers, -1 where nothing was seen. rows, sheets: where from.
    """

    names: tuple[str, ...]
    sheets: tuple[Columns, ...]
    columns: tuple[str, ...]  # the column of states of each arm
    arms: Ints
    times: Floats | None
    dates: bool
    codes: Ints
    words: list[Any]
    rewards: Floats
    pieces: Ints
    rows: Ints
    sheet: Ints
    time_column: str = ""

    def refuse(self, k: int, message: str, remedy: str, column: str = "") -> ProblemError:
        """The error that sighting k is wrong, in its column of states unless another is named."""
        column = column or self.columns[self.arms[k]]
        sheet = self.sheets[int(self.sheet[k])]
        return sheet.refuse(int(self.rows[k]), column, message, remedy)

    @property
    def clock(self) -> Clock:
        assert self.times is not None
        return Clock(self.times, self.dates)


def records_of(columns: Columns, roles: Roles, only: Sequence[str] | None, alone: str) -> Records:
    """Sightings of a table; ``alone`` names the arm of one that has no column of arms."""
    clock = read_times(columns, roles.time) if roles.time else None
    times = None if clock is None else clock.times
    pieces = _codes(columns, roles.piece)
    if roles.arms:
        names = states = roles.arms
        arms, rows = np.divmod(np.arange(len(names) * len(columns)), len(columns))
        times = np.arange(len(columns), dtype=np.float64) if times is None else times
        codes, words = _side_by_side([coded(columns.cells[name]) for name in names])
    else:
        assert roles.state is not None
        names, arms, rows = _arms(columns, roles.arm, only) if roles.arm else _alone(columns, alone)
        cells = coded(columns.cells[roles.state])
        states, codes, words = (roles.state,) * len(names), cells.codes[rows], cells.words
    rewards = _rewards(columns, roles.reward)
    order = np.lexsort((pieces[rows], arms))
    rows = rows[order]
    return Records(
        names, (columns,), states, arms[order], None if times is None else times[rows],
        clock is not None and clock.dates, codes[order], words, rewards[rows], pieces[rows], rows,
        np.zeros(len(rows), dtype=np.int64), roles.time or "",
    )  # fmt: skip


def _side_by_side(parts: Sequence[Coded]) -> tuple[Ints, list[Any]]:
    """Cells of several columns one after the other, and all their words."""
    first = np.cumsum([0, *(len(part.words) for part in parts)])
    pairs = zip(parts, first[:-1], strict=True)
    codes = [np.where(part.codes >= 0, part.codes + known, -1) for part, known in pairs]
    return np.concatenate(codes), [word for part in parts for word in part.words]


def _alone(columns: Columns, name: str) -> tuple[tuple[str, ...], Ints, Ints]:
    return (name,), np.zeros(len(columns), dtype=np.int64), np.arange(len(columns))


def _codes(columns: Columns, name: str | None) -> Ints:
    if name is None:
        return np.zeros(len(columns), dtype=np.int64)
    return _named(columns, name, "piece").codes


def _named(columns: Columns, name: str, what: str) -> Coded:
    """The cells of a column that must name something in every row."""
    cells = coded(columns.cells[name])
    if missing := np.flatnonzero(cells.codes < 0).tolist():
        message = f"there is no name of the {what}"
        raise columns.refuse(missing[0], name, message, "Name it in every row.")
    return cells


def _arms(
    columns: Columns, column: str, only: Sequence[str] | None
) -> tuple[tuple[str, ...], Ints, Ints]:
    """Names of the arms, those of ``only`` in that order; the rows that are theirs, and whose."""
    cells = _named(columns, column, "arm")
    if len(cells.words) > MOST_ARMS:
        message = f"more than {MOST_ARMS:,} arms"
        raise columns.refuse_column(column, message, "Name the right column of arms.")
    words = [str(word) for word in cells.words]  # 1 and "1" are one arm
    names = tuple(dict.fromkeys(words))
    chosen = names if only is None else tuple(only)
    for name in chosen:
        if name not in names:
            remedy = f"The arms are {', '.join(names[:12])}."
            raise columns.refuse_column(column, f"there is no arm {name!r}", remedy)
    place = {name: k for k, name in enumerate(chosen)}
    arms = np.array([place.get(word, -1) for word in words])[cells.codes]
    rows = np.flatnonzero(arms >= 0)
    return chosen, arms[rows], rows


def _rewards(columns: Columns, name: str | None) -> Floats:
    if name is None:
        return np.full(len(columns), np.nan)
    cells = coded(columns.cells[name])
    values = [number(word) if not isinstance(word, bool) else float(word) for word in cells.words]
    for code, value in enumerate(values):
        if value is None or abs(value) > LARGEST:
            row = int(np.flatnonzero(cells.codes == code)[0])
            message = "the reward is not a number" if value is None else "the reward is too large"
            write = "a number" if value is None else "it in a larger unit"
            remedy = f"Write {write}, or leave the cell empty."
            raise columns.refuse(row, name, message, remedy)
    return np.array([*values, np.nan], dtype=np.float64)[cells.codes]


def joined(parts: Sequence[Records]) -> Records:
    """Several tables as one.

    If every table has arms of its own, they share one clock. If an arm is in several, each table
    is a piece of its own.
    """
    if len(parts) == 1:
        return parts[0]
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    shared = len(names) < sum(len(part.names) for part in parts)
    columns = {n: c for part in parts for n, c in zip(part.names, part.columns, strict=True)}
    codes, words = _side_by_side([Coded(part.codes, part.words) for part in parts])
    arms, pieces, used = [], [], 0
    for part in parts:
        arms.append(np.array([names.index(name) for name in part.names])[part.arms])
        pieces.append(part.pieces + used)
        used += int(part.pieces.max(initial=-1)) + 1 if shared else 0
    order = np.lexsort((np.concatenate(pieces), np.concatenate(arms)))
    sheet = np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts])
    clocked = [part.times for part in parts if part.times is not None]
    return Records(
        names, tuple(part.sheets[0] for part in parts), tuple(columns[name] for name in names),
        np.concatenate(arms)[order],
        np.concatenate(clocked)[order] if len(clocked) == len(parts) else None,
        all(part.dates for part in parts), codes[order], words,
        np.concatenate([part.rewards for part in parts])[order], np.concatenate(pieces)[order],
        np.concatenate([part.rows for part in parts])[order], sheet[order],
        parts[0].time_column,
    )  # fmt: skip
