"""``learning_figure``: the regrets of one run over time as a picture in a file."""

from __future__ import annotations

import os
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from restive.report.drawing.picture import INK, printable, save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from restive.simulation import Run

__all__ = ["learning_figure"]

Floats = NDArray[np.float64]

# Okabe and Ito's colours, told apart with any colour vision; dashes for those who print in grey
LINES: dict[str, tuple[str, str, str]] = {
    "regret": ("regret", "#0072B2", "-"),
    "gap_regret": ("gap regret", "#D55E00", "-"),
    "weak_regret": ("weak regret", "#009E73", "--"),
}
NOTE = (
    "regret: lost against the best policy.  gap regret: the same without luck.  "
    "weak regret: lost against the best single arm (negative: earned more)."
)


def learning_figure(
    run: Run, path: str | os.PathLike[str], *, title: str = "", steps: int | None = None
) -> None:
    """Draw the regrets of a run, linear and log-log, into a file ending in .svg, .png or .pdf.

    steps: draw up to here (the whole run by default). What a run does not have is left out. The
    same run gives the same bytes; the file appears whole or not at all.
    """
    draw = partial(_draw, run, title, steps)
    save_picture(path, draw, figsize=(9.5, 4.2), layout="constrained")


def _draw(run: Run, title: str, steps: int | None, figure: Figure) -> None:
    points = len(run.times) if steps is None else int((run.times <= steps).sum())
    times = run.times[:points].astype(np.float64)
    curves = {name: curve[:points] for name in LINES if (curve := getattr(run, name)) is not None}
    linear, logs = figure.subplots(1, 2)
    linear.axhline(0, color=INK, lw=0.6)
    _panel(linear, times, curves)
    linear.locator_params(axis="x", nbins=5)
    logs.set(xscale="log", yscale="log")
    growing = {name: np.where(c > 0, c, np.nan) for name, c in curves.items() if c[-1] > 0}
    _root(logs, times, growing)
    _panel(logs, times, growing)
    for axis in (linear.xaxis, linear.yaxis, logs.xaxis, logs.yaxis):
        axis.set_major_formatter(axis_number)
    linear.set_ylabel("lost so far, in rewards")
    figure.suptitle(printable(title, 90), fontsize=12.5)
    figure.supxlabel(NOTE, fontsize=8, color="#555555")


def _panel(axes: Axes, times: Floats, curves: dict[str, Floats]) -> None:
    """The curves, each with its name at its end."""
    ends: list[tuple[float, str, str]] = []
    for name, curve in curves.items():
        label, colour, dash = LINES[name]
        if np.isfinite(curve).sum() < 2:
            continue
        axes.plot(times, curve, color=colour, ls=dash, lw=1.8)
        ends.append((float(curve[-1]), label, colour))
    axes.set_xlabel("step")
    axes.margins(x=0.02)
    places = labels_apart(axes, [value for value, _, _ in ends])
    for (_, label, colour), place in zip(ends, places, strict=True):
        axes.annotate(label, (1.02, place), xycoords="axes fraction", color=colour, va="center",
                      fontsize=9, annotation_clip=False)  # fmt: skip


def labels_apart(axes: Axes, values: list[float]) -> list[float]:
    """Heights for labels at these values, as shares of the axes, at least a line apart."""
    axes.get_ylim()  # settles the limits, on which the transformation depends
    raw = [axes.transData.transform((1.0, value)) for value in values]
    whole = [float(axes.transAxes.inverted().transform(point)[1]) for point in raw]
    order = np.argsort(whole)
    placed = list(np.minimum(whole, 1.0 - 0.065 * (len(whole) - 1)))
    for below, above in pairwise(order):
        placed[above] = max(placed[above], placed[below] + 0.065)
    return placed


def axis_number(value: float, position: int | None = None) -> str:
    """Numbers on the axes: 2,000 or 1e6."""
    if value == 0 or 0.001 <= abs(value) < 1e6:
        return f"{value:,g}"
    mantissa, exponent = f"{value:e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def _root(axes: Axes, times: Floats, curves: dict[str, Floats]) -> None:
    """A thin line that grows like the square root of time, for the eye."""
    shown: Any = next((curves[n] for n in ("gap_regret", "regret") if n in curves), None)
    if shown is None or len(times) < 2:
        return
    later = times >= max(1.0, times[-1] / 1e3)
    axes.plot(times[later], 2 * shown[-1] * np.sqrt(times[later] / times[-1]), color="#999999",
              lw=1, ls=":")  # fmt: skip
    axes.annotate("√t", (times[later][0], 2 * shown[-1] * np.sqrt(times[later][0] / times[-1])),
                  color="#777777", fontsize=9, ha="right", va="bottom")  # fmt: skip
