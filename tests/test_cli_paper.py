"""``restive paper``: workers, interrupts, exit codes, and what is written down."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from itertools import permutations

import pytest
from typer.testing import CliRunner

from restive.cli import app
from restive.paper import catalogue, report
from restive.paper.claim import Claim, Finding, Measurement, Scale
from restive.paper.running import run_claims

CHEAP = "primes,colors,simplification,appendix-norm,appendix-values,example-4"


def restive(*words):
    return CliRunner().invoke(app, ["paper", *words])


def square(cell):
    if cell == "stop":
        raise KeyboardInterrupt
    return cell**2


def claim(name, cells, verdict="holds", expected="holds", seconds=1.0):
    finding = Finding("ran |x|", "number", "criterion <bad>", verdict, "a note")
    work = Measurement(name, lambda scale: cells, square, (seconds, seconds))
    return Claim(name, "Section 0", "says", work, lambda scale, results: finding, expected)


def test_there_are_as_many_workers_as_cores_for_this_process(monkeypatch):
    counts = []

    def started(claims, quick, workers):
        counts.append(workers)
        raise SystemExit(0)

    monkeypatch.setattr(importlib.import_module("restive.cli.commands.paper"), "_run", started)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    restive()
    restive("--workers", "2")
    assert counts == [3, 2]


def use(monkeypatch, *claims):
    monkeypatch.setattr(catalogue, "chosen", lambda words: claims)


def test_the_bytes_do_not_depend_on_the_workers(tmp_path):
    pages = []
    for workers in ("1", "2"):
        folder = tmp_path / workers
        done = restive("--quick", "--only", CHEAP, "--workers", workers, "--out", str(folder))
        assert done.exit_code == 0, done.output
        pages.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert sorted(pages[0]) == ["paper.html", "paper.json", "paper.md"]
    assert pages[0] == pages[1]


def test_results_reach_their_claims_in_order():
    seen = []

    def judge(scale, results):
        seen.append((scale, list(results)))
        return Finding("", "", "", "holds")

    short = Measurement("short", lambda scale: [1, 2], square, (1.0, 1.0))
    long = Measurement("long", lambda scale: [3, 4, 5], square, (9.0, 9.0))
    claims = [Claim(name, "", "", work, judge) for name, work in
              (("a", short), ("b", long), ("c", short))]  # fmt: skip
    told = []
    judgements = list(run_claims(claims, Scale(True), progress=told.append))
    names = [judgement.claim.name for judgement in judgements]
    assert names == ["a", "c", "b"]  # the shortest come first
    assert [results for _, results in seen] == [[1, 4], [1, 4], [9, 16, 25]]
    assert [(progress.done, progress.cells) for progress in told] == [(k, 5) for k in range(1, 6)]
    assert told[-1].left == 0
    assert told[0].left > 0


def test_an_unexpected_verdict_ends_in_1(monkeypatch):
    use(monkeypatch, claim("good", [1]), claim("known", [1], "fails", "fails"),
        claim("open", [1], "not decided", "not decided"))  # fmt: skip
    done = restive("--workers", "1")
    assert done.exit_code == 0
    assert "verdicts are those expected." in done.stdout
    for verdict, expected in permutations(("holds", "fails", "not decided"), 2):
        use(monkeypatch, claim("good", [1]), claim("bad", [1], verdict, expected))
        done = restive("--workers", "1")
        assert done.exit_code == 1
        assert "Not as expected: bad." in done.stdout


def test_an_interrupt_leaves_what_was_finished(monkeypatch, tmp_path):
    use(monkeypatch, claim("never", [1, "stop"], seconds=2.0), claim("done", [1, 2], seconds=1.0))
    done = restive("--workers", "1", "--json", "--out", str(tmp_path))
    assert done.exit_code == 130
    facts = json.loads(done.stdout)
    assert [entry["name"] for entry in facts["claims"]] == ["done"]
    assert facts["interrupted"]
    assert json.loads((tmp_path / "paper.json").read_text("utf-8")) == facts
    assert "interrupted" in (tmp_path / "paper.md").read_text("utf-8")


SLOW = """
import time
from restive.cli import app
from restive.paper import catalogue
from restive.paper.claim import Claim, Measurement, Finding

def work(cell):
    time.sleep(cell)

