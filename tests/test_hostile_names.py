"""Names that attack: through every output nothing is executed, nothing broken, nothing hidden."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import synthetic_results
from restive import Arm, Bandit
from restive.base.words import formula_free, visible
from restive.experiments.bands import Bands
from restive.experiments.summary import summarize
from restive.model.files import dump_problem, parse_problem
from restive.report.comparison.markdown import experiment_markdown
from restive.report.comparison.page import experiment_page

NAMES = (
    "<script>window.hit=1</script>",
    "\"'><img src=x onerror=window.hit=1>",
    "</title></style></script><svg onload=window.hit=1>",
    "\u202egnp.exe \u2066rtl\u2069",
    "\x1b[2J\x1b]0;title\x07 red \x9b31m",
    "=HYPERLINK(\"http://example.org\",\"x\")",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\\input{/etc/passwd} $x^2$ %&#_{}~",
    "../../etc/passwd\x00",
    "{{ 7*7 }} {% raw %} ${x} `id`",
    "]]> <!-- --> | **bold** [a](javascript:alert(1))",
)  # fmt: skip
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def hostile_bandit(name: str) -> Bandit:
    arms = [
        Arm([[0.9, 0.1], [0.2, 0.8]], [0.1, 0.9], name=f"{name} {j}", states=[name, f"{name}!"])
        for j in range(2)
    ]
    return Bandit(arms, name=name)


@pytest.fixture(scope="module")
def results():
    bandits = {name: hostile_bandit(name) for name in NAMES[:6]}
    return synthetic_results.results(bandits, NAMES, horizons=(100,), runs=5, points=12)


@pytest.mark.parametrize("name", NAMES)
def test_names_survive_problem_files(name):
    bandit = hostile_bandit(name)
    for form in ("toml", "json"):
        text = dump_problem(bandit, form)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
        assert parse_problem(text, form) == bandit


def test_the_page_shows_names_and_runs_none(results, tmp_path):
    from test_report_browser import chromium

    path = chromium()
    api = pytest.importorskip("playwright.sync_api")
    target = tmp_path / "report.html"
    target.write_text(experiment_page(Bands(results), summarize(results)), encoding="utf-8")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=300_000
        )
        page = browser.new_page()
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(target.as_uri())
        assert page.evaluate("window.hit") is None
        assert page.locator("img, iframe, object, embed").count() == 0
        assert page.locator("script").count() == 2  # the numbers and the page's own
        shown = page.locator("button.learner").all_inner_texts()
        assert len(shown) == len(NAMES)
        assert "<script>window.hit=1</script>" in shown[0]
        assert page.locator("svg.curves path.line").count() >= 6 * len(NAMES)
        assert not CONTROLS.search(page.locator("body").inner_text())
        assert "\\u202egnp.exe" in shown[3]
        assert complaints == []
        assert requests == [target.as_uri()]
        browser.close()


def test_markdown_has_no_html_links_or_lines_of_names(results):
    text = experiment_markdown(results, summarize(results), {})
    assert not re.search(r"(?<!\\)<", text)
    assert not re.search(r"(?<!\\)\]\(javascript", text)
    assert not CONTROLS.search(text)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    widths = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert widths <= {3, 4, 7, 9, 10}  # tables of the report, none of them broken by a name


def test_tables_hold_no_formula_and_are_read_back(results):
    bands = Bands(results)
    data = bands.to_csv()
    cells = [cell for row in csv.reader(io.StringIO(data.decode(), newline="")) for cell in row]
    words = [cell for cell in cells if cell and not re.fullmatch(r"-?[\d.e+-]+", cell)]
    assert words
    assert not [cell for cell in words if cell[0] in "=+-@\t\r"]
    again = Bands(results)
    again.read(data)
    place = (NAMES[5], NAMES[6], 100)
    assert again.of(place, "weak").centre.tolist() == pytest.approx(
        bands.of(place, "weak").centre.tolist(), rel=1e-8
    )


def test_pictures_are_whole_and_hold_no_script(results, tmp_path):
    pytest.importorskip("matplotlib")
    from restive.planning import plan
    from restive.report import policy_figure, regret_picture

    regret_picture(results, tmp_path / "curves.svg")
    for k, name in enumerate(NAMES[:6]):
        policy_figure(plan(hostile_bandit(name), 1e-3), tmp_path / f"policy-{k}.svg")
    for path in tmp_path.glob("*.svg"):
        tree = ElementTree.parse(path)
        assert not [node for node in tree.iter() if node.tag.endswith("script")]
        assert not [key for node in tree.iter() for key in node.attrib if key.startswith("on")]


def terminal(*words: str, cwd: str) -> str:
    """What a command writes to a terminal, standard error included."""
    pty = pytest.importorskip("pty")
    main, second = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "restive", *words], stdout=second, stderr=second, cwd=cwd,
        env={**os.environ, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(second)
    chunks = []
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    process.wait()
    os.close(main)
    return b"".join(chunks).decode()


@pytest.mark.parametrize("name", [NAMES[3], NAMES[4]])
def test_a_terminal_gets_no_command_from_a_name(name, tmp_path):
    (tmp_path / "problem.toml").write_text(dump_problem(hostile_bandit(name)), encoding="utf-8")
    (tmp_path / "bad.toml").write_text(f"{json.dumps(name)} = 1\n", encoding="utf-8")
    for words in (("plan", "problem.toml"), ("inspect", "problem.toml"), ("plan", "bad.toml")):
        shown = terminal(*words, cwd=str(tmp_path))
        own = re.sub("\x1b\\[[0-9;]*[mKAGJ]|\x1b\\[\\?25[lh]", "", shown)  # rich's colours
        assert "\x1b[2J" not in shown
        assert not CONTROLS.search(own.replace("\r", "")), words


def test_json_of_the_command_line_has_escapes(tmp_path):
    bandit = hostile_bandit(NAMES[4] + NAMES[3])
    (tmp_path / "problem.toml").write_text(dump_problem(bandit), encoding="utf-8")
    line = [sys.executable, "-m", "restive", "plan", "problem.toml", "--json"]
    text = subprocess.run(line, capture_output=True, cwd=tmp_path, check=True).stdout.decode()
    assert not CONTROLS.search(text)
    assert json.loads(text)["problem"] == bandit.name


def test_words_that_are_safe_stay_as_they_are():
    assert visible("Größe ½ 信道\n") == "Größe ½ 信道\n"
    assert visible("\u202e\x1b") == "\\u202e\\x1b"
    assert [formula_free(value) for value in ("a=1", -1.5, None, "-x")] == [
        "a=1",
        -1.5,
        None,
        "'-x",
    ]
