"""The policy of a plan for many arms as a picture: who is pulled, and why."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from restive.base.words import outward
from restive.many.bounded import BoundedPlan
from restive.many.policies import KindIndexPolicy
from restive.report.drawing.picture import printable, save_picture
from restive.report.policy.bounded_play import Stretch, play_stretch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["bounded_figure"]

SHOWN_ARMS = 16
SHOWN_STEPS = 150
SHOWN_AGES = 60
SHOWN_KINDS = 4
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def bounded_figure(plan: BoundedPlan, path: str | os.PathLike[str]) -> None:
    """Draw the policy into ``path``: the arms most pulled, the rest as one, and how it chooses.

    An index policy is shown by the indices of the kinds of arms most pulled, any other by a stretch
    of play. Shares come from simulated play with a fixed seed. Readable for any number of arms.
    """
    save_picture(path, partial(_draw, plan), layout="constrained", figsize=(10, 5))


def _draw(plan: BoundedPlan, figure: Figure) -> None:
    played = play_stretch(plan)
    left, right = figure.subplots(1, 2, width_ratios=(2, 3))
    shown = _bars(plan, played, left)
    if isinstance(plan.policy, KindIndexPolicy):
        _indices(plan, plan.policy, shown, right)
    else:
        _strip(plan, played, shown, right)
    low, high = outward(plan.lower, plan.upper)
    kind = "certified" if plan.lower_kind == "certified" else "simulated"
    name = f"{printable(plan.bandit.name, 40)}: this" if plan.bandit.name else "This"
    figure.suptitle(
        f"{name} policy ({plan.method}) earns at least {low} a step ({kind});\n"
        f"no policy earns more than {high} (certified)", fontsize=12,
    )  # fmt: skip


def _bars(plan: BoundedPlan, played: Stretch, axes: Axes) -> list[int]:
    """Shares of pulls, the largest first; returns the arms shown."""
    shares = played.shares(plan.bandit.n_arms)
    order = np.argsort(-shares, kind="stable")
    shown = [int(j) for j in order[:SHOWN_ARMS] if shares[j] > 0]
    names = [printable(plan.bandit.arm_name(j), 24) for j in shown]
    values = [float(shares[j]) for j in shown]
    rest = plan.bandit.n_arms - len(shown)
    if rest:
        names.append(f"{rest:,} other arm{'s' * (rest > 1)}")
        values.append(max(0.0, 1.0 - sum(values)))
    places = np.arange(len(names))
    colors = [COLORS[0]] * len(shown) + ["#999999"] * bool(rest)
    axes.barh(places, values, color=colors)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("share of the pulls (simulated)")
    return shown


def _strip(plan: BoundedPlan, played: Stretch, shown: list[int], axes: Axes) -> None:
    """A stretch of play: a mark for each pull, darker where it paid more."""
    rows = {arm: row for row, arm in enumerate(shown)}
    pulls, paid = played.pulls[:SHOWN_STEPS], played.paid[:SHOWN_STEPS]
    steps = np.repeat(np.arange(len(pulls)), pulls.shape[1])
    places = [rows.get(int(arm), len(shown)) for arm in pulls.ravel()]
    marks = axes.scatter(steps, places, c=paid.ravel(), cmap="cividis_r", s=14, marker="s",
                         vmin=0.0, vmax=1.0)  # fmt: skip
    axes.figure.colorbar(marks, ax=axes, label="reward", shrink=0.7)
    axes.set_yticks([])
    axes.set_ylim(max(len(shown), 1) + 0.5, -0.5)
    axes.set_xlabel("step of a stretch of play; rows as on the left")


def _indices(plan: BoundedPlan, policy: KindIndexPolicy, shown: list[int], axes: Axes) -> None:
    """Index by age for the kinds of arms most pulled, a line for each state last seen."""
    kinds: dict[int, int] = {}  # and the first arm of each
    for j in shown:
        kinds.setdefault(int(policy.population.kind_of[j]), j)
    ages = np.arange(1, SHOWN_AGES + 1)
    for (kind, first), color in zip(list(kinds.items())[:SHOWN_KINDS], COLORS, strict=False):
        arm, index = policy.population.kinds[kind], policy.tables[kind]
        name = printable(plan.bandit.arm_name(first), 16)
        for state in range(arm.n_states):
            values: NDArray[np.float64] = index.look_up(np.full(len(ages), state), ages)
            shade = 0.35 + 0.65 * (state + 1) / arm.n_states
            label = f"{name} seen in {printable(arm.states[state], 12)}"
            axes.plot(ages, values, color=color, alpha=shade, label=label)
    axes.set_xlabel("steps since the arm was seen")
    axes.set_ylabel(f"{policy.name} index: the largest is pulled")
    axes.legend(fontsize=7.5, ncols=2)
