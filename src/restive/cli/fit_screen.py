"""A fit on the screen: what was read, every arm's chain with its intervals, what is in doubt.

And the verdicts on it, with a line meanwhile that says what is being done.
"""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from rich.text import Text

from restive.base.errors import ProblemError
from restive.cli.console import console, dim, show, table, waiting

if TYPE_CHECKING:
    from restive.data.fitting import ArmFit, Fit
    from restive.data.verdicts import Verdicts

MOST_ROWS = 60  # states shown
MOST_ARMS = 30  # verdicts shown
MOST_NEXT = 4  # successors shown of each
GUTTER = 3  # between columns


def show_fit(fit: Fit) -> None:
    out = console()
    head = Text.assemble((fit.name or "unnamed problem", "bold"), f": {fit.traces!r}.")
    show(out, head, *map(dim, fit.notes), "")
    rows = [row for arm in fit.arms for row in _rows(arm)]
    heads = ["arm", "state", "seen", "reward", f"next, with {fit.level:.0%} intervals"]
    room = out.width - sum(max(len(row[k]) for row in [heads, *rows]) + GUTTER for k in range(4))
    cells = [[*row[:4], _filled(row[4:], room)] for row in rows[:MOST_ROWS]]
    show(out, table(out, heads, cells, right=(2, 3)))
    if len(rows) > MOST_ROWS:
        show(out, f"... and {len(rows) - MOST_ROWS} more states: --json shows all.")
    if fit.warnings:
        show(out, "", *(Text(warning, style="yellow") for warning in fit.warnings))


def _filled(parts: list[str], room: int) -> str:
    """Parts one after another; no line ends within a part that has room."""
    lines = [""]
    for k, part in enumerate(parts):
        word = part + ("," if k + 1 < len(parts) else "")
        joined = f"{lines[-1]} {word}".lstrip()
        lines = [*lines[:-1], joined] if len(joined) <= room else [*lines, word]
    return "\n".join(line for line in lines if line)


def _rows(arm: ArmFit) -> list[list[str]]:
    rows = []
    for s, label in enumerate(arm.labels):
        mean = arm.rewards[s]
        reward = f"{mean:.3g}" if mean == mean else "-"
        head = arm.name if s == 0 else ""
        rows.append([head, label, f"{arm.sightings[s]:,}", reward, *_next(arm, s)])
    return rows


def _next(arm: ArmFit, s: int) -> list[str]:
    """The likeliest successors of a state."""
    estimate = arm.estimate
    order = sorted(range(len(arm.labels)), key=lambda e: (-estimate.chain[s, e], e))
    parts = [
        f"{arm.labels[e]} {estimate.chain[s, e]:.3f} "
        f"[{estimate.lower[s, e]:.3f},{estimate.upper[s, e]:.3f}]"
        for e in order[:MOST_NEXT]
    ]
    return [*parts, "..."] if len(order) > MOST_NEXT else parts


def check(fitted: Fit, period: float | str | None) -> Verdicts:
    """Verdicts on every arm; stakes only where rewards are known."""
    from restive.data.markov import check_markov

    try:
        bandit = fitted.bandit
    except ProblemError:
        bandit = None
    with waiting("testing", lambda text, part: f"{text} ({part:.0%})") as report:
        return check_markov(fitted.traces, bandit, period=period, progress=report)


def page(fitted: Fit, verdicts: Verdicts | None) -> str:
    """The page of the data; planning for it takes some seconds."""
    from restive.report.data.page import fit_page

    with waiting("testing") as report:
        command = shlex.join(["restive", *sys.argv[1:]])
        return fit_page(fitted, verdicts, command=command, progress=report)


def show_verdicts(verdicts: Verdicts | None, order: int, reported: bool = False) -> None:
    """A line for each arm, and what matters in full; advice is given once.

    reported: there is a page that tells everything.
    """
    out = console()
    if order > 1:
        from restive.data.memory import order_note

        show(out, "", Text(order_note(order), style="yellow"))
    if verdicts is None:
        return
    head = f"{verdicts.tests} tests, any false alarm in {verdicts.level:.0%} of reports"
    show(out, "", Text.assemble(("Is it Markov?", "bold"), f" {head}."))
    told: set[str] = set()  # advice that was given already
    for verdict in verdicts.arms[:MOST_ARMS]:
        style = "yellow" if verdict.fails else ""
        show(out, Text.assemble((f"{verdict.arm}: ", "bold"), (verdict.summary, style)))
        for finding in verdict.findings:
            if finding.fails and not finding.little:
                new = finding.advice not in told
                told.add(finding.advice)
                show(out, f"  {finding.sentence}" + (f" {finding.advice}" if new else ""))
    more = len(verdicts.arms) - MOST_ARMS
    if more > 0:
        show(out, f"... and {more} more arms.")
    if any(finding.little for verdict in verdicts.arms for finding in verdict.findings):
        show(out, "Little at stake: the plan loses less than 1% by it; do nothing about it.")
    if not verdicts.believable and not reported:
        show(out, dim("All findings: --report page.html, or --json."))
