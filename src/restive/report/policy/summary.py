"""A policy at work, for any number of arms: a stretch of play, and what follows what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from restive.report.drawing.picture import INK
from restive.report.policy import colors
from restive.report.policy.maps import Returns
from restive.report.policy.play import Play

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from restive.model.bandit import Bandit

__all__ = ["draw_summary"]

SHOWN = 80  # steps of play
MAP = "cividis"  # even steps of lightness, the same for all kinds of colour vision


def draw_summary(figure: Figure, bandit: Bandit, seen: Play, after: Returns) -> str:
    """A raster of play above, next pulls and times of rest below; returns words on the rest."""
    count, rows = bandit.n_arms, len(after.arms)
    heights = [0.36 * count + 0.5, 0.3 * rows + 0.6]
    figure.set_size_inches(11, sum(heights) + 2.4)
    grid = figure.add_gridspec(2, 2, height_ratios=heights, width_ratios=[1.3, 1])
    _raster(figure, figure.add_subplot(grid[0, :]), bandit, seen)
    left = figure.add_subplot(grid[1, 0])
    _next_pulls(left, bandit, after)
    _rests(figure.add_subplot(grid[1, 1], sharey=left), after)
    every = sum(bandit.n_states)
    words = f"Frequencies from {seen.pulls.size:,} simulated steps."
    if after.share.sum() < 0.9995:
        words += (
            f" The {rows} most frequent of {every} sights: {after.share.sum():.0%} of the time."
        )
    elif rows < every:
        words += " Sights that never happened are left out."
    return words


def _raster(figure: Figure, ax: Axes, bandit: Bandit, seen: Play) -> None:
    """The last steps of one path: thin bars are hidden states, full cells are pulls."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    steps = min(SHOWN, len(seen.pulls))
    hidden, pulls = seen.hidden[-steps:, 0], seen.pulls[-steps:, 0]
    scale = ScalarMappable(Normalize(0, 1), MAP)
    for arm in range(bandit.n_arms):
        paint = scale.to_rgba(bandit.arms[arm].rewards[hidden[:, arm]])
        pale = 1 - 0.55 * (1 - paint)
        ax.bar(np.arange(steps), 0.12, 1, arm - 0.06, color=pale, linewidth=0, antialiased=False)
        at = np.flatnonzero(pulls == arm)
        ax.bar(at, 0.84, 1, arm - 0.42, color=paint[at], edgecolor="white", linewidth=0.6)
    ax.step(np.arange(steps), pulls, where="mid", color=INK, linewidth=0.5, alpha=0.5)
    ax.set_yticks(np.arange(bandit.n_arms), _arms(bandit))
    ax.set_ylim(bandit.n_arms - 0.4, -0.6)
    ax.set_xlim(-0.6, steps - 0.4)
    ax.set_xlabel("step")
    ax.set_title("a stretch of play: tall cells are pulls, thin lines the states unseen")
    bar = figure.colorbar(scale, ax=ax, pad=0.01, fraction=0.03)
    bar.set_label("mean reward\nof the state", fontsize=9)


def _arms(bandit: Bandit) -> list[str]:
    return [colors.arm_label(bandit, arm) for arm in range(bandit.n_arms)]


def _next_pulls(ax: Axes, bandit: Bandit, after: Returns) -> None:
    """Law of the next pull by what was seen, the most frequent sight on top."""
    ax.imshow(after.following, cmap="Blues", vmin=0, vmax=1.25, aspect="auto")
    for (row, arm), part in np.ndenumerate(after.following):
        if part >= 0.005:
            tone = "white" if part > 0.75 else INK
            ax.text(arm, row, f"{part:.0%}", ha="center", va="center", color=tone, fontsize=8)
    names = _arms(bandit)
    ax.set_xticks(np.arange(bandit.n_arms), names)
    if bandit.n_arms * max(map(len, names)) > 50:  # too wide to stand side by side
        for tick in ax.get_xticklabels():
            tick.set(rotation=30, horizontalalignment="right", rotation_mode="anchor")
    triples = zip(after.arms.tolist(), after.states.tolist(), after.share.tolist(), strict=True)
    sights = [_sight(bandit, arm, state) + f"  ({part:.0%})" for arm, state, part in triples]
    ax.set_yticks(np.arange(len(sights)), sights)
    ax.annotate(
        "just seen\n(part of the time)", (0, 1), (-8, 4), xycoords="axes fraction",
        textcoords="offset points", ha="right", va="bottom", fontsize=8.5, color="#555555",
    )  # fmt: skip
    ax.set_title("arm pulled next")


def _sight(bandit: Bandit, arm: int, state: int) -> str:
    name, seen = colors.arm_label(bandit, arm), colors.state_label(bandit, arm, state)
    return f"{name}: {seen}" if seen else name


def _rests(ax: Axes, after: Returns) -> None:
    """How long an arm is left alone after a sight: median and the middle 90 %."""
    rows = np.arange(len(after.arms))
    low, median, high = after.ages.T
    ax.hlines(rows, low, high, color="#0072B2", linewidth=5, alpha=0.4)
    ax.plot(median, rows, "o", color="#0072B2", markersize=6)
    ax.set_xscale("log")
    top = max(10.0, float(np.nan_to_num(high).max()) * 1.3)
    marks = [mark for mark in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000) if mark <= top]
    ax.set_xticks(marks, [str(mark) for mark in marks])
    ax.set_xticks([], minor=True)
    ax.set_xlim(0.85, top)
    ax.grid(axis="x", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelleft=False)
    ax.set_xlabel("steps (dot: median, bar: 5 % to 95 %)")
    ax.set_title("time until the same arm is pulled again")
