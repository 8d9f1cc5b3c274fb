"""The command line: what it prints, what it refuses and with which words and exit codes."""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
import tomllib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import restive
from command_line import no_terminal  # noqa: F401
from malformed_cases import CASES, FOLDER
from restive import problems
from restive.base.words import duration_text, outward, size_text
from restive.cli import app, screen
from restive.model import files

ENVIRONMENT = {
    key: value
    for key, value in os.environ.items()
    if key not in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "COLUMNS")
}


def run(*words, given=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=given)


def spawn(*words, code=0, given="", **environment):
    """A real process, as a user would start it."""
    command = [sys.executable, "-c", "from restive.cli import main; main()", *map(str, words)]
    done = subprocess.run(
        command,
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=ENVIRONMENT | environment,
        timeout=300,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def example(tmp_path):
    path = tmp_path / "example-1.toml"
    path.write_text(run("problem", "example-1").stdout, encoding="utf-8")
    return path


def is_plain(text):
    return text.isascii() and text.replace("\n", "").isprintable()


# Help, version, schema ----------------------------------------------------------------------------


def test_help_names_every_command_and_draws_no_boxes():
    shown = spawn("--help").stdout
    for command in ("inspect", "plan", "problem", "schema", "--version"):
        assert command in shown
    assert is_plain(shown)


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from restive.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'numba', 'scipy', 'pydantic', 'matplotlib', 'rich.console'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_command_is_one_module(tmp_path):
    """A file in the folder of commands is all it takes."""
    (tmp_path / "greet.py").write_text(
        "import typer\nfrom restive.cli.app import app\n"
        "@app.command()\ndef greet() -> None:\n    'Say hello.'\n    typer.echo('hello')\n"
    )
    code = (
        f"import restive.cli.commands as c; c.__path__.append({str(tmp_path)!r})\n"
        "import sys, importlib, restive.cli; importlib.reload(restive.cli)\n"
        "sys.argv[1:] = ['greet']; restive.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "hello\n"


def test_summaries_of_commands_are_not_cut():
    shown = spawn("--help").stdout
    assert "..." not in shown.split("Commands:")[1]


def test_version():
    assert spawn("--version").stdout == f"restive {restive.__version__}\n"


def test_schema_is_that_of_the_files():
    assert json.loads(run("schema").stdout) == files.problem_schema()


def test_wrong_usage_ends_in_2():
    assert "No such command" in spawn("plann", code=2).stderr
    assert "--colour" in spawn("plan", "x.toml", "--colour", "red", code=2).stderr


# Problems of the gallery --------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(problems.GALLERY))
@pytest.mark.parametrize("form", ["toml", "json"])
def test_every_problem_of_the_gallery_can_be_printed_and_read_again(name, form):
    shown = run("problem", name, "--format", form)
    assert shown.exit_code == 0
    assert files.parse_problem(shown.stdout, form) == problems.build(name)


def test_gallery_lists_every_problem_and_parameter():
    shown = run("problem").stdout
    for name, problem in problems.GALLERY.items():
        assert f"\n{name} " in "\n" + shown
        for parameter in problem.parameters:
            assert f"--{parameter.name.replace('_', '-')} " in shown
    assert is_plain(shown)


@pytest.mark.parametrize(
    "words",
    [
        ["example-1", "--epsilon", "0.05"],
        ["example-1", "--epsilon=0.05"],
        ["--epsilon", "0.05", "example-1"],
        ["--format", "toml", "example-1", "--epsilon", "0.05"],
    ],
)
def test_parameters_are_options_anywhere(words):
    problem = tomllib.loads(run("problem", *words).stdout)
    assert problem["arms"][1]["transitions"] == [[0.95, 0.05], [0.05, 0.95]]


def test_hyphens_and_lists_in_parameters():
    words = ["gilbert-elliott", "--n-arms", "3", "--p-bad-good", "0.1,0.2,0.3"]
    arms = tomllib.loads(run("problem", *words).stdout)["arms"]
    assert [arm["transitions"][0][1] for arm in arms] == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["example-9"], "example-9"),
        (["example-1", "--epsilon"], "--epsilon"),
        (["example-1", "--epsilon", "-1"], "epsilon"),
        (["example-1", "--epsilon", "much"], "epsilon"),
        (["example-1", "--shape", "round"], "shape"),
        (["example-1", "example-2"], "not one problem"),
        (["--epsilon", "0.1"], "not one problem"),
        (["--list"], "--list: the value is missing. Without a name and options, restive problem"),
        (["example-1", "--format", "xml"], "xml"),
    ],
)
def test_problems_that_cannot_be_built(words, named):
    refused = run("problem", *words)
    assert refused.exit_code == 2
    assert named in refused.stderr
    assert refused.stdout == ""


