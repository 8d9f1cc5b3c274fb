"""Traces as timelines: for each stretch of time the shares of what was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup, escape

from restive.base.arrays import Floats
from restive.report.drawing.palette import FILLS

if TYPE_CHECKING:
    from restive.data.traces import ArmTrace


BINS = 240  # stretches of time, at most
HEIGHT = 100


@dataclass(frozen=True, eq=False)
class Lane:
    """shares: (bins, S) of each state among the looks of a stretch, nan where there were none.

    seen: (bins,) part of the steps that were seen. start, end: steps.
    """

    shares: Floats
    seen: Floats
    start: int
    end: int


def lane_of(trace: ArmTrace, start: int, end: int, bins: int = BINS) -> Lane:
    """An arm from step ``start`` to before ``end``, in at most ``bins`` stretches."""
    span, size = max(1, end - start), len(trace.labels)
    bins = min(bins, span)
    places = (trace.times - start) * bins // span
    counts = np.bincount(places * size + trace.states, minlength=bins * size)
    table = counts.reshape(bins, size).astype(np.float64)
    looks = table.sum(axis=1)
    steps = np.diff(np.ceil(np.arange(bins + 1) * span / bins))
    shares = np.where(looks[:, None] > 0, table / np.maximum(looks, 1)[:, None], np.nan)
    return Lane(shares, looks / np.maximum(steps, 1), start, end)


def draw_lane(lane: Lane, worth: Floats, words: str, mark: int | None = None) -> Markup:
    """A picture as wide as its place: states stacked, or their mean reward where they are many.

    worth: (S,) reward of each state. mark: a step at which a line is drawn.
    """
    if lane.shares.shape[1] <= len(FILLS):
        parts = [
            f'<path class="s{s}" d="{_bars(lower, upper)}"/>'
            for s, (lower, upper) in enumerate(_stacked(lane.shares))
        ]
    else:
        mean = lane.shares @ np.nan_to_num(worth)
        parts = [f'<path class="mean" d="{_bars(np.zeros(len(mean)), mean)}"/>']
    if mark is not None:
        x = (mark - lane.start) / max(1, lane.end - lane.start) * len(lane.shares)
        parts += [f'<path class="{kind}" d="M{x:.2f} 0V{HEIGHT}"/>' for kind in ("halo", "jump")]
    return Markup(
        '<svg class="timeline" role="img" aria-label="{}" viewBox="0 0 {} {}" '
        'preserveAspectRatio="none">{}</svg>'
    ).format(escape(words), len(lane.shares), HEIGHT, Markup("".join(parts)))


def _stacked(shares: Floats) -> list[tuple[Floats, Floats]]:
    """Lower and upper edge of every state's part."""
    tops = np.cumsum(shares, axis=1)
    edges = np.column_stack([np.zeros(len(shares)), tops])
    return [(edges[:, s], edges[:, s + 1]) for s in range(shares.shape[1])]


def _bars(lower: Floats, upper: Floats) -> str:
    """One path for all stretches; equal neighbours are joined, empty ones left out."""
    low = np.rint(HEIGHT * (1 - np.nan_to_num(lower))).astype(int)
    high = np.rint(HEIGHT * (1 - np.nan_to_num(upper))).astype(int)
    shown = np.isfinite(upper) & (low > high)
    breaks = np.flatnonzero(np.diff(low) | np.diff(high) | np.diff(shown.astype(int))) + 1
    starts, ends = np.append(0, breaks), np.append(breaks, len(low))
    return "".join(
        f"M{a} {low[a]}H{b}V{high[a]}H{a}z"
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
        if shown[a]
    )
