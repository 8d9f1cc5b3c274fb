"""Horizons, and the theorems for one bandit."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from restive import Arm, Bandit, theory

FAST = settings(max_examples=60, deadline=None)


# ---- horizons ----------------------------------------------------------------------------------


@FAST
@given(st.integers(1, 10**6))
def test_doubling_rounds_cover_the_horizon(horizon: int) -> None:
    rounds = theory.doubling_rounds(horizon, 0.1)
    assert sum(r.steps for r in rounds) == horizon
    assert [r.horizon for r in rounds] == [2**i for i in range(1, len(rounds) + 1)]
    assert [r.start for r in rounds] == [2**i - 1 for i in range(1, len(rounds) + 1)]
    assert [r.delta for r in rounds] == [0.1 / r.horizon for r in rounds]
    assert all(r.steps == r.horizon for r in rounds[:-1])


def test_doubling_bound_by_hand() -> None:
    bound = theory.doubling_bound(lambda t, delta: 0.5 * t + 1 / delta / t, 10, 0.5)
    assert bound == pytest.approx(2 + 4 + 4)  # 1 + 2 > 2, 2 + 2 = 4, and 4 steps of 8 are left
    bound = theory.doubling_bound(lambda t, delta: math.sqrt(t), 14, 0.5)
    assert bound == pytest.approx(math.sqrt(2) + 2 + math.sqrt(8))


@FAST
@given(st.floats(0.1, 30), st.floats(0.3, 0.9), st.floats(0, 0.6))
def test_first_meaningful_horizon_against_a_scan(factor: float, power: float, jump: float) -> None:
    def bound(t: int) -> float:  # jumps up right after every power of four, like the caps
        rounds = ((t - 1).bit_length() + 1) // 2
        return factor * t**power * (1 + jump * rounds)

    limit = 2**12
    bad = [t for t in range(1, limit + 1) if bound(t) >= t]
    expected = 1 if not bad else bad[-1] + 1
    first = theory.first_meaningful_horizon(bound, limit)
    assert first == (None if expected > limit else expected)


def test_first_meaningful_horizon_skips_a_dip_that_does_not_last() -> None:
    def bound(t: int) -> float:
        return 0.9 * 256 if t <= 256 else max(0.95 * 300, 300 - (t - 300) * 0.0)

    assert bound(256) < 256
    assert theory.first_meaningful_horizon(bound) == 301


# ---- one bandit --------------------------------------------------------------------------------

EXAMPLE = Bandit([Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])] * 2)


def test_bounds_of_example_1() -> None:
    b = theory.problem_bounds(EXAMPLE, 10**6, 0.05)
    assert b.caps == (70, 70)  # ceil(log2(1000)) = 10, Tmix = 7
    assert (b.n_colors, b.n_colors_exact, b.max_support) == (280, 2 * 2 * 31, 2)  # .8^31 < .001
    assert b.diameter == b.lemma_1 == pytest.approx(2 * 6 * 70 * 1600)
    log = math.log(10**6 / 0.05)
    by_hand = 42 * 1344000 * math.sqrt(560e6 * log) + 1344002 * 1000
    assert b.theorem_4 == pytest.approx(by_hand, rel=1e-9)
    assert b.theorem_3 == pytest.approx(math.sqrt(4e6) / 20)
    assert b.episodes == pytest.approx(280 * math.log2(8e6 / 280))
    assert b.transition_visits == math.ceil(112 * math.log(4 * 280e6 / 0.05) / 1.999**2)
    assert b.reward_visits == math.ceil(3.5 * math.log(2 * 280e6 / 0.05) / 0.999**2)
    assert b.vacuous
    assert b.regret == 10**6


@pytest.mark.parametrize("true_diameter", [None, 30.0])
def test_meaningful_horizons_are_where_the_bound_meets_t(true_diameter: float | None) -> None:
    b = theory.problem_bounds(EXAMPLE, 10**6, true_diameter=true_diameter)
    first = b.meaningful_horizon
    assert first is not None
    assert b.meaningful_horizon_terms is not None
    assert b.meaningful_horizon_terms <= first
    before = theory.problem_bounds(EXAMPLE, int(first * 0.999), true_diameter=true_diameter)
    after = theory.problem_bounds(EXAMPLE, int(first * 1.001), true_diameter=true_diameter)
    assert before.theorem_4 >= before.horizon
    assert after.theorem_4 < after.horizon
    assert not after.vacuous


def test_explanations_carry_the_numbers() -> None:
    text = " ".join(theory.problem_bounds(EXAMPLE, 10**6).explain())
    for piece in ("280 colors", "668 visits", "1.3e6", "vacuous", "4.8e21", "at least 100 "):
        assert piece in text
    text = " ".join(theory.problem_bounds(EXAMPLE, 10**12, true_diameter=30.0).explain())
    assert "given as 30" in text
    assert "if the diameter stayed as given" in text
    assert "below 1.7e11 with probability at least 0.95" in text


def test_the_table_in_the_documentation_is_what_the_code_says() -> None:
    page = (Path(__file__).parents[1] / "docs" / "theory" / "bounds.md").read_text("utf-8")
    lemma = theory.problem_bounds(EXAMPLE, 10**6, 0.05)
    known = theory.problem_bounds(EXAMPLE, 10**6, 0.05, true_diameter=152.0)
    for name in ("n_colors", "n_colors_exact", "reward_visits", "transition_visits"):
        assert f"| `{name}` | {getattr(lemma, name)} |" in page
    for name in ("diameter", "theorem_4", "meaningful_horizon", "meaningful_horizon_terms"):
        cells = " | ".join(f"{getattr(b, name):.3g}" for b in (lemma, known))
        assert f"| `{name}` | {cells} |" in page
    for name in lemma.terms.__dataclass_fields__:
        cells = " | ".join(f"{getattr(b.terms, name):.3g}" for b in (lemma, known))
        assert f"| `terms.{name}` | {cells} |" in page


@pytest.mark.parametrize("horizon", [1, 2, 3, 15, 16, 17])
def test_short_horizons_are_served_too(horizon: int) -> None:
    b = theory.problem_bounds(EXAMPLE, horizon)
    assert b.vacuous
    assert b.episodes == horizon
    assert b.explain()


def test_products_too_large_for_a_float_are_infinite() -> None:
    b = theory.problem_bounds(Bandit(EXAMPLE.arms * 150), 10**6)
    assert b.theorem_4 == math.inf
    assert b.meaningful_horizon is None
    assert "1e301" in " ".join(b.explain())


def test_periodic_and_single_state_arms() -> None:
    cycle = Arm(np.roll(np.eye(3), 1, axis=1), [0, 0.5, 1])
    b = theory.problem_bounds(Bandit([cycle, Arm([[1.0]], [0.4])]), 10**4)
    assert b.periods == (3, 1)
    assert b.caps == (7, 7)  # both mix at once; ceil(log2(100)) = 7
    assert b.n_colors == 3 * (6 + 3) + 7
    # D = 2, factors 8 and 2; a trial has 7 + (7 + 3 - 1) - 1 steps after waiting for up to 2.
    assert b.lemma_1 == pytest.approx(3 * 17 * 16)
    alone = theory.problem_bounds(Bandit([cycle]), 10**4)
    assert alone.theorem_3 == 0


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: theory.mixing_time_bound(0.0, 3), "epsilon"),
        (lambda: theory.mixing_time_bound(0.1, 0), "mixing_time"),
        (lambda: theory.color_caps([3], 0), "horizon"),
        (lambda: theory.color_caps([3], 2.5), "horizon"),
        (lambda: theory.color_caps([3], math.inf), "horizon"),
        (lambda: theory.n_colors([0], [3]), "n_states"),
        (lambda: theory.n_colors([2], [3], [0]), "periods"),
        (lambda: theory.reward_radius(1, 10, 5, 0.0, 0.1), "delta"),
        (lambda: theory.reward_radius(1, 0, 5, 0.1, 0.1), "t"),
        (lambda: theory.reward_visits(10, 5, 0.1, 1.0), "epsilon"),
        (lambda: theory.transition_visits(10, 5, 2, 0.1, 2.0), "epsilon"),
        (lambda: theory.transition_radius(1, 10, 5, 0, 0.1, 0.1), "max_support"),
        (lambda: theory.regret_bound(0.5, 2, 5, 10, 0.1, 0.0), "diameter"),
        (lambda: theory.regret_bound(math.nan, 2, 5, 10, 0.1, 0.0), "diameter"),
        (lambda: theory.regret_bound(2, 2, 0, 10, 0.1, 0.0), "n_colors"),
        (lambda: theory.regret_bound(2, 2, 5, 10, 0.1, -1.0), "epsilon"),
        (lambda: theory.diameter_bound([0.5], 3), "diameters"),
        (lambda: theory.diameter_bound([], 3), "diameters"),
        (lambda: theory.lower_bound(1, 2, 10), "n_arms"),
        (lambda: theory.lower_bound(2, 0, 10), "phases"),
        (lambda: theory.logarithmic_bound(2, 2, 5, 0.0, 10, 0.1), "gap"),
        (lambda: theory.problem_bounds(EXAMPLE, 100, 1.0), "delta"),
    ],
)
def test_bad_arguments_are_named(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: not allowed \(found .+\)\. .+\.$"):
        call()  # type: ignore[operator]