# Files that are wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["inspect", "plan"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_malformed_files_end_in_2_with_every_fault_named(command, name):
    refused = run(command, FOLDER / name)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert "Traceback" not in refused.stderr
    for path in CASES[name]:
        assert f"{path}: " in refused.stderr


@pytest.mark.parametrize("name", ["many-faults.toml", "surrogate.json", "not-utf8.toml"])
def test_malformed_files_in_a_real_process(name):
    refused = spawn("plan", FOLDER / name, code=2)
    assert refused.stdout == ""
    assert all(line.startswith("restive: ") for line in refused.stderr.splitlines())


def test_the_file_is_named_where_the_fault_is_a_line():
    assert "syntax.toml" in run("inspect", FOLDER / "syntax.toml").stderr


def test_files_that_are_not_there(tmp_path):
    assert "none.toml: No such file" in spawn("plan", tmp_path / "none.toml", code=2).stderr


@pytest.mark.parametrize("command", ["inspect", "plan", "bounds", "learn", "fit", "replay"])
def test_a_folder_is_called_one(command, tmp_path):
    refused = run(command, tmp_path)
    assert refused.exit_code == 2
    assert f"{tmp_path}: this is a folder. Give the path" in refused.stderr


def test_names_stand_for_problems_and_files_name_theirs(tmp_path):
    """A gallery's or a suite's problem by its name; a nameless one is called by its file."""
    assert json.loads(run("plan", "example-1", "--json").stdout)["gain"] == pytest.approx(0.7)
    slow = json.loads(run("inspect", "slow-arms", "--json").stdout)
    assert (slow["problem"], len(slow["arms"])) == ("Slow arms", 2)
    path = tmp_path / "radio.toml"
    path.write_text(files.dump_problem(restive.Bandit(problems.example1().arms)))
    assert json.loads(run("inspect", path, "--json").stdout)["problem"] == "radio"
    path.write_text(files.dump_problem(problems.example1()))
    assert json.loads(run("inspect", path, "--json").stdout)["problem"].startswith("Example 1")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("slow-arm", "slow-arm: no such problem. Did you mean slow-arms? Give the path"),
        ("restive-suite-v1", "restive-suite-v1: a suite of 24 problems. Name one of them, such as"),
    ],
)
def test_words_that_are_no_problem(word, message):
    refused = run("inspect", word)
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"restive: {message}")


def test_file_names_that_are_not_text():
    name = os.fsdecode(b"\xff.toml")
    assert "No such file" in spawn("plan", name, code=2).stderr


@pytest.mark.parametrize("text", ["", "{", "arms = 3", "\ufeff[[arms]]\n", '{"arms": [], "a": 1}'])
def test_malformed_standard_input(text):
    refused = run("plan", "-", given=text)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("restive: ")


def test_standard_input_that_is_not_text():
    refused = CliRunner().invoke(app, ["plan", "-"], input=b"name = '\xff'")
    assert refused.exit_code == 2
    assert "<stdin>: not UTF-8 text (found byte 0xff)" in refused.stderr


@pytest.mark.parametrize("tolerance", ["0", "-1e-6", "1e-13", "1", "nan", "inf", "small"])
@pytest.mark.parametrize("command", ["inspect", "plan"])
def test_tolerances_that_are_none(command, tolerance, example):
    refused = run(command, example, "--tolerance", tolerance)
    assert refused.exit_code == 2
    assert "tolerance" in refused.stderr


# Inspecting ---------------------------------------------------------------------------------------


