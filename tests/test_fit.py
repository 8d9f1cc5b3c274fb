"""From traces to problems: ``restive.fit`` and ``restive fit``."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import naive_gaps
from restive import Arm, Bandit, ProblemError, Traces, fit, load_problem, plan, read_traces
from restive.cli.app import app
from shared_traces import SHARED

TRUTH = Bandit(
    [
        Arm([[0.9, 0.1], [0.2, 0.8]], [0, 1], name="left", states=["busy", "free"]),
        Arm([[0.6, 0.4], [0.3, 0.7]], [0, 1], name="right", states=["busy", "free"]),
    ]
)


def log_of(bandit, sightings, rate, seed):
    """Rows (arm, time, state) of a log in which each arm is seen at a share ``rate`` of steps."""
    rng = np.random.default_rng(seed)
    rows = []
    for arm in bandit.arms:
        gaps = rng.geometric(rate, sightings - 1)
        states = naive_gaps.walk(arm.transitions, gaps, rng)
        times = np.concatenate([[0], np.cumsum(gaps)])
        rows += [(int(t), arm.name, arm.states[s]) for t, s in zip(times, states, strict=True)]
    rows.sort()
    return rows


def write_log(path, rows):
    path.write_text("time,arm,state\n" + "".join(f"{t},{arm},{s}\n" for t, arm, s in rows))
    return str(path)


@pytest.fixture
def log(tmp_path):
    return write_log(tmp_path / "radio.csv", log_of(TRUTH, 1500, 0.2, 1))


def run(*words):
    """The command without its tests of the Markov property, which have tests of their own."""
    return CliRunner().invoke(app, ["fit", "--no-check", *map(str, words)])


def test_a_fit_is_near_the_truth_and_plans_as_well(log):
    fitted = fit(log, rewards={"busy": 0, "free": 1})
    for arm, truth in zip(fitted.arms, TRUTH.arms, strict=True):
        assert (np.abs(arm.chain - truth.transitions) < 5 * arm.estimate.standard_errors).all()
        assert arm.labels == truth.states
    assert fitted.bandit.name == "radio"
    assert plan(fitted.bandit).gain == pytest.approx(plan(TRUTH).gain, abs=0.02)
    assert fitted.log_likelihood == sum(arm.estimate.log_likelihood for arm in fitted.arms)
    assert not fitted.warnings


def test_a_fit_shows_itself(log):
    fitted = fit(log)
    assert repr(fitted).startswith("Fit of 2 arms (radio)\n  data: Traces of 2 arms")
    assert fitted.table().columns["next"][:2] == ["busy", "free"]
    facts = fitted.to_dict()
    json.dumps(facts, allow_nan=False)
    assert facts["arms"][0]["rewards"] == [None, None]
    assert facts["arms"][0]["gaps"]["shortest"] == 1
    with pytest.raises(ProblemError, match="no reward is known of state 'busy' of arm 'left'"):
        fitted.bandit  # noqa: B018


def test_traces_that_are_read_already_are_fitted_as_they_are(log):
    traces = read_traces(log)
    assert isinstance(traces, Traces)
    first = fit(traces.split(0.5)[0])
    assert first.arms[0].estimate.counts.total < len(traces.arms[0]) - 1
    np.testing.assert_array_equal(fit(traces).chains[0], fit(log).chains[0])
    with pytest.raises(ProblemError, match="read already"):
        fit(traces, tick=2.0)


def test_rewards_are_means_of_the_column_with_their_noise():
    rng = np.random.default_rng(2)
    states = naive_gaps.walk(TRUTH.arms[0].transitions, [1] * 2000, rng)
    log = {"arm": ["a"] * 2001, "state": states, "time": np.arange(2001)}
    coins = (rng.random(2001) < np.where(states, 0.8, 0.3)).astype(float)
    arm = fit({**log, "reward": coins}).arms[0]
    assert arm.noise == "bernoulli"
    assert (np.abs(arm.rewards - [0.3, 0.8]) < 5 * arm.reward_errors).all()
    fees = fit({**log, "reward": rng.uniform(0, 0.5, 2001)}).arms[0]
    assert fees.noise == "beta"
    flat = fit({**log, "reward": np.where(states, 1.0, 0.25)}).arms[0]
    assert (flat.noise, flat.rewards.tolist()) == ("none", [0.25, 1.0])


def test_a_state_without_rewards_takes_the_mean_of_the_others():
    paid = fit({"arm": ["a"] * 5, "time": range(5), "state": [0, 1, 0, 1, 0],
                "reward": [None, 0.5, None, 0.75, None]})  # fmt: skip
    assert paid.bandit.arms[0].rewards.tolist() == [0.625, 0.625]
    assert "No reward is known of 0" in paid.warnings[-1]


def test_pieces_are_not_joined():
    states, pieces = [0, 0, 1, 1] * 50, np.repeat(np.arange(50), 4)
    log = {"arm": ["a"] * 200, "state": states, "time": [0, 1, 2, 3] * 50, "piece": pieces}
    counts = fit(log).arms[0].estimate.counts.counts
    assert counts.tolist() == [[[50, 50], [0, 50]]]


def test_a_chain_that_gets_stuck_is_mended_and_said():
    fitted = fit({"a": [0, 0, 1, 1, 0, 1, 2]})
    assert "gets stuck (2 is never seen to be left)" in fitted.warnings[0]
    assert fitted.bandit.arms[0].transitions.min() > 0


def test_the_command_writes_a_problem_that_plans(log, tmp_path):
    out = tmp_path / "radio.toml"
    result = run(log, "--rewards", "busy=0,free=1", "-o", out)
    assert result.exit_code == 0, result.output
    assert "left" in result.output
    assert "95% intervals" in result.output
    assert load_problem(out) == fit(log, rewards={"busy": 0, "free": 1}).bandit
    result = CliRunner().invoke(app, ["plan", str(out), "--json"])
    assert result.exit_code == 0


def test_the_command_prints_json_and_writes_json(log, tmp_path):
    out = tmp_path / "radio.json"
    result = run(log, "--rewards", "busy=0,free=1", "--json", "--level", "0.5", "--out", out)
    facts = json.loads(result.stdout)
    assert facts["level"] == 0.5
    assert load_problem(out).n_arms == 2
    assert load_problem(out).arms[0].transitions.tolist() == facts["arms"][0]["transitions"]


def test_options_of_the_command_are_those_of_the_function(tmp_path):
    path = tmp_path / "signal.csv"
    values = np.random.default_rng(3).normal(size=300).round(3)
    path.write_text("when,x,y,note\n" + "".join(
        f"{3 * k},{v},{-v},{k}\n" for k, v in enumerate(values)))  # fmt: skip
    result = run(path, "--time", "when", "--arms", "x,y", "--cut", "0", "--labels", "low,high",
                 "--tick", 3, "--break-after", 5, "--name", "Signals", "--json")  # fmt: skip
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["problem"] == "Signals"
    assert [arm["name"] for arm in facts["arms"]] == ["x", "y"]
    assert facts["arms"][0]["states"] == ["low", "high"]
    assert facts["arms"][0]["gaps"]["longest"] == 1
    quantiles = json.loads(
        run(path, "--time", "when", "--arms", "x", "--cut", "q3", "--json").stdout
    )
    assert len(quantiles["arms"][0]["states"]) == 3
    assert "cut at" in quantiles["notes"][0]


@pytest.mark.parametrize(
    ("words", "phrase"),
    [
        (["--cut", "three"], "--cut: not a way to cut a signal"),
        (["--rewards", "busy"], "--rewards: not a reward of a state"),
        (["--rewards", "busy=0,busy=1"], "--rewards: not a reward of a state"),
        (["--arms", "left,,right"], "--arms: an empty name"),
        (["--arms", "left,middle"], "there is no arm 'middle'"),
        (["--state", "stat"], "Did you mean state?"),
        (["--level", "2"], "--level: not allowed"),
        (["--tick", "0"], "--tick: not allowed"),
        (["--break-after", "0"], "--break-after: not a number that this option takes"),
        (["-o", "no/such/folder/x.toml"], "--out: no such folder"),
        (["-o", "x.csv"], "--out: unknown kind of file"),
        (["-o", "x.toml"], "no reward is known"),
        (["--labels", "a"], "labels: not a name for each state"),
        (["--rewards", "busy=0,fre=1"], "Did you mean fre?"),
    ],
)
def test_wrong_options_end_in_2_and_write_nothing(words, phrase, log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(log, *words)
    assert result.exit_code == 2
    assert phrase in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "x.toml").exists()


@pytest.mark.skipif(SHARED is None, reason="the shared traces are not here")
def test_shared_weather_takes_one_command_each(tmp_path):
    files = sorted((SHARED / "us-weather-history").glob("K*.csv"))
    result = run(*files, "--state", "actual_precipitation", "--cut", "0", "--labels", "dry,rainy",
                 "--rewards", "dry=1,rainy=0", "-o", tmp_path / "dry.toml")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert load_problem(tmp_path / "dry.toml").n_arms == 10
    weather = SHARED / "vega-weather" / "weather.csv"
    sunny = "sun=1,fog=0.5,drizzle=0.25,rain=0,snow=0"
    result = run(weather, "--state", "weather", "--rewards", sunny, "-o", tmp_path / "sun.toml")
    assert result.exit_code == 0, result.output
    assert load_problem(tmp_path / "sun.toml").n_states == (5, 5)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_data_may_come_from_a_pipe(kind):
    rows = [(k, "on" if k * k % 7 < 3 else "off") for k in range(60)]
    text = "time,state\n" + "".join(f"{k},{s}\n" for k, s in rows)
    if kind == "jsonl":
        text = "".join(json.dumps({"time": k, "state": s}) + "\n" for k, s in rows)
    words = ["fit", "-", "--rewards", "on=1,off=0", "--json", "--no-check"]
    result = CliRunner().invoke(app, words, input=text)
    assert result.exit_code == 0, result.output
    (arm,) = json.loads(result.output)["arms"]
    assert (arm["name"], sorted(arm["states"])) == ("arm 1", ["off", "on"])


def test_numbers_that_look_like_a_signal_are_told():
    rng = np.random.default_rng(8)
    note = next(note for note in fit({"wind": rng.integers(9, size=100)}).notes if "wind" in note)
    assert "9 different numbers in 100 sightings are taken as states" in note
    assert "--cut fit" in note
    assert not any("taken as states" in note for note in fit({"x": [0, 1] * 20}).notes)


def test_no_line_of_the_table_ends_within_a_successor(tmp_path, monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    rng = np.random.default_rng(9)
    words = np.array(["clear sky", "thunder", "drizzle", "hail"])[rng.integers(4, size=300)]
    (tmp_path / "log.csv").write_text("north station\n" + "\n".join(words) + "\n")
    result = CliRunner().invoke(app, ["fit", str(tmp_path / "log.csv"), "--no-check"])
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", result.stdout)
    lines = [line.rstrip() for line in shown.splitlines() if "[0." in line]
    assert len(lines) >= 12
    assert all(line.endswith(("],", "]")) and len(line) <= 80 for line in lines)
    assert (
        sum(len(re.findall(r"(clear sky|thunder|drizzle|hail) 0[.]", line)) for line in lines) == 16
    )
