"""Pieces of pictures of curves: marks on axes, numbers beside them, names at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.arrays import Floats
from restive.report.drawing import palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE = 1.2  # distance of lines of words, in letters


def axis_number(value: float, position: Any = None) -> str:
    """Numbers on the axes: 2,000 or 1e6.

    >>> axis_number(2000), axis_number(-0.5), axis_number(2e6)
    ('2,000', '−0.5', '2e6')
    """
    if value == 0 or 0.001 <= abs(value) < 1e6:
        return f"{value:,g}".replace("-", "−")
    mantissa, exponent = f"{value:e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}".replace("-", "−")


def number_axes(axes: Axes) -> None:
    """Numbers as ``axis_number`` writes them on both axes."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(axis_number)


def log_scale(
    axes: Axes, curves: Sequence[Floats], ends: Sequence[float], below: float = 10.0
) -> float:
    """Make the upright axis logarithmic, around zero where these curves reach it.

    ends: where the curves end; a power of ten, by the factor ``below`` below all of them, is the
    unit under which the axis goes on in even steps. Returns it, or 0 where no curve reaches
    zero.
    """
    values = np.concatenate([np.ravel(curve) for curve in curves])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 10.0)
    if low > 0:
        low = max(low, high / 1e6)
        bounds = (min(low / 1.1, high / 10), high * 1.1)
        axes.set(yscale="log", ylim=bounds)
        axes.set_yticks(_powers(*bounds))
        axes.set_yticks([], minor=True)
        return 0.0
    top = max(high, -low) or 1.0
    sizes = [abs(end) for end in ends if end]
    least = min(top / 10, max(top / 1e4, min(sizes, default=top) / below))
    unit = 10.0 ** floor(log10(least) + 1e-9)
    axes.set_yscale("symlog", linthresh=unit, linscale=1.0)
    axes.set_ylim(low * 1.2, max(high * 1.2, unit))
    axes.set_yticks(_around_zero(low * 1.2, max(high * 1.2, unit), unit))
    axes.set_yticks([], minor=True)
    return unit


def _powers(low: float, high: float) -> list[float]:
    """Round numbers between two, even in their ratios.

    >>> _powers(0.9, 1e3), _powers(3.0, 40.0)
    ([1.0, 10.0, 100.0, 1000.0], [5.0, 10.0, 20.0])
    """
    first, last = floor(log10(low)), ceil(log10(high))
    every, steps = ceil((last - first) / 7), (1, 2, 5) if last - first <= 2 else (1,)
    marks = [step * 10.0**p for p in range(first, last + 1, every) for step in steps]
    return [mark for mark in marks if low <= mark <= high * 1.001]


def _around_zero(low: float, high: float, unit: float) -> list[float]:
    """Zero and powers of ten on both sides, from the unit on.

    >>> _around_zero(-20.0, 500.0, 1.0)
    [-10.0, -1.0, 0.0, 1.0, 10.0, 100.0]
    """
    decades = [1 + log10(max(abs(end) / unit, 0.1)) for end in (low, high)]
    every = max(1, ceil(sum(decades) / 8))
    sizes = [unit * 10.0**p for p in range(0, 40, every)]
    return [mark for mark in sorted({0.0, *sizes, *(-s for s in sizes)}) if low <= mark <= high]


def dashes(learner: int) -> Any:
    """A learner's dashes as matplotlib writes them."""
    dash = palette.dash(learner)
    return (0, [float(part) / 1.6 for part in dash.split()]) if dash else "-"


def labels_apart(axes: Axes, values: Sequence[float], line: float) -> list[float]:
    """Heights for labels at these values, as shares of the axes, at least ``line`` apart."""
    axes.get_ylim()  # settles the limits, on which the transformation depends
    raw = [axes.transData.transform((1.0, value)) for value in values]
    whole = [float(axes.transAxes.inverted().transform(point)[1]) for point in raw]
    order = np.argsort(whole, kind="stable")
    most = 1.0
    placed = list(whole)
    for k in order[::-1]:  # from the top down, then up again from the bottom
        placed[k] = min(placed[k], most)
        most = placed[k] - line
    placed[order[0]] = max(placed[order[0]], 0.0)
    for below, above in pairwise(order):
        placed[above] = max(placed[above], placed[below] + line)
    return placed


def name_curves(
    figure: Figure, axes: Axes, ends: Sequence[tuple[int, str, float]], letters: float
) -> None:
    """Each name at the end of its curve, with a piece of the line: (learner, name, height).

    The figure must have been laid out once; it makes room for the names by itself.
    """
    from matplotlib.lines import Line2D
    from matplotlib.transforms import ScaledTranslation

    height = axes.get_window_extent().height * 72 / figure.dpi
    places = labels_apart(axes, [value for *_, value in ends], LINE * letters / height)
    shares: Any = axes.transAxes
    for (learner, name, _), place in zip(ends, places, strict=True):
        beside = figure.dpi_scale_trans + ScaledTranslation(1, place, shares)
        color = palette.LIGHT[palette.color_index(learner)]
        axes.add_line(Line2D([0.05, 0.27], [0, 0], color=color, ls=dashes(learner), lw=1.5,
                             transform=beside, clip_on=False))  # fmt: skip
        axes.text(0.31, 0, name, transform=beside, va="center", fontsize=letters)


def thin_marks(figure: Figure, axes: Axes) -> None:
    """Take every second mark away while words beside an axis touch."""
    for axis in (axes.xaxis, axes.yaxis):
        for _ in range(4):
            figure.draw_without_rendering()
            marks, (low, high) = axis.get_majorticklocs(), sorted(axis.get_view_interval())
            inside = [mark for mark in marks if low <= mark <= high]
            boxes = [tick.label1.get_window_extent() for tick in axis.get_major_ticks()
                     if low <= tick.get_loc() <= high and tick.label1.get_text()]  # fmt: skip
            if not any(a.padded(1).overlaps(b) for a, b in pairwise(boxes)) or len(inside) < 3:
                break
            axis.set_ticks(_every_second(inside))


def _every_second(marks: list[float]) -> list[float]:
    """Half of the marks; zero stays."""
    start = marks.index(0.0) % 2 if 0.0 in marks else 0
    return marks[start::2]
