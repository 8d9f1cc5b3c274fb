"""Worlds have the right laws, give everybody the same path, and runs are scored correctly."""

from __future__ import annotations

import json
import threading
from itertools import islice, pairwise
from time import sleep

import numpy as np
import pytest
from scipy.stats import chi2

from restive.base.errors import ProblemError
from restive.learners import ColoredUCRL2, Learner, make_learner
from restive.mdp.structured import Parameters, StructuredMDP
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.problems import example1, example3, random_problem
from restive.simulation import BanditWorld, RecordedWorld, StructuredWorld, play
from restive.simulation.scoring import GapSum, RewardSum, marks
from restive.simulation.worlds import draw_rewards

ALPHA = 1e-4
Z = 3.9  # two-sided normal quantile at 1e-4

THREE = Arm([[0.2, 0.8, 0.0], [0.0, 0.5, 0.5], [0.9, 0.0, 0.1]], [0.1, 0.5, 1.0], initial=2)


def chi_square_fits(counts, law):
    """Whether counts (outcomes) fit a law at level ALPHA; impossible outcomes must not occur."""
    assert counts[law == 0].sum() == 0
    expected = counts.sum() * law[law > 0]
    statistic = ((counts[law > 0] - expected) ** 2 / expected).sum()
    return statistic <= chi2.ppf(1 - ALPHA, (law > 0).sum() - 1)


def path_of(world, horizon, size=1 << 15):
    states, rewards = zip(*world.blocks(horizon, size), strict=True)
    return np.concatenate(states, axis=1), np.concatenate(rewards, axis=1)


# --- worlds ----------------------------------------------------------------------------------


def transition_counts(states, size):
    counts = np.zeros((size, size))
    np.add.at(counts, (states[:-1], states[1:]), 1)
    return counts


def test_paths_have_the_law_of_the_chain():
    states, _ = path_of(BanditWorld(Bandit([THREE, THREE]), 3), 60_000)
    for path in states:
        counts = transition_counts(path, 3)
        for s in range(3):
            assert chi_square_fits(counts[s], THREE.transitions[s])
    wrong = np.array([0.25, 0.75, 0.0])  # the test can tell: a slightly wrong row is refused
    assert not chi_square_fits(transition_counts(states[0], 3)[0], wrong)


def test_arms_move_independently():
    states, _ = path_of(BanditWorld(example1(0.3), 5), 60_000)
    thin = states[:, ::40]  # .4^40: draws this far apart are independent
    pairs = np.bincount(2 * thin[0] + thin[1], minlength=4).astype(float)
    assert chi_square_fits(pairs, np.full(4, 0.25))


def test_the_first_state_has_its_own_law():
    law = np.array([0.0, 0.3, 0.7])
    arm = Arm(THREE.transitions, THREE.rewards, initial=law)
    first = [int(next(BanditWorld(Bandit([arm]), seed).blocks(1))[0][0, 0]) for seed in range(4000)]
    assert chi_square_fits(np.bincount(first, minlength=3).astype(float), law)
    sure = [int(next(BanditWorld(Bandit([THREE]), s).blocks(1))[0][0, 0]) for s in range(20)]
    assert sure == [2] * 20


@pytest.mark.parametrize("noise", ["none", "bernoulli", "beta"])
def test_rewards_have_exact_means(noise):
    rng = np.random.default_rng(1)
    for mean in (0.0, 0.13, 0.5, 1.0):
        drawn = draw_rewards(np.full(40_000, mean), noise, rng)
        assert ((drawn >= 0) & (drawn <= 1)).all()
        spread = drawn.std() / 200
        assert abs(drawn.mean() - mean) <= Z * spread + 1e-12
        if noise == "none" or mean in (0.0, 1.0):
            assert (drawn == mean).all()
        else:
            assert drawn.std() > 0.1


