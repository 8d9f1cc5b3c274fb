"""Verdicts on the screen, and the work behind them with a line that says what is being done."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rich.text import Text

from restive.cli.console import console, waiting

if TYPE_CHECKING:
    from restive.data.fitting import Fit
    from restive.data.verdicts import Verdicts

MOST_ARMS = 30
Answer = TypeVar("Answer")


def check(fitted: Fit, period: float | str | None) -> Verdicts:
    """Verdicts on every arm; stakes only where rewards are known."""
    from restive.base.errors import ProblemError
    from restive.data.markov import check_markov

    try:
        bandit = fitted.bandit
    except ProblemError:
        bandit = None
    return _watched(
        lambda say: check_markov(fitted.traces, bandit, period=period,
                                 progress=lambda text, part: say(f"{text} ({part:.0%})"))
    )  # fmt: skip


def page(fitted: Fit, verdicts: Verdicts | None) -> str:
    """The page of the data; planning for it takes some seconds."""
    from restive.report.data.page import fit_page

    command = shlex.join(["restive", *sys.argv[1:]])
    return _watched(lambda say: fit_page(fitted, verdicts, command=command, progress=say))


def _watched(work: Callable[[Callable[[str], None]], Answer]) -> Answer:
    with waiting("testing") as say:
        return work(say or (lambda text: None))


def show_verdicts(verdicts: Verdicts | None, order: int, reported: bool = False) -> None:
    """A line for each arm, and what matters in full; advice is given once.

    reported: there is a page that tells everything.
    """
    out = console()
    if order > 1:
        from restive.data.memory import order_note

        out.print()
        out.print(Text(order_note(order), style="yellow"))
    if verdicts is None:
        return
    out.print()
    head = f"{verdicts.tests} tests, any false alarm in {verdicts.level:.0%} of reports"
    out.print(Text.assemble(("Is it Markov?", "bold"), f" {head}."))
    told: set[str] = set()  # advice that was given already
    for verdict in verdicts.arms[:MOST_ARMS]:
        style = "yellow" if verdict.fails else ""
        out.print(Text.assemble((f"{verdict.arm}: ", "bold"), (verdict.summary, style)))
        for finding in verdict.findings:
            if finding.fails and not finding.little:
                new = finding.advice not in told
                told.add(finding.advice)
                out.print(Text(f"  {finding.sentence}" + (f" {finding.advice}" if new else "")))
    more = len(verdicts.arms) - MOST_ARMS
    if more > 0:
        out.print(Text(f"... and {more} more arms."))
    if any(finding.little for verdict in verdicts.arms for finding in verdict.findings):
        out.print(Text("Little at stake: the plan loses less than 1% by it; do nothing about it."))
    if not verdicts.believable and not reported:
        out.print(Text("All findings: --report page.html, or --json.", style="dim"))
