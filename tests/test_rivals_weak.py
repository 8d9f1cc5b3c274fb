"""Rivals that look for the best arm: the contract, slow twins from the papers, what they find."""

from __future__ import annotations

from itertools import pairwise
from math import e, log, sqrt

import numpy as np
import pytest

from naive_weak import (
    asr,
    epochs,
    exp3,
    follow,
    kl_ucb,
    rca,
    sw_ucb,
    thompson,
    ucb1,
    ucb1_tuned,
)
from restive.base.errors import ProblemError
from restive.learners import LEARNERS, Learner, check_learner, make_learner
from restive.learners.rivals.regenerative import RegenerativeCycles, cycle_constant
from restive.learners.rivals.sequencing import AdaptiveSequencing
from restive.learners.rivals.spectra import additive_gap, gain_gap, multiplicative_gap
from restive.learners.storage import pack
from restive.model.bandit import Arm, Bandit
from restive.problems import example1, example4, random_problem
from restive.simulation import BanditWorld, RecordedWorld, play

BANDITS = {
    "two channels": example1(0.2),
    "three arms": random_problem(n_arms=3, n_states=[2, 3, 1], rng=3, reward_noise="beta"),
    "one arm": random_problem(n_arms=1, n_states=3, rng=5),
    "periodic": example4(),
}
SMALL = [  # constants small enough for every mode to be met within some hundred steps
    ("kl-ucb", {"c": 3.0}),
    ("sw-ucb", {"window": 7}),
    ("rca", {"exploration": 0.5}),
    ("dsee", {"rate": 0.7}),
    ("dsee", {"knowledge": "none"}),
    ("rucb", {"rate": 0.7, "exploration": 0.3}),
    ("rucb", {"knowledge": "none"}),
    ("asr", {"exploration": 0.01, "gap": 0.1, "epsilon": 0.005, "floor": 0.5}),
]
NAMES = [
    "ucb1", "ucb1-tuned", "kl-ucb", "thompson", "exp3", "exp3.s", "rca", "dsee", "rucb", "asr",
    "sw-ucb",
]  # fmt: skip
CASES = [*((name, {}) for name in NAMES), *SMALL]


def path_of(bandit, horizon, seed=1):
    record = BanditWorld(bandit, seed).record(horizon)
    return record.states, record.rewards


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("problem", BANDITS)
def test_rivals_keep_the_contract(name, options, problem):
    bandit = BANDITS[problem]
    check_learner(lambda: make_learner(name, bandit, 500, rng=2, **options), bandit.n_states)


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("problem", BANDITS)
def test_compiled_play_gives_the_same_bytes_as_ask_and_tell(name, options, problem):
    bandit = BANDITS[problem]
    states, rewards = path_of(bandit, 1500)
    fast, slow = (make_learner(name, bandit, 1500, rng=3, **options) for _ in range(2))
    pulls = [fast.play_path(states[:, a:b], rewards[:, a:b]) for a, b in ((0, 1), (1, 700))]
    pulls.append(fast.play_path(states[:, 700:], rewards[:, 700:]))
    assert np.concatenate(pulls).tolist() == Learner.play_path(slow, states, rewards).tolist()
    assert pack(*fast.snapshot()) == pack(*slow.snapshot())


@pytest.mark.parametrize("name", ["rca", "asr"])
def test_marks_may_be_any_labels(name):
    bandit = BANDITS["two channels"]
    options = dict(SMALL)[name]
    plain, named = (make_learner(name, bandit, 500, **options) for _ in range(2))
    states, rewards = path_of(bandit, 500)
    for step in range(500):
        arm = plain.ask()
        assert named.ask() == arm
        state = int(states[arm, step])
        plain.tell(arm, state, float(rewards[arm, step]))
        named.tell(arm, ("state", str(state)), float(rewards[arm, step]))
    named.play_path(states, rewards)  # no state of a path is one of these labels
    assert plain.snapshot()[1]["plays"].sum() > 0


def test_entries_are_registered_and_say_what_they_need():
    for name in NAMES:
        learner = make_learner(name, BANDITS["two channels"], 100)
        assert learner.name == name == LEARNERS[name].name
        assert learner.guarantee
        with pytest.raises(ProblemError, match="no such option"):
            make_learner(name, BANDITS["two channels"], 100, colour=1)
        with pytest.raises(ProblemError, match="outside"):
            learner.tell(0, 0, 1.5)
    for name in ("exp3", "exp3.s"):
        with pytest.raises(ProblemError, match="horizon"):
            make_learner(name, BANDITS["two channels"], None)


