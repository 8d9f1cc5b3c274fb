"""What ``restive compare`` says on the screen, and its exit codes."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console
from typer.testing import CliRunner

from restive import problems
from restive.cli import app
from restive.cli.compare_screen import _Screen, plain
from restive.experiments import cells
from restive.model import files


def write(folder, learners, name="one", runs=4):
    (folder / "one.toml").write_text(files.dump_problem(problems.example1()))
    path = folder / "experiment.toml"
    head = f'problems = [{{ file = "one.toml", name = {json.dumps(name)} }}]\n'
    path.write_text(f"{head}horizons = 50\nruns = {runs}\nlearners = [{learners}]\n")
    return path


def compare(*words):
    return CliRunner().invoke(app, ["compare", *map(str, words), "--workers", "1"])


def test_failed_runs_are_shown_and_counted(tmp_path):
    marker = json.dumps(str(tmp_path / "marker"))
    mine = f'{{ name = "mortal:shaky", label = "mine", options = {{ marker = {marker} }} }}'
    path = write(tmp_path, f'"ucb1", {mine}', runs=8)
    shown = compare(path, "--out", tmp_path / "out")
    assert shown.exit_code == 1
    facts = compare(path, "--out", tmp_path / "out", "--json")
    assert facts.exit_code == 1
    (failure,) = json.loads(facts.stdout)["failures"]
    count = len(failure["failed"])
    assert 0 < count < 8
    assert f"mine: {count} of 8 runs failed (OverflowError: boom); not ranked" in shown.stdout
    assert "mine did not play" not in shown.stdout
    assert "1.  ucb1" in shown.stdout
    assert "tries failed runs again" in shown.stdout
    assert shown.stderr.count("mine failed on one (50 steps, run ") == 1
    assert "Traceback (" not in shown.stdout + shown.stderr
    (tmp_path / "marker").touch()
    shown = compare(path, "--out", tmp_path / "out")
    assert shown.exit_code == 0
    assert "runs failed" not in shown.stdout


def test_if_nobody_plays_it_says_so(tmp_path):
    path = write(tmp_path, '"mortal:unwilling"')
    shown = compare(path, "--out", tmp_path / "out")
    assert shown.exit_code == 2
    assert "mortal:unwilling did not play: bandit: not for me" in shown.stdout
    assert "Nothing was played to the end: no learner can play these problems." in shown.stdout
    assert "Means over" not in shown.stdout
    assert compare(path, "--out", tmp_path / "out", "--json").exit_code == 2


ODD = "\x1b[31mred\x1b[0m \n\u202e" + "long" * 80


@pytest.mark.parametrize("runs", [1, 2])
def test_names_reach_the_terminal_plain(tmp_path, runs):
    labels = [json.dumps(ODD + end) for end in "ab"]
    who = [f'{{ name = "ucb1", label = {label} }}' for label in labels]
    who.append(f'{{ name = "mortal:broken", label = {json.dumps(ODD)} }}')
    path = write(tmp_path, ", ".join(who), ODD, runs)
    shown = compare(path, "--out", tmp_path / "out")
    assert shown.exit_code == 1, shown.stderr
    for text in (shown.stdout, shown.stderr):
        assert "[31mred [0m longlong" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert max(map(len, shown.stdout.splitlines())) < 300  # a path may be long
    assert all(f"… ({k})" in shown.stdout for k in (1, 2))


def test_plain():
    assert plain(" a\n\tb ") == "a b"
    assert plain("\u202e") == "?"
    assert plain("x" * 41) == "x" * 39 + "…"
    assert plain("x" * 40) == "x" * 40


def test_weak_regret_has_its_intervals(tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "PATIENCE", 0.0)
    cells.yardstick.cache_clear()
    path = write(tmp_path, '"ucb1", "round-robin"', runs=8)
    shown = compare(path, "--out", tmp_path / "out")
    cells.yardstick.cache_clear()
    assert shown.exit_code == 0, shown.stderr
    assert "ranked by weak regret" in shown.stdout
    assert " and " in shown.stdout.split("between")[1].splitlines()[1]
    assert "No interval" not in shown.stdout


def test_a_notice_stands_above_the_live_line_and_is_given_once(capsys):
    out = Console(file=io.StringIO(), force_terminal=True, width=70)
    with out.status("comparing") as status:
        screen = _Screen(status.update, lambda: None)
        screen.notice("3 of 9 runs are there already and are kept.")
        screen.started(3, 9, None)
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.file.getvalue()).splitlines()
    assert [line.strip() for line in lines if "runs are there" in line] == [
        "restive: 3 of 9 runs are there already and are kept."
    ]
    assert not any("were there" in line for line in lines)
    assert "there already" not in capsys.readouterr().err  # the terminal has one writer


def test_the_live_line_tells_how_far_long_runs_are():
    class Line:
        def update(self, words):
            self.words = words

    line = Line()
    screen = _Screen(line.update, lambda: None)
    screen.started(0, 3, None)
    screen.running([0.25, 0.0004], 7200.0)
    assert line.words.startswith("comparing: 0 of 3 runs (0%), under way: 25%, 0.04%, about 2 h")
