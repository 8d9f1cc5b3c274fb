"""What data files may hold at most, and what all their readers share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from typing import NoReturn, TextIO

from restive.base.errors import refusal
from restive.base.machine import memory_allowed
from restive.base.words import count_text, shown, size_text
from restive.data.columns import number

MOST_BYTES = 1 << 30  # of a file
MOST_ROWS = 20_000_000
MOST_COLUMNS = 10_000
MOST_CELLS = 200_000_000  # rows times columns
LONGEST_CELL = 1000  # characters
LONGEST_LINE = 1 << 24
CHUNK = 1 << 14  # rows taken over at a time
CELL = 150  # bytes that a cell takes until it is part of a trace, measured on wide tables
SMALLER = "Take a part of it, or fewer columns."
SHORTER = f"Keep to {LONGEST_CELL:,} characters."


def refuse(place: str, message: str, value: str, remedy: str) -> NoReturn:
    raise refusal(place, message, value, remedy) from None


def forecast(stream: TextIO, cells: int, source: str) -> None:
    """Refuse a file as soon as what was read of it shows that the rest will not fit in memory."""
    share = max(stream.buffer.tell(), 1) / max(os.fstat(stream.fileno()).st_size, 1)
    require_memory(int(cells / min(share, 1.0)), source)


def require_memory(cells: int, source: str) -> None:
    if cells * CELL > memory_allowed():
        words = f"about {size_text(cells * CELL)} of {size_text(memory_allowed())}"
        refuse(source, "reading it would take too much memory", words, SMALLER)


def lines_of(stream: TextIO, source: str) -> Iterator[str]:
    """Lines, none of them so long that it alone would fill the memory."""
    for place in count(1):
        line = stream.readline(LONGEST_LINE)
        if not line:
            return
        if len(line) == LONGEST_LINE:
            refuse(f"{source}, line {place}", "the line is too long", shown(line), SMALLER)
        if "\0" in line:
            where = f"{source}, line {place}, column {line.index(chr(0)) + 1}"
            refuse(where, "a NUL byte, which no text has", "", "Save the file as UTF-8 text.")
        yield line


def heading(row: list[str], source: str) -> list[str]:
    names = [name.strip() for name in row]
    if not any(names):
        refuse(source, "the file is empty", "", "Give a line of column names and then the data.")
    if len(names) > MOST_COLUMNS:
        refuse(f"{source}, line 1", "too many columns", count_text(len(names)), SMALLER)
    first: dict[str, int] = {}
    for k, name in enumerate(names):
        place, remedy = f"{source}, line 1, column {k + 1}", "Give every column its own name."
        if not name:
            refuse(place, "the column has no name", "", remedy)
        if len(name) > LONGEST_CELL:
            refuse(place, "the name is too long", shown(name), remedy)
        if first.setdefault(name, k) < k:
            message = f"column {first[name] + 1} is called that too"
            refuse(place, message, shown(name), remedy)
    if all(number(name) is not None for name in names):
        remedy = "Begin the file with a line of column names."
        refuse(f"{source}, line 1", "there are numbers where names belong", shown(row), remedy)
    return names
