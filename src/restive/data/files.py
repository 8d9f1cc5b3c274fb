"""Data files: CSV, JSON lines and Parquet, read into columns of cells within limits."""

from __future__ import annotations

import errno
import io
import json
import re
import stat
import sys
from array import array
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NoReturn, TextIO

from restive.base.errors import ProblemError
from restive.base.words import count_text, shown, size_text
from restive.data import limits
from restive.data.columns import Columns
from restive.data.csv_files import read_csv
from restive.data.limits import SMALLER, forecast, heading, lines_of, refuse
from restive.model.files import nearby

READERS = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl",
           ".parquet": "parquet", ".pq": "parquet"}  # fmt: skip
PACKED = {".gz": "gunzip -c", ".bz2": "bunzip2 -c", ".xz": "xz -dc", ".zst": "zstd -dc",
          ".zip": "unzip -p"}  # fmt: skip
JSON_WORDS = {
    "Unterminated string starting at": "a quote that is never closed",
    "Expecting property name enclosed in double quotes": "a name in double quotes belongs here",
    "Expecting ':' delimiter": "a colon belongs here",
    "Expecting ',' delimiter": "a comma or a closing bracket belongs here",
    "Expecting value": "a value belongs here",
    "Extra data": "the object has ended, and the line goes on",
    "Illegal trailing comma before end of object": "a comma after the last entry",
}


def read_columns(path: str | Path) -> Columns:
    """The columns of a file, whose suffix says what is in it; "-" is standard input."""
    if str(path) == "-":
        return _piped(sys.stdin.buffer)
    target = Path(path)
    if target.is_dir():
        refuse(str(path), "this is a folder", "", "Give the paths of data files in it.")
    kind = READERS.get(target.suffix.lower())
    if kind is None:
        remedy = "Give .csv, .tsv, .jsonl (one JSON object a line) or .parquet."
        if unpack := PACKED.get(target.suffix.lower()):
            remedy = f"Unpack it first, or as it is read: {unpack} {target.name} | restive fit -"
        refuse(str(path), "unknown kind of file", shown(target.suffix), remedy)
    try:
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file")  # a pipe may never end
        if status.st_size > limits.MOST_BYTES:
            refuse(str(path), "the file is too large", size_text(status.st_size), SMALLER)
        if kind == "parquet":
            return _parquet(target)
        with open(target, encoding="utf-8-sig", newline="") as stream:
            return read_csv(stream, str(path)) if kind == "csv" else _json_lines(stream, str(path))
    except UnicodeDecodeError:
        with open(target, "rb") as lines:
            _refuse_lines(lines, str(path))
    except OSError as error:
        refuse(str(path), error.strerror or str(error), "", nearby(target))


def _piped(stream: BinaryIO) -> Columns:
    """CSV, or JSON lines if it begins with an object; kept in a file, whose size is then known."""
    source = "standard input"
    with TemporaryFile() as file:
        file.write(stream.read(limits.MOST_BYTES + 1))
        if file.tell() > limits.MOST_BYTES:
            refuse(source, "it is too large", f"more than {size_text(limits.MOST_BYTES)}", SMALLER)
        file.seek(0)
        objects = file.peek(80).lstrip()[:1] == b"{"
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        try:
            return _json_lines(text, source) if objects else read_csv(text, source)
        except UnicodeDecodeError:
            file.seek(0)
            _refuse_lines(file, source)


def _refuse_lines(lines: Iterable[bytes], source: str) -> NoReturn:
    """Say where they stop being UTF-8; the decoder knows only its own buffer."""
    for line, content in enumerate(lines, 1):
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            place = f"{source}, line {line}, column {error.start + 1}"
            byte = f"byte {content[error.start]:#04x}"
            wide = line == 1 and content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
            message = "UTF-16, not UTF-8 text" if wide else "not UTF-8 text"
            refuse(place, message, byte, "Save the file in UTF-8.")
    refuse(source, "not UTF-8 text", "", "Save the file in UTF-8.")


