"""Reports of comparisons: the numbers are those of the runs, and the files are whole."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

import synthetic_results
from restive import experiments, problems
from restive.base.errors import ProblemError
from restive.cli import app
from restive.experiments.bands import COLUMNS, Bands
from restive.experiments.summary import summarize
from restive.report.comparison import facts as facts
from restive.report.comparison import words as words
from restive.report.comparison.lead import lead
from restive.report.comparison.markdown import experiment_markdown
from restive.report.comparison.page import (
    LEAST,
    MOST,
    experiment_page,
    page_curves,
    points_allowed,
)
from restive.report.comparison.report import FORMATS, write_report
from synthetic_results import hostile_bandit

SMALL = {"example 3": problems.example3(0.1), "channels": problems.example1(0.1)}
PLACE = ("example 3", "b", 1000)


def small(**changes):
    options = {"learners": ("b", "a", "best-arm"), "horizons": (100, 1000), "runs": 8, "points": 30}
    return synthetic_results.results(SMALL, **(options | changes))


@cache
def small_page():
    return page_of(small())


@pytest.fixture
def directory(monkeypatch, tmp_path):
    """A directory whose results are the small synthetic ones."""
    monkeypatch.setattr(experiments, "load_results", lambda *a, **k: small())
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


class Reader(HTMLParser):
    """Checks that every element is closed, and keeps texts, attributes and script data."""

    def __init__(self, page):
        super().__init__()
        self.open, self.texts, self.tags, self.ids, self.data = [], [], [], [], ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script" and data.startswith("{"):
            self.data = data
        elif self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)


def page_of(results):
    return experiment_page(Bands(results), summarize(results))


# --- numbers


def test_curves_on_the_page_are_those_of_the_runs():
    results = small()
    bands = Bands(results)
    panel = page_curves(bands, "example 3", 1000)
    curves = results.curves(*PLACE)
    kept = np.isin(curves.times, panel["times"])
    assert panel["times"][0] == 1
    assert panel["times"][-1] == 1000
    for name, runs in [
        ("gap", curves.gap_regret),
        ("plain", curves.regret),
        ("weak", curves.weak_regret),
    ]:
        centre, lower, upper = panel["regrets"][name]["mean"][0]
        assert centre == pytest.approx(runs.mean(axis=0)[kept], rel=1e-3, abs=1e-5)
        assert all(a <= b <= c for a, b, c in zip(lower, centre, upper, strict=True))
        median = panel["regrets"][name]["median"][0]
        assert median[0] == pytest.approx(np.median(runs, axis=0)[kept], rel=1e-3, abs=1e-5)


def test_curves_take_no_more_letters_than_there_is_room_for():
    bands = Bands(small(runs=12))
    assert points_allowed(bands, 10**9) == MOST
    most = points_allowed(bands, 18_000)
    assert LEAST < most < 30
    panels = [page_curves(bands, p, h, most) for p in SMALL for h in (100, 1000)]
    letters = len(json.dumps([panel["regrets"] for panel in panels], separators=(",", ":")))
    assert 9000 < letters <= 18_000


def test_the_ranking_orders_learners_by_their_mean():
    results = small()
    summary = summarize(results)
    rows = facts.ranking(results, summary, "example 3", 1000)
    means = {
        name: results.curves("example 3", name, 1000).gap_regret[:, -1].mean()
        for name in results.learners
    }
    assert [row["learner"] for row in rows] == sorted(means, key=means.get)
    best = rows[0]
    assert (best["winner"], best["p"]["text"], best["difference"]["text"]) == (True, "", "")
    for row in rows:
        assert float(row["mean"]["value"]) == pytest.approx(means[row["learner"]], rel=1e-4)
        above = means[row["learner"]] - means[best["learner"]]
        assert row is best or float(row["difference"]["value"]) == pytest.approx(above, rel=1e-4)
    assert [row["told"] for row in rows] == [False, False, True]


def test_the_lead_names_the_winner_and_by_how_much():
    results = small()
    sentences = " ".join(lead(results, summarize(results)))
    ends = {
        name: [results.curves(p, name, 1000).gap_regret[:, -1].mean() for p in results.problems]
        for name in ("a", "b")
    }
    ratio = np.exp(np.mean(np.log(np.array(ends["b"]) / ends["a"])))
    assert "b has the best mean rank; it lost least on 2 of 2 problems" in sentences
    assert f"{ratio:.3g} times (95 % interval" in sentences
    assert "not tell the two apart" not in sentences


def test_one_problem_is_told_in_differences():
    comparison = synthetic_results.results(
        {"example 3": SMALL["example 3"]}, learners=("b", "a"), horizons=(1000,), runs=8
    )
    sentences = lead(comparison, summarize(comparison))
    ends = [comparison.curves("example 3", name, 1000).gap_regret[:, -1] for name in ("b", "a")]
    assert f"b lost least: {words.amount(ends[0].mean())}" in sentences[1]
    assert f"lost {words.amount((ends[1] - ends[0]).mean())}" in sentences[2]
    assert words.title(comparison) == "2 learners on example 3"


def test_learners_that_nothing_tells_apart_are_said_to_be_so():
    results = small(learners=("b", "a"))
    finished = dict(results.finished)
    for (problem, learner, horizon), curves in results.finished.items():
        if learner == "a":
            finished[problem, "b", horizon] = curves
    object.__setattr__(results, "finished", finished)
    summary = summarize(results)
    assert "b and a share the best mean rank." in lead(results, summary)
    cells = [row["cells"][0] for row in facts.overview(results, summary, 1000)]
    assert [(cell["winner"], cell["tied"]) for cell in cells] == [(False, False), (False, True)]


def test_times_are_medians_over_all_runs():
    """As on the screen: the first run of a learner may have to compile."""
    results = small()
    results.curves("channels", "b", 1000).seconds[0] = 60.0
    rows = {row["learner"]: row for row in facts.times(results, 1000)}
    for name, row in rows.items():
        curves = [results.curves(problem, name, 1000) for problem in results.problems]
        assert row["seconds"] == pytest.approx(np.median([c.seconds for c in curves]))
        planning = [c.planning_seconds for c in curves]
        assert row["planning"] == pytest.approx(np.median(planning))
        playing = [c.seconds - c.planning_seconds for c in curves]
        assert row["playing"] == pytest.approx(np.median(playing))
        assert row["seconds"] < 1
        assert row["per_step"] == pytest.approx(1e3 * row["seconds"])
    assert list(rows) == sorted(rows, key=lambda name: rows[name]["seconds"])


def test_arms_alike_are_shown_once():
    groups = facts.arms(problems.gilbert_elliott(6, 0.4, 0.4))
    assert [group["names"] for group in groups] == ["channel 1, channel 2, … channel 6 (6 alike)"]
    assert len(facts.arms(problems.example3(0.1))) == 2


def test_provenance_is_told_in_lines():
    results = small()
    shown = {
        "learners": [
            {"label": "mine", "name": "tied-ucrl", "options": {"scale": 2}},
            {"label": "a", "name": "a", "options": {}},
        ],
        "machines": [{"cores": 2, "host": "x"}],
        "finished": "",
    }
    object.__setattr__(results, "provenance", shown)
    pairs = dict(facts.provenance(results))
    assert pairs["learners"] == "mine (tied-ucrl, scale 2), a"
    assert pairs["machines"] == "cores 2, host x"
    assert "finished" not in pairs
    assert pairs["horizons"] == "100, 1,000"


# --- what is missing


def test_refusals_and_too_few_runs_are_said():
    results = small(runs=3, refused=[("channels", "a", 1000)])
    summary = summarize(results)
    assert "3 runs are too few" in " ".join(words.missing(results, summary))
    rows = facts.ranking(results, summary, "channels", 1000)
    assert (rows[-1]["learner"], rows[-1]["refusal"]) == ("a", "it takes two arms at most")
    page = page_of(results)
    assert "did not run: it takes two arms at most" in page
    assert "a: did not run: it takes two arms at most" in experiment_markdown(results, summary, {})


def test_an_unfinished_comparison_is_reported_as_far_as_it_got():
    results = small(learners=("b", "a"), horizons=(1000,))
    finished = {place: c for place, c in results.finished.items() if place[0] == "example 3"}
    object.__setattr__(results, "finished", finished)
    reader = Reader(page_of(results))
    text = " ".join(reader.texts)
    assert "not finished: 16 of 32 runs are shown" in text
    assert "No run has finished yet." in text
    object.__setattr__(results, "finished", {})
    assert "No learner has finished yet." in " ".join(Reader(page_of(results)).texts)


def test_without_a_plan_weak_regret_takes_the_place_of_gap_regret():
    results = small(planned=False)
    page = page_of(results)
    reader = Reader(page)
    data = json.loads(reader.data)
    assert data["show"] == "weak"
    assert list(data["problems"][0]["panels"]["1000"]["regrets"]) == ["weak"]
    assert "weak regret is shown in place of gap regret" in page


# --- the page


def test_the_page_for_ten_learners_and_five_problems_is_small():
    page = page_of(synthetic_results.results())
    assert len(page.encode()) < 1_000_000
    reader = Reader(page)
    panel = json.loads(reader.data)["problems"][4]["panels"]["100000"]
    assert len(panel["times"]) == MOST
    assert len(panel["regrets"]["gap"]["mean"]) == 10


def test_the_page_for_a_whole_suite_is_small(monkeypatch):
    """24 problems with pictures as large as those of the suite, which take minutes to plan."""
    from restive.report.comparison import page as page_module

    picture = {"pictures": ["x" * 6000], "note": "", "situations": [], "rule": ""}
    monkeypatch.setattr(page_module, "_policy", lambda bandit: picture)
    named = {f"problem {k}": problems.random_problem(2, 2 + k % 4, rng=k) for k in range(24)}
    results = synthetic_results.results(named, horizons=(10_000, 100_000), runs=12, points=60)
    page = page_of(results)
    assert len(page.encode()) < 1_000_000
    panel = json.loads(Reader(page).data)["problems"][23]["panels"]["100000"]
    assert LEAST <= len(panel["times"]) < MOST


def test_the_page_is_accessible_markup_and_loads_nothing():
    page = small_page()
    reader = Reader(page)
    assert len(reader.ids) == len(set(reader.ids))
    tags = [tag for tag, _ in reader.tags]
    assert tags.count("h1") == 1
    assert tags.count("table") == tags.count("caption")
    for tag, attributes in reader.tags:
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true" or attributes.get("aria-label")
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
        assert tag not in ("img", "iframe", "object", "embed")
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert "@import" not in page
    assert not re.search(r"url\((?!#)|https?://(?!www\.w3\.org/)", page)
    links = {a["href"][1:] for tag, a in reader.tags if tag == "a"}
    assert links <= set(reader.ids)


def test_text_on_the_page_stands_out_in_light_and_in_dark():
    from test_report_pictures import contrast

    style = re.search("<style>(.*?)</style>", small_page(), re.DOTALL).group(1)
    light, dark = re.findall(r"color-scheme: (?:light|dark);(.*?)\}", style, re.DOTALL)[:2]
    for block in (light, dark):
        color = dict(re.findall(r"--(\w+): (#\w{6});", block))
        for text in ("ink", "soft", "accent"):
            assert contrast(color[text], color["page"]) >= 4.5
            assert contrast(color[text], color["card"]) >= 4.5
        for ground in ("pull0", "pull1", "pull2", "either"):
            assert contrast(color["ink"], color[ground]) >= 4.5
        assert contrast("#1b1f24", color["mark"]) >= 4.5


def test_names_are_shown_and_never_obeyed():
    evil = "<script>alert(1)</script>\"'&"
    results = synthetic_results.results(
        {evil: hostile_bandit()}, learners=(evil, "]]></script><b>", "x"), horizons=(100,), runs=6
    )
    object.__setattr__(results, "command", "restive compare '</code><i>'")
    page = page_of(results)
    reader = Reader(page)
    assert [tag for tag, _ in reader.tags].count("script") == 2
    assert not {"b", "i"} & {tag for tag, a in reader.tags if not a and tag != "i"}
    assert evil in "".join(reader.texts)
    assert json.loads(reader.data)["learners"][0]["name"] == evil
    text = experiment_markdown(results, summarize(results), {})
    assert "<script" not in text.replace("\\<script", "")


def test_the_same_results_give_the_same_page():
    assert page_of(small()) == small_page()
    assert page_of(small(seed=1)) != small_page()


# --- files


def test_all_files_are_written(directory):
    written = write_report(directory)
    names = sorted(str(path.relative_to(directory / "report")) for path in written)
    figures = [
        f"figures/{n}-{h}.{kind}"
        for n in ("00-example-3-[0-9a-f]{8}", "01-channels") for h in (100, 1000)
        for kind in ("pdf", "svg")
    ]  # fmt: skip
    patterns = [*figures, "curves.csv", "curves.parquet", "report.html", "report.md"]
    assert len(names) == len(patterns)
    for pattern in patterns:
        assert sum(bool(re.fullmatch(pattern, name)) for name in names) == 1
    assert sorted(path for path in (directory / "report").rglob("*") if path.is_file()) == sorted(
        written
    )
    text = (directory / "report" / "report.md").read_text("utf-8")
    for link in re.findall(r"\]\((.*?)\)", text):
        assert (directory / "report" / link).is_file()
    assert text.count("![") == 4


def test_tables_hold_every_point_of_the_runs(directory):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_report(directory, formats=["csv", "parquet"])
    with open(directory / "report" / "curves.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert tuple(rows[0]) == COLUMNS
    results = small()
    curves = results.curves(*PLACE)
    mine = [row for row in rows if (row["problem"], row["learner"], row["horizon"], row["regret"])
            == ("example 3", "b", "1000", "weak")]  # fmt: skip
    assert [int(row["time"]) for row in mine] == curves.times.tolist()
    means = [float(row["mean"]) for row in mine]  # nine digits: libraries differ in the last ones
    assert means == pytest.approx(curves.weak_regret.mean(axis=0), rel=1e-8)
    assert {row["runs"] for row in mine} == {"8"}
    table = parquet.read_table(directory / "report" / "curves.parquet").to_pylist()
    assert len(table) == len(rows) == sum(3 * len(c.times) for c in results.finished.values())
    as_text = [{k: "" if v is None else str(v) for k, v in row.items()} for row in table]
    assert as_text == rows


def test_markdown_has_the_numbers_of_the_page():
    results = small()
    summary = summarize(results)
    text = experiment_markdown(results, summary, {})
    for row in facts.ranking(results, summary, "channels", 1000):
        cell = row["mean"]
        assert f"{cell['text']} ({cell['span']})" in text
    tables = re.findall(r"((?:^\|.*\|\n)+)", text, re.MULTILINE)
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1
    assert results.command in text


def test_figures_are_the_same_bytes_each_time(directory):
    pytest.importorskip("matplotlib")
    once = {path: path.read_bytes() for path in write_report(directory, formats=["svg", "pdf"])}
    again = write_report(directory, formats=["pdf", "svg"])
    assert {path: path.read_bytes() for path in again} == once
    assert {data[:4] for data in once.values()} == {b"<?xm", b"%PDF"}


def test_a_page_elsewhere_comes_alone(directory, tmp_path):
    target = tmp_path / "page.html"
    assert write_report(directory, target) == [target]
    assert not (directory / "report").exists()


@pytest.mark.usefixtures("full_disk")
def test_a_failure_leaves_the_old_page_alone(directory, tmp_path):
    target = tmp_path / "page.html"
    target.write_text("before", encoding="utf-8")
    with pytest.raises(ProblemError, match="disk full"):
        write_report(directory, target)
    assert target.read_text(encoding="utf-8") == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "results"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"formats": ["gif"]}, ["no such format", "gif", "html, md, svg, pdf, csv, parquet"]),
        ({"formats": []}, ["nothing to write"]),
        ({"out": "page.txt"}, ["unknown kind of file", "page.txt", ".html"]),
        ({"out": "nowhere/page.html"}, ["no such folder", "nowhere"]),
        ({"out": "folder.html"}, ["this is a folder"]),
    ],
)
def test_bad_wishes_are_refused_before_any_work(arguments, said, directory, monkeypatch):
    monkeypatch.chdir(directory.parent)
    (directory.parent / "folder.html").mkdir()
    with pytest.raises(ProblemError) as caught:
        write_report(directory, **arguments)
    assert all(word in str(caught.value) for word in said)
    assert not (directory / "report").exists()


@pytest.mark.parametrize(("kind", "extra"), [("svg", "plot"), ("parquet", "parquet")])
def test_a_missing_extra_is_named(kind, extra, directory, monkeypatch):
    monkeypatch.setitem(sys.modules, FORMATS[kind][0], None)
    with pytest.raises(ProblemError, match=re.escape(f"pip install 'restive[{extra}]'")):
        write_report(directory, formats=[kind])
    done = CliRunner().invoke(app, ["report", str(directory)])
    assert done.exit_code == 0
    assert f"restive[{extra}]" in done.stdout
    assert not list(directory.rglob(f"*.{kind}"))


# --- the command, on runs that were really played


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A small comparison, played by restive compare."""
    from restive.experiments import Experiment

    out = tmp_path_factory.mktemp("played") / "results"
    Experiment(
        {"example 1": problems.example1(0.1)},
        learners=["best-arm", "myopic"],
        horizons=[50],
        runs=6,
    ).run(out, workers=1)
    return out


def test_the_command_reports_real_runs(played):
    done = CliRunner().invoke(app, ["report", str(played), "--formats", "html, MD,csv", "--json"])
    assert done.exit_code == 0, done.output
    names = [path.rsplit("/", 1)[1] for path in json.loads(done.stdout)["files"]]
    assert names == ["report.html", "report.md", "curves.csv"]
    reader = Reader((played / "report" / "report.html").read_text("utf-8"))
    assert "2 learners on example 1" in reader.texts
    ranked = CliRunner().invoke(app, ["report", str(played)])
    assert f"wrote {played / 'report' / 'report.html'}" in ranked.stdout
    assert "(2 figures)" in ranked.stdout


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_what_is_not_a_results_directory_is_refused(name, tmp_path):
    done = CliRunner().invoke(app, ["report", str(tmp_path / name)])
    assert done.exit_code == 2
    assert "Give the directory that restive compare wrote." in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_does_not_load_what_only_reports_need():
    code = (
        "import sys\nfrom restive.cli import app\n"
        "sys.exit(any(n in sys.modules for n in ('jinja2', 'matplotlib', 'pyarrow', 'scipy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
