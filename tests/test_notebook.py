"""What a notebook shows of long work, and what wrong arguments are answered with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import restive
from restive import Arm, Bandit, BanditWorld, InTurn, ProblemError, make_learner, play, problems

ARM = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])

LONG_WORK = """
import restive.base.notebook as notebook
notebook.PATIENCE = notebook.PAUSE = 0.0  # tell at once
from restive import Arm, Bandit, BanditWorld, InTurn, best_plan, compare, plan, play, problems
bandit = problems.example1()
plan(bandit)
best_plan(bandit)
best_plan(Bandit([Arm(a.transitions, [-5, 20], reward_range=(-5, 20)) for a in bandit.arms]))
play(InTurn(2), BanditWorld(bandit, 1), 100)
compare(bandit, "out", ["ucb1"], horizons=10, runs=2, workers=1)
"""


def shown_by_a_kernel(code, folder):
    """Words of every line that a real kernel displays or writes over, and what it prints."""
    client = pytest.importorskip("nbclient")
    import nbformat

    class Listening(client.NotebookClient):
        words: tuple[str, ...] = ()

        def output(self, outs, msg, display_id, cell_index):
            self.words += (msg["content"].get("data", {}).get("text/html", ""),)
            return super().output(outs, msg, display_id, cell_index)

        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] == "update_display_data":
                self.words += (msg["content"]["data"].get("text/html", ""),)
            return super().process_message(msg, cell, cell_index)

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    listening = Listening(notebook, timeout=120, kernel_name="python3")
    listening.execute(cwd=folder)
    return listening.words, notebook.cells[0].outputs


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_a_notebook_shows_how_far_long_work_is(tmp_path):
    words, outputs = shown_by_a_kernel(LONG_WORK, tmp_path)
    told = "\n".join(words)
    for start in (
        "solving: ",
        "planning: between 0.",
        "planning: between 12.",
        "policy: 100 of 100 steps",
    ):
        assert f"<small>{start}" in told
    assert "<small>comparing: 2 of 2 runs" in told
    # each line is one display, and empty in the end
    lines = [output for output in outputs if output["output_type"] == "display_data"]
    assert len(lines) == 5
    assert not any("<small>" in line["data"]["text/html"] for line in lines)


def test_scripts_are_quiet(tmp_path):
    done = subprocess.run([sys.executable, "-c", LONG_WORK], cwd=tmp_path, capture_output=True,
                          check=True)  # fmt: skip
    assert done.stdout == done.stderr == b""


TAKERS = {
    "plan": restive.plan,
    "best_plan": restive.best_plan,
    "plan_within": lambda bandit: restive.plan_within(bandit, 1.0),
    "forecast": restive.forecast,
    "evaluate": lambda bandit: restive.evaluate(bandit, "myopic"),
    "make_learner": lambda bandit: make_learner("tied-sampling", bandit),
    "BanditWorld": BanditWorld,
    "myopic_policy": restive.myopic_policy,
    "whittle_policy": lambda bandit: restive.whittle_policy(bandit, 10),
    "dump_problem": restive.dump_problem,
}
WRONG = {
    "path": (Path("radio.toml"), 'find_problem("radio.toml")'),
    "name": ("example-1", 'find_problem("example-1")'),
    "arms": ([ARM, ARM], "restive.Bandit(arms)"),
    "arm": (ARM, "restive.Bandit([arm])"),
    "table": ({"arms": []}, "restive.Bandit([restive.Arm("),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_bandit_is_told_how_to_become_one(taker, wrong):
    value, remedy = WRONG[wrong]
    with pytest.raises(ProblemError) as error:
        TAKERS[taker](value)
    (fault,) = error.value.faults
    assert fault.message == "not a Bandit"
    assert remedy in fault.remedy


def test_play_says_what_it_wants():
    bandit = Bandit([ARM, ARM])
    with pytest.raises(ProblemError) as error:
        play("tied-sampling", bandit, 10)
    learner, world = error.value.faults
    assert "restive.make_learner('tied-sampling', bandit, horizon)" in learner.remedy
    assert "restive.BanditWorld(bandit, rng)" in world.remedy
    with pytest.raises(ProblemError, match=r"restive\.FunctionPolicy"):
        play(lambda states, ages: 0, BanditWorld(bandit), 10)


def test_play_without_a_plan_says_how_to_get_regret():
    bandit = problems.example1()
    run = play(InTurn(2), BanditWorld(bandit, 1), 10)
    assert "play(..., plan=plan(bandit))" in run.missing["regret"]
    told = play(InTurn(2), BanditWorld(bandit, 1), 10, plan=restive.plan(bandit))
    assert told.regret is not None
    assert not told.missing


def test_plans_of_any_size_take_names_of_states():
    arm = Arm(ARM.transitions, ARM.rewards, states=["busy", "free"])
    best = restive.best_plan(Bandit([arm, arm]))
    assert best.action(["free", "busy"], [1, 4]) == best.action([1, 0], [1, 4]) == 0
    assert best.action(["busy", -1], [1, 1]) == 1
    with pytest.raises(ValueError, match="has no state 'fre'; its states are busy, free"):
        best.action(["fre", "busy"], [1, 4])
