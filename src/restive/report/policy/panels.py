"""Pictures of whole policies: strips for two arms, maps for three."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from restive.base.arrays import Floats, Ints
from restive.report.drawing.picture import INK
from restive.report.policy import colors
from restive.report.policy.maps import EITHER, FINE, AgeMap, Strips, runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from restive.model.bandit import Bandit


ROW_HEIGHT, DOT = 0.3, 130.0
ROOM = 28  # letters of a title in full size
RARE = 0.0002  # part of the time below which a place gets no dot


def draw_strips(figure: Figure, bandit: Bandit, panels: Sequence[Strips]) -> str:
    """One panel per arm pulled last; returns a sentence on what is left out."""
    rows = max(len(panel.pairs) for panel in panels)
    figure.set_size_inches(11, 2.9 + ROW_HEIGHT * rows)
    top = colors.keyed_top(*(panel.gaps for panel in panels))
    grid = figure.add_gridspec(2, 2, height_ratios=[ROW_HEIGHT * rows + 0.7, 0.55])
    for k, panel in enumerate(panels):
        _strip_panel(figure.add_subplot(grid[0, k]), bandit, panel, top)
    either = any((panel.actions == EITHER).any() for panel in panels)
    colors.key(figure.add_subplot(grid[1, :]), bandit, top, either)
    covered = sum(float(panel.share.sum()) for panel in panels)
    every = int(np.prod(bandit.n_states))
    words = "Dots: where the policy spends its time."
    if rows < every:
        words += (
            f" The {rows} most frequent of {every} pairs of last states: {covered:.0%} of the time."
        )
    if any(panel.period > 1 for panel in panels):
        words += " The last ages of a periodic arm repeat."
    return words


def _strip_panel(ax: Axes, bandit: Bandit, panel: Strips, top: float) -> None:
    rows, edges = len(panel.pairs), colors.cell_edges(panel.ages)
    painted = colors.shades(panel.actions, panel.gaps, top)
    ax.pcolormesh(edges, np.arange(rows + 1), painted, rasterized=painted.size > 20_000)
    _age_axis(ax, "x", panel.ages, panel.period)
    names = [colors.arm_label(bandit, arm) for arm in (panel.last, panel.rested)]
    ax.set_xlabel(f"steps since {names[1]} was seen")
    ax.set_title(f"{names[0]} was pulled last", fontsize=11, fontweight="bold")
    _row_names(ax, bandit, panel)
    ax.set_ylim(rows, 0)
    ax.hlines(np.arange(1, rows), edges[0], edges[-1], color="white", linewidth=2.5)
    r, n = np.nonzero(panel.visits >= RARE)
    _scatter(ax, panel.ages[n], r + 0.8, panel.visits[r, n] / 4)
    for row in range(rows):
        _name_runs(ax, bandit, panel, row, top)


def _row_names(ax: Axes, bandit: Bandit, panel: Strips) -> None:
    """Pairs of last states beside the rows, under a heading; arms with one state are left out."""
    arms = [arm for arm in (0, 1) if bandit.n_states[arm] > 1]
    labels = [
        ", ".join(colors.state_label(bandit, arm, pair[arm]) for arm in arms)
        for pair in panel.pairs.tolist()
    ]
    ax.set_yticks(np.arange(len(labels)) + 0.5, labels)
    if arms:
        heading = "last seen on\n" + ", ".join(colors.arm_label(bandit, arm) for arm in arms)
        ax.annotate(
            heading, (0, 1), (-8, 4), xycoords="axes fraction", textcoords="offset points",
            ha="right", va="bottom", fontsize=8.5, color="#555555",
        )  # fmt: skip


def _scatter(ax: Axes, x: NDArray[Any], y: NDArray[Any], visits: Floats) -> None:
    ax.scatter(
        x, y, DOT * np.sqrt(visits), color=INK, alpha=0.75, linewidths=0, zorder=3,
        rasterized=len(x) > 200,
    )  # fmt: skip


def _name_runs(ax: Axes, bandit: Bandit, panel: Strips, row: int, top: float) -> None:
    """Write the arm into each stretch, and the age at which it begins, where there is room."""
    edges = colors.cell_edges(panel.ages)
    scale = np.log if panel.ages[-1] > FINE else np.asarray
    width = float(scale(edges[-1]) - scale(edges[0]))
    for action, first, past in runs(panel.actions[row], panel.ages):
        room = 52 * float(scale(edges[past]) - scale(edges[first])) / width  # in characters
        words = "either" if action == EITHER else colors.arm_label(bandit, action)
        age = str(panel.ages[first])
        options = [words, ""] if first == 0 else [f"from {age}: {words}", f"from {age}", age, ""]
        text = next(option for option in options if len(option) + 1 <= room or not option)
        # Blue alone gets dark enough for white letters; they must not run onto paler cells.
        deep = action == 0 and panel.gaps[row, first : min(past, first + 5)].min() > 0.5 * top
        ax.annotate(
            text, (edges[first], row + 0.42), (3, 0), textcoords="offset points",
            fontsize=8, va="center", color="white" if deep else INK, zorder=4,
        )  # fmt: skip
        if first:
            ax.vlines(edges[first], row + 0.06, row + 0.94, color=INK, linewidth=1.2)


def _age_axis(ax: Axes, which: str, ages: Ints, period: int) -> None:
    """Whole ages as ticks, on a logarithmic scale if there are many; the last stands for more."""
    edges = colors.cell_edges(ages)
    low, high = int(ages[0]), int(ages[-1])
    if high > FINE:
        ax.set(**{f"{which}scale": "log"})
        rounds = [mark * 10**k for k in range(len(str(high))) for mark in (1, 2, 5)]
        marks = [mark for mark in rounds if low <= mark < high / 1.6]
    else:
        marks = list(range(low, high, 1 if high <= 14 else 2 if high <= 26 else 4))
    if marks and high - marks[-1] < (high - low) / 9 and high <= FINE:
        marks.pop()
    axis: Axis = ax.xaxis if which == "x" else ax.yaxis
    more = "+" if period == 1 else " …"
    axis.set_ticks([*marks, high], [*map(str, marks), f"{high}{more}"])
    axis.set_ticks([], minor=True)
    ax.set(**{f"{which}lim": (edges[0], edges[-1])})


def draw_maps(figure: Figure, bandit: Bandit, maps: Sequence[AgeMap]) -> str:
    """Small multiples, the most frequent situation first; returns a sentence on the rest."""
    columns = min(4, len(maps))
    rows = -(-len(maps) // columns)
    figure.set_size_inches(11.6, 2.2 + 2.85 * rows)
    top = colors.keyed_top(*(part.gaps for part in maps))
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=[*[2.7] * rows, 0.75])
    for k, part in enumerate(maps):
        _map_panel(figure.add_subplot(grid[k // columns, k % columns]), bandit, part, top)
    either = any((part.actions == EITHER).any() for part in maps)
    colors.key(figure.add_subplot(grid[rows, :]), bandit, top, either)
    covered = sum(part.share for part in maps)
    return (
        "Dots: where the policy spends its time. Grey: never, two arms cannot have the same age. "
        f"In brackets: the state last seen.\nThese {len(maps)} situations, the most frequent "
        f"first, make up {covered:.1%} of the time."
    )


def _map_panel(ax: Axes, bandit: Bandit, part: AgeMap, top: float) -> None:
    a, b = part.others
    edges = [colors.cell_edges(ages) for ages in part.ages]
    painted = colors.shades(part.actions, part.gaps, top).swapaxes(0, 1)
    ax.set_facecolor("#dddddd")
    ax.pcolormesh(edges[0], edges[1], painted, rasterized=True)
    _age_axis(ax, "x", part.ages[0], bandit.arms[a].period)
    _age_axis(ax, "y", part.ages[1], bandit.arms[b].period)
    seen = [colors.seen_words(bandit, arm, part.also[arm], 9, 16) for arm in range(3)]
    seen = [f" ({words})" if words else "" for words in seen]
    names = [colors.arm_label(bandit, arm, 10) for arm in range(3)]
    title = f"now {names[part.last]}{seen[part.last]}: {part.share:.0%}"
    ax.set_title(title, fontsize=9.5 if len(title) <= ROOM else 8)
    ax.set_xlabel(f"age of {names[a]}{seen[a]}", fontsize=8.5)
    ax.set_ylabel(f"age of {names[b]}{seen[b]}", fontsize=8.5)
    ax.tick_params(labelsize=7.5)
    i, k = np.nonzero(part.visits >= RARE)
    _scatter(ax, part.ages[0][i], part.ages[1][k], part.visits[i, k])
    _name_regions(ax, names, part)


def _name_regions(ax: Axes, names: list[str], part: AgeMap) -> None:
    """Write the arm into its region, where that is widest."""
    from scipy.ndimage import distance_transform_cdt

    for arm, name in enumerate(names):
        inside = np.pad(part.actions == arm, 1)
        depth = distance_transform_cdt(inside, "chessboard")[1:-1, 1:-1]
        if depth.max(initial=0) >= 2:
            i, k = np.unravel_index(int(depth.argmax()), depth.shape)
            place = part.ages[0][i], part.ages[1][k]
            side = "left" if i < 0.2 * len(depth) else "right" if i > 0.8 * len(depth) else "center"
            words = ax.text(*place, name, fontsize=8, ha=side, va="center", color=INK)
            words.set_bbox({"facecolor": "white", "alpha": 0.6, "linewidth": 0, "pad": 1.2})