def test_inspect_prints_the_facts_of_example_1_as_json(example):
    """d(t) = 0.8^t: below 1/4 from t = 7 on, below 1e-6 from t = 62 on."""
    facts = json.loads(run("inspect", example, "--json").stdout)
    assert [arm["name"] for arm in facts["arms"]] == ["channel 1", "channel 2"]
    for arm in facts["arms"]:
        assert arm["states"] == ["busy", "free"]
        assert arm["stationary"] == pytest.approx([0.5, 0.5], rel=1e-15)
        assert (arm["period"], arm["mixing_time"], arm["reversible"]) == (1, 7, True)
        assert arm["mixing_time_at_tolerance"] == math.ceil(math.log(1e-6) / math.log(0.8))
        assert arm["diameter"] == pytest.approx(10)
        assert arm["gain"] == pytest.approx(0.5)
    assert facts["best_arm"] == {"arm": 0, "name": "channel 1", "gain": pytest.approx(0.5)}
    assert facts["tolerance"] == 1e-6
    assert set(facts["forecast"]) == {"states", "colors", "caps", "bytes", "seconds", "fits"}
    assert facts["forecast"]["colors"] == 2 * sum(facts["forecast"]["caps"])


def test_inspect_says_the_same_from_a_file_and_from_standard_input(example):
    text = example.read_text(encoding="utf-8")
    as_json = files.dump_problem(files.parse_problem(text), "json")
    whole = run("inspect", example, "--json").stdout
    assert len(json.loads(whole)["arms"]) == 2
    assert run("inspect", "-", "--json", given=text).stdout == whole
    assert run("inspect", "-", "--json", given="\ufeff" + as_json).stdout == whole


def test_inspect_in_a_pipe_is_plain_and_aligned(example):
    shown = spawn("inspect", example).stdout
    assert is_plain(shown)
    lines = shown.splitlines()
    head = next(line for line in lines if line.startswith("arm "))
    rows = [line for line in lines if line.startswith("channel ")]
    assert rows[0].startswith("channel 1 (best)")
    for row in rows[:2]:
        assert row[head.index("diameter") :].startswith("    10.0  yes")
    assert "earns at most 0.5000 per step, with channel 1;" in lines[-1]


def test_tables_have_rules_and_colour_on_a_terminal(example):
    shown = spawn("inspect", example, FORCE_COLOR="1", TERM="xterm", COLUMNS="120").stdout
    assert "\u2500" in shown
    assert "\x1b[1m" in shown


def test_names_are_not_taken_for_markup():
    bandit = restive.Bandit([restive.Arm([[1.0]], [0.5], name="[red]hot[/red] :smile:")])
    shown = run("inspect", "-", given=files.dump_problem(bandit)).stdout
    assert "[red]hot[/red] :smile:" in shown


def test_many_states_are_cut_short_on_the_screen_only():
    given = run("problem", "random", "--n-states", "40", "--n-arms", "1").stdout
    assert "and 28 more (see --json)" in run("inspect", "-", given=given).stdout
    facts = json.loads(run("inspect", "-", "--json", given=given).stdout)
    assert len(facts["arms"][0]["stationary"]) == 40


# Planning -----------------------------------------------------------------------------------------


def test_plan_of_example_1_as_json(example):
    facts = json.loads(spawn("plan", example, "--json").stdout)
    assert facts["gain_lower"] <= 0.7 <= facts["gain_upper"]
    assert facts["gain_upper"] - facts["gain_lower"] <= 1e-6
    assert facts["gain_lower"] <= facts["gain"] <= facts["gain_upper"]
    assert facts["best_arm"] == {"arm": 0, "name": "channel 1", "gain": pytest.approx(0.5)}
    assert facts["myopic"]["gain"] == pytest.approx(0.7, abs=1e-6)  # myopic is best here
    assert facts["converged"] is True
    assert facts["problem"] == "Example 1, epsilon = 0.1"
    assert facts["version"] == restive.__version__
    assert facts["tolerance"] == 1e-6
    assert len(facts["caps"]) == 2
    assert facts["states"] > 0
    assert facts["sweeps"] > 0
    assert facts["seconds"] >= 0


def test_plan_of_example_3_beats_the_myopic_policy():
    """rho* = 37/62 at epsilon = 0.2; the myopic policy is worse (Example 3)."""
    given = run("problem", "example-3", "--epsilon", "0.2").stdout
    facts = json.loads(run("plan", "-", "--json", "--tolerance", "1e-4", given=given).stdout)
    assert facts["gain_lower"] <= 37 / 62 <= facts["gain_upper"]
    assert facts["gain_upper"] - facts["gain_lower"] <= 1e-4
    assert facts["myopic"]["gain"] < facts["gain_lower"]


