"""Charts of claims as pieces of SVG; colours come from the page's style sheet.

Titles of the axes, which hold formulas, are the page's: SVG has no mathematics of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import Any

from markupsafe import Markup

from restive.report.drawing.axes import axis_number
from restive.report.drawing.palette import LIGHT
from restive.report.drawing.svg import label

WIDTH, HEIGHT = 460.0, 226.0
TOP, BOTTOM, RIGHT = 8.0, 22.0, 14.0
LETTER = 6.2  # width of a letter of axis numbers
MEASURED = ("line", "dots", "steps", "range")
Place = Callable[[float], float]


class _Axis:
    """From values to places between two ends of the picture."""

    def __init__(self, values: Sequence[float], log: bool, ends: tuple[float, float]) -> None:
        self.log, self.ends = log, ends
        low, high = min(values), max(values)
        if log:
            low, high = log10(low), log10(high)
        room = 0.04 * (high - low) or 0.5
        self.low, self.high = low - room, high + room

    def __call__(self, value: float) -> float:
        value = log10(value) if self.log else value
        share = (value - self.low) / (self.high - self.low)
        return self.ends[0] + share * (self.ends[1] - self.ends[0])

    def marks(self, most: int, least: float = 0.0) -> list[float]:
        """Round numbers on the axis, few enough to be read, ``least`` apart if it is linear."""
        if self.log:
            first, last = ceil(self.low - 1e-9), floor(self.high + 1e-9)
            if last > first:
                every = ceil((last - first + 1) / most)
                return [10.0**p for p in range(first, last + 1, every)]
            low, high = 10.0**self.low, 10.0**self.high
        else:
            low, high = self.low, self.high
        step = max(least, _round_step((high - low) / most))
        return [k * step for k in range(ceil(low / step), floor(high / step + 1e-9) + 1) if
                k or not self.log]  # fmt: skip


def _round_step(size: float) -> float:
    """The next of 1, 2, 5 times a power of ten.

    >>> _round_step(0.13), _round_step(31)
    (0.2, 50.0)
    """
    power = 10.0 ** floor(log10(size))
    return next(k * power for k in (1, 2, 5, 10) if k * power >= size * (1 - 1e-9))


def _number(value: float) -> str:
    return axis_number(float(f"{value:.6g}"))


def chart_picture(chart: dict[str, Any], words: str) -> Markup:
    """The chart of a claim as it stands in the results; ``words`` are read out in its place."""
    rows = chart["rows"]
    across = [x for curve in chart["series"] for x in curve["x"]]
    upright = [y for curve in chart["series"] for y in (*curve["y"], *curve["upper"])]
    height = TOP + BOTTOM + 34.0 * len(rows) if rows else HEIGHT
    vertical = _Axis(upright, chart["log_y"], (height - BOTTOM, TOP))
    counts = any(curve["kind"] == "steps" for curve in chart["series"])
    marks = [] if rows else vertical.marks(5, least=1.0 if counts else 0.0)
    names = rows or [_number(mark) for mark in marks]
    left = 12 + LETTER * max(len(name) for name in names)
    sideways = _Axis(across, chart["log_x"], (left, WIDTH - RIGHT))
    if rows:
        marks = [float(k) for k in range(len(rows))]
        vertical = _Axis([-0.5, len(rows) - 0.5], False, (TOP, height - BOTTOM))
    frame = _frame(sideways, vertical, (marks, names), left, height)
    drawn = _drawn(chart["series"], sideways, vertical)
    return Markup(
        '<svg class="curves claim" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" '
        'width="{:g}" height="{:g}">{}{}</svg>'
    ).format(words, WIDTH, height, WIDTH, height, Markup().join(frame), Markup().join(drawn))


def _frame(
    sideways: _Axis, vertical: _Axis, marked: tuple[list[float], list[str]], left: float,
    height: float,
) -> list[Markup]:  # fmt: skip
    """Grid lines and numbers."""
    line = '<path class="grid" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>'
    bottom, parts = height - BOTTOM, []
    for mark, name in zip(*marked, strict=True):
        y = vertical(mark)
        parts.append(Markup(line).format(left, y, WIDTH - RIGHT, y))
        parts.append(label(left - 6, y + 4, name, "axis", "end"))
    for mark in sideways.marks(6):
        x = sideways(mark)
        parts.append(Markup(line).format(x, TOP, x, bottom))
        parts.append(label(x, bottom + 15, _number(mark), "axis"))
    return parts


def _drawn(series: Sequence[dict[str, Any]], x: Place, y: Place) -> list[Markup]:
    colors, parts = _colors(series), []
    for curve in series:
        points = [(x(a), y(b)) for a, b in zip(curve["x"], curve["y"], strict=False)]
        kind = curve["kind"]
        if kind == "guide":
            dash = ' style="stroke-dasharray:{}"'.format(colors[curve["name"]])
            parts.append(_path("held", points, Markup(dash)))
            continue
        color = Markup(' style="--line:var(--c{})"').format(colors[curve["name"]])
        if kind == "band":
            back = [(x(a), y(b)) for a, b in zip(curve["x"], curve["upper"], strict=True)]
            parts.append(_path("band", points + back[::-1], color))
        elif kind == "dots":
            parts += [Markup('<circle class="spot" cx="{:.1f}" cy="{:.1f}" r="4.5"{}/>')
                      .format(*point, color) for point in points]  # fmt: skip
        elif kind == "steps":
            parts.append(_path("band steps", _bars(curve, x, y), color))
        else:
            parts.append(_path("line" if kind == "line" else "line range", points, color))
    return parts


def _bars(curve: dict[str, Any], x: Place, y: Place) -> list[tuple[float, float]]:
    """The outline of a histogram."""
    corners = [(x(curve["x"][0]), y(0.0))]
    for k, height in enumerate(curve["y"]):
        corners += [(x(curve["x"][k]), y(height)), (x(curve["x"][k + 1]), y(height))]
    return [*corners, (x(curve["x"][-1]), y(0.0))]


def _path(kind: str, points: Sequence[tuple[float, float]], style: Markup) -> Markup:
    words = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
    return Markup('<path class="{}" d="M{}"{}/>').format(kind, words, style)


DASHES = ("7 4", "2 3", "10 3 2 3")


def _colors(series: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A colour for every name that was measured, dashes for every guide."""
    measured = dict.fromkeys(curve["name"] for curve in series if curve["kind"] != "guide")
    guides = dict.fromkeys(curve["name"] for curve in series if curve["kind"] == "guide")
    colors: dict[str, Any] = {name: k % len(LIGHT) for k, name in enumerate(measured)}
    return colors | {name: DASHES[k % len(DASHES)] for k, name in enumerate(guides)}


def chart_key(chart: dict[str, Any]) -> list[tuple[Markup, str]]:
    """A sample of each kind of mark, and what it stands for."""
    key: dict[str, Markup] = {}
    colors = _colors(chart["series"])
    for curve in chart["series"]:
        name, kind = curve["name"], curve["kind"]
        if kind == "guide":
            key[name] = Markup('<path class="held" d="M0 5H26" style="stroke-dasharray:{}"/>'
                               ).format(colors[name])  # fmt: skip
        elif kind in MEASURED:
            shape = {"dots": '<circle class="spot" cx="13" cy="5" r="4.5"/>',
                     "steps": '<path class="band steps" d="M3 10V2H23V10"/>',
                     "range": '<path class="line range" d="M4 5H22"/>'
                     }.get(kind, '<path class="line" d="M0 5H26"/>')  # fmt: skip
            key[name] = Markup('<g style="--line:var(--c{})">{}</g>').format(
                colors[name], Markup(shape)
            )
    sample = '<svg class="curves sample" width="26" height="10" aria-hidden="true">{}</svg>'
    return [(Markup(sample).format(shape), name) for name, shape in key.items()]
