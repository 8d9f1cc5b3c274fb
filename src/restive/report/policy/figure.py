"""``policy_figure``: a plan's policy as a picture in a file."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from restive.report.drawing.picture import printable, save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from restive.planning import Plan

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
    from restive.report.policy import maps
    from restive.report.policy.alike import ALIKE, shown_returns, three_alike
    from restive.report.policy.panels import draw_maps, draw_strips
    from restive.report.policy.summary import draw_summary
    from restive.report.policy.visits import simulated_play, visits_of

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
        note = draw_summary(figure, bandit, play, shown_returns(bandit, seen), seen.arms_pulled)
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
