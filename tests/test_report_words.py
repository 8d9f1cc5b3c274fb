"""What a report says in words: who may win, at which horizon, from which runs, by which regret."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import synthetic_results
from restive import ProblemError, problems
from restive.experiments.bands import Bands
from restive.experiments.summary import exponent, summarize
from restive.report.comparison import facts as facts
from restive.report.comparison import words as words
from restive.report.comparison.figures import regret_figure
from restive.report.comparison.lead import lead
from restive.report.comparison.markdown import experiment_markdown
from restive.report.comparison.page import experiment_page

TWO = {"example 3": problems.example3(0.1), "channels": problems.example1(0.1)}


def results(named=TWO, **changes):
    options = {"learners": ("a", "b"), "horizons": (1000,), "runs": 8, "points": 30}
    return synthetic_results.results(named, **(options | changes))


def one_problem(**changes):
    return results({"example 3": TWO["example 3"]}, **changes)


def only(comparison, keep):
    """The same with some of its curves."""
    return replace(
        comparison, finished={place: c for place, c in comparison.finished.items() if keep(place)}
    )


def shortened(comparison, runs):
    """The same with the first runs only, by place."""
    curves = {}
    for place, c in comparison.finished.items():
        kept = {
            name: getattr(c, name)[: runs(place)]
            for name in ("regret", "gap_regret", "weak_regret", "seconds", "planning_seconds",
                         "episodes")
        }  # fmt: skip
        curves[place] = replace(c, **kept)
    return replace(comparison, finished=curves)


def page_of(comparison):
    return unescape(experiment_page(Bands(comparison), summarize(comparison)))


# --- who may win


def named(comparison, **names):
    participants = [
        {"label": k, "name": names.get(k, k), "options": {}} for k in comparison.learners
    ]
    return replace(comparison, provenance={**comparison.provenance, "learners": participants})


def test_a_yardstick_under_another_label_cannot_win():
    comparison = named(one_problem(learners=("oracle", "b", "c")), oracle="optimal")
    summary = summarize(comparison)
    assert {pair.against for pair in summary.best} == {"b"}
    assert "b lost least" in " ".join(lead(comparison, summary))
    rows = facts.ranking(comparison, summary, "example 3", 1000)
    assert {row["learner"]: row["told"] for row in rows} == {"oracle": True, "b": False, "c": False}
    assert [row["learner"] for row in rows if row["winner"]] == ["b"]
    overview = facts.overview(comparison, summary, 1000)
    assert [row["learner"] for row in overview if row["told"]] == ["oracle"]
    assert [row["learner"] for row in overview if row["cells"][0]["winner"]] == ["b"]
    assert "oracle (knows the chains)" in experiment_markdown(comparison, summary, {})


def test_a_learner_with_the_label_of_a_yardstick_may_win():
    comparison = named(one_problem(learners=("optimal", "best-arm")), optimal="thompson")
    summary = summarize(comparison)
    assert summary.yardsticks == {"best-arm"}
    assert {pair.against for pair in summary.best} == {"optimal"}
    assert "optimal lost 60" in " ".join(lead(comparison, summary))
    assert "optimal (knows" not in experiment_markdown(comparison, summary, {})


# --- which runs


def test_the_longest_horizon_leads_wherever_it_stands():
    comparison = one_problem(horizons=(2000, 100))
    assert "8 runs of 2,000 steps" in lead(comparison, summarize(comparison))[0]
    page = page_of(comparison)
    assert re.findall(r'<option value="(\d+)" selected', page) == ["2000"]
    assert json.loads(re.search(r'id="data">(.*?)</script>', page).group(1))["horizon"] == 2000


def test_runs_are_those_that_are_there():
    comparison = one_problem(horizons=(1000, 20_000))
    comparison = only(comparison, lambda place: place[2] == 20_000)
    comparison = shortened(comparison, lambda place: 5)
    told = lead(comparison, summarize(comparison))
    assert "played the problem in 5 runs of 20,000 steps" in told[0]
    assert "a lost least" in told[1]
    assert words.longest(only(comparison, lambda place: False)) == 20_000
    shorter = only(one_problem(horizons=(1000, 20_000)), lambda place: place[2] == 1000)
    assert "8 runs of 1,000 steps" in lead(shorter, summarize(shorter))[0]


def test_what_has_not_begun_is_not_said_to_have_been_played():
    comparison = only(results(), lambda place: False)
    told = lead(comparison, summarize(comparison))
    assert told[0].startswith("Each learner is to play each problem in 8 runs of 1,000 steps")
    part = only(results(), lambda place: place[0] == "channels")
    assert "played 1 of the 2 problems in 8 runs" in lead(part, summarize(part))[0]
    uneven = shortened(results(), lambda place: 6 if place[0] == "channels" else 8)
    assert "each problem in 6 to 8 runs" in lead(uneven, summarize(uneven))[0]


def test_figures_name_the_runs_they_show():
    pytest.importorskip("matplotlib")
    comparison = shortened(results(), lambda place: 5 if place[0] == "channels" else 7)
    for problem, runs in (("channels", 5), ("example 3", 7)):
        drawn = regret_figure(Bands(comparison), problem, 1000, (".svg",))
        assert f"mean of {runs} runs" in drawn[".svg"].decode()


# --- which regret


def half_planned():
    """Three problems, of which the last could not be planned."""
    comparison = results({**TWO, "large": problems.example3(0.2)})
    gains = {**comparison.gains, "large": (np.nan,) * 3}
    curves = {
        place: replace(c, regret=c.regret * np.nan, gap_regret=c.gap_regret * np.nan)
        if place[0] == "large"
        else c
        for place, c in comparison.finished.items()
    }
    return replace(comparison, gains=gains, finished=curves)


def test_the_lead_says_on_how_many_problems_a_ratio_rests():
    comparison = half_planned()
    told = " ".join(lead(comparison, summarize(comparison)))
    assert "Over the 2 of 3 problems on which both learners' is known its mean gap regret" in told
    full = results()
    assert "Over the problems its mean gap regret" in " ".join(lead(full, summarize(full)))


def test_a_ranking_by_weak_regret_says_so():
    comparison = half_planned()
    said = "ranks, differences to the best, p-values and growth are of weak regret"
    captions = re.findall(r'<span class="title">(Ranking.*?)</span>', page_of(comparison))
    assert [said in caption for caption in captions] == [False, False, True]
    text = experiment_markdown(comparison, summarize(comparison), {})
    assert text.count(said) == 1
    assert said in text[text.index("## large") :]
    heads = next(line for line in text.splitlines() if line.startswith("| learner | mean rank"))
    assert heads == "| learner | mean rank | example 3 | channels | large (weak regret) |"


def test_shades_of_weak_regret_are_relative_to_the_best_weak_regret():
    comparison = half_planned()
    curves = {
        place: replace(c, weak_regret=np.full_like(c.weak_regret, 10.0 if place[1] == "a" else 1e3))
        if place[0] == "large"
        else c
        for place, c in comparison.finished.items()
    }
    comparison = replace(comparison, finished=curves)
    rows = facts.overview(comparison, summarize(comparison), 1000)
    assert {row["learner"]: row["cells"][2]["level"] for row in rows} == {"a": 0.0, "b": 1.0}


# --- growth


def test_growth_is_said_in_two_decimals():
    assert [exponent(value) for value in (0.5, 7.25e-16, -0.004, -0.25, np.nan)] == [
        "0.50", "0.00", "0.00", "-0.25", ""
    ]  # fmt: skip
    comparison = one_problem()
    flat = {
        place: replace(c, gap_regret=np.ones_like(c.gap_regret) * np.linspace(1, 2, 8)[:, None])
        for place, c in comparison.finished.items()
    }
    rows = facts.ranking(
        comparison, summarize(replace(comparison, finished=flat)), "example 3", 1000
    )
    assert {(row["slope"]["text"], row["slope"]["span"]) for row in rows} == {
        ("0.00", "0.00 to 0.00")
    }


def test_two_points_have_no_growth():
    comparison = one_problem(horizons=(2,))
    entry = summarize(comparison).entry("example 3", "a", 2)
    assert np.isnan(entry.slope.value)
    assert "fewer than" in entry.slope.reason
    assert (
        facts.ranking(comparison, summarize(comparison), "example 3", 2)[0]["slope"]["text"] == ""
    )
    assert np.isfinite(
        summarize(one_problem(horizons=(20,))).entry("example 3", "a", 20).slope.value
    )


# --- failures


def test_failed_runs_are_told_beside_their_learner():
    comparison = only(results(), lambda place: place[:2] != ("channels", "b"))
    why = "2 of 8 runs failed (OverflowError: boom)"
    object.__setattr__(comparison, "failures", {("channels", "b", 1000): why})
    summary = summarize(comparison)
    rows = facts.ranking(comparison, summary, "channels", 1000)
    assert [(row["learner"], row["stopped"]) for row in rows] == [("a", ""), ("b", why)]
    cells = {row["learner"]: row["cells"][1] for row in facts.overview(comparison, summary, 1000)}
    assert (cells["b"]["text"], cells["b"]["why"]) == ("failed", why)
    assert why in page_of(comparison)
    assert f"b: {why}" in experiment_markdown(comparison, summary, {})


def test_results_tell_themselves_in_a_few_lines(tmp_path):
    comparison = synthetic_results.results(
        {"one": problems.example1(0.1)}, ("b", "a"), (100,), runs=8, points=20
    )
    head, names, first, second = repr(comparison).splitlines()
    assert head == "Results: 1 problem, 2 learners, 1 horizon, 8 runs each"
    assert names.split() == ["problem", "horizon", "rank", "learner", "gap", "regret"]
    assert first.split()[2:4] == ["1", "b"]
    exact = comparison.table().to_dict()["gap_regret"][0]
    assert first.split()[4] == f"{exact:.4g}"
    assert second.split()[2:4] == ["2", "a"]
    assert "<table>" in comparison._repr_html_()
    assert comparison.table().to_dict()["learner"] == ["b", "a"]
    comparison.plot(tmp_path / "regret.svg")
    assert "</table><svg" in comparison._repr_html_()
    assert (tmp_path / "regret.svg").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("oen", "b", 100), "problem: .* Did you mean one"),
        (("one", "c", 100), "learner: not in these results"),
        (("one", "b", 7), "horizon: .* There are 100"),
    ],
)
def test_names_that_are_not_in_the_results_are_refused(place, words):
    comparison = synthetic_results.results(
        {"one": problems.example1(0.1)}, ("b", "a"), (100,), runs=8, points=20
    )
    with pytest.raises(ProblemError, match=words):
        comparison.curves(*place)
