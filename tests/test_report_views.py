"""The report page as a reader meets it: shades, curves at zero, files to save, phones, paper."""

from __future__ import annotations

import csv
import re
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import synthetic_results
from restive import problems
from restive.experiments.bands import Bands
from restive.experiments.summary import summarize
from restive.report.comparison import facts
from restive.report.comparison.lead import lead, standing
from restive.report.comparison.page import experiment_page
from test_report_browser import CHART, browser, choose, lines  # noqa: F401

LEARNERS = ("quick", "steady-learner-with-a-name", "=SUM(A1)", "best-arm")


def results(runs=10, **changes):
    named = {"example 3": problems.example3(0.1), "two-channels": problems.example1(0.1)}
    options = {"horizons": (10_000,), "runs": runs, "points": 60}
    return synthetic_results.results(named, LEARNERS, **(options | changes))


def with_ends(comparison, problem, ends):
    """The same, where these learners lose so much, up to a little noise between the runs."""
    curves = dict(comparison.finished)
    for learner, end in ends.items():
        old = comparison.curves(problem, learner, 10_000)
        noise = np.linspace(0.98, 1.02, len(old.seconds))[:, None]
        gap = noise * end * np.sqrt(old.times / old.times[-1])[None]
        curves[problem, learner, 10_000] = replace(old, gap_regret=gap)
    return replace(comparison, finished=curves)


@pytest.fixture(scope="module")
def nothing_lost():
    """Results in which one learner loses nothing, and two lose 3,880 and 15,297."""
    comparison = results()
    ends = {"best-arm": 0.0, "quick": 38.0, "=SUM(A1)": 3880.0, LEARNERS[1]: 15_297.0}
    comparison = with_ends(comparison, "example 3", ends)
    pulls = np.tile([7500, 2500], (10, 1))
    return replace(
        comparison, finished={p: replace(c, pulls=pulls) for p, c in comparison.finished.items()}
    )


@pytest.fixture(scope="module")
def page_file(nothing_lost, tmp_path_factory):
    target = tmp_path_factory.mktemp("page") / "report.html"
    text = experiment_page(Bands(nothing_lost), summarize(nothing_lost))
    target.write_text(text, encoding="utf-8")
    return target


@pytest.fixture
def page(browser, page_file):  # noqa: F811
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(60_000)
    complaints = []
    opened = context.new_page()
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(page_file.as_uri())
    yield opened
    context.close()
    assert complaints == []


# --- who won


def test_a_winner_is_named_only_where_the_table_has_one():
    single = {"example 3": problems.example3(0.1)}
    few = synthetic_results.results(single, ("a", "b", "c"), horizons=(1000,), runs=5)
    summary = summarize(few)
    place = standing(summary, "example 3", 1000)
    assert (place.least, place.winner, place.tied) == ("a", "", ("b", "c"))
    told = " ".join(lead(few, summary))
    assert "No learner is clearly the best: a lost least on average" in told
    assert "do not tell it from b and c" in told
    rows = facts.ranking(few, summary, "example 3", 1000)
    assert not any(row["winner"] for row in rows)
    assert not any(c["winner"] for r in facts.overview(few, summary, 1000) for c in r["cells"])
    many = synthetic_results.results(single, ("a", "b", "c"), horizons=(1000,), runs=12)
    summary = summarize(many)
    assert standing(summary, "example 3", 1000).winner == "a"
    assert "a lost least: " in " ".join(lead(many, summary))
    assert facts.ranking(many, summary, "example 3", 1000)[0]["winner"]


def test_too_few_runs_to_tell_anything_are_said_with_the_number_that_could():
    """Three pairs by five runs: 3 / 2^4 at least; it takes 7 runs, 3 / 2^6 = 0.047."""
    single = {"example 3": problems.example3(0.1)}
    few = synthetic_results.results(single, ("a", "b", "c"), horizons=(1000,), runs=5)
    assert "of 3 pairs of learners is 0.19. 7 runs could tell." in lead(few, summarize(few))[-1]
    enough = synthetic_results.results(single, ("a", "b", "c"), horizons=(1000,), runs=7)
    assert "could tell" not in " ".join(lead(enough, summarize(enough)))
    best = min(v.corrected for v in summarize(enough).best)
    assert best == pytest.approx(3 / 2**6)


def test_several_problems_name_the_clear_wins_apart():
    comparison = results(runs=12)
    summary = summarize(comparison)
    told = " ".join(lead(comparison, summary))
    assert "quick has the best mean rank; it lost least on 2 of 2 problems, told apart" in told
    same = comparison.curves("example 3", "quick", 10_000)
    tied = replace(
        comparison, finished=comparison.finished | {("example 3", LEARNERS[1], 10_000): same}
    )
    told = " ".join(lead(tied, summarize(tied)))
    assert "it lost least on 2 of 2 problems, on 1 of them told apart" in told


# --- shades


