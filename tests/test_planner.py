"""The one planner for any bandit: its intervals against exact plans, and its policies."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import restive
from restive import Arm, Bandit, best_plan, plan
from restive.base.errors import ProblemError
from restive.cli import app
from restive.many import plan_candidates, plan_stages, planner
from restive.many.bounded import percent
from restive.many.grid import plan_grid
from restive.many.lagrangian import lagrangian_bound
from restive.many.plan_candidates import index_findings
from restive.many.plan_policies import GroupsPolicy, best_alone
from restive.many.plan_task import StageResult, Standing, Task
from restive.many.several_pulls import plan_pulls
from restive.many.simulating import SimulatedValue
from restive.model.files import dump_problem
from restive.policies.greedy import plan_policy
from restive.policies.policy import Policy

STICKY = Arm([[0.7, 0.3], [0.4, 0.6]], [0, 1])


def two_states(count, seed, low=0.25, high=0.6):
    rng = np.random.default_rng(seed)
    arms = []
    for _ in range(count):
        up, down = rng.uniform(low, high, 2)
        arms.append(Arm([[1 - up, up], [down, 1 - down]], [0, rng.uniform(0.5, 1)]))
    return arms


@pytest.fixture
def no_exact_plans(monkeypatch):
    monkeypatch.setattr(plan_stages, "exact_seconds", lambda task: np.inf)
    monkeypatch.setattr(plan_stages, "pulls_fit", lambda task: False)


def test_small_problems_are_planned_exactly():
    bandit = Bandit(two_states(2, 0))
    exact, best = plan(bandit, 1e-6), best_plan(bandit)
    assert (best.method, best.proven_optimal, best.lower_kind) == ("exact", True, "certified")
    assert (best.lower, best.upper) == (exact.gain_lower, exact.gain_upper)
    for name in ("method", "lower_kind", "upper_kind", "block", "price", "proven_optimal"):
        assert getattr(best, name) == getattr(best.exact, name)
    rng = np.random.default_rng(1)
    states, ages = rng.integers(0, 2, (50, 2)), np.array([[1, 4], [7, 1]])[rng.integers(0, 2, 50)]
    np.testing.assert_array_equal(best.actions(states, ages), exact.actions(states, ages))


def test_compiling_is_over_before_the_time_of_an_exact_plan_begins(monkeypatch):
    """Three slow arms: due at once, but too large for NumPy."""
    events, ready, restart = [], planner.ready, Task.restart

    def compiled(task, way):
        ready(task, way)
        events.append(f"compiled: {way}")

    def restarted(task, time):
        events.append("restarted")
        restart(task, time)

    def planned(task, seconds):
        events.append("planned")
        return exact_stage(task, seconds)

    exact_stage = plan_stages.exact_stage
    monkeypatch.setattr(planner, "ready", compiled)
    monkeypatch.setattr(Task, "restart", restarted)
    monkeypatch.setattr(plan_stages, "exact_stage", planned)
    best = best_plan(Bandit(two_states(3, 5, 0.02, 0.05)), 1e-3)
    assert events[-3:] == ["compiled: exact planning", "restarted", "planned"]
    assert best.method == "exact"


@pytest.mark.parametrize("seed", [0, 1])
def test_every_interval_holds_the_best_gain_of_five_arms(seed, no_exact_plans):
    bandit = Bandit([*two_states(4, seed), Arm([[0, 1], [1, 0]], [0.1, 0.6])])
    exact = plan(bandit, 1e-4)
    rounds = list(planner.plan_improvements(bandit, 1e-4, time=6.0))
    assert rounds[0].method == "one arm for ever"
    for best in rounds:
        assert best.certified_lower <= exact.gain_upper
        assert best.upper >= exact.gain_lower
    uppers = [best.upper for best in rounds]
    assert uppers == sorted(uppers, reverse=True)
    assert rounds[-1].loss < rounds[0].loss


def test_twelve_different_arms_are_proven_optimal_with_a_few_of_them():
    bandit = Bandit(two_states(12, 3, 0.1, 0.6))
    best = best_plan(bandit, 1e-3, time=300.0)  # a busy machine takes a while
    assert best.proven_optimal
    assert best.lower_kind == "certified"
    assert best.lower <= best.upper <= best.lower + 1e-3
    assert set(best.block) < set(range(12))
    rng = np.random.default_rng(0)
    pulled = best.actions(rng.integers(0, 2, (40, 12)), rng.integers(1, 30, (40, 12)))
    assert set(pulled.tolist()) <= set(best.block)
    unseen = best.action([-1] * 12, [1] * 12)
    assert unseen in best.block


def test_identical_arms_have_a_simulated_policy_below_a_certified_bound():
    bandit = Bandit([Arm([[0.9, 0.1], [0.3, 0.7]], [0, 1])] * 8)
    best = best_plan(bandit, 0.03, time=30.0)
    assert best.lower_kind == "simulated"
    assert best.simulated.lower == best.lower <= best.gain <= best.upper
    assert best.certified_lower < best.lower
    assert best.upper <= lagrangian_bound(bandit.arms).upper + 1e-9
    assert not best.proven_optimal


def test_two_pulls_a_step_are_planned_exactly_where_that_is_small():
    bandit = Bandit(two_states(3, 5), pulls=2)
    exact = plan_pulls(bandit, 2, 1e-4)
    best = best_plan(bandit, 1e-3, time=10.0)
    assert best.method == "exact"
    assert best.lower <= exact.upper
    assert best.upper >= exact.lower
    states, ages = [0, 1, 0], [1, 1, 5]
    assert sorted(best.action(states, ages)) == sorted(exact.action(states, ages))


def test_bounds_of_two_pulls_hold_without_an_exact_plan(no_exact_plans):
    bandit = Bandit(two_states(3, 6), pulls=2)
    exact = plan_pulls(bandit, 2, 1e-4)
    best = best_plan(bandit, 1e-3, time=4.0)
    assert best.certified_lower <= exact.upper
    assert best.upper >= exact.lower
    assert best.method != "exact"
    assert best.actions([[0, 1, 0]] * 2, [[1, 1, 5], [3, 1, 1]]).shape == (2, 2)


def test_a_thousand_arms_and_a_hundred_pulls_are_no_matter():
    arms = [STICKY, Arm([[0.6, 0.4], [0.2, 0.8]], [0, 0.9])]
    best = best_plan(Bandit(arms * 500, pulls=100), 4.0 / 5, time=30.0)
    assert best.lower > 0.9 * best.upper
    pulled = best.action([0] * 1000, list(range(1, 1001)))
    assert len(set(pulled)) == 100


@pytest.mark.parametrize("affordable", [True, False])
def test_the_rollout_is_kept_where_it_earns_most_and_there_is_time(monkeypatch, affordable):
    rng = np.random.default_rng(2)
    rates, rewards = rng.uniform(0.05, 0.3, (2, 12)), rng.uniform(0.5, 1, 12)
    arms = [Arm([[1 - up, up], [down, 1 - down]], [0, reward])
            for up, down, reward in zip(*rates, rewards, strict=True)]  # fmt: skip
    task = Task(Bandit(arms, pulls=3), 1e-4, 600.0, None, 0)
    if not affordable:
        monkeypatch.setattr(plan_candidates, "_step_seconds", lambda policy, pulls: np.inf)
    findings = list(index_findings(task, plan_stages.lagrangian_stage(task), 300.0))
    assert (findings[-1].method == "rollout") == affordable
    assert task.index_policy.name in ("whittle", "lagrangian", "myopic")
    chosen = findings[-1].policy().priorities(np.zeros((1, 12), int), np.arange(12)[None] + 1, None)
    assert chosen.shape == (1, 12)


def test_an_interrupt_keeps_the_best_so_far(no_exact_plans):
    shown = []

    def watch(best):
        shown.append(best)
        if len(shown) == 2:
            raise KeyboardInterrupt

    best = best_plan(Bandit(two_states(6, 0)), time=10.0, progress=watch)
    assert best.interrupted
    assert (best.lower, best.upper) == (shown[-1].lower, shown[-1].upper)
    assert best.note.startswith("Interrupted")


def test_a_grid_is_played_again_while_noise_is_much_of_the_interval(monkeypatch):
    """Values of a finer grid take out more noise, so that its policy's interval is narrower."""
    bandit = Bandit(two_states(3, 0, 0.02, 0.06))
    coarse, fine = (plan_grid(bandit, ages=ages, tolerance=1e-5) for ages in (3, 12))
    monkeypatch.setattr(plan_stages, "grid_improvements",
                        lambda *_, **__: iter([coarse, fine, fine]))  # fmt: skip
    findings = list(plan_stages.grid_stage(Task(bandit, 1e-4, 60.0, None, 0), 60.0))
    looks = [finding.simulated for finding in findings if finding.simulated is not None]
    widths = [look.upper - look.lower for look in looks]
    assert widths[1] < 0.5 * widths[0]
    quiet = SimulatedValue(coarse.upper - 0.1, coarse.upper - 0.11, coarse.upper - 0.09, 8, 9, 0.99)
    assert not plan_stages._noisy(coarse, quiet)