def test_a_path_does_not_depend_on_blocks_horizon_or_other_arms():
    arm = Arm(THREE.transitions, THREE.rewards, reward_noise="beta")
    world = BanditWorld(Bandit([arm, arm]), 11)
    states, rewards = path_of(world, 1000)
    for size in (1, 7, 1000):
        again = path_of(world, 1000, size)
        assert np.array_equal(states, again[0])
        assert np.array_equal(rewards, again[1])
        parts = [(s.copy(), r.copy()) for s, r in world.stream(1000, size)]
        assert np.array_equal(states, np.concatenate([s for s, _ in parts], axis=1))
        assert np.array_equal(rewards, np.concatenate([r for _, r in parts], axis=1))
    longer = path_of(world, 1500)
    assert np.array_equal(states, longer[0][:, :1000])
    third = path_of(BanditWorld(Bandit([arm, arm, arm]), 11), 1000)
    assert np.array_equal(states, third[0][:2])
    assert np.array_equal(rewards, third[1][:2])
    assert not np.array_equal(states[0], states[1])
    assert not np.array_equal(states, path_of(BanditWorld(Bandit([arm, arm]), 12), 1000)[0])


@pytest.mark.parametrize(("size", "threads"), [(64, "2"), (1000, "2"), (64, "1")])
def test_a_path_drawn_ahead_is_the_same_and_stays_while_it_is_used(size, threads, monkeypatch):
    arm = Arm(THREE.transitions, THREE.rewards, reward_noise="bernoulli")
    world = BanditWorld(Bandit([arm, arm]), 11)
    states, rewards = path_of(world, 1000, 100)
    monkeypatch.setenv("RESTIVE_THREADS", threads)
    monkeypatch.setattr("restive.simulation.worlds.AHEAD_FROM", 1)
    before = threading.active_count()
    begin, most = 0, 0
    for path, paid in world.stream(1000, size):
        sleep(0.002)  # time enough for the next block to be drawn
        part = slice(begin, begin + path.shape[1])
        assert np.array_equal(path, states[:, part])
        assert np.array_equal(paid, rewards[:, part])
        begin, most = part.stop, max(most, threading.active_count())
    assert begin == 1000
    assert most == before + (threads == "2" and size < 1000)
    assert threading.active_count() == before


@pytest.mark.parametrize("recorded", [False, True])
def test_every_block_is_a_whole_array_so_that_kernels_compile_once(recorded):
    world = BanditWorld(example1(), 3)
    world = world.record(100) if recorded else world
    for states, rewards in world.stream(100, 40):
        assert states.flags.c_contiguous
        assert rewards.flags.c_contiguous


def test_a_path_drawn_ahead_may_be_left_early(monkeypatch):
    monkeypatch.setenv("RESTIVE_THREADS", "2")
    before = threading.active_count()
    stream = BanditWorld(example1(), 2).stream(10**9)
    assert next(stream)[0].shape == (2, 1 << 16)
    assert threading.active_count() == before + 1
    stream.close()
    assert threading.active_count() == before


def test_seeds_of_every_kind_and_their_record():
    bandit = example1()
    sequence = np.random.SeedSequence(5, spawn_key=(2,))
    same = [path_of(BanditWorld(bandit, sequence), 50)[0] for _ in range(2)]
    assert np.array_equal(*same)
    assert BanditWorld(bandit, sequence).seed == [5, 2]
    sister = np.random.SeedSequence(5, spawn_key=(3,))
    assert not np.array_equal(same[0], path_of(BanditWorld(bandit, sister), 50)[0])
    assert BanditWorld(bandit, 5).seed == 5
    drawn = BanditWorld(bandit, np.random.default_rng(1))
    assert np.array_equal(path_of(drawn, 50)[0], path_of(drawn, 50)[0])
    assert isinstance(BanditWorld(bandit, None).seed, int)


def test_a_record_replays_and_refuses_to_go_on():
    world = BanditWorld(example1(), 2)
    record = world.record(40_000)
    states, rewards = path_of(world, 40_000)
    assert np.array_equal(record.states, states)
    assert np.array_equal(path_of(record, 33_000, 999)[1], rewards[:, :33_000])
    with pytest.raises(ProblemError, match="40000 steps on record"):
        next(record.blocks(40_001))
    with pytest.raises(ProblemError, match="one row per arm"):
        RecordedWorld(states, rewards[:, 1:])
    with pytest.raises(ProblemError, match="from 0 on"):
        RecordedWorld(states - 1, rewards)
    for shift in (0.5, np.nan):
        with pytest.raises(ProblemError, match="Rescale"):
            RecordedWorld(states, rewards + shift)


