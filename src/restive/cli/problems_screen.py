"""What ``restive problem`` and ``restive suite`` list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from restive.base.words import outward
from restive.cli.console import console, dim, gain_text, option_row, show, table

if TYPE_CHECKING:
    from restive.problems import Problem
    from restive.problems.suites import Listed, Suite


def show_gallery(gallery: Mapping[str, Problem]) -> None:
    """Print the gallery: a line for each problem and one for each of its parameters."""
    out = console()
    rows: list[tuple[str, ...]] = []
    for name, problem in gallery.items():
        rows += [(name, problem.description), *map(option_row, problem.parameters)]
    words = "restive plan NAME plans one; restive problem NAME > file.toml writes it."
    show(out, table(out, ("problem", "what it is"), rows, right=()), "", words)


def show_suites(listed: Sequence[Suite]) -> None:
    """Print a line for each suite."""
    out = console()
    rows = [(suite.name, str(len(suite.problems)), suite.description) for suite in listed]
    words = "restive suite NAME shows one; with --out DIR it writes the problem files."
    show(out, table(out, ("suite", "problems", "what it is"), rows, right=(1,)), "", words)


def show_suite(suite: Suite, folder: str) -> None:
    """Print the problems of a suite with their certified gains, and where files were written."""
    out = console()
    heads = ("problem", "arms", "states", "best reward per step", "best arm")
    gains = table(out, heads, [_row(problem) for problem in suite.problems], right=(1, 2, 3, 4))
    rows = [(problem.name, problem.purpose) for problem in suite.problems]
    purposes = table(out, ("problem", "what it is for"), rows, right=())
    words = (
        "The best reward per step of any policy that sees only what it pulls certainly lies "
        f'between the two numbers. Cite as "{suite.citation}".'
    )
    show(out, gains, "", purposes, "", words)
    if folder:
        show(out, dim(f"Wrote {len(suite.problems)} problem files to {folder}."))


def _row(problem: Listed) -> tuple[str, ...]:
    sizes = set(problem.states)
    states = str(problem.states[0]) if len(sizes) == 1 else ", ".join(map(str, problem.states))
    low, high = outward(problem.gain_lower, problem.gain_upper, most=10)
    span = f"{low} to {high}"
    return (problem.name, str(problem.arms), states, span, gain_text(problem.best_arm_gain))
