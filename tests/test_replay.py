"""Replay: traces as worlds, what learners earn on them, and what they are compared with."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from restive.base.errors import ProblemError
from restive.cli import app
from restive.data.fitting import fit
from restive.data.reading import read_traces
from restive.data.replay import STAY, Staying, replay, trace_world
from restive.learners import check_learner, make_learner
from restive.learners.cooldown import Cooldown
from restive.planning import plan
from restive.policies.greedy import plan_policy
from restive.policies.policy import InTurn
from restive.problems import example1, gilbert_elliott
from restive.report.replay import _looks
from restive.simulation import BanditWorld, RecordedWorld, TraceWorld, play, play_trace
from shared_traces import SHARED

needs_shared = pytest.mark.skipif(SHARED is None, reason="the shared traces are not here")


def recorded(bandit, steps, seed=1):
    record = BanditWorld(bandit, seed).record(steps)
    return TraceWorld(record.states, record.rewards)


def masked(world, share, seed=2):
    """The same world with some cells unseen, and some steps altogether."""
    rng = np.random.default_rng(seed)
    unseen = rng.random(world.states.shape) > share
    unseen[:, rng.random(world.steps) > 0.9] = True
    return TraceWorld(
        np.where(unseen, -1, world.states), np.where(unseen, np.nan, world.rewards)
    )  # fmt: skip


# --- worlds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tied-sampling", "ucb1", "round-robin", "cooldown", "rca"])
def test_a_complete_trace_is_a_recorded_world(name):
    world = recorded(example1(0.2), 600)
    first, second = (make_learner(name, example1(0.2), 600, rng=3) for _ in range(2))
    replayed = play_trace(first, world)
    run = play(second, RecordedWorld(world.states, world.rewards), 600)
    assert run.total_reward == pytest.approx(replayed.paid.sum())
    assert run.pulls == tuple(np.bincount(replayed.pulls, minlength=2).tolist())
    assert replayed.counted.all()


@pytest.mark.parametrize("name", ["tied-sampling", "thompson", "cooldown"])
def test_a_pull_of_what_was_not_recorded_is_a_missed_step(name):
    world = masked(recorded(example1(0.2), 400), 0.6)
    replayed = play_trace(make_learner(name, 2, rng=1), world)
    learner, counted = make_learner(name, 2, rng=1), 0
    for step in range(world.steps):
        arm = learner.ask()
        if world.states[arm, step] < 0:
            learner.step([])
            assert np.isnan(replayed.paid[step])
        else:
            reward = world.rewards[arm, step]
            learner.tell(arm, int(world.states[arm, step]), reward)
            assert (replayed.pulls[step], replayed.paid[step]) == (arm, reward)
            counted += 1
    assert replayed.counted.sum() == counted
    assert (replayed.pulls[(world.states < 0).all(axis=0)] == -1).all()


def test_what_no_trace_can_be_is_refused():
    with pytest.raises(ProblemError, match="one shape"):
        TraceWorld(np.zeros((2, 3), int), np.zeros((2, 4)))
    with pytest.raises(ProblemError, match="outside"):
        TraceWorld(np.zeros((2, 3), int), np.full((2, 3), 1.5))
    world = recorded(example1(), 5)
    with pytest.raises(ProblemError, match="2 arms"):
        play_trace(make_learner("ucb1", 3), world)
    walk = world.part(1, 3).walk()
    assert [walk.step([0])[0].state for _ in range(2)] == world.states[0, 1:3].tolist()
    with pytest.raises(ProblemError, match="over"):
        walk.step([0])
    with pytest.raises(ProblemError, match="no reward is known of arm 'a'"):
        trace_world(read_traces({"a": ["x", "y", "x"], "b": ["x", "x", "y"]}))


# --- results ---------------------------------------------------------------------------------


def frame(world):
    return {f"arm {j}": [None if s < 0 else int(s) for s in row] for j, row in
            enumerate(world.states)}  # fmt: skip


def test_options_of_reading_are_refused_where_traces_are_read_already():
    traces = read_traces({"left": [0, 1] * 20, "right": [1, 0] * 20})
    with pytest.raises(ProblemError, match="tick: these traces are read already"):
        replay(traces, ["round-robin"], tick=2)


def test_what_hindsight_earns_by_brute_force():
    world = recorded(gilbert_elliott(3, [0.1, 0.3, 0.2], 0.2, reward_noise="none"), 300)
    result = replay(frame(world), ["ucb1"], train=0.4, runs=1)
    judged = world.rewards[:, 120:]
    assert result.judged_from == 120
    assert result.row("every step the best arm").rate == judged.max(axis=0).mean()
    totals = judged.mean(axis=1)
    assert result.best_arm == f"arm {totals.argmax()}"
    assert result.row(f"best arm: {result.best_arm}").rate == pytest.approx(totals.max())
    first = world.rewards[:, :120].mean(axis=1).argmax()
    assert result.row(f"best arm before: arm {first}").rate == pytest.approx(totals[first])
    turns = [world.rewards[t % 3, t] for t in range(300)]
    assert result.row("round-robin").rate == pytest.approx(np.mean(turns[120:]))
    assert result.row("round-robin").whole == pytest.approx(np.mean(turns))
    assert [row.rate for row in result.rows] == sorted(row.rate for row in result.rows)[::-1]
    assert max(row.rate for row in result.rows) == result.row("every step the best arm").rate


def test_rows_of_a_log_with_gaps_are_means_over_what_was_recorded():
    world = masked(recorded(example1(0.2), 500), 0.5)
    result = replay(frame(world), ["thompson"], train=0.0, runs=1)
    arm = int(np.nanargmax([np.nanmean(row) for row in world.rewards]))
    row = result.row(f"best arm: arm {arm}")
    assert row.rate == pytest.approx(np.nanmean(world.rewards[arm]))
    assert row.counted == pytest.approx((~np.isnan(world.rewards[arm])).mean())
    assert row.whole is None
    assert not result.complete
    most = np.where(np.isnan(world.rewards), -1, world.rewards).max(axis=0)
    assert result.row("every step the best arm recorded").rate == pytest.approx(
        most[most >= 0].mean()
    )


def test_leaving_out_cells_at_random_leaves_a_policys_rate_as_it_is():
    whole = recorded(gilbert_elliott(2, [0.1, 0.3], 0.2, reward_noise="none"), 40_000)
    few = masked(whole, 0.5)
    policy = InTurn(2)
    rates = [np.nanmean(play_trace(Cooldown(2, 4), world).paid) for world in (whole, few)]
    assert abs(rates[0] - rates[1]) > 0.01  # a rule that looks suffers from missed steps
    turns = [play_trace(policy, world).paid for world in (whole, few)]
    error = np.nanstd(turns[1]) / np.sqrt((~np.isnan(turns[1])).sum())
    assert abs(np.nanmean(turns[0]) - np.nanmean(turns[1])) < 8 * error  # the path is sticky


def test_the_plan_of_the_fit_earns_what_the_arms_offer():
    bandit = example1(0.1)
    result = replay(frame(recorded(bandit, 12_000)), ["round-robin"], cooldowns=[])
    row = result.row("plan of the fit (exact)")
    gain = plan(bandit).gain  # 0.7; a mean over 6,000 steps of arms that mix in 7
    assert abs(row.rate - gain) < 0.05
    assert row.rate > result.row(f"best arm: {result.best_arm}").rate + 0.1
    assert row.kind == "fitted"


def test_the_plan_of_the_fit_knows_nothing_of_what_it_is_judged_on():
    """Another second half, and the plan makes the same pulls where it sees the same."""
    first = recorded(gilbert_elliott(2, [0.1, 0.4], 0.1, reward_noise="none"), 600)
    later = recorded(gilbert_elliott(2, [0.4, 0.1], 0.4, reward_noise="none"), 4000)
    joined = TraceWorld(np.hstack([first.states, later.states]),
                        np.hstack([first.rewards, later.rewards]))  # fmt: skip
    train = 600 / 4600
    result = replay(frame(joined), ["round-robin"], train=train, cooldowns=[])
    row = result.row("plan of the fit (exact)")
    own = fit(frame(first), rewards={"0": 0.0, "1": 1.0}).bandit
    alone = play_trace(plan_policy(plan(own)), joined).paid
    assert row.rate == pytest.approx(alone[600:].mean(), abs=1e-12)


def test_runs_differ_by_the_learners_luck_alone_and_the_seed_gives_them_back():
    data = frame(recorded(example1(0.2), 200))
    first, second = (replay(data, ["thompson", "ucb1"], runs=3, rng=5) for _ in range(2))
    assert first.to_dict() == second.to_dict()
    row = first.row("thompson")
    assert row.runs == 3
    assert row.lowest < row.rate < row.highest
    assert first.row("ucb1").lowest == first.row("ucb1").highest


def test_what_cannot_be_fitted_is_said_and_the_rest_is_played():
    data = {"a": [0, 0, 0, 0, 0, 1, 0, 1], "b": [1, 0, 1, 0, 1, 1, 0, 0]}
    result = replay(data, ["ucb1"], cooldowns=[3])
    assert [row.kind for row in result.rows].count("learner") == 1
    fits = [row for row in result.rows if row.name.startswith("plan of the fit")]
    assert fits or any("could be fitted" in note for note in result.notes)
    with pytest.raises(ProblemError, match="train"):
        replay(data, train=1.0)
    with pytest.raises(ProblemError, match="no such learner"):
        replay(data, ["ucb7"])


# --- the rule of thumb -----------------------------------------------------------------------


def test_the_rule_of_thumb_keeps_the_contract_and_its_rule():
    check_learner(lambda: Cooldown(3, rest=4), [2, 3, 1])
    world = recorded(gilbert_elliott(3, [0.1, 0.3, 0.2], 0.2), 800)
    pulls = play_trace(Cooldown(3, rest=4), world).pulls
    seen = {}
    paid = []
    for t, pull in enumerate(pulls.tolist()):
        if t < 3:
            assert pull == t
        else:
            mean = np.mean(paid)
            ready = [j for j in range(3) if seen[j][-1][1] >= mean - 1e-12
                     or t - seen[j][-1][0] > 4]  # fmt: skip
            if ready:
                means = {j: np.mean([reward for _, reward in seen[j]]) for j in ready}
                assert means[pull] == pytest.approx(max(means.values()))
            else:
                assert pull == min(range(3), key=lambda j: seen[j][-1][0])
        reward = world.rewards[pull, t]
        seen.setdefault(pull, []).append((t, reward))
        paid.append(reward)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_staying_stays_while_it_pays_and_turns_to_the_one_unseen_longest(share):
    world = recorded(gilbert_elliott(3, [0.1, 0.3, 0.2], 0.2), 800)
    world = masked(world, share) if share < 1 else world
    result = play_trace(Staying(3), world)
    seen, paid = {}, []  # arm -> last step and reward
    for t, pull in enumerate(result.pulls.tolist()):
        if pull < 0:  # nothing was recorded of any arm
            continue
        if len(seen) < 3:
            assert pull == len(seen)
        else:
            last = max(seen, key=lambda j: seen[j][0])
            stays = seen[last][1] >= np.mean(paid) - 1e-12
            assert pull == (last if stays else min(seen, key=lambda j: seen[j][0]))
        if world.seen[pull, t]:
            seen[pull] = t, world.rewards[pull, t]
            paid.append(world.rewards[pull, t])
    assert len(paid) > 300 * share


# --- the command -----------------------------------------------------------------------------


def write(tmp_path, world):
    path = tmp_path / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["time", "north", "south"])
        for t in range(world.steps):
            rows.writerow([t, *("" if s < 0 else ("bad", "good")[s] for s in world.states[:, t])])
    return str(path)


def run(*words):
    return CliRunner().invoke(app, ["replay", *map(str, words)])


def test_the_command_prints_a_table_that_fits_and_one_object(tmp_path):
    path = write(tmp_path, masked(recorded(example1(0.2), 300), 0.8))
    words = (path, "--rewards", "good=1,bad=0", "--learner", "sw-ucb window=20", "--runs", 2)
    shown = run(*words)
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    table = lines[2 : next(k for k, line in enumerate(lines) if line.startswith("Judged"))]
    assert max(map(len, table)) <= 80
    for name in (
        "best arm: ",
        "round-robin",
        STAY,
        "cooldown 8",
        "sw-ucb window=20",
        "plan of the fit",
    ):
        assert any(line.startswith(name) for line in table), name
    assert "missed steps" in shown.stdout
    facts = json.loads(run(*words, "--json").stdout)
    assert facts["steps"] == 300
    assert 0.5 < facts["recorded"] < 0.9
    names = [row["name"] for row in facts["rows"]]
    assert "sw-ucb window=20" in names
    assert facts["rows"] == sorted(facts["rows"], key=lambda row: -row["rate"])


def test_the_command_draws(tmp_path):
    path = write(tmp_path, recorded(example1(0.2), 200))
    target = tmp_path / "replay.svg"
    words = (path, "--rewards", "good=1,bad=0", "--learner", "ucb1", "--figure", target)
    assert run(*words).exit_code == 0
    first = target.read_bytes()
    assert b"best arm: " in first or first.startswith(b"<?xml")
    assert run(*words).exit_code == 0
    assert target.read_bytes() == first


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--learner", "ucb7"], "no such learner"),
        (["--learner", "sw-ucb window"], "not an option"),
        (["--learner", "sw-ucb windw=3"], "no such parameter"),
        (["--train", "1"], "train"),
        (["--train", "-0.5"], "train"),
        (["--cooldowns", "2,x"], "--cooldowns"),
        (["--figure", "x.gif"], "--figure"),
        (["--state", "nowhere"], "nowhere"),
    ],
)
def test_mistakes_are_named(tmp_path, words, complaint):
    path = write(tmp_path, recorded(example1(0.2), 50))
    result = run(path, "--rewards", "good=1,bad=0", *words)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert "Traceback" not in result.output


def test_words_without_rewards_are_refused(tmp_path):
    result = run(write(tmp_path, recorded(example1(0.2), 50)))
    assert result.exit_code == 2
    assert "--rewards" in result.stderr


# --- real traces -----------------------------------------------------------------------------


@needs_shared
def test_weather_is_replayed_as_it_was():
    files = sorted((SHARED / "us-weather-history").glob("K*.csv"))
    reading = {"time": "date", "state": "actual_precipitation", "cut": [0.0],
               "labels": ["dry", "rain"], "rewards": {"dry": 1.0, "rain": 0.0}}  # fmt: skip
    result = replay(files, ["thompson"], runs=1, **reading)
    dry = []
    for path in files:
        with path.open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        dry.append([float(float(row["actual_precipitation"]) <= 0) for row in rows])
    judged = np.array(dry)[:, result.judged_from :]
    assert (result.steps, len(result.arms), result.complete) == (365, 10, True)
    best = result.row(f"best arm: {result.best_arm}")
    assert best.rate == pytest.approx(judged.mean(axis=1).max())
    assert result.row("every step the best arm").rate == pytest.approx(judged.max(axis=0).mean())


def test_no_two_lines_of_a_figure_look_alike():
    kinds = ["hindsight", *["learner", "fitted"] * 5, *["rule"] * 10]
    looks = [(look["color"], str(look["ls"])) for look in _looks(kinds)]
    assert len(set(looks)) == len(kinds)
