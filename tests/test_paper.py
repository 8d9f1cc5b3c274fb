"""What the paper says of its own examples, against the planner."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import naive
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.mdp.solver import solve
from restive.model import chains
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.problems import example1, example2, example3, example4, lower_bound


def closed_form_1(epsilon: float) -> float:
    return 1 / 2 + abs(1 - 2 * epsilon) / 4


def closed_form_3(epsilon: float) -> tuple[float, int]:
    """Best gain of Example 3 and the age at which the channel is tried again after a 0."""
    gains = []
    for m in range(2, 2000):
        w = (1 - (1 - 2 * epsilon) ** m) / 2
        gains.append((((m - 1) / 2 + w / epsilon) / (m + w / epsilon), m))
    return max(gains)


@pytest.mark.parametrize("epsilon", [0.45, 0.3, 0.1, 0.05, 0.01])
def test_example_1(epsilon):
    best = plan(example1(epsilon), 1e-7)
    assert best.converged
    assert best.gain_upper - best.gain_lower <= 1e-7
    assert best.gain_lower <= closed_form_1(epsilon) <= best.gain_upper


@pytest.mark.parametrize("epsilon", [0.55, 0.7, 0.9, 0.99])
def test_example_2(epsilon):
    best = plan(example2(epsilon), 1e-7)
    assert best.converged
    assert best.gain_lower <= closed_form_1(epsilon) <= best.gain_upper


@pytest.mark.parametrize("epsilon", [0.1, 0.01])
def test_example_1_stays_on_a_free_channel_and_leaves_a_busy_one(epsilon):
    best = plan(example1(epsilon))
    other = np.array(list(product([0, 1], range(2, 80))))
    states = np.stack([np.ones(len(other), dtype=int), other[:, 0]], axis=1)
    ages = np.stack([np.ones(len(other), dtype=int), other[:, 1]], axis=1)
    assert (best.actions(states, ages) == 0).all()
    states[:, 0] = 0
    assert (best.actions(states, ages) == 1).all()


def test_example_2_at_its_limit_depends_on_how_the_channels_start():
    best = plan(example2(1.0))
    assert best.gain == pytest.approx(closed_form_1(1.0), abs=1e-6)  # half of 1/2, half of 1
    in_step, out_of_step = best.gain_from([0, 0], [1, 3]), best.gain_from([0, 1], [1, 3])
    assert in_step[0] <= 1 / 2 <= in_step[1]
    assert out_of_step[0] <= 1 <= out_of_step[1] + 1e-12
    assert max(in_step[1] - in_step[0], out_of_step[1] - out_of_step[0]) <= 1e-6


def test_a_cap_that_is_too_small_is_wrong_and_the_interval_says_so():
    bandit = example1(0.01)
    rep = Representation.of(bandit, 120)
    for loop, wrong in (("power", 0.74397), ("limit", 0.74634)):  # P^120 or mu beyond the cap
        aggregated = solve(rep, bandit_parameters(bandit, rep, loop=loop), tolerance=1e-9)
        assert round(aggregated.gain, 5) == wrong
    best = plan(bandit, caps=120)
    assert not best.converged
    assert best.gain_lower <= 0.745 <= best.gain_upper


def test_example_3_closed_form_is_read_right():
    assert closed_form_3(0.1) == (pytest.approx(0.6412169920, abs=5e-11), 5)
    assert closed_form_3(0.2) == (pytest.approx(37 / 62, abs=1e-14), 3)


@pytest.mark.parametrize("epsilon", [0.3, 0.2, 0.1, 0.05, 0.01])
def test_example_3(epsilon):
    truth, again = closed_form_3(epsilon)
    for bandit in (
        example3(epsilon),
        Bandit([example3(epsilon).arms[0], Arm([[0.5, 0.5], [0.5, 0.5]], [0, 1])]),
    ):
        best = plan(bandit, 1e-8)
        assert best.gain_lower <= truth <= best.gain_upper
        assert best.converged
    coin = example3(epsilon)
    waits = [plan(coin, 1e-8).action([0, 0], [age, 1]) for age in range(2, again + 3)]
    assert waits == [1] * (again - 2) + [0] * 3


def test_example_4_gains_and_preferences():
    """L beats R by 1/16 where C is present, and R beats L by 1/16 where it is not."""
    with_c, without = plan(example4(), 1e-9), plan(example4(center=False), 1e-9)
    assert with_c.gain == pytest.approx(0.7375, abs=1e-9)
    assert without.gain == pytest.approx(0.6125, abs=1e-9)
    left, _, right = with_c.gap([0, 1, 0], [2, 1, 3])
    assert right - left == pytest.approx(1 / 16, abs=1e-7)
    assert with_c.action([0, 1, 0], [2, 1, 3]) == 0
    np.testing.assert_allclose(without.gap([0, 0], [1, 3]), [1 / 16, 0], atol=1e-7)


@pytest.mark.parametrize(("n_arms", "length"), [(1, 4), (2, 3), (2, 4), (3, 2), (3, 3)])
def test_lower_bound_family_earns_the_good_arm_of_every_phase(n_arms, length):
    good = [(2 * phase + 1) % n_arms for phase in range(length)]
    bandit = lower_bound(n_arms, length, gap=0.2, best=good)
    best = plan(bandit, 1e-9)
    truth = 0.7 if n_arms > 1 else np.mean(bandit.arms[0].rewards)
    assert best.gain == pytest.approx(truth, abs=1e-9)


def test_lower_bound_family_out_of_step():
    best, gap = [0, 1, 1, 0], 0.25
    planned = plan(lower_bound(2, 4, gap=gap, best=best), 1e-9)
    for first, second, age in product(range(4), range(4), [2, 3, 7]):
        shift = second + age - first - 1  # phases that arm 1 is ahead of arm 0
        paid = [0.5 + gap * (best[t] == 0 or best[(t + shift) % 4] == 1) for t in range(4)]
        lower, upper = planned.gain_from([first, second], [1, age])
        assert lower - 1e-12 <= np.mean(paid) <= upper + 1e-12
        assert upper - lower <= 1e-9


def test_lower_bound_family_made_aperiodic():
    bandit = lower_bound(2, 2, gap=0.25, best=[0, 1], stay=0.2)
    best = plan(bandit, 1e-8)
    (truth,) = set(naive.true_gain_large_cap(bandit, 60).round(11))
    assert best.gain == pytest.approx(truth, abs=1e-8)
    assert 0.625 < truth < 0.75  # above the single arms, below the family in step


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (0.3, 0.05), (0.9, 0.8), (0.01, 0.2)])
def test_mixing_of_a_two_state_chain(a, b):
    p = [[1 - a, a], [b, 1 - b]]
    mu, eigenvalue = np.array([b, a]) / (a + b), 1 - a - b
    for t in range(1, 60):
        distance = chains.distance_to_limit(p, t).max()
        assert distance == pytest.approx(2 * mu.max() * abs(eigenvalue) ** t, rel=1e-9, abs=1e-15)


def test_mixing_of_example_1():
    arm = example1(0.1).arms[0]
    assert (arm.mixing_time(), arm.mixing_time(0.01)) == (7, 21)
    assert arm.diameter == pytest.approx(10)


@pytest.mark.parametrize("epsilon", [0.2, 0.1, 0.01, 1e-4])
def test_mixing_times_obey_equation_1(epsilon):
    for bandit in (example1(0.1), example3(0.03), example4(stay=0.2)):
        for arm in bandit.arms:
            assert arm.mixing_time(epsilon) <= np.ceil(np.log2(1 / epsilon)) * arm.mixing_time()
