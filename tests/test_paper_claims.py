"""Verdicts on the paper can fail: a constant tampered with turns them, and oracles agree."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm, log
from pathlib import Path

import numpy as np
import pytest

from restive import theory
from restive.learners.paper.rules import Optimism
from restive.model.bandit import Arm, Bandit
from restive.paper import audits, criteria, problems, regret_runs
from restive.paper.catalogue import CLAIMS, chosen
from restive.paper.claim import Scale
from restive.paper.claims import (
    colored,
    diameters,
    examples,
    hard,
    index_policies,
    mixing,
    rates,
    remarks,
    steps,
    ucrl2,
)
from restive.planning.evaluation import evaluate
from restive.problems import example1, example3, example4

QUICK = Scale(quick=True)
ORDERS = cache(index_policies.all_orders)


def verdict(name, cells=2):
    """The verdict on a claim from the first few of its cells, or with a minus the last ones."""
    (claim,) = (entry for entry in CLAIMS if entry.name == name)
    every = list(claim.measurement.cells(QUICK))
    some = every[:cells] if cells > 0 else every[cells:]
    return claim.judge(QUICK, [claim.measurement.measure(cell) for cell in some]).verdict


def changed(monkeypatch, module, name, factor):
    """Multiply what a function of the theory returns."""
    honest = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *a, **k: factor * honest(*a, **k))


def shorter(monkeypatch, divisor):
    honest = theory.mixing_time_bound
    monkeypatch.setattr(theory, "mixing_time_bound", lambda e, t: max(1, honest(e, t) // divisor))


def said(monkeypatch, **values):
    monkeypatch.setattr(criteria, "EXAMPLES", replace(criteria.EXAMPLES, **values))


def narrow(monkeypatch, factor):
    honest = Optimism.radii
    monkeypatch.setattr(Optimism, "radii", lambda s, e: tuple(factor * r for r in honest(s, e)))


def luckier(center):
    """Example 4 with 0.9 in place of 7/8 after a lucky toss."""
    *others, right = example4(center).arms
    rewards = right.rewards.copy()
    rewards[3] = 0.9
    return Bandit([*others, Arm(right.transitions, rewards, initial=0)])


TAMPERED = {
    "example-1, the limit": ("example-1", 2, lambda m: said(m, limit=0.76)),
    "example-1, the channels": ("example-1", 2, lambda m: m.setattr(
        examples, "example1", lambda epsilon: example1(1.01 * epsilon))),
    "example-2, the single arm": ("example-2", 1, lambda m: said(m, single=0.51)),
    "example-3, the channel": ("example-3", 2, lambda m: m.setattr(
        examples, "example3", lambda epsilon: example3(epsilon + 0.001))),
    "example-4, the preference": ("example-4", 2, lambda m: said(m, preference=Fraction(1, 17))),
    "example-4, an arm": ("example-4", 2, lambda m: m.setattr(
        examples, "example4", luckier)),
    "theorem-1, an arm": ("theorem-1", 2, lambda m: m.setattr(
        index_policies, "R_PAYS", np.array([1, 0, 0, 0.6, 3 / 8, 3 / 4, 0]))),
    "theorem-1, the margin": ("theorem-1", 2, lambda m: said(m, margin=Fraction(1, 200))),
    "eq. (1)": ("equation-1", 1, lambda m: shorter(m, 3)),
    "caps": ("coloring", 1, lambda m: shorter(m, 2)),
    "caps of periodic arms": ("periodic-aggregation", 2, lambda m: shorter(m, 4)),
    "colors": ("colors", 5, lambda m: changed(m, theory, "n_colors", 2)),
    "theorem-4, 42": ("theorem-4", 2, lambda m: changed(m, theory, "regret_bound", 1e-6)),
    "radii": ("confidence-sets", 14, lambda m: narrow(m, 0.02)),
    "episodes": ("episodes", -2, lambda m: m.setattr(
        Optimism, "limits", lambda self, evidence: evidence.counts.visits + 1)),
    "lemma-1": ("lemma-1", -1, lambda m: changed(m, theory, "diameter_bound", 1e-5)),
    "reversible chains": ("reversible-lazy", 1, lambda m: changed(
        m, theory, "reversible_mixing_bound", 0.01)),
    "cover times": ("cover-time", 1, lambda m: changed(m, theory, "exploration_cost", 0.4)),
    "ucrl2, radii": ("ucrl2", 1, lambda m: narrow(m, 0.3)),
    "simplification": ("simplification", 99, lambda m: changed(m, theory, "regret_bound", 0.7)),
}  # fmt: skip
BOUNDS = theory.problem_bounds(example1(0.3), 10**5, criteria.DELTA)


@pytest.fixture(autouse=True)
def short_runs(monkeypatch):
    """Cells as they are, but for runs that need not be so long here."""
    honest = regret_runs.setting_curve
    monkeypatch.setattr(rates, "setting_curve", lambda name, T, seed: honest(name, 10**5, seed))
    monkeypatch.setattr(criteria, "SETS", replace(criteria.SETS, steps=500))
    regret = colored.measure_regret
    small = replace(colored.THEOREM_4, measure=lambda cell: regret((10**5, cell[1])))
    plain = replace(ucrl2.UCRL2, measure=lambda cell: ucrl2.measure_ucrl2((800, cell[1])))
    monkeypatch.setattr(problems, "BLOCK", 12)
    monkeypatch.setattr(index_policies, "all_orders", ORDERS)
    named = {"theorem-4": small, "ucrl2": plain}
    for claim in CLAIMS:
        if claim.name in named:
            monkeypatch.setitem(claim.__dict__, "measurement", named[claim.name])


@pytest.mark.parametrize("case", TAMPERED.values(), ids=TAMPERED.keys())
def test_a_constant_tampered_with_makes_a_verdict_fail(case, monkeypatch):
    name, cells, tamper = case
    assert verdict(name, cells) == "holds"
    tamper(monkeypatch)
    assert verdict(name, cells) == "fails"


@pytest.mark.parametrize(
    "name",
    ["aggregation", "reversible", "lemma-1-single-state", "theorem-1-counting", "appendix-norm",
     "appendix-values"],
)  # fmt: skip
def test_what_is_known_to_be_false_fails_with_a_counterexample(name):
    (claim,) = (entry for entry in CLAIMS if entry.name == name)
    some = list(claim.measurement.cells(QUICK))[-2:]
    finding = claim.judge(QUICK, [claim.measurement.measure(cell) for cell in some])
    assert (finding.verdict, claim.expected) == ("fails", "fails")
    assert finding.note.startswith("Counterexample")


def test_false_claims_are_found_false_and_not_assumed_so(monkeypatch):
    """With what makes them true they hold: chains that never swap sides, a coin of two states."""
    monkeypatch.setattr(criteria, "MIXING", replace(criteria.MIXING, flips=(0.4, 0.5)))
    assert verdict("reversible", 1) == "holds"
    slow = replace(criteria.MIXING, alternating=0.05)
    monkeypatch.setattr(criteria, "MIXING", slow)
    rows = np.array([[0.95, 0.05], [0.05, 0.95]])
    assert mixing.far_apart(rows, mixing.mixing_time_by_definition(rows, 0.01)) <= 0.01


# --- growth ----------------------------------------------------------------------------------


def curves(exponent, horizon=10**7):
    rng = np.random.default_rng(4)
    times = np.unique(np.geomspace(1, horizon, 200).round())
    return [(times, times ** rng.normal(exponent, 0.01)) for _ in range(8)]


@pytest.mark.parametrize(
    ("exponent", "expected"), [(0.5, "holds"), (0.75, "not decided"), (1.05, "fails")]
)
def test_rates_are_judged_by_their_interval(exponent, expected):
    assert rates.judge_rate("known", QUICK, curves(exponent)).verdict == expected


@pytest.mark.parametrize(
    ("exponent", "expected"), [(0.75, "holds"), (0.9, "not decided"), (1.05, "fails")]
)
def test_extensions_must_stay_away_from_linear_growth(exponent, expected):
    finding = rates.judge_telling("unknown states", 3.5, QUICK, curves(exponent))
    assert finding.verdict == expected
    assert "the myopic policy loses 0.0441 in every step" in finding.ran


def test_a_bound_above_the_horizon_decides_nothing(monkeypatch):
    lines = curves(0.5, 10**5)
    assert rates.judge_bound(QUICK, lines).verdict == "not decided"
    for limit, expected in ((1e4, "holds"), (10.0, "fails")):
        low = replace(BOUNDS, theorem_4=limit)
        monkeypatch.setattr(theory, "problem_bounds", lambda *a, low=low: low)
        assert rates.judge_bound(QUICK, lines).verdict == expected


def regrets(exponent, height):
    rng = np.random.default_rng(1)
    sizes = np.array([4, 8, 16, 6])
    mean = height * np.sqrt(4e4) * (sizes / 4) ** exponent
    noise = rng.normal(1, 0.05, (24, 4))
    return [(player, 10**4, list(row * mean)) for player in hard.PLAYERS for row in noise]


def test_theorem_3_is_judged_by_height_and_exponent(monkeypatch):
    assert hard.judge_floor(QUICK, regrets(0.5, 0.1)).verdict == "holds"
    assert hard.judge_floor(QUICK, regrets(0.5, 0.02)).verdict == "fails"
    assert hard.judge_states(QUICK, regrets(0.5, 0.1)).verdict == "holds"
    assert hard.judge_states(QUICK, regrets(0.9, 0.1)).verdict == "fails"
    monkeypatch.setattr(criteria, "LOWER", replace(criteria.LOWER, constant=1 / 10))
    assert hard.judge_floor(QUICK, regrets(0.5, 0.2)).verdict == "fails"


@pytest.mark.parametrize(("exponent", "expected"), [(0.0, "holds"), (0.2, "not decided"),
                                                    (0.6, "fails")])  # fmt: skip
def test_logarithmic_growth_is_told_from_roots(exponent, expected):
    rng = np.random.default_rng(3)
    times = np.array([1e5, 1e6, 1e7])
    lost = np.log(times) if exponent == 0 else times**exponent
    many = [list(lost * rng.normal(1, 1e-3, 3)) for _ in range(16)]
    assert ucrl2.judge_logarithm(QUICK, many).verdict == expected


def test_a_truth_outside_a_quarter_of_the_sets_fails():
    good = audits.Audited(held=True, closest=0.3, margin=0.1, episodes=10, allowed=20.0)
    bad = replace(good, held=False, margin=-0.1, episodes=21)
    assert colored.judge_sets(QUICK, [good] * 80).verdict == "holds"
    assert colored.judge_sets(QUICK, [good] * 60 + [bad] * 20).verdict == "fails"
    assert colored.judge_optimism(QUICK, [good, bad]).verdict == "fails"
    assert colored.judge_episodes(QUICK, [good, bad]).verdict == "fails"


def test_sets_are_held_against_the_printed_ones():
    good = audits.Audited(held=True, closest=0.3, margin=0.1, episodes=10, allowed=20.0)
    assert colored.judge_sets(QUICK, [good, replace(good, off=0.01)]).verdict == "fails"
    assert colored.judge_optimism(QUICK, [good, replace(good, width=1.1)]).verdict == "fails"
    assert colored.judge_episodes(QUICK, [good, replace(good, early=1)]).verdict == "fails"
    assert colored.judge_failing(QUICK, [good]).verdict == "holds"
    assert colored.judge_failing(QUICK, [replace(good, failing=60)]).verdict == "fails"


def test_plans_are_held_against_the_printed_sets():
    good = {"width": 0.9, "radius": 0.1, "horizon": 10**6}
    assert steps.judge_plans(QUICK, [good]).verdict == "holds"
    assert steps.judge_plans(QUICK, [good, {**good, "width": 1.1}]).verdict == "fails"
    assert steps.judge_plans(QUICK, [{**good, "radius": 1.5}]).verdict == "fails"


def test_sets_that_never_hold_the_truth_leave_optimism_open():
    never = audits.Audited(held=False, closest=9.0, margin=None, episodes=10, allowed=20.0)
    good = replace(never, held=True, margin=0.1)
    assert colored.judge_optimism(QUICK, [never] * 5).verdict == "not decided"
    assert colored.judge_optimism(QUICK, [good] * 3 + [never]).verdict == "not decided"
    assert colored.judge_optimism(QUICK, [good] * 9 + [never]).verdict == "holds"


# --- oracles ---------------------------------------------------------------------------------


def test_orders_of_indices_earn_what_their_policies_earn():
    """Gains over 15 steps against the exact evaluation of the policy as a function."""
    c_index, r_index = index_policies.all_orders()
    rng = np.random.default_rng(2)
    for row in rng.integers(len(c_index), size=12):
        for center in (True, False):
            gain = index_policies.gains(c_index[[row]], r_index[[row]], center)[0]
            truth = evaluate(example4(center), policy_of(c_index[row], r_index[row], center), 1e-9)
            assert gain == pytest.approx(truth.gain, abs=1e-9)


def policy_of(c_index, r_index, center):
    def policy(states, ages):
        phase = ([0, 1, 2, 3, 4, 3, 4][states[-1]] + ages[-1]) % 5
        known = phase if not (phase == 4 and ages[-1] == 1) else (5 if states[-1] == 3 else 6)
        worth = [0.0, r_index[known]]
        if center:
            worth.insert(1, c_index[(states[1] + ages[1]) % 3])
        return int(np.argmax(worth))

    return policy


def test_orders_tell_all_policies_apart_that_differ():
    """Every strict order of the eleven indices makes a policy that is among those tried."""
    tried = set(policies(*index_policies.all_orders()).tolist())
    rng = np.random.default_rng(5)
    drawn = np.array([rng.permutation(11) for _ in range(5000)]) + 0.0
    drawn -= drawn[:, 10:]
    numbers = policies(drawn[:, :3], drawn[:, 3:10])
    assert len(set(numbers.tolist())) > 1000
    assert set(numbers.tolist()) <= tried


def policies(c_index, r_index):
    """Each policy as a number: the arm pulled in each of the 21 situations, in base 3."""
    number = np.zeros(len(c_index), dtype=np.int64)
    for i, j in product(range(3), range(7)):
        worth = np.stack([np.zeros(len(c_index)), c_index[:, i], r_index[:, j]])
        number = 3 * number + worth.argmax(axis=0)
    return number


@pytest.mark.parametrize("size", [2, 3, 5])
def test_cover_times_of_uniform_jumps_are_the_coupon_collectors(size):
    rows = np.full((size, size), 1 / size)
    collector = sum(size / (size - k) for k in range(1, size))
    assert remarks.cover_time(rows) == pytest.approx(collector)


def test_cover_times_of_two_states_are_diameters():
    rows = np.array([[0.9, 0.1], [0.3, 0.7]])
    assert remarks.cover_time(rows) == pytest.approx(10)


@pytest.mark.parametrize("size", [1, 2, 10, 50])
def test_the_logarithm_of_a_least_common_multiple(size):
    assert remarks.log_lcm(size) == pytest.approx(log(lcm(*range(1, size + 1))), abs=1e-9)


def test_distances_of_rows_and_mixing_times_from_the_definition():
    rows = np.array([[0.2, 0.8], [0.8, 0.2]])  # eigenvalue -0.6
    assert mixing.far_apart(rows, 3) == pytest.approx(0.6**3 + 0.6**4)
    assert mixing.mixing_time_by_definition(rows, 0.01) == 10  # 0.6^9 = 0.0101


def test_told_learners_find_good_arms_and_cannot_find_hard_ones():
    rng = np.random.default_rng(6)
    assert regret_runs._thompson(np.full((3, 2), 0.5), 500, rng) == 0
    easy = regret_runs._thompson(np.array([[0.9, 0.1], [0.2, 0.8]]), 1000, rng)
    assert 0 < easy < 30  # pulling at random would lose 700
    for k, m in hard.FAMILY:
        lost = np.mean([regret_runs.informed_regret(1000, (k, m), seed) for seed in range(6)])
        assert 0.05 < lost / np.sqrt(k * m * 1000) < 0.25


def test_random_bandits_for_diameters_have_arms_of_two_states_or_more():
    for seed in range(12):
        bandit = diameters.draw_bandit(seed)
        assert min(bandit.n_states) >= 2
        assert bandit.n_arms == (3 if seed % 4 == 0 else 2)


# --- the catalogue ---------------------------------------------------------------------------


def test_every_claim_is_listed_once():
    from restive.paper.claims import algorithm, appendix, outlook

    modules = (algorithm, appendix, colored, diameters, examples, hard, index_policies, mixing,
               outlook, rates, remarks, steps, ucrl2)  # fmt: skip
    names = {claim.name for module in modules for claim in module.CLAIMS}
    listed = [claim.name for claim in CLAIMS]
    assert len(listed) == len(set(listed))
    assert set(listed) == names
    assert [claim.name for claim in chosen("theorem-2, primes")] == [
        "theorem-2-bound", "theorem-2-rate", "theorem-2-rate-slow", "theorem-2-telling",
        "theorem-2-run", "primes",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="Did you mean theorem-4"):
        chosen("theorem-44")


def test_every_claim_belongs_to_a_statement_of_the_paper():
    """The page's first table: statements, the claims about them, and what none covers."""
    page = (Path(__file__).resolve().parents[1] / "docs" / "paper.md").read_text("utf-8")
    table = page.partition("## Statements")[2].partition("## Claims")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:5] for line in table.splitlines() if line[:2] == "| "]
    verdicts = [
        re.findall(r"([\w-]+) \((holds|fails|not decided)", about) for _, _, about, _ in rows
    ]
    named = dict(pair for pairs in verdicts for pair in pairs)
    assert named == {claim.name: claim.expected for claim in CLAIMS}
    statements = list(zip(rows, verdicts, strict=True))[2:]
    assert len(statements) >= 36
    assert all(pairs or uncovered.strip() for (_, _, _, uncovered), pairs in statements)
