"""Tables and live lines for people: rules and colour on a terminal, plain text in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from restive.base.options import Parameter

__all__ = [
    "console",
    "gain_text",
    "option_row",
    "progress",
    "show_written",
    "table",
    "title",
    "waiting",
]

PLAIN_WIDTH = 100_000  # in a pipe nothing is wrapped or cut
PLAIN_RULE = Box("    \n" * 2 + " ── \n" + "    \n" * 5)  # a rule under the heading, no more


def console(stderr: bool = False) -> Console:
    out = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not out.is_terminal:
        out.width = PLAIN_WIDTH
    return out


def title(facts: Mapping[str, Any], what: str) -> Text:
    return Text.assemble((facts["problem"] or "unnamed problem", "bold"), f": {what}")


def table(
    out: Console, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]
) -> Table | Text:
    """A table whose columns ``right`` are numbers; without rules where nobody watches."""
    if not out.is_terminal:
        return _plain_table([heads, *rows], right)
    grid = Table(box=PLAIN_RULE, header_style="bold", pad_edge=False, show_edge=False)
    for k, head in enumerate(heads):
        side: Literal["left", "right"] = "right" if k in right else "left"
        grid.add_column(Text(head), justify=side, no_wrap=k == 0 or k in right)
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


def _plain_table(rows: Sequence[Sequence[str]], right: Sequence[int]) -> Text:
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        blanks = [" " * (width - cell_len(cell)) for width, cell in zip(widths, row, strict=True)]
        cells = zip(row, blanks, strict=True)
        words = [b + cell if k in right else cell + b for k, (cell, b) in enumerate(cells)]
        return "  ".join(words).rstrip()

    return Text("\n".join(map(line, rows)))


def option_row(option: Parameter) -> tuple[str, str]:
    """An option of a learner or a problem, and what it may be."""
    start = "" if option.default is None else f"; default {str(option.default).lower()}"
    return f"  --{option.name.replace('_', '-')}", f"{option.help} ({option.range}{start})"


def gain_text(value: float | None) -> str:
    return "too large" if value is None else f"{value:.4f}"


@contextmanager
def progress() -> Iterator[Callable[[str, int, float], None] | None]:
    """A live line on standard error while a plan is made; None where nobody watches."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    with err.status("planning") as status:

        def report(what: str, sweeps: int, width: float) -> None:
            status.update(f"{what}: sweep {sweeps:,}, known to within {width:.2g}")

        yield report


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A live line on standard error while something takes its time, if anybody watches."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield
        return
    with err.status(what):
        yield


def show_written(paths: Sequence[str]) -> None:
    """Print the names of the files that were written."""
    for path in paths:
        console().print(Text(f"Wrote {path}.", style="dim"))
