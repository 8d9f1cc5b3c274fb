"""``policy_figure``: a plan's policy as a picture in a file."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from restive.report.drawing.picture import INK, printable, save_picture
from restive.report.policy import colors, maps
from restive.report.policy.alike import ALIKE, alike, shown_returns, three_alike
from restive.report.policy.panels import draw_maps, draw_strips
from restive.report.policy.visits import Play, simulated_play, visits_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from restive.model.bandit import Bandit
    from restive.planning import Plan

SHOWN = 80  # steps of play
LONGEST = 28  # letters of the names of arms that are alike
MAP = "cividis"  # even steps of lightness, the same for all kinds of colour vision
WIDE = 1e-3  # an interval wider than this stands in the title instead of its middle


def policy_figure(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Draw the policy of a plan into ``path``, which ends in .svg, .png or .pdf.

    Two arms: the arm to pull as the rested arm's age grows, for every pair of last states. Three:
    the same over both rested arms' ages, in the most frequent situations. Otherwise a stretch of
    play, and what follows each sight. The same plan gives the same bytes; the file appears whole
    or not at all. Shares of time are those of the policy's stationary law, or where it has too
    many states, and then the picture says so, of simulated play with a fixed seed.
    """
    save_picture(path, partial(_draw, plan), layout="constrained")


def _draw(plan: Plan, figure: Figure) -> None:
    bandit, play = plan.bandit, simulated_play(plan)
    seen = visits_of(plan, play)
    if bandit.n_arms == 2:
        note = draw_strips(figure, bandit, maps.strips(plan, seen))
    elif bandit.n_arms == 3 and seen.pulled(3).min() > 0:
        roles = three_alike(bandit, seen)
        named, placed = roles or (bandit, seen)
        note = draw_maps(figure, named, maps.age_maps(plan, placed))
        note += ALIKE if roles else ""
    else:
        note = _summary(figure, bandit, play, shown_returns(bandit, seen), seen.arms_pulled)
    note += "" if seen.computed else " Shares of time are simulated."
    figure.suptitle(_title(plan), fontsize=12.5)
    figure.supxlabel(note, fontsize=8.5, color="#555555")


def _title(plan: Plan) -> str:
    digits, mean = 4, plan.bandit.units.mean
    while digits < 7 and 10.0**-digits > (plan.gain_upper - plan.gain_lower):
        digits += 1
    name = f"{printable(plan.bandit.name, 40)}: the" if plan.bandit.name else "The"
    low, high = (f"{bound:.{digits}f}" for bound in map(mean, (plan.gain_lower, plan.gain_upper)))
    words = f"{name} best policy earns {mean(plan.gain):.{digits}f} a step ({low} to {high})"
    if plan.gain_upper - plan.gain_lower > WIDE:
        words = f"{name} best policy earns between {low} and {high} a step"
    gains = [mean(0.5 * (start[1] + start[2])) for start in plan.starts]
    least, most = f"{min(gains):.{digits}f}", f"{max(gains):.{digits}f}"
    if least == most:
        return words
    return f"{words},\nthe mean over its starts, which allow from {least} to {most}"


# --- a policy at work, for any number of arms ------------------------------------------------


def _summary(
    figure: Figure, bandit: Bandit, seen: Play, after: maps.Returns, arms: list[int]
) -> str:
    """A raster of play above, next pulls and times of rest below; returns words on the rest.

    arms: those that are pulled; the others have no row and no column.
    """
    count, rows = len(arms), len(after.arms)
    heights = [0.36 * count + 0.5, 0.3 * rows + 0.6]
    figure.set_size_inches(11, sum(heights) + 2.4)
    grid = figure.add_gridspec(2, 2, height_ratios=heights, width_ratios=[1.3, 1])
    _raster(figure, figure.add_subplot(grid[0, :]), bandit, seen, arms)
    left = figure.add_subplot(grid[1, 0])
    _next_pulls(left, bandit, after, arms)
    _rests(figure.add_subplot(grid[1, 1], sharey=left), after)
    every = sum(bandit.n_states[arm] for arm in arms)
    if after.rows:  # arms that are alike share theirs
        every = sum(bandit.n_states[group[0]] for group in alike(bandit, arms))
    words = _never(bandit, arms)
    if after.share.sum() < 0.9995:
        words += (
            f" The {rows} most frequent of {every} sights: {after.share.sum():.0%} of the time."
        )
    elif rows < every:
        words += " Sights that never happened are left out."
    return words.strip()


