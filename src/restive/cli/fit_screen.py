"""A fit on the screen: what was read, every arm's chain with its intervals, what is in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from restive.cli.console import console, table

if TYPE_CHECKING:
    from restive.data.fitting import ArmFit, Fit

__all__ = ["show_fit"]

MOST_ROWS = 60  # states shown
MOST_NEXT = 4  # successors shown of each
GUTTER = 3  # between columns


def show_fit(fit: Fit) -> None:
    out = console()
    out.print(Text.assemble((fit.name or "unnamed problem", "bold"), f": {fit.traces!r}."))
    for note in fit.notes:
        out.print(Text(note, style="dim"))
    rows = [row for arm in fit.arms for row in _rows(arm)]
    heads = ["arm", "state", "seen", "reward", f"next, with {fit.level:.0%} intervals"]
    room = out.width - sum(max(len(row[k]) for row in [heads, *rows]) + GUTTER for k in range(4))
    cells = [[*row[:4], _filled(row[4:], room)] for row in rows[:MOST_ROWS]]
    out.print()
    out.print(table(out, heads, cells, right=(2, 3)))
    if len(rows) > MOST_ROWS:
        out.print(Text(f"... and {len(rows) - MOST_ROWS} more states: --json shows all."))
    if fit.warnings:
        out.print()
    for warning in fit.warnings:
        out.print(Text(warning, style="yellow"))


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
