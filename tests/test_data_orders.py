"""Order tests: counts, the exact null law, sizes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from markov_traces import STICKY, THREE, arm_of, thinned, walk
from restive._kernels.shuffles import shuffle_path, shuffle_paths
from restive.data import orders
from restive.data.orders import find_windows, order_test
from restive.data.tables import CountTables, chance_of, clearest, likelihood_ratio, read_tables

PATH = [0, 1, 1, 0, 2, 0, 1, 2, 1]


def same_transitions(path):
    """All paths with the start and the transitions of ``path``, by trying every order."""
    counts = Counter(pairwise(path))
    return [p for p in sorted(set(permutations(path)))
            if p[0] == path[0] and Counter(pairwise(p)) == counts]  # fmt: skip


def test_shuffles_are_uniform_over_paths_with_the_same_transitions():
    valid, rng = same_transitions(PATH), np.random.default_rng(1)
    drawn = np.empty((20_000, len(PATH)), dtype=np.int64)
    shuffle_paths(np.array(PATH), 3, rng, drawn)
    counts = Counter(map(tuple, drawn.tolist()))
    assert set(counts) == set(valid)
    assert chisquare([counts[p] for p in valid]).pvalue > 1e-4


@pytest.mark.parametrize("path", [[0], [0, 0], [0, 1], [2, 0, 0, 0, 2]])
def test_shuffles_of_short_paths(path):
    out = np.empty(len(path), dtype=np.int64)
    shuffle_path(np.array(path), 3, np.random.default_rng(0), out)
    assert tuple(out.tolist()) in same_transitions(path)


def test_g_is_that_of_contingency_tables():
    counts = np.random.default_rng(2).integers(1, 30, (3, 2, 4))
    whole = [chi2_contingency(table, correction=False, lambda_="log-likelihood")
             for table in counts]  # fmt: skip
    tables = CountTables(counts)
    assert tables.g == pytest.approx(sum(test.statistic for test in whole))
    assert tables.degrees == sum(test.dof for test in whole)


def test_empty_cells_take_no_degrees_of_freedom():
    counts = np.array([[[5, 0, 3], [2, 0, 6], [0, 0, 0]], [[4, 0, 0], [7, 0, 0], [1, 0, 0]]])
    tables = CountTables(counts)
    assert tables.degrees == 1
    assert tables.g == pytest.approx(CountTables(counts[:1, :2][..., [0, 2]]).g)


def test_drawn_tables_keep_their_margins():
    tables = CountTables(np.array([[[5, 1, 3], [2, 2, 6]], [[9, 0, 2], [1, 0, 8]]]))
    drawn = list(tables.drawn(50, np.random.default_rng(0)))
    assert [table.shape for table in drawn] == [(50, 2, 3), (50, 2, 2)]
    for table, seen in zip(drawn, tables.live(), strict=True):
        assert (table.sum(axis=1) == seen.sum(axis=0)).all()
        assert (table.sum(axis=2) == seen.sum(axis=1)).all()
    draws = tables.draws(500, np.random.default_rng(0))
    assert draws.mean() == pytest.approx(tables.degrees, rel=0.35)


def log_likelihood(path, order, skip):
    """Largest log-likelihood of an order, by hand, for the steps from ``skip`` on."""
    seen = Counter(tuple(path[i - order : i + 1]) for i in range(skip, len(path)))
    before = Counter()
    for window, count in seen.items():
        before[window[:-1]] += count
    return sum(n * np.log(n / before[w[:-1]]) for w, n in seen.items())


@pytest.mark.parametrize(("order", "against"), [(1, 2), (1, 3), (2, 3)])
def test_g_is_the_gain_of_likelihood(order, against):
    path = walk(THREE, 200, np.random.default_rng(3)).tolist()
    reading = order_test(arm_of(path), order, against, np.random.default_rng(0), 50).reading
    gain = log_likelihood(path, against, against) - log_likelihood(path, order, against)
    assert reading.g == pytest.approx(2 * gain)
    assert reading.transitions == len(path) - against


def test_p_values_of_shuffles_are_those_of_all_paths(monkeypatch):
    monkeypatch.setattr(orders, "PIECE", 5)
    monkeypatch.setattr(orders, "STRATUM", 5)
    path = [0, 1, 0, 0, 1, 1, 0, 1, 0, 0]
    paths = same_transitions(path)
    values = np.array([2 * (log_likelihood(p, 2, 2) - log_likelihood(p, 1, 2)) for p in paths])
    own = values[paths.index(tuple(path))]
    exact = np.mean(values >= own - 1e-9)
    null = orders._shuffles(arm_of(path), 1, 2, np.random.default_rng(4), 4000)
    assert chance_of(own, null) == pytest.approx(exact, abs=4 * np.sqrt(exact / 4000))
    assert set(np.round(null, 6)) <= set(np.round(values, 6))


def test_windows_lie_at_equal_distances_in_one_piece():
    arm = arm_of([0, 1, 0, 1, 1, 0, 0], times=[0, 1, 2, 5, 8, 9, 10], pieces=[0, 0, 0, 0, 0, 1, 1])
    windows = find_windows(arm, 3)
    assert windows.states.tolist() == [[0, 1, 0], [0, 1, 1]]
    assert windows.gaps.tolist() == [1, 3]
    assert find_windows(arm_of([0, 1]), 3).states.shape == (0, 3)


MEMORY = np.array([[[0.95, 0.05], [0.1, 0.9]], [[0.9, 0.1], [0.6, 0.4]]])


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_a_memory_of_two_is_seen_and_measured(share):
    rng = np.random.default_rng(5)
    arm = arm_of(walk(MEMORY, 1500, rng))
    arm = thinned(arm, share, rng) if share < 1 else arm
    test = order_test(arm, 1, 2, rng)
    assert test.reading.p < 1e-4
    seen = clearest(test.reading.tables)
    assert seen.stratum == 1  # the second state one step ago
    assert abs(seen.difference) == pytest.approx(0.5, abs=0.15)
    more = order_test(arm, 2, 3, rng).reading
    assert more.p > 1e-4
    assert more.bits < 0.02 < test.reading.bits


def test_information_is_that_of_the_law():
    rng = np.random.default_rng(6)
    reading = order_test(arm_of(walk(MEMORY, 40_000, rng)), 1, 2, rng).reading
    counts = np.einsum("ab,abc->abc", pair_law(MEMORY), MEMORY)
    assert reading.bits == pytest.approx(conditional_information(counts), rel=0.08)


def pair_law(chain):
    """Stationary law of pairs, by many steps."""
    law = np.full((2, 2), 0.25)
    for _ in range(500):
        law = np.einsum("ab,abc->bc", law, chain)
    return law


def conditional_information(joint):
    """I(a; c | b) in bits, from p(a, b, c), cell by cell."""
    total = 0.0
    for (a, b, c), p in np.ndenumerate(joint):
        total += p * np.log2(p * joint[:, b].sum() / (joint[a, b].sum() * joint[:, b, c].sum()))
    return total


def test_too_little_says_so():
    rng = np.random.default_rng(7)
    few = order_test(arm_of(walk(STICKY, 20, rng)), 1, 2, rng)
    assert few.reading is None
    assert "3 looks at equal distances" in few.note
    still = order_test(arm_of(np.zeros(100), size=2), 1, 2, rng)
    assert still.reading is None
    many = order_test(arm_of(rng.integers(0, 26, 500), size=26), 1, 3, rng)
    assert many.reading is None
    assert "too many tuples" in many.note


def test_sparse_logs_use_tables_and_whole_ones_paths():
    rng = np.random.default_rng(8)
    arm = arm_of(walk(STICKY, 900, rng))
    assert "path" in order_test(arm, 1, 2, rng).reading.method
    sparse = order_test(thinned(arm, 0.5, rng), 1, 2, rng)
    assert "margins" in sparse.reading.method
    assert [gap for gap, _ in sparse.gaps] == sorted(gap for gap, _ in sparse.gaps)
    assert sum(count for _, count in sparse.gaps) == sparse.reading.transitions


def test_chances_far_out_go_on_falling():
    null = np.random.default_rng(9).chisquare(4, 999)
    assert chance_of(np.median(null), null) == pytest.approx(0.5, abs=0.01)
    assert 1e-9 < chance_of(40.0, null) < 1e-5  # chi-square: 4e-8
    assert chance_of(5.0, np.zeros(99)) == 0.01


def test_readings_shrink_chance_to_nothing():
    rng = np.random.default_rng(10)
    even = read_tables(CountTables(np.full((1, 2, 2), 50)), rng)
    assert (even.p, even.bits, even.shrinkage) == (1.0, 0.0, 0.0)
    apart = read_tables(CountTables(np.array([[[90, 10], [10, 90]]])), rng)
    assert apart.bits == pytest.approx(1 - 0.469, abs=0.01)  # 1 - H(0.1)
    assert apart.shrinkage > 0.95
    assert likelihood_ratio(np.zeros((1, 2, 2), dtype=np.int64)) == 0
