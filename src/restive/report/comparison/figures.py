"""Regret curves as figures for a paper: one for each problem and horizon, as SVG or PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.errors import Fault, ProblemError
from restive.base.writing import write_bytes
from restive.experiments.bands import Bands
from restive.report.comparison.words import run_count
from restive.report.drawing import palette
from restive.report.drawing.picture import INK, checked_path, pictures, printable
from restive.report.learning import axis_number, labels_apart

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from restive.experiments import Results

__all__ = ["regret_figure", "regret_picture"]

SIZE = (7.0, 3.1)  # inches: across both columns of a page
LABELS = {"gap": "gap regret", "plain": "regret", "weak": "weak regret"}


def regret_figure(
    bands: Bands, problem: str, horizon: int, kinds: tuple[str, ...], regret: str = "gap"
) -> dict[str, bytes] | None:
    """Mean curves with bands, linear and log-log, as bytes of each kind (.svg, .pdf).

    Weak regret takes the place of one that is not known; None if nothing is. The same results give
    the same bytes.
    """
    names = (regret, "weak")
    known = next((name for name in names if _lines(bands, problem, horizon, name)), None)
    if known is None:
        return None

    def draw(figure: Figure) -> None:
        figure.subplots_adjust(left=0.09, right=0.78, bottom=0.16, top=0.9, wspace=0.3)
        _draw(figure, bands, problem, horizon, known)

    # letters as letters, which journals ask for
    settings = {"pdf.fonttype": 42, "font.size": 8.5}
    return pictures(draw, kinds, settings, figsize=SIZE)


def regret_picture(
    results: Results, path: str | PathLike[str], problem: str = "", horizon: int | None = None
) -> None:
    """Draw the regret curves of one problem and horizon into a file (.svg, .png or .pdf).

    By default those of the first problem and the longest horizon.
    """
    problem, horizon = problem or results.problems[0], horizon or max(results.horizons)
    target = checked_path(path)
    suffix = target.suffix.lower()
    drawn = regret_figure(Bands(results), problem, horizon, (suffix,))
    if drawn is None:
        remedy = "Let the comparison finish a run of each learner first."
        raise ProblemError([Fault("problem", "no run has finished", repr(problem), remedy)])
    write_bytes(target, drawn[suffix])


def _lines(bands: Bands, problem: str, horizon: int, regret: str) -> list[tuple[int, Any]]:
    """Number and band of each learner that has one."""
    lines = [
        (k, bands.of((problem, learner, horizon), regret))
        for k, learner in enumerate(bands.results.learners)
    ]
    return [(k, band) for k, band in lines if band is not None]


def _draw(figure: Figure, bands: Bands, problem: str, horizon: int, regret: str) -> None:
    times = np.asarray(bands.times(problem, horizon), dtype=np.float64)
    lines = _lines(bands, problem, horizon, regret)
    linear, logs = figure.subplots(1, 2)
    logs.set(xscale="log", yscale="log")
    for axes in (linear, logs):
        for k, band in lines:
            _line(axes, times, band, k)
        axes.set_xlabel("step")
        axes.margins(x=0.0)
    linear.axhline(0, color=INK, lw=0.6)
    runs = run_count(bands.results, horizon, problem)
    linear.set_ylabel(f"{LABELS[regret]}, mean of {runs}")
    linear.locator_params(axis="x", nbins=4)
    _floor(logs, lines)
    for axis in (linear.xaxis, linear.yaxis, logs.xaxis, logs.yaxis):
        axis.set_major_formatter(axis_number)
    _names(logs, lines, bands.results.learners)
    figure.suptitle(printable(problem, 80), fontsize=9.5)


def _line(axes: Axes, times: Any, band: Any, learner: int) -> None:
    color, dash = palette.LIGHT[palette.color_index(learner)], palette.dash(learner)
    style: Any = (0, [float(part) / 1.6 for part in dash.split()]) if dash else "-"
    if axes.get_yscale() == "linear":
        axes.plot(times, band.centre, color=color, ls=style, lw=1.5)
        axes.fill_between(times, band.lower, band.upper, color=color, alpha=0.14, lw=0)
        return
    centre = np.where(band.centre > 0, band.centre, np.nan)
    if np.isfinite(centre).any():
        axes.plot(times, centre, color=color, ls=style, lw=1.5)
        low = np.where(band.lower > 0, band.lower, np.nanmin(centre) / 10)
        axes.fill_between(times, low, band.upper, where=band.upper > 0, color=color, alpha=0.14,
                          lw=0)  # fmt: skip


def _floor(axes: Axes, lines: list[tuple[int, Any]]) -> None:
    """Lower edges that fall towards zero would squeeze everything else."""
    above = [float(value) for _, band in lines for value in band.centre if value > 0]
    if above:
        axes.set_ylim(bottom=max(min(above) / 2, max(above) / 1e6))


def _names(axes: Axes, lines: list[tuple[int, Any]], learners: tuple[str, ...]) -> None:
    """Each learner's name at the end of its curve, with a piece of its line."""
    low = axes.get_ylim()[0]
    places = labels_apart(axes, [max(float(band.centre[-1]), low) for _, band in lines])
    for (k, _), place in zip(lines, places, strict=True):
        color, dash = palette.LIGHT[palette.color_index(k)], palette.dash(k)
        style: Any = (0, [float(part) / 1.6 for part in dash.split()]) if dash else "-"
        axes.plot([1.02, 1.1], [place, place], transform=axes.transAxes, color=color, ls=style,
                  lw=1.5, clip_on=False)  # fmt: skip
        axes.annotate(printable(learners[k], 22), (1.12, place), xycoords="axes fraction",
                      va="center", fontsize=7.5, annotation_clip=False)  # fmt: skip
