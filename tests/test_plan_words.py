"""What is told of a plan before and after it is made: forecasts, notes, words and numbers."""

from __future__ import annotations

import json
from math import inf

from typer.testing import CliRunner

from restive import Arm, Bandit
from restive.cli import app
from restive.many import plan_stages, planner
from restive.many.plan_task import Standing, Task
from restive.model.files import dump_problem

STICKY = Arm([[0.7, 0.3], [0.4, 0.6]], [0, 1])


def written(tmp_path, bandit):
    file = tmp_path / "problem.toml"
    file.write_text(dump_problem(bandit, "toml"), "utf-8")
    return str(file)


def shown(*words):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_inspect_foresees_the_tolerance_that_plan_falls_back_to(tmp_path, monkeypatch):
    """An exact plan takes 40 s to the fine tolerance, which is left out, and 15 s to the other."""
    monkeypatch.setattr(plan_stages, "exact_seconds",
                        lambda task: 40.0 if task.tolerance < 1e-5 else 15.0)  # fmt: skip
    file = written(tmp_path, Bandit([STICKY] * 3))
    facts = json.loads(shown("inspect", file, "--json"))
    assert (facts["way"], facts["tolerance"]) == (["exact planning"], 1e-4)
    facts = json.loads(shown("inspect", file, "--json", "--tolerance", "1e-6"))
    assert facts["way"][0] == "prices"
    assert facts["tolerance"] == 1e-6


def test_inspect_says_that_several_pulls_may_be_planned_exactly(tmp_path):
    text = shown("inspect", written(tmp_path, Bandit([STICKY] * 3, pulls=2)))
    assert "plans exactly if that fits 60 s" in " ".join(text.split())


def test_a_plan_that_rests_on_the_largest_rewards_has_a_note():
    task = Task(Bandit([STICKY] * 12), 1e-4, 5.0, None, 0)
    assert planner._note(task, Standing(task), inf).startswith("More time would buy")


def test_an_arm_that_pays_most_in_every_state_is_proven_at_once(monkeypatch):
    def never():
        raise AssertionError("compiled")

    monkeypatch.setattr(planner, "compile_stages", never)
    best = planner.best_plan(Bandit([Arm([[1.0]], [0.5 + 0.01 * k]) for k in range(30)]))
    assert best.proven_optimal
    assert best.block == (29,)
