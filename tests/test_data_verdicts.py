"""Verdicts: what fails, what it could cost, and the words for it."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from markov_traces import STICKY, arm_of, thinned, walk
from restive import Arm, Bandit, ProblemError, plan, read_traces
from restive.data.markov import check_markov
from restive.data.memory import tuple_arm, tuple_counts, tuple_states
from restive.data.stakes import memory_stake, parts_stake
from restive.data.traces import Traces
from restive.data.verdict_words import summary
from restive.data.verdicts import Assumption, Verdicts, corrected

MEMORY = np.array([[[0.95, 0.05], [0.1, 0.9]], [[0.9, 0.1], [0.6, 0.4]]])
HALF = Arm([[1.0]], [0.5], name="half")


def fitted(trace):
    """The chain of all moves over one step."""
    size = len(trace.labels)
    counts = np.full((size, size), 1e-6)
    near = np.diff(trace.times) == 1
    np.add.at(counts, (trace.states[:-1][near], trace.states[1:][near]), 1)
    return Arm(counts / counts.sum(axis=1, keepdims=True), np.arange(size) / (size - 1),
               name=trace.name, states=trace.labels)  # fmt: skip


def test_holm_by_hand():
    findings = [Assumption("memory", False, p) for p in (0.01, 0.04, 0.03)]
    findings.append(Assumption("change", None))
    judged = corrected(findings, 0.05)
    assert [f.corrected for f in judged[:3]] == pytest.approx([0.03, 0.06, 0.06])
    assert [f.fails for f in judged] == [True, False, False, None]


def test_tuples_follow_the_law_of_their_order():
    trace = arm_of(walk(MEMORY, 20_000, np.random.default_rng(0)))
    arm = tuple_arm(trace, fitted(trace), 2)
    assert arm.states == ("a > a", "a > b", "b > a", "b > b")
    assert arm.rewards.tolist() == [0, 1, 0, 1]
    for k, (before, present) in enumerate(tuple_states(fitted(trace), 2)):
        for after in (0, 1):
            to = arm.states.index(f"{'ab'[present]} > {'ab'[after]}")
            assert arm.transitions[k, to] == pytest.approx(MEMORY[before, present, after], abs=0.03)
    assert arm.gain == pytest.approx(trace.states.mean(), abs=0.01)


def test_tuples_never_seen_follow_the_lower_order():
    trace = arm_of([0, 1, 0, 1, 1, 0, 1, 1, 0])
    simple = Arm([[0.5, 0.5], [0.4, 0.6]], [0, 1], states=["a", "b"])
    arm = tuple_arm(trace, simple, 2, mass=1.0)
    assert tuple_counts(trace, 2)[0, 0].sum() == 0
    assert arm.transitions[0].tolist() == [0.5, 0.5, 0, 0]
    seen = tuple_counts(trace, 2)[0, 1]
    expected = (seen + np.array([0.4, 0.6])) / (seen.sum() + 1)
    assert arm.transitions[1, 2:] == pytest.approx(expected)


def test_order_three_and_impossible_moves():
    cycle = arm_of(np.arange(300) % 3)
    simple = Arm([[0, 1, 0], [0, 0, 1], [1, 0, 0]], [0, 0.5, 1], states=["a", "b", "c"])
    arm = tuple_arm(cycle, simple, 3)
    assert arm.n_states == 3
    assert arm.period == 3


def test_tuples_that_cannot_be_fitted_are_refused():
    rng = np.random.default_rng(1)
    trace = arm_of(walk(STICKY, 400, rng))
    every_other = arm_of(trace.states[::2], times=trace.times[::2])
    with pytest.raises(ProblemError, match="3 steps in a row were never seen"):
        tuple_arm(every_other, fitted(trace), 2)
    with pytest.raises(ProblemError, match="1,024 tuples"):
        tuple_arm(trace, fitted(trace), 10)


def test_stake_of_a_hidden_cycle():
    """0, 0, 1, 1 for ever looks like a coin: with the pair one earns .725, without it .5."""
    trace, rest = arm_of(np.arange(4000) // 2 % 2), Arm([[1.0]], [0.45], name="rest")
    bandit = Bandit([fitted(trace), rest])
    stake = memory_stake(trace, bandit, 0, 2, 1.0)
    richer = Bandit([tuple_arm(trace, bandit.arms[0], 2, 0.5), rest])
    assert plan(richer).gain == pytest.approx(0.725, abs=0.002)
    assert stake.at_most
    assert stake.loss == pytest.approx(0.225, abs=0.003)
    assert stake.arms == ("arm", "rest")
    # rows that deserve nothing are left at the chain of order 1, and nothing is lost
    assert memory_stake(trace, bandit, 0, 2, 0.0).loss == pytest.approx(0.0, abs=0.002)


def test_stake_of_a_jump():
    """Bad in the first half and good in the second, beside an arm that pays 1/2 always."""
    rng = np.random.default_rng(2)
    bad, good = [[0.9, 0.1], [0.9, 0.1]], [[0.1, 0.9], [0.1, 0.9]]
    trace = arm_of(np.concatenate([walk(bad, 2000, rng), walk(good, 2000, rng)]))
    bandit = Bandit([fitted(trace), HALF])
    parts = (np.arange(len(trace.states) - 1) >= 2000).astype(int)
    stake = parts_stake(trace, bandit, 0, parts, 1.0)
    assert stake.loss + stake.gain == pytest.approx(0.5 * 0.5 + 0.5 * 0.9, abs=0.02)
    assert 0 < stake.loss < 0.3
    gappy = arm_of(trace.states[::3], times=trace.times[::3])
    thirds = parts_stake(gappy, bandit, 0, parts[2::3], 1.0)
    assert thirds.loss == pytest.approx(stake.loss, abs=0.05)


@pytest.fixture(scope="module")
def troubled():
    """Arms of which each breaks an assumption of its own, and one that breaks none."""
    rng = np.random.default_rng(3)
    steps, turned = 1500, [[0.5, 0.5], [0.1, 0.9]]
    plain = walk(STICKY, steps, rng)
    copy = np.where(rng.random(steps) < 0.5, plain, walk(STICKY, steps, rng))
    jump = np.concatenate([walk(STICKY, 900, rng), walk(turned, 600, rng)])
    arms = {"plain": walk(STICKY, steps, rng), "memory": walk(MEMORY, steps, rng), "jump": jump,
            "leader": plain, "copy": copy}  # fmt: skip
    traces = Traces(tuple(arm_of(states, name) for name, states in arms.items()))
    bandit = Bandit([fitted(arm) for arm in traces.arms])
    return traces, check_markov(traces, bandit)


def test_each_assumption_that_fails_is_named(troubled):
    _, verdicts = troubled
    assert verdicts["plain"].fails == ()
    assert verdicts["plain"].summary == "believable"
    assert verdicts["memory"].fails == ("memory",)
    assert verdicts["jump"].fails == ("change", "memory")
    assert "looks as if it had a memory" in verdicts["jump"]["memory"].sentence
    assert "dependence" in verdicts["copy"].fails
    assert verdicts["copy"]["dependence"].partner == "leader"
    assert verdicts["leader"].fails == ("dependence",)
    assert not verdicts.believable


def test_sentences_tell_size_cost_and_remedy(troubled):
    _, verdicts = troubled
    memory = verdicts["memory"]["memory"]
    assert memory.order == 2
    assert "the last 2 states matter" in memory.sentence
    assert '"b" follows in' in memory.sentence
    assert "bits a look" in memory.sentence
    assert "At stake" in memory.sentence
    assert abs(memory.difference) == pytest.approx(0.5, abs=0.12)
    jump = verdicts["jump"]["change"]
    assert jump.jump == pytest.approx(900, abs=100)
    assert jump.advice
    dependence = verdicts["leader"]["dependence"]
    assert "if the plan knew how they move together" in dependence.sentence
    assert "over the interval of the correlation" in dependence.sentence
    assert "less than the plan promises" in dependence.advice
    costly = replace(dependence, stake=replace(dependence.stake, loss=0.1))
    assert "Replay" in costly.advice
    fine = verdicts["plain"]["memory"]
    assert "would have shown" in fine.sentence
    assert fine.advice == ""


def test_verdicts_show_and_write_themselves(troubled):
    traces, verdicts = troubled
    text = repr(verdicts)
    assert "plain: believable" in text
    assert "<table>" in verdicts._repr_html_()
    facts = json.loads(json.dumps(verdicts.to_dict(), allow_nan=False))
    assert [arm["arm"] for arm in facts["arms"]] == [arm.name for arm in traces.arms]
    assert len(facts["arms"][0]["findings"]) == 4
    assert facts["believable"] is False


def test_the_same_data_give_the_same_verdicts(troubled):
    traces, _ = troubled
    small = Traces(traces.arms[:2])
    assert check_markov(small) == check_markov(small)
    assert check_markov(small)["memory"]["memory"].stake is None


def test_gappy_logs_are_judged_where_they_can_be():
    rng = np.random.default_rng(4)
    arms = tuple(thinned(arm_of(walk(STICKY, 3000, rng), name), 0.15, rng) for name in "xy")
    verdicts = check_markov(Traces(arms))
    assert verdicts["x"]["memory"].fails is None
    assert "memory cannot be judged" in verdicts["x"].summary
    assert verdicts["x"]["change"].fails is False


def test_almost_nothing_is_said_of_almost_nothing():
    empty = arm_of(np.zeros(0), size=2)
    still = arm_of(np.zeros(50), size=1)
    verdicts = check_markov(Traces((empty, still, arm_of([0, 1, 0]))))
    assert isinstance(verdicts, Verdicts)
    assert verdicts.tests == 0
    assert {verdict.summary for verdict in verdicts.arms} == {"too few looks to tell anything"}


@pytest.mark.parametrize("seen", [1.0, 0.2])
def test_a_cycle_that_leaves_nothing_to_chance_is_believable(seen):
    rng = np.random.default_rng(3)
    states = [t % 3 if rng.random() < seen else None for t in range(600)]
    verdicts = check_markov(read_traces({"clock": states}))
    assert verdicts["clock"].summary == "believable; dependence between arms cannot be judged"
    assert check_markov(read_traces({"clock": states[:40]})).arms[0].summary.startswith("too few")


def test_periods_by_name_and_refusals():
    rng = np.random.default_rng(5)
    wave = 0.5 + 0.45 * np.sin(2 * np.pi * np.arange(2000) / 24)
    arm = arm_of(rng.random(2000) < wave, "daily")
    hourly = Traces((arm,), tick=3600.0)
    verdict = check_markov(hourly, Bandit([fitted(arm), HALF]), period="day")["daily"]["period"]
    assert verdict.fails
    assert verdict.period == 24
    assert "of 24 steps" in verdict.sentence
    assert verdict.stake.loss > 0.05
    for period in ("fortnight", 1, -3.0):
        with pytest.raises(ProblemError, match="period"):
            check_markov(hourly, period=period)
    with pytest.raises(ProblemError, match="level"):
        check_markov(hourly, level=2)


def test_what_fails_at_the_same_cost_is_told_together():
    stake = SimpleNamespace(loss=0.001, gain=0.5, at_most=False)
    memory, change, period = (
        SimpleNamespace(kind=kind, fails=True, little=little, stake=stake)
        for kind, little in [("memory", True), ("change", False), ("period", True)]
    )
    assert summary([memory, change, period]) == (
        "has a longer memory, has a period (little at stake); "
        "changes over time (0.2% of the reward at stake)"
    )
