"""Screens 80 columns wide: nothing is cut, words wrap between words, results come first."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

import restive
from restive import problems
from restive.cli import app, console
from restive.many import planner
from restive.model import files

LONG = [
    "north-east relay station, upper antenna (5.8 GHz)",
    "south-west relay station, lower antenna (2.4 GHz)",
    "harbour backup link over leased line 0123456789",
]
STATES = ["interfered with by the neighbour", "free and usable at the full rate"]
RATES = [(0.1, 0.1, 1.0), (0.3, 0.2, 0.8), (0.05, 0.03, 0.6)]


@pytest.fixture
def narrow(monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)


def bandit_of(names, states=("bad", "good")):
    rates = [RATES[j % 3] for j in range(len(names))]
    arms = [
        restive.Arm([[1 - p, p], [q, 1 - q]], [0, r], states=list(states), name=name)
        for name, (p, q, r) in zip(names, rates, strict=True)
    ]
    return restive.Bandit(arms)


def shown(*words, bandit):
    result = CliRunner().invoke(app, [*words], input=files.dump_problem(bandit))
    assert result.exit_code == 0, result.output
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", result.stdout)


@pytest.mark.parametrize(
    "bandit",
    [
        bandit_of(LONG, STATES),
        bandit_of([f"channel {j}" for j in range(1, 9)]),
        bandit_of(["相 " * 24, "b"]),
        problems.example4(),
    ],
    ids=["long", "eight", "wide letters", "short"],
)
def test_inspect_cuts_nothing(bandit, narrow):
    text = shown("inspect", "-", bandit=bandit)
    assert "…" not in text
    assert max(map(cell_len, text.splitlines())) <= 80
    lines = [line.strip() for line in text.splitlines()]
    for arm in bandit.arms:
        assert any(line.startswith(arm.name.strip()) for line in lines)
        for state in arm.states:
            assert any(state in line for line in lines)
    assert re.search(r"diameter", text)


def test_a_plan_with_long_names_wraps_between_words(narrow):
    text = shown("plan", "-", bandit=bandit_of(LONG[:2], STATES))
    assert "…" not in text
    assert max(map(cell_len, text.splitlines())) <= 80


def test_a_name_stands_once_above_what_belongs_to_it(narrow):
    rows = [("a" * 70, "x", "1"), ("a" * 70, "y", "2"), ("b", "x", "3")]
    text = str(console.table(console.console(), ("name", "state", "share of time"), rows, (2,)))
    assert text.splitlines() == [
        "            share",
        "  state   of time",
        "─" * 17,
        "a" * 70,
        "  x             1",
        "  y             2",
        "b",
        "  x             3",
    ]


# Results first ------------------------------------------------------------------------------------


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("part", ["myopic_value", "words_of"])
def test_the_value_is_told_before_what_takes_time(part, monkeypatch):
    monkeypatch.setattr(f"restive.cli.facts.{part}", interrupted)
    result = CliRunner().invoke(app, ["plan", "example-1"])
    assert result.exit_code == 130
    assert "The best policy earns 0.7000 per step" in result.stdout
    assert re.search(r"best policy +0\.7000 +100\.0%", result.stdout)
    assert ("myopic" in result.stdout) == (part == "words_of")
    assert "just seen" not in result.stdout


@pytest.mark.parametrize("part", ["myopic_value", "words_of"])
def test_so_it_is_as_json(part, monkeypatch):
    monkeypatch.setattr(f"restive.cli.facts.{part}", interrupted)
    result = CliRunner().invoke(app, ["plan", "example-1", "--json"])
    told = json.loads(result.stdout)
    assert (result.exit_code, told["interrupted"], told["situations"]) == (130, True, None)
    assert told["gain"] == pytest.approx(0.7)
    assert (told["myopic"] is None) == (part == "myopic_value")


def test_an_interrupt_after_the_exact_plan_is_found_begins_nothing_new(monkeypatch):
    best = replace(planner.best_plan(problems.example1(epsilon=0.1)), interrupted=True)
    monkeypatch.setattr(planner, "best_plan", lambda *_, **__: best)
    for part in ("myopic_value", "words_of"):
        monkeypatch.setattr(f"restive.cli.facts.{part}", pytest.fail)
    for form in ([], ["--json"]):
        result = CliRunner().invoke(app, ["plan", "example-1", *form])
        assert result.exit_code == 130
        assert "0.7" in result.stdout


def test_a_plan_interrupted_while_compiling_keeps_what_is_known(monkeypatch):
    monkeypatch.setattr(planner, "ready", interrupted)
    bandit = bandit_of([f"arm {j}" for j in range(8)])
    best = restive.best_plan(bandit, time=5)
    assert best.interrupted
    assert best.lower == pytest.approx(bandit.arms[bandit.best_arm].gain)
    assert best.upper == 1.0
    monkeypatch.setattr("restive.report.policy.bounded_words.bounded_words", pytest.fail)
    result = CliRunner().invoke(app, ["plan", "-"], input=files.dump_problem(bandit))
    assert result.exit_code == 130
    assert "Interrupted: the best plan so far." in result.stdout


def test_an_interrupt_while_words_are_sought_ends_in_130(monkeypatch):
    monkeypatch.setattr("restive.report.policy.bounded_words.bounded_words", interrupted)
    problem = files.dump_problem(bandit_of([f"arm {j}" for j in range(8)]))
    for form in ([], ["--json"]):
        words = ["plan", "-", "--time", "1", "--tolerance", "0.5", *form]
        assert CliRunner().invoke(app, words, input=problem).exit_code == 130


def test_a_myopic_policy_too_large_to_evaluate_is_simulated(monkeypatch):
    bandit = bandit_of(["a", "b"])
    exact = CliRunner().invoke(app, ["plan", "-"], input=files.dump_problem(bandit)).stdout
    monkeypatch.setattr("restive.cli.facts.MYOPIC_BYTES", 0)
    result = CliRunner().invoke(app, ["plan", "-"], input=files.dump_problem(bandit)).stdout
    value = float(re.search(r"myopic policy +(\S+)", exact)[1])
    ends = re.search(r"myopic policy \(simulated\) +(\S+)(?: to (\S+))? ", result)
    low, high = float(ends[1]), float(ends[2] or ends[1])
    assert low - 5e-4 <= value <= high + 5e-4


LIVE = """
import sys, time
from restive import _kernels
from restive.cli import app, console
heard = []
_kernels.announce_compiling = heard.append
try:
    app(["schema"])
except SystemExit:
    pass
with console.waiting("planning"):
    time.sleep(0.3)
    heard[0]()
"""


def test_what_compiles_is_said_above_a_live_line():
    """And not into it, as words would be that go past rich: seen on a real terminal."""
    terminal, side = pty.openpty()
    surroundings = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    subprocess.run([sys.executable, "-c", LIVE], stderr=side, stdout=subprocess.DEVNULL,
                   env=surroundings, check=True)  # fmt: skip
    os.close(side)
    text = os.read(terminal, 100_000).decode()
    os.close(terminal)
    assert "restive: compiling kernels" in text
    assert not re.search(r"planning(\x1b\[[0-9;]*m)*restive", text)
