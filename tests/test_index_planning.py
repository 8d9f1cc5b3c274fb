"""Learners that plan by Whittle's index: tables, play by them, slow arms, many arms, many pulls."""

from __future__ import annotations

import numpy as np
import pytest

from restive._kernels import indices
from restive.base.errors import ProblemError
from restive.learners import Learner, check_learner, load_learner, make_learner
from restive.learners.index_planning import index_table, seldom_table, thinned
from restive.learners.rivals.whittle_sampling import WhittleSampling
from restive.learners.storage import pack
from restive.learners.tied import gap_learner
from restive.learners.tied.sampling import TiedSampling
from restive.many.whittle import whittle_table
from restive.model.bandit import Arm, Bandit
from restive.policies.sight import Sight
from restive.policies.spaced import SpacedIndexPolicy, SpacedTable, SpacedTables
from restive.simulation import BanditWorld, play
from restive.simulation.traced import TraceWorld, play_trace

CHAINS = {
    "slow": [[0.99, 0.01], [0.02, 0.98]],
    "very slow": [[0.9995, 0.0005], [0.001, 0.999]],
    "fast": [[0.6, 0.4], [0.3, 0.7]],
    "alternating": [[0.1, 0.9], [0.8, 0.2]],
    "nearly periodic": [[0.001, 0.999], [0.998, 0.002]],
    "three states": [[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.02, 0.08, 0.9]],
    "swinging": [[0.02, 0.98], [0.97, 0.03]],
    "nearly a ring": [[0.02, 0.97, 0.01], [0.01, 0.02, 0.97], [0.97, 0.01, 0.02]],
}


def slow_bandit(n_arms, rate, pulls=1):
    rng = np.random.default_rng(n_arms)
    chances = rate * rng.uniform(0.5, 1.5, (n_arms, 2))
    rewards = rng.uniform(0.8, 1.0, n_arms)
    arms = [Arm([[1 - p, p], [q, 1 - q]], [0, r])
            for (p, q), r in zip(chances, rewards, strict=True)]  # fmt: skip
    return Bandit(arms, pulls=pulls)


def stored(table, age):
    first = table.ages[table.back]
    if age >= first:
        return int(table.back + (age - first) % (len(table.ages) - table.back))
    return int(np.flatnonzero(table.ages <= age)[-1])


# --- tables ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("rewards", [(0.1, 0.9, 0.4), (0.8, 0.2, 0.3)])
def test_tables_hold_whittles_index_at_all_ages(name, rewards):
    chain = np.array(CHAINS[name])
    means = np.array(rewards[: len(chain)])
    table = index_table(chain, means, 0.02, 100_000)
    exact = whittle_table(Arm(chain, means))
    for age in (1, 2, 3, 7, 20, 63, 64, 65, 90, 200, 255, 500, 3_000):
        own = table.indices[:, stored(table, age)]
        expected = [exact.index(s, age) for s in range(len(chain))]
        np.testing.assert_allclose(own, expected, atol=0.04, err_msg=str(age))


@pytest.mark.parametrize("seed", range(20))
def test_two_states_have_the_index_of_the_sweep(seed):
    rng = np.random.default_rng(seed)
    up, down = rng.uniform(0.02, 0.97, 2)
    rewards = rng.random(2)
    better = int(rewards[1] >= rewards[0])
    chain = np.array([[1 - up, up], [down, 1 - down]])
    if not better:
        chain = chain[::-1, ::-1]
    ages, out = np.arange(1, 40), np.empty((2, 39))
    indices.two_state(up, down, rewards, ages, out)
    exact = whittle_table(Arm(chain, rewards))
    expected = [[exact.index(s, int(age)) for age in ages] for s in range(2)]
    np.testing.assert_allclose(out, expected, atol=1e-7)


def test_very_slow_arms_keep_ages_far_apart_and_few():
    table = index_table(np.array([[1 - 1e-5, 1e-5], [2e-5, 1 - 2e-5]]), np.array([0, 1.0]), 0.02,
                        10_000_000)  # fmt: skip
    assert table.ages[-1] > 100_000
    assert len(table.ages) < 1_000
    assert (np.diff(table.ages) <= 1 + table.ages[:-1] / 32).all()


