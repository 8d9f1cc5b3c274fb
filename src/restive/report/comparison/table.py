"""The final regrets as a table for a LaTeX document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from restive.base.errors import refusal
from restive.base.latex import tex
from restive.base.writing import checked_target, write_text
from restive.report.comparison import facts, words
from restive.report.drawing.look import Look

if TYPE_CHECKING:
    from os import PathLike

    from restive.experiments import Results
    from restive.experiments.summary import Summary

SUFFIXES = (".tex",)
# a column and a page of two columns as the class article sets them, narrower than most journals
POINTS = {"one": 229.0, "two": 469.0}
BETWEEN = 12.0  # two columns of a table
# of letters that are not as wide as most
WIDTHS = {"fijl,.;:'![]- ": 3.4, "rst()I": 4.0, "0123456789": 5.0, "mw&+=@#%~<>": 8.4, "MW|": 10.4}
SMALL = 0.85  # letters of footnotes beside those of the text


def regret_table(
    results: Results, path: str | PathLike[str], horizon: int | None = None,
    width: Literal["one", "two"] = "two",
) -> None:  # fmt: skip
    """Write the mean final regrets with their intervals as a LaTeX table (.tex, with booktabs).

    One row for each learner, one column for each problem; by default of the longest horizon played.
    Bold: lost least, and told apart from every other learner; a dagger: not told apart from it.
    width: columns of the page that it may fill; problems that find no room beside the others stand
    below them.
    """
    target = checked_target("path", path, SUFFIXES)
    look = Look(width=width)
    steps = words.longest(results) if horizon is None else horizon
    if steps not in results.horizons:
        remedy = f"There are {', '.join(map(str, results.horizons))}."
        raise refusal("horizon", "not in these results", repr(steps), remedy)
    write_text(target, latex_table(results, results.summary, steps, look.width))


def latex_table(
    results: Results, summary: Summary, horizon: int, width: Literal["one", "two"] = "two"
) -> str:
    """The table as text."""
    rows = facts.overview(results, summary, horizon)
    names = [(row["learner"], "(knows the chains)" if row["told"] else "") for row in rows]
    first = _Column("learner", tuple(_TexCell(*name) for name in names))
    others = [_column(results, summary, horizon, rows, k) for k in range(len(results.problems))]
    bands = _bands(first, others, POINTS[width])
    lines = [
        f"% Mean gap regret after {horizon:,} steps, {words.run_count(results, horizon)}, below it "
        "its 95 % interval.",
        "% Bold: lost least, and told apart from every other learner; a dagger: not told apart",
        r"% from the one that lost least (corrected p at least 0.05). Needs \usepackage{booktabs}.",
        rf"\begin{{tabular}}{{l{'r' * max(map(len, bands))}}}",
        r"\toprule",
    ]  # fmt: skip
    for k, band in enumerate(bands):
        lines += [r"\midrule"] * (k > 0) + _band([first, *band])
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


@dataclass(frozen=True)
class _TexCell:
    """A mean, or a learner's name, and in small letters what stands below it."""

    text: str
    below: str
    winner: bool = False
    tied: bool = False

    @property
    def tex(self) -> str:
        text = tex(self.text)
        text = rf"\textbf{{{text}}}" if self.winner else text
        return text + (r"\textsuperscript{\dag}" if self.tied else "")

    @property
    def points(self) -> float:
        bold, dagger = 1.2 if self.winner else 1.0, 4.0 if self.tied else 0.0
        return max(bold * _points(self.text) + dagger, SMALL * _points(self.below))


@dataclass(frozen=True)
class _Column:
    head: str
    cells: tuple[_TexCell, ...]

    @property
    def points(self) -> float:
        return BETWEEN + max(_points(self.head), *(cell.points for cell in self.cells))


def _column(
    results: Results, summary: Summary, horizon: int, rows: list[dict[str, Any]], k: int
) -> _Column:
    problem = results.problems[k]
    measure = words.ranking_measure(results, summary, problem)
    cells = []
    for row in rows:
        entry, cell = summary.entry(problem, row["learner"], horizon), row["cells"][k]
        final = entry.final[measure] if entry and not entry.refusal else None
        span = words.span(final.mean) if final else ""
        cells.append(_TexCell(cell["text"], span, cell["winner"], cell["tied"]))
    return _Column(words.heading(results, summary, problem), tuple(cells))


def _bands(first: _Column, columns: list[_Column], room: float) -> list[list[_Column]]:
    """As many columns beside each other as there is room for, the others below, in their order."""
    bands: list[list[_Column]] = []
    left = 0.0
    for column in columns:
        if not bands or column.points > left:
            bands.append([])
            left = room - first.points
        bands[-1].append(column)
        left -= column.points
    return bands


def _band(columns: list[_Column]) -> list[str]:
    lines = [rf"{' & '.join(tex(column.head) for column in columns)} \\", r"\midrule"]
    for row, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
        lines += [r"\addlinespace"] * (row > 0)
        lines.append(rf"{' & '.join(cell.tex for cell in cells)} \\")
        below = [rf"{{\footnotesize {tex(c.below)}}}" if c.below else "" for c in cells]
        if any(below):
            lines.append(rf"{' & '.join(below)} \\")
    return lines


def _points(text: str) -> float:
    """How wide TeX sets a text in its letters of 10 points, or a little more."""
    return sum(_letter_points(letter) for letter in text)


def _letter_points(letter: str) -> float:
    for letters, points in WIDTHS.items():
        if letter in letters:
            return points
    return 8.0 if letter.isupper() or not letter.isascii() else 5.6
