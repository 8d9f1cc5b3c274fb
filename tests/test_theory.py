"""The theorems, against hand calculations and brute force."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from restive import theory
from restive.model import chains

FAST = settings(max_examples=60, deadline=None)


def random_chain(rng: np.random.Generator, size: int, concentration: float = 0.5) -> np.ndarray:
    """A chain with all entries positive, often far from uniform."""
    return 0.98 * rng.dirichlet(np.full(size, concentration), size) + 0.02 / size


# ---- Theorem 4 ---------------------------------------------------------------------------------


def test_theorem_4_by_hand() -> None:
    d, b, c, t, delta, epsilon = 7.5, 3, 40, 10**7, 0.02, 0.003
    by_hand = 42 * 7.5 * math.sqrt(3 * 40 * 1e7 * math.log(5e8)) + 0.003 * 9.5 * 1e7
    assert theory.regret_bound(d, b, c, t, delta, epsilon) == pytest.approx(by_hand, rel=1e-12)
    terms = theory.regret_terms(d, b, c, t, delta, epsilon)
    log = math.log(8e7 / 0.02)
    assert terms.noise == pytest.approx(math.sqrt(0.625 * 1e7 * log))
    assert terms.failure == pytest.approx(math.sqrt(1e7))
    assert terms.martingale == pytest.approx(7.5 * math.sqrt(2.5 * 1e7 * log))
    assert terms.episodes == pytest.approx(7.5 * 40 * math.log2(2e6))
    assert terms.aggregation == pytest.approx(285000)
    root = math.sqrt(14 * 120 * 1e7 * math.log(2 * 120 * 1e7 / 0.02))
    assert terms.estimation == pytest.approx(7.242640687 * 7.5 * root)
    parts = [getattr(terms, name) for name in terms.__dataclass_fields__]
    assert terms.total == pytest.approx(sum(parts), rel=1e-14)


def test_the_simplification_holds_wherever_the_bound_is_not_trivial() -> None:
    grid = product([1, 1.7, 30, 1e6], [1, 2, 9], [1, 2, 50, 10**5], [0.5, 0.05, 1e-9], [0, 0.1])
    tried = 0
    for d, b, c, delta, epsilon in grid:
        for exponent in np.arange(0.5, 30, 0.25):
            t = int(10**exponent)
            if theory.regret_bound(d, b, c, t, delta, 0.0) <= t:
                tried += 1
                long = theory.regret_terms(d, b, c, t, delta, epsilon).total
                assert long <= theory.regret_bound(d, b, c, t, delta, epsilon)
    assert tried > 5000


def test_the_simplification_can_fail_where_the_bound_is_trivial() -> None:
    arguments = (1, 2, 10**5, 100, 0.05, 0.0)
    assert theory.regret_bound(*arguments) > 100
    assert theory.regret_terms(*arguments).total > theory.regret_bound(*arguments)


def test_terms_cover_the_radii_they_come_from() -> None:
    # Rewards and transitions, before they are merged into one term: sqrt(14 log(2CT/delta)) plus
    # D sqrt(56 B log(4CT/delta)), times (sqrt(2)+1) sqrt(CT).
    for b, d, c, t, delta in product([1, 2, 5], [1, 8], [1, 300], [10, 10**8], [0.3, 1e-4]):
        rewards = math.sqrt(14 * math.log(2 * c * t / delta))
        moves = d * math.sqrt(56 * b * math.log(4 * c * t / delta))
        direct = (rewards + moves) * (math.sqrt(2) + 1) * math.sqrt(c * t)
        assert theory.regret_terms(d, b, c, t, delta, 0.0).estimation >= direct * (1 - 1e-12)


@FAST
@given(
    st.floats(1, 1e6),
    st.integers(1, 20),
    st.integers(1, 1000),
    st.integers(1, 10**12),
    st.floats(1e-6, 0.5),
    st.floats(0, 0.5),
)
def test_bounds_grow_with_every_burden(
    d: float, b: int, c: int, t: int, delta: float, epsilon: float
) -> None:
    for bound in (theory.regret_bound, lambda *a: theory.regret_terms(*a).total):
        here = bound(d, b, c, t, delta, epsilon)
        assert bound(2 * d, b, c, t, delta, epsilon) > here
        assert bound(d, b + 1, c, t, delta, epsilon) > here
        assert bound(d, b, c, 2 * t, delta, epsilon) > here
        assert bound(d, b, c, t, delta / 2, epsilon) > here
        assert bound(d, b, c, t, delta, epsilon + 0.1) > here
        assert bound(d, b, 2 * c, t, delta, epsilon) > here


# ---- Lemma 1 -----------------------------------------------------------------------------------


def true_diameter(arms: list[np.ndarray], cap: int) -> float:
    """Diameter of the representation with ages capped, by value iteration for every target."""
    k = len(arms)
    rows = [[chains.power(p, n) for n in range(cap + 1)] for p in arms]

    def moves(x: tuple[tuple[int, int], ...], j: int) -> list[tuple[float, tuple]]:
        aged = [(s, min(n + 1, cap)) for s, n in x]
        law = rows[j][x[j][1]][x[j][0]]
        return [(q, (*aged[:j], (s, 1), *aged[j + 1 :])) for s, q in enumerate(law) if q > 0]

    start = tuple((0, min(k - j, cap)) for j in range(k))
    seen, frontier = {start}, [start]
    while frontier:
        reached = {y for x in frontier for j in range(k) for _, y in moves(x, j)} - seen
        seen |= reached
        frontier = list(reached)
    number = {x: i for i, x in enumerate(seen)}
    matrices = np.zeros((k, len(seen), len(seen)))
    for (x, i), j in product(number.items(), range(k)):
        for q, y in moves(x, j):
            matrices[j, i, number[y]] += q
    times = np.zeros((len(seen), len(seen)))  # column: target
    for _ in range(100_000):
        new = 1 + np.min(matrices @ times, axis=0)
        np.fill_diagonal(new, 0)
        if np.abs(new - times).max() < 1e-9:
            return float(new.max())
        times = new
    raise ArithmeticError("some state cannot be reached")


def test_lemma_1_by_hand() -> None:
    assert theory.diameter_bound([10.0, 10.0], 70) == 2 * 6 * 70 * 40 * 40
    assert theory.diameter_bound([3.0, 1.5, 2.0], 5) == 2 * 4 * 5 * 12 * 6 * 8
    assert theory.diameter_bound([3.0, 0.0], 5) == 2 * 4 * 5 * 12 * 2  # a single state: 2/mu = 2
    assert theory.diameter_bound([0.0, 0.0], 1) == 2 * 1 * 1 * 2 * 2
    # Five arms: one trial may need ages up to 3 beyond the cap, 5 + 8 - 1 steps in all.
    assert theory.diameter_bound([2.0] * 5, 5) == 3 * 12 * 8**5
    # Period 2 for both arms: ages up to M + 1, and one step to wait for the phase.
    assert theory.diameter_bound([2.0, 2.0], 5, [2, 2]) == 3 * 11 * 64


def test_lemma_1_bounds_the_true_diameter() -> None:
    rng = np.random.default_rng(2)
    symmetric = np.array([[0.7, 0.3], [0.3, 0.7]])
    assert true_diameter([np.full((2, 2), 0.5)], 1) == pytest.approx(2)
    cases = [[symmetric, symmetric], [np.full((2, 2), 0.5)] * 3]
    cases += [[random_chain(rng, 2, 2.0), random_chain(rng, n, 2.0)] for n in (1, 2, 3)]
    for arms in cases:
        cap = max(chains.mixing_time(p) for p in arms)
        bound = theory.diameter_bound([chains.diameter(p) for p in arms], cap)
        assert true_diameter(arms, cap) <= bound


# ---- Theorems 2 and 3 --------------------------------------------------------------------------


def test_theorem_2_by_hand() -> None:
    sizes, diameters, times = [2, 3], [10.0, 20.0], [7, 9]
    log = math.log(10**6 / 0.05)
    shape = 5 * 40 * 80 * math.log(20) * 1000
    first = theory.theorem_2(sizes, diameters, times, 10**6, 0.05, const=3)
    assert first == pytest.approx(3 * shape * 27 * log * log)
    second = theory.theorem_2_unknown_mixing(sizes, diameters, 10**6, 0.05)
    assert second == pytest.approx(shape * log**3 * math.sqrt(log))
    assert theory.theorem_2([1, 1], [0.0, 0.0], [1, 1], 100, 0.05) > 0


def test_theorem_2_with_constants_by_hand() -> None:
    bound = theory.bandit_regret_bound([2, 3], [10.0, 20.0], [7, 9], 10**6, 0.05)
    diameter = 2 * 7 * 90 * 40 * 80
    colors = 2 * 70 + 3 * 90
    log = math.log(10**6 / 0.05)
    by_hand = 42 * diameter * math.sqrt(3 * colors * 1e6 * log) + (diameter + 2) * 1000
    assert bound == pytest.approx(by_hand, rel=1e-12)
    known = theory.bandit_regret_bound([2, 3], [10.0, 20.0], [7, 9], 10**6, 0.05, true_diameter=50)
    by_hand = 42 * 50 * math.sqrt(3 * colors * 1e6 * log) + 52 * 1000
    assert known == pytest.approx(by_hand, rel=1e-12)


def test_theorem_2_has_a_constant() -> None:
    # The explicit bound over the shape must stay bounded as T, Tmix and D grow.
    ratios = []
    for t, time, d in product([10**4, 10**10, 10**30], [1, 100], [2.0, 1e4]):
        arguments = ([2, 2], [d, d], [time, time], t, 0.05)
        ratios.append(theory.bandit_regret_bound(*arguments) / theory.theorem_2(*arguments))
    assert min(ratios) > 10
    assert max(ratios) < 1000


def test_theorem_3_by_hand() -> None:
    assert theory.lower_bound(3, 4, 4800) == pytest.approx(math.sqrt(12 * 4800) / 20)
    assert theory.lower_bound(3, 4, 8) == pytest.approx(8 / 20)
    uneven = (2 * math.sqrt(5 * 33) + math.sqrt(5 * 34)) / 20
    assert theory.lower_bound(5, 3, 100) == pytest.approx(uneven)


@FAST
@given(st.integers(2, 20), st.integers(1, 30), st.integers(1, 10**7))
def test_theorem_3_stays_below_sqrt_st(n_arms: int, phases: int, horizon: int) -> None:
    bound = theory.lower_bound(n_arms, phases, horizon)
    assert 0 < bound <= min(math.sqrt(n_arms * phases * horizon), horizon) / 20 * (1 + 1e-12)


def test_ucrl2_is_one_color_a_pair() -> None:
    by_hand = 42 * 9 * 6 * math.sqrt(4 * 1e5 * math.log(1e5 / 0.1))
    assert theory.ucrl2_bound(6, 4, 9, 10**5, 0.1) == pytest.approx(by_hand)
    assert theory.ucrl2_original_bound(6, 4, 9, 10**5, 0.1) == pytest.approx(by_hand * 34 / 42)


def test_logarithmic_bound_is_where_the_two_inequalities_meet() -> None:
    d, b, c, gap, t, delta = 5.0, 2, 30, 0.1, 10**9, 0.05
    steps = np.geomspace(1, 1e18, 2_000_001)  # of bad episodes
    root = 42 * d * np.sqrt(b * c * steps * math.log(t / delta))
    largest = root[gap * steps / 2 <= root].max()
    bound = theory.logarithmic_bound(d, b, c, gap, t, delta)
    assert bound == pytest.approx(largest, rel=1e-4)
    assert theory.logarithmic_bound(d, b, c, gap, t, delta, [8, 5]) - bound == pytest.approx(
        4 * 8 + 4 * 5, abs=1e-3
    )
