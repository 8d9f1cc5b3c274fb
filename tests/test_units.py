"""Rewards in the user's own units: computed from 0 to 1, shown, written and told as given."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import restive
from restive import Arm, Bandit, ProblemError
from restive.cli import app
from restive.experiments import compare
from restive.learners import load_learner, make_learner
from restive.model.files import dump_problem, parse_problem
from restive.model.units import Units, check_range
from restive.simulation import BanditWorld, play

LOW, HIGH = -5.0, 20.0
ROWS = [[0.9, 0.1], [0.2, 0.8]]


def bandit(scaled: bool) -> Bandit:
    """A channel and a coin, with rewards from -5 to 20 or the same from 0 to 1."""

    def means(*rewards: float) -> list[float]:
        return [r if scaled else (r - LOW) / (HIGH - LOW) for r in rewards]

    ends = (LOW, HIGH) if scaled else (0, 1)
    noisy = Arm([[1.0]], means(3), reward_range=ends, reward_noise="bernoulli")
    return Bandit([Arm(ROWS, means(-5, 20), reward_range=ends), noisy], name="money")


def run(command: str, problem: Bandit, *words: str) -> dict:
    shown = CliRunner().invoke(app, [command, "-", *words, "--json"], input=dump_problem(problem))
    assert shown.exit_code == 0, shown.output
    return json.loads(shown.stdout)


def outside(value: float, count: float = 1) -> float:
    """The oracle: r = low + (high - low) x for every reward of ``count``."""
    return count * LOW + (HIGH - LOW) * value


def test_a_file_keeps_the_units_to_the_last_bit():
    for form in ("toml", "json"):
        text = dump_problem(bandit(True), form)
        again = parse_problem(text, form)
        assert again == bandit(True)
        assert dump_problem(again, form) == text
        assert again.units == Units(LOW, HIGH)
    assert again != bandit(False)
    assert np.allclose(again.arms[0].rewards, [0, 1])


def test_a_plan_is_the_same_and_shown_in_the_units():
    inside, shown = run("plan", bandit(False)), run("plan", bandit(True))
    for name in ("gain", "gain_lower", "gain_upper"):
        assert shown[name] == pytest.approx(outside(inside[name]), abs=1e-9)
    assert shown["myopic"]["gain"] == pytest.approx(outside(inside["myopic"]["gain"]), abs=1e-9)
    assert shown["best_arm"]["gain"] == pytest.approx(outside(inside["best_arm"]["gain"]))
    assert shown["situations"] == inside["situations"]
    assert shown["reward_range"] == [LOW, HIGH]
    assert f"{shown['gain']:.6g}" in repr(restive.plan(bandit(True)))


def test_many_arms_and_several_pulls():
    few = {scaled: bandit(scaled).arms[0] for scaled in (False, True)}
    inside, shown = (
        run("plan", Bandit([few[scaled]] * 4, pulls=2), "--time", "5") for scaled in few
    )
    assert shown["gain_upper"] == pytest.approx(outside(inside["gain_upper"], 2), abs=1e-6)
    assert shown["best_arm"]["gain"] == pytest.approx(outside(inside["best_arm"]["gain"]))


def test_a_run_is_the_same_and_shown_in_the_units():
    words = ("--horizon", "2000", "--learner", "ucb1", "--curves")
    inside, shown = run("learn", bandit(False), *words), run("learn", bandit(True), *words)
    assert shown["pulls"] == inside["pulls"]
    assert shown["total_reward"] == pytest.approx(outside(inside["total_reward"], 2000))
    assert shown["mean_reward"] == pytest.approx(outside(inside["mean_reward"]))
    for name in ("regret", "gap_regret", "weak_regret"):
        assert shown[name] == pytest.approx((HIGH - LOW) * inside[name], abs=1e-6)
        assert shown["curves"][name][-1] == pytest.approx(shown[name])
    lost = shown["gain"] * 2000 - shown["total_reward"]
    assert shown["regret"] == pytest.approx(lost, abs=1e-6)


def test_a_comparison_is_in_the_units(tmp_path):
    parts = [
        compare([bandit(scaled)], tmp_path / str(scaled), ["ucb1"], 500, 2)
        for scaled in (False, True)
    ]
    inside, shown = (results.curves("money", "ucb1", 500) for results in parts)
    for name in ("regret", "gap_regret", "weak_regret"):
        expected = (HIGH - LOW) * getattr(inside, name)
        np.testing.assert_allclose(getattr(shown, name), expected, atol=1e-6)
    assert parts[1].gains["money"][0] == pytest.approx(outside(parts[0].gains["money"][0]))
    assert parts[1].best_arms["money"][1] == pytest.approx(outside(parts[0].best_arms["money"][1]))


@pytest.mark.parametrize("name", ["tied-sampling", "ucb1", "colored-ucrl2"])
def test_a_learner_is_told_rewards_in_its_units(name, tmp_path):
    plain = make_learner(name, bandit(False), 500, rng=3)
    told = make_learner(name, bandit(False), 500, rng=3, reward_range=(LOW, HIGH))
    walk = BanditWorld(bandit(False), 1).walk()
    for step in range(120):
        arm = plain.ask()
        assert told.ask() == arm
        ((_, state, reward),) = walk.step([arm])
        plain.tell(arm, state, reward)
        told.tell(arm, state, outside(reward))
        if step == 60:
            told.save(tmp_path / "told.zip")
            told = load_learner(tmp_path / "told.zip")
    assert told.settings["reward_range"] == [LOW, HIGH]
    with pytest.raises(ProblemError, match="not a number from -5 to 20"):
        told.tell(0, 0, 21.0)
    with pytest.raises(ProblemError, match="other units"):
        make_learner(name, bandit(False), 500, reward_range=(0, 2)).load(tmp_path / "told.zip")


def test_worlds_reach_the_learner_itself():
    learners = [
        make_learner("tied-sampling", 2, rng=1, reward_range=ends) for ends in ((0, 1), (LOW, HIGH))
    ]
    runs = [play(learner, BanditWorld(bandit(False), 5), 300) for learner in learners]
    assert runs[0].pulls == runs[1].pulls


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("reward_range = [20, -5]", "reward_range", "first is not below the second"),
        ("reward_range = [1, 2, 3]", "reward_range", "not a pair of numbers"),
        ('reward_range = "wide"', "reward_range", "not a list"),
        ("reward_range = [0, inf]", "reward_range", "not a finite number"),
        ("reward_range = [0, 2]", "arms[0].rewards[1]", "outside [0, 2]"),
    ],
)
def test_bad_ranges_are_named(text, path, words):
    problem = f"{text}\n[[arms]]\ntransitions = [[0.5, 0.5], [0.5, 0.5]]\nrewards = [0, 3]"
    with pytest.raises(ProblemError) as caught:
        parse_problem(problem)
    (fault,) = caught.value.faults
    assert fault.path.startswith(path)
    assert words in str(fault)


def test_the_map_is_still_offered_and_the_range_too():
    with pytest.raises(ProblemError, match=r"Give reward_range = \[-5, 20\].*r \+ 5\) / 25"):
        Arm(ROWS, [-5, 20])
    with pytest.raises(ProblemError, match="not that of the first arm"):
        Bandit([Arm(ROWS, [0, 2], reward_range=(0, 2)), Arm(ROWS, [0, 1])])
    assert check_range((True, 2))[1]
    assert check_range("ab")[1]
