"""``restive learn`` and ``restive learners``: results, words, refusals, interrupts, figures."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from typer.testing import CliRunner

import restive
from command_line import no_terminal, run_command, told_by  # noqa: F401
from restive import problems, simulation
from restive.cli import app, live
from restive.experiments.experiment import DEFAULT_LEARNERS
from restive.learners import LEARNERS, make_learner
from restive.learners.plain import as_learner
from restive.model import files
from restive.simulation import BanditWorld, play

EXAMPLE = problems.example1()
MANY = problems.gilbert_elliott(n_arms=12, p_bad_good=0.001, p_good_bad=0.001)
run = partial(run_command, "learn", given=EXAMPLE)
facts_of = partial(told_by, "learn", given=EXAMPLE)


def test_json_holds_the_numbers_of_the_run():
    facts = facts_of("--learner", "round-robin", "--horizon", "3e4", "--seed", 5, "--curves")
    learner = make_learner("round-robin", EXAMPLE, 30_000)
    _, rewards = next(BanditWorld(EXAMPLE, 5).blocks(30_000))
    pulls = np.arange(30_000) % 2
    total = rewards[pulls, np.arange(30_000)].sum()  # by hand, along the world's own path
    assert (facts["learner"], facts["horizon"], facts["steps"]) == ("round-robin", 30_000, 30_000)
    assert (facts["seed"], facts["delta"], facts["version"]) == (5, 0.05, restive.__version__)
    assert facts["total_reward"] == total
    assert facts["mean_reward"] == pytest.approx(total / 30_000)
    assert facts["gain"] == pytest.approx(0.7, abs=1e-6)
    assert facts["gain_lower"] <= 0.7 <= facts["gain_upper"]
    assert facts["regret"] == pytest.approx(0.7 * 30_000 - total, abs=0.03)
    assert facts["weak_regret"] == pytest.approx(0.5 * 30_000 - total)
    assert facts["gap_regret"] == play(
        learner, BanditWorld(EXAMPLE, 5), 30_000, plan=restive.plan(EXAMPLE)
    ).gap_regret[-1]  # fmt: skip
    assert (facts["episodes"], facts["pulls"], facts["interrupted"]) == (0, [15_000, 15_000], False)
    assert 0 <= facts["plan_seconds"] <= facts["seconds"]
    curves = facts["curves"]
    assert curves["times"][-1] == 30_000
    for name in ("regret", "gap_regret", "weak_regret"):
        assert curves[name][-1] == facts[name]
        assert len(curves[name]) == len(curves["times"])


def test_the_default_learner_is_the_first_and_learns():
    facts = facts_of("--horizon", "2e4")
    assert facts["learner"] == "tied-sampling" == next(iter(LEARNERS))
    assert 0 <= facts["gap_regret"] < 200  # round robin: 4000
    assert facts["episodes"] == facts["replans"] > 5
    assert "curves" not in facts


def test_same_seed_same_run():
    first, again, other = (facts_of("--horizon", 4000, "--seed", s) for s in (3, 3, 4))
    timed = {"seconds", "plan_seconds", "gain_seconds"}
    assert all(first[key] == again[key] for key in first.keys() - timed)
    assert first["total_reward"] != other["total_reward"]


def test_options_reach_the_learner():
    words = ("--learner", "colored-ucrl2", "--horizon", 3000)
    told = facts_of(*words)
    assert told["options"] == {}
    switch = facts_of(*words, "--unknown-states")
    assert switch["options"] == {"unknown_states": True}
    assert facts_of(*words, "--unknown-states", "false")["options"] == {"unknown_states": False}
    assert facts_of(*words, "--unknown-states=no")["pulls"] == told["pulls"]
    assert switch["pulls"] != told["pulls"]
    assert facts_of(*words, "--mixing-times", "9,9")["options"] == {"mixing_times": [9, 9]}


def test_options_may_come_before_the_file(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(files.dump_problem(EXAMPLE))
    words = ["learn", "--unknown-states", str(path), "--learner", "tied-ucrl", "--horizon", "2000"]
    shown = CliRunner().invoke(app, [*words, "--json"])
    assert shown.exit_code == 0, shown.stderr
    assert json.loads(shown.stdout)["options"] == {"unknown_states": True}


def test_words_name_the_three_regrets():
    shown = run("--horizon", 5000, "--learner", "best-arm").stdout
    lines = {line.split("  ")[0]: line for line in shown.splitlines()}
    facts = facts_of("--horizon", 5000, "--learner", "best-arm")
    assert f"{facts['regret']:,.1f}" in lines["regret"]
    assert "the best policy" in lines["regret"]
    assert f"{facts['gap_regret']:,.1f}" in lines["gap regret"]
    assert f"{facts['weak_regret']:,.1f}" in lines["weak regret"]
    assert "the best single arm, channel 1" in lines["weak regret"]
    sentence = f"best-arm earned {facts['mean_reward']:.4f} per step. The best policy would earn "
    assert sentence + "0.7000" in shown
    assert "restive learn" not in shown


def test_too_large_to_plan_still_learns(monkeypatch):
    monkeypatch.setattr(live, "PATIENCE", 1e-9)
    facts = facts_of("--horizon", 1000, "--learner", "round-robin")
    assert (facts["gain"], facts["regret"], facts["gap_regret"]) == (None, None, None)
    assert facts["weak_regret"] == pytest.approx(500 - facts["total_reward"])
    assert set(facts["missing"]) == {"regret", "gap_regret"}
    assert "information states" in facts["missing"]["regret"]
    assert facts["gain_ceiling"] >= 0.7  # which is rho*, by the closed form of Example 1
    assert facts["regret_at_most"] == pytest.approx(
        1000 * facts["gain_ceiling"] - facts["total_reward"]
    )
    shown = run("--horizon", 1000, "--learner", "round-robin").stdout
    assert "Always pulling the best single arm, channel 1, would earn 0.5000." in shown
    shown = run("--horizon", 1000, "--learner", "round-robin").stdout
    assert "unknown: a plan to within 1e-06 takes about" in shown
    assert "what no policy can exceed (certified)" in shown


def test_learners_that_cannot_plan_say_so():
    refused = run("--horizon", 500, "--learner", "colored-ucrl2", given=MANY)
    assert refused.exit_code == 2
    assert "information states" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_many_slow_arms_have_no_yardstick_but_a_reason():
    facts = facts_of("--horizon", 500, "--learner", "ucb1", given=MANY)
    assert facts["regret"] is None
    assert "information states" in facts["missing"]["gap_regret"]


def test_a_coarser_plan_is_said_to_be_one(monkeypatch):
    fine = restive.forecast(EXAMPLE, 1e-6).seconds
    rough = restive.forecast(EXAMPLE, 1e-3).seconds
    monkeypatch.setattr(live, "PATIENCE", rough)
    unhurried = lambda *words, time, **rest: restive.plan(*words, **rest)  # noqa: E731
    monkeypatch.setattr("restive.planning.within.plan", unhurried)
    assert rough < fine
    facts = facts_of("--horizon", "1e5", "--learner", "round-robin")
    assert facts["gain_tolerance"] == 1e-3
    assert facts["gain_note"].startswith("a plan to within 1e-06 takes")
    shown = run("--horizon", "1e7", "--learner", "optimal").stdout
    assert "The best policy is known to within 0.001 only: a plan to within 1e-06" in shown
    assert "certain to within" in shown


def test_a_learner_warms_up_before_its_clock_starts(monkeypatch):
    """On arms with two states and on others, on as many pulls, or on its own problem."""
    events = []

    def watched(learner, world, horizon, **options):
        events.append((learner.name, world.bandit.n_states, world.bandit.pulls, horizon))
        return play(learner, world, horizon, **options)

    monkeypatch.setattr(simulation, "play", watched)
    run("--horizon", 10, "--learner", "round-robin")
    run("--horizon", 10, "--learner", "round-robin", given=problems.random_problem(2, 3, rng=1))
    run("--horizon", 10, "--learner", "tiling")
    four = restive.Bandit(problems.random_problem(4, 2, rng=1).arms, pulls=3)
    run("--horizon", 10, "--learner", "round-robin", given=four)
    assert events == [
        ("round-robin", (2, 2), 1, live.WARM_STEPS), ("round-robin", (2, 2), 1, 10),
        ("round-robin", (3, 2), 1, live.WARM_STEPS), ("round-robin", (3, 3), 1, 10),
        ("tiling", (2, 2), 1, live.WARM_STEPS), ("tiling", (2, 2), 1, 10),
        ("round-robin", (2, 2, 2), 2, live.WARM_STEPS), ("round-robin", (2,) * 4, 3, 10),
    ]  # fmt: skip


def test_a_plan_that_overruns_is_as_good_as_what_it_reached(monkeypatch):
    """Stopped by the clock: a wide interval is refused, and a narrow one comes with its reason."""
    slow = problems.example1(0.01)
    late = "a plan to within 1e-06 takes more than 20 seconds"

    def stopped_at(half_width):
        def stopped(bandit, tolerance, **_):
            best = restive.plan(bandit, 1e-3)
            middle = best.gain
            return replace(
                best, lower=np.array([middle - half_width]), upper=np.array([middle + half_width]),
                converged=False, seconds=20.5, tolerance=tolerance,
            )  # fmt: skip

        monkeypatch.setattr("restive.planning.within.plan", stopped)
        return live.yardstick(slow, None)

    assert stopped_at(0.1) == (None, late)
    plan, why = stopped_at(1e-4)
    assert why == late
    assert plan.gain_upper - plan.gain_lower == pytest.approx(2e-4)


@pytest.mark.parametrize(
    ("words", "start"),
    [
        (["--horizon", "0"], "--horizon: not a number of steps (found 0). Give"),
        (["--horizon", "1e13"], "--horizon: too long to play (found 1e13). Give at most"),
        (["--delta", "1"], "--delta: not a probability (found 1). Give"),
        (["--learner", "tide-sampling"], "--learner: no such learner (found tide-sampling). Did"),
        (["--horzion", "1e3"], "--horzion: tied-sampling has no such option (found 1e3). Did"),
        (["--growth", "x"], "--growth: not a value for it (found x). Give"),
        (["--growth"], "--growth: the value is missing. Write"),
        (
            ["--steps", "1"],
            "--steps: tied-sampling has no such option (found 1). Did you mean --hor",
        ),
        (["-n", "1"], "--n: tied-sampling has no such option (found 1). Did you mean --horizon?"),
        (["--runs", "5"], "--runs: tied-sampling has no such option (found 5). restive compare m"),
        (["--unknown-states"], "--unknown-states: tied-sampling has no such option. Its"),
        (["--learner", "best-arm", "--growth", "1"], "--growth: best-arm has no such option"),
        (["second.toml"], "PROBLEM: not one problem (found - second.toml). Give"),
        (["--figure", "a.bmp"], "--figure: unknown kind of file (found a.bmp). Give"),
        (
            ["--learner", "colored-ucrl2", "--mixing-times", "1,2,3"],
            "--mixing-times: 3 values for 2 arms",
        ),
    ],
)
def test_refusals_name_place_value_and_remedy(words, start):
    refused = run(*words)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith(f"restive: {start}"), refused.stderr
    assert "Traceback" not in refused.stderr


def test_bad_seeds_are_refused():
    assert run("--seed", "-1").exit_code == 2
    assert run("--seed", "x").exit_code == 2


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_figures(suffix, tmp_path):
    pytest.importorskip("matplotlib")
    paths = [tmp_path / f"{k}.{suffix}" for k in (1, 2)]
    for path in paths:
        shown = run("--horizon", 3000, "--learner", "round-robin", "--figure", path)
        assert shown.exit_code == 0, shown.stderr
        assert f"Wrote {path}." in shown.stdout
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == paths  # no drafts
    head = paths[0].read_bytes()[:400]
    assert head.startswith(b"\x89PNG") if suffix == "png" else b"<svg" in head or b"<?xml" in head


def test_figures_without_a_plan_and_of_one_step(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    assert run("--horizon", 1, "--figure", tmp_path / "one.svg").exit_code == 0
    monkeypatch.setattr(live, "PATIENCE", 1e-9)
    assert run("--horizon", 900, "--figure", tmp_path / "none.svg").exit_code == 0
    with_plan, without = (tmp_path / f"{name}.svg" for name in ("all", "none"))
    monkeypatch.undo()
    assert run("--horizon", 900, "--figure", with_plan).exit_code == 0
    assert "#d55e00" in with_plan.read_text()  # the gap regret's colour
    assert "#d55e00" not in without.read_text()
    assert "#009e73" in without.read_text()


def test_learners_are_listed():
    shown = CliRunner().invoke(app, ["learners"])
    assert shown.exit_code == 0
    for name, entry in LEARNERS.items():
        assert name in shown.stdout
        assert entry.guarantee in shown.stdout
    facts = json.loads(CliRunner().invoke(app, ["learners", "--json"]).stdout)
    known = {entry["name"]: entry for entry in facts["learners"]}
    assert [name for name, entry in known.items() if entry["for_bandits"]] == list(LEARNERS)
    assert set(known) - set(LEARNERS) == {"colored-ucrl2-mdp"}
    assert facts["default"] == "tied-sampling"
    options = known["colored-ucrl2"]["options"]
    assert [o["name"] for o in options] == [p.name for p in LEARNERS["colored-ucrl2"].options]
    assert options[0]["default"] is False


def started(tmp_path, *words, **streams):
    path = tmp_path / "one.toml"
    path.write_text(files.dump_problem(EXAMPLE))
    program = [sys.executable, "-c", "from restive.cli import main; main()", "learn", str(path)]
    return subprocess.Popen([*program, *words], **streams)


def test_an_interrupt_shows_what_was_reached(tmp_path):
    """Watched on a terminal, interrupted once the live line counts steps."""
    ours, theirs = pty.openpty()
    process = started(
        tmp_path, "--horizon", "1e11", "--learner", "round-robin", "--json",
        stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while b"per step, regret" not in shown.replace(b"\r\n", b" "):
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=300)
    finally:
        os.close(ours)
        with process:
            process.kill()  # if it is still there
    assert process.returncode == 130
    facts = json.loads(out)
    assert facts["interrupted"] is True
    assert 0 < facts["steps"] < facts["horizon"] == 10**11
    assert facts["steps"] == sum(facts["pulls"])
    assert facts["mean_reward"] == pytest.approx(0.5, abs=0.2)
    assert facts["regret"] == pytest.approx(facts["gain"] * facts["steps"] - facts["total_reward"])


def test_a_pipe_is_quiet(tmp_path):
    with started(tmp_path, "--horizon", "1e5", "--learner", "round-robin",
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # fmt: skip
        out, err = process.communicate()
    assert process.returncode == 0
    assert b"\x1b" not in out
    assert err in (
        b"",
        b"restive: compiling kernels, once; later runs of this kind start at once.\n",
    )


def test_a_second_interrupt_gives_up():
    world = live.StoppableWorld(EXAMPLE, 0)
    before = signal.getsignal(signal.SIGINT)
    with live.stopping(world):
        signal.raise_signal(signal.SIGINT)
        assert world.stopped
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_stopped_path_is_the_beginning_of_the_whole_one():
    world = live.StoppableWorld(EXAMPLE, 7)
    states = []
    for block, _ in world.stream(10**6):
        states.append(block.copy())
        world.stopped = len(states) == 3
    whole, _ = next(BanditWorld(EXAMPLE, 7).blocks(3 * live.BLOCK))
    assert np.array_equal(np.concatenate(states, axis=1), whole)


def test_several_pulls_a_step():
    two = restive.Bandit(EXAMPLE.arms, pulls=2)
    facts = facts_of("--horizon", 500, "--learner", "round-robin", given=two)
    assert (facts["pulls"], facts["pulls_per_step"]) == ([500, 500], 2)
    assert facts["weak_regret"] == pytest.approx(500 - facts["total_reward"])
    assert facts["gain"] == pytest.approx(1.0)  # both arms always
    assert facts["regret"] == pytest.approx(500 * facts["gain"] - facts["total_reward"])
    assert facts["gap_regret"] is None
    assert facts["missing"] == {"gap_regret": "gap regret is only defined for one pull a step"}
    shown = run("--horizon", 500, "--learner", "round-robin", given=two).stdout
    assert "the 2 best arms, channel 1 and channel 2" in shown
    assert "the best policy" in shown
    assert "luck left out" not in shown
    slow = restive.Bandit([restive.Arm([[0.999, 0.001], [0.001, 0.999]], [0, 1])] * 5, pulls=2)
    facts = facts_of("--horizon", 500, "--learner", "round-robin", given=slow)
    assert facts["gain"] is None
    assert facts["regret_at_most"] == pytest.approx(
        500 * facts["gain_ceiling"] - facts["total_reward"]
    )
    assert "information states" in facts["missing"]["regret"]
    refused = run("--horizon", 500, "--learner", "ucb1", given=two)
    assert refused.exit_code == 2
    assert "ucb1 cannot choose so many arms (found 2)" in refused.stderr


OWN = """
class Stay:
    def __init__(self, n_arms, threshold=0.5):
        self.n_arms, self.threshold, self.arm = n_arms, threshold, 0

    def ask(self):
        return self.arm

    def tell(self, arm, state, reward):
        self.arm = arm if reward > self.threshold else (arm + 1) % self.n_arms


