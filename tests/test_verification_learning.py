"""The statistical suite of learning notices sets that are too small, and fits what it should."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest

from restive.learners.paper.inputs import Inputs
from restive.learners.paper.rules import Optimism
from restive.learners.tied.optimism import TiedOptimism
from restive.simulation import BanditWorld, play

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the suite is not installed with the package

from verification import Settings, audits, growth, learning  # noqa: E402

GOOD = learning.Audited(held=True, closest=0.3, margin=0.1, episodes=10, allowed=20.0)


def tail(above, runs, chance):
    """P(more than ``above`` failures), in exact arithmetic."""
    ways = (comb(runs, k) * chance**k * (1 - chance) ** (runs - k) for k in range(above + 1))
    return 1 - sum(ways)


def test_77_failures_are_the_most_that_chance_explains():
    chance = Fraction(1, 20)
    assert learning.most_failures(1000) == 77
    assert tail(77, 1000, chance) <= Fraction(1, 10_000) < tail(76, 1000, chance)


@pytest.mark.parametrize("run", [learning.run_published, learning.run_mdp, learning.run_tied])
def test_honest_sets_hold(run, monkeypatch):
    monkeypatch.setattr(learning, "STEPS", 400)
    single_run = run(3)
    assert single_run.held
    assert 0 < single_run.closest < 1
    assert single_run.margin > 0
    assert single_run.episodes > 3


class Narrow(Optimism):
    def radii(self, evidence):
        return tuple(0.05 * radius for radius in super().radii(evidence))


class NarrowTied(TiedOptimism):
    def sets(self, evidence, arm):
        honest = super().sets(evidence, arm)
        return replace(honest, radii=0.2 * honest.radii)


class WrongRewards(TiedOptimism):
    def sets(self, evidence, arm):
        honest = super().sets(evidence, arm)
        middle = honest.rewards.mean(axis=1, keepdims=True)
        return replace(honest, rewards=middle + 0.05 * (honest.rewards - middle))


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        (audits.AuditedPublished, Narrow),
        (audits.AuditedTied, NarrowTied),
        (audits.AuditedTied, WrongRewards),
    ],
)
def test_sets_that_are_too_small_are_noticed(kind, rule):
    bandit = learning.small_bandit(3)
    inputs = Inputs.of(bandit, 2000, 0.05)
    learner = kind(inputs, rule, bandit, 0.5)
    play(learner, BanditWorld(bandit, 3), 2000)
    assert not learner.audit.held


def test_the_audit_at_the_end_counts():
    bandit = learning.small_bandit(3)
    learner = audits.AuditedPublished(Inputs.of(bandit, 500, 0.05), Optimism, bandit, 0.5)
    play(learner, BanditWorld(bandit, 3), 500)
    assert learner.audit.held
    learner.counts.rewards[:] = 0
    learner.counts.visits[:] = 10**6
    learner.finish()
    assert not learner.audit.held


def test_small_structured_problems_are_what_they_should_be():
    for seed in range(5):
        world = learning.small_mdp(seed)
        assert 0 < world.epsilon <= 0.1 + 1e-12
        assert world.mdp.n_colors == 4
        after = world.mdp.successors
        assert all(len(set(row)) == 3 for row in after.reshape(-1, 3).tolist())
        assert (after[..., 0] == (np.arange(6)[:, None] + 1) % 6).all()


def test_findings_fail_when_they_should():
    many = [GOOD] * 100
    bad = [replace(GOOD, held=False)] * 20
    assert learning.held("x", many).verdict == "pass"
    assert learning.held("x", many[:80] + bad).verdict == "FAIL"
    assert learning.optimistic("x", many).verdict == "pass"
    assert learning.optimistic("x", [*many, replace(GOOD, margin=-1e-3)]).verdict == "FAIL"
    assert learning.few_episodes("x", many).verdict == "pass"
    assert learning.few_episodes("x", [*many, replace(GOOD, episodes=21)]).verdict == "FAIL"


def curves(exponent, horizon, noise=0.01):
    rng = np.random.default_rng(4)
    times = np.unique(np.geomspace(1, horizon, 200).round())
    return [(times, times ** rng.normal(exponent, noise)) for _ in range(8)]


@pytest.mark.parametrize(("exponent", "verdict"), [(0.7, "pass"), (1.05, "FAIL")])
def test_linear_regret_fails(exponent, verdict, monkeypatch):
    settings = Settings(quick=True)
    monkeypatch.setattr(growth, "spread", lambda run, seeds: curves(exponent, 10**6))
    assert {f.verdict for f in growth.check_slope(settings)} == {verdict}
    assert {f.verdict for f in growth.check_extensions(settings)} == {verdict}


@pytest.mark.parametrize(
    ("exponent", "height", "verdicts"),
    [(0.5, 0.1, ["pass"] * 2), (0.9, 0.1, ["FAIL", "pass"]), (0.5, 0.02, ["pass", "FAIL"])],
)
def test_the_growth_in_states_is_judged(exponent, height, verdicts, monkeypatch):
    sizes = np.array([4, 8, 16, 6])

    def spread(run, seeds):
        _, horizon, _ = run.args
        rng = np.random.default_rng(1)
        noise = rng.normal(1, 0.05, (len(seeds), 4))
        return noise * height * np.sqrt(4 * horizon) * (sizes / 4.0) ** exponent

    monkeypatch.setattr(growth, "spread", spread)
    outcomes = [f.verdict for f in growth.check_lower_bound(Settings(quick=True))]
    assert outcomes == verdicts * 2


def test_intervals_cover_the_truth_they_were_drawn_from():
    rng = np.random.default_rng(11)
    sizes = np.array([4, 8, 16, 32])
    inside, widths = 0, []
    for _ in range(200):
        lost = rng.gamma(9, sizes**0.5 / 9, (24, 4))
        _, low, high = growth.growth_exponent(sizes, lost)
        inside += low <= 0.5 <= high
        widths.append(high - low)
    assert inside >= 198  # each misses with probability 1e-4 or so
    assert np.mean(widths) < 0.6
    low, high = growth.interval([0.7, 0.72, 0.71, 0.69, 0.73])
    assert low < 0.71 < high


def test_slopes_are_read_off_between_two_times():
    times = np.geomspace(1, 1e6, 300)
    bent = np.where(times < 1e3, times, 1e3 * (times / 1e3) ** 0.5)
    assert growth.log_slope((times, bent), 1e4, 1e6) == pytest.approx(0.5)
    assert growth.log_slope((times, bent), 1, 900) == pytest.approx(1.0)


def test_the_pages_of_a_module_by_itself(monkeypatch, tmp_path, capsys):
    from verification import Finding
    from verification import __main__ as program

    pytest.importorskip("matplotlib")
    check = {"only": lambda settings: iter([Finding("one", "a claim", "1", "0, 2", "pass")])}
    monkeypatch.setattr(program, "MODULES", {"some": check})
    assert program.main(["some", "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["some.json", "some.md"]
    capsys.readouterr()
