"""CSV files, whatever their separator, as columns of cells."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, chain, islice
from typing import Any, NoReturn, TextIO

from restive.base.words import count_text, shown
from restive.data import limits
from restive.data.columns import Columns
from restive.data.limits import SMALLER, forecast, heading, lines_of, refuse

COMMA = re.compile(r"\s*([+-]?\d+),(\d+)\s*")  # a number as much of Europe writes it


def read_csv(stream: TextIO, source: str) -> Columns:
    lines = lines_of(stream, source)
    first = next(lines, "")
    marks = {mark: first.count(mark) for mark in ",;\t|"}
    mark = max(marks, key=lambda mark: marks[mark])
    reader = csv.reader(chain([first], lines), delimiter=mark, strict=True)
    try:
        head = heading(next((row for row in reader if row), []), source)
        columns = _collected(reader, head, source, stream)
    except csv.Error:
        stream.seek(0)
        _refuse_quotes(lines_of(stream, source), mark, source)
    _check_separated(columns)
    if mark != ",":
        cells = {name: _pointed(column) for name, column in columns.cells.items()}
        columns = Columns(source, cells, columns.lines)
    return columns


def _refuse_quotes(lines: Iterator[str], mark: str, source: str) -> NoReturn:
    """Name the cell whose quotes go wrong; a reader stops where it notices, which can be far on."""
    row, head, begin = list[str](), list[str](), 0

    def kept() -> Iterator[str]:
        for line in lines:
            row.append(line)
            yield line

    reader = csv.reader(kept(), delimiter=mark, strict=True)
    with suppress(csv.Error):
        head = next(reader)
        while True:
            row.clear()
            begin = reader.line_num
            next(reader)
    whole = re.compile(rf'("([^"]|"")*"|[^"{mark}][^{mark}]*|)({re.escape(mark)}|\s*$)')
    start, cell = 0, 0
    while (match := whole.match(row[0], start)) and match.end() < len(row[0]):
        start, cell = match.end(), cell + 1
    column = shown(head[cell].strip()) if cell < len(head) else cell + 1
    place, rest = f"{source}, line {begin + 1}, column {column}", row[0][start:].strip()
    if not rest.startswith('"'):  # the reader has a limit of its own
        refuse(place, "the cell is too long", shown(rest), limits.SHORTER)
    remedy = 'Close them there, and write "" for a quote inside quotes.'
    refuse(place, "the quotes do not close where the cell ends", shown(rest), remedy)


def _check_separated(columns: Columns) -> None:
    """One column of several words each is a table whose separator was not seen."""
    ((name, cells), *others) = columns.cells.items()
    width = len(name.split())
    if not others and width > 1 and all(len(cell.split()) == width for cell in cells[:100]):
        message = f"one column of {width} words: are columns separated by spaces?"
        remedy = "Separate them by commas, semicolons or tabs."
        refuse(f"{columns.source}, line 1, column 1", message, shown(name), remedy)


def _pointed(column: Sequence[str]) -> Sequence[str]:
    """Numbers with a decimal comma as those with a point, where commas separate nothing."""
    points = {cell: COMMA.sub(r"\1.\2", cell) for cell in set(column) if COMMA.fullmatch(cell)}
    return [points.get(cell, cell) for cell in column] if points else column


def _collected(reader: Any, head: list[str], source: str, stream: TextIO) -> Columns:
    """The rows by columns; equal cells share their memory."""
    cells: list[list[str]] = [[] for _ in head]
    lines, shared = array("q"), dict[str, str]()
    most = min(limits.MOST_ROWS, limits.MOST_CELLS // len(head))
    for places, rows in _chunks(reader):
        if set(map(len, rows)) != {len(head)}:
            _refuse_width(rows, places, head, source)
        lines.extend(places)
        if len(lines) > most:
            refuse(source, "too many rows", f"more than {count_text(most)}", SMALLER)
        forecast(stream, len(lines) * len(head), source)
        for name, column, part in zip(head, cells, zip(*rows, strict=True), strict=True):
            if max(map(len, part)) > limits.LONGEST_CELL:
                _refuse_longest(part, f"{source}, line", places, name)
            column.extend(map(shared.setdefault, part, part))
        if len(shared) > 1 << 20:
            shared.clear()
    if not lines:
        remedy = "Give at least two sightings of an arm."
        refuse(source, "there are no rows below the heading", "", remedy)
    return Columns(source, dict(zip(head, cells, strict=True)), lines)


def _chunks(reader: Any) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
    """Rows, some at a time, and the line at which each ends; blank lines are left out."""
    while True:
        begin = reader.line_num
        rows = list(islice(reader, limits.CHUNK))
        if not rows:
            return
        places: Sequence[int] = range(begin + 1, begin + 1 + len(rows))
        if reader.line_num - begin != len(rows):  # cells with line breaks in quotes
            breaks = [1 + sum(cell.count("\n") for cell in row) for row in rows]
            places = [begin + lines for lines in accumulate(breaks)]
        if not all(rows):
            pairs = [(place, row) for place, row in zip(places, rows, strict=True) if row]
            places, rows = [place for place, _ in pairs], [row for _, row in pairs]
        if rows:
            yield places, rows


def _refuse_width(
    rows: list[list[str]], places: Sequence[int], head: list[str], source: str
) -> NoReturn:
    k = next(k for k, row in enumerate(rows) if len(row) != len(head))
    cells, width = len(rows[k]), len(head)
    column = str(width + 1) if cells > width else shown(head[cells])
    place = f"{source}, line {places[k]}, column {column}"
    remedy = "Give every row as many cells as the heading; " + (
        "put quotes around a cell that holds a separator."
        if cells > width
        else "an empty cell needs its separator too."
    )
    refuse(place, f"{width} cells were expected", f"{cells} cells", remedy)


def _refuse_longest(part: Sequence[str], place: str, lines: Sequence[int], name: str) -> NoReturn:
    row = max(range(len(part)), key=lambda k: len(part[k]))
    where = f"{place} {lines[row]}, column {shown(name)}"
    refuse(where, "the cell is too long", shown(part[row]), limits.SHORTER)