def test_a_time_that_is_none_is_refused():
    with pytest.raises(ProblemError, match="time"):
        best_plan(Bandit([STICKY]), time=0)


def test_the_best_of_all_findings_is_kept():
    task = Task(Bandit([STICKY, STICKY]), 1e-3, 1.0, None, 0)
    standing = Standing(task)
    policy = best_alone(task.bandit, task.gains)[0]
    assert standing.add(StageResult("prices", 0.9, 0.5))
    assert not standing.add(StageResult("grid", 0.95))
    played = SimulatedValue(0.7, 0.69, 0.71, 8, 100, 0.99)
    assert standing.add(StageResult("whittle", simulated=played, policy=lambda: policy))
    assert standing.plan().lower_kind == "simulated"
    assert standing.add(StageResult("block", lower=0.695, policy=lambda: policy))
    best = standing.plan()
    assert (best.lower_kind, best.lower, best.upper) == ("certified", 0.695, 0.9)
    assert (best.method, best.upper_method, best.price) == ("block", "prices", 0.5)


def test_groups_follow_their_plans():
    arms = two_states(5, 2)
    groups = [(3, 0), (4, 1)]
    plans = [plan(Bandit([arms[j] for j in group]), 1e-4) for group in groups]
    policy: Policy = GroupsPolicy([2] * 5, groups, [plan_policy(own) for own in plans])
    rng = np.random.default_rng(0)
    for _ in range(30):
        states, ages = rng.integers(0, 2, 5), rng.integers(2, 9, 5)
        ages[[group[k] for group, k in zip(groups, rng.integers(0, 2, 2), strict=True)]] = 1
        worth = policy.ranking(states[None], ages[None], np.zeros(1, dtype=np.int64))[0]
        chosen = set(np.argsort(-worth, kind="stable")[:2].tolist())
        wanted = {group[own.action(states[list(group)], ages[list(group)])]
                  for group, own in zip(groups, plans, strict=True)}  # fmt: skip
        assert chosen == wanted