def _json_lines(stream: TextIO, source: str) -> Columns:
    cells: dict[str, list[Any]] = {}
    places = array("q")
    for line, text in enumerate(lines_of(stream, source), 1):
        if not text.strip():
            continue
        record = _record(text, f"{source}, line {line}")
        for name in record:  # in the order of the file, whatever process reads it
            cells.setdefault(name, [None] * len(places))
        for name, column in cells.items():
            column.append(record.get(name))
        places.append(line)
        most = min(limits.MOST_ROWS, limits.MOST_CELLS // len(cells))
        if len(cells) > limits.MOST_COLUMNS or len(places) > most:
            refuse(f"{source}, line {line}", "too many rows or names", "", SMALLER)
        if len(places) % limits.CHUNK == 0:
            forecast(stream, len(places) * len(cells), source)
    if not places:
        refuse(source, "the file is empty", "", "Give one JSON object a line.")
    head = heading(list(cells), source)
    return Columns(source, dict(zip(head, cells.values(), strict=True)), places)


def _record(text: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except RecursionError:
        refuse(place, "nested too deeply", "", "Write plain values: numbers, text, null.")
    except ValueError as error:
        _refuse_json(error, text, place)
    if not isinstance(record, dict) or not record:
        refuse(place, "not an object", shown(record), 'Write {"arm": ..., "state": ...}.')
    for name, cell in record.items():
        if isinstance(cell, dict | list):
            remedy = "Write plain values: numbers, text, null."
            refuse(f"{place}, column {shown(name)}", "not a plain value", shown(cell), remedy)
        if isinstance(cell, str) and len(cell) > limits.LONGEST_CELL:
            refuse(f"{place}, column {shown(name)}", "the cell is too long", shown(cell),
                    limits.SHORTER)  # fmt: skip
        if isinstance(cell, int) and abs(cell) >= 2**63:
            refuse(f"{place}, column {shown(name)}", "a number far too large", shown(cell),
                    "Correct it.")  # fmt: skip
    return record


def _refuse_json(error: ValueError, text: str, place: str) -> NoReturn:
    if not isinstance(error, json.JSONDecodeError):  # an integer of thousands of digits
        digits = re.search(r"\d{1000,}", text)
        start = digits.start() if digits else 0
        where = f"{place}, column {start + 1}"
        refuse(where, "a number far too large", shown(text[start:].strip()), "Correct it.")
    message = JSON_WORDS.get(error.msg, "this is not JSON")
    rest = text[error.pos :].strip()
    words = shown(rest) if rest else "the end of the line"
    refuse(f"{place}, column {error.pos + 1}", message, words, "Write one JSON object a line.")


def _parquet(path: Path) -> Columns:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        remedy = "Install it with: pip install 'restive[parquet]'"
        refuse(str(path), "Parquet needs pyarrow, which is not installed", "", remedy)
    try:
        with parquet.ParquetFile(path) as file:
            rows, width = file.metadata.num_rows, file.metadata.num_columns
            most = min(limits.MOST_ROWS, limits.MOST_CELLS // max(width, 1))
            if not 0 < rows <= most or width > limits.MOST_COLUMNS:
                size = f"{count_text(rows)} rows, {count_text(width)} columns"
                refuse(str(path), "no rows" if not rows else "too large", size, SMALLER)
            limits.require_memory(rows * width, str(path))
            table = file.read()
    except (ArrowException, ValueError) as error:
        if isinstance(error, ProblemError):
            raise
        with open(path, "rb") as stream:
            opening = f"{stream.read(12)!r} at its beginning"
        remedy = "Write it anew; if it is text, call it .csv or .jsonl."
        refuse(str(path), "not a Parquet file, or a damaged one", opening, remedy)
    head = heading(list(table.column_names), str(path))
    cells = {name: table.column(k).to_pylist() for k, name in enumerate(head)}
    for name, column in cells.items():
        for row, cell in enumerate(column):
            if isinstance(cell, dict | list | bytes):
                place = f"{path}, row {row}, column {shown(name)}"
                refuse(place, "not a plain value", shown(cell), "Keep plain columns only.")
    return Columns(str(path), cells)
