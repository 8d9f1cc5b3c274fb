"""Colours and words that all pictures of a policy share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.words import listed
from restive.report.drawing.picture import LONGEST_NAME, printable
from restive.report.policy.maps import EITHER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from restive.model.bandit import Bandit


HUES = ("#0072B2", "#E69F00", "#009E73")  # Okabe and Ito's: told apart with any colour vision
PALEST = 0.25  # share of the hue where nothing is lost


def arm_label(bandit: Bandit, arm: int, longest: int = LONGEST_NAME) -> str:
    """The arm's name, with its number where the shortened name is not its own."""
    names = [printable(bandit.arm_name(j), longest) for j in range(bandit.n_arms)]
    return names[arm] if names.count(names[arm]) == 1 else f"{names[arm]} ({arm + 1})"


def state_label(bandit: Bandit, arm: int, state: int, longest: int = LONGEST_NAME) -> str:
    """The state's name; nothing for an arm that has a single state."""
    names = bandit.arms[arm].states
    return printable(names[state], longest) if len(names) > 1 else ""


def state_words(names: Sequence[str]) -> str:
    """States in a sentence.

    >>> state_words(["busy", "free"]), state_words(["2"])
    ('busy or free', 'in state 2')
    """
    named = listed(names, "or")
    return f"in state {named}" if all(name.isdecimal() for name in names) else named


def seen_words(bandit: Bandit, arm: int, states: Sequence[int], letters: int, longest: int) -> str:
    """States of an arm that one picture stands for, each in so many letters; any, if it is all."""
    if len(states) == bandit.n_states[arm] > 1:
        return "any"
    words = "/".join(state_label(bandit, arm, state, letters) for state in states)
    return words if len(words) <= longest else f"{len(states)} states"


def shades(actions: Ints, gaps: Floats, top: float) -> Floats:
    """Colours (..., 4): hue of the arm, the deeper the more the second-best pull loses.

    White where no arm is better, transparent where the gap is NaN.
    """
    from matplotlib.colors import to_rgb

    hues = np.array([to_rgb(hue) for hue in HUES])[np.maximum(actions, 0)]
    depth = PALEST + (1 - PALEST) * np.clip(np.nan_to_num(gaps) / top, 0, 1)
    depth = np.where(actions == EITHER, 0.0, depth)[..., None]
    solid = np.isfinite(gaps)[..., None].astype(np.float64)
    return np.concatenate([1 - depth * (1 - hues), solid], axis=-1)


def cell_edges(ages: Ints) -> Floats:
    """Borders of the cells of a row of ages, N + 1 of them."""
    return np.concatenate([ages - 0.5, [ages[-1] + 0.5]])


def key(ax: Axes, bandit: Bandit, top: float, either: bool) -> None:
    """Explain hue and depth: one ramp for each arm, one above the other."""
    count = bandit.n_arms
    levels = np.broadcast_to(np.linspace(0, top, 128), (count, 128))
    ramps = shades(np.broadcast_to(np.arange(count)[:, None], levels.shape), levels, top)
    ax.imshow(ramps, aspect="auto", extent=(0, top, count, 0), interpolation="nearest")
    ax.hlines(np.arange(1, count), 0, top, color="white", linewidth=4)
    ax.spines[:].set_visible(False)
    ax.set_yticks(np.arange(count) + 0.5, [f"pull {arm_label(bandit, j)}" for j in range(count)])
    ax.set_xticks([0, top], ["0: hardly matters", f"{top:.2g}: matters most"])
    first, last = ax.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    ax.tick_params(length=0, labelsize=9)
    words = "what the second-best pull would lose, in reward"
    ax.set_xlabel(words + ("; white: no difference found" if either else ""), fontsize=9)


def keyed_top(*gaps: Floats) -> float:
    """The gap drawn deepest: the largest one shown, rounded up to two digits."""
    parts: list[Any] = [part[np.isfinite(part)] for part in gaps]
    largest = max((float(part.max()) for part in parts if part.size), default=0.0)
    if largest <= 0:
        return 1.0
    unit = 10.0 ** (np.floor(np.log10(largest)) - 1)
    return float(np.ceil(largest / unit - 1e-9) * unit)
