"""The gallery: what the paper says of its problems, and how their parameters are read."""

from __future__ import annotations

import inspect
import subprocess
import sys
from functools import cache
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from restive import Bandit, ProblemError
from restive.model import chains
from restive.problems import (
    GALLERY,
    build,
    example1,
    example2,
    example3,
    example4,
    gilbert_elliott,
    lower_bound,
    random_problem,
)

Belief = tuple[tuple[float, ...], ...]  # the law of each arm's present state


def best_values(bandit: Bandit, start: Belief, horizon: int) -> list[float]:
    """Expected reward of ``horizon`` steps for each first pull, by recursion over beliefs."""

    def step(law: tuple[float, ...], arm: int) -> tuple[float, ...]:
        return tuple(np.round(np.array(law) @ bandit.arms[arm].transitions, 12).tolist())

    @cache
    def values(beliefs: Belief, left: int) -> tuple[float, ...]:
        result = []
        for pulled, law in enumerate(beliefs):
            total = 0.0
            for state, p in enumerate(law):
                if p > 0:
                    seen = tuple(float(k == state) for k in range(len(law)))
                    now = (*beliefs[:pulled], seen, *beliefs[pulled + 1 :])
                    after = tuple(step(b, j) for j, b in enumerate(now))
                    future = max(values(after, left - 1)) if left > 1 else 0.0
                    total += p * (float(bandit.arms[pulled].rewards[state]) + future)
            result.append(total)
        return tuple(result)

    return list(values(start, horizon))


def start_of(bandit: Bandit, steps: int = 0) -> Belief:
    laws = [arm.initial_law @ np.linalg.matrix_power(arm.transitions, steps) for arm in bandit.arms]
    return tuple(tuple(law.tolist()) for law in laws)


def refusal(name: str, **parameters: str) -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        build(name, **parameters)
    return caught.value


@pytest.mark.parametrize(("builder", "epsilon"), [(example1, 0.1), (example2, 0.9)])
def test_examples_1_and_2_are_two_symmetric_channels(builder: Any, epsilon: float) -> None:
    bandit = builder()
    assert bandit.n_arms == 2
    for arm in bandit.arms:
        expected = [[1 - epsilon, epsilon], [epsilon, 1 - epsilon]]
        np.testing.assert_allclose(arm.transitions, expected, rtol=1e-15)
        assert arm.rewards.tolist() == [0.0, 1.0]
        assert (arm.initial, arm.period, arm.gain) == ("stationary", 1, pytest.approx(0.5))


def test_example_1_has_the_mixing_times_and_diameter_of_the_closed_form() -> None:
    arm = example1(0.1).arms[0]
    # d(t) = (1 - 2 epsilon)^t, so Tmix(eps) = ceil(log(eps) / log(0.8))
    assert arm.mixing_time() == int(np.ceil(log(0.25) / log(0.8)))
    assert arm.mixing_time(0.01) == int(np.ceil(log(0.01) / log(0.8)))
    assert arm.diameter == pytest.approx(10)


def test_example_3_sets_a_channel_against_a_fair_coin() -> None:
    channel, coin = example3(0.2).arms
    np.testing.assert_array_equal(channel.transitions, [[0.8, 0.2], [0.2, 0.8]])
    assert channel.rewards.tolist() == [0.0, 1.0]
    assert (coin.n_states, coin.gain, coin.reward_noise) == (1, 0.5, "bernoulli")


def test_example_4_has_the_chains_of_the_counter_example() -> None:
    left, center, right = example4().arms
    assert (left.n_states, left.gain) == (1, 0.5)
    assert (center.period, right.period) == (3, 5)
    assert center.gain == pytest.approx(0.5)
    for arm in (center, right):
        assert arm.initial_law @ arm.rewards == 1
    pays = [
        sorted((float(right.rewards[s]), float(p)) for s, p in enumerate(law) if p)
        for law in (right.initial_law @ right.power(n) for n in range(6))
    ]
    toss = [[(0.0, 0.5), (7 / 8, 0.5)], [(0.0, 0.5), (3 / 4, 0.5)]]
    assert pays == [[(1.0, 1.0)], [(0.0, 1.0)], [(0.0, 1.0)], *toss, [(1.0, 1.0)]]
    lucky = int(np.flatnonzero(right.rewards == 7 / 8)[0])
    assert right.rewards[int(np.argmax(right.transitions[lucky]))] == 3 / 4


def test_example_4_turns_the_preference_of_l_and_r_over_when_c_is_removed() -> None:
    with_c, without = example4(), example4(center=False)
    # At step 8 C was at 1/2 one step before and R at 1 three steps before; all renews at 15.
    left, _, right = best_values(with_c, start_of(with_c, 8), 7)
    assert left - right == pytest.approx(1 / 16, abs=1e-9)
    left, right = best_values(without, start_of(without, 3), 2)
    assert right - left == pytest.approx(1 / 16, abs=1e-9)
    assert max(best_values(with_c, start_of(with_c), 15)) / 15 == pytest.approx(0.7375)
    assert max(best_values(without, start_of(without), 5)) / 5 == pytest.approx(0.6125)