class Spy(Learner):
    """Pulls by a fixed sequence of its own and writes down what it is told."""

    name, guarantee = "spy", "none"

    def __init__(self, seed):
        self.n_arms = 2
        self.plan = np.random.default_rng(seed).integers(0, 2, 500)
        self.told = []

    def ask(self):
        return int(self.plan[len(self.told)])

    def tell(self, arm, state, reward):
        self.told.append((arm, state, reward))

    def snapshot(self):
        return {}, {}

    def restore(self, state, arrays):
        pass


def test_every_learner_meets_the_same_path():
    world = BanditWorld(example1(), 9)
    spies = [Spy(1), Spy(2)]
    for spy in spies:
        play(spy, world, 500)
    both = [(a, b) for a, b in zip(*(s.told for s in spies), strict=True) if a[0] == b[0]]
    assert len(both) > 150
    assert all(a == b for a, b in both)
    states, _ = path_of(world, 500)
    assert [s for _, s, _ in spies[0].told] == states[spies[0].plan, np.arange(500)].tolist()


# --- scores ----------------------------------------------------------------------------------


def test_marks_cover_the_horizon():
    at = marks(10**6)
    assert at[0] == 1
    assert at[-1] == 10**6
    assert 120 <= len(at) <= 200
    assert (np.diff(at) > 0).all()
    assert marks(1).tolist() == [1]


def naive_gap_curve(optimum, pulls, states):
    """Gaps step by step from Plan.gap; arms not pulled yet count as seen in the first step."""
    seen, total, curve = {}, 0.0, []

    def place(t):
        known = [seen.get(arm, (int(states[arm, 0]), 0)) for arm in range(len(states))]
        return [state for state, _ in known], [t - when for _, when in known]

    for t, arm in enumerate(pulls):
        if t >= 2:
            total += float(optimum.gap(*place(t))[arm])
        if t == 2:
            first = float(optimum.bias(*place(t)))
        seen[int(arm)] = (int(states[arm, t]), t)
        curve.append(total)
    return np.array(curve), float(optimum.bias(*place(len(pulls)))) - first


@pytest.mark.parametrize("with_table", [True, False])
def test_gaps_and_rewards_add_up_as_step_by_step(with_table, monkeypatch):
    if not with_table:
        monkeypatch.setattr("restive.simulation.scoring.TABLE_BYTES", 0)
    bandit = random_problem(n_arms=3, n_states=[2, 3, 2], rng=4)
    optimum = plan(bandit, 1e-4)
    states, rewards = path_of(BanditWorld(bandit, 8), 600)
    pulls = np.random.default_rng(0).integers(0, 3, 600)
    at = marks(600)
    gaps, sums = GapSum(optimum, at), RewardSum(at, 3)
    for begin in range(0, 600, 250):
        part = slice(begin, begin + 250)
        gaps.add(pulls[part], states[:, part], rewards[:, part])
        sums.add(pulls[part], rewards[:, part])
    curve, beyond = naive_gap_curve(optimum, pulls, states)
    assert np.allclose(gaps.curve, curve[at - 1], atol=1e-9)
    assert np.allclose(sums.curve, np.cumsum(rewards[pulls, np.arange(600)])[at - 1])
    assert sums.pulled.tolist() == [int((pulls == arm).sum()) for arm in range(3)]
    early = 2 * optimum.gain - rewards[pulls[0], 0] - rewards[pulls[1], 1]
    assert gaps.boundary == pytest.approx(beyond + early, abs=1e-9)