def test_a_myopic_value_too_large_to_compute_is_simulated(example, monkeypatch):
    def refuse(*_, **__):
        raise restive.TooLargeError("7 GB")

    monkeypatch.setattr("restive.planning.evaluation.evaluate", refuse)
    myopic = json.loads(run("plan", example, "--json").stdout)["myopic"]
    assert myopic["simulated"]
    assert myopic["gain_lower"] <= 0.7 <= myopic["gain_upper"]

    def give_up(*_, **__):
        raise OverflowError

    monkeypatch.setattr("restive.many.simulating.simulate_policy", give_up)
    assert json.loads(run("plan", example, "--json").stdout)["myopic"]["gain"] is None
    assert "not computed" in run("plan", example).stdout


def test_plan_speaks_plainly(example):
    shown = spawn("plan", example)
    assert is_plain(shown.stdout)
    assert "The best policy earns 0.7000 per step (certified between 0." in shown.stdout
    words = "40% more than always pulling the best arm, channel 1 (0.5000)."
    assert words in shown.stdout
    assert "\r" not in shown.stderr


def test_a_rough_plan_is_an_interval_that_no_policy_beats(example):
    """rho* = 0.7 of Example 1 is what the myopic policy earns, so no lower bound is less."""
    shown = run("plan", example, "--caps", "3").stdout
    assert "The best policy earns between 0.6999 and 1.0000 per step (certified), at least" in shown
    assert "at least 40% more than always pulling" in shown
    assert "115" not in shown
    assert "at least 69.9%" in shown
    facts = json.loads(run("plan", example, "--caps", "3", "--json").stdout)
    assert 0.7 - 2e-6 <= facts["gain_lower"] <= 0.7 <= facts["gain_upper"]
    assert facts["myopic"]["gain"] <= facts["gain"] <= facts["gain_upper"]


IN_STEP = "[[arms]]\ntransitions = [[0, 1], [1, 0]]\nrewards = [0, 1]\n" * 2


def test_gains_that_depend_on_the_start_are_told_apart():
    """Two arms that alternate: always 1 if they are out of step, else 1/2; each half the time."""
    shown = run("plan", "-", given=IN_STEP).stdout
    assert "the mean over the starts" in shown
    assert "earns 0.5000 in 50% of the starts and 1.0000 in 50% of the starts." in shown
    facts = json.loads(run("plan", "-", "--json", given=IN_STEP).stdout)
    assert facts["gain"] == pytest.approx(0.75)
    assert sorted(start["gain"] for start in facts["starts"]) == pytest.approx([0.5, 1])
    for start in facts["starts"]:
        assert start["probability"] == pytest.approx(0.5)
        assert start["gain_lower"] <= start["gain"] <= start["gain_upper"]
    together = IN_STEP.replace("[0, 1]\n", "[0, 1]\ninitial = 0\n")
    (only,) = json.loads(run("plan", "-", "--json", given=together).stdout)["starts"]
    assert (only["probability"], only["gain"]) == pytest.approx((1, 0.5))
    assert "mean over" not in run("plan", "-", given=together).stdout


def test_nothing_is_not_compared_with_nothing():
    given = IN_STEP.replace("rewards = [0, 1]", "rewards = [0, 0]")
    shown = run("plan", "-", given=given).stdout
    assert "as much as always pulling" in shown
    assert "%" not in shown.split("just seen")[0]


def test_the_best_is_not_shown_below_a_policy_that_is_as_good(example, monkeypatch):
    """Even where the middle of its interval is a digit lower."""
    high = restive.planning.evaluation.Value(0.70003, 0.69999, 0.70006, 80)
    monkeypatch.setattr("restive.planning.evaluation.evaluate", lambda *_, **__: high)
    facts = json.loads(run("plan", example, "--json", "--tolerance", "1e-4").stdout)
    assert facts["gain"] >= min(facts["myopic"]["gain"], facts["gain_upper"])
    shown = run("plan", example, "--tolerance", "1e-4").stdout
    assert shown.count("100.0%") == 2


