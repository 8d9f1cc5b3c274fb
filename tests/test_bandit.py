"""Arms and bandits: what they accept, what they refuse and how they say so."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from restive import Arm, Bandit, ProblemError
from strategies import arms, transition_matrices

FAIR = [[0.5, 0.5], [0.5, 0.5]]
STICKY = [[0.9, 0.1], [0.2, 0.8]]


def faults(*args, **options):
    with pytest.raises(ProblemError) as caught:
        Arm(*args, **options)
    return {fault.path: fault for fault in caught.value.faults}


@given(arms(kinds=("dense", "sparse", "periodic", "near reducible", "single")))
def test_facts_of_an_arm_against_linear_algebra(arm):
    """mu is the fixed point of P, and the gain is the mean reward under it."""
    assert_allclose(arm.stationary @ arm.transitions, arm.stationary, atol=1e-12)
    assert arm.stationary.sum() == pytest.approx(1, abs=1e-14)
    assert arm.gain == pytest.approx(float(np.dot(arm.stationary, arm.rewards)), abs=1e-15)
    assert_allclose(arm.power(3), np.linalg.matrix_power(arm.transitions, 3), atol=1e-13)


def test_facts_of_a_two_state_arm_in_closed_form():
    arm = Arm(STICKY, [0.25, 1.0], states=["busy", "free"])
    assert_allclose(arm.stationary, [2 / 3, 1 / 3], rtol=1e-15)
    assert arm.gain == pytest.approx(0.5, rel=1e-15)
    assert arm.diameter == pytest.approx(10, rel=1e-14)
    assert (arm.period, arm.n_states, arm.reversible) == (1, 2, True)
    # d(t) = 2 (2/3) 0.7^t: 0.224 at t = 5 and 0.320 at t = 4
    assert (arm.mixing_time(), arm.mixing_time(0.25)) == (5, 5)
    assert arm.mixing_time(0.23) == 5
    assert arm.mixing_time(0.22) == 6


def test_periodic_arm():
    arm = Arm(np.roll(np.eye(3), 1, axis=1), [0, 0.5, 1])
    assert arm.period == 3
    assert_array_equal(arm.cyclic_class, [0, 1, 2])
    assert (arm.mixing_time(), arm.reversible, arm.diameter) == (1, False, 2.0)


def test_first_state_can_be_a_law_a_name_or_a_number():
    states = ["busy", "free"]
    assert_allclose(Arm(STICKY, [0, 1]).initial_law, [2 / 3, 1 / 3], rtol=1e-14)
    assert_array_equal(Arm(STICKY, [0, 1], states=states, initial="free").initial_law, [0, 1])
    assert_array_equal(Arm(STICKY, [0, 1], initial=0).initial_law, [1, 0])
    assert_array_equal(Arm(STICKY, [0, 1], initial=[0.25, 0.75]).initial_law, [0.25, 0.75])


def test_the_word_stationary_means_the_law_even_where_a_state_is_called_so():
    arm = Arm(STICKY, [0, 1], states=["moving", "stationary"], initial="stationary")
    assert_allclose(arm.initial_law, [2 / 3, 1 / 3], rtol=1e-14)


def test_rows_that_sum_to_one_up_to_rounding_are_normalised():
    arm = Arm([[0.1 + 4e-10, 0.9], [1.0, 0.0]], [0, 1])
    assert_allclose(arm.transitions.sum(axis=1), 1, rtol=1e-15)


def test_row_that_does_not_sum_to_one():
    fault = faults([[0.5, 0.48], [0.5, 0.5]], [0, 1])["transitions[0]"]
    assert "sums to 0.98, not 1" in fault.message
    assert "0.510204" in fault.remedy


def test_every_fault_is_reported_at_once():
    wrong = faults([[0.5, 0.6], [-0.5, 1.5]], [0, 2], reward_noise="loud", initial="left")
    assert set(wrong) == {
        "transitions[0]",
        "transitions[1][0]",
        "transitions[1][1]",
        "rewards[1]",
        "reward_noise",
        "initial",
    }
    assert wrong["transitions[1][0]"].value == "-0.5"


@pytest.mark.parametrize(
    ("transitions", "path"),
    [
        ([[0.5, 0.5]], "transitions"),
        ([], "transitions"),
        (0.5, "transitions"),
        ([[0.5, 0.5], [1.0]], "transitions[1]"),
        ([["x", 0.5], [0.5, 0.5]], "transitions[0][0]"),
        ([[float("nan"), 1], [0.5, 0.5]], "transitions[0][0]"),
        ([[0.0, 0.0], [0.5, 0.5]], "transitions[0]"),
    ],
)
def test_matrices_that_are_none(transitions, path):
    assert path in faults(transitions, [0, 1])


def test_reducible_chains_name_their_classes():
    matrix = [[1, 0, 0], [0.5, 0.25, 0.25], [0, 0, 1]]
    fault = faults(matrix, [0, 1, 0], states=["idle", "start", "done"])["transitions"]
    assert "3 classes" in fault.message
    assert "{idle} closed; {start} transient; {done} closed" in fault.message
    assert "reachable" in fault.remedy


def test_nearly_reducible_chains_are_accepted():
    arm = Arm([[1 - 1e-14, 1e-14], [3e-14, 1 - 3e-14]], [0, 1])
    assert arm.gain == pytest.approx(0.25, rel=1e-2)  # the row sums round p itself


def test_rewards_outside_the_unit_interval_come_with_a_rescaling_that_works():
    wrong = faults(FAIR, [-1, 3])
    assert set(wrong) == {"rewards[0]", "rewards[1]"}
    fault = wrong["rewards[1]"]
    assert "r -> (r + 1) / 4" in fault.remedy
    assert "gives [0.0, 1.0] here" in fault.remedy
    assert "4 g - 1" in fault.remedy
    assert "rewards[0]" in faults(FAIR, [float("nan"), 1])
    assert "rewards" in faults(FAIR, [0, 1, 1])
    assert "rewards" in faults(FAIR, [[0, 1]])


@pytest.mark.parametrize("initial", ["nowhere", 2, -1, [0.5, 0.6], [1.0], [-0.5, 1.5], True, None])
def test_starts_that_are_none(initial):
    assert set(faults(FAIR, [0, 1], initial=initial)) == {"initial"}


def test_names_of_states():
    assert Arm(FAIR, [0, 1]).states == ("0", "1")
    assert Arm(FAIR, [0, 1], states=[3, "x"]).states == ("3", "x")
    assert "states" in faults(FAIR, [0, 1], states=["a"])
    assert "states[1]" in faults(FAIR, [0, 1], states=["a", "a"])


def test_arms_cannot_be_changed():
    arm = Arm(STICKY, [0, 1])
    for array in (arm.transitions, arm.rewards, arm.stationary, arm.initial_law):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        arm.name = "other"
    with pytest.raises(dataclasses.FrozenInstanceError):
        Bandit([arm]).arms = ()


def test_arms_keep_no_hold_on_the_callers_arrays():
    matrix, rewards = np.array(STICKY), np.array([0.0, 1.0])
    arm = Arm(matrix, rewards)
    matrix[0], rewards[0] = [0.5, 0.5], 1
    assert_allclose(arm.transitions, STICKY)
    assert_array_equal(arm.rewards, [0, 1])


@given(transition_matrices(max_states=4))
def test_equal_arms_are_equal_and_hash_alike(matrix):
    rewards = np.linspace(0, 1, len(matrix))
    first, second = (Arm(matrix, rewards, name="a") for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert Bandit([first]) == Bandit([second])
    assert hash(Bandit([first])) == hash(Bandit([second]))


@pytest.mark.parametrize(
    "change",
    [
        {"rewards": [0, 0.5]},
        {"transitions": FAIR},
        {"name": "b"},
        {"states": ["x", "y"]},
        {"reward_noise": "beta"},
        {"initial": 1},
        {"initial": [0.5, 0.5]},
    ],
)
def test_arms_that_differ_anywhere_are_not_equal(change):
    base = {"transitions": STICKY, "rewards": [0, 1], "name": "a"}
    assert Arm(**base) != Arm(**(base | change))
    assert Arm(**base) != "an arm"


def test_bandit_counts_and_names_its_arms():
    plain, named = Arm(FAIR, [0, 0.5]), Arm(np.eye(3)[[1, 2, 0]], [0, 0.5, 1], name="right")
    bandit = Bandit(iter([plain, named, named]), name="pair")
    assert (bandit.n_arms, bandit.n_states, bandit.name) == (3, (2, 3, 3), "pair")
    assert bandit.best_arm == 1  # the first of the two that earn 1/2
    assert [bandit.arm_name(j) for j in range(2)] == ["arm 1", "right"]
    assert Bandit([plain]) != Bandit([named])


def test_bandit_refuses_what_is_no_arm():
    with pytest.raises(ProblemError, match="at least one arm"):
        Bandit([])
    with pytest.raises(ProblemError, match=r"arms\[1\]"):
        Bandit([Arm(FAIR, [0, 1]), FAIR])