@pytest.mark.parametrize("name", ["colored-ucrl2", "round-robin", "optimal", "best-arm"])
def test_regret_and_gap_regret_agree_in_expectation(name):
    bandit = example3(0.2)
    optimum = plan(bandit, 1e-9)
    horizon, runs = 1500, 150
    differences, plain, by_gaps = [], [], []
    for seed in range(runs):
        run = play(make_learner(name, bandit, horizon), BanditWorld(bandit, seed), horizon,
                   plan=optimum)  # fmt: skip
        differences.append(run.regret[-1] - run.gap_regret[-1] - run.boundary)
        plain.append(run.regret[-1])
        by_gaps.append(run.gap_regret[-1])
    error = np.std(differences) / np.sqrt(runs)
    assert abs(np.mean(differences)) <= Z * error + 1e-9
    assert min(by_gaps) >= 0
    if name == "optimal":  # the first two pulls count nothing, and then it is optimal
        assert max(by_gaps) <= 1e-6
        assert np.std(plain) > 1
    if name == "best-arm":  # the other arm is never seen, and yet there is no luck in it
        assert np.std(by_gaps) < 0.2 * np.std(plain)
    if name == "round-robin":
        assert np.mean(by_gaps) > 10 * Z * error  # it does lose, and the gaps say how much


def test_regret_is_against_the_gain_of_the_start_where_that_matters():
    swap = Arm([[0, 1], [1, 0]], [0, 1])
    bandit = Bandit([swap, swap])
    optimum = plan(bandit)
    gains = set()
    for seed in range(12):
        run = play(make_learner("optimal", bandit, None), BanditWorld(bandit, seed), 1000,
                   plan=optimum)  # fmt: skip
        gains.add(round(run.gain, 9))
        assert abs(run.regret[-1]) <= 3
        assert run.gap_regret[-1] == pytest.approx(0, abs=1e-6)
    assert gains == {0.5, 1.0}  # in step with each other or not


def test_the_first_two_pulls_count_nothing():
    bandit = example1(0.1)
    for horizon in (1, 2, 3):
        run = play(make_learner("round-robin", bandit, None), BanditWorld(bandit, 3), horizon,
                   plan=plan(bandit))  # fmt: skip
        assert (run.gap_regret[:2] == 0).all()
        if horizon < 3:
            assert run.boundary == pytest.approx(run.regret[-1])


def test_the_learner_s_own_seed_is_recorded_and_survives_a_snapshot():
    bandit, world = example1(0.1), BanditWorld(example1(0.1), 5)

    def recorded(learner):
        return json.loads(json.dumps(play(learner, world, 20).provenance))

    assert recorded(make_learner("tied-sampling", bandit, 20, rng=7))["learner_seed"] == 7
    luck = np.random.default_rng([7, 1])
    luck.random(3)  # what was drawn before does not hide where it came from
    learner = make_learner("tied-sampling", bandit, 20, rng=luck)
    assert (recorded(learner)["seed"], recorded(learner)["learner_seed"]) == (5, [7, 1])
    other = make_learner("tied-sampling", bandit, 20)
    other.restore(*learner.snapshot())
    assert recorded(other)["learner_seed"] == [7, 1]
    spawned = np.random.default_rng(np.random.SeedSequence(3).spawn(2)[1])
    again = make_learner("tied-sampling", bandit, 20, rng=spawned)
    assert recorded(again)["learner_seed"] == [3, 1]


def test_the_three_regrets_of_a_run():
    bandit = example1(0.1)
    optimum = plan(bandit)
    world = BanditWorld(bandit, 1)
    run = play(make_learner("optimal", bandit, None), world, 5000, plan=optimum)
    assert np.allclose(run.regret, 0.7 * run.times - run.rewards, atol=0.01)
    assert np.allclose(run.weak_regret, 0.5 * run.times - run.rewards)
    assert run.weak_regret[-1] < -500 < -150 < run.regret[-1] < 150
    assert run.total_reward == run.rewards[-1]
    assert sum(run.pulls) == 5000
    assert run.missing == {}
    again = json.loads(json.dumps(run.to_dict()))
    assert again["provenance"]["learner"] == "optimal"
    assert again["provenance"]["seed"] == 1
    assert again["provenance"]["learner_seed"] is None  # a plan draws nothing
    assert again["gap_regret"] == run.gap_regret.tolist()
    bare = play(make_learner("round-robin", bandit, None), RecordedWorld(*path_of(world, 10)), 10)
    assert (bare.regret, bare.gap_regret, bare.weak_regret) == (None, None, None)
    assert set(bare.missing) == {"regret", "gap_regret", "weak_regret"}