def test_staying_makes_example_4_and_the_cycles_aperiodic() -> None:
    assert [arm.period for arm in example4(stay=0.01).arms] == [1, 1, 1]
    assert example4(stay=0.01).name == "Example 4, stay = 0.01"
    assert example4(False, 0.5).name == "Example 4 without C, stay = 0.5"
    arm = lower_bound(2, 4, stay=0.01).arms[0]
    assert arm.period == 1
    np.testing.assert_allclose(arm.stationary, 0.25)
    np.testing.assert_allclose(np.diag(arm.transitions), 0.01)


def test_lower_bound_hides_one_good_arm_in_each_phase() -> None:
    bandit = lower_bound(3, 5, 0.2, best=[2, 0, 0, 1, 2])
    means = np.array([arm.rewards for arm in bandit.arms])
    assert sum(bandit.n_states) == 15
    np.testing.assert_array_equal(means.argmax(axis=0), [2, 0, 0, 1, 2])
    assert sorted(means.ravel().tolist()) == [0.5] * 10 + [0.7] * 5
    for arm in bandit.arms:
        assert (arm.period, arm.initial, arm.reward_noise) == (5, 0, "bernoulli")
        np.testing.assert_array_equal(arm.transitions, np.roll(np.eye(5), 1, axis=1))
    assert max(best_values(bandit, start_of(bandit), 5)) / 5 == pytest.approx(0.7)


def test_lower_bound_draws_good_arms_and_the_gap_of_a_horizon() -> None:
    drawn = [lower_bound(4, 50, rng=seed) for seed in (1, 1, 2)]
    means = [np.array([arm.rewards for arm in bandit.arms]) for bandit in drawn]
    np.testing.assert_array_equal(means[0], means[1])
    assert (means[0] != means[2]).any()
    np.testing.assert_array_equal((means[0] > 0.5).sum(axis=0), 1)
    assert set(means[0].argmax(axis=0)) == {0, 1, 2, 3}
    steps_per_phase = 10_000 / 5
    hardest = lower_bound(3, 5, horizon=10_000, best=1).arms[1].rewards - 0.5
    np.testing.assert_allclose(hardest, sqrt(3 / steps_per_phase) / 4)
    assert lower_bound(3, 5, horizon=1, best=0).arms[0].rewards[0] == 0.75


def test_gilbert_elliott_takes_a_number_for_all_arms_or_one_for_each() -> None:
    bandit = gilbert_elliott(3, p_bad_good=[0.1, 0.2, 0.3], p_good_bad=0.4, good=0.9, bad=0.2)
    for arm, rate in zip(bandit.arms, [0.1, 0.2, 0.3], strict=True):
        assert arm.rewards.tolist() == [0.2, 0.9]
        assert arm.reward_noise == "bernoulli"
        assert arm.stationary[1] == pytest.approx(rate / (rate + 0.4))
    with pytest.raises(ProblemError, match="good: 2 values for 3 arms"):
        gilbert_elliott(3, good=[0.5, 0.6])


