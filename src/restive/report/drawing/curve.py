"""Regret curves as a still picture, for readers whose browser runs no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

from markupsafe import Markup

from restive.report.drawing.svg import label, picture, polyline
from restive.report.policy.colors import plain

__all__ = ["still_picture"]

WIDTH, HEIGHT = 560.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 150.0, 12.0, 40.0
LINE = 14.0  # between two names
MOST_POINTS, MOST_BAND_POINTS = 60, 16

Line = list[list[float | None]]


@dataclass(frozen=True)
class _Axis:
    """A logarithmic axis between two powers or values, drawn from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        share = log10(max(value, self.low) / self.low) / log10(self.high / self.low)
        return self.start + min(share, 1.0) * (self.end - self.start)

    def marks(self) -> list[float]:
        powers = range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)
        every = max(1, len(powers) // 6)
        return [10.0**power for power in powers if power % every == 0]


def still_picture(
    panel: dict[str, Any], regret: str, learners: Sequence[str], words: str
) -> Markup | None:
    """Mean curves with bands on logarithmic axes; None if there is nothing above zero."""
    times, lines = panel["times"], panel["regrets"][regret]["mean"]
    high = max((max(_positive(line[0]), default=0.0) for line in lines if line), default=0.0)
    if high <= 0 or len(times) < 2:
        return None
    lows = [value for line in lines if line for value in _positive(line[0])]
    x = _Axis(times[0], times[-1], LEFT, LEFT + WIDTH)
    low = max(min(lows), high / 1e5)
    y = _Axis(min(low, high / 10), high * 1.15, TOP + HEIGHT, TOP)
    parts = [*_grid(x, y)]
    parts += [_band(x, y, times, line, k) for k, line in enumerate(lines) if line]
    parts += [_curve(x, y, times, line[0], k) for k, line in enumerate(lines) if line]
    parts += _names(y, lines, learners)
    view = (0.0, 0.0, LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM)
    return picture(parts, view, words, "curves")


def _positive(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None and value > 0]


def _grid(x: _Axis, y: _Axis) -> list[str]:
    bottom, right = TOP + HEIGHT, LEFT + WIDTH
    parts: list[str] = []
    for mark in x.marks():
        at = x.place(mark)
        parts.append(f'<path d="M{at:.1f} {TOP:g}V{bottom:g}" class="grid"/>')
        parts.append(label(at, bottom + 16, f"{mark:,.0f}" if mark < 1e5 else f"{mark:.0e}"))
    for mark in y.marks():
        at = y.place(mark)
        parts.append(f'<path d="M{LEFT:g} {at:.1f}H{right:g}" class="grid"/>')
        parts.append(label(LEFT - 6, at + 4, f"{mark:,.6g}", anchor="end"))
    parts.append(label(LEFT + WIDTH / 2, bottom + 34, "step"))
    return parts


def _thinned(times: list[float], values: list[Any], most: int) -> list[tuple[float, float]]:
    every = -(-len(times) // most)
    kept = sorted({*range(0, len(times), every), len(times) - 1})
    return [(times[k], values[k]) for k in kept if values[k] is not None]


def _curve(x: _Axis, y: _Axis, times: list[float], values: list[Any], learner: int) -> str:
    points = [(t, v) for t, v in _thinned(times, values, MOST_POINTS) if v >= y.low]
    path = polyline((x.place(t), y.place(v)) for t, v in points)
    return f'<path d="{path}" class="line k{learner}"/>' if points else ""


def _band(x: _Axis, y: _Axis, times: list[float], line: Line, learner: int) -> str:
    upper = _thinned(times, line[2], MOST_BAND_POINTS)
    lower = _thinned(times, line[1], MOST_BAND_POINTS)
    if not upper or not lower:
        return ""
    around = [*upper, *reversed(lower)]
    path = polyline((x.place(t), y.place(max(v, y.low))) for t, v in around)
    return f'<path d="{path}z" class="band k{learner}"/>'


def _names(y: _Axis, lines: Sequence[Line | None], learners: Sequence[str]) -> list[str]:
    """Each learner's name at the end of its curve, moved apart where they would touch."""
    ends = [(y.place(max(line[0][-1] or 0.0, y.low)), k) for k, line in enumerate(lines) if line]
    ends.sort()
    places = [at for at, _ in ends]
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + LINE)
    over = max(0.0, places[-1] - (TOP + HEIGHT)) if places else 0.0
    parts = []
    for (_, learner), at in zip(ends, places, strict=True):
        left, height = LEFT + WIDTH + 6, at - over
        swatch = f"M{left} {height:.1f}h22"
        parts.append(f'<path d="{swatch}" class="line k{learner}"/>')
        parts.append(label(left + 27, height + 4, plain(learners[learner], 18), "", "start"))
    return parts
