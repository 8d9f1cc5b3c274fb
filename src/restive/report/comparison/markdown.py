"""A comparison as Markdown: the page's words and tables, for a repository or a paper's draft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from restive.report.comparison import facts, words
from restive.report.comparison.lead import lead
from restive.report.drawing.picture import printable

if TYPE_CHECKING:
    from restive.experiments import Results
    from restive.experiments.summary import Summary


def experiment_markdown(
    results: Results, summary: Summary, figures: Mapping[tuple[str, int], str]
) -> str:
    """The report as text; ``figures`` are links by problem and horizon."""
    lines = [f"# {_safe(words.title(results))}", "", _safe(" ".join(lead(results, summary)))]
    for warning in words.missing(results, summary):
        lines += ["", f"**{_safe(warning)}**"]
    for horizon in results.horizons:
        lines += _overview(results, summary, horizon)
    for problem in results.problems:
        lines += ["", f"## {_safe(problem)}", "", _safe(words.intro(results, problem))]
        for horizon in results.horizons:
            lines += _ranking(results, summary, problem, horizon, figures)
    for horizon in results.horizons:
        lines += _times(results, horizon)
    return "\n".join([*lines, *_origin(results)]) + "\n"


def _safe(text: str) -> str:
    """Text that Markdown shows as it is: one line, with its marks escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$])", r"\\\1", printable(text, 100_000))


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]], words_first: int) -> list[str]:
    """A table whose first columns are words and the others numbers."""
    names = list(heads)
    rule = ["---" if k < words_first else "---:" for k in range(len(names))]
    return ["| " + " | ".join(cells) + " |" for cells in (names, rule, *map(list, rows))]


def _overview(results: Results, summary: Summary, horizon: int) -> Iterator[str]:
    yield from ("", f"Mean gap regret after {words.steps(horizon)}, by problem.")
    yield "Bold: lost least, and told apart from every other learner."
    yield from ("A dagger: not told apart from the one that lost least.", "")
    problems = (_safe(words.heading(results, summary, problem)) for problem in results.problems)
    heads = ["learner", "mean rank", *problems]
    rows = [
        [_safe(row["learner"]), row["rank"], *(_overview_cell(cell) for cell in row["cells"])]
        for row in facts.overview(results, summary, horizon)
    ]
    yield from _table(heads, rows, 1)


def _overview_cell(cell: Mapping[str, Any]) -> str:
    text = f"**{cell['text']}**" if cell["winner"] else cell["text"]
    return text + ("†" if cell["tied"] else "")


def _ranking(
    results: Results, summary: Summary, problem: str, horizon: int,
    figures: Mapping[tuple[str, int], str],
) -> Iterator[str]:  # fmt: skip
    rows = facts.ranking(results, summary, problem, horizon)
    if not rows:
        yield from ("", f"After {words.steps(horizon)}: no run has finished yet.")
        return
    if (problem, horizon) in figures:
        link = figures[problem, horizon]
        yield from ("", f"![Regret of all learners over {words.steps(horizon)}]({link})")
    other = words.ranked_by(results, summary, problem)
    yield from ("", f"After {words.steps(horizon)}, with 95 % intervals. {other}".rstrip(), "")
    heads = ["learner", "rank", "mean gap regret", "median gap regret", "above the best",
             "corrected p", "growth exponent", "mean plain regret", "mean weak regret"]  # fmt: skip
    yield from _table(heads, (_ranked(row) for row in rows), 1)
    for row in rows:
        if row["stopped"]:
            yield from ("", f"{_safe(row['learner'])}: {_safe(row['stopped'])}")


def _ranked(row: Mapping[str, Any]) -> list[str]:
    name = _safe(row["learner"]) + (" (knows the chains)" if row["told"] else "")
    cells = [_valued(row[part]) for part in ("mean", "median", "difference")]
    more = [_valued(row[part]) for part in ("slope", "plain", "weak")]
    return [name, str(row["rank"] or ""), *cells, row["p"]["text"], *more]


def _valued(cell: Mapping[str, str]) -> str:
    return f"{cell['text']} ({cell['span']})" if cell["span"] else cell["text"]


def _times(results: Results, horizon: int) -> Iterator[str]:
    rows = facts.times(results, horizon)
    if rows:
        yield from ("", f"## Seconds of a run of {words.steps(horizon)}", "")
        yield from ("Medians over problems and runs.", "")
        parts = ("seconds", "playing", "planning", "per_step", "episodes")
        heads = ["learner", "a run, s", "playing, s", "planning, s", "a step, µs", "episodes"]
        cells = ([_safe(row["learner"]), *(row["text"][part] for part in parts)] for row in rows)
        yield from _table(heads, cells, 1)


def _origin(results: Results) -> Iterator[str]:
    yield from ("", "## Where the numbers come from", "")
    yield from (f"    {line}" for line in results.command.splitlines())
    yield from ("", *_table(["what", "value"], [], 2))
    for name, value in facts.provenance(results):
        yield f"| {_safe(name)} | {_safe(value)} |"
