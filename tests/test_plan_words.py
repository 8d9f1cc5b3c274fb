"""What is told of a plan before and after it is made: forecasts, notes, words and numbers."""

from __future__ import annotations

import json
from math import inf, nan
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from restive import Arm, Bandit, best_plan
from restive.base.errors import ProblemError
from restive.cli import app, bounded
from restive.many import plan_stages, planner
from restive.many.plan_task import StageResult, Standing, Task
from restive.many.policies import myopic
from restive.model.files import dump_problem
from restive.report import learning
from restive.report.comparison.words import intro
from restive.report.policy.bounded_figure import _indices

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


def test_inspect_foretells_a_plan_of_another_time(tmp_path, monkeypatch):
    """An exact plan of 8 s is begun in a minute, not in ten seconds; one of .8 s in one."""
    monkeypatch.setattr(plan_stages, "exact_seconds", lambda task: 8.0)
    file = written(tmp_path, Bandit([STICKY] * 3))
    facts = json.loads(shown("inspect", file, "--json"))
    assert (facts["way"], facts["seconds"]) == (["exact planning"], 60.0)
    facts = json.loads(shown("inspect", file, "--json", "--time", "10"))
    assert (facts["way"][0], facts["seconds"]) == ("prices", 10.0)
    assert "within about 10 s, by prices" in " ".join(
        shown("inspect", file, "--time", "10").split()
    )
    monkeypatch.setattr(plan_stages, "exact_seconds", lambda task: 0.8)
    facts = json.loads(shown("inspect", file, "--json", "--time", "1"))
    assert facts["way"] == ["exact planning"]


@pytest.mark.parametrize("time", ["0", "-1", "soon", "nan"])
def test_inspect_refuses_what_is_no_time(time):
    result = CliRunner().invoke(app, ["inspect", "example-1", "--time", time])
    assert result.exit_code == 2
    assert result.stderr.startswith("restive: --time: not a ")


def test_inspect_says_that_several_pulls_may_be_planned_exactly(tmp_path):
    text = shown("inspect", written(tmp_path, Bandit([STICKY] * 3, pulls=2)))
    assert "plans exactly if that fits 60 s" in " ".join(text.split())


def test_a_plan_that_rests_on_the_largest_rewards_has_a_note():
    task = Task(Bandit([STICKY] * 12), 1e-4, 5.0, None, 0)
    assert planner._note(task, Standing(task), inf).startswith("More time would buy")


def test_an_arm_that_pays_most_in_every_state_is_proven_at_once(monkeypatch):
    def never(task, way):
        raise AssertionError(f"compiled for {way}")

    monkeypatch.setattr(planner, "ready", never)
    best = planner.best_plan(Bandit([Arm([[1.0]], [0.5 + 0.01 * k]) for k in range(30)]))
    assert best.proven_optimal
    assert best.block == (29,)


@pytest.mark.parametrize(
    ("limits", "path"),
    [
        ({"memory": -5}, "memory"),
        ({"rng": "a"}, "rng"),
        ({"time": "5"}, "time"),
        ({"rng": -1}, "rng"),
    ],
)
def test_what_is_no_limit_of_a_plan_is_refused(limits, path):
    with pytest.raises(ProblemError) as raised:
        best_plan(Bandit([STICKY]), **limits)
    assert [fault.path for fault in raised.value.faults] == [path]


def test_states_of_some_arms_only_are_refused_in_words():
    with pytest.raises(ValueError, match="need 3 entries, one per arm"):
        best_plan(Bandit([STICKY] * 3)).action([0, 1], [1, 1, 2])


def test_plans_of_every_kind_tell_the_same_fields(tmp_path):
    exact = json.loads(shown("plan", written(tmp_path, Bandit([STICKY] * 2)), "--json"))
    fields = bounded.of_bounded(standing_of([STICKY] * 12).plan()).keys() - {"interrupted"}
    assert exact.keys() >= fields
    assert (exact["arms"], exact["pulls"], exact["simulated"]) == (2, 1, None)
    assert exact["certified_lower"] == exact["gain_lower"]


def standing_of(arms, *findings, pulls=1, tolerance=1e-4):
    standing = Standing(Task(Bandit(arms, pulls=pulls), tolerance, 5.0, None, 0))
    for finding in findings:
        standing.add(finding)
    return standing


def told(plan, capsys, monkeypatch):
    monkeypatch.setattr(bounded, "_words", lambda plan: (None, False))
    bounded.show_bounded(plan)
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("up", [0.32, 0.35])  # gains of .44444 and .46667
def test_one_policy_earns_one_amount(up, capsys, monkeypatch):
    arms = [Arm([[1 - up, up], [0.4, 0.6]], [0, 1]), STICKY]
    plan = standing_of(arms, StageResult("prices", 0.7, 0.5)).plan()
    text = told(plan, capsys, monkeypatch)
    least = text.partition("this policy earns at least ")[2].split()[0]
    alone = text.partition("always arm 1 ")[2].split()[0]
    assert least == alone
    assert float(least) <= arms[0].gain < float(least) + 1e-4


def test_an_exact_plan_that_ran_out_of_time_says_so(capsys, monkeypatch):
    policy = standing_of([STICKY] * 2).plan().policy
    cut = StageResult("exact", 0.6, None, 0.5, policy=lambda: policy, block=(0, 1))
    text = told(standing_of([STICKY] * 2, cut).plan(), capsys, monkeypatch)
    assert "an exact plan of all arms, which did not converge in time" in text
    assert "exact planning, which did not converge in time" in text
    text = told(standing_of([STICKY] * 2, cut, tolerance=0.2).plan(), capsys, monkeypatch)
    assert "converge" not in text


def test_a_block_is_what_may_be_pulled(capsys, monkeypatch):
    text = told(standing_of([STICKY] * 12).plan(), capsys, monkeypatch)
    assert "it pulls no arms but arm 1." in text


# --- several pulls ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pulls", "words"),
    [
        (1, "the best single arm, arm 2, earns 0.700000"),
        (2, "the 2 best arms, always pulled, earn 0.700000 together"),
    ],
)
def test_a_report_says_whose_reward_it_is(pulls, words):
    results = SimpleNamespace(
        bandits={"three": Bandit([STICKY] * 3, pulls=pulls)}, gains={"three": (nan, nan, nan)},
        best_arms={"three": (1, 0.7)}, traces={}, ceiling=lambda name: 1.0,
    )  # fmt: skip
    assert words in intro(results, "three")


def test_the_caption_of_a_run_says_what_it_is_held_against():
    one, several = (SimpleNamespace(pulls=(60 * m, 40 * m), steps=100, missing={}) for m in (1, 2))
    assert "the best single arm" in learning._note(one, {"weak_regret": None}, None)
    assert "the best arms together" in learning._note(several, {"weak_regret": None}, None)


@pytest.mark.parametrize(("pulls", "words"), [(1, "the largest is"), (3, "the 3 largest are")])
def test_the_axis_of_indices_says_how_many_are_pulled(pulls, words):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    standing = standing_of([STICKY] * 4, pulls=pulls)
    policy, axes = myopic(standing.task.population(range(4))), figure.subplots()
    _indices(standing.plan(), policy, [0], axes)
    assert f"{words} pulled" in axes.get_ylabel()
