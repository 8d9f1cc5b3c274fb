"""Sightings of all arms in one list, each with its place in the data, whatever their layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import ProblemError
from restive.data.clock import Clock, read_times
from restive.data.columns import Columns, coded, number
from restive.data.roles import Roles

MOST_ARMS = 10_000
LARGEST = 1e100  # of a reward; means of larger ones could overflow


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
    pieces = _codes(columns, roles.piece)
    if roles.arms:
        return _wide(columns, roles, clock, pieces)
    return _long(columns, roles, clock, pieces, only, alone)


def _wide(columns: Columns, roles: Roles, clock: Clock | None, pieces: Ints) -> Records:
    many, steps = len(roles.arms), len(columns)
    codes, words, known = np.empty(many * steps, dtype=np.int64), [], 0
    for k, name in enumerate(roles.arms):
        cells = coded(columns.cells[name])
        shifted = np.where(cells.codes >= 0, cells.codes + known, -1)
        codes[k * steps : (k + 1) * steps] = shifted
        words += cells.words
        known += len(cells.words)
    order = np.argsort(pieces, kind="stable")
    rows = np.tile(order, many)
    codes = codes.reshape(many, steps)[:, order].ravel()
    times = clock.times if clock else np.arange(steps, dtype=np.float64)
    return Records(
        roles.arms, (columns,), roles.arms, np.repeat(np.arange(many), steps),
        np.tile(times[order], many),
        clock is not None and clock.dates, codes, words, np.full(many * steps, np.nan),
        np.tile(pieces[order], many), rows, np.zeros(many * steps, dtype=np.int64),
        roles.time or "",
    )  # fmt: skip


def _long(
    columns: Columns, roles: Roles, clock: Clock | None, pieces: Ints,
    only: Sequence[str] | None, alone: str,
) -> Records:  # fmt: skip
    assert roles.state is not None
    names: tuple[str, ...] = (alone,)
    arms = np.zeros(len(columns), dtype=np.int64)
    if roles.arm:
        names, arms = _arms(columns, roles.arm)
    cells, rewards = coded(columns.cells[roles.state]), _rewards(columns, roles)
    rows = np.arange(len(columns))
    if only is not None and roles.arm:
        names, arms, rows = _chosen(columns, roles.arm, names, arms, only)
    order = np.lexsort((pieces[rows], arms))
    rows = rows[order]
    return Records(
        names, (columns,), (roles.state,) * len(names), arms[order],
        clock.times[rows] if clock else None, clock is not None and clock.dates, cells.codes[rows],
        cells.words, rewards[rows], pieces[rows], rows, np.zeros(len(rows), dtype=np.int64),
        roles.time or "",
    )  # fmt: skip


def _codes(columns: Columns, name: str | None) -> Ints:
    if name is None:
        return np.zeros(len(columns), dtype=np.int64)
    codes = coded(columns.cells[name]).codes
    for row in np.flatnonzero(codes < 0)[:1]:
        raise columns.refuse(
            int(row), name, "there is no name of the piece", "Name it in every row."
        )
    return codes


def _arms(columns: Columns, name: str) -> tuple[tuple[str, ...], Ints]:
    cells = coded(columns.cells[name])
    for row in np.flatnonzero(cells.codes < 0)[:1]:
        raise columns.refuse(int(row), name, "there is no name of the arm", "Name it in every row.")
    names = tuple(str(word) for word in cells.words)
    if len(names) > MOST_ARMS:
        message = f"more than {MOST_ARMS:,} arms"
        raise columns.refuse_column(name, message, "Name the right column of arms.")
    unique = {text: k for k, text in enumerate(dict.fromkeys(names))}  # 1 and "1" are one arm
    return tuple(unique), np.array([unique[text] for text in names])[cells.codes]


def _chosen(
    columns: Columns, column: str, names: tuple[str, ...], arms: Ints, only: Sequence[str]
) -> tuple[tuple[str, ...], Ints, Ints]:
    """The arms named, in that order, and the rows that are theirs."""
    number_of = {name: k for k, name in enumerate(names)}
    for name in only:
        if name not in number_of:
            remedy = f"The arms are {', '.join(names[:12])}."
            raise columns.refuse_column(column, f"there is no arm {name!r}", remedy)
    place = np.full(len(names), -1)
    place[[number_of[name] for name in only]] = np.arange(len(only))
    rows = np.flatnonzero(place[arms] >= 0)
    return tuple(only), place[arms[rows]], rows


def _rewards(columns: Columns, roles: Roles) -> Floats:
    if roles.reward is None:
        return np.full(len(columns), np.nan)
    cells = coded(columns.cells[roles.reward])
    values = [number(word) if not isinstance(word, bool) else float(word) for word in cells.words]
    for code, value in enumerate(values):
        if value is None or abs(value) > LARGEST:
            row = int(np.flatnonzero(cells.codes == code)[0])
            message = "the reward is not a number" if value is None else "the reward is too large"
            write = "a number" if value is None else "it in a larger unit"
            remedy = f"Write {write}, or leave the cell empty."
            raise columns.refuse(row, roles.reward, message, remedy)
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
    arms, codes, pieces, known, used = [], [], [], 0, 0
    for part in parts:
        arms.append(np.array([names.index(name) for name in part.names])[part.arms])
        codes.append(np.where(part.codes >= 0, part.codes + known, -1))
        pieces.append(part.pieces + used)
        known += len(part.words)
        used += int(part.pieces.max(initial=-1)) + 1 if shared else 0
    order = np.lexsort((np.concatenate(pieces), np.concatenate(arms)))
    sheet = np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts])
    clocked = [part.times for part in parts if part.times is not None]
    return Records(
        names, tuple(part.sheets[0] for part in parts), tuple(columns[name] for name in names),
        np.concatenate(arms)[order],
        np.concatenate(clocked)[order] if len(clocked) == len(parts) else None,
        all(part.dates for part in parts), np.concatenate(codes)[order],
        [word for part in parts for word in part.words],
        np.concatenate([part.rewards for part in parts])[order], np.concatenate(pieces)[order],
        np.concatenate([part.rows for part in parts])[order], sheet[order],
        parts[0].time_column,
    )  # fmt: skip