# --- twins -----------------------------------------------------------------------------------


TWINS = {
    "ucb1": lambda k, t, r: ucb1(k),
    "ucb1-tuned": lambda k, t, r: ucb1_tuned(k),
    "kl-ucb": lambda k, t, r: kl_ucb(k, 0.0),
    "kl-ucb 3": lambda k, t, r: kl_ucb(k, 3.0),
    "thompson": lambda k, t, r: thompson(k, r),
    "exp3": lambda k, t, r: exp3(k, sqrt(k * log(k) / (e - 1) / t), 0.0, r),
    "exp3.s": lambda k, t, r: exp3(k, min(1, sqrt(k * log(k * t) / t)), 1 / t, r),
    "exp3.s wide": lambda k, t, r: exp3(k, min(1, 1.5 * sqrt(k * log(k * t) / t)), 1 / t, r),
    "rca": lambda k, t, r: rca(k, 0.5),
    "dsee": lambda k, t, r: epochs(k, lambda t: 0.7, lambda t: 0.0, False),
    "dsee growing": lambda k, t, r: epochs(k, log, lambda t: 0.0, False),
    "rucb": lambda k, t, r: epochs(k, lambda t: 0.7, lambda t: 0.3, True),
    "rucb growing": lambda k, t, r: epochs(k, log, lambda t: sqrt(log(t)), True),
    "asr": lambda k, t, r: asr(k, 0.01, 0.1, 0.005, 0.5),
    "sw-ucb": lambda k, t, r: sw_ucb(k, round(2 * sqrt(t * log(t)))),
    "sw-ucb short": lambda k, t, r: sw_ucb(k, 25),
    "asr wide": lambda k, t, r: asr(k, 0.08, 0.05, 0.02, 0.1),
}
OPTIONS = {
    "exp3.s wide": {"rate": 1.5},
    "kl-ucb 3": {"c": 3.0},
    "sw-ucb short": {"window": 25},
    "rca": {"exploration": 0.5},
    "dsee": {"rate": 0.7},
    "dsee growing": {"knowledge": "none"},
    "rucb": {"rate": 0.7, "exploration": 0.3},
    "rucb growing": {"knowledge": "none"},
    "asr": {"exploration": 0.01, "gap": 0.1, "epsilon": 0.005, "floor": 0.5},
    "asr wide": {"exploration": 0.08, "gap": 0.05, "epsilon": 0.02, "floor": 0.1},
}


@pytest.mark.parametrize("case", TWINS)
@pytest.mark.parametrize("problem", ["two channels", "three arms", "periodic"])
def test_play_is_the_papers_pseudocode(case, problem):
    bandit, horizon = BANDITS[problem], 1200
    states, rewards = path_of(bandit, horizon, seed=8)
    learner = make_learner(case.split()[0], bandit, horizon, rng=6, **OPTIONS.get(case, {}))
    twin = TWINS[case](bandit.n_arms, horizon, np.random.default_rng(6))
    pulls = learner.play_path(states, rewards)
    assert pulls.tolist() == follow(twin, states, rewards)
    assert len(set(pulls.tolist())) == bandit.n_arms


# --- constants ---------------------------------------------------------------------------------


def test_eigenvalue_gaps_of_two_states_are_known():
    """P = [[1-p, p], [q, 1-q]] is reversible with second eigenvalue 1 - p - q."""
    for p, q in ((0.1, 0.1), (0.3, 0.2), (0.9, 0.8), (1.0, 1.0)):
        arm = Arm([[1 - p, p], [q, 1 - q]], [0, 1])
        assert additive_gap(arm) == pytest.approx(p + q)
        assert multiplicative_gap(arm) == pytest.approx(1 - (1 - p - q) ** 2, abs=1e-12)
    cycle = Arm(np.roll(np.eye(3), 1, axis=1), [0, 0.5, 1])
    assert additive_gap(cycle) == pytest.approx(1.5)  # cos(2 pi / 3) is the next eigenvalue
    assert multiplicative_gap(cycle) == pytest.approx(0, abs=1e-12)


def test_gaps_of_irreversible_chains_match_general_eigenvalues():
    for seed in range(5):
        arm = random_problem(n_arms=1, n_states=4, rng=seed).arms[0]
        mu = arm.stationary
        reverse = np.array([[mu[t] * arm.transitions[t, s] / mu[s] for t in range(4)]
                            for s in range(4)])  # fmt: skip
        for gap, matrix in (
            (additive_gap(arm), (arm.transitions + reverse) / 2),
            (multiplicative_gap(arm), reverse @ arm.transitions),
        ):
            values = np.sort(np.linalg.eigvals(matrix).real)
            assert gap == pytest.approx(1 - values[-2], abs=1e-9)


