"""The final regrets as a table for a LaTeX document."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from restive.base.errors import refusal
from restive.base.latex import tex
from restive.base.writing import write_text
from restive.report.comparison import facts, words

if TYPE_CHECKING:
    from os import PathLike

    from restive.experiments import Results
    from restive.experiments.summary import Summary


def regret_table(results: Results, path: str | PathLike[str], horizon: int | None = None) -> None:
    """Write the mean final regrets with their intervals as a LaTeX table (.tex, with booktabs).

    One row for each learner, one column for each problem; by default of the longest horizon played.
    Bold: lost least, and told apart from every other learner; a dagger: not told apart from it.
    """
    check_table_path(path)
    steps = words.longest(results) if horizon is None else horizon
    if steps not in results.horizons:
        remedy = f"There are {', '.join(map(str, results.horizons))}."
        raise refusal("horizon", "not in these results", repr(steps), remedy)
    write_text(path, latex_table(results, results.summary, steps))


def check_table_path(path: str | PathLike[str]) -> None:
    """Refuse a path that is no place for a table."""
    from pathlib import Path

    target = Path(path)
    if target.suffix.lower() != ".tex":
        remedy = "Give a path that ends in .tex."
        raise refusal("table", "unknown kind of table", str(target), remedy)
    if not target.parent.is_dir():
        remedy = "Create it first, or give another path."
        raise refusal("table", "no such folder", str(target.parent), remedy)


def latex_table(results: Results, summary: Summary, horizon: int) -> str:
    """The table as text."""
    rows = facts.overview(results, summary, horizon)
    heads = " & ".join([r"learner", *(_head(results, problem) for problem in results.problems)])
    lines = [
        f"% Mean gap regret after {horizon:,} steps, {words.run_count(results, horizon)}, below it "
        "its 95 % interval.",
        "% Bold: lost least, and told apart from every other learner; a dagger: not told apart",
        r"% from the one that lost least (corrected p at least 0.05). Needs \usepackage{booktabs}.",
        rf"\begin{{tabular}}{{l{'r' * len(results.problems)}}}",
        r"\toprule", rf"{heads} \\", r"\midrule",
    ]  # fmt: skip
    for row in rows:
        lines += _row(results, summary, horizon, row)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _head(results: Results, problem: str) -> str:
    weak = " (weak regret)" if words.ranked_by(results, problem) else ""
    return tex(problem) + weak


def _row(results: Results, summary: Summary, horizon: int, row: dict[str, Any]) -> list[str]:
    """A learner's means, and below them the intervals."""
    name, told = tex(row["learner"]), r"{\footnotesize (knows the chains)}" if row["told"] else ""
    spans = []
    for problem in results.problems:
        entry = summary.entry(problem, row["learner"], horizon)
        planned = isfinite(results.gains[problem][0])
        final = entry.final[summary.measure if planned else "weak_regret"] if entry else None
        known = final is not None and entry is not None and not entry.refusal
        text = words.span(final.mean) if known and final else ""
        spans.append(rf"{{\footnotesize {_number(text)}}}" if text else "")
    means = [_mean(cell) for cell in row["cells"]]
    lines = [rf"{' & '.join([name, *means])} \\"]
    if any(spans) or told:
        lines.append(rf"{' & '.join([told, *spans])} \\")
    return lines


def _mean(cell: dict[str, Any]) -> str:
    number = _number(cell["text"])
    number = rf"\textbf{{{number}}}" if cell["winner"] else number
    return number + (r"\textsuperscript{\dag}" if cell["tied"] else "")


def _number(text: str) -> str:
    return tex(text)