def broken(n_arms):
    raise RuntimeError("no such luck")


def nothing(n_arms):
    return 3
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "rules.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("rules", None)


@pytest.mark.usefixtures("own_module")
def test_a_class_with_ask_and_tell_is_a_learner():
    """In Example 1 the best rule is to stay after a reward and to change after none."""
    result = facts_of("--learner", "rules:Stay", "--horizon", 2000)
    assert result["learner"] == "rules:Stay"
    assert result["gap_regret"] == pytest.approx(0, abs=1e-6)
    restless = facts_of("--learner", "rules:Stay", "--threshold", "2.5", "--horizon", 2000)
    assert restless["options"] == {"threshold": 2.5}
    assert restless["gap_regret"] > 100
    with pytest.raises(restive.ProblemError, match="cannot be saved"):
        as_learner(sys.modules["rules"].Stay(2), 2).snapshot()


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rules:broken", ["it raised RuntimeError: no such luck", "rules.py, line 14, in broken"]),
        ("rules:nothing", ["not a learner", "found int", "tell(arm, state, reward)"]),
        ("rules:missing", ["cannot be imported", "rules:missing"]),
        ("nowhere:Stay", ["No module named 'nowhere'"]),
    ],
)
def test_faults_of_a_learner_from_a_module(name, words):
    shown = run("--learner", name, "--horizon", 100)
    assert shown.exit_code == 2
    assert "Traceback" not in shown.output
    for part in words:
        assert part in shown.output


