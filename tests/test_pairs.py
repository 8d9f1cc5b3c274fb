"""Bounds by pairs with conditional budgets: kernels, proofs, and the numbers they propose."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import naive_pairs
from restive.base.errors import ProblemError, TooLargeError
from restive.many.lagrangian import lagrangian_bound
from restive.many.pair_budgets import Budgets, constant_budgets, payoffs, read_at
from restive.many.pair_certificate import at_price, certify
from restive.many.pair_descent import Descent
from restive.many.pair_program import best_budgets
from restive.many.pair_tables import Family, family_of, family_states, side_of
from restive.many.pairs import pair_bound, pair_improvements
from restive.model.bandit import Arm, Bandit
from restive.planning import plan

NEVER = float("inf")


def random_arm(rng, size=2, slowest=0.5):
    """An arm that forgets fast, so that exact plans are quick."""
    rows = rng.dirichlet(np.ones(size), size=size)
    mixed = slowest * rows + (1 - slowest) * rng.dirichlet(np.ones(size))
    return Arm(mixed / mixed.sum(axis=1, keepdims=True), rng.uniform(size=size))


def zeros(family):
    sizes = [len(side.after) for side in family.sides]
    return {(c, d): np.zeros((sizes[c], sizes[d])) for c, d in family.kinds}


def random_budgets(family, rng, scale=1.0):
    shape = constant_budgets(family, 0.0)
    return shape.like(scale * rng.normal(size=len(shape.flat())))


FAMILIES = {
    "one pull": ([2, 3], [2, 1], 1),
    "two pulls": ([2, 3], [2, 2], 2),
    "no rest": ([2, 2], [1, 1], 1),
    "all but one": ([2, 2], [2, 1], 2),
}


def small_family(name):
    rng = np.random.default_rng(5)
    sizes, counts, pulls = FAMILIES[name]
    sides = tuple(
        side_of(random_arm(rng, size), cap) for size, cap in zip(sizes, (3, 2), strict=True)
    )
    return Family(sides, tuple(counts), pulls), rng


@pytest.mark.parametrize("name", FAMILIES)
def test_sweep_equals_its_slow_twin(name):
    from restive._kernels import pairs

    family, rng = small_family(name)
    paid = payoffs(family, random_budgets(family, rng))
    for kind in family.kinds:
        first, second = (family.sides[c] for c in kind)
        h = rng.normal(size=(len(first.after), len(second.after)))
        target = np.empty_like(h)
        bounds = pairs.sweep(h, target, first, second, *paid.of(*kind), family.rest, family.both,
                             1.0, 0.5, 1)  # fmt: skip
        best = naive_pairs.action_values(family, paid, kind, h, True).max(axis=2)
        there = [(best - h)[x, y] for x, y in np.ndindex(*h.shape)
                 if naive_pairs.occurs(family, kind, x, y)]  # fmt: skip
        np.testing.assert_allclose(bounds, [min(there), max(there)], atol=1e-12)
        middle = 0.25 * (min(there) + max(there))
        np.testing.assert_allclose(target, h + 0.5 * (best - h) - middle, atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_soft_sweep_flow_and_shares_equal_their_slow_twins(name):
    from restive._kernels import pairs

    family, rng = small_family(name)
    paid = payoffs(family, random_budgets(family, rng))
    for kind in family.kinds:
        first, second = (family.sides[c] for c in kind)
        h = rng.normal(size=(len(first.after), len(second.after)))
        target, policy = np.empty_like(h), np.empty((*h.shape, 4))
        pairs.soft_sweep(h, target, policy, first, second, *paid.of(*kind), family.rest,
                         family.both, 0.3, 1.0, 1)  # fmt: skip
        q = naive_pairs.action_values(family, paid, kind, h, False)
        soft = 0.3 * np.log(np.exp(q / 0.3).sum(axis=2))
        np.testing.assert_allclose(target - target[0, 0], soft - soft[0, 0], atol=1e-12)
        np.testing.assert_allclose(policy, np.exp((q - soft[..., None]) / 0.3), atol=1e-12)
        mass = rng.dirichlet(np.ones(h.size)).reshape(h.shape)
        later = naive_pairs.move_mass(family, kind, mass, policy)
        parts = [np.empty_like(part) for part in paid.of(*kind)]
        pairs.shares(mass, policy, *parts, family.both)
        weight = (mass[..., None] * policy).sum(axis=1)  # of the first arm's states and actions
        np.testing.assert_allclose(parts[0], weight @ np.array([[1, 0], [0, 1], [1, 0], [0, 1]]))
        np.testing.assert_allclose(-parts[1], weight[:, 2:])
        pairs.flow(mass, target, policy, first, second, family.both, 1.0, 1)
        np.testing.assert_allclose(target, later, atol=1e-15)


def test_soft_bound_has_the_derivatives_it_says():
    rng = np.random.default_rng(0)
    family = family_of([random_arm(rng), random_arm(rng, 3)], [3, 2], 2, 0.05)
    descent = Descent(family, zeros(family))
    budgets = random_budgets(family, rng, 0.1)
    _, slope = descent.soft_bound(budgets, 0.1)
    numbers = budgets.flat()
    for _ in range(5):
        direction = rng.normal(size=len(numbers))
        ends = []
        for side in (1e-4, -1e-4):
            for _ in range(3):  # sweeps go on from where they were
                value, _ = descent.soft_bound(budgets.like(numbers + side * direction), 0.1)
            ends.append(value)
        assert np.isclose((ends[0] - ends[1]) / 2e-4, slope.flat() @ direction, rtol=1e-3)


def bound_below(level, arms, pulls=1):
    """The first bound at most that high; the time is for a busy machine."""
    for bound in pair_improvements(arms, pulls=pulls, time=60, tolerance=1e-3):
        if bound.upper <= level:
            break
    return bound


@pytest.mark.parametrize("seed", range(12))
def test_bound_holds_the_exact_gain(seed):
    rng = np.random.default_rng(seed)
    size = 3 + seed % 3
    slow = {3: 0.6, 4: 0.3, 5: 0.15}[size]
    arms = [random_arm(rng, 3 if size == 3 and j == 0 else 2, slow) for j in range(size)]
    exact = plan(Bandit(arms), 1e-4)
    bound = bound_below(exact.upper.max() * 1.05, arms)
    assert exact.lower.max() <= bound.upper <= bound.lagrangian
    assert bound.upper <= exact.upper.max() * 1.05


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pulls", [1, 2])
def test_bound_holds_the_gain_of_several_pulls(seed, pulls):
    rng = np.random.default_rng(seed)
    arms = [random_arm(rng, 2, 0.2) for _ in range(3 + seed % 2)]
    exact = naive_pairs.joint_gain(arms, pulls, 4)
    if pulls == 1:
        assert abs(exact - plan(Bandit(arms), 1e-4).gain) < 2e-3  # the oracle itself
    bound = bound_below(1.05 * exact, arms, pulls)
    assert exact - 2e-3 <= bound.upper <= 1.05 * exact


@pytest.mark.parametrize("seed", range(30))
def test_any_numbers_give_a_bound(seed):
    rng = np.random.default_rng(seed)
    arms = [random_arm(rng, 2, 0.25) for _ in range(3)]
    if seed % 5 == 0:
        arms[0] = Arm([[0, 1], [1, 0]], [0, rng.uniform()])  # a periodic one
    exact = plan(Bandit(arms), 1e-4).lower.max()
    family = family_of(arms, [1, 1, 1], 1, 10.0 ** -rng.integers(1, 4))
    budgets = random_budgets(family, rng, rng.choice([0.01, 0.1, 1.0, 10.0]))
    values = {kind: rng.normal(size=h.shape) for kind, h in zeros(family).items()}
    quick = certify(family, budgets, values, 1e-6, 0.0)  # out of time: still a bound
    full = certify(family, budgets, values, 1e-6, NEVER)
    assert exact <= full.upper <= quick.upper + 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_any_numbers_give_a_bound_with_two_pulls(seed):
    rng = np.random.default_rng(seed)
    arms = [random_arm(rng, 2, 0.2) for _ in range(3 + seed % 2)]
    family = family_of(arms, [1] * len(arms), 2, 1e-3)
    budgets = random_budgets(family, rng, rng.choice([0.01, 0.1, 1.0]))
    assert certify(family, budgets, zeros(family), 1e-6, NEVER).upper >= (
        naive_pairs.joint_gain(arms, 2, 4) - 2e-3
    )


def test_capped_ages_need_their_allowance():
    """Without it, what looks like a bound is none: the oracle above would notice."""
    arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])
    exact = plan(Bandit([arm, arm]), 1e-4).lower.max()
    side = side_of(arm, 1)
    naked = Family((side._replace(errors=0 * side.errors),), (2,), 1)
    honest = Family((side,), (2,), 1)
    budgets = constant_budgets(honest, 0.0)
    assert certify(naked, budgets, zeros(naked), 1e-6, NEVER).upper < exact - 0.1
    assert certify(honest, budgets, zeros(honest), 1e-6, NEVER).upper >= exact


def test_constant_budgets_give_the_lagrangian_with_two_pulls():
    rng = np.random.default_rng(3)
    arms, counts, price = [random_arm(rng, 2, 0.4), random_arm(rng, 3, 0.4)], [3, 2], 0.3
    rest = Arm([[1.0]], [price])
    gains = [plan(Bandit([arm, rest]), 1e-7).gain - price for arm in arms]
    family = family_of(arms, counts, 2, 1e-9)
    bound = certify(family, constant_budgets(family, price), zeros(family), 1e-8, NEVER)
    assert np.isclose(bound.upper, 2 * price + np.dot(counts, gains), atol=1e-6)


def test_constant_budgets_average_over_pairs_with_one_pull():
    rng = np.random.default_rng(4)
    arms, price = [random_arm(rng, 2, 0.4) for _ in range(3)], 0.35
    rest = Arm([[1.0]], [price])
    pairs = [(0, 1), (0, 2), (1, 2)]
    gains = [plan(Bandit([arms[i], arms[j], rest]), 1e-7).gain - price for i, j in pairs]
    family = family_of(arms, [1, 1, 1], 1, 1e-9)
    bound = certify(family, constant_budgets(family, price), zeros(family), 1e-8, NEVER)
    assert np.isclose(bound.upper, price + sum(gains) / 2, atol=1e-6)


def test_constant_prices_by_pairs_give_the_lagrangian_bound():
    rng = np.random.default_rng(6)
    arms, counts = [random_arm(rng, 2, 0.5) for _ in range(2)], [4, 5]
    family = family_of(arms, counts, 3, 1e-9)
    bound = lagrangian_bound(arms, 3, counts=counts)
    assert np.isclose(at_price(family, bound.price, 1e-7).upper, bound.upper, atol=1e-6)


def test_the_size_of_a_family_is_known_before_it_is_built():
    rng = np.random.default_rng(9)
    arms = [random_arm(rng, 2, 0.5), random_arm(rng, 3, 0.4), Arm([[0, 1], [1, 0]], [0, 1])]
    for counts in ([1, 1, 1], [1, 3, 2]):
        assert family_states(arms, counts, 1e-3) == family_of(arms, counts, 1, 1e-3).n_states


def test_two_arms_are_planned_exactly():
    rng = np.random.default_rng(7)
    arms = [random_arm(rng, 3, 0.5), random_arm(rng, 2, 0.5)]
    exact = plan(Bandit(arms), 1e-6).gain
    assert np.isclose(pair_bound(arms, tolerance=1e-5).upper, exact, atol=1e-4)


@pytest.mark.parametrize("pulls", [1, 2])
def test_classes_equal_enumerated_arms(pulls):
    rng = np.random.default_rng(8)
    arms, counts = [random_arm(rng, 2, 0.4), random_arm(rng, 2, 0.4)], [3, 2]
    counted = family_of(arms, counts, pulls, 1e-3)
    listed = family_of([arms[0]] * 3 + [arms[1]] * 2, [1] * 5, pulls, 1e-3)
    budgets = random_budgets(counted, rng, 0.2)
    classes = [0, 0, 0, 1, 1]
    spread = Budgets(
        tuple(budgets.prices[c] for c in classes),
        {(i, j): budgets.transfers[classes[i], classes[j]]
         for i in range(5) for j in range(5) if i != j},
    )  # fmt: skip
    apart = certify(counted, budgets, zeros(counted), 1e-9, NEVER)
    other = certify(listed, spread, zeros(listed), 1e-9, NEVER)
    assert np.isclose(apart.upper, other.upper, atol=1e-7)


def test_program_and_descent_agree():
    arm = Arm([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    family = family_of([arm], [3], 1, 1e-2)
    first = at_price(family, lagrangian_bound([arm], counts=[3]).price, 1e-6)
    program = best_budgets(family, 30.0)
    by_program = certify(family, program, first.values, 1e-6, NEVER).upper
    descent, budgets = Descent(family, first.values), first.budgets
    for temperature in (0.01, 0.003, 0.001):
        budgets = descent.lower(budgets, temperature, 60, NEVER)
    by_descent = certify(family, budgets, descent.values, 1e-6, NEVER).upper
    assert by_program < 0.98 * first.upper
    assert np.isclose(by_program, by_descent, rtol=2e-3)


def test_budgets_read_at_more_ages_mean_the_same():
    arm = Arm([[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]], [0, 0.5, 1])  # period 2
    coarse, fine = (Family((side_of(arm, cap),), (3,), 1) for cap in (2, 5))
    price = np.arange(2.0 * len(coarse.sides[0].after)).reshape(-1, 2)
    read = read_at(Budgets((price,), {}), {}, coarse, fine)[0].prices[0]
    old = len(price) - 2
    # state 0, ages 1 to 4: apart, then by the phase of the hidden state
    assert read[:4, 0].tolist() == price[[0, old, old + 1, old], 0].tolist()
    assert read[4:8, 0].tolist() == price[[1, old + 1, old, old + 1], 0].tolist()
    back = read_at(Budgets((read,), {}), {}, fine, coarse)[0].prices[0]
    assert (back == price).all()


def test_million_identical_arms_cost_as_much_as_twenty():
    """There is always one not seen for long: stay while it pays, else take such a one."""
    arm = Arm([[0.7, 0.3], [0.4, 0.6]], [0, 1])
    fresh, stay = arm.stationary[1], 0.6
    *_, last = pair_improvements([arm], [10**6], time=5, tolerance=1e-3)
    exact = fresh / (1 - stay + fresh)
    assert exact <= last.upper <= last.lagrangian <= exact + 1e-3


def test_improvements_only_improve_and_stop_in_time():
    rng = np.random.default_rng(9)
    arms = [random_arm(rng, 2, 0.9) for _ in range(5)]
    bounds = list(pair_improvements(arms, time=1e-3))
    assert {bound.step for bound in bounds} <= {"constant prices", "constant prices, pairs"}
    assert bounds[0].upper == bounds[0].lagrangian
    assert all(b.upper < a.upper for a, b in pairwise(bounds))
    assert bounds[-1].upper_kind == "certified"


@pytest.mark.parametrize(
    ("counts", "pulls", "options", "path"),
    [
        ([0, 2], 1, {}, "counts[0]"),
        ([1], 1, {}, "counts"),
        ([1, 1], 3, {}, "pulls"),
        ([1, 1], 0, {}, "pulls"),
        ([1, 1], 1, {"time": 0.0}, "time"),
        ([1, 1], 1, {"tolerance": float("nan")}, "tolerance"),
    ],
)
def test_faults_are_named(counts, pulls, options, path):
    arm = Arm([[0.5, 0.5], [0.5, 0.5]], [0, 1])
    with pytest.raises(ProblemError) as error:
        pair_bound([arm, arm], counts, pulls, **options)
    assert path in [fault.path for fault in error.value.faults]


def test_too_little_memory_is_refused():
    arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])
    with pytest.raises(TooLargeError, match="pairs of 1 kind of arms with"):
        pair_bound([arm], [5], memory=100)
