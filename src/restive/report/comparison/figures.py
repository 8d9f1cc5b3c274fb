"""Regret curves as figures for a paper: one for each problem and horizon."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.errors import refusal
from restive.base.writing import checked_target, write_bytes
from restive.experiments.bands import REGRETS, Bands
from restive.report.comparison.words import run_count
from restive.report.drawing import palette
from restive.report.drawing.axes import dashes, log_scale, name_curves, number_axes, thin_marks
from restive.report.drawing.look import Look, require_choices
from restive.report.drawing.picture import INK, METADATA, pictures, printable

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from restive.experiments import Results

LONGEST = {"direct": 28, "legend": 40}  # letters of a name


def regret_figure(
    bands: Bands, problem: str, horizon: int, kinds: tuple[str, ...], regret: str = "gap",
    look: Look | None = None,
) -> dict[str, bytes] | None:  # fmt: skip
    """Mean curves with bands as bytes of each kind (.svg, .pdf, .png, .pgf).

    Weak regret takes the place of one that is not known; None if nothing is. The same results give
    the same bytes.
    """
    names, shape = (regret, "weak"), look or Look()
    known = next((name for name in names if _lines(bands, problem, horizon, name)), None)
    if known is None:
        return None
    draw = partial(_draw, bands=bands, place=(problem, horizon), regret=known, look=shape)
    count = len(_lines(bands, problem, horizon, known))
    return pictures(
        draw, kinds, shape.settings(), shape.families, figsize=shape.size(count),
        layout="constrained",
    )  # fmt: skip


def regret_picture(
    results: Results, path: str | PathLike[str], problem: str = "", horizon: int | None = None,
    *, regret: str = "gap", **look: Any,
) -> None:  # fmt: skip
    """Draw the regret curves of one problem and horizon into a file: .svg, .pdf, .png or .pgf.

    By default those of the first problem and the longest horizon, two columns of a page wide.
    regret: gap, plain or weak. look: width ("one", "two" columns), panels (1, 2), labels ("direct",
    "legend"), style ("plain", "serif", "tex") and title (True, False). A .pgf file is drawn by the
    document that takes it in (``\\usepackage{pgf}``, ``\\input{regret.pgf}``), in its own letters.
    """
    target, shape = checked_target("path", path, tuple(METADATA)), Look.of(**look)
    problem, horizon = problem or results.problems[0], horizon or max(results.horizons)
    results.curves(problem, results.learners[0], horizon)  # names that are not there are refused
    require_choices([("regret", regret, REGRETS)])
    suffix = target.suffix.lower()
    drawn = regret_figure(Bands(results), problem, horizon, (suffix,), regret, shape)
    if drawn is None:
        remedy = "Let the comparison finish a run of each learner first."
        raise refusal("problem", "no run has finished", repr(problem), remedy)
    write_bytes(target, drawn[suffix])


def _lines(bands: Bands, problem: str, horizon: int, regret: str) -> list[tuple[int, Any]]:
    """Number and band of each learner that has one."""
    lines = [
        (k, bands.of((problem, learner, horizon), regret))
        for k, learner in enumerate(bands.results.learners)
    ]
    return [(k, band) for k, band in lines if band is not None]


def _draw(figure: Figure, bands: Bands, place: tuple[str, int], regret: str, look: Look) -> None:
    times = np.asarray(bands.times(*place), dtype=np.float64)
    lines = _lines(bands, *place, regret)
    panels = _panels(figure, look)
    for axes in panels:
        _panel(axes, times, lines, logarithmic=axes is panels[-1], gap=regret == "gap")
        axes.set_xlabel("step" if axes is panels[-1] or not look.stacked else "")
        runs = run_count(bands.results, place[1], place[0])
        short = look.width == "one" and look.panels == 2
        name = REGRETS[regret].replace("_", " ")
        mean = name if short else f"{name}, mean of {runs}"
        axes.set_ylabel(mean if axes is panels[0] or look.stacked else "")
    if look.title:
        figure.suptitle(printable(place[0], 44 if look.width == "one" else 80),
                        fontsize=look.letters + 1)  # fmt: skip
    names = [printable(bands.results.learners[k], LONGEST[look.labels]) for k, _ in lines]
    figure.draw_without_rendering()
    if look.labels == "direct":
        for axes in panels if look.stacked else panels[-1:]:
            ends = [(k, name, float(band.centre[-1]))
                    for (k, band), name in zip(lines, names, strict=True)]  # fmt: skip
            name_curves(figure, axes, ends, look.letters - 1)
    else:
        _legend(figure, [k for k, _ in lines], names, look)
    for axes in panels:
        thin_marks(figure, axes)


def _panels(figure: Figure, look: Look) -> list[Axes]:
    if look.panels == 1:
        return [figure.subplots()]
    return list(figure.subplots(2, 1) if look.stacked else figure.subplots(1, 2))


def _panel(
    axes: Axes, times: Any, lines: list[tuple[int, Any]], logarithmic: bool, gap: bool
) -> None:
    for learner, band in lines:
        color = palette.LIGHT[palette.color_index(learner)]
        axes.plot(times, band.centre, color=color, ls=dashes(learner), lw=1.4)
        shown = _banded(band, logarithmic and gap)
        axes.fill_between(times, band.lower, band.upper, where=shown, color=color, alpha=0.14, lw=0)
    unit = 0.0
    if logarithmic:
        shown = [part[_banded(b, gap)] for _, b in lines for part in (b.lower, b.upper)]
        curves = [*(band.centre for _, band in lines), *shown]
        unit = log_scale(axes, curves, [float(band.centre[-1]) for _, band in lines])
        axes.set(xscale="log", xlim=(times[0], times[-1]) if len(times) > 1 else None)
    else:
        axes.margins(x=0.0)
        axes.locator_params(axis="x", nbins=4)
    if unit or not logarithmic:
        axes.axhline(0, color=INK, lw=0.6)
    number_axes(axes)


def _banded(band: Any, from_zero: bool) -> Any:
    """Where to draw a band: all along, or from where it leaves zero, if it does."""
    if not from_zero or not band.lower[-1] > 0:
        return np.isfinite(band.lower)
    return np.isfinite(band.lower) & (band.lower > 0)


def _legend(figure: Figure, learners: list[int], names: list[str], look: Look) -> None:
    """Names below the panels, in as many columns as fit."""
    from matplotlib.lines import Line2D

    entry = 0.58 * look.letters * max(map(len, names)) + 36  # points
    columns = int(np.clip(look.size(0)[0] * 72 // entry, 1, len(names)))
    handles = [
        Line2D([], [], color=palette.LIGHT[palette.color_index(k)], ls=dashes(k), lw=1.4)
        for k in learners
    ]
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False,
                  handlelength=2.2, columnspacing=1.2)  # fmt: skip