def test_compiling_is_announced_once_and_not_where_the_cache_holds_the_kernel(tmp_path):
    """A process that compiles a kernel says so before; the next one reads it from the cache."""
    (tmp_path / "doubling.py").write_text(
        "from restive import _kernels\n@_kernels.njit()\ndef double(x):\n    return 2 * x\n"
    )
    script = (
        "import typer; from restive.cli.app import app\n"
        "@app.command()\ndef doubled():\n"
        "    from doubling import double\n    typer.echo(double(2)); typer.echo(double(2.5))\n"
        "app(['doubled'])"
    )
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    room = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": paths}

    def said():
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                              check=True, env=room)  # fmt: skip
        assert done.stdout.split() == ["4", "5.0"]
        return done.stderr

    assert said() == "restive: compiling kernels, once; later runs of this kind start at once.\n"
    assert said() == ""


def test_small_plans_compile_nothing(example):
    script = (
        "import sys; from restive.cli import app\n"
        f"try:\n    app(['plan', {str(example)!r}])\nexcept SystemExit:\n    pass\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_policy_of_example_1_pulls_what_is_likelier_to_be_free(example, tmp_path, suffix):
    """With P(free) = (1 +- 0.8^n) / 2 for an arm seen free or busy n steps ago."""
    target = tmp_path / f"policy.{suffix}"
    shown = run("plan", example, "--json", "--policy-out", target)
    facts = json.loads(shown.stdout)
    text = target.read_text(encoding="utf-8")
    rows = json.loads(text) if suffix == "json" else list(csv.DictReader(text.splitlines()))
    assert len(rows) == facts["states"] == 4 * sum(cap - 1 for cap in facts["caps"])
    assert len({tuple(row.items()) for row in rows}) == len(rows)
    for row in rows:
        ages = [int(row["age_1"]), int(row["age_2"])]
        assert ages[[1, 2].index(int(row["last_arm"][-1]))] == 1
        hope = [(1 if row[f"state_{j}"] == "free" else -1) * 0.8 ** ages[j - 1] for j in (1, 2)]
        gaps = [float(row["gap_1"]), float(row["gap_2"])]
        assert min(gaps) == pytest.approx(0, abs=1e-5)
        if abs(hope[0] - hope[1]) > 1e-3:
            best = 0 if hope[0] > hope[1] else 1
            assert row["action"] == f"channel {best + 1}"
            assert gaps[best] < gaps[1 - best]


def test_policies_of_many_arms_are_listed_by_their_commonest_situations(tmp_path):
    given = run("problem", "gilbert-elliott", "--n-arms", "4", "--p-bad-good", "0.4").stdout
    target = tmp_path / "policy.csv"
    words = ("plan", "-", "--tolerance", "0.1", "--policy-out", target)
    assert run(*words, given=given).exit_code == 0
    rows = list(csv.DictReader(target.read_text("utf-8").splitlines()))
    shares = [float(row["share"]) for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert {row["pull"] for row in rows} <= {f"channel {j}" for j in (1, 2, 3, 4)}


@pytest.mark.parametrize("words", [("plan", "--figure"), ("learn", "--horizon", "10", "--figure")])
def test_a_folder_that_takes_no_files_is_found_before_the_work(example, words, monkeypatch):
    """As /proc, where even root can make none."""
    for command in ("plan", "learn"):
        place = f"restive.cli.commands.{command}.read_problem"
        monkeypatch.setattr(place, lambda _: pytest.fail("went to work"))
    pytest.importorskip("matplotlib")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("restive.cli.output.NamedTemporaryFile", refuse)
    target = example.with_name("x.svg")
    refused = run(words[0], example, *words[1:], target)
    assert refused.exit_code == 2
    assert "--figure: cannot be written: Permission denied (found" in refused.stderr
    assert f"(found {target})" in refused.stderr


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_results_are_printed_before_a_file_that_fails(example, words, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device", "draft")

    monkeypatch.setattr("restive.base.writing.os.replace", fail)
    target = example.with_name("policy.csv")
    shown = run("plan", example, "--policy-out", target, *words)
    assert shown.exit_code == 2
    assert "0.7000" in shown.stdout or json.loads(shown.stdout)["gain"] == pytest.approx(0.7)
    assert f"{target}: No space left on device" in shown.stderr
    assert "Wrote" not in shown.stdout


def test_figure_is_written(example, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("restive.report")
    target = tmp_path / "policy.svg"
    shown = run("plan", example, "--figure", target)
    assert shown.exit_code == 0
    assert f"Wrote {target}." in shown.stdout
    assert "<svg" in target.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["example-1.toml", "policy.svg"]


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        ("--figure", "policy.gif", "unknown kind of file"),
        ("--policy-out", "policy.txt", "unknown kind of file"),
        ("--policy-out", "nowhere/policy.csv", "no such folder"),
        ("--figure", "folder.svg", "this is a folder"),
    ],
)
def test_targets_are_refused_before_any_work(option, name, words, tmp_path):
    (tmp_path / "folder.svg").mkdir()
    refused = run("plan", tmp_path / "missing.toml", option, tmp_path / name)
    assert refused.exit_code == 2
    assert words in refused.stderr
    assert option in refused.stderr


# Interrupts and words -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "stderr"),
    [
        ("KeyboardInterrupt()", 130, ""),
        ("MemoryError()", 2, "restive: out of memory\n"),
        ("restive.TooLargeError('7 GB')", 2, "restive: 7 GB\n"),
        ("PermissionError(13, 'Permission denied', 'x.toml')", 2, "x.toml: Permission denied"),
    ],
)
def test_errors_end_in_words_and_exit_codes(error, code, stderr):
    script = (
        "import sys, restive, restive.model.files; from restive.cli import main\n"
        f"def load(path):\n    raise {error}\n"
        "restive.model.files.load_problem = load; sys.argv[1:] = ['plan', 'x.toml']; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == code
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert stderr in done.stderr
    assert stderr or not done.stderr


@given(st.floats(0, 1), st.floats(0, 1))
def test_printed_intervals_hold_the_certified_ones(end, other_end):
    lower, upper = sorted([end, other_end])
    low, high = outward(lower, upper)
    assert Fraction(low) <= Fraction(lower)
    assert Fraction(high) >= Fraction(upper)
    slack = max(Fraction(1, 5) * Fraction(upper - lower), Fraction(2, 10**4))
    assert Fraction(high) - Fraction(low) <= Fraction(upper - lower) + slack


@pytest.mark.parametrize(
    ("gain", "single", "words"),
    [
        (0.7, 0.5, "40% more than"),
        (0.52, 0.5, "4.0% more than"),
        (0.5, 0.5, "as much as"),
        (0.0, 0.0, "as much as"),
        (0.1, 0.0, "instead of the nothing from"),
    ],
)
def test_comparison_with_the_best_arm(gain, single, words):
    assert screen._comparison(gain, single) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (999, "999 bytes"),
        (1500, "1.5 kB"),
        (23e6, "23 MB"),
        (4e18, "4,000 PB"),
        (10**400, "1e385 PB"),
    ],
)
def test_memory_in_words(count, words):
    assert size_text(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.001, "less than 0.01 s"),
        (90, "90 s"),
        (864_000, "10 days"),
        (31_556_952_000, "1,000 years"),
        (1e250, "3e+242 years"),
    ],
)
def test_durations_in_words(seconds, words):
    assert duration_text(seconds) == words