@pytest.mark.parametrize("seed", range(4))
def test_compiled_play_by_index_is_that_of_plain_python(seed):
    rng = np.random.default_rng(seed)
    tables = []
    for size in (2, 3, 1, 2):
        ages = np.cumsum([1, 1, *rng.integers(1, 5, size=4), 1, 1])
        back = len(ages) - int(rng.integers(1, 4))
        tables.append(SpacedTable(rng.random((size, len(ages))), ages, back))
    policy, steps = SpacedIndexPolicy(SpacedTables.of(tables)), 200
    path = np.array([rng.integers(len(table.indices), size=steps) for table in tables])
    sight = Sight(4)
    for arm in range(4):
        sight.note(arm, 0)
    pulls, names = np.empty(steps, dtype=np.int64), np.tile(np.arange(3), (4, 1))
    left = np.full(4, steps)
    assert policy.walk(sight, left, names, path, pulls, 0, steps)[0] == steps
    assert (left == steps - np.bincount(pulls, minlength=4)).all()
    for step in range(steps):
        worth = [table.indices[sight.states[arm], stored(table, sight.age(arm))]
                 for arm, table in enumerate(tables)]  # fmt: skip
        assert pulls[step] == int(np.argmax(worth)) == policy.arm(sight)
        sight.note(int(pulls[step]), int(path[pulls[step], step]))


# --- learners --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_arms", [5, 12])
def test_tied_sampling_keeps_the_contract_with_many_arms(n_arms):
    check_learner(lambda: TiedSampling(n_arms, 1), [2] * n_arms, steps=120)


@pytest.mark.parametrize("pulls", [1, 2])
def test_whittle_sampling_keeps_the_contract(pulls):
    check_learner(lambda: WhittleSampling([2, 3, 2, 1], pulls, 3), [2, 3, 2, 1], steps=120)


def test_the_contract_holds_with_several_pulls():
    check_learner(lambda: TiedSampling(4, 1, pulls=2), [2] * 4, steps=120)


def test_slow_arms_are_planned_for_by_index_and_fast_ones_exactly():
    planned = {}
    for rate in (0.005, 0.4):
        bandit = slow_bandit(4, rate)
        record = BanditWorld(bandit, 1).record(2_000)
        learner = TiedSampling(4, 0)
        learner.play_path(record.states, record.rewards)
        planned[rate] = learner.planner.by_index
    assert planned == {0.005: True, 0.4: False}


@pytest.mark.parametrize("make", [lambda: TiedSampling(4, 2),
                                  lambda: WhittleSampling([2] * 4, 1, 2)])  # fmt: skip
def test_compiled_play_and_saved_learners_go_on_with_the_same_bytes(make, tmp_path):
    record = BanditWorld(slow_bandit(4, 0.02), 5).record(600)
    fast, slow = make(), make()
    pulls = fast.play_path(record.states[:, :300], record.rewards[:, :300])
    expected = Learner.play_path(slow, record.states[:, :300], record.rewards[:, :300])
    assert pulls.tolist() == expected.tolist()
    assert pack(*fast.snapshot()) == pack(*slow.snapshot())
    fast.save(tmp_path / "learner.zip")
    later = load_learner(tmp_path / "learner.zip")
    for learner in (fast, later):
        learner.play_path(record.states[:, 300:], record.rewards[:, 300:])
    assert pack(*fast.snapshot()) == pack(*later.snapshot())


def earned(bandit, learner, steps, seed):
    record = BanditWorld(bandit, seed).record(steps)
    return record.rewards[learner.play_path(record.states, record.rewards), np.arange(steps)].mean()


def test_slow_arms_cost_little_to_learn():
    """Exact plans with ages cut at a dozen earned a tenth less than myopic on the truth."""
    bandit = slow_bandit(5, 0.03)
    own = np.mean([earned(bandit, TiedSampling(5, seed), 4_000, seed) for seed in range(2)])
    rule = np.mean([
        earned(bandit, make_learner("myopic", bandit, None), 4_000, seed) for seed in range(2)
    ])  # fmt: skip
    assert own > 0.97 * rule