def unequal():
    """Two-state channels with gains 0.75 and 0.25, eigenvalue gaps 0.4 and 0.8."""
    return Bandit([Arm([[0.7, 0.3], [0.1, 0.9]], [0, 1]), Arm([[0.8, 0.2], [0.6, 0.4]], [0, 1])])


def test_builders_compute_the_papers_constants():
    bandit = unequal()
    assert gain_gap(bandit) == pytest.approx(0.5)
    eps = 1 - 0.6**2
    expected = 112 * 4 * 0.75**2 / eps
    assert make_learner("rca", bandit, None).settings["exploration"] == pytest.approx(expected)
    level = (80 * 4 / (3 - 2 * sqrt(2)) + 10) / 0.4
    for name in ("dsee", "rucb"):
        settings = make_learner(name, bandit, None).settings
        assert settings["rate"] == pytest.approx(4 * level / 0.25)
    assert settings["exploration"] == pytest.approx(level)
    settings = make_learner("asr", bandit, None).settings
    assert settings["exploration"] == pytest.approx(30 / (3 - 2 * sqrt(2)) / 0.4)
    assert settings["floor"] == pytest.approx(2 * 192 * 9 * 4 * 0.75**2 / (0.125**2 * 0.4))


def test_constants_exist_where_the_theorems_do_not_apply():
    assert cycle_constant(example4(center=False)) >= 1
    assert gain_gap(example1()) == 1.0
    still = Bandit([Arm([[1.0]], [0.0]), Arm([[1.0]], [0.0])])
    for name in NAMES:
        learner = make_learner(name, still, 50)
        assert set(learner.play_path(*path_of(still, 50)).tolist()) <= {0, 1}


# --- pulls that were not asked for ---------------------------------------------------------------


def interrupted(learner, states, rewards, rng):
    """Now and then another arm is pulled; returns (asked, pulled, state, reward) of each step."""
    log_ = []
    for step in range(states.shape[1]):
        asked = learner.ask()
        arm = int(rng.integers(len(states))) if rng.random() < 0.11 else asked
        log_.append((asked, arm, int(states[arm, step]), float(rewards[arm, step])))
        learner.tell(arm, *log_[-1][2:])
    return log_


def test_regenerative_cycles_count_only_cycles_seen_whole():
    states, rewards = path_of(unequal(), 2000)
    learner = RegenerativeCycles(2, 20.0)
    steps = interrupted(learner, states, rewards, np.random.default_rng(0))
    marks, plays, sums, cycle = {}, [0, 0], [0.0, 0.0], None
    for asked, arm, state, reward in steps:
        if arm != asked:
            cycle = None
            continue
        marks.setdefault(arm, state)
        if cycle and state == marks[arm]:
            plays[arm] += len(cycle)
            sums[arm] += sum(cycle)
            cycle = None
        elif cycle:
            cycle.append(reward)
        elif state == marks[arm]:
            cycle = [reward]
    assert learner.memory["plays"].tolist() == plays
    assert learner.memory["sums"][:, 0].tolist() == pytest.approx(sums)
    assert min(plays) > 50


def test_adaptive_sequencing_samples_one_path_of_each_chain():
    """Consecutive samples are consecutive steps, or are joined at one and the same state."""
    states, rewards = path_of(unequal(), 3000)
    learner = AdaptiveSequencing(2, 0.05, 0.1, 0.005, 20.0)
    before, joints = learner.snapshot()[1]["plays"], 0
    sampled = {0: [], 1: []}
    rng = np.random.default_rng(1)
    for step in range(3000):
        arm = int(rng.integers(2)) if rng.random() < 0.11 else learner.ask()
        learner.tell(arm, int(states[arm, step]), float(rewards[arm, step]))
        after = learner.snapshot()[1]["plays"]
        if after[arm] > before[arm]:
            sampled[arm].append(step)
        before = after
    for arm, steps in sampled.items():
        assert len(steps) > 100
        for a, b in pairwise(steps):
            if b > a + 1:
                joints += 1
                assert states[arm, b - 1] == states[arm, a]
    assert joints > 20


# --- what they find ------------------------------------------------------------------------------


def coins(*means):
    return Bandit([Arm([[1.0]], [mean], reward_noise="bernoulli") for mean in means])


