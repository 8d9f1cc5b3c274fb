"""A replay on the screen: what each way to pull arms earned, and how to read that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from restive.cli.console import console, dim, show, table

if TYPE_CHECKING:
    from restive.data.replay_result import Replay, ReplayRow


def show_replay(replay: Replay) -> None:
    out = console()
    count, steps = len(replay.arms), replay.steps
    seen = "all recorded" if replay.complete else f"{replay.share:.2%} recorded"
    words = f": {count} {'arm' if count == 1 else 'arms'} over {steps:,} steps, {seen}."
    show(out, Text.assemble((replay.name or "A trace", "bold"), words), *map(dim, replay.notes))
    best = replay.row(f"best arm: {replay.best_arm}")
    heads = ["", "per step", "vs best arm", "luck"]
    rows = [_cells(row, best.rate) for row in replay.rows]
    if not replay.complete:
        heads.append("counted")
        judged = replay.steps - replay.judged_from
        counts = (f"{row.counted * judged:,.0f}" for row in replay.rows)
        rows = [[*cells, count] for cells, count in zip(rows, counts, strict=True)]
    show(out, "", table(out, heads, rows, right=(1, 2, 3, 4)), "", _reading(replay))


def _cells(row: ReplayRow, best: float) -> list[str]:
    name = f"{row.name} *" if row.kind == "hindsight" else row.name
    varied = row.highest > row.lowest
    luck = f"{row.lowest:.4f} to {row.highest:.4f}" if varied else ""
    return [name, f"{row.rate:.4f}", f"{row.rate - best:+.4f}", luck]


def _reading(replay: Replay) -> str:
    judged = replay.steps - replay.judged_from
    parts = [f"Judged on the last {judged:,} steps." if replay.judged_from else "All are judged."]
    parts.append("* knows the whole trace.")
    if any(row.highest > row.lowest for row in replay.rows):
        runs = max(row.runs for row in replay.rows)
        parts.append(f"Luck: lowest and highest of {runs} runs of a learner on this trace.")
    if not replay.complete:
        parts.append(
            "Counted: pulls of an arm that was recorded then; others are missed steps, in which "
            "nothing is seen or earned. Fair if what was recorded does not depend on the states."
        )
    parts.append("One trace is one run: the order of close rows may be chance.")
    return " ".join(parts)