def test_shades_tell_large_losses_apart_beside_a_zero(page):
    def shade(learner):
        row = page.locator("tr", has=page.locator(f'[data-value="{learner}"]')).first
        color = row.locator("td.heat").first.evaluate("c => getComputedStyle(c).backgroundColor")
        numbers = [float(x) for x in re.findall(r"[\d.]+", color)]
        return np.array(numbers[:3]) * (255 if "srgb" in color else 1)

    colors = {name: shade(name) for name in LEARNERS}
    assert np.abs(colors["=SUM(A1)"] - colors[LEARNERS[1]]).max() >= 12  # of 255
    assert np.abs(colors["quick"] - colors["=SUM(A1)"]).max() >= 30
    assert colors["best-arm"] == pytest.approx([255, 255, 255], abs=1)
    levels = [0.0, 38.0, 3880.0, 15_297.0]
    cells = [{"value": str(v), "level": 0.0} for v in levels]
    facts._shade(cells)
    shades = [cell["level"] for cell in cells]
    assert shades == sorted(shades)
    assert (shades[0], shades[-1]) == (0.0, 1.0)
    facts._shade([{"value": "5", "level": 0.0}])  # nothing to compare


# --- curves at and below zero


def test_a_curve_of_zeros_is_drawn_on_the_logarithmic_scale(page):
    drawn = lines(page)
    assert sorted(drawn) == [0, 1, 2, 3]
    assert all(path.count("M") == 1 for path in drawn.values())  # no line is broken
    numbers = [float(y) for y in re.findall(r"[\d.]+ ([\d.]+)", drawn[3])]
    zero = page.locator(f"{CHART} >> path.zero").get_attribute("d")
    assert numbers == pytest.approx([float(zero.split()[1].split("H")[0])] * len(numbers), abs=0.1)
    assert "even steps, through zero" in page.locator(CHART).inner_text()


def test_curves_below_zero_and_bands_stay_inside_the_axes(page):
    for regret in ("gap", "plain", "weak", "reward"):
        choose(page, "show", regret)
        box = page.locator(f"{CHART} >> svg.curves[tabindex]").bounding_box()
        plot = page.locator(f"{CHART} >> clipPath rect")
        low = float(plot.get_attribute("y")) + float(plot.get_attribute("height"))
        for path in lines(page).values():
            assert path.count("M") == 1
            heights = [float(y) for y in re.findall(r"[\d.]+ (-?[\d.]+)", path)]
            assert max(heights) <= low + 1
        texts = page.locator(f"{CHART} >> svg.curves[tabindex] >> text").evaluate_all(
            "nodes => nodes.map((n) => n.getBoundingClientRect())"
            ".map((b) => [b.left, b.right, b.top, b.bottom])"
        )
        assert min(t[0] for t in texts) >= box["x"] - 1
        assert max(t[1] for t in texts) <= box["x"] + box["width"] + 1
        assert max(t[3] for t in texts) <= box["y"] + box["height"] + 1


def test_axes_have_titles(page):
    for regret, words in [("gap", "gap regret"), ("reward", "reward per step so far")]:
        choose(page, "show", regret)
        titles = page.locator(f"{CHART} >> text.axis").all_text_contents()
        assert f"mean {words}" in titles
        assert "step" in titles


# --- further views


def test_rewards_follow_from_weak_regret(page, nothing_lost):
    choose(page, "show", "reward")
    page.locator(f"{CHART} >> svg.curves[tabindex]").focus()
    page.keyboard.press("End")
    text = page.locator(f"{CHART} >> .readout").inner_text()
    curves = nothing_lost.curves("example 3", "quick", 10_000)
    reward = 0.5 - curves.weak_regret[:, -1].mean() / 10_000
    assert f"{reward:.4f}"[:5] in text
    assert "best policy" in page.locator(CHART).inner_text()


def test_single_runs_are_drawn_and_counted(page, nothing_lost):
    assert page.locator(f"{CHART} >> path.trace").count() == 0
    page.locator('input[name="runs"]').check()
    assert page.locator(f"{CHART} >> path.trace").count() == 8 * 4
    assert "the first 8 of 10 runs" in page.locator(CHART).inner_text()
    choose(page, "show", "plain")  # follows from weak regret: the mean of the runs is the centre
    data = 'JSON.parse(document.getElementById("data").textContent)'
    runs = page.evaluate(f"{data}.problems[0].panels[10000].runs.weak[0].map((r) => r.at(-1))")
    gain, alone = page.evaluate(f"[{data}.problems[0].gain, {data}.problems[0].alone]")
    plain = np.array(runs) + (gain - alone) * 10_000
    regret = nothing_lost.curves("example 3", "quick", 10_000).regret[:8, -1]
    # these results are made up: plain and weak regret differ by 0.05 a step there
    assert np.ptp(plain - regret) < 1.0


def test_shares_of_pulls_stand_in_a_table(page, nothing_lost):
    table = facts.pulls(nothing_lost, summarize(nothing_lost), "example 3", 10_000)
    assert table["arms"] == ["channel", "coin"]
    assert table["rows"][0]["shares"] == [0.75, 0.25]
    text = page.locator("table.pulls").first.inner_text()
    assert "75.0%" in text
    assert "is not recorded" in text


