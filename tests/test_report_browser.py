"""The report page in a real browser: it draws, answers, prints, and asks the network nothing."""

from __future__ import annotations

import os
import shutil

import pytest

import synthetic_results
from restive import Bandit, problems
from restive.experiments.bands import Bands
from restive.experiments.summary import summarize
from restive.report.comparison.page import experiment_page

EVIL = "<script>window.hit=1</script>\"'<img src=x onerror=window.hit=1>"
LEARNERS = ("quick", "steady", EVIL, "best-arm")
PATIENCE = 300_000  # milliseconds, for machines that have other work
CHART = "figure.chart >> nth=0"


def chromium():
    """Path of a browser; without one tests are skipped, but not where everything must hold."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None and os.environ.get("CI") == "true":
        pytest.fail("chromium is not installed")
    if browser is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    return browser


@pytest.fixture(scope="module")
def results():
    named = {"example 3": problems.example3(0.1), "four channels": problems.gilbert_elliott(4)}
    refused = [("four channels", "steady", 10_000)]
    return synthetic_results.results(
        named, LEARNERS, horizons=(100, 10_000), runs=8, refused=refused, points=60
    )


@pytest.fixture(scope="module")
def page_file(results, tmp_path_factory):
    target = tmp_path_factory.mktemp("page") / "report.html"
    target.write_text(experiment_page(Bands(results), summarize(results)), encoding="utf-8")
    return target


@pytest.fixture(scope="module")
def browser():
    path = chromium()
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=PATIENCE
        )
        yield started
        started.close()


@pytest.fixture
def open_page(browser, page_file):
    """Opens the page; at the end nothing was complained of and nothing was asked for."""
    opened, complaints, requests = [], [], []

    def opener(**options):
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | options))
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        opened.append(context)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(page_file.as_uri())
        return page

    yield opener
    for context in opened:
        context.close()
    assert complaints == []
    assert requests == [page_file.as_uri()] * len(opened)


def lines(page):
    """The curves of the first chart: learner -> path."""
    paths = page.locator(f"{CHART} >> path.line[data-learner]").all()
    return {int(line.get_attribute("data-learner")): line.get_attribute("d") for line in paths}


def end_heights(page):
    """Heights on the screen at which the curves end, by learner."""
    return {k: float(path.rsplit(" ", 1)[1]) for k, path in lines(page).items()}


def choose(page, name, value):
    page.locator(f'input[name="{name}"][value="{value}"]').check(force=True)


def test_it_draws_every_problem_and_learner(open_page, results):
    page = open_page()
    assert page.title() == "4 learners on 2 problems"
    assert page.locator("figure.chart svg.curves[tabindex]").count() == 2
    assert sorted(lines(page)) == [0, 1, 2, 3]
    assert page.locator("svg.chain").count() == 3  # four channels are alike and drawn once
    assert page.locator("svg.policy").count() == 3
    # The picture is right: the more was lost, the higher the curve ends.
    ends = [results.curves("example 3", n, 10_000).gap_regret[:, -1].mean() for n in LEARNERS]
    heights = end_heights(page)
    assert sorted(heights, key=heights.get, reverse=True) == sorted(range(4), key=ends.__getitem__)
    assert page.evaluate("window.hit") is None
    assert EVIL in page.locator("button.learner").nth(2).inner_text()


def test_learners_can_be_taken_out_and_put_back(open_page):
    page = open_page()
    before = lines(page)
    button = page.locator("button.learner").nth(3)
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    without = lines(page)
    assert sorted(without) == [0, 1, 2]
    assert without[0] != before[0]  # the axis follows those that are left
    assert page.locator(f"{CHART} >> g[data-learner]").count() == 3
    page.keyboard.press("Space")
    assert lines(page) == before
    for k in range(4):
        page.locator("button.learner").nth(k).click()
    assert "No learner is chosen" in page.locator(CHART).inner_text()


def test_scale_regret_centre_bands_and_horizon_change_the_picture(open_page, results):
    page = open_page()
    seen = [lines(page)]
    for name, value in [
        ("scale", "linear"),
        ("show", "plain"),
        ("show", "weak"),
        ("centre", "median"),
    ]:
        choose(page, name, value)
        seen.append(lines(page))
        assert seen[-1] not in seen[:-1]
    assert "Weak regret" in page.locator(CHART).inner_text()
    assert page.locator(f"{CHART} >> path.band").count() == 4
    page.locator('input[name="bands"]').uncheck()
    assert page.locator(f"{CHART} >> path.band").count() == 0
    page.locator('select[name="horizon"]').select_option("100")
    assert lines(page) not in seen
    shown = page.locator('[data-horizon="100"]').first
    assert shown.is_visible()
    assert not page.locator('[data-horizon="10000"]').first.is_visible()


def test_linear_and_logarithmic_axes_put_points_where_they_belong(open_page, results):
    page = open_page()
    middle = {}
    for scale in ("log", "linear"):
        choose(page, "scale", scale)
        path = lines(page)[0]
        xs = [float(part.split()[0]) for part in path.replace("M", "L").split("L")[1:]]
        times = page.evaluate(
            'JSON.parse(document.getElementById("data").textContent).problems[0].panels[10000].times'
        )
        middle[scale] = (xs[times.index(min(times, key=lambda t: abs(t - 100)))] - xs[0]) / (
            xs[-1] - xs[0]
        )
    assert middle["log"] == pytest.approx(0.5, abs=0.02)  # 100 is half way from 1 to 10,000
    assert middle["linear"] == pytest.approx(0.01, abs=0.003)


def test_values_are_read_out_by_pointer_and_by_keys(open_page, results):
    page = open_page()
    chart = page.locator(f"{CHART} >> svg.curves[tabindex]")
    readout = page.locator(f"{CHART} >> .readout")
    assert not readout.is_visible()
    chart.scroll_into_view_if_needed()
    chart.hover(position={"x": 400, "y": 150})
    assert readout.is_visible()
    assert readout.locator("tr").count() == 4
    assert EVIL in readout.inner_text()  # shown as it is, in full, and not obeyed
    assert page.evaluate("window.hit") is None
    page.mouse.move(5, 5)
    assert not readout.is_visible()
    chart.focus()
    page.keyboard.press("End")
    text = readout.inner_text()
    assert text.startswith("step 10,000")
    curves = results.curves("example 3", "quick", 10_000)
    assert f"{float(f'{curves.gap_regret[:, -1].mean():.4g}'):,g}" in text
    page.keyboard.press("ArrowLeft")
    assert not readout.inner_text().startswith("step 10,000")
    page.keyboard.press("Escape")
    assert not readout.is_visible()


def test_tables_are_sorted_by_a_click(open_page):
    page = open_page()
    table = page.locator('.scroll[data-horizon="10000"] table').nth(1)
    names = lambda: [cell.strip() for cell in table.locator("tbody th").all_inner_texts()]  # noqa: E731
    before = names()
    head = table.locator("thead th").nth(2)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert names() == before
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert names() == before[::-1]
    table.locator("thead th").nth(1).locator("button").click()
    assert names() == sorted(before, key=str.casefold)


def test_a_learner_that_did_not_run_stays_last(open_page):
    page = open_page()
    table = page.locator('.scroll[data-horizon="10000"] table').nth(2)
    for _ in range(2):
        table.locator("thead th").nth(4).locator("button").click()
        last = table.locator("tbody tr").last
        assert "steady" in last.inner_text()
        assert "did not run: it takes two arms at most" in last.inner_text()


def test_dark_colours_follow_the_system_and_the_switch(open_page):
    page = open_page(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(20, 23, 28)"
    page.locator('select[name="theme"]').select_option("light")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="light")
    page.locator('select[name="theme"]').select_option("dark")
    assert page.evaluate(ground) == "rgb(20, 23, 28)"
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_it_prints_all_problems_without_controls(open_page, tmp_path):
    page = open_page()
    page.emulate_media(media="print")
    assert not page.locator("form.controls").is_visible()
    assert all(chart.is_visible() for chart in page.locator("figure.chart svg.curves").all())
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_many_problems_run_down_the_printed_page(browser, tmp_path):
    """No cell of a wide overview lies beyond the edge of an A4 page with its margins (180 mm)."""
    named = {f"problem number {k}": problems.example3(0.1 + k / 100) for k in range(24)}
    many = synthetic_results.results(named, horizons=(100,), runs=6, points=10)
    target = tmp_path / "many.html"
    target.write_text(experiment_page(Bands(many), summarize(many)), encoding="utf-8")
    width = round(180 / 25.4 * 96)
    page = browser.new_page(viewport={"width": width, "height": 1000})
    page.goto(target.as_uri())
    page.emulate_media(media="print")
    boxes = page.locator(".overview :is(th, td)").evaluate_all(
        "cells => cells.map((c) => c.getBoundingClientRect()).map((b) => [b.left, b.right, b.top])"
    )
    assert len(boxes) == 11 * 26
    assert min(left for left, _, _ in boxes) >= 0
    assert max(right for _, right, _ in boxes) <= width
    heads, first = boxes[:26], boxes[26:52]
    assert [top for *_, top in heads] == [top for *_, top in first]  # learners are columns now
    assert len({top for *_, top in heads}) == 26
    shades = page.locator("td.heat, .spent i").evaluate_all(
        "cells => cells.map((c) => getComputedStyle(c).printColorAdjust)"
    )
    assert set(shades) == {"exact"}
    page.close()


def test_the_level_of_arms_alone_is_named_by_how_many_are_pulled(browser, tmp_path):
    channels = problems.gilbert_elliott(4)
    named = {"one": channels, "two": Bandit(channels.arms, pulls=2)}
    pulled = synthetic_results.results(named, horizons=(100,), runs=6, points=10)
    target = tmp_path / "pulls.html"
    target.write_text(experiment_page(Bands(pulled), summarize(pulled)), encoding="utf-8")
    page = browser.new_page()
    page.goto(target.as_uri())
    choose(page, "show", "reward")
    charts = page.locator("figure.chart").all()
    shown = [chart.locator("text.halo").all_text_contents() for chart in charts]
    assert ["best single arm" in texts for texts in shown] == [True, False]
    assert ["2 best arms" in texts for texts in shown] == [False, True]
    page.close()


def test_a_phone_needs_no_sideways_scrolling(open_page):
    page = open_page(viewport={"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    assert sorted(lines(page)) == [0, 1, 2, 3]


def test_without_scripts_tables_are_there_and_controls_are_not(browser, page_file):
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert "curves.csv" in page.locator("figure.chart").first.inner_text()
    assert page.locator("table").first.is_visible()
    assert not page.locator("form.controls").is_visible()
    assert page.locator('[data-horizon="100"]').first.is_visible()
    context.close()


def test_the_policy_lets_no_script_run_but_the_page_s_own(browser, page_file, tmp_path):
    """What a hole in the escaping would let in does not run either."""
    injected = (
        "<script>window.hit=1</script><img src=x onerror='window.hit=1'>"
        "<a id=bad href='javascript:window.hit=1'>x</a><base href='https://example.org/'>"
    )
    target = tmp_path / "report.html"
    text = page_file.read_text("utf-8")
    target.write_text(text.replace("</body>", injected + "</body>"), encoding="utf-8")
    page = browser.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(target.as_uri())
    page.locator("#bad").click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.hit") is None
    assert page.locator("path.line").count() > 0  # the page's own script did run
    assert not [url for url in requests if url.startswith("http")]
    page.close()
