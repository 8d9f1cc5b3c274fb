"""The verification suite: its own solver is right, it notices what is wrong, and it says so."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from restive.planning import plan
from restive.problems import build, example1

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the suite is not installed with the package

from verification import Finding, Settings, judge, many, many_runs, oracle, planning  # noqa: E402
from verification import __main__ as program  # noqa: E402

SMALL = Settings(quick=True)


@pytest.mark.parametrize(
    ("name", "gain"),
    [
        ("example-1", 0.7),
        ("example-2", 0.7),
        ("example-3", 0.6412169920),
        ("example-4", 0.7375),  # two periodic arms, periods 3 and 5
    ],
)
def test_the_other_solver_knows_the_examples(name, gain):
    low, high = oracle.best_gain(build(name))
    assert low - 1e-9 <= gain <= high + 1e-9
    assert high - low <= 2e-9


def test_simulated_chains_have_their_stationary_law():
    bandit = build("random", n_arms="2", n_states="3")
    every = oracle.simulate(bandit, lambda states, ages: np.ones(len(states), dtype=np.int64),
                            2000, 500, np.random.default_rng(1))[0]  # fmt: skip
    error = 4.5 * every.std() / np.sqrt(len(every))  # false alarms: 7e-6
    assert abs(every.mean() - bandit.arms[1].gain) <= error


def test_ages_and_states_are_what_was_seen():
    bandit = example1()
    _, states, ages = oracle.simulate(
        bandit, lambda states, ages: np.argmax(ages, axis=1), 3, 4, np.random.default_rng(0)
    )
    assert ages.tolist() == [[[2, 1]] * 3, [[2, 1]] * 3]  # arms take turns
    assert set(states.ravel()) <= {0, 1}


@pytest.mark.parametrize("seed", range(12))
def test_drawn_problems_have_one_gain(seed):
    """At most one periodic arm, so that the other solver's one number is the right one."""
    bandit = planning.random_bandit(seed)
    periods = [arm.period for arm in bandit.arms]
    assert sum(m > 1 for m in periods) <= 1
    assert (max(periods) > 1) == (seed % 4 == 0)


def test_a_worse_policy_fails(monkeypatch):
    honest = planning.simulate

    def lazy(bandit, act, runs, steps, rng):
        return honest(bandit, lambda states, ages: np.zeros(len(states), int), runs, steps, rng)

    best_plan = plan(example1())
    low, high = planning.simulated_interval(best_plan, 200, 500, 0)
    assert low <= 0.7 <= high
    monkeypatch.setattr(planning, "simulate", lazy)
    low, high = planning.simulated_interval(best_plan, 200, 500, 0)
    assert high < 0.7


def test_intervals_elsewhere_fail(monkeypatch):
    monkeypatch.setattr(Settings, "size", lambda self, full, quick: 4)
    assert {f.verdict for f in planning.check_intervals(SMALL)} == {"pass"}
    honest = planning.best_gain
    monkeypatch.setattr(planning, "best_gain", lambda b: tuple(x + 1e-5 for x in honest(b)))
    assert [f.verdict for f in planning.check_intervals(SMALL)][:2] == ["FAIL", "pass"]


