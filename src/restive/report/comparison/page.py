"""A comparison as one HTML page that needs nothing else: no network, no library."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from restive.experiments.bands import Bands
from restive.report.comparison import facts, words
from restive.report.comparison.curves import LEAST, page_curves, points_allowed
from restive.report.drawing import palette
from restive.report.drawing.chain import chain_picture

if TYPE_CHECKING:
    from restive.experiments import Results
    from restive.experiments.summary import Summary
    from restive.model.bandit import Bandit

__all__ = ["experiment_page"]

TOLERANCES = (1e-5, 1e-3)  # of plans that are only drawn
PATIENCE = 5.0  # seconds that planning for one picture may take, as forecast
MAX_SITUATIONS = 6
LIMIT = 960_000  # letters of the page; the times take some more
CURVES = "<curves/>"  # no name can be this, since names are escaped
DARK = """color-scheme: dark;
--page: #14171c; --card: #1d2128; --ink: #eceff3; --soft: #a5adb8; --rule: #363c46;
--accent: #7cc0ff; --fill: #3d8fd1; --mark: #f3dc8a; --focus: #7cc0ff; --bar: #d97a3f;
--pull0: #1f5c88; --pull1: #7a5200; --pull2: #1b6b53; --either: #2a2f37; --never: #454c57;"""


def experiment_page(bands: Bands, summary: Summary) -> str:
    """The page as text; the same results give the same page."""
    page, results = _without_curves(bands, summary), bands.results
    most = points_allowed(bands, LIMIT - len(page.encode()))
    data = _data(results, _panels(bands, most))
    return page.replace(CURVES, data, 1)


def _panels(bands: Bands, most: int) -> dict[str, Any]:
    results = bands.results
    return {
        problem: {
            horizon: page_curves(bands, problem, horizon, most) for horizon in results.horizons
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
        "lead": words.lead(results, summary),
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
    return _render("report.html.j2", context)


def _render(name: str, context: dict[str, Any]) -> str:
    from jinja2 import Environment, StrictUndefined

    folder = files("restive.report") / "templates"
    engine = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    engine.filters["amount"] = words.amount
    style = engine.from_string((folder / "report.css").read_text("utf-8")).render(
        light=Markup(_colors(palette.LIGHT)), dark=Markup(DARK + _colors(palette.DARK))
    )
    script = (folder / "report.js").read_text("utf-8")
    template = engine.from_string((folder / name).read_text("utf-8"))
    return template.render(context, style=Markup(style), script=Markup(script))


def _colors(values: tuple[str, ...]) -> str:
    return " ".join(f"--c{k}: {value};" for k, value in enumerate(values))


def _first_regret(panels: dict[str, Any]) -> str:
    """Gap regret, unless no problem could be planned."""
    shown = [panel for by_horizon in panels.values() for panel in by_horizon.values() if panel]
    known = {name for panel in shown for name in panel["regrets"]}
    return next((name for name in words.REGRET_NAMES if name in known), "gap")


def _data(results: Results, panels: dict[str, Any]) -> str:
    """What the script draws, as JSON that cannot end the element it stands in."""
    data = {
        "regret": _first_regret(panels),
        "words": words.REGRET_NAMES,
        "horizon": words.longest(results),
        "learners": facts.learner_styles(results),
        "problems": [
            {
                "name": name,
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
        "intro": words.intro(results, name),
        "ranked_by": words.ranked_by(results, name),
        "started": any(panels.values()),
        "tables": {h: facts.ranking(results, summary, name, h) for h in results.horizons},
        "arms": [arm | {"picture": chain_picture(arm["arm"])} for arm in facts.arms(bandit)],
        "policy": _policy(bandit),
    }


def _policy(bandit: Bandit) -> dict[str, Any]:
    """Pictures and words about the best policy, or why there are none."""
    from restive.planning import Refusal, plan_within
    from restive.report.policy.svg import policy_picture
    from restive.report.policy.words import situations

    plan = plan_within(bandit, PATIENCE, tolerances=TOLERANCES)
    if isinstance(plan, Refusal):
        why = "This problem takes long to plan, so its policy is not drawn here; see restive plan."
        return {"pictures": [], "note": why, "situations": []}
    pictures, note = policy_picture(plan)
    return {"pictures": pictures, "note": note, "situations": situations(plan, MAX_SITUATIONS)}
