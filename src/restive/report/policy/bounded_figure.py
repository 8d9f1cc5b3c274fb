"""The policy of a plan for many arms as a picture: who is pulled, and why."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats
from restive.base.words import outward
from restive.many.bounded import BoundedPlan
from restive.many.policies import KindIndexPolicy
from restive.report.drawing.picture import printable, save_picture
from restive.report.policy.alike import alike, names_of
from restive.report.policy.bounded_play import Stretch, play_stretch, pull_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_ARMS = 16
SHOWN_STEPS = 150
SHOWN_AGES = 60
SHOWN_KINDS = 4
INDICES = {"whittle": "Whittle's index", "lagrangian": "worth above the price of a pull"}
MAP = "cividis"  # as in the pictures of exact plans
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def bounded_figure(plan: BoundedPlan, path: str | os.PathLike[str]) -> None:
    """Draw the policy into ``path``: the arms most pulled, the rest as one, and how it chooses.

    An index policy is shown by the indices of the kinds of arms most pulled, any other by a stretch
    of play. Shares come from simulated play with a fixed seed. Readable for any number of arms.
    """
    save_picture(path, partial(_draw, plan), layout="constrained", figsize=(10, 5))


def _draw(plan: BoundedPlan, figure: Figure) -> None:
    by_index = isinstance(plan.policy, KindIndexPolicy)
    left, right = figure.subplots(1, 2, width_ratios=(2, 3), sharey=not by_index)
    shown = _bars(plan, left, merged=by_index)  # rows of play are those of arms
    if isinstance(plan.policy, KindIndexPolicy):
        _indices(plan, plan.policy, shown, right)
    else:
        _strip(plan, play_stretch(plan), shown, right)
    low, high = outward(plan.lower, plan.upper)
    kind = "certified" if plan.lower_kind == "certified" else "simulated"
    name = f"{printable(plan.bandit.name, 40)}: this" if plan.bandit.name else "This"
    figure.suptitle(
        f"{name} policy earns at least {low} a step ({kind});\n"
        f"no policy earns more than {high} (certified)", fontsize=12,
    )  # fmt: skip


def _bars(plan: BoundedPlan, axes: Axes, merged: bool) -> list[int]:
    """Shares of pulls, the largest first; returns the arms shown, of those alike the first."""
    bandit, shares = plan.bandit, pull_shares(plan)
    pulled = np.flatnonzero(shares > 0).tolist()
    groups = alike(bandit, pulled) if merged else [[arm] for arm in pulled]
    groups.sort(key=lambda arms: -float(shares[arms].sum()))
    shown = groups[:SHOWN_ARMS]
    names = [printable(names_of(bandit, arms), 24) for arms in shown]
    values = [float(shares[arms].sum()) for arms in shown]
    rest = bandit.n_arms - sum(map(len, shown))
    if rest:
        values.append(max(0.0, 1.0 - sum(values)))
        never = "" if values[-1] > 0 else ", never"
        names.append(f"{rest:,} other arm{'s' * (rest > 1)}{never}")
    places = np.arange(len(names))
    colors = [COLORS[0]] * len(shown) + ["#999999"] * bool(rest)
    axes.barh(places, values, color=colors)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("share of the pulls (simulated)")
    return [arms[0] for arms in shown]


def _strip(plan: BoundedPlan, played: Stretch, shown: list[int], axes: Axes) -> None:
    """A stretch of play in the rows of the bars: a cell for each pull, brighter if it paid more."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    rows = {arm: row for row, arm in enumerate(shown)}
    pulls, paid = played.pulls[:SHOWN_STEPS], played.paid[:SHOWN_STEPS]
    steps = np.repeat(np.arange(len(pulls)), pulls.shape[1])
    places = np.array([rows.get(int(arm), len(shown)) for arm in pulls.ravel()])
    scale = ScalarMappable(Normalize(plan.bandit.units.low, plan.bandit.units.high), MAP)
    axes.bar(steps, 0.8, 1, places - 0.4, color=scale.to_rgba(paid.ravel()), edgecolor="white",
             linewidth=0.3)  # fmt: skip
    axes.figure.colorbar(scale, ax=axes, label="reward", shrink=0.7)
    axes.tick_params(labelleft=False)
    axes.set_xlim(-0.6, len(pulls) - 0.4)
    axes.set_xlabel("step")
    axes.set_title("a stretch of simulated play")


def _indices(plan: BoundedPlan, policy: KindIndexPolicy, shown: list[int], axes: Axes) -> None:
    """Index by age for the kinds of arms most pulled, a line for each state last seen."""
    kinds: dict[int, int] = {}  # and the first arm of each
    for j in shown:
        kinds.setdefault(int(policy.population.kind_of[j]), j)
    ages = np.arange(1, SHOWN_AGES + 1)
    for (kind, first), color in zip(list(kinds.items())[:SHOWN_KINDS], COLORS, strict=False):
        arm, index = policy.population.kinds[kind], policy.tables[kind]
        mine = np.flatnonzero(policy.population.kind_of == kind).tolist()
        name = printable(names_of(plan.bandit, mine) if mine else plan.bandit.arm_name(first), 18)
        for state in range(arm.n_states):
            values: Floats = index.look_up(np.full(len(ages), state), ages)
            shade = 0.35 + 0.65 * (state + 1) / arm.n_states
            label = f"{name}, seen {printable(arm.states[state], 12)}"
            axes.plot(ages, values, color=color, alpha=shade, label=label)
    axes.set_xlabel("steps since the arm was seen")
    index_name = INDICES.get(policy.name, f"{policy.name} index")
    pulls = plan.bandit.pulls
    rule = "the largest is pulled" if pulls == 1 else f"the {pulls:,} largest are pulled"
    axes.set_ylabel(f"{index_name}: {rule}")
    axes.legend(fontsize=7.5, ncols=2)
