"""``replay_figure``: what was earned along a trace, above its best single arm."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.report.drawing.palette import LIGHT
from restive.report.drawing.picture import printable, save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from restive.data.replay_result import Replay

GREY = "#888888"
# rules of thumb are many and alike: each has dashes of its own
DASHES = ((0, (1, 1.5)), (0, (5, 2)), (0, (7, 2, 1, 2)), (0, (1, 4)), (0, (9, 2, 1, 2, 1, 2)))
MOST_POINTS = 2000
NOTE = "Sums of rewards along the part that is judged, less those of the best single arm in it."


def replay_figure(replay: Replay, path: str | os.PathLike[str], *, title: str = "") -> None:
    """Draw what each way to pull arms earned, into a file ending in .svg, .png or .pdf.

    Where not all arms were recorded, sums are scaled to the same number of recorded pulls. What
    knows the best arm of every step is left out: it would flatten all others.
    """
    draw = partial(_draw, replay, title or f"Replay of {replay.name or 'a trace'}")
    save_picture(path, draw, figsize=(9.0, 4.6), layout="constrained")


def _draw(replay: Replay, title: str, figure: Figure) -> None:
    axes = figure.subplots()
    best = replay.row(f"best arm: {replay.best_arm}")
    steps = replay.judged_from + 1 + np.arange(len(best.earned))
    shown = np.unique(np.linspace(0, len(steps) - 1, MOST_POINTS).astype(int))
    rows = [row for row in replay.rows if not row.name.startswith("every step")]
    for row, look in zip(rows, _looks([row.kind for row in rows]), strict=True):
        above = row.earned / max(row.counted, 1e-12) - best.earned / max(best.counted, 1e-12)
        label = f"{printable(row.name, 34)} {row.rate:.4f}"
        axes.plot(steps[shown], above[shown], label=label, **look)
    axes.set(title=printable(title, 90), xlabel="step", ylabel="reward above the best arm")
    axes.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.supxlabel(NOTE, fontsize=8, color="#555555")


def _looks(kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Learners and plans in solid colours, rules dashed, what knows the trace in grey."""
    drawn: Counter[str] = Counter()
    for kind in kinds:
        group = kind if kind in ("rule", "hindsight") else "solid"
        k = drawn[group]
        drawn[group] += 1
        if group == "hindsight":
            yield {"color": GREY, "ls": "-", "lw": 1.2}
        elif group == "rule":
            yield {"color": LIGHT[-1 - k % len(LIGHT)], "ls": DASHES[k % len(DASHES)], "lw": 1.3}
        else:
            yield {"color": LIGHT[k % len(LIGHT)], "ls": "-" if k < len(LIGHT) else "-.", "lw": 1.8}
