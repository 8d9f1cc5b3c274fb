"""A table of raw cells, whatever it came from, that knows where each of its cells stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.arrays import Ints
from restive.base.errors import ProblemError, refusal
from restive.base.words import shown

MISSING = {"", "na", "n/a", "nan", "null", "-", "?"}  # words for a cell that holds nothing


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of equal length; ``lines`` says at which line of the file each row stands."""

    source: str
    cells: Mapping[str, Sequence[Any]]
    lines: Sequence[int] | None = None  # None: rows are counted from 0

    def __len__(self) -> int:
        return len(next(iter(self.cells.values()), ()))

    def place(self, row: int, column: str) -> str:
        where = f"row {row}" if self.lines is None else f"line {self.lines[row]}"
        parts = [self.source, where, f"column {shown(column)}"]
        return ", ".join(part for part in parts if part)

    def refuse(self, row: int, column: str, message: str, remedy: str) -> ProblemError:
        """The error that a cell is wrong."""
        value = shown(_plain(self.cells[column][row])) if column in self.cells else ""
        return refusal(self.place(row, column), message, value, remedy)

    def refuse_column(self, column: str, message: str, remedy: str) -> ProblemError:
        place = f"{self.source}, column {shown(column)}" if self.source else f"column {column}"
        return refusal(place, message, "", remedy)


@dataclass(frozen=True, eq=False)
class Coded:
    """Cells as numbers of distinct words; -1 where a cell holds nothing."""

    codes: Ints  # (n,)
    words: list[Any]  # str, bool, int or float


def is_missing(cell: Any) -> bool:
    if cell is None:
        return True
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    try:
        return bool(cell != cell)  # nan, NaT
    except TypeError:  # a missing value that does not even say whether it equals itself
        return True


def coded(values: Iterable[Any]) -> Coded:
    """Distinct words in order of appearance.

    >>> coded(["on", "", "off", "on"]).codes
    array([ 0, -1,  1,  0])
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return _coded_numbers(values)
    keyed: list[Any] = list(values)
    if bool in set(map(type, keyed)):  # True and 1 are equal to Python, but not the same cell
        keyed = [_key(value) for value in keyed]
    seen = {key: code for code, key in enumerate(dict.fromkeys(keyed))}
    rough = np.fromiter(map(seen.__getitem__, keyed), np.int64, len(keyed))
    words: dict[Any, int] = {}
    final = np.empty(len(seen), dtype=np.int64)
    for key, code in seen.items():
        word = _word(key)
        final[code] = -1 if is_missing(word) else words.setdefault(_key(word), len(words))
    return Coded(final[rough] if len(rough) else rough, [_word(key) for key in words])


def _coded_numbers(values: NDArray[Any]) -> Coded:
    words, codes = np.unique(values, return_inverse=True)
    last = np.isnan(words[-1]) if len(words) and words.dtype.kind == "f" else False
    codes = np.asarray(codes, dtype=np.int64)
    if last:  # nan sorts last
        codes[codes == len(words) - 1] = -1
        words = words[:-1]
    return Coded(codes, words.tolist())


def _word(key: Any) -> Any:
    word = key[1] if isinstance(key, tuple) else key
    return word.strip() if isinstance(word, str) else _plain(word)


def _key(word: Any) -> Any:
    return (True, word) if type(word) is bool else word


def _plain(cell: Any) -> Any:
    """A NumPy scalar as Python's own."""
    return cell.item() if isinstance(cell, np.generic) else cell


def number(word: Any) -> float | None:
    """The finite number that a word is; None if it is none."""
    if isinstance(word, bool):
        return None
    if isinstance(word, str) and "_" in word:
        return None
    try:
        value = float(word)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def columns_of(data: Any) -> Columns:
    """Columns of an array (steps, arms), a mapping of names to values, or a data frame.

    A data frame is whatever has named columns and gives them out by ``frame[name]``. An index of
    dates gives the times.
    """
    if isinstance(data, Mapping):
        return _checked({str(name): _values(column) for name, column in data.items()})
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if names is not None and not isinstance(data, np.ndarray):
        return _checked(_index(data, {str(name): _values(data[name]) for name in names}))
    table = np.asarray(data)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2:
        remedy = "Give one row a step and one column an arm."
        raise refusal("data", "not a table", f"shape {table.shape}", remedy)
    return _checked({f"arm {k + 1}": _unseen(table[:, k]) for k in range(table.shape[1])})


def _index(frame: Any, cells: dict[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """The columns, led by the frame's index if that holds dates and no column does."""
    index = getattr(frame, "index", None)
    dated = any(getattr(column, "dtype", np.dtype(int)).kind == "M" for column in cells.values())
    if getattr(getattr(index, "dtype", None), "kind", "") != "M" or dated or "time" in cells:
        return cells
    return {"time": _values(index), **cells}


def _unseen(column: NDArray[Any]) -> Sequence[Any]:
    """Negative whole numbers mean that nothing was seen."""
    if column.dtype.kind == "i" and (column < 0).any():
        return np.where(column < 0, np.nan, column)  # type: ignore[return-value]
    return column if column.dtype.kind in "iuf" else column.tolist()  # type: ignore[return-value]


def _values(column: Any) -> Sequence[Any]:
    """The cells of a column of a frame, as an array if they are numbers or dates."""
    if isinstance(column, list | tuple | range):
        return list(column)
    if not isinstance(column, np.ndarray):
        if hasattr(column, "to_pylist"):  # Arrow, where to_numpy() turns missing numbers around
            return list(column.to_pylist())
        column = column.to_numpy() if hasattr(column, "to_numpy") else np.array(list(column))
    if column.ndim != 1:
        remedy = "Give one value for each row."
        raise refusal("data", "not a column", f"shape {column.shape}", remedy)
    return column if column.dtype.kind in "iufM" else column.tolist()  # type: ignore[no-any-return]


def _check_plain(name: str, cells: Sequence[Any]) -> None:
    if isinstance(cells, np.ndarray):
        return
    for row, cell in enumerate(cells):
        if isinstance(cell, list | tuple | dict | set | np.ndarray | bytes):
            remedy = "Give plain values: numbers, text, None."
            place = f"row {row}, column {shown(name)}"
            raise refusal(place, "not a plain value", shown(cell), remedy)


def _checked(cells: dict[str, Sequence[Any]]) -> Columns:
    for name, column in cells.items():
        _check_plain(name, column)
    lengths = {name: len(column) for name, column in cells.items()}
    if not cells or not max(lengths.values()):
        remedy = "Give at least two sightings of an arm."
        raise refusal("data", "there is nothing in it", "", remedy)
    if len(set(lengths.values())) > 1:
        remedy = "Give columns of the same length, nan where nothing was seen."
        raise refusal("data", "columns of different length", str(lengths), remedy)
    return Columns("", cells)