@pytest.mark.parametrize("concentration", [1e-3, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("period", [1, 3])
def test_random_arms_are_irreducible_with_the_period_asked_for(
    concentration: float, period: int
) -> None:
    bandit = random_problem(3, [3, 4, 7], concentration=concentration, period=period)
    assert bandit.n_states == (3, 4, 7)
    for arm in bandit.arms:
        assert len(chains.communicating_classes(arm.transitions)) == 1
        assert arm.period == period
        assert ((arm.rewards >= 0) & (arm.rewards <= 1)).all()


@pytest.mark.parametrize("concentration", [0.2, 1.0, 5.0])
def test_random_rows_have_the_variance_of_their_dirichlet_law(concentration: float) -> None:
    bandit = random_problem(1000, 3, rng=11, concentration=concentration)
    entries = np.array([arm.transitions[:, 0] for arm in bandit.arms]).ravel()
    spread = np.mean((entries - 1 / 3) ** 2)
    # Hoeffding for values in [0, 4/9]: a false alarm has probability 1e-4 at most.
    slack = 4 / 9 * sqrt(log(2 / 1e-4) / (2 * len(entries)))
    assert slack < 0.02
    assert spread == pytest.approx(2 / 9 / (3 * concentration + 1), abs=slack)


def test_random_problems_repeat_and_adding_an_arm_changes_no_other() -> None:
    assert random_problem(2, rng=5).arms == random_problem(3, rng=5).arms[:2]
    assert random_problem(2, rng=5) != random_problem(2, rng=6)
    generator = random_problem(2, rng=np.random.default_rng(5))
    assert generator.arms == random_problem(2, rng=5).arms


def test_stickiness_mixes_the_chain_with_staying() -> None:
    plain, sticky = random_problem(1).arms[0], random_problem(1, stickiness=0.99).arms[0]
    expected = 0.01 * plain.transitions + 0.99 * np.eye(3)
    np.testing.assert_allclose(sticky.transitions, expected, atol=1e-15)
    np.testing.assert_array_equal(sticky.rewards, plain.rewards)


@pytest.mark.parametrize("name", GALLERY)
def test_registered_defaults_are_those_of_the_builder(name: str) -> None:
    problem = GALLERY[name]
    declared = {p.name: p.default for p in problem.parameters}
    signature = inspect.signature(problem.builder).parameters
    assert declared == {key: value.default for key, value in signature.items()}
    assert all(p.help and p.check(p.default) == [] for p in problem.parameters)
    assert isinstance(build(name), Bandit)
    assert problem.description


def test_build_reads_every_kind_of_text() -> None:
    assert build("example-1", epsilon="0.05") == example1(0.05)
    assert build("example-4", center="false", stay=".1") == example4(center=False, stay=0.1)
    rates = build("gilbert-elliott", **{"p-bad-good": "0.1, 0.2", "reward_noise": "none"})
    assert rates == gilbert_elliott(2, p_bad_good=[0.1, 0.2], reward_noise="none")
    cycles = build("lower-bound", n_arms="3", horizon="1e5", best="0,1,2")
    assert cycles == lower_bound(3, 3, horizon=100_000, best=[0, 1, 2])
    assert build("random", n_states="2,3", rng="4") == random_problem(2, [2, 3], rng=4)


@pytest.mark.parametrize(
    ("name", "parameters", "path", "phrase"),
    [
        ("example-9", {}, "problem", "gilbert-elliott"),
        ("example-1", {"epsilonn": "0.1"}, "epsilonn", "Did you mean epsilon?"),
        ("example-1", {"epsilon": "0"}, "epsilon", "above 0 to 1"),
        ("example-1", {"epsilon": "nan"}, "epsilon", "found nan"),
        ("example-1", {"epsilon": "much"}, "epsilon", "found much"),
        ("example-1", {"epsilon": ""}, "epsilon", "a number"),
        ("example-4", {"center": "maybe"}, "center", "true or false"),
        ("example-4", {"stay": "1"}, "stay", "below 1"),
        ("lower-bound", {"n_arms": "2.5"}, "n_arms", "whole number"),
        ("lower-bound", {"n_arms": "0"}, "n_arms", "from 1"),
        ("lower-bound", {"n_arms": "inf"}, "n_arms", "found inf"),
        ("lower-bound", {"gap": "0.1", "horizon": "10"}, "horizon", "Leave one"),
        ("lower-bound", {"best": "0,1,2"}, "best", "from 0 to 1"),
        ("lower-bound", {"best": "0,1"}, "best", "2 values for 3 phases"),
        ("lower-bound", {"best": "0,,1"}, "best", "whole number"),
        ("gilbert-elliott", {"good": "0.5,1.5"}, "good", "from 0 to 1"),
        ("gilbert-elliott", {"reward_noise": "loud"}, "reward_noise", "none or bernoulli or beta"),
        ("random", {"n_states": "2", "period": "3"}, "n_states", "smaller period"),
        ("random", {"period": "2", "stickiness": "0.5"}, "stickiness", "leave out"),
        ("random", {"rng": "-1"}, "rng", "from 0"),
    ],
)
def test_build_names_the_parameter_and_the_remedy(
    name: str, parameters: dict[str, str], path: str, phrase: str
) -> None:
    (fault,) = refusal(name, **parameters).faults
    assert fault.path == path
    assert phrase in str(fault)


def test_build_lists_all_faults_at_once() -> None:
    faults = refusal("example-4", stay="2", center="perhaps", gap="1").faults
    assert sorted(fault.path for fault in faults) == ["center", "gap", "stay"]


def test_builders_check_their_arguments_in_a_program_too() -> None:
    with pytest.raises(ProblemError, match=r"epsilon: .*found 2"):
        example1(2)
    with pytest.raises(ProblemError, match="n_states"):
        random_problem(2, n_states=True)


def test_the_gallery_can_be_listed_without_numpy() -> None:
    code = (
        "import sys, types, pathlib;"
        "package = types.ModuleType('restive');"  # not the real one, which may import more
        f"package.__path__ = [{str(__import__('restive').__path__[0])!r}];"
        "sys.modules['restive'] = package;"
        "import restive.problems as p; assert len(p.GALLERY) == 7; print('numpy' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.stdout.strip(), result.stderr) == ("False", "")
