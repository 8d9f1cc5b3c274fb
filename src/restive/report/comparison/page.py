"""A comparison as one HTML page that needs nothing else: no network, no library."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from restive.base.words import visible
from restive.experiments.bands import Bands
from restive.report.comparison import facts, words
from restive.report.comparison.curves import LEAST, page_curves, points_allowed, traces_allowed
from restive.report.comparison.lead import lead
from restive.report.drawing.chain import chain_picture
from restive.report.drawing.pages import render_page

if TYPE_CHECKING:
    from restive.experiments import Results
    from restive.experiments.summary import Summary
    from restive.model.bandit import Bandit

TOLERANCES = (1e-5, 1e-3)  # of plans that are only drawn
PATIENCE = 5.0  # seconds that planning for one picture may take, as forecast
SCRIPT = (
    "opening",
    "axes",
    "chart",
    "readout",
    "saving",
    "controls",
)  # files, in the order of the script
LIMIT = 960_000  # letters of the page; the times take some more
CURVES = "<curves/>"  # no name can be this, since names are escaped


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
        "ranked_by": words.ranked_by(results, name),
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
