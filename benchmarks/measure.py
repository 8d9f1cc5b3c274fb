"""Small parts that all sections share: goals, timing in turns, Markdown tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

__all__ = ["Goal", "best_in_turns", "goal_table", "table", "threads"]


@dataclass(frozen=True)
class Goal:
    """A measured number beside what it should be at most, or at least."""

    what: str
    measured: float
    goal: float
    unit: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.goal if self.at_least else self.measured <= self.goal

    def record(self) -> dict[str, Any]:
        return asdict(self) | {"met": self.met}


def goal_table(goals: Sequence[Mapping[str, Any]]) -> list[str]:
    """Goals as recorded, as a Markdown table that says plainly which were missed."""
    lines = ["| goal | measured | wanted | met |", "|---|--:|--:|---|"]
    for goal in goals:
        sign = ">=" if goal["at_least"] else "<="
        wanted = f"{sign} {goal['goal']:g} {goal['unit']}".strip()
        measured = f"{goal['measured']:.3g} {goal['unit']}".strip()
        lines.append(f"| {goal['what']} | {measured} | {wanted} | {_verdict(goal['met'])} |")
    return lines


def _verdict(met: bool) -> str:
    return "yes" if met else "**no**"


def table(columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rows as a Markdown table; columns maps each key to its heading and format, "heading|.2f"."""
    headings, forms = zip(*(text.partition("|")[::2] for text in columns.values()), strict=True)
    lines = [f"| {' | '.join(headings)} |", f"|{'|'.join('--:' if f else '---' for f in forms)}|"]
    for row in rows:
        cells = [_cell(row.get(key), form) for key, form in zip(columns, forms, strict=True)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _cell(value: Any, form: str) -> str:
    if value is None:
        return ""
    return format(value, form) if form and not isinstance(value, str) else str(value)


def best_in_turns(
    tasks: Mapping[str, Callable[[], Any]], rounds: int
) -> dict[str, float]:  # fmt: skip
    """Fewest seconds of each task; they take turns, so that a busy spell hits all of them alike."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            start = perf_counter()
            task()
            best[name] = min(best[name], perf_counter() - start)
    return best


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Let restive use this many threads for a while; None leaves the choice to it."""
    before = os.environ.get("RESTIVE_THREADS")
    if count is not None:
        os.environ["RESTIVE_THREADS"] = str(count)
    try:
        yield
    finally:
        os.environ.pop("RESTIVE_THREADS", None)
        if before is not None:
            os.environ["RESTIVE_THREADS"] = before