SLOW = """
[[arms]]
transitions = [[1, 1e-18], [1e-18, 1]]
rewards = [0, 1]
"""


def test_very_many_arms_are_described_by_a_few_and_in_json_by_all(tmp_path, monkeypatch):
    """The number of their information states has more digits than Python writes."""
    from restive.cli import facts

    arm = {"transitions": [[0.9, 0.1], [0.2, 0.8]], "rewards": [0, 1]}
    path = tmp_path / "many.json"
    path.write_text(json.dumps({"pulls": 1, "arms": [arm] * 20_000}))
    described = json.loads(run("inspect", str(path), "--json").stdout)
    assert (len(described["arms"]), described["n_arms"]) == (20_000, 20_000)
    assert (described["forecast"]["states"], described["forecast"]["bytes"]) == (None, None)
    looked = []
    describe = facts._of_arm
    monkeypatch.setattr(facts, "_of_arm", lambda *given: looked.append(given) or describe(*given))
    shown = run("inspect", str(path)).stdout
    assert "20,000 arms together have more information states" in " ".join(shown.split())
    assert "and 19,976 more" in shown
    assert len(looked) < 30


def test_chains_that_hardly_move_are_described_and_bounded():
    facts = json.loads(run("inspect", "-", "--json", given=SLOW + SLOW).stdout)
    assert facts["forecast"] is None
    assert facts["arms"][0]["mixing_time"] is None
    assert facts["arms"][0]["diameter"] == pytest.approx(1e18)
    shown = run("inspect", "-", given=SLOW + SLOW).stdout
    assert "> 4e15" in shown
    assert "out of reach" in shown
    forced = run("plan", "-", "--caps", "5", given=SLOW + SLOW)
    assert forced.exit_code == 0  # nothing is known of ages beyond 5
    bounded = json.loads(run("plan", "-", "--time", "2", "--json", given=SLOW + SLOW).stdout)
    assert 0.5 - 1e-9 <= bounded["gain_lower"] <= bounded["gain_upper"] <= 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--caps", "0"], "--caps"),
        (["--caps", "3,4,5"], "--caps"),
        (["--caps", "many"], "--caps"),
        (["--memory", "8X"], "--memory"),
        (["--memory", "-1"], "--memory"),
    ],
)
def test_limits_of_a_plan_are_checked(tmp_path, words, named):
    file = tmp_path / "one.toml"
    file.write_text(CliRunner().invoke(app, ["problem", "example-1"]).output, "utf-8")
    result = CliRunner().invoke(app, ["plan", str(file), *words])
    assert result.exit_code == 2
    assert named in result.stderr
    assert words[1] in result.stderr