def _never(bandit: Bandit, pulled: list[int]) -> str:
    """Which arms are left out, in a sentence."""
    rest = [colors.arm_label(bandit, j) for j in range(bandit.n_arms) if j not in pulled]
    if not rest:
        return ""
    named = ", ".join(rest[:3]) + (f" and {len(rest) - 3} more" if len(rest) > 3 else "")
    return f"Never pulled, and so left out: {named}."


def _raster(figure: Figure, ax: Axes, bandit: Bandit, seen: Play, arms: list[int]) -> None:
    """The last steps of one path: thin bars are hidden states, full cells are pulls."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    steps = min(SHOWN, len(seen.pulls))
    hidden, pulls = seen.hidden[-steps:, 0], seen.pulls[-steps:, 0]
    scale = ScalarMappable(Normalize(0, 1), MAP)
    for row, arm in enumerate(arms):
        paint = scale.to_rgba(bandit.arms[arm].rewards[hidden[:, arm]])
        pale = 1 - 0.55 * (1 - paint)
        ax.bar(np.arange(steps), 0.12, 1, row - 0.06, color=pale, linewidth=0, antialiased=False)
        at = np.flatnonzero(pulls == arm)
        ax.bar(at, 0.84, 1, row - 0.42, color=paint[at], edgecolor="white", linewidth=0.6)
    rows = np.searchsorted(arms, pulls)
    ax.step(np.arange(steps), rows, where="mid", color=INK, linewidth=0.5, alpha=0.5)
    ax.set_yticks(np.arange(len(arms)), _names(bandit, arms))
    ax.set_ylim(len(arms) - 0.4, -0.6)
    ax.set_xlim(-0.6, steps - 0.4)
    ax.set_xlabel("step")
    ax.set_title("a stretch of simulated play: tall cells are pulls, thin lines the states unseen")
    bar = figure.colorbar(scale, ax=ax, pad=0.01, fraction=0.03)
    bar.set_label("mean reward\nof the state", fontsize=9)


def _names(bandit: Bandit, arms: list[int]) -> list[str]:
    return [colors.arm_label(bandit, arm) for arm in arms]


def _next_pulls(ax: Axes, bandit: Bandit, after: maps.Returns, arms: list[int]) -> None:
    """Law of the next pull by what was seen, the most frequent sight on top."""
    following = after.following if after.columns else after.following[:, arms]
    ax.imshow(following, cmap="Blues", vmin=0, vmax=1.25, aspect="auto")
    for (row, arm), part in np.ndenumerate(following):
        if part >= 0.005:
            tone = "white" if part > 0.75 else INK
            ax.text(arm, row, f"{part:.0%}", ha="center", va="center", color=tone, fontsize=8)
    names = [printable(name, LONGEST) for name in after.columns] or _names(bandit, arms)
    ax.set_xticks(np.arange(len(names)), names)
    if len(names) * max(map(len, names)) > 50:  # too wide to stand side by side
        for tick in ax.get_xticklabels():
            tick.set(rotation=30, horizontalalignment="right", rotation_mode="anchor")
    sights = [f"{_sight(bandit, after, row)}  ({part:.0%})" for row, part in enumerate(after.share)]
    ax.set_yticks(np.arange(len(sights)), sights)
    ax.annotate(
        "just seen\n(part of the time)", (0, 1), (-8, 4), xycoords="axes fraction",
        textcoords="offset points", ha="right", va="bottom", fontsize=8.5, color="#555555",
    )  # fmt: skip
    ax.set_title("arm pulled next")


def _sight(bandit: Bandit, after: maps.Returns, row: int) -> str:
    arm, state = int(after.arms[row]), int(after.states[row])
    name = printable(after.rows[row], LONGEST) if after.rows else colors.arm_label(bandit, arm)
    seen = colors.state_label(bandit, arm, state)
    return f"{name}: {seen}" if seen else name


def _rests(ax: Axes, after: maps.Returns) -> None:
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
