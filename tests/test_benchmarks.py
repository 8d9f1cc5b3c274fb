"""The benchmarks: their own MDP is the right one, they run, and they notice a wrong gain."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import naive
from restive.model.bandit import Arm, Bandit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed with the package

from benchmarks import __main__ as program  # noqa: E402
from benchmarks import contenders, models, peers, replan, sparse  # noqa: E402
from benchmarks.measure import Goal, goal_table  # noqa: E402
from benchmarks.page import page  # noqa: E402

SMALL = Bandit(
    [
        Arm([[0.9, 0.1], [0.3, 0.7]], [0.0, 1.0]),
        Arm([[0.6, 0.4], [0.2, 0.8]], [0.1, 0.7]),
        Arm([[0.5, 0.5], [0.25, 0.75]], [0.2, 0.6]),
    ]
)


@pytest.mark.parametrize(("arms", "cap"), [(2, 5), (3, 4)])
def test_sparse_arrays_are_the_naive_mdp(arms, cap):
    bandit = Bandit(SMALL.arms[:arms])
    built = sparse.build(bandit, cap)
    twin = naive.dense_mdp(bandit, [cap] * arms)
    number = {state: x for x, state in enumerate(twin.states)}
    last, ages = sparse._information_states(arms, 2, cap)
    states = [
        tuple(zip(s, n, strict=True)) for s, n in zip(last.tolist(), ages.tolist(), strict=True)
    ]
    order = [number[state] for state in states if state in number]
    assert len(order) == len(twin.states) == built.n_states
    for j in range(arms):
        np.testing.assert_allclose(
            built.matrix(j).toarray(), twin.P[j][np.ix_(order, order)], atol=1e-14
        )
        np.testing.assert_allclose(built.rewards[j], twin.r[j][order], atol=1e-14)


@pytest.mark.parametrize("name", ["restive", "restive, plain sweeps", "scipy CSR"])
def test_contenders_find_the_naive_gain(name):
    case = contenders.Case("small", SMALL, 6)
    twin = naive.dense_mdp(SMALL, [6] * 3)
    truth = naive.gain_by_policy_iteration(twin.P, twin.r).gain[0]
    answer = contenders.CONTENDERS[name](case)
    assert answer.lower - 1e-9 <= truth <= answer.upper + 1e-9
    assert answer.upper - answer.lower <= contenders.SPAN


def test_a_wrong_gain_is_noticed():
    rows = [
        {"solver": "restive", "setup": 1.0, "solve": 1.0, "lower": 0.5, "upper": 0.5 + 1e-7},
        {"solver": "scipy CSR", "setup": 1.0, "solve": 3.0, "lower": 0.5, "upper": 0.5 + 1e-7},
        {"solver": "off", "setup": 1.0, "solve": 1.0, "lower": 0.50001, "upper": 0.50001},
        {"solver": "wide", "setup": 1.0, "solve": 1.0, "lower": 0.499, "upper": 0.501},
    ]
    assert [row["agrees"] for row in peers._compare(rows)] == [True, True, False, False]
    assert rows[1]["times_solve"] == 3.0
    assert rows[1]["times_total"] == 2.0


def test_goals_say_which_way_they_point():
    assert Goal("seconds", 1.0, 2.0).met
    assert not Goal("times", 1.0, 2.0, at_least=True).met
    assert "**no**" in goal_table([Goal("times", 1.0, 2.0, at_least=True).record()])[-1]


def test_samples_come_from_the_true_laws():
    """Counts of 1e6 pulls: every frequency within 6 standard deviations; seed fixed."""
    samples = models.Samples(SMALL, 6, 1_000_000, seed=1)
    assert samples.visits.sum() == samples.outcomes.sum() == 1_000_000
    assert (samples.outcomes.sum(axis=1) == samples.visits).all()
    assert abs(samples.visits[::6].sum() - 500_000) < 6 * 500  # half of the pulls at age 1
    start = 0
    for j, arm in enumerate(SMALL.arms):
        table = naive.rows(arm, 6)
        for s in range(2):
            for age in range(1, 7):
                n = samples.visits[start]
                p = table[age][s][1]
                away = abs(samples.outcomes[start, 1] - n * p)
                assert away < 6 * np.sqrt(n * p * (1 - p)), (j, s, age)
                start += 1


def test_a_quick_run_writes_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(replan, "CASES", [(2, 10, 1.0)])
    arguments = ["benchmarks", "--quick", "--write", "--target", str(tmp_path), "replan"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert program.main() == 0
    record = json.loads((tmp_path / "planning.json").read_text("utf-8"))
    assert [row["model"] for row in record["replan"]["rows"]] == [
        "published radii",
        "posterior draws",
    ]
    assert (tmp_path / "planning.md").read_text("utf-8") == page(record)


def test_a_failing_section_is_reported_and_the_earlier_ones_are_kept(tmp_path, monkeypatch):
    earlier = {
        "rows": [],
        "goals": [],
        "quick": True,
        "took": 1.0,
        "date": "",
        "machine": {"load": "0"},
    }
    (tmp_path / "planning.json").write_text(json.dumps({"extended": earlier}), "utf-8")

    def fail(quick):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(replan, "run", fail)
    arguments = ["benchmarks", "--quick", "--write", "--target", str(tmp_path), "replan"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert program.main() == 1
    text = (tmp_path / "planning.md").read_text("utf-8")
    assert "out of luck" in text
    assert "Extended beside plain" in text


def test_quick_numbers_stay_out_of_the_record(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--quick", "--write"])
    with pytest.raises(SystemExit):
        program.main()
