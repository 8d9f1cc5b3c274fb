"""Facts about chains against exact rational arithmetic, high precision and brute force."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import gcd, log, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from restive.model import chains
from restive.model.double_double import EXACT_POWER_MAX_STATES
from strategies import transition_matrices

DIGITS = 60
TWO_STATE = [(0.1, 0.1), (0.3, 0.05), (0.9, 0.8), (1e-6, 2e-6), (1e-14, 3e-14), (0.5, 0.5)]


def two_state(a, b):
    return np.array([[1 - a, a], [b, 1 - b]])


def exact(matrix):
    """The chain a matrix stands for: entries as they are, diagonals what is left of the row.

    A diagonal of 0 stays 0, and the largest entry is what is left.
    """
    rows = [[Fraction(float(entry)) for entry in row] for row in matrix]
    for s, row in enumerate(rows):
        free = s if row[s] > 0 else row.index(max(row))
        row[free] = 1 - sum(row[:free]) - sum(row[free + 1 :])
    return rows


def solve(system, right):
    """Gauss-Jordan elimination over the rationals."""
    rows = [[*row, value] for row, value in zip(system, right, strict=True)]
    size = len(rows)
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(size):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def exact_stationary(matrix):
    p = exact(matrix)
    size = len(p)
    system = [[p[t][s] - (s == t) for t in range(size)] for s in range(size)]
    system[-1] = [Fraction(1)] * size
    return solve(system, [Fraction(0)] * (size - 1) + [Fraction(1)])


def exact_hitting_times(matrix):
    p = exact(matrix)
    size = len(p)
    times = [[Fraction(0)] * size for _ in range(size)]
    for target in range(size):
        rest = [s for s in range(size) if s != target]
        system = [[(s == t) - p[s][t] for t in rest] for s in rest]
        for s, time in zip(rest, solve(system, [Fraction(1)] * len(rest)), strict=True):
            times[s][target] = time
    return times


def precise(matrix, n):
    """P^n by repeated squaring with 60 decimal digits."""
    with localcontext() as context:
        context.prec = DIGITS
        square = [[Decimal(x.numerator) / Decimal(x.denominator) for x in r] for r in exact(matrix)]
        size = len(square)
        result = [[Decimal(int(i == j)) for j in range(size)] for i in range(size)]
        while n:
            if n & 1:
                result = product(result, square)
            square, n = product(square, square), n >> 1
        return result


def product(a, b):
    columns = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(row, col, strict=True)) for col in columns] for row in a]


def floats(rows):
    return np.array([[float(entry) for entry in row] for row in rows])


def reachable(matrix):
    """Pairs (s, s') such that some path of length >= 0 leads from s to s'."""
    reach = np.eye(len(matrix), dtype=bool)
    for _ in matrix:
        reach = reach | ((reach.astype(int) @ (np.asarray(matrix) > 0)) > 0)
    return reach


def brute_period(matrix):
    """Greatest common divisor of the lengths of the closed walks through state 0."""
    step = np.asarray(matrix) > 0
    walks, period = np.eye(len(step), dtype=bool), 0
    for n in range(1, 2 * len(step) ** 2 + 2):
        walks = (walks.astype(int) @ step) > 0
        if walks[0, 0]:
            period = gcd(period, n)
    return period


@given(transition_matrices())
def test_stationary_law_is_exact_entry_by_entry(matrix):
    truth = [float(x) for x in exact_stationary(matrix)]
    assert_allclose(chains.stationary(matrix), truth, rtol=1e-13)


def test_stationary_law_of_a_chain_that_hardly_ever_leaves_its_halves():
    tiny = 1e-14
    matrix = np.array(
        [
            [0.5, 0.5, 0.0, 0.0],
            [0.5, 0.5 - tiny, tiny, 0.0],
            [0.0, 3 * tiny, 0.5 - 3 * tiny, 0.5],
            [0.0, 0.0, 0.5, 0.5],
        ]
    )
    assert_allclose(chains.stationary(matrix), [3 / 8, 3 / 8, 1 / 8, 1 / 8], rtol=1e-13)


@given(transition_matrices())
def test_hitting_times_are_exact_entry_by_entry(matrix):
    truth = floats(exact_hitting_times(matrix))
    assert_allclose(chains.hitting_times(matrix), truth, rtol=1e-12)
    assert chains.diameter(matrix) == pytest.approx(truth.max(), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), TWO_STATE)
def test_diameter_of_two_states_is_the_longer_mean_wait(a, b):
    assert chains.diameter(two_state(a, b)) == pytest.approx(max(1 / a, 1 / b), rel=1e-14)


def test_diameter_of_a_cycle_is_its_length_less_one():
    assert chains.diameter(np.roll(np.eye(7), 1, axis=1)) == 6.0


@given(transition_matrices(max_states=7))
def test_period_and_cyclic_classes_against_closed_walks(matrix):
    period, label = chains.cyclic_classes(matrix)
    assert period == brute_period(matrix)
    assert label[0] == 0
    assert set(label) == set(range(period))
    for s, t in zip(*np.nonzero(matrix), strict=True):
        assert label[t] == (label[s] + 1) % period


@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.floats(0.1, 0.6))
def test_communicating_classes_against_reachability(size, seed, density):
    matrix = np.random.default_rng(seed).random((size, size)) < density
    np.fill_diagonal(matrix, True)
    reach = reachable(matrix)
    truth = []
    for s in range(size):
        mutual = [t for t in range(size) if reach[s, t] and reach[t, s]]
        closed = all(t in mutual for t in range(size) if reach[s, t])
        if mutual[0] == s:
            truth.append((mutual, closed))
    assert chains.communicating_classes(matrix / matrix.sum(axis=1, keepdims=True)) == truth


@settings(max_examples=60)
@given(transition_matrices(), st.integers(0, 200))
def test_power_against_sixty_digits(matrix, n):
    assert_allclose(chains.power(matrix, n), floats(precise(matrix, n)), rtol=1e-13, atol=1e-300)


@settings(max_examples=20)
@given(transition_matrices(kinds=("sparse", "near reducible", "periodic")))
def test_power_at_a_million_steps_against_sixty_digits(matrix):
    truth = floats(precise(matrix, 10**6))
    assert_allclose(chains.power(matrix, 10**6), truth, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize(("a", "b"), TWO_STATE)
@pytest.mark.parametrize("n", [1, 2, 3, 1000, 10**6])
def test_power_of_two_states_in_closed_form(a, b, n):
    """P^n(0, 1) = a (1 - (1 - a - b)^n) / (a + b)."""
    with localcontext() as context:
        context.prec = DIGITS
        total = Decimal(a) + Decimal(b)
        truth = float(Decimal(a) / total * (1 - (1 - total) ** n))
    assert chains.power(two_state(a, b), n)[0, 1] == pytest.approx(truth, rel=1e-14)


def test_power_zero_is_the_identity_and_negative_powers_are_refused():
    assert_array_equal(chains.power(two_state(0.1, 0.2), 0), np.eye(2))
    with pytest.raises(ValueError, match="-1"):
        chains.power(two_state(0.1, 0.2), -1)


@settings(max_examples=30)
@given(transition_matrices(max_states=4), st.integers(0, 70))
def test_table_of_powers_against_sixty_digits(matrix, n_max):
    table = chains.powers(matrix, n_max)
    assert table.shape == (n_max, len(matrix), len(matrix))
    for n in {1, 2, n_max // 2, n_max - 1, n_max} & set(range(1, n_max + 1)):
        assert_allclose(table[n - 1], floats(precise(matrix, n)), rtol=1e-13, atol=1e-300)


def test_power_of_many_states_stays_stochastic_and_correct():
    size = EXACT_POWER_MAX_STATES + 3
    rng = np.random.default_rng(7)
    symmetric = rng.random((size, size)) / (2 * size)
    matrix = (symmetric + symmetric.T) / 2
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=1))
    values, vectors = np.linalg.eigh(matrix)
    truth = (vectors * values**37) @ vectors.T
    assert_allclose(chains.power(matrix, 37), truth, atol=1e-13)


@settings(max_examples=60)
@given(transition_matrices(max_states=5), st.integers(0, 30))
def test_limit_rows_are_where_the_powers_go(matrix, age):
    """The Cesaro mean of m-step powers from ``age`` on, taken from exact stationary laws."""
    period, law = brute_period(matrix), [float(x) for x in exact_stationary(matrix)]
    steps = np.linalg.matrix_power(np.asarray(matrix) > 0, age + period * len(matrix) ** 2) > 0
    truth = np.where(steps, period * np.array(law), 0.0)
    assert_allclose(chains.limit_rows(matrix, age), truth, rtol=1e-12)


def exact_distance(matrix, age):
    limit = chains.limit_rows(matrix, age)
    with localcontext() as context:
        context.prec = DIGITS
        gaps = [
            sum(abs(x - Decimal(float(y))) for x, y in zip(row, target, strict=True))
            for row, target in zip(precise(matrix, age), limit, strict=True)
        ]
        return [float(gap) for gap in gaps]


@settings(max_examples=60)
@given(
    transition_matrices(max_states=4, kinds=("dense", "sparse", "periodic", "single")),
    st.sampled_from([1.0, 0.25, 1e-3, 1e-6]),
)
def test_mixing_time_is_the_first_age_that_is_close(matrix, epsilon):
    steps, age = chains.mixing_time(matrix, epsilon), 1
    while max(exact_distance(matrix, age)) > epsilon * (1 + 1e-9):
        age += 1
    assert steps >= age
    assert steps == 1 or max(exact_distance(matrix, steps - 1)) > epsilon * (1 - 1e-9)


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (0.3, 0.05), (0.9, 0.8), (1e-5, 2e-5)])
@pytest.mark.parametrize("epsilon", [0.25, 0.01, 1e-6])
def test_mixing_time_of_two_states_in_closed_form(a, b, epsilon):
    """d(t) = 2 max(mu) |lambda|^t with lambda = 1 - a - b."""
    law, factor = max(a, b) / (a + b), abs(1 - a - b)
    ages = np.log(epsilon / (2 * law)) / np.log(factor)
    assert chains.mixing_time(two_state(a, b), epsilon) == max(1, int(np.ceil(ages)))
    distance = chains.distance_to_limit(two_state(a, b), 5).max()
    assert distance == pytest.approx(2 * law * factor**5, rel=1e-10)


@pytest.mark.parametrize("epsilon", [0.25, 0.2, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_the_closed_form_of_two_states_never_disagrees_with_powers(epsilon, monkeypatch):
    """It leaves to powers what their rounding decides: equal ones, and ages next to a whole one."""
    rng = np.random.default_rng(11)
    rates = [
        *rng.random((40, 2)),
        *(10 ** rng.uniform(-6, 0, (40, 2))),
        *rng.integers(1, 11, (40, 2)) / 10,
    ]
    known = [(p, chains._two_state_mixing(p, epsilon)) for p in (two_state(a, b) for a, b in rates)]
    assert epsilon < 1e-9 or sum(age > 0 for _, age in known) > len(known) / 2
    monkeypatch.setattr(chains, "_two_state_mixing", lambda p, epsilon: 0)
    assert [p for p, age in known if age and age != chains.mixing_time(p, epsilon)] == []


def test_mixing_time_needs_a_positive_accuracy_and_a_chain_that_mixes():
    with pytest.raises(ValueError, match="0"):
        chains.mixing_time(two_state(0.1, 0.1), 0.0)
    with pytest.raises(ArithmeticError, match="too slowly"):
        chains.mixing_time(two_state(1e-18, 1e-18))


@given(transition_matrices(max_states=5), st.integers(1, 20))
def test_distance_to_limit_never_grows(matrix, age):
    now, later = (chains.distance_to_limit(matrix, n).max() for n in (age, age + 1))
    assert later <= now + 1e-14


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_birth_and_death_chains_are_reversible(size, seed):
    rng = np.random.default_rng(seed)
    matrix = np.diag(rng.uniform(0.05, 0.4, size - 1), 1) + np.diag(
        rng.uniform(0.05, 0.4, size - 1), -1
    )
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=1))
    assert chains.is_reversible(matrix)


@given(transition_matrices(max_states=3, kinds=("dense", "sparse", "periodic")))
def test_reversibility_of_three_states_by_kolmogorovs_cycle(matrix):
    """With three states a chain is reversible iff both ways round have the same probability."""
    p = exact(matrix)
    if len(p) == 2:
        assert chains.is_reversible(matrix)
        return
    one_way, back = p[0][1] * p[1][2] * p[2][0], p[0][2] * p[2][1] * p[1][0]
    close = abs(one_way - back) <= Fraction(1, 10**9) * max(one_way, back)
    far = abs(one_way - back) >= Fraction(1, 10**6) * max(one_way, back)
    symmetric = all((p[s][t] > 0) == (p[t][s] > 0) for s in range(3) for t in range(3))
    if not symmetric or (far and max(one_way, back) > 0):
        assert not chains.is_reversible(matrix)
    elif close:
        assert chains.is_reversible(matrix, tolerance=1e-8)


# --- periodic chains --------------------------------------------------------------------------


@pytest.mark.parametrize("slow", [0.3, 1e-3, 1e-6])
@pytest.mark.parametrize("first", [[0.1, 0.2, 0.7], [1 / 3, 1 / 3, 1 / 3], [0.15, 0.35, 0.5]])
def test_the_zeros_of_a_periodic_chain_stay_zeros(first, slow):
    """From 0 or 1 to one of 2, 3, 4 and back: P^n is 0 between classes at any n.

    Seen every other step the classes 0, 1 make a chain that leaves each with probability slow/2,
    so d(2t) = (1 - slow)^t there and one step later the same on 2, 3, 4.
    """
    half = np.array([[1 - slow / 2, slow / 2], [slow / 2, 1 - slow / 2]])
    p = np.zeros((5, 5))
    p[0, 2:] = p[1, 2:] = first
    p[0, 2], p[1, 2] = 0.0, first[0] + first[1]
    p[0, 3], p[1, 3] = first[0] + first[1], 0.0
    p[2, :2] = half[1]
    p[3, :2] = half[0]
    p[4, :2] = 0.5
    for n in (1, 2, 999, 10**7 + 1):
        across = chains.power(p, n)[:2, :2] if n % 2 else chains.power(p, n)[:2, 2:]
        assert (across == 0).all(), n
    assert chains.cyclic_classes(chains.power(p, 101))[0] == 2
    age = chains.mixing_time(p, 1e-3)
    assert chains.distance_to_limit(p, age).max() <= 1e-3
    assert chains.distance_to_limit(p, age - 1).max() > 1e-3


def test_a_slow_periodic_chain_mixes_as_its_two_step_chain_does():
    """Two states either side, joined one to one: d(2t) of P is d(t) of P^2 = the slow chain."""
    leave = np.array([0.3e-7, 0.7e-7])
    slow = np.array([[1 - leave[0], leave[0]], [leave[1], 1 - leave[1]]])
    p = np.block([[np.zeros((2, 2)), slow], [np.eye(2), np.zeros((2, 2))]])
    lam, share = 1 - leave.sum(), leave.max() / leave.sum()
    steps = log(1e-3 / (2 * share)) / log1p(-leave.sum())
    assert lam < 1
    assert chains.mixing_time(p, 1e-3) == pytest.approx(2 * steps, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_large_chains_are_those_of_squaring(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    sparse = rng.random((230, 230)) < 0.006
    classes = chains.communicating_classes(sparse)
    monkeypatch.setattr(chains, "SQUARED_UP_TO", 1000)
    assert classes == chains.communicating_classes(sparse)
    assert len(classes) > 1
