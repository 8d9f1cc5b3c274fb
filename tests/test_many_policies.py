"""Policies for many arms: kernels against the plain rules, simulated values against exact ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2
from scipy.stats import t as student

from naive_scheduler import play_all_chains
from restive._kernels import unseen_chains
from restive.base.errors import ProblemError
from restive.many import policies
from restive.many.policies import RulePolicy
from restive.many.population import Population
from restive.many.simulating import best_of, simulate_policy
from restive.model.bandit import Arm, Bandit
from restive.planning.evaluation import evaluate
from restive.planning.indices import whittle_indices
from zoo import draw_arm

FALSE_ALARM = 1e-4
FAST = [
    Arm([[0.7, 0.3], [0.2, 0.8]], [0.1, 0.9]),
    Arm([[0.5, 0.5], [0.4, 0.6]], [0.0, 1.0]),
    Arm([[0.2, 0.8], [0.7, 0.3]], [0.2, 0.8]),
]


def indices(arm):
    return whittle_indices(arm, 12 if arm.period == 1 else 2)


def some_policies(population):
    price = 0.5 * max(arm.gain for arm in population.kinds)
    return [
        policies.whittle(population, indices),
        policies.lagrangian(population, price),
        policies.myopic(population),
        policies.stay_else_oldest(population),
        policies.round_robin(population),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_kernels_play_as_the_rules_say(seed):
    """Draws depend on arm and step alone, so that the same rule must earn the same to the bit."""
    rng = np.random.default_rng(seed)
    kinds = [draw_arm(kind, rng, size=3) for kind in ("dense", "periodic", "iid")]
    population = Population(kinds, rng.integers(0, 3, 7))
    for policy, pulls in product(some_policies(population), (1, 3)):
        same = RulePolicy(policy.name, population, policy.select)
        fast = simulate_policy(population, policy, pulls, 150, 3, rng=seed, warmup=10)
        slow = simulate_policy(population, same, pulls, 150, 3, rng=seed, warmup=10)
        np.testing.assert_allclose(fast.run_means, slow.run_means, rtol=1e-13)


@pytest.mark.parametrize("arms", [FAST[:2], FAST, [FAST[0]] * 3])
def test_simulated_values_hold_the_exact_ones(arms):
    bandit, population = Bandit(arms), Population.of(arms)
    tables = [indices(arm) for arm in arms]

    def whittle(states, ages):
        score = [t[s, min(n, 12) - 1] for t, s, n in zip(tables, states, ages, strict=True)]
        return int(np.argmax(score))

    def stay(states, ages):
        arm = ages.index(1)
        good = arms[arm].rewards[states[arm]] >= max(a.gain for a in arms) - 1e-12
        return arm if good else ages.index(max(ages))

    for policy, exact in [
        (policies.myopic(population), evaluate(bandit, "myopic", caps=40)),
        (policies.round_robin(population), evaluate(bandit, "round-robin", caps=40)),
        (policies.whittle(population, indices), evaluate(bandit, whittle, caps=40)),
        (policies.stay_else_oldest(population), evaluate(bandit, stay, caps=40)),
    ]:
        value = simulate_policy(population, policy, 1, 20_000, 24, rng=5,
                                confidence=1 - FALSE_ALARM)  # fmt: skip
        assert value.lower <= exact.gain <= value.upper, policy.name
        assert value.upper - value.lower < 0.02
        assert (value.kind, value.runs, value.steps) == ("simulated", 24, 20_000)


def test_several_pulls_against_moving_all_chains():
    """Lazy draws have the law of the chains themselves, starts and periods included."""
    rng = np.random.default_rng(2)
    cycle = Arm([[0, 1, 0], [0, 0, 1], [1, 0, 0]], [1.0, 0.5, 0.0], initial=1)
    arms = [*FAST, cycle, Arm([[0.9, 0.1], [0.3, 0.7]], [0, 1], initial=1)]
    population = Population.of(arms)
    for policy in (policies.myopic(population), policies.stay_else_oldest(population)):
        value = simulate_policy(population, policy, 2, 12, 4000, rng=1, warmup=0)
        naive = [play_all_chains(arms, policy.select, 2, 12, rng) for _ in range(250)]
        gap = value.mean - np.mean(naive)
        spread = np.sqrt(np.var(naive) / 250 + np.var(value.run_means) / 4000)
        assert abs(gap) <= student.ppf(1 - FALSE_ALARM / 2, 249) * spread


@pytest.mark.parametrize("kind", ["dense", "periodic", "near reducible", "iid"])
def test_states_are_drawn_from_the_power(kind):
    rng = np.random.default_rng(11)
    arm = draw_arm(kind, rng, size=3)
    laws = Population([arm], [0]).laws
    draws = 4000
    for age in (1, 2, 63, 64, 65, 4097, 10**6 + 1, 10**15 + 2):
        for state in range(3):
            seen = np.zeros(3)
            for run in range(draws):
                key = np.uint64(run * 977 + age)
                seen[unseen_chains.draw(laws, 0, state, age, key, 5, 3)] += 1
            expected = draws * arm.power(age)[state]
            possible = expected > 1e-6
            assert not seen[~possible].any()
            gap = ((seen - expected)[possible] ** 2 / expected[possible]).sum()
            assert gap <= chi2.ppf(1 - FALSE_ALARM / 96, max(possible.sum() - 1, 1))


def test_uniform_numbers_are_uniform_and_unrelated():
    draws = np.array([[unseen_chains.uniform(np.uint64(9), arm, step, 0) for step in range(300)]
                      for arm in range(300)])  # fmt: skip
    counts = np.histogram(draws, 100, (0, 1))[0]
    assert ((counts - 900) ** 2 / 900).sum() <= chi2.ppf(1 - FALSE_ALARM, 99)
    limit = student.ppf(1 - FALSE_ALARM / 6, 10**4) / 300
    for later, earlier in ((draws[1:], draws[:-1]), (draws[:, 1:], draws[:, :-1])):
        assert abs(np.corrcoef(later.ravel(), earlier.ravel())[0, 1]) <= limit
    assert abs(np.corrcoef(draws.ravel(), draws.T.ravel())[0, 1]) <= limit


def priced_values(arm, price, cap, sweeps=3000):
    """Values (S, cap) of one arm that pays for its pulls, by damped relative value iteration."""
    rows = np.array([arm.power(n) for n in range(1, cap + 1)])
    v = np.zeros((cap, arm.n_states))
    for _ in range(sweeps):
        pull = rows @ arm.rewards - price + rows @ v[0]
        rest = v[[*range(1, cap), cap - 1]]
        change = np.maximum(pull, rest) - v
        v = v + 0.5 * (change - change[0, 0])
    return v.T, (pull - rest).T


@pytest.mark.parametrize("price", [0.2, 0.35])
def test_the_rollout_is_two_steps_of_value_iteration(price):
    cap = 12
    arms = FAST[:2]
    population = Population.of(arms)
    values, advantages = zip(*(priced_values(arm, price, cap) for arm in arms), strict=True)
    of = dict(zip(arms, advantages, strict=True))
    policy = policies.rollout(population, price, lambda arm, _: of[arm])

    def value(states, ages, steps):
        """The sum of the priced values, after some steps of value iteration."""
        if steps == 0:
            return sum(v[s, min(n, cap) - 1] for v, s, n in zip(values, states, ages, strict=True))
        return max(worths(states, ages, steps))

    def worths(states, ages, steps):
        out = []
        for j, arm in enumerate(arms):
            law = arm.power(min(ages[j], cap))[states[j]]
            later = [n + 1 for n in ages]
            later[j] = 1
            out.append(sum(
                p * (arm.rewards[s] + value([*states[:j], s, *states[j + 1:]], later, steps - 1))
                for s, p in enumerate(law)
            ))  # fmt: skip
        return out

    for states in product((0, 1), repeat=2):
        for ages in [(1, n) for n in range(2, 11)] + [(n, 1) for n in range(2, 11)]:
            worth = worths(list(states), list(ages), 2)
            score = policy.scores(np.array([states]), np.array([ages]), 1)[0]
            assert score[0] - score[1] == pytest.approx(worth[0] - worth[1], abs=1e-6)
            assert policy.select(np.array([states]), np.array([ages]), 1)[0, 0] == np.argmax(worth)


def test_good_policies_beat_round_robin_and_the_best_is_found():
    population = Population(FAST[:1], [0] * 12)
    choice = best_of(population, some_policies(population), 2, 3000, 8, rng=0)
    assert choice.policy.name != "round robin"
    assert choice.values["whittle"].lower > choice.values["round robin"].upper
    assert choice.value.mean != choice.values[choice.policy.name].mean  # simulated anew


def test_same_seed_same_bytes_whatever_the_threads():
    population = Population.of(FAST)
    for policy in some_policies(population):
        alone = simulate_policy(population, policy, 2, 500, 6, rng=3, threads=1)
        two = simulate_policy(population, policy, 2, 500, 6, rng=3, threads=3)
        assert alone.run_means.tobytes() == two.run_means.tobytes()
        more = simulate_policy(population, policy, 2, 500, 8, rng=3)
        assert more.run_means[:6].tobytes() == alone.run_means.tobytes()
        assert simulate_policy(population, policy, 2, 500, 6, rng=4).mean != alone.mean


def test_a_time_limit_leaves_an_honest_interval():
    population = Population.of(FAST)
    value = simulate_policy(population, policies.myopic(population), 2, 10**9, 4, rng=0,
                            warmup=0, time_limit=0.3)  # fmt: skip
    assert (value.lower, value.upper, value.runs) == (0.0, 2.0, 0)
    assert 0 < value.mean < 2
    assert 0 < value.steps < 10**9


def test_arms_with_a_start_of_their_own():
    """An arm that begins in a state has that state's reward at the first step."""
    arm = Arm([[0.5, 0.5], [0.5, 0.5]], [0.2, 0.6], initial=1)
    population = Population([arm, Arm([[1.0]], [0.5])], [0, 1])
    chosen = policies.myopic(population).select(
        np.array([[-1, -1]] * 2), np.array([[1, 1], [2, 2]]), 1
    )
    assert chosen.tolist() == [[0], [1]]
    value = simulate_policy(population, policies.myopic(population), 1, 1, 50, rng=0, warmup=0)
    assert value.mean == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("pulls", "horizon", "runs", "path"),
    [(0, 10, 2, "pulls"), (4, 10, 2, "pulls"), (1, 0, 2, "horizon"), (1, 10, 0, "runs")],
)
def test_wrong_input_is_named(pulls, horizon, runs, path):
    population = Population.of(FAST)
    with pytest.raises(ProblemError) as raised:
        simulate_policy(population, policies.round_robin(population), pulls, horizon, runs)
    assert raised.value.faults[0].path == path


def test_kinds_must_exist():
    with pytest.raises(ProblemError):
        Population(FAST, [0, 3])
    with pytest.raises(ProblemError):
        Population(FAST, [])
