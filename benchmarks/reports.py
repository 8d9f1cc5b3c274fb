"""Reports: how large the page of a full comparison is, and how long it takes to make and open."""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import Goal, table
from restive import problems
from restive.experiments.bands import Bands
from restive.experiments.results import Curves, Results
from restive.experiments.summary import summarize
from restive.report.comparison.page import experiment_page

TITLE = "The report page"
LEARNERS, RUNS, HORIZON, POINTS = 10, 50, 100_000, 170
# When the script has drawn everything and the browser has put it on the screen.
DRAWN = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
  () => done(performance.now()))))"""


def run(quick: bool) -> dict[str, Any]:
    results = _results()
    start = perf_counter()
    summary = summarize(results)
    compared = perf_counter()
    page = experiment_page(Bands(results), summary)
    made = perf_counter()
    opened = _open(page, 2 if quick else 9)
    size = len(page.encode()) / 1e6
    goals = [Goal("size of the page, 10 learners x 5 problems x 50 runs", size, 1.0, "MB")]
    if opened:
        goals.append(Goal("opening it in Chromium until it is drawn", median(opened), 1.0, "s"))
    row = {
        "size": size, "compare": compared - start, "make": made - compared,
        "opens": median(opened) if opened else None,
        "least": min(opened, default=None), "most": max(opened, default=None),
    }  # fmt: skip
    return {"rows": [row], "goals": [goal.record() for goal in goals]}


def _results() -> Results:
    """Ten made-up learners on five problems: only the amount of numbers matters here."""
    named = {
        "two arms": problems.example3(0.1),
        "four states": problems.random_problem(2, 4, rng=1, stickiness=0.5),
        "three arms": problems.random_problem(3, 3, rng=2),
        "four channels": problems.gilbert_elliott(4, 0.4, 0.4),
        "large arms": problems.random_problem(2, [20, 12], rng=1),
    }
    learners = tuple(f"learner {k + 1}" for k in range(LEARNERS))
    rng = np.random.default_rng(0)
    found = {(p, name, HORIZON): _curves(rng, k) for p in named for k, name in enumerate(learners)}
    gains = dict.fromkeys(named, (0.7, 0.699999, 0.700001))
    best = {name: (one.best_arm, one.arms[one.best_arm].gain) for name, one in named.items()}
    return Results(
        tuple(named), learners, (HORIZON,), RUNS, 0, named, gains, best, {}, {}, "", found
    )


def _curves(rng: np.random.Generator, learner: int) -> Curves:
    times = np.unique(np.geomspace(1, HORIZON, POINTS).round().astype(np.int64))
    level = rng.lognormal(0.3 * learner, 0.2, RUNS)[:, None]
    gap = level * times**0.5
    plain = gap + rng.normal(size=gap.shape).cumsum(axis=1) * np.sqrt(times) / 5
    seconds = rng.gamma(50, 0.01, RUNS)
    return Curves(times, plain, gap, plain - 0.05 * times, seconds, seconds / 3, np.full(RUNS, 20))


def _open(page: str, times: int) -> list[float]:
    """Seconds from asking for the page to seeing it, in a new tab each; none without a browser."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    if browser is None:
        return []
    seconds = []
    with TemporaryDirectory() as room, sync_playwright() as playwright:
        file = Path(room) / "report.html"
        file.write_text(page, encoding="utf-8")
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for _ in range(times + 1):
            tab = started.new_page(viewport={"width": 1200, "height": 900})
            tab.set_default_timeout(120_000)
            tab.goto(file.as_uri())
            seconds.append(tab.evaluate(DRAWN) / 1000)
            tab.close()
        started.close()
    return seconds[1:]  # the first tab also waits for the browser's own start


def describe(result: dict[str, Any]) -> list[str]:
    columns = {
        "size": "page MB|.2f", "compare": "comparing s|.2f", "make": "making s|.2f",
        "opens": "opens in s|.2f", "least": "least|.2f", "most": "most|.2f",
    }  # fmt: skip
    lines = [
        "10 learners on 5 problems, 50 runs each. Making includes five plans and their pictures;",
        "opening goes from asking for the file to the last curve on the screen.",
        "",
        *table(columns, result["rows"]),
    ]
    return lines if result["rows"][0]["opens"] else [*lines, "", "There was no browser to open it."]