HOSTILE = {
    "leaves": ("import sys\nsys.exit(0)\n", "ends the program when it is imported (exit code 0)"),
    "recurses": ("def f():\n    f()\nf()\n", "RecursionError"),
    "raises": ("raise BaseException('none of yours')\n", "none of yours"),
    "floods": ("raise MemoryError\n", "MemoryError"),
    "breaks": ("def f(:\n", "SyntaxError"),
    "quits": (f"{OWN}\ndef quit(*a):\n    raise SystemExit(3)\n", "it raised SystemExit: 3"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_module_that_misbehaves_is_answered_in_words(name, tmp_path, monkeypatch):
    text, words = HOSTILE[name]
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shown = run("--learner", f"{name}:{'quit' if name == 'quits' else 'Stay'}", "--horizon", 100)
    sys.modules.pop(name, None)
    assert shown.exit_code == 2, shown.exception
    assert "Traceback" not in shown.output
    assert words in shown.output
    assert "--learner: " in shown.output


def test_what_a_module_prints_does_not_mix_with_json(tmp_path, monkeypatch):
    (tmp_path / "prints.py").write_text(f"print('hello')\n{OWN}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shown = run("--learner", "prints:Stay", "--horizon", 100, "--json")
    sys.modules.pop("prints", None)
    assert json.loads(shown.stdout)["learner"] == "prints:Stay"
    assert "hello" in shown.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("learn example-1 --learner ti", "tied-ucrl"),
        ("plan example-", "example-4-periodic"),
        ("compare example-1 example-", "example-4-periodic"),
        ("compare example-1 --learners ucb1,tied-u", "ucb1,tied-ucrl"),
    ],
)
def test_the_shell_completes_names(words, expected):
    surroundings = {
        **os.environ, "_RESTIVE_COMPLETE": "complete_bash", "COMP_WORDS": f"restive {words}",
        "COMP_CWORD": str(len(words.split())),
    }  # fmt: skip
    program = "import sys; sys.argv[0] = 'restive'; from restive.cli import main; main()"
    command = [sys.executable, "-c", program]
    shown = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert expected in shown.stdout.split()


def test_help_names_the_learners_that_compare_takes_by_default():
    shown = CliRunner().invoke(app, ["compare", "--help"], terminal_width=80)
    assert f"(default: {', '.join(DEFAULT_LEARNERS)})" in " ".join(shown.output.split())


def test_every_command_shows_an_example_and_no_types():
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        shown = CliRunner().invoke(app, [name, "--help"], terminal_width=80)
        assert "Example: restive" in shown.output, name
        assert not re.search(r"range>|<float>|<int>|<str>|x>=|<=x|[{]|\[\[", shown.output), name
        assert max(map(len, shown.output.splitlines())) <= 80
