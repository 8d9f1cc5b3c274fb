"""Traces in experiments: stretches, what runs are judged by, resuming, the page."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from restive import compare, load_experiment, write_report
from restive.base.errors import ProblemError
from restive.cli import app
from restive.data.reading import read_traces
from restive.experiments import Experiment
from restive.experiments.cells import played_stretch
from restive.learners import make_learner
from restive.problems import gilbert_elliott
from restive.simulation import BanditWorld, TraceWorld


def world_of(steps, seed=1):
    bandit = gilbert_elliott(3, [0.1, 0.3, 0.2], 0.2, reward_noise="none")
    record = BanditWorld(bandit, seed).record(steps)
    return TraceWorld(record.states, record.rewards)


def traces_of(world):
    return read_traces({f"arm {j}": row.tolist() for j, row in enumerate(world.states)})


def write(path, world):
    lines = ["north,south,east", *(",".join(map(str, row)) for row in world.states.T.tolist())]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_every_run_plays_a_stretch_of_its_own_against_its_best_arm(tmp_path):
    world = world_of(260)
    results = compare({"log": traces_of(world)}, tmp_path / "out", ["round-robin", "ucb1"], 60, 4,
                      workers=1)  # fmt: skip
    curves = results.curves("log", "round-robin", 60)
    for run in range(4):
        part = world.rewards[:, 60 * run : 60 * (run + 1)]
        earned = sum(part[t % 3, t] for t in range(60))
        assert curves.weak_regret[run, -1] == pytest.approx(part.sum(axis=1).max() - earned)
    assert np.isnan(curves.regret).all()
    assert np.isnan(curves.gap_regret).all()
    assert results.traces == {"log": 260}
    assert all(np.isnan(gain) for gain in results.gains["log"])


def test_where_arms_are_unseen_the_best_mean_counts_for_recorded_pulls():
    world = world_of(200)
    unseen = np.random.default_rng(1).random(world.states.shape) < 0.4
    few = TraceWorld(np.where(unseen, -1, world.states), np.where(unseen, np.nan, world.rewards))
    record = played_stretch(make_learner("round-robin", 3), few, 100, 1)
    part = few.rewards[:, 100:]
    best = max(np.nanmean(row) for row in part)
    # in turn, going on after the arm last seen
    last, seen, earned = -1, 0, 0.0
    for t in range(100):
        arm = (last + 1) % 3
        if not np.isnan(part[arm, t]):
            last, seen, earned = arm, seen + 1, earned + part[arm, t]
    assert record["missed"] == 100 - seen
    assert record["rewards"][-1] == pytest.approx(earned)
    assert record["against"][-1] == pytest.approx(best * seen)


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and path.name not in ("log.jsonl", ".lock")}  # fmt: skip


def test_the_same_bytes_from_any_number_of_workers_and_after_more_runs(tmp_path):
    traces = traces_of(world_of(300))
    learners = ["thompson", "tied-sampling"]
    compare({"log": traces}, tmp_path / "one", learners, 50, 3, workers=1)
    compare({"log": traces}, tmp_path / "two", learners, 50, 2, workers=2)
    compare({"log": traces}, tmp_path / "two", learners, 50, 3, workers=2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_other_data_are_another_experiment(tmp_path):
    world = world_of(200)
    compare({"log": traces_of(world)}, tmp_path / "out", ["ucb1"], 50, 2, workers=1)
    states, rewards = world.states.copy(), world.rewards.copy()
    states[0, 7], rewards[0, 7] = 1 - states[0, 7], 1 - rewards[0, 7]
    with pytest.raises(ProblemError, match="differs from the experiment"):
        compare({"log": traces_of(TraceWorld(states, rewards))}, tmp_path / "out", ["ucb1"], 50, 2)


def test_runs_that_do_not_fit_the_trace_are_refused():
    with pytest.raises(ProblemError, match=r"200 steps, too few for 5 runs.*at most 40 steps"):
        Experiment({"log": traces_of(world_of(200))}, ["ucb1"], 50, 5)


def test_an_experiment_file_may_name_data(tmp_path):
    write(tmp_path / "log.csv", world_of(120))
    file = tmp_path / "experiment.toml"
    file.write_text(
        """
        problems = [{ trace = "log.csv", name = "channels", arms = ["north", "east"] }, "log.csv"]
        learners = ["ucb1"]
        horizons = [30]
        runs = 2
        """
    )
    experiment = load_experiment(file)
    assert [p.name for p in experiment.problems] == ["channels", "log"]
    assert experiment.problems[0].trace.n_arms == 2
    assert experiment.problems[1].trace.steps == 120
    file.write_text('problems = [{ trace = "log.csv", colour = 1 }]\nlearners = ["ucb1"]')
    with pytest.raises(ProblemError, match="colour"):
        load_experiment(file)


def test_the_commands_take_data_and_the_page_says_so(tmp_path):
    path = write(tmp_path / "log.csv", world_of(150))
    out = tmp_path / "out"
    words = ["compare", str(path), "--learners", "ucb1,round-robin", "--horizon", "40", "--runs",
             "3", "--out", str(out), "--workers", "1"]  # fmt: skip
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert "a trace, ranked by weak regret" in shown.stdout
    page = tmp_path / "page.html"
    write_report(out, page)
    text = page.read_text(encoding="utf-8")
    assert "A recorded trace of 150 steps" in text
    assert "best single arm of the stretch in hindsight" in text
    spec = json.loads((out / "experiment.json").read_bytes())
    assert spec["problems"][0]["trace"]["steps"] == 150