def test_shares_are_rounded_up():
    assert percent(0.01234) == "at most 1.3%"
    assert percent(0.00021) == "at most 0.021%"


def written(tmp_path, bandit):
    file = tmp_path / "problem.toml"
    file.write_text(dump_problem(bandit, "toml"), "utf-8")
    return str(file)


FIELDS = {"method", "lower_kind", "upper_kind", "block", "price", "proven_optimal"}


def test_the_command_tells_the_same_in_all_cases(tmp_path):
    small = written(tmp_path, Bandit(two_states(2, 0)))
    shown = json.loads(CliRunner().invoke(app, ["plan", small, "--json"]).stdout)
    assert shown.keys() >= FIELDS
    assert (shown["method"], shown["block"], shown["price"]) == ("exact", [0, 1], None)
    many = written(tmp_path, Bandit([STICKY] * 30, pulls=3))
    figure, table = tmp_path / "policy.svg", tmp_path / "policy.csv"
    words = ["plan", many, "--json", "--tolerance", "0.2", "--figure", str(figure)]
    result = CliRunner().invoke(app, [*words, "--policy-out", str(table)])
    assert result.exit_code == 0, result.stderr
    shown = json.loads(result.stdout)
    assert shown.keys() >= FIELDS
    assert shown["lower_kind"] == "simulated"
    assert shown["gain_lower"] <= shown["gain_upper"]
    assert "arms 1 to 30" in figure.read_text("utf-8")  # they are alike
    assert shown["shares"]["computed"] is False
    ((name, share),) = (one.values() for one in shown["shares"]["of_pulls"])
    assert name.startswith("arms 1 to ")
    assert share == pytest.approx(1)
    rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    assert {row["arms"] for row in rows} == {"30"}
    assert {row["state"] for row in rows} == {"0", "1"}