def test_a_plan_for_the_step_after_the_run_is_no_episode_of_it():
    bandit = example1(0.1)
    idle = 0
    for horizon in range(3, 40):
        learner = make_learner("colored-ucrl2", bandit, 1000)
        run = play(learner, BanditWorld(bandit, 1), horizon)
        assert run.episodes == tuple(s for s in learner.episodes if s <= horizon)
        idle += learner.episodes[-1] == horizon + 1
    assert idle > 5


class Ending(BanditWorld):
    """A world that is over after some blocks of 100 steps."""

    left = 0

    def stream(self, horizon, size=100):
        return islice(super().stream(horizon, size), self.left)


@pytest.mark.parametrize("blocks", [0, 1, 7])
def test_curves_end_with_the_last_step_of_a_world_that_ends_early(blocks):
    bandit = example1(0.1)
    optimum = plan(bandit)
    world = Ending(bandit, 4)
    world.left = blocks
    run = play(make_learner("round-robin", bandit, None), world, 10_000, plan=optimum)
    curves = (run.times, run.rewards, run.regret, run.gap_regret, run.weak_regret)
    if not blocks:
        assert [len(curve) for curve in curves] == [run.steps] * 5 == [0] * 5
        return
    whole = play(make_learner("round-robin", bandit, None), BanditWorld(bandit, 4), 100 * blocks,
                 plan=optimum)  # fmt: skip
    theirs = (whole.times, whole.rewards, whole.regret, whole.gap_regret, whole.weak_regret)
    assert [curve[-1] for curve in curves] == [curve[-1] for curve in theirs]
    assert run.steps == run.times[-1] == 100 * blocks
    assert (np.diff(run.times) > 0).all()
    assert (run.total_reward, run.pulls) == (whole.total_reward, whole.pulls)


def test_play_refuses_what_does_not_fit():
    bandit = example1()
    learner = make_learner("round-robin", bandit, None)
    three = BanditWorld(random_problem(n_arms=3, n_states=2, rng=1), 0)
    with pytest.raises(ProblemError, match="3 arms of this world"):
        play(learner, three, 10)
    with pytest.raises(ProblemError, match="another bandit"):
        play(learner, BanditWorld(bandit), 10, plan=plan(example1(0.2)))
    with pytest.raises(ValueError, match="horizon"):
        play(learner, BanditWorld(bandit), 0)


def test_progress_reports_the_steps():
    seen = []
    run = play(make_learner("round-robin", example1(), None), BanditWorld(example1()), 100_000,
               progress=lambda *done: seen.append(done))  # fmt: skip
    assert seen[-1] == (100_000, run.total_reward)
    assert all(a < b for a, b in pairwise(seen))


# --- structured worlds -----------------------------------------------------------------------


def river(epsilon=0.05):
    """A walk on five states with two actions; interior states share colors up to epsilon."""
    n = 5
    colors = np.array([[0, 1]] + [[2, 3]] * (n - 2) + [[4, 5]])
    successors = np.array([[[s - 1, s, s + 1]] * 2 for s in range(n)], dtype=np.int64)
    successors[0], successors[-1] = [0, 1, -1], [n - 2, n - 1, -1]
    laws = np.zeros((n, 2, 3))
    laws[:, 0] = [0.8, 0.1, 0.1]
    laws[:, 1] = [0.1, 0.3, 0.6]
    laws[0], laws[-1] = [[0.9, 0.1, 0], [0.4, 0.6, 0]], [[0.8, 0.2, 0], [0.1, 0.9, 0]]
    laws[2, 1] = [0.1, 0.3 + epsilon / 2, 0.6 - epsilon / 2]
    rewards = np.zeros((n, 2))
    rewards[0], rewards[-1, 1] = 0.1, 1.0
    return StructuredMDP(colors, successors), laws, rewards


