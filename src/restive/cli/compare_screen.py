"""What ``restive compare`` shows: a live line while it runs, and a table for each problem."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, isfinite
from typing import Any

import typer
from rich.console import Console
from rich.status import Status
from rich.text import Text

from restive.cli.screen import _console, _duration, _table
from restive.experiments.progress import Watcher
from restive.experiments.results import Results
from restive.experiments.statistics import Interval
from restive.experiments.summary import Entry, Summary

__all__ = ["show", "watching"]

WORDS = {"gap_regret": "gap regret", "regret": "regret", "weak_regret": "weak regret"}


class _Screen(Watcher):
    """A line that is written over on a terminal; in a pipe only what went unexpectedly."""

    def __init__(self, status: Status | None) -> None:
        self._status = status

    def started(self, done: int, total: int, seconds_left: float | None) -> None:
        if done:
            self.notice(f"{done:,} of {total:,} runs were there already.")
        self.finished(done, total, seconds_left)

    def finished(self, done: int, total: int, seconds_left: float | None) -> None:
        if self._status is not None:
            left = "" if seconds_left is None else f", about {_rough(seconds_left)} left"
            self._status.update(
                f"comparing: {done:,} of {total:,} runs ({done / total:.0%}){left}; Ctrl-C stops "
                "and keeps them"
            )

    def notice(self, words: str) -> None:
        typer.echo(f"restive: {words}", err=True)


@contextmanager
def watching(directory: str) -> Iterator[Watcher]:
    """Show progress on standard error; an interrupt ends in a sentence and exit code 130."""
    from restive import _kernels

    if _kernels.is_cold():
        typer.echo("restive: compiling kernels, once; later runs start at once.", err=True)
    err = _console(stderr=True)
    try:
        if err.is_terminal:
            with err.status("comparing") as status:
                yield _Screen(status)
        else:
            yield _Screen(None)
    except KeyboardInterrupt:
        words = f"stopped. What is finished is in {directory}; the same command goes on from there."
        typer.echo(f"restive: {words}", err=True)
        raise typer.Exit(130) from None


def show(results: Results, summary: Summary, directory: str) -> None:
    """Print the rankings and where everything is."""
    out = _console()
    for problem in results.problems:
        for horizon in results.horizons:
            _show_ranking(out, results, summary, problem, horizon)
    count = f"{results.runs} run{'s' * (results.runs != 1)}"
    level = f"{100 * summary.level:g}%"
    out.print(Text(f"Means over {count} in the same worlds, with {level} intervals."))
    for reason in sorted({entry.final[summary.measure].mean.reason for entry in summary.entries
                          if entry.runs} - {""}):  # fmt: skip
        out.print(Text(f"No interval: {reason}."))
    out.print(Text(f"Results are in {directory}; restive report {directory} makes a page of them."))


def _show_ranking(
    out: Console, results: Results, summary: Summary, problem: str, horizon: int
) -> None:
    """One table: learners by mean regret, and after them those that could not play."""
    entries = summary.ranking(problem, horizon)
    gain = results.gains[problem][0]
    measure: Any = summary.measure if isfinite(gain) else "weak_regret"
    best = f"the best policy earns {gain:.4f}" if isfinite(gain) else "too large to plan"
    title = f"{problem}, {horizon:,} steps: {best} per step"
    if not isfinite(gain):
        title = f"{problem}, {horizon:,} steps: {best}, so learners are ranked by weak regret"
    out.print(Text(title, style="bold"))
    out.print()
    heads = ("", "learner", WORDS[measure], "between", "grows like", "time per run")
    rows = [_row(entry, measure) for entry in entries if not entry.refusal]
    out.print(_table(out, heads, rows, right=(0, 2, 3, 4, 5)))
    for entry in entries:
        if entry.refusal:
            out.print(Text(f"{entry.learner} did not play: {entry.refusal}", style="dim"))
    out.print()


def _row(entry: Entry, measure: Any) -> tuple[str, ...]:
    mean = entry.final[measure].mean
    growth = entry.slope.value
    return (
        f"{entry.rank}.",
        entry.learner,
        f"{mean.value:,.1f}",
        _bounds(mean),
        f"T^{growth:.2f}" if isfinite(growth) else "-",
        _duration(entry.seconds) if isfinite(entry.seconds) else "-",
    )


def _bounds(interval: Interval) -> str:
    if not isfinite(interval.lower):
        return "-"
    return f"{interval.lower:,.1f} and {interval.upper:,.1f}"


def _rough(seconds: float) -> str:
    return f"{ceil(seconds)} s" if seconds < 120 else _duration(seconds)