@pytest.mark.parametrize("name", ["tied-sampling", "whittle-sampling"])
def test_several_pulls_a_step_are_learned_to_be_the_good_ones(name):
    bandit = slow_bandit(5, 0.03, pulls=2)
    run = play(make_learner(name, bandit, None, rng=1), BanditWorld(bandit, 2), 1_500)
    blind = play(make_learner("round-robin", bandit, None), BanditWorld(bandit, 2), 1_500)
    assert run.total_reward > 1.2 * blind.total_reward


@pytest.mark.parametrize(
    "make", [lambda: TiedSampling(4, 0, pulls=2), lambda: WhittleSampling([2] * 4, 2)]
)
def test_several_pulls_are_different_arms(make):
    record = BanditWorld(slow_bandit(4, 0.1), 3).record(60)
    pulls = make().play_steps(record.states, record.rewards, 2)
    assert pulls.shape == (60, 2)
    assert (pulls[:, 0] != pulls[:, 1]).all()
    assert set(pulls[:2].ravel().tolist()) == {0, 1, 2, 3}


def test_more_pulls_than_arms_are_refused():
    for make in (lambda: TiedSampling(3, pulls=4), lambda: WhittleSampling([2, 2], 3),
                 lambda: TiedSampling(3).ask_step(2)):  # fmt: skip
        with pytest.raises(ProblemError, match="pulls"):
            make()


# --- where most pulls show nothing -----------------------------------------------------------


@pytest.mark.parametrize("name", CHAINS)
def test_a_thinned_chain_is_the_mixture_of_powers(name):
    chain, share = np.array(CHAINS[name]), 0.2
    mixture, power = np.zeros_like(chain), np.eye(len(chain))
    for n in range(200):
        power = power @ chain
        mixture += share * (1 - share) ** n * power
    assert np.allclose(thinned(chain, share), mixture, atol=1e-12)


@pytest.mark.parametrize("name", ["slow", "fast", "three states"])
def test_an_arm_that_is_seldom_seen_has_the_indices_from_sight_to_sight(name):
    """Age m of the thinned chain begins at step 1 + (m - 1)/q."""
    means = np.linspace(0.1, 0.9, len(CHAINS[name]))
    seldom = seldom_table(np.array(CHAINS[name]), means, 1e-4, 4000, 0.05)
    dense = index_table(thinned(np.array(CHAINS[name]), 0.05), means, 1e-4, 201)
    policy = SpacedIndexPolicy(SpacedTables.of([seldom, dense]))
    for age in (1, 2, 3, 5, 9):
        for state in range(len(means)):
            ages = np.array([[1 + 20 * (age - 1), age]])
            values = policy.priorities(np.full((1, 2), state), ages, np.zeros(1, int))[0]
            assert values[0] == pytest.approx(values[1], abs=1e-12)


@pytest.mark.parametrize(("every", "share"), [(10, 0.1), (3, 1 / 3), (1, 1.0)])
def test_plans_reckon_with_missed_steps_where_most_are(every, share):
    learner, world = TiedSampling(2, rng=0), BanditWorld(slow_bandit(2, 0.1), 1).walk()
    for step in range(300):
        learner.step(world.step([] if step % every else [learner.ask()]))
    assert learner._share() == pytest.approx(share)
    assert learner.planner.by_index is (share < 1)


def test_an_arm_is_not_chosen_for_a_memory_that_fades_before_the_next_sight(monkeypatch):
    """Staying with a moody arm while it is good would pay, if one saw that."""
    moody, steady = Arm([[0.8, 0.2], [0.1, 0.9]], [0, 1]), Arm([[0.2, 0.8], [0.2, 0.8]], [0, 1])
    states, rewards = next(BanditWorld(Bandit([*[moody] * 5, steady]), 3).blocks(8000))
    hidden = np.random.default_rng(0).random(8000) > 0.05
    states[:, hidden] = -1
    share = []
    for seldom in (0.0, 0.5):
        monkeypatch.setattr(gap_learner, "SELDOM", seldom)
        learner = TiedSampling(6, rng=1)
        replayed = play_trace(learner, TraceWorld(states, rewards))
        share.append((replayed.pulls[4000:][~hidden[4000:]] == 5).mean())
    assert share[0] < 0.5 < 0.75 < share[1]