def test_records_are_counted_and_missing_ones_skipped(monkeypatch, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("date,actual_precipitation\n" + "".join(f"d,{x}\n" for x in (0, 0, 0.1, 0, 0)))
    assert planning.rain(path).tolist() == [1, 1, 0, 1, 1]
    assert planning.fit(planning.rain(path), "x").transitions.tolist() == [
        [0, 1],
        [pytest.approx(1 / 3), pytest.approx(2 / 3)],
    ]
    monkeypatch.setattr(planning, "DATA", tmp_path / "nowhere")
    assert [f.verdict for f in planning.check_weather(SMALL)] == ["skipped"]


@pytest.mark.parametrize(("holds", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_tells(holds, code, monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")

    def check(settings):
        settings.draw("line", lambda axes: axes.plot([0, 1], [0, 1]))
        yield Finding("one", "a claim", "1.0", "0, 2", judge(holds))
        yield Finding("two", "another", "-", "-", "skipped")

    monkeypatch.setattr(program, "MODULES", {"some": {"only": check}})
    assert program.main(["only", "--out", str(tmp_path / "out")]) == code
    shown = capsys.readouterr().out
    assert ("FAIL    one" in shown) != holds
    assert f"2 findings, {code} failed" in shown
    assert json.loads((tmp_path / "out" / "results.json").read_text())[0]["measured"] == "1.0"
    assert "| one | a claim |" in (tmp_path / "out" / "results.md").read_text()
    assert "<svg" in (tmp_path / "out" / "line.svg").read_text()
    with pytest.raises(SystemExit) as refused:
        program.main(["onyl"])
    assert refused.value.code == 2
    assert "only" in capsys.readouterr().err


def test_problems_planned_before_are_read_and_not_planned_again(monkeypatch, tmp_path):
    file, planned = tmp_path / "many-runs.jsonl", []

    def row(family, seed, seconds):
        planned.append(seed)
        return {"family": family.name, "seed": seed, "upper": 1.0}

    monkeypatch.setattr(many_runs, "_row", row)
    first, other = many_runs.FAMILIES[:2]
    assert [r["seed"] for r in many_runs.rows_of(first, 2, file, 1.0)] == [0, 1]
    assert [r["seed"] for r in many_runs.rows_of(first, 4, file, 1.0)] == [0, 1, 2, 3]
    assert len(list(many_runs.rows_of(other, 1, file, 1.0))) == 1
    assert planned == [0, 1, 2, 3, 0]
    assert len(many_runs.read_rows(file)) == 5


def test_families_take_turns_so_that_a_part_is_a_fair_sample(monkeypatch, tmp_path):
    file = tmp_path / "many-runs.jsonl"
    monkeypatch.setattr(many_runs, "_row", lambda family, seed, _: {"family": family.name,
                                                                   "seed": seed})  # fmt: skip
    few, more = (replace(many_runs.FAMILIES[0], name=name, problems=n)
                 for name, n in (("few", 2), ("more", 6)))  # fmt: skip
    monkeypatch.setattr(many_runs, "FAMILIES", (few, more))
    many_runs.fill(file, None, -np.inf)  # the time is over
    assert many_runs.read_rows(file) == []
    many_runs.fill(file, None, np.inf)
    order = [(row["family"], row["seed"]) for row in many_runs.read_rows(file)]
    half = [("few", 0), *(("more", seed) for seed in range(3))]
    assert order == [*half, ("few", 1), *(("more", seed) for seed in range(3, 6))]
    many_runs.fill(file, None, np.inf)
    assert len(many_runs.read_rows(file)) == 8
    assert list(many_runs.rows_of(replace(more, name="new"), 1, file, 1.0, -np.inf)) == []


def test_a_plan_of_the_figures_ends_at_the_gap_that_is_enough():
    """A tenth of what the whole time gives is enough; a simulated end is not, where told so."""
    family = next(family for family in many_runs.FAMILIES if family.name == "valid-1")
    bandit = family.draw(3, np.random.default_rng(0))  # five arms
    wide, narrow, sure = (
        many_runs._planned(replace(family, stop=stop, certified=certified), bandit, 3.0)
        for stop, certified in ((0.5, False), (0.003, False), (0.003, True))
    )
    assert 0.003 < wide.upper / wide.lower - 1 <= 0.5
    assert narrow.upper / narrow.lower - 1 <= 0.003
    assert sure.upper / sure.certified_lower - 1 <= 0.003


def test_an_interval_beside_the_truth_fails(monkeypatch):
    row = {"seed": 0, "lower": 0.5, "certified_lower": 0.5, "upper": 0.6, "lower_kind": "certified"}
    family = next(family for family in many_runs.FAMILIES if family.exact)
    for exact, verdict in (((0.55, 0.56), "pass"), ((0.61, 0.62), "FAIL"), ((0.4, 0.41), "FAIL")):
        rows = [row | {"exact": exact}]
        monkeypatch.setattr(many, "rows_of", lambda *_, rows=rows: rows)
        (finding,) = many.check(family, Settings())
        assert finding.verdict == verdict


def test_a_policy_far_below_whittles_fails(monkeypatch):
    row = {"seed": 0, "lower": 0.5, "certified_lower": 0.4, "upper": 0.501, "gain": 0.5005,
           "proven": False, "seconds": 1.0, "load": 1.0, "myopic": [0.4, 0.39, 0.41]}  # fmt: skip
    family = next(family for family in many_runs.FAMILIES if family.rivals)
    for whittle, verdict in (([0.5, 0.499, 0.501], "pass"), ([0.51, 0.505, 0.515], "FAIL")):
        rows = [row | {"whittle": whittle}] * 10
        monkeypatch.setattr(many, "rows_of", lambda *_, rows=rows: rows)
        _, policies = many.check(family, Settings())
        assert policies.verdict == verdict
    monkeypatch.setattr(many, "rows_of", lambda *_: [row | {"whittle": [0.4, 0.39, 0.41]}])
    assert [finding.verdict for finding in many.check(family, Settings())] == ["skipped"] * 2
