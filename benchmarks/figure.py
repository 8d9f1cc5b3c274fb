"""The figure of growth: states, seconds a sweep and seconds to plan on logarithmic axes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

# Okabe and Ito's colors, told apart without seeing red or green; markers tell them apart in gray.
STYLES = {2: ("#0072B2", "o"), 3: ("#E69F00", "s"), 4: ("#009E73", "^"), 5: ("#CC79A7", "D")}
PANELS = [
    ("states", "information states (forecast)"),
    ("sweep_seconds", "seconds a sweep"),
    ("plan_seconds", "seconds to plan to 1e-6"),
]
LABELS = {"M": "M, the cap of all ages", "S": "|S|, states of every arm"}
TITLES = {"M": "Older ages (|S| = 2)", "S": "Larger arms"}


def draw(rows: list[dict[str, Any]], target: Path) -> None:
    """Draw the measured rows into ``target``; needs matplotlib."""
    import matplotlib
    from matplotlib.figure import Figure

    # fixed identifiers, no date and text as text: the same numbers give the same small file
    with matplotlib.rc_context({"svg.hashsalt": "restive", "svg.fonttype": "none"}):
        figure = Figure(figsize=(11, 6.6), layout="constrained")
        grid = figure.subplots(2, 3, sharex="row")
        for axes_row, axis in zip(grid, LABELS, strict=True):
            for axes, (key, label) in zip(axes_row, PANELS, strict=True):
                _panel(axes, [row for row in rows if row["axis"] == axis], axis, key)
                axes.set_ylabel(label)
            axes_row[0].set_title(TITLES[axis], loc="left", fontweight="bold")
            axes_row[0].legend(frameon=False, fontsize="small")
        extra = {"Date": None} if target.suffix == ".svg" else {}
        figure.savefig(target, metadata=extra, dpi=110)


def _panel(axes: Axes, rows: list[dict[str, Any]], axis: str, key: str) -> None:
    for arms in sorted({row["K"] for row in rows}):
        mine = [row for row in rows if row["K"] == arms]
        color, marker = STYLES[arms]
        label = f"K = {arms}" if axis == "M" else f"K = {arms}, M = {mine[0]['M']}"
        x, y = [row[axis] for row in mine], [row[key] for row in mine]
        axes.plot(x, y, color=color, marker=marker, markersize=5, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = sorted({row[axis] for row in rows})
    if axis == "S":
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(LABELS[axis])
    axes.grid(alpha=0.25, linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
