"""Tables about problem suites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from restive.cli.screen import _console, _gain, _interval, _table

if TYPE_CHECKING:
    from restive.problems.suites import Listed, Suite

__all__ = ["show_suite", "show_suites"]


def show_suites(listed: Sequence[Suite]) -> None:
    """Print a line for each suite."""
    out = _console()
    rows = [(one.name, str(len(one.problems)), one.description) for one in listed]
    out.print(_table(out, ("suite", "problems", "what it is"), rows, right=(1,)))
    out.print()
    out.print(Text("restive suite NAME shows one; with --out DIR it writes the problem files."))


def show_suite(one: Suite, folder: str) -> None:
    """Print the problems of a suite with their certified gains, and where files were written."""
    out = _console()
    heads = (
        "problem",
        "arms",
        "states",
        "best reward per step",
        "best arm alone",
        "what it is for",
    )
    rows = [_row(problem) for problem in one.problems]
    out.print(_table(out, heads, rows, right=(1, 2, 3, 4)))
    out.print()
    words = (
        "The best reward per step of any policy that sees only what it pulls certainly lies "
        f'between the two numbers. Cite as "{one.citation}".'
    )
    out.print(Text(words))
    if folder:
        out.print(Text(f"Wrote {len(one.problems)} problem files to {folder}.", style="dim"))


def _row(one: Listed) -> tuple[str, ...]:
    sizes = set(one.states)
    states = str(one.states[0]) if len(sizes) == 1 else ", ".join(map(str, one.states))
    low, high = _interval(one.gain_lower, one.gain_upper)
    span = f"{low} to {high}"
    return (one.name, str(one.arms), states, span, _gain(one.best_arm_gain), one.purpose)