def test_a_structured_world_has_the_law_of_each_pair():
    mdp, laws, rewards = river()
    world = StructuredWorld(mdp, laws, rewards, 3)
    assert world.epsilon == pytest.approx(0.05)
    walk = world.walk()
    counts, paid, visits = np.zeros((5, 2, 5)), np.zeros((5, 2)), np.zeros((5, 2))
    choose = np.random.default_rng(0)
    for _ in range(30_000):
        before, action = walk.state, int(choose.integers(2))
        after, reward = walk.step(action)
        counts[before, action, after] += 1
        paid[before, action] += reward
        visits[before, action] += 1
    for s in range(5):
        for a in range(2):
            law = np.zeros(5)
            np.add.at(law, mdp.successors[s, a], laws[s, a])
            assert chi_square_fits(counts[s, a], law)
            mean, n = rewards[s, a], visits[s, a]
            assert abs(paid[s, a] / n - mean) <= Z * np.sqrt(mean * (1 - mean) / n) + 1e-12


def test_laws_per_color_are_spread_over_pairs():
    mdp, laws, rewards = river(0.0)
    _, first = np.unique(mdp.colors, return_index=True)
    per_color = StructuredWorld(mdp, laws.reshape(10, 3)[first], rewards.reshape(10)[first])
    per_pair = StructuredWorld(mdp, laws, rewards)
    assert np.array_equal(per_color.laws, per_pair.laws)
    assert per_color.epsilon == 0
    with pytest.raises(ProblemError, match="one entry per color"):
        StructuredWorld(mdp, laws[:2], rewards)
    with pytest.raises(ProblemError, match="sum to 1"):
        StructuredWorld(mdp, 2 * laws, rewards)


def test_the_gain_of_a_structured_world():
    mdp, parameters = StructuredMDP.plain([[[0, 1], [1, 0]], [[0, 1], [1, 0]]], [[0, 0.2], [1, 0]])
    world = StructuredWorld(mdp, parameters.probabilities, parameters.rewards)
    assert world.gain() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("noise", ["none", "bernoulli"])
def test_compiled_walks_give_the_same_bytes_as_ask_and_tell(noise):
    mdp, laws, rewards = river()
    world = StructuredWorld(mdp, laws, rewards, 5, reward_noise=noise)
    fast = ColoredUCRL2(mdp, epsilon=world.epsilon)
    run = play(fast, world, 3000)
    slow, walk = ColoredUCRL2(mdp, epsilon=world.epsilon), world.walk()
    pulls, paid = Learner.play_walk(slow, walk, 3000)
    assert run.total_reward == pytest.approx(paid.sum())
    assert run.pulls == tuple(np.bincount(pulls, minlength=2).tolist())
    ours, theirs = fast.snapshot(), slow.snapshot()
    assert ours[0] == theirs[0]
    assert all(np.array_equal(ours[1][key], theirs[1][key]) for key in ours[1])
    assert len(run.episodes) > 10


def test_colored_ucrl2_learns_the_river_and_known_colors_help():
    mdp, laws, rewards = river()
    world = StructuredWorld(mdp, laws, rewards, 1)
    _, first = np.unique(mdp.colors, return_index=True)
    truth = Parameters(rewards.reshape(10)[first], laws.reshape(10, 3)[first])
    known = np.array([False, True, True, True, True, False])
    runs = {
        "none": play(ColoredUCRL2(mdp, epsilon=0.05), world, 200_000),
        "some": play(
            ColoredUCRL2(mdp, epsilon=0.05, known=known, parameters=truth), world, 200_000
        ),
    }
    half = {name: run.regret[np.searchsorted(run.times, 100_000)] for name, run in runs.items()}
    late = runs["none"].regret[-1] - half["none"]
    assert late < 0.85 * half["none"]  # slower than linear
    assert runs["none"].regret[-1] < 0.05 * runs["none"].gain * 200_000
    assert runs["some"].regret[-1] < 0.5 * runs["none"].regret[-1]
    assert runs["some"].replans < runs["none"].replans