def claim(name, cells, seconds):
    judge = lambda scale, results: Finding("", "7", "", "holds")
    return Claim(name, "", "", Measurement(name, lambda scale: cells, work, (seconds,) * 2), judge)

catalogue.chosen = lambda words: (claim("first", [0, 0], 1.0), claim("endless", [600] * 4, 9.0))
app(["paper", "--workers", "2", "--json"])
"""


def test_ctrl_c_with_workers_under_way(tmp_path):
    """A real interrupt of the whole group, as a terminal sends it: quick, quiet, nobody is left."""
    with subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=heed_interrupts,
    ) as program:  # fmt: skip
        try:
            assert any("first: holds" in line for line in program.stderr)
            time.sleep(1)  # the endless ones are under way by then, or about to be: both must end
            os.killpg(program.pid, signal.SIGINT)
            out, err = program.communicate(timeout=300)
        finally:
            program.kill()  # if it is still there
    assert program.returncode == 130
    assert [entry["name"] for entry in json.loads(out)["claims"]] == ["first"]
    assert "Traceback" not in err
    assert group_is_gone(program.pid)  # workers are in the group of the program


def heed_interrupts():
    """A program started in the background of a shell ignores them, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def group_is_gone(group):
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_pages_say_what_was_found(monkeypatch, tmp_path):
    use(monkeypatch, claim("good", [1]), claim("known", [1], "fails", "fails"))
    done = restive("--workers", "1", "--out", str(tmp_path))
    assert done.exit_code == 0
    text = (tmp_path / "paper.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| good")]
    assert rows == ["| good | Section 0 | says | ran \\|x\\| | number | criterion <bad> | holds |"]
    assert "fails, as known" in text
    assert "- **good**: a note" in text
    html = (tmp_path / "paper.html").read_text("utf-8")
    assert "criterion &lt;bad&gt;" in html
    assert "<script" not in html
    assert "http:" not in html
    assert "https:" not in html
    assert "1 hold, 1 fail" in done.stdout


def test_a_part_of_the_paper_is_not_taken_for_all_of_it(tmp_path):
    done = restive("--quick", "--only", "primes,example-4", "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    said = f"2 of {len(catalogue.CLAIMS)} claims: 2 hold"
    assert said in " ".join(done.stdout.split())
    for name in ("paper.md", "paper.html"):
        text = (tmp_path / name).read_text("utf-8")
        assert said in text
        assert "restive paper --quick --only primes,example-4" in text
        assert "Some claims of the paper, with what was run" in text
        assert "Every claim" not in text


def test_the_whole_paper_is_said_to_be_whole():
    facts = {"claims": [{"verdict": "holds", "expected": "holds"}] * 2, "known": 2,
             "verdicts": {"holds": 2, "fails": 0, "not decided": 0}, "surprises": []}  # fmt: skip
    whole = "2 claims: 2 hold, 0 fail, 0 not decided. The verdicts are those expected."
    assert report.summary(facts) == whole
    assert report.facts([], version="0", quick=False, interrupted=False)["command"] == (
        "restive paper"
    )


def test_a_phone_shows_the_claims_without_sideways_scrolling(tmp_path):
    from test_report_browser import chromium

    restive("--quick", "--only", "primes,example-4", "--out", str(tmp_path))
    api, path = pytest.importorskip("playwright.sync_api"), chromium()
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=300_000
        )
        page = browser.new_page(viewport={"width": 360, "height": 700})
        page.goto((tmp_path / "paper.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.set_viewport_size({"width": 1200, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == 1200
        browser.close()


def test_what_cannot_be_done_is_said_first(tmp_path):
    taken = tmp_path / "file"
    taken.write_text("")
    for words, told in (
        (["--only", "theorem-9"], "Did you mean theorem-"),
        (["--workers", "-1"], "--workers"),
        (["--out", str(taken)], "not a folder"),
    ):
        done = restive(*words)
        assert done.exit_code == 2
        assert told in done.stderr
        assert "Traceback" not in done.stderr


def test_facts_are_plain_json():
    claims = catalogue.chosen("primes,colors,example-4")
    outcomes = list(run_claims(claims, Scale(True)))
    facts = report.facts(outcomes, version="0", quick=True, interrupted=False)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["verdicts"] == {"holds": 3, "fails": 0, "not decided": 0}
