"""``learning_figure``: the regrets of one run over time as a picture in a file."""

from __future__ import annotations

import os
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats
from restive.report.drawing.axes import labels_apart, log_scale, number_axes, thin_marks
from restive.report.drawing.picture import INK, printable, save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from restive.simulation import Run

Curves = dict[str, Floats]

# Okabe and Ito's colours, told apart with any colour vision; dashes for those who print in grey
LINES: dict[str, tuple[str, str, str]] = {
    "regret": ("regret", "#0072B2", "-"),
    "regret_at_most": ("regret, at most", "#0072B2", "-."),
    "gap_regret": ("gap regret", "#D55E00", "-"),
    "weak_regret": ("weak regret", "#009E73", "--"),
}
MEANINGS = {
    "regret": "regret: lost against the best policy.",
    "regret_at_most": "regret, at most: lost against what no policy can exceed (certified).",
    "gap_regret": "gap regret: the same without luck.",
    "weak_regret": "weak regret: lost against the best single arm (negative: earned more).",
}
LUCK = (
    "Grey: as far as luck alone carries 95 of 100 runs, by the luck of this one; "
    "regret inside it says nothing."
)
DEVIATIONS = 1.96
LETTERS = 9.0


def learning_figure(
    run: Run, path: str | os.PathLike[str], *, title: str = "", steps: int | None = None,
    ceiling: float | None = None,
) -> None:  # fmt: skip
    """Draw the regrets of a run, linear and log-log, into a file ending in .svg, .pdf or .png.

    steps: draw up to here (the whole run by default). What a run does not have is left out, and
    said to be. ceiling: what no policy can earn more than in a step; where the best policy is not
    known, it shows how large the regret is at most. The grey band is ``luck``. The same run gives
    the same bytes; the file appears whole or not at all.
    """
    draw = partial(_draw, run, title, steps, ceiling)
    wide = run.gap_regret is not None
    save_picture(path, draw, figsize=(9.5 if wide else 6.5, 4.3), layout="constrained")


def luck(run: Run) -> Floats | None:
    """How far from 0 luck alone carries 95 of 100 runs by each of ``run.times``; None if unknown.

    Regret without gap regret is luck: a sum of fair gains and losses whose squares, divided by the
    steps they took, have the variance of a step as their mean. So one run is enough to tell how
    much luck there is, to about sqrt(2 / len(run.times)) of it.
    """
    if run.regret is None or run.gap_regret is None or len(run.times) < 2:
        return None
    times = np.concatenate([[0.0], run.times.astype(np.float64)])
    fair = np.concatenate([[0.0], run.regret - run.gap_regret])
    rate = float(np.mean(np.diff(fair) ** 2 / np.diff(times)))
    return np.asarray(DEVIATIONS * np.sqrt(rate * times[1:]))


def _draw(run: Run, title: str, steps: int | None, ceiling: float | None, figure: Figure) -> None:
    points = len(run.times) if steps is None else int((run.times <= steps).sum())
    times = run.times[:points].astype(np.float64)
    known = {name: getattr(run, name, None) for name in LINES}
    if ceiling is not None and run.regret is None:
        known["regret_at_most"] = ceiling * run.times - run.rewards
    curves = {name: curve[:points] for name, curve in known.items() if curve is not None}
    reach = luck(run)
    reach = None if reach is None else reach[:points]
    panels = list(figure.subplots(1, 2)) if "gap_regret" in curves else [figure.subplots()]
    for axes in panels:
        _panel(axes, times, curves, reach)
    if len(panels) > 1:
        _logarithmic(panels[-1], times, curves, reach)
    panels[0].set_ylabel("lost so far, in rewards")
    panels[0].locator_params(axis="x", nbins=5)
    if title:
        figure.suptitle(printable(title, 90 if len(panels) > 1 else 60), fontsize=12.5)
    width = 130 if len(panels) > 1 else 90
    figure.supxlabel(fill(_note(run, curves, reach), width), fontsize=8, color="#555555")
    figure.draw_without_rendering()
    for axes in panels:
        _name(axes, curves)
        thin_marks(figure, axes)


def _note(run: Run, curves: Curves, reach: Floats | None) -> str:
    words = [MEANINGS[name] for name in curves]
    if sum(run.pulls) > run.steps:  # several a step
        words = [text.replace("the best single arm", "the best arms together") for text in words]
    words += [LUCK] if reach is not None else []
    kinds = ("regret", "gap_regret", "weak_regret")
    unknown = [name.replace("_", " ") for name in kinds if name not in curves]
    if "regret_at_most" in curves:
        return " ".join([*words, "The regret itself is not known, as the best policy is not."])
    why = next((run.missing[name] for name in LINES if name in run.missing), "")
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        words.append(f"Not known {verb} {' and '.join(unknown)}" + (f": {why}." if why else "."))
    return " ".join(words)


def _panel(axes: Axes, times: Floats, curves: Curves, reach: Floats | None) -> None:
    """The curves over the band of luck."""
    axes.axhline(0, color=INK, lw=0.6)
    if reach is not None:
        axes.fill_between(times, -reach, reach, color="#999999", alpha=0.28, lw=0)
    for name, curve in curves.items():
        _, colour, dash = LINES[name]
        mark = "o" if len(times) == 1 else ""
        axes.plot(times, curve, color=colour, ls=dash, lw=1.8, marker=mark)
    axes.set_xlabel("step")
    axes.margins(x=0.02)
    number_axes(axes)


def _logarithmic(axes: Axes, times: Floats, curves: Curves, reach: Floats | None) -> None:
    """Both axes logarithmic, through zero where curves are; and a thin line like sqrt(t)."""
    shown = [*curves.values(), *([reach, -reach] if reach is not None else [])]
    ends = [float(curve[-1]) for curve in curves.values() if len(curve)]
    log_scale(axes, shown, ends, below=1.0)
    axes.set_xscale("log")
    number_axes(axes)
    top = max(ends, default=0.0)
    if top > 0 and len(times) > 1:
        later = times >= max(1.0, times[-1] / 1e3)
        root = 2 * top * np.sqrt(times[later] / times[-1])
        axes.plot(times[later], root, color="#999999", lw=1, ls=":", scaley=False)
        axes.annotate("√t", (times[later][0], root[0]), color="#777777", fontsize=LETTERS,
                      ha="right", va="bottom")  # fmt: skip


def _name(axes: Axes, curves: Curves) -> None:
    """The curves' names at their ends."""
    figure = axes.get_figure()
    height = axes.get_window_extent().height * 72 / (figure.dpi if figure else 100.0)
    ends = {name: float(curve[-1]) for name, curve in curves.items() if len(curve)}
    places = labels_apart(axes, list(ends.values()), 1.25 * LETTERS / height) if ends else []
    for name, place in zip(ends, places, strict=True):
        label, colour, _ = LINES[name]
        axes.annotate(label, (1.02, place), xycoords="axes fraction", color=colour, va="center",
                      fontsize=LETTERS, annotation_clip=False)  # fmt: skip
