"""A small table of results: shown in a notebook, and taken by pandas, polars, CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from restive.base.errors import RestiveError
from restive.base.words import formula_free
from restive.base.writing import new_file, write_bytes

if TYPE_CHECKING:
    from os import PathLike

MOST_SHOWN = 12  # rows in a notebook or on a terminal


class Table:
    """Columns of equal length under their names.

    ``pandas.DataFrame(table.to_dict())`` and ``polars.DataFrame(table.to_dict())`` read it; with
    pyarrow installed, whatever takes Arrow tables does so directly.

    >>> table = Table({"arm": ["left", "right"], "gain": [0.5, 0.25]})
    >>> table
    arm    gain
    left   0.5
    right  0.25
    >>> table.to_dict()["gain"]
    [0.5, 0.25]
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self.columns = {name: list(values) for name, values in columns.items()}
        if len({len(values) for values in self.columns.values()}) > 1:
            raise ValueError("the columns of a table must have the same length")

    @classmethod
    def of_rows(cls, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
        """Columns of these names, from rows of which there may be none."""
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return cls(dict(zip(names, columns, strict=True)))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.columns.values(), strict=True)

    def to_dict(self) -> dict[str, list[Any]]:
        """Name -> values."""
        return {name: list(values) for name, values in self.columns.items()}

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write a CSV file with a heading, whole or not at all."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(formula_free, self.columns))
        writer.writerows(map(formula_free, row) for row in self.rows)
        write_bytes(path, stream.getvalue().encode())

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write a Parquet file, whole or not at all."""
        table = self._arrow()
        from pyarrow import parquet

        with new_file(path) as draft:
            parquet.write_table(table, draft)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._arrow().__arrow_c_stream__(requested_schema)

    def _arrow(self) -> Any:
        try:
            import pyarrow
        except ImportError:
            raise RestiveError(
                "Arrow tables need pyarrow, which is not installed. "
                "Install it with: pip install 'restive[parquet]'"
            ) from None
        return pyarrow.table(self.columns)

    def _shown(self) -> list[list[str]]:
        body = [[_cell(value) for value in row] for row in self.rows]
        if len(body) > MOST_SHOWN:
            body = [*body[: MOST_SHOWN - 1], ["..."] * len(self.columns)]
        return [list(self.columns), *body]

    def __repr__(self) -> str:
        lines = self._shown()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        head, *body = self._shown()
        top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in body
        )
        return f"<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None or value != value:  # nan is not equal to itself
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
