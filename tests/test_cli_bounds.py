"""``restive bounds``: the theorems for one problem, in words, in tables and as JSON."""

from __future__ import annotations

import math
from functools import partial

import pytest

import restive
from command_line import no_terminal, run_command, told_by  # noqa: F401
from restive import problems, theory
from restive.cli import bounds_screen, numbers

EXAMPLE = problems.build("example-1")
ARM = restive.Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])
run = partial(run_command, "bounds", given=EXAMPLE)
facts_of = partial(told_by, "bounds", given=EXAMPLE)


def test_json_has_every_number_of_the_theory_twice():
    facts = facts_of("--horizon", "1e6", "--delta", "0.05")
    assert (facts["horizon"], facts["delta"], facts["version"]) == (
        10**6,
        0.05,
        restive.__version__,
    )
    assert facts["arms"] == ["channel 1", "channel 2"]
    true = facts["true_diameter"]
    assert true["lower"] <= 152.00008 <= true["upper"]
    assert (true["finite"], true["parts"], true["states"]) == (True, 1, 552)
    lemma = theory.problem_bounds(EXAMPLE, 10**6, 0.05)
    known = theory.problem_bounds(EXAMPLE, 10**6, 0.05, true_diameter=true["upper"])
    for numbers_shown, bounds in ((facts["lemma_1"], lemma), (true["bounds"], known)):
        for name in bounds.__dataclass_fields__:
            value = getattr(bounds, name)
            if name == "terms":
                for term in value.__dataclass_fields__:
                    assert numbers_shown["terms"][term] == getattr(value, term)
                assert numbers_shown["terms"]["total"] == value.total
            else:
                assert numbers_shown[name] == (list(value) if isinstance(value, tuple) else value)
        assert numbers_shown["vacuous"] is True
        assert numbers_shown["regret"] == 10**6
    assert facts["explanation"] == known.explain()


@pytest.mark.parametrize("text", ["1e6", "1_000_000", "1000000", "1.0e6", "+1E+6", "1000000.0"])
def test_horizons_may_be_written_in_many_ways(text):
    assert numbers.read_horizon(text) == 10**6
    assert facts_of("--horizon", text, "--no-true-diameter")["horizon"] == 10**6


def test_large_horizons_are_read_exactly():
    assert numbers.read_horizon("1e23") == 10**23
    assert facts_of("--horizon", "1e23", "--no-true-diameter")["lemma_1"]["vacuous"] is False
    facts = facts_of("--horizon", "1e300", "--no-true-diameter")
    assert facts["horizon"] == 10**300


@pytest.mark.parametrize(
    "text", ["0", "-1", "1.5", "abc", "nan", "inf", "", "1e301", "1e-3", "1e999999999", "1,000"]
)
def test_horizons_that_are_none(text):
    refused = run(f"--horizon={text}")
    assert refused.exit_code == 2
    assert refused.stdout == ""
    start = f"restive: --horizon: not a number of steps{f' (found {text})' if text else ''}. Give"
    assert refused.stderr.startswith(start)
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("text", ["0", "1", "-0.1", "2", "abc", "nan", "inf", "1e-999", "5%"])
def test_deltas_that_are_none(text):
    refused = run(f"--delta={text}")
    assert refused.exit_code == 2
    assert f"--delta: not a probability (found {text}). Give a probability" in refused.stderr


def test_words_and_a_table_in_a_pipe():
    shown = run().stdout
    assert shown.isascii()
    lines = shown.splitlines()
    assert lines[0] == "Example 1, epsilon = 0.1: what the theorems promise at T = 1,000,000"
    head = next(line for line in lines if "with Lemma 1" in line)
    row = next(line for line in lines if line.startswith("diameter of the decision problem"))
    edge = head.index("with Lemma 1") + len("with Lemma 1")
    assert row[:edge].endswith(" 1.34e+06")
    assert row.endswith(" 152.0")
    assert len(row) == len(head)
    assert any(
        line.startswith("The true diameter is 152.0 (certain to within 0.000") for line in lines
    )
    assert "vacuous" in shown
    assert shown.rstrip().endswith(theory.problem_bounds(EXAMPLE, 10**6).explain()[-1])


def test_rules_and_colour_on_a_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    shown = run("--no-true-diameter").stdout
    assert "\u2500" in shown
    assert "\x1b[1m" in shown


def test_the_true_diameter_can_be_left_out_and_is_where_it_takes_long():
    assert "with the true diameter" not in run("--no-true-diameter").stdout
    assert facts_of("--no-true-diameter")["true_diameter"] is None
    large = restive.Bandit([ARM] * 4)
    facts = facts_of(given=large)
    assert facts["true_diameter"] is None
    assert math.isfinite(facts["lemma_1"]["theorem_4"])


def test_a_true_diameter_that_takes_too_long_is_refused_with_the_size():
    refused = run("--true-diameter", given=restive.Bandit([ARM] * 4))
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert "states" in refused.stderr
    assert "10,000" in refused.stderr


def test_several_pulls_are_refused_since_the_theorems_are_about_one():
    refused = run(given=restive.Bandit(EXAMPLE.arms, pulls=2))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "only for one pull a step (found 2). Set pulls to 1, or ask" in refused.stderr


def test_arms_in_step_have_an_infinite_diameter():
    cycle = restive.Arm([[0, 1], [1, 0]], [0, 1])
    given = restive.Bandit([cycle, cycle])
    true = facts_of("--horizon", "100", given=given)["true_diameter"]
    assert (true["lower"], true["upper"], true["finite"], true["parts"]) == (None, None, False, 2)
    assert 1 < true["within_lower"] <= true["within_upper"] < 100
    assert true["bounds"]["diameter"] == true["within_upper"]
    assert "share a divisor" in run("--horizon", "100", given=given).stdout


def test_numbers_beyond_floats_are_null_and_told_in_words():
    given = restive.Bandit([ARM] * 300)
    facts = facts_of(given=given)["lemma_1"]
    assert facts["theorem_4"] is None
    assert facts["terms"]["total"] is None
    assert facts["meaningful_horizon"] is None
    assert "beyond 1e300" in run(given=given).stdout


def test_problems_with_one_state_or_one_step():
    single = restive.Bandit([restive.Arm([[1.0]], [0.5])])
    facts = facts_of("--horizon", "1", given=single)
    assert facts["true_diameter"]["upper"] == 0
    assert facts["true_diameter"]["bounds"]["diameter"] == 1  # the theorems ask for 1 at least
    shown = run("--horizon", "1", given=single)
    assert shown.exit_code == 0
    assert (
        "The true diameter is 0.0 (certain to within 0; 1 states), which the theorems count as 1."
        in (shown.stdout)
    )


def test_malformed_problems_and_slow_chains_end_in_2():
    assert run(given="arms = 3").exit_code == 2
    slow = "[[arms]]\ntransitions = [[1, 1e-18], [1e-18, 1]]\nrewards = [0, 1]\n"
    refused = run(given=slow)
    assert refused.exit_code == 2
    assert "too slowly" in refused.stderr


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "beyond 1e300"),
        (152.00008, "152.0"),
        (5, "5"),
        (4145.24, "4,145.2"),
        (1.344e6, "1.34e+06"),
    ],
)
def test_numbers_stay_short(value, words):
    assert bounds_screen._large(value) == words
