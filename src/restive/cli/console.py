"""Tables and live lines for people: rules and colour on a terminal, plain text in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Literal

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from restive.base.words import visible

if TYPE_CHECKING:
    from restive.base.options import Parameter

PLAIN_WIDTH = 100_000  # in a pipe nothing is wrapped or cut
INDENT = 2  # of what stands below a name on a line of its own
PLAIN_RULE = Box("    \n" * 2 + " ── \n" + "    \n" * 5)  # a rule under the heading, no more


class _Terminal(Console):
    """A console on which names can neither move the cursor nor turn the text around."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            safe = segment.control or segment.text.isprintable()
            yield segment if safe else Segment(visible(segment.text), segment.style)


def console(stderr: bool = False) -> Console:
    out = _Terminal(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not out.is_terminal:
        out.width = PLAIN_WIDTH
    return out


def show(out: Console, *parts: RenderableType) -> None:
    """Print tables and sentences one below the other; nothing in a sentence is taken for markup."""
    for part in parts:
        out.print(Text(part) if isinstance(part, str) else part)


def dim(words: str) -> Text:
    """What is said beside the result."""
    return Text(words, style="dim")


def title(facts: Mapping[str, Any], what: str) -> Text:
    return Text.assemble((facts["problem"] or "unnamed problem", "bold"), f": {what}")


def table(
    out: Console, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int],
    spare: int = 0,
) -> Table | Text:  # fmt: skip
    """A table whose columns ``right`` are numbers; without rules where nobody watches.

    On a terminal that is too narrow headings take two lines, then up to ``spare`` of the last
    columns go; what is still too wide has its first column on lines of its own, or wraps its words.
    """
    if not out.is_terminal:
        return Text("\n".join(_lines([heads, *rows], right)))
    if _width(heads, *rows) > out.width:
        widest = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        pairs = zip(heads, widest, strict=True) if rows else ()
        heads = [_folded(head) if len(head) > width else head for head, width in pairs]
    while spare and _width(heads, *rows) > out.width:
        heads, rows, spare = heads[:-1], [row[:-1] for row in rows], spare - 1
    if _width(heads, *rows) > out.width >= _width(*(row[1:] for row in [heads, *rows])) + INDENT:
        return _stacked(heads, rows, right)
    wraps = _width(heads, *rows) > out.width  # then a blank line tells rows apart
    grid = Table(box=PLAIN_RULE, header_style="bold", pad_edge=False, show_edge=False,
                 leading=int(wraps))  # fmt: skip
    slim = max(cell_len(row[0]) for row in rows or [heads]) <= out.width / 3
    for k, head in enumerate(_bottomed(heads)):
        side: Literal["left", "right"] = "right" if k in right else "left"
        grid.add_column(Text(head), justify=side, no_wrap=k in right or (k == 0 and slim))
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


def _stacked(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> Text:
    """Each first cell on a line of its own, once, and what belongs to it below."""
    tops = list(zip(*(head.split("\n") for head in _bottomed(heads[1:])), strict=True))
    lines = _lines([*tops, *(row[1:] for row in rows)], [k - 1 for k in right], blanks=3)
    inner = [" " * INDENT + line for line in lines]
    text = Text("\n".join(inner[: len(tops)]), style="bold")
    text.append("\n" + "─" * max(map(cell_len, inner)), style="not bold")
    for k, (row, line) in enumerate(zip(rows, inner[len(tops) :], strict=True)):
        if k == 0 or row[0] != rows[k - 1][0]:
            text.append(f"\n{row[0]}", style="not bold")
        text.append(f"\n{line}", style="not bold")
    return text


def _width(*rows: Sequence[str]) -> int:
    """Of a table with three blanks between its columns."""
    lengths = [[max(map(cell_len, cell.split("\n"))) for cell in row] for row in rows]
    widest: list[int] = [max(column) for column in zip(*lengths, strict=True)]
    return sum(widest) + 3 * (len(widest) - 1)


def _folded(head: str) -> str:
    """On two lines as even as its words allow."""
    words = head.split()
    halves = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(len(words) - 1, 0, -1)]
    return "\n".join(min(halves, key=lambda pair: max(map(len, pair)), default=(head,)))


def _bottomed(heads: Sequence[str]) -> list[str]:
    """All of as many lines as the longest, empty ones first."""
    most = max(head.count("\n") for head in heads)
    return ["\n" * (most - head.count("\n")) + head for head in heads]


def _lines(rows: Sequence[Sequence[str]], right: Sequence[int], blanks: int = 2) -> list[str]:
    """Rows in columns, those of ``right`` flush right."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        fills = [" " * (width - cell_len(cell)) for width, cell in zip(widths, row, strict=True)]
        cells = enumerate(zip(row, fills, strict=True))
        words = [fill + cell if k in right else cell + fill for k, (cell, fill) in cells]
        return (" " * blanks).join(words).rstrip()

    return list(map(line, rows))


def option_row(option: Parameter) -> tuple[str, str]:
    """An option of a learner or a problem, and what it may be."""
    start = "" if option.default is None else f"; default {str(option.default).lower()}"
    return f"  --{option.name.replace('_', '-')}", f"{option.help} ({option.range}{start})"


def gain_text(value: float | None) -> str:
    return "too large" if value is None else f"{value:.4f}"


@contextmanager
def waiting(what: str, words: Callable[..., str] = str) -> Iterator[Callable[..., None] | None]:
    """A live line on standard error while something takes its time; None where nobody watches.

    What is yielded replaces the line by ``words`` of its arguments.
    """
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    with err.status(Text(what)) as status:
        yield lambda *facts: status.update(Text(words(*facts)))


def progress() -> AbstractContextManager[Callable[..., None] | None]:
    """A live line while a plan is made."""
    return waiting(
        "planning",
        lambda what, sweeps, width: f"{what}: sweep {sweeps:,}, known to within {width:.2g}",
    )


def show_written(paths: Sequence[str]) -> None:
    """Print the names of the files that were written."""
    show(console(), *(dim(f"Wrote {path}.") for path in paths))
