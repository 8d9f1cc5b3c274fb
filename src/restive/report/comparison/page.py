"""A comparison as one HTML page that needs nothing else: no network, no library."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from restive.base.arrays import Ints
from restive.base.words import visible
from restive.experiments.bands import CENTRES, REGRETS, Bands
from restive.report.comparison import facts, words
from restive.report.comparison.lead import lead
from restive.report.drawing.chain import chain_picture
from restive.report.drawing.pages import render_page

if TYPE_CHECKING:
    from restive.experiments.results import Place, Results
    from restive.experiments.statistics import Band
    from restive.experiments.summary import Summary
    from restive.model.bandit import Bandit

TOLERANCES = (1e-5, 1e-3)  # of plans that are only drawn
PATIENCE = 5.0  # seconds that planning for one picture may take, as forecast
# files, in the order of the script
SCRIPT = ("opening", "axes", "chart", "readout", "saving", "controls")
LIMIT = 960_000  # letters of the page; the times take some more
CURVES = "<curves/>"  # no name can be this, since names are escaped
MOST, LEAST = 120, 6  # points of a curve on the page
TRACES, TRACE_POINTS = 8, 40  # single runs of a learner, and points of each
LETTERS = 6  # of a number on the page, with its comma


def experiment_page(bands: Bands, summary: Summary) -> str:
    """The page as text; the same results give the same page."""
    page, results = _without_curves(bands, summary), bands.results
    room = LIMIT - len(page.encode())
    most = points_allowed(bands, room)
    traces = traces_allowed(bands, room, most)
    data = _data(results, _panels(bands, most, traces))
    return page.replace(CURVES, data, 1)


def _panels(bands: Bands, most: int, traces: int = 0) -> dict[str, Any]:
    """Curves by problem and horizon, and so many single runs of each learner."""
    results = bands.results
    return {
        problem: {
            horizon: page_curves(bands, problem, horizon, most, traces)
            for horizon in results.horizons
        }
        for problem in results.problems
    }


def _without_curves(bands: Bands, summary: Summary) -> str:
    """The page, with a mark where the numbers of the curves are to stand."""
    results = bands.results
    horizons = list(results.horizons)
    panels = _panels(bands, LEAST)
    context = {
        "title": words.title(results),
        "lead": lead(results, summary),
        "warnings": words.missing(results, summary),
        "regret_words": words.REGRET_NAMES,
        "regret": _first_regret(panels),
        "learners": facts.learner_styles(results),
        "horizons": horizons,
        "longest": words.longest(results),
        "overviews": {h: facts.overview(results, summary, h) for h in horizons},
        "problems": [_problem(results, summary, p, panels[p]) for p in results.problems],
        "times": {h: facts.times(results, h) for h in horizons},
        "provenance": facts.provenance(results),
        "command": results.command,
        "data": Markup(CURVES),
    }
    return render_page("report.html.j2", context, SCRIPT, amount=words.amount)


def _first_regret(panels: dict[str, Any]) -> str:
    """Gap regret, unless no problem could be planned."""
    shown = [panel for by_horizon in panels.values() for panel in by_horizon.values() if panel]
    known = {name for panel in shown for name in panel["regrets"]}
    return next((name for name in words.REGRET_NAMES if name in known), "gap")


def _data(results: Results, panels: dict[str, Any]) -> str:
    """What the script draws, as JSON that cannot end the element it stands in."""
    data = {
        "show": _first_regret(panels),
        "words": words.REGRET_NAMES | {"reward": words.REWARD_NAME},
        "names": {name: text.partition(":")[0].lower() for name, text in words.REGRET_NAMES.items()}
        | {"reward": "reward per step so far"},
        "runs": results.runs,
        "horizon": words.longest(results),
        "learners": [
            style | {"name": visible(style["name"])} for style in facts.learner_styles(results)
        ],
        "problems": [
            {
                "name": visible(name),
                "alone": results.best_arms[name][1],
                "arms": words.best_arms(results.bandits[name]),
                "gain": gain if isfinite(gain := results.gains[name][0]) else None,
                "panels": {str(h): panel for h, panel in by_horizon.items() if panel},
            }
            for name, by_horizon in panels.items()
        ],
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _problem(
    results: Results, summary: Summary, name: str, panels: dict[int, Any]
) -> dict[str, Any]:
    bandit = results.bandits[name]
    return {
        "name": name,
        "slug": words.file_word(name),
        "intro": words.intro(results, name),
        "heading": words.heading(results, summary, name),
        "ranked_by": words.ranked_by(results, summary, name),
        "started": any(panels.values()),
        "tables": {h: facts.ranking(results, summary, name, h) for h in results.horizons},
        "pulls": {h: facts.pulls(results, summary, name, h) for h in results.horizons},
        "arms": [arm | {"picture": chain_picture(arm["arm"])} for arm in facts.arms(bandit)],
        "policy": _policy(bandit),
    }


def _policy(bandit: Bandit) -> dict[str, Any]:
    """Pictures and words about the best policy, or why there are none."""
    from restive.planning import Refusal, plan_within
    from restive.report.policy.rules import short_rule
    from restive.report.policy.svg import policy_section
    from restive.report.policy.visits import visits_of

    plan = plan_within(bandit, PATIENCE, tolerances=TOLERANCES)
    if isinstance(plan, Refusal):
        why = "This problem takes long to plan, so its policy is not drawn here; see restive plan."
        return policy_section(None, note=why) | {"rule": ""}
    visits = visits_of(plan)
    rule = short_rule(plan, visits.arms_pulled)
    return policy_section(plan, visits) | {"rule": str(rule or "")}


# --- curves as numbers, thinned to fit -------------------------------------------------------


def points_allowed(bands: Bands, room: int) -> int:
    """Points per curve so that all of them together take no more letters than there is room for."""
    return int(np.clip(room / (LETTERS * max(_lines(bands), 1)), LEAST, MOST))


def _lines(bands: Bands) -> int:
    keys = product(bands.results.finished, REGRETS, CENTRES)
    return 3 * sum(bands.of(*key) is not None for key in keys)  # centre, lower, upper


def traces_allowed(bands: Bands, room: int, points: int) -> int:
    """How many single runs of each learner fit beside curves of so many points; not one alone."""
    left = room - LETTERS * points * _lines(bands)
    lines = 2 * len(bands.results.finished)  # gap and weak regret
    count = int(min(left / (LETTERS * TRACE_POINTS * max(lines, 1)), TRACES))
    return count if count > 1 else 0


def page_curves(
    bands: Bands, problem: str, horizon: int, most: int = MOST, traces: int = 0
) -> dict[str, Any] | None:
    """Times and, for each regret and centre, [centre, lower, upper] of each learner (or None).

    traces: how many single runs of each learner come with them.
    """
    times, results = bands.times(problem, horizon), bands.results
    if times is None:
        return None
    chosen = _evenly(len(times), most)
    places = [(problem, learner, horizon) for learner in results.learners]
    regrets: dict[str, Any] = {}
    for name in REGRETS:
        lines = {
            centre: [_line(bands.of(place, name, centre), chosen) for place in places]
            for centre in CENTRES
        }
        if any(line is not None for line in lines["mean"]):
            regrets[name] = lines
    curves: dict[str, Any] = {"times": times[chosen].tolist(), "regrets": regrets}
    return curves | (_single_runs(results, places, times, traces) if traces else {})


def _single_runs(
    results: Results, places: Sequence[Place], times: Ints, most: int
) -> dict[str, Any]:
    """The first runs of each learner: gap and weak regret, from which the others follow."""
    chosen = _evenly(len(times), TRACE_POINTS)
    runs = {
        name: [
            [_rounded(run[chosen].tolist()) for run in getattr(curves, REGRETS[name])[:most]]
            if (curves := results.finished.get(place)) is not None
            else []
            for place in places
        ]
        for name in ("gap", "weak")
    }
    return {"run_times": times[chosen].tolist(), "runs": runs}


def _evenly(count: int, most: int) -> Ints:
    """Which points stay: spread evenly, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _line(band: Band | None, chosen: Ints) -> list[Any] | None:
    if band is None:
        return None
    return [_rounded(part[chosen].tolist()) for part in (band.centre, band.lower, band.upper)]


def _rounded(values: Sequence[float]) -> list[float | int | None]:
    """Four digits each, whole numbers without a point; None for what is unknown.

    >>> _rounded([1234.56, 0.123456, 2.0, -0.0000012, float("nan")])
    [1235, 0.1235, 2, 0, None]
    """
    return [_short(value) for value in values]


def _short(value: float) -> float | int | None:
    if not np.isfinite(value):
        return None
    rounded = round(float(f"{value:.4g}"), 5)
    return int(rounded) if rounded == int(rounded) else rounded
