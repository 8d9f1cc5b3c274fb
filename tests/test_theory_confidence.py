"""Mixing times, colors, radii, episodes: against fractions, scans, searches and the chains."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
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


def random_reversible(rng: np.random.Generator, size: int) -> np.ndarray:
    """A random walk on a weighted complete graph, its weights spread over orders of magnitude."""
    weights = 10.0 ** rng.uniform(-3, 1, (size, size))
    weights = weights + weights.T
    return weights / weights.sum(axis=1, keepdims=True)


# ---- eq. (1), caps and colors ------------------------------------------------------------------


@FAST
@given(st.floats(1e-12, 3.0), st.integers(1, 50))
def test_mixing_time_bound_is_the_exact_ceiling(epsilon: float, mixing_time: int) -> None:
    doublings = next(k for k in range(1, 60) if 2**k * Fraction(epsilon) >= 1)
    assert theory.mixing_time_bound(epsilon, mixing_time) == doublings * mixing_time


@pytest.mark.parametrize(("epsilon", "factor"), [(1.0, 1), (0.5, 1), (0.25, 2), (2.0**-10, 10)])
def test_mixing_time_bound_at_powers_of_two(epsilon: float, factor: int) -> None:
    assert theory.mixing_time_bound(epsilon, 7) == 7 * factor
    assert theory.mixing_time_bound(math.nextafter(epsilon, 0), 7) == 7 * (
        factor if epsilon == 1 else factor + 1
    )


@FAST
@given(st.integers(1, 2**70))
def test_caps_use_the_smallest_power_of_four(horizon: int) -> None:
    factor = next(k for k in range(1, 40) if 4**k >= horizon)
    assert theory.color_caps([1, 5], horizon) == (factor, 5 * factor)


def test_eq_1_holds_and_rows_of_one_color_are_close() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        p = random_chain(rng, int(rng.integers(2, 5)))
        epsilon = float(rng.uniform(0.003, 0.9))
        cap = theory.mixing_time_bound(epsilon, chains.mixing_time(p))
        assert chains.mixing_time(p, epsilon) <= cap
        later = [chains.power(p, cap + extra) for extra in (0, 1, 2, 7, 50)]
        assert max(np.abs(a - b).sum(axis=1).max() for a in later for b in later) <= epsilon


def test_colors_are_what_enumeration_finds() -> None:
    sizes, caps, periods = [2, 3, 1], [4, 2, 1], [1, 3, 1]
    colors = {
        (arm, state, age if age < cap else cap + (age - cap) % period)
        for arm, (size, cap, period) in enumerate(zip(sizes, caps, periods, strict=True))
        for state, age in product(range(size), range(1, 100))
    }
    assert theory.n_colors(sizes, caps, periods) == len(colors) == 8 + 12 + 1
    assert theory.n_colors(sizes, caps) == 2 * 4 + 3 * 2 + 1


# ---- eqs. (2) and (3) --------------------------------------------------------------------------


def test_radii_by_hand() -> None:
    reward = theory.reward_radius([0, 1, 4, 900], 50, 12, 0.1, 0.01)
    width = math.log(2 * 12 * 50 / 0.1)
    by_hand = [0.01 + math.sqrt(7 * width / 2 / n) for n in (1, 1, 4, 900)]
    np.testing.assert_allclose(reward, by_hand, rtol=1e-14)
    moves = theory.transition_radius(np.array([[0], [9]]), 50, 12, 3, 0.1, 0.01)
    width = math.log(4 * 12 * 50 / 0.1)
    by_hand = [[0.01 + math.sqrt(56 * 3 * width)], [0.01 + math.sqrt(56 * 3 * width) / 3]]
    np.testing.assert_allclose(moves, by_hand, rtol=1e-14)


@FAST
@given(
    st.integers(1, 10**6),
    st.integers(1, 500),
    st.integers(1, 10),
    st.floats(1e-6, 0.5),
    st.floats(0, 0.9),
)
def test_visits_are_the_smallest_that_say_something(
    t: int, colors: int, support: int, delta: float, epsilon: float
) -> None:
    n = theory.reward_visits(t, colors, delta, epsilon)
    pair = theory.reward_radius([n - 1, n], t, colors, delta, epsilon)
    assert pair[1] < 1 <= pair[0]
    n = theory.transition_visits(t, colors, support, delta, epsilon)
    pair = theory.transition_radius([n - 1, n], t, colors, support, delta, epsilon)
    assert pair[1] < 2 <= pair[0]


def test_visits_of_example_1() -> None:
    # eps = .1, T = 1e5: Tmix(1/sqrt(T)) = 26, so 104 colors in the paper's count.
    p = [[0.9, 0.1], [0.1, 0.9]]
    times = [chains.mixing_time(p, 1e5**-0.5)] * 2
    assert theory.n_colors([2, 2], times) == 104
    visits = theory.transition_visits(104 * 560, 104, 2, 0.05, 1e5**-0.5)
    assert visits == 562  # while the colors collect about 560 visits each
    assert theory.transition_visits(1e5, 104, 2, 0.05, 1e5**-0.5) == 577  # at the horizon


def test_radii_rise_with_time_and_fall_with_visits() -> None:
    visits = np.arange(1, 200)
    assert (np.diff(theory.reward_radius(visits, 10, 5, 0.1, 0.0)) < 0).all()
    early = theory.transition_radius(visits, 10, 5, 2, 0.1, 0.0)
    assert (theory.transition_radius(visits, 11, 5, 2, 0.1, 0.0) > early).all()


# ---- episodes ----------------------------------------------------------------------------------


def most_episodes(horizon: int, n_colors: int) -> int:
    """The largest number of episodes any sequence of colors can bring about: exhaustive search."""

    @cache
    def rest(steps: int, before: tuple[int, ...], now: tuple[int, ...]) -> int:
        if steps == 0:
            return 0
        best = 0
        for c in range(n_colors):
            ends = now[c] >= max(1, before[c])
            base = tuple(a + b for a, b in zip(before, now, strict=True)) if ends else before
            fresh = (0,) * n_colors if ends else now
            fresh = (*fresh[:c], fresh[c] + 1, *fresh[c + 1 :])
            best = max(best, ends + rest(steps - 1, base, fresh))
        return best

    return 1 + rest(horizon, (0,) * n_colors, (0,) * n_colors)


@pytest.mark.parametrize("n_colors", [1, 2, 3])
def test_no_sequence_of_colors_makes_more_episodes(n_colors: int) -> None:
    for horizon in range(1, 15 if n_colors < 3 else 12):
        bound = theory.episodes_bound(horizon, n_colors)
        assert most_episodes(horizon, n_colors) <= bound <= horizon


def test_episodes_by_hand() -> None:
    assert theory.episodes_bound(1024, 4) == 4 * 11
    assert theory.episodes_bound(3, 100) == 3


# ---- Remark 4 and Section 8 --------------------------------------------------------------------


def test_lazy_reversible_chains_mix_within_the_bound() -> None:
    rng = np.random.default_rng(3)
    for _ in range(150):
        p = random_reversible(rng, int(rng.integers(2, 7)))
        lazy = (p + np.eye(len(p))) / 2
        epsilon = float(rng.choice([0.25, 0.1, 0.02]))
        diameter = chains.diameter(lazy)
        bound = theory.reversible_mixing_bound(diameter, epsilon)
        assert chains.mixing_time(lazy, epsilon) <= bound
        assert bound == max(1, math.ceil((diameter / epsilon**2 - 1) / 2))


def test_reversible_chains_mix_within_the_two_step_bound() -> None:
    rng = np.random.default_rng(4)
    for _ in range(150):
        p = random_reversible(rng, int(rng.integers(2, 7)))
        if rng.random() < 0.5:
            flip = rng.uniform(0.8, 0.999)
            p = np.array([[1 - flip, flip], [flip, 1 - flip]])
        diameter = chains.diameter(p @ p)
        assert chains.mixing_time(p) <= theory.two_step_mixing_bound(diameter)


def test_remark_4_needs_laziness() -> None:
    p = np.array([[0.001, 0.999], [0.999, 0.001]])
    assert chains.is_reversible(p)
    assert chains.mixing_time(p) > 50 * theory.reversible_mixing_bound(chains.diameter(p))


def cover_time(p: np.ndarray, start: int) -> float:
    """Expected steps until all states have been seen, by first-step analysis over subsets."""
    everything = frozenset(range(len(p)))

    @cache
    def solve(seen: frozenset[int]) -> dict[int, float]:
        if seen == everything:
            return dict.fromkeys(seen, 0.0)
        here = sorted(seen)
        right = [1 + sum(p[s, u] * solve(seen | {u})[u] for u in everything - seen) for s in here]
        times = np.linalg.solve(np.eye(len(here)) - p[np.ix_(here, here)], right)
        return dict(zip(here, times, strict=True))

    return solve(frozenset([start]))[start]


def test_exploration_cost_bounds_the_cover_time() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        p = random_chain(rng, int(rng.integers(2, 6)))
        worst = max(cover_time(p, s) for s in range(len(p)))
        assert worst <= theory.exploration_cost([chains.diameter(p)], [len(p)])
    by_hand = 3 * math.log(6) + 5 * math.log(12)
    assert theory.exploration_cost([3.0, 5.0], [2, 4]) == pytest.approx(by_hand)
