"""Exact gains of policies against dense brute force, closed forms and simulation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy.stats import t as student

import naive
from restive.base.errors import TooLargeError
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.planning.evaluation import evaluate
from restive.problems import example1, example3, example4, gilbert_elliott, random_problem
from zoo import draw_bandit

Rule = Callable[[tuple[int, ...], tuple[int, ...]], int]
FAST_KINDS = ("dense", "sparse", "iid", "single", "periodic")


def naive_gain(bandit: Bandit, caps: list[int], rule: Rule) -> float:
    """Gain from the start by the limiting matrix of the dense chain."""
    mdp = naive.dense_mdp(bandit, caps)
    policy = [rule(*zip(*state, strict=True)) for state in mdp.states]
    gain = naive.evaluate_policy(mdp.P, mdp.r, policy).gain
    number = {state: x for x, state in enumerate(mdp.states)}
    loops, total = [naive.period(arm) for arm in bandit.arms], 0.0
    for states in product(*(range(size) for size in bandit.n_states)):
        chance = 1.0
        for j, arm in enumerate(bandit.arms):
            law = arm.initial_law @ np.linalg.matrix_power(arm.transitions, j)
            chance *= law[states[j]]
        ages = [naive.stored(bandit.n_arms - j, caps[j], loops[j]) for j in range(bandit.n_arms)]
        total += chance * gain[number[tuple(zip(states, ages, strict=True))]]
    return total


def myopic(bandit: Bandit, caps: list[int]) -> Rule:
    """Largest expected reward now; ties to the arm pulled last, then to the first."""
    tables = [naive.rows(arm, cap, "power") for arm, cap in zip(bandit.arms, caps, strict=True)]

    def rule(states: tuple[int, ...], ages: tuple[int, ...]) -> int:
        pays = [
            float(tables[j][ages[j]][states[j]] @ arm.rewards) for j, arm in enumerate(bandit.arms)
        ]
        pays[ages.index(1)] += 1e-12
        return int(np.argmax(pays))

    return rule


def scrambled(bandit: Bandit, seed: int) -> Rule:
    """An arbitrary fixed policy, usually multichain."""

    def rule(states: tuple[int, ...], ages: tuple[int, ...]) -> int:
        mixed = np.random.default_rng([seed, *states, *ages])
        return int(mixed.integers(bandit.n_arms))

    return rule


def drawn(seed: int) -> tuple[Bandit, list[int]]:
    bandit = draw_bandit(seed, FAST_KINDS)
    rng, count = np.random.default_rng(seed), bandit.n_arms
    return bandit, [int(c) for c in rng.integers(count + 1, count + 3, count)]


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_policies_against_the_dense_chain(first):
    for seed in range(first, first + 10):
        bandit, caps = drawn(seed)

        def rounds(states: tuple[int, ...], ages: tuple[int, ...]) -> int:
            return ages.index(max(ages))

        mine = scrambled(bandit, seed)
        for policy, rule in [
            ("myopic", myopic(bandit, caps)),
            ("round-robin", rounds),
            (mine, mine),
        ]:
            value = evaluate(bandit, policy, caps=caps)
            wanted = naive_gain(bandit, caps, rule)
            assert value.gain == pytest.approx(wanted, abs=1e-9), (seed, policy)
            assert value.gain_lower <= value.gain <= value.gain_upper


@pytest.mark.parametrize("seed", range(12))
def test_a_plan_evaluated(seed):
    """The plan's own policy on its own caps, densely, and against the plan's interval."""
    bandit, caps = drawn(seed)
    best = plan(bandit, caps=caps)
    value = evaluate(bandit, best)
    assert value.gain == pytest.approx(naive_gain(bandit, caps, best.action), abs=1e-9)
    assert value.gain_lower <= best.gain_upper
    fine = plan(bandit, 1e-6)
    value = evaluate(bandit, fine)
    assert value.gain == pytest.approx(fine.gain, abs=2e-6)
    for other in ("myopic", "round-robin", "best-arm"):
        assert evaluate(bandit, other).gain_lower <= fine.gain_upper


@pytest.mark.parametrize("seed", range(30))
def test_single_arms_and_turns_in_closed_form(seed):
    """An arm alone earns mu r, and so does an arm pulled at every K-th step."""
    bandit = draw_bandit(seed, ("dense", "iid", "single"))  # no periods
    alone = [float(naive.stationary(arm.transitions) @ arm.rewards) for arm in bandit.arms]
    for j, gain in enumerate(alone):
        value = evaluate(bandit, j)
        assert value.gain == pytest.approx(gain, abs=1e-10)
        assert value.gain_lower <= value.gain <= value.gain_upper
        always = evaluate(bandit, lambda states, ages, j=j: j)
        assert always.gain == pytest.approx(gain, abs=1e-9)
    assert evaluate(bandit, "best-arm").gain == pytest.approx(max(alone), abs=1e-10)
    turns = evaluate(bandit, "round-robin")
    assert turns.gain == pytest.approx(np.mean(alone), abs=1e-9)
    assert turns.gain_upper - turns.gain_lower <= 1e-6


def test_where_a_policy_ends_up_depends_on_the_start():
    """Stay for ever on the first arm if it showed 1 at the start, else on the second."""
    first = Arm([[0.5, 0.5], [0.5, 0.5]], [0.1, 0.3], initial=[0.25, 0.75])
    second = Arm([[1.0]], [0.9])

    def stuck(states: tuple[int, ...], ages: tuple[int, ...]) -> int:
        return 0 if ages[1] > 1 or (ages[0] == 2 and states[0] == 1) else 1

    value = evaluate(Bandit([first, second]), stuck)
    assert value.gain == pytest.approx(0.75 * 0.2 + 0.25 * 0.9, abs=1e-12)


def test_example_3_is_lost_on_the_myopic_policy():
    """Myopic play leaves the channel for good: 1/2; returning to it earns more."""
    assert evaluate(example3(0.1), "myopic").gain == pytest.approx(0.5, abs=1e-6)
    assert plan(example3(0.1)).gain > 0.64


def test_myopic_ties_go_to_the_arm_pulled_last():
    """T, then a fair toss for two steps of 1 or of 0; beside it 1/2 for ever.

    All is a tie but the step after the toss, so myopic play leaves once for good and earns 1/2.
    Ties to the first arm would bring it back, for 7/12.
    """
    p = np.zeros((5, 5))
    p[0, [1, 2]] = 0.5
    p[[1, 2, 3, 4], [3, 4, 0, 0]] = 1.0
    toss, half = Arm(p, [0.5, 1, 0, 1, 0]), Arm([[1.0]], [0.5])
    assert evaluate(Bandit([toss, half]), "myopic").gain == pytest.approx(1 / 2, abs=1e-12)

    def comes_back(states: tuple[int, ...], ages: tuple[int, ...]) -> int:
        return 1 if ages[0] == 1 and states[0] == 2 else 0

    assert evaluate(Bandit([toss, half]), comes_back).gain == pytest.approx(7 / 12, abs=1e-12)


@pytest.mark.parametrize(
    ("bandit", "policy"),
    [
        (example1(0.1), "myopic"),
        (example4(), "plan"),
        (random_problem(3, 2, rng=11), "plan"),
        (gilbert_elliott(3, [0.1, 0.3, 0.5], [0.2, 0.1, 0.6]), "round-robin"),
        (random_problem(2, 3, rng=5), "scrambled"),
    ],
)
def test_simulation_agrees(bandit, policy):
    """Batch means of the true system; five tests at 1e-5 each."""
    caps = [12] * bandit.n_arms
    best = plan(bandit, caps=caps) if policy == "plan" else None
    rules: dict[str, Rule] = {
        "myopic": myopic(bandit, caps),
        "round-robin": lambda states, ages: ages.index(max(ages)),
        "scrambled": scrambled(bandit, 3),
    }
    rule = best.action if best is not None else rules[policy]
    loops = [naive.period(arm) for arm in bandit.arms]
    chosen: dict[naive.Info, int] = {}

    def play(known: naive.Info) -> int:
        seen = tuple(
            (s, naive.stored(n, c, m)) for (s, n), c, m in zip(known, caps, loops, strict=True)
        )
        if seen not in chosen:
            chosen[seen] = rule(*zip(*seen, strict=True))
        return chosen[seen]

    given = {"plan": best, "scrambled": rules["scrambled"]}.get(policy, policy)
    value = evaluate(bandit, given, caps=caps)
    paid = [reward for _, _, reward in naive.simulate(bandit, play, 40_000, seed=2)]
    batches = np.array(paid).reshape(40, -1).mean(axis=1)
    error = batches.std(ddof=1) / np.sqrt(len(batches))
    reach = student.ppf(1 - 5e-6, len(batches) - 1) * error + 1e-4
    assert value.gain_lower - reach <= batches.mean() <= value.gain_upper + reach
    assert reach < 0.05  # else the test could not fail


# --- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [7, -1, None, "left", 0.0, 1.5])
def test_a_policy_that_does_not_return_an_arm(answer):
    with pytest.raises(ValueError, match=r"must return an arm 0\.\.1") as refusal:
        evaluate(example1(0.1), lambda states, ages: answer)
    assert repr(answer) in str(refusal.value)
    assert "ages (2, 1)" in str(refusal.value)


def test_a_policy_that_raises_is_heard():
    def broken(states: tuple[int, ...], ages: tuple[int, ...]) -> int:
        raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing"):
        evaluate(example1(0.1), broken)


@pytest.mark.parametrize("policy", [2, -1, "greedy", None, 0.5])
def test_policies_there_are_not(policy):
    with pytest.raises(ValueError, match=str(policy)):
        evaluate(example1(0.1), policy)


def test_tolerance_and_memory():
    with pytest.raises(ValueError, match="tolerance"):
        evaluate(example1(0.1), "myopic", 0.0)
    with pytest.raises(TooLargeError, match="information states"):
        evaluate(random_problem(2, 4, rng=1), "round-robin", memory=10_000)


def test_width_follows_the_tolerance():
    for seed in range(20):
        bandit = draw_bandit(seed, ("dense", "iid", "single"))
        for tolerance in (1e-3, 1e-6):
            value = evaluate(bandit, "myopic", tolerance)
            assert value.gain_upper - value.gain_lower <= tolerance