def test_forced_caps_widen_the_interval_and_little_memory_is_refused(tmp_path):
    file = tmp_path / "one.toml"
    file.write_text(CliRunner().invoke(app, ["problem", "example-1"]).output, "utf-8")
    facts = json.loads(
        CliRunner().invoke(app, ["plan", str(file), "--json", "--caps", "4,9"]).stdout
    )
    assert facts["caps"] == [4, 9]
    assert not facts["converged"]
    assert facts["gain_lower"] <= 0.7 <= facts["gain_upper"]
    refused = CliRunner().invoke(app, ["plan", str(file), "--caps", "40", "--memory", "1K"])
    assert refused.exit_code == 2
    assert "1.0 kB" in refused.stderr


def test_a_plan_says_what_to_pull_when(tmp_path):
    """Example 3: the channel is tried again when it is 5 steps old, and kept while it is free."""
    file = tmp_path / "three.toml"
    file.write_text(CliRunner().invoke(app, ["problem", "example-3"]).output, "utf-8")
    text = CliRunner().invoke(app, ["plan", str(file)]).stdout
    assert "coin, channel once unseen for 5 steps" in text
    facts = json.loads(CliRunner().invoke(app, ["plan", str(file), "--json"]).stdout)
    kept = [situation for situation in facts["situations"] if situation["seen"] == "channel free"]
    assert [situation["pull"] for situation in kept] == ["channel"]
    assert sum(situation["share"] for situation in facts["situations"]) == pytest.approx(
        1, abs=0.02
    )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--figure", ["plan", "example-1", "--figure", "a.svg", "--figure=b.svg"]),
        ("--seed", ["learn", "example-1", "--seed", "1", "--seed", "2"]),
        ("--alpha", ["learn", "example-1", "--alpha", "1", "--alpha=2"]),
        ("--max_age", ["learn", "example-1", "--max-age", "1", "--max_age=2"]),
        ("--epsilon", ["problem", "example-1", "--epsilon", "0.1", "--epsilon=0.2"]),
        ("--n-arms", ["problem", "random", "--n_arms", "2", "--n-arms", "3"]),
        ("--format", ["problem", "example-1", "--format", "json", "--format", "toml"]),
        ("--out", ["compare", "example-1", "--out", "--out", "--out", "a"]),
    ],
)
def test_an_option_given_twice_is_refused_where_one_would_be_lost(option, words):
    result = run(*words)
    assert result.exit_code == 2
    assert f"{option}: given twice" in result.stderr


def test_what_looks_like_an_option_may_be_a_value_and_horizons_may_be_several(tmp_path):
    words = ["--horizon", "10", "--horizon", "20", "--runs", "2", "--learners", "best-arm"]
    result = run("compare", "example-1", "--out", tmp_path / "one", *words)
    assert result.exit_code == 0
    assert "given twice" not in run("plan", "--figure", "--figure").stderr