def test_many_arms_share_one_column_of_pulls(nothing_lost):
    comparison = synthetic_results.results(
        {"many": problems.gilbert_elliott(30)}, ("a",), horizons=(100,), runs=4
    )
    curves = replace(comparison.finished["many", "a", 100], pulls=np.tile(np.arange(30), (4, 1)))
    comparison = replace(comparison, finished={("many", "a", 100): curves})
    table = facts.pulls(comparison, summarize(comparison), "many", 100)
    assert len(table["arms"]) == facts.SHOWN_ARMS + 1
    assert table["arms"][-1] == "18 other arms"
    assert sum(table["rows"][0]["shares"]) == pytest.approx(1, abs=1e-3)


# --- files


def saved(page, button):
    with page.expect_download() as waiting:
        button.click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def test_every_figure_and_table_can_be_saved(page):
    for kind in ("figure[data-name]", "table[data-name]"):
        for place in page.locator(kind).all():
            assert place.locator(".saves button").count() >= 1
    chart = page.locator(CHART)
    name, svg = saved(page, chart.get_by_text("SVG", exact=True))
    assert name == "regret-example-3.svg"
    text = svg.decode()
    assert "var(--" not in text  # it looks the same without the page
    assert "steady-learner-with-a-name" in text
    name, png = saved(page, chart.get_by_text("PNG", exact=True))
    assert (name, png[:4]) == ("regret-example-3.png", b"\x89PNG")
    assert len(png) > 20_000


def test_saved_numbers_are_those_shown(page, nothing_lost):
    name, text = saved(page, page.locator(CHART).get_by_text("CSV", exact=True))
    rows = list(csv.reader(text.decode().splitlines()))
    assert rows[0] == ["step", "learner", "mean", "lower", "upper"]
    assert [row for row in rows if row[1] == LEARNERS[1]][-1][2] == "15300"  # four digits
    assert {row[1] for row in rows[1:]} == {"quick", LEARNERS[1], "'=SUM(A1)", "best-arm"}
    table = page.locator('table[data-name="ranking-example-3-10000"]')
    name, text = saved(page, table.locator(".saves button"))
    assert name == "ranking-example-3-10000.csv"
    rows = list(csv.reader(text.decode().splitlines()))
    assert rows[0][:4] == ["Rank", "Learner", "Mean gap regret", "Mean gap regret (95 % interval)"]
    shown = {row[1]: row for row in rows[1:]}
    assert float(shown[LEARNERS[1]][2]) == pytest.approx(15_297)
    assert shown["'=SUM(A1)"][2] == "3880"


# --- names, phones and paper


def test_names_do_not_wrap(page):
    heights = page.locator(".who").evaluate_all("n => n.map((x) => x.getClientRects()[0].height)")
    assert max(heights) < 30
    cut = "names => names.filter((x) => x.scrollWidth > x.clientWidth).length"
    assert page.locator(".who").evaluate_all(cut) == 0
    for button in page.locator("button.learner").all():
        assert button.bounding_box()["height"] < 34


def test_a_phone_is_told_where_there_is_more(browser, page_file):  # noqa: F811
    opened = browser.new_page(viewport={"width": 390, "height": 844})
    opened.goto(page_file.as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") == 390
    boxes = opened.locator(".scroll").evaluate_all(
        "n => n.map((x) => [x.scrollWidth > x.clientWidth + 1,"
        " getComputedStyle(x, '::before').content])"
    )
    assert any(wide for wide, _ in boxes)
    assert all(("scroll sideways" in words) == wide for wide, words in boxes)
    legend = opened.locator(f"{CHART} >> svg.curves[tabindex] >> g[data-learner] text")
    assert legend.all_text_contents() == list(LEARNERS)  # in full, below the curves
    titles = opened.locator("caption .title").evaluate_all(
        "n => n.map((x) => x.getBoundingClientRect().right)"
    )
    assert max(titles) <= 390
    opened.close()


def pages_of(pdf):
    """The drawing commands of each page of a PDF that Chromium wrote."""
    objects = dict(re.findall(rb"(\d+) 0 obj\n?(.*?)endobj", pdf, re.S))
    drawn = []
    for body in objects.values():
        if re.search(rb"/Type\s*/Page\b", body):
            number = re.search(rb"/Contents (\d+) 0 R", body).group(1)
            drawn.append(zlib.decompress(objects[number].split(b"stream\n")[1]))
    return drawn


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_printed_page_is_blank(browser, page_file, theme):  # noqa: F811
    context = browser.new_context(color_scheme=theme)
    opened = context.new_page()
    opened.goto(page_file.as_uri())
    pages = pages_of(opened.pdf(format="A4", prefer_css_page_size=True))
    context.close()
    assert len(pages) >= 3
    assert min(page.count(b"Tj") + page.count(b"TJ") for page in pages) >= 5