@pytest.mark.parametrize("name", ["ucb1", "kl-ucb", "thompson"])
def test_the_best_of_independent_arms_is_found_with_logarithmic_regret(name):
    """Expected pulls of a worse arm are at most 8 log T / gap^2 + 1 + pi^2/3 (UCB1's theorem)."""
    bandit, horizon = coins(0.3, 0.7, 0.5), 40_000
    worse = []
    for seed in range(8):
        pulls = play(make_learner(name, bandit, None, rng=seed), BanditWorld(bandit, seed), horizon)
        worse.append((pulls.pulls[0], pulls.pulls[2]))
    bounds = [8 * log(horizon) / gap**2 + 4.3 for gap in (0.4, 0.2)]
    assert (np.mean(worse, axis=0) < bounds).all()
    assert np.mean(worse) > 5  # exploration never ends


def test_divergences_explore_less_than_hoeffding():
    bandit = coins(0.05, 0.1)
    lost = {
        name: np.mean([play(make_learner(name, bandit, None), BanditWorld(bandit, seed),
                            20_000).pulls[0] for seed in range(5)])
        for name in ("ucb1", "kl-ucb")
    }  # fmt: skip
    assert lost["kl-ucb"] < lost["ucb1"] / 2


def test_exp3_keeps_its_bound_against_rewards_chosen_to_mislead():
    """The better arm pays nothing at first: mean regret of 30 runs is well below 2.63 sqrt(gKlogK).

    One run's regret varies by about sqrt(T K log K) at most, the mean of 30 by a fifth of that.
    """
    horizon = 20_000
    rewards = np.zeros((2, horizon))
    rewards[0, : horizon // 4] = 1.0
    rewards[1, horizon // 4 :] = 0.8
    world = RecordedWorld(np.zeros((2, horizon), dtype=np.int64), rewards)
    best = rewards.sum(axis=1).max()
    regrets = [best - play(make_learner("exp3", coins(0, 1), horizon, rng=seed), world,
                           horizon).total_reward for seed in range(30)]  # fmt: skip
    assert np.mean(regrets) < 2.63 * sqrt(horizon * 2 * log(2))


def test_exp3_s_follows_a_best_arm_that_changes():
    """Against the best sequence with 4 switches: at most S sqrt(KT log KT) + 2e sqrt(KT/log KT)."""
    horizon, pieces = 50_000, 5
    rewards = np.zeros((2, horizon))
    for piece, part in enumerate(np.array_split(np.arange(horizon), pieces)):
        rewards[piece % 2, part] = 1.0
    world = RecordedWorld(np.zeros((2, horizon), dtype=np.int64), rewards)
    total = {
        name: np.mean([play(make_learner(name, coins(0, 1), horizon, rng=seed), world,
                            horizon).total_reward for seed in range(5)])
        for name in ("exp3", "exp3.s")
    }  # fmt: skip
    span = 2 * horizon
    bound = pieces * sqrt(span * log(span)) + 2 * e * sqrt(span / log(span))
    assert horizon - total["exp3.s"] < bound
    assert total["exp3.s"] > rewards.sum(axis=1).max() * 1.3  # far beyond every single arm
    assert total["exp3"] < total["exp3.s"]


RESTLESS = [
    ("rca", {"exploration": 2.0}),
    ("dsee", {"knowledge": "none"}),
    ("rucb", {"knowledge": "none"}),
    ("asr", {"exploration": 0.05, "floor": 0.0}),
]


@pytest.mark.parametrize(("name", "options"), RESTLESS)
def test_the_best_restless_arm_is_found(name, options):
    """The worse arm is pulled less and less often, in at most 3 % of the last three quarters."""
    bandit, horizon = unequal(), 40_000
    early, late = [], []
    for seed in range(10):
        states, rewards = path_of(bandit, horizon, seed)
        pulls = make_learner(name, bandit, None, **options).play_path(states, rewards)
        early.append(np.mean(pulls[:500] == 1))
        late.append(np.mean(pulls[horizon // 4 :] == 1))
    assert np.mean(late) < 0.03
    assert np.mean(late) < np.mean(early)


@pytest.mark.parametrize("name", ["rca", "dsee", "rucb", "asr"])
def test_the_theorems_constants_keep_exploring(name):
    """At horizons one can play, both arms are still pulled about as often as each other."""
    bandit = unequal()
    pulls = play(make_learner(name, bandit, None), BanditWorld(bandit, 1), 5461 * 2).pulls
    assert min(pulls) > 0.25 * sum(pulls)
