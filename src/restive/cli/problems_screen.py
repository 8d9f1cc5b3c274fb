"""What ``restive problem`` and ``restive suite`` list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from restive.base.words import outward
from restive.cli.console import console, gain_text, option_row, table

if TYPE_CHECKING:
    from restive.problems import Problem
    from restive.problems.suites import Listed, Suite


def show_gallery(gallery: Mapping[str, Problem]) -> None:
    """Print the gallery: a line for each problem and one for each of its parameters."""
    out = console()
    rows: list[tuple[str, ...]] = []
    for name, problem in gallery.items():
        rows += [(name, problem.description), *map(option_row, problem.parameters)]
    out.print(table(out, ("problem", "what it is"), rows, right=()))
    out.print()
    out.print(Text("restive plan NAME plans one; restive problem NAME > file.toml writes it."))


def show_suites(listed: Sequence[Suite]) -> None:
    """Print a line for each suite."""
    out = console()
    rows = [(suite.name, str(len(suite.problems)), suite.description) for suite in listed]
    out.print(table(out, ("suite", "problems", "what it is"), rows, right=(1,)))
    out.print()
    out.print(Text("restive suite NAME shows one; with --out DIR it writes the problem files."))


def show_suite(suite: Suite, folder: str) -> None:
    """Print the problems of a suite with their certified gains, and where files were written."""
    out = console()
    heads = ("problem", "arms", "states", "best reward per step", "best arm")
    out.print(table(out, heads, [_row(problem) for problem in suite.problems], right=(1, 2, 3, 4)))
    out.print()
    purposes = [(problem.name, problem.purpose) for problem in suite.problems]
    out.print(table(out, ("problem", "what it is for"), purposes, right=()))
    out.print()
    words = (
        "The best reward per step of any policy that sees only what it pulls certainly lies "
        f'between the two numbers. Cite as "{suite.citation}".'
    )
    out.print(Text(words))
    if folder:
        out.print(Text(f"Wrote {len(suite.problems)} problem files to {folder}.", style="dim"))


def _row(problem: Listed) -> tuple[str, ...]:
    sizes = set(problem.states)
    states = str(problem.states[0]) if len(sizes) == 1 else ", ".join(map(str, problem.states))
    low, high = outward(problem.gain_lower, problem.gain_upper, most=10)
    span = f"{low} to {high}"
    return (problem.name, str(problem.arms), states, span, gain_text(problem.best_arm_gain))
