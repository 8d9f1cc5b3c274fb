"""What ``restive compare`` shows: a live line while it runs, and a table for each problem."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from math import ceil, isfinite

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from restive.base.words import duration_text, outward
from restive.cli.console import console, dim, show, table, waiting
from restive.experiments.progress import Teller, Watcher
from restive.experiments.results import Failure, Results
from restive.experiments.summary import Entry, Measure, Summary, exponent
from restive.report.comparison.words import ranking_measure
from restive.report.drawing.picture import printable

LINE = 400  # letters of a message

TOLD = " (knows the chains)"
plain = partial(printable, longest=40)  # of names


class _Screen(Teller):
    """A line that is written over on a terminal; in a pipe only what went unexpectedly."""

    def __init__(self, say: Callable[[str], None] | None, warm: Callable[[], None]) -> None:
        super().__init__(say, "; Ctrl-C stops and keeps them")
        self._warm, self._last = warm, ""

    def started(self, done: int, total: int, seconds_left: float | None) -> None:
        self._warm()
        if done and not self._last.startswith(f"{done} of "):  # said where it is extended
            self.notice(f"{done:,} of {total:,} runs were there already.")
        super().started(done, total, seconds_left)

    def failed(self, learner: str, problem: str, horizon: int, run: int, error: str) -> None:
        where = f"{plain(problem)} ({horizon:,} steps, run {run})"
        self.notice(f"{plain(learner)} failed on {where}: {printable(error, LINE)}. Others go on.")

    def notice(self, words: str) -> None:
        self._last = words
        # print, since typer's echo writes past a live line and into it
        print(f"restive: {printable(words, LINE)}", file=sys.stderr)


@contextmanager
def watching(directory: str, warm: Callable[[], None]) -> Iterator[Watcher]:
    """Show progress on standard error; an interrupt ends in a sentence and exit code 130.

    warm: called before the first run, if there is any left to do.
    """
    try:
        with waiting("comparing") as say:
            yield _Screen(say, warm)
    except KeyboardInterrupt:
        words = f"stopped. What is finished is in {directory}; the same command goes on from there."
        typer.echo(f"restive: {words}", err=True)
        raise typer.Exit(130) from None


def show_comparison(results: Results, summary: Summary, directory: str) -> None:
    """Print the rankings and where everything is."""
    out = console()
    for problem, horizon in product(results.problems, results.horizons):
        show(out, *_ranking(out, results, summary, problem, horizon), "")
    if not results.finished:
        why = "every run failed" if results.failures else "no learner can play these problems"
        show(out, f"Nothing was played to the end: {why}.")
    else:
        show(out, *_means(results, summary))
    if results.failures:
        again = "the same command tries failed runs again, and keeps the others"
        show(out, f"Tracebacks are in {directory}/log.jsonl; {again}.")
    if results.finished:
        page = f"restive report {directory} makes a page of them"
        show(out, f"Results are in {directory}; {page}.")


def _means(results: Results, summary: Summary) -> Iterator[str]:
    """What the numbers in the tables are."""
    count = f"{results.runs} run{'s' * (results.runs != 1)}"
    level = f"{100 * summary.level:g}%"
    shown = [entry.final[ranking_measure(results, summary, entry.problem)].mean
             for entry in summary.entries if entry.runs]  # fmt: skip
    known = any(isfinite(mean.lower) for mean in shown)
    words = f", with {level} intervals" if known else ""
    yield f"Means over {count} in the same worlds{words}."
    for reason in sorted({mean.reason for mean in shown} - {""}):
        yield f"No interval: {reason}."


def _ceiling_sentence(results: Results, problem: str, horizon: int) -> str:
    """How weak regret and regret differ at most, where the best policy is not known."""
    upper, alone = results.ceiling(problem), results.best_arms[problem][1]
    pulls, most = results.bandits[problem].pulls, outward(upper, upper, 4)[1]
    who = "the best arm alone earns" if pulls == 1 else f"the best {pulls} arms alone earn"
    return (
        f"No policy earns more than {most} per step (certified); {who} {alone:.4f}. Regret is "
        f"therefore at most weak regret + {ceil((upper - alone) * horizon):,}."
    )


def _ranking(
    out: Console, results: Results, summary: Summary, problem: str, horizon: int
) -> Iterator[RenderableType]:
    """One table: learners by mean regret, and after them those that could not play."""
    entries = summary.ranking(problem, horizon)
    gain = results.gains[problem][0]
    measure = ranking_measure(results, summary, problem)
    best = f"the best policy earns {gain:.4f} per step"
    if not isfinite(gain):
        best = "not planned exactly, so learners are ranked by weak regret"
    if problem in results.traces:
        best = "a trace, ranked by weak regret against its best arm in hindsight"
    yield Text(f"{plain(problem)}, {horizon:,} steps: {best}", style="bold")
    if not isfinite(gain) and problem not in results.traces:
        yield _ceiling_sentence(results, problem, horizon)
    yield ""
    names = _names(results.learners)
    heads = ("", "learner", measure.replace("_", " "), "between", "grows", "a run took")
    names = {name: shown + TOLD * (name in summary.yardsticks) for name, shown in names.items()}
    rows = [_row(entry, measure, names) for entry in entries if not entry.refusal]
    if rows:
        yield table(out, heads, rows, right=(0, 2, 3, 4, 5), spare=2)
    for entry in entries:
        if entry.refusal:
            yield dim(f"{names[entry.learner]} did not play: {printable(entry.refusal, LINE)}")
    for name in results.learners:
        if failure := results.failures.get((problem, name, horizon)):
            words = printable(_failed(failure, measure), LINE)
            yield Text(f"{names[name]}: {words}", style="red")


def _failed(failure: Failure, measure: Measure) -> str:
    """How many runs failed, and what the others came to."""
    if failure.good is None:
        return f"{failure}"
    ends = getattr(failure.good, measure)[:, -1]
    done = f"the {len(ends)} that went well" if len(ends) > 1 else "the one that went well"
    return f"{failure}; not ranked, {measure.replace('_', ' ')} of {done}: {ends.mean():,.1f}"


def _names(labels: Sequence[str]) -> dict[str, str]:
    """Labels as they are shown, with their number where two look the same."""
    names = [plain(label) for label in labels]
    return {
        label: name if names.count(name) == 1 else f"{name} ({k})"
        for k, (label, name) in enumerate(zip(labels, names, strict=True), 1)
    }


def _row(entry: Entry, measure: Measure, names: Mapping[str, str]) -> tuple[str, ...]:
    mean = entry.final[measure].mean
    growth = entry.slope.value
    return (
        f"{entry.rank}.",
        names[entry.learner],
        f"{mean.value:,.1f}",
        f"{mean.lower:,.1f} and {mean.upper:,.1f}" if isfinite(mean.lower) else "-",
        f"T^{exponent(growth)}" if isfinite(growth) else "-",
        duration_text(entry.seconds).replace("less than ", "<") if isfinite(entry.seconds) else "-",
    )