def test_the_command_speaks_plainly_and_inspect_foresees_it(tmp_path):
    many = written(tmp_path, Bandit([STICKY] * 400))
    text = CliRunner().invoke(app, ["plan", many, "--time", "3", "--tolerance", "0.03"]).stdout
    assert "no policy earns more than" in text
    assert "less than the best one could" in text
    text = CliRunner().invoke(app, ["inspect", many]).stdout
    assert "restive plan closes an interval" in text
    assert "and 376 more" in text
    assert max(map(len, text.split())) < 40  # no number of hundreds of digits


def test_the_command_keeps_what_was_reached_when_interrupted(tmp_path, monkeypatch):
    def interrupted(*args, **options):
        yield Standing(Task(args[0], 1e-4, 1.0, None, 0)).plan()
        raise KeyboardInterrupt

    monkeypatch.setattr(planner, "plan_improvements", interrupted)
    file = written(tmp_path, Bandit(two_states(5, 0)))
    result = CliRunner().invoke(app, ["plan", file])
    assert result.exit_code == 130
    assert "no policy earns more than" in result.stdout


@pytest.mark.parametrize("pulls", ["0", "3", "1.5"])
def test_pulls_that_are_no_number_of_arms_are_refused(tmp_path, pulls):
    file = tmp_path / "problem.toml"
    text = dump_problem(Bandit([STICKY, STICKY]), "toml")
    file.write_text(f"pulls = {pulls}\n{text}", "utf-8")
    result = CliRunner().invoke(app, ["plan", str(file)])
    assert result.exit_code == 2
    assert "pulls" in result.stderr


def test_it_is_public():
    assert restive.best_plan is best_plan
    assert restive.BoundedPlan.__name__ == "BoundedPlan"


def test_blocks_share_several_pulls(tmp_path, no_exact_plans):
    """Three strong arms of six: no other one is worth a pull, and the plan of the block is best."""
    strong = [Arm([[0.8, 0.2], [0.2, 0.8]], [0, top]) for top in (0.8, 0.9, 1.0)]
    weak = [Arm([[0.7, 0.3], [0.4, 0.6]], [0, 0.2 + 0.02 * k]) for k in range(3)]
    bandit = Bandit([*weak, *strong], pulls=2)
    exact = plan_pulls(strong, 2, 1e-5)
    best = best_plan(bandit, 1e-3, time=20.0)
    assert best.proven_optimal
    assert (best.method, best.upper_method) == ("block", "block")
    assert sorted(best.block) == [3, 4, 5]
    assert best.price > 0
    assert best.lower <= exact.upper
    assert best.upper >= exact.lower
    assert sorted(best.action([0] * 6, [9, 9, 9, 1, 1, 3])) != [0, 1]
    assert set(best.action([0] * 6, [9, 9, 9, 1, 1, 3])) < {3, 4, 5}
    figure, table = tmp_path / "policy.svg", tmp_path / "policy.csv"
    words = ["plan", written(tmp_path, bandit), "--json", "--tolerance", "1e-3"]
    words += ["--figure", str(figure), "--policy-out", str(table)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.stderr
    shown = json.loads(result.stdout)
    assert (shown["method"], shown["lower_kind"]) == ("block", "certified")
    assert sorted(shown["block"]) == [3, 4, 5]
    assert shown["proven_optimal"]
    assert "<svg" in figure.read_text("utf-8")
    rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    assert {len(row["pull"].split(" + ")) for row in rows} == {2}
