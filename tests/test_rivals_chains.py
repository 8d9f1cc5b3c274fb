"""Rivals that estimate or draw whole chains: ALA, TSDE, policy sampling, explore-then-Whittle."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import ceil, log, sqrt

import numpy as np
import pytest

from restive.learners import Learner, check_learner, make_learner
from restive.learners.paper.rules import Evidence
from restive.learners.rivals.adaptive import estimated_rows
from restive.learners.rivals.chain_draws import ChainDraw
from restive.learners.storage import pack
from restive.learners.tied.gaps import Gaps
from restive.mdp.representation import Representation
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.problems import example1, example3, random_problem
from restive.simulation import BanditWorld, play

THREE = Bandit([
    Arm([[0.6, 0.4, 0.0], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]], [0.1, 0.5, 0.9], reward_noise="beta"),
    Arm([[0.8, 0.2], [0.3, 0.7]], [0.2, 0.8]),
    Arm([[1.0]], [0.45]),
])  # fmt: skip
CASES = [
    ("ala", {}),
    ("ala", {"exploration": 0.7}),
    ("tsde", {}),
    ("policy-sampling", {}),
    ("policy-sampling", {"mapping": "best-arm"}),
    ("explore-then-whittle", {}),
]


def path_of(bandit, horizon, seed=1):
    record = BanditWorld(bandit, seed).record(horizon)
    return record.states, record.rewards


@pytest.mark.parametrize(("name", "options"), CASES)
def test_rivals_keep_the_contract(name, options):
    check_learner(lambda: make_learner(name, THREE, 200, rng=2, **options), [3, 2, 1], steps=200)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_compiled_play_gives_the_same_bytes_as_ask_and_tell(name, options):
    states, rewards = path_of(THREE, 700)
    fast, slow = (make_learner(name, THREE, 700, rng=3, **options) for _ in range(2))
    cuts = ((0, 1), (1, 200), (200, 700))
    pulls = np.concatenate([fast.play_path(states[:, a:b], rewards[:, a:b]) for a, b in cuts])
    assert pulls.tolist() == Learner.play_path(slow, states, rewards).tolist()
    assert pack(*fast.snapshot()) == pack(*slow.snapshot())


# --- ALA ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [None, 0.7, 4.0])
def test_ala_explores_exactly_when_a_state_is_in_want(constant):
    """W = {(k, s): C(k, s) < f(t)}: stay if the last arm is in it, else go to the first."""
    horizon = 3000
    states, rewards = path_of(THREE, horizon, 4)
    pulls = make_learner("ala", THREE, exploration=constant).play_path(states, rewards).tolist()
    assert pulls[:3] == [0, 1, 2]
    departures, last, exploited = Counter(), 2, 0
    for t in range(4, horizon + 1):
        needed = (log(t) if constant is None else constant) * log(t)
        short = [k for k, size in enumerate((3, 2, 1))
                 if any(departures[k, s] < needed for s in range(size))]  # fmt: skip
        arm = pulls[t - 1]
        if short:
            assert arm == (last if last in short else short[0]), t
        else:
            exploited += 1
        if arm == last:
            departures[arm, int(states[arm, t - 2])] += 1
        last = arm
    assert exploited > 500


def test_ala_plans_with_the_means_of_consecutive_pulls():
    states, rewards = path_of(THREE, 4000, 2)
    learner = make_learner("ala", THREE, exploration=2.0)
    learner.play_path(states[:, :3000], rewards[:, :3000])
    step = 3000
    begun = len(learner.episodes)
    pulls = []
    while len(learner.episodes) == begun:  # up to the next plan, step by step
        arm = learner.ask()
        learner.tell(arm, int(states[arm, step]), float(rewards[arm, step]))
        step += 1
    again = make_learner("ala", THREE, exploration=2.0)
    pulls = again.play_path(states[:, :step], rewards[:, :step]).tolist()
    for k, size in enumerate((3, 2, 1)):
        moves = Counter(
            (int(states[k, t]), int(states[k, t + 1]))
            for t in range(step - 1) if pulls[t] == pulls[t + 1] == k
        )  # fmt: skip
        rows = np.array([[max(1, moves[s, u]) for u in range(size)] for s in range(size)])
        expected = rows / rows.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(learner.rule.belief.chains[k], expected)
        for s in range(size):
            paid = [rewards[k, t] for t in range(step) if pulls[t] == k and states[k, t] == s]
            assert learner.rule.belief.means[k][s] == pytest.approx(np.mean(paid))


def test_moves_never_seen_count_once():
    rows = estimated_rows(np.array([[0, 0, 0], [8, 0, 1], [2, 2, 4]]))
    np.testing.assert_allclose(rows, [[1 / 3] * 3, [0.8, 0.1, 0.1], [0.25, 0.25, 0.5]])


def test_ala_exploits_by_the_plan_and_not_myopically():
    """On Example 3 the myopic policy loses linearly: 0.13 a step."""
    bandit, horizon = example3(0.1), 20_000
    best = plan(bandit, 1e-6)
    myopic = play(make_learner("myopic", bandit), BanditWorld(bandit, 3), horizon, plan=best)
    learner = make_learner("ala", bandit, exploration=3.0)
    run = play(learner, BanditWorld(bandit, 3), horizon, plan=best)
    assert run.gap_regret[-1] < 0.2 * myopic.gap_regret[-1]
    half = np.searchsorted(run.times, horizon // 2)
    assert run.gap_regret[-1] - run.gap_regret[half] < 0.75 * run.gap_regret[half]


# --- posterior sampling ------------------------------------------------------------------------


def test_draws_of_chains_have_the_posterior_of_their_rows():
    """With samples at age 1 alone rows are Dirichlet and independent."""
    seen = Gaps.none(2).with_room(3)
    seen.gaps[0, :2, 0, :2] = [[8, 2], [1, 4]]
    seen.gaps[1, 0, 0] = [0, 5, 1]
    seen.paid[0, :2, :2] = [[9, 6.0], [6, 0.5]]
    rep = Representation((2, 3), 256)
    evidence = Evidence(rep, np.array([2, 3]), seen, 30)
    rng, rule = np.random.default_rng(0), ChainDraw((2, 3), 2.0)
    draws = [rule.parameters(evidence, rng) for _ in range(6000)]
    chains = [np.mean([draw.chains[k] for draw in draws], axis=0) for k in (0, 1)]
    np.testing.assert_allclose(chains[0], [[10 / 14, 4 / 14], [3 / 9, 6 / 9]], atol=0.015)
    np.testing.assert_allclose(chains[1][0], [2 / 12, 7 / 12, 3 / 12], atol=0.015)
    np.testing.assert_allclose(chains[1][1:], np.full((2, 3), 1 / 3), atol=0.02)
    spread = np.std([draw.chains[0][0, 0] for draw in draws])
    assert abs(spread - sqrt(10 * 4 / (14**2 * 15))) < 0.01
    means = np.mean([draw.means[0] for draw in draws], axis=0)
    np.testing.assert_allclose(means, [8 / 13, 2.5 / 10], atol=0.015)  # Beta(8, 5), Beta(2.5, 7.5)


def test_tsde_learns_from_all_ages_at_once():
    """One posterior a chain loses far less than one a color, and its draws near the truth."""
    bandit, horizon = example1(0.1), 20_000
    best = plan(bandit, 1e-6)
    lost = {}
    for name in ("tsde", "tsde-colors"):
        learner = make_learner(name, bandit, horizon, rng=5)
        lost[name] = play(learner, BanditWorld(bandit, 5), horizon, plan=best).gap_regret[-1]
        if name == "tsde":
            for chain, arm in zip(learner.rule.belief.chains, bandit.arms, strict=True):
                np.testing.assert_allclose(chain, arm.transitions, atol=0.03)
    assert lost["tsde"] < 0.5 * lost["tsde-colors"]


def test_tsde_episodes_grow_by_one_step_at_most():
    learner = make_learner("tsde", THREE, rng=1)
    learner.play_path(*path_of(THREE, 2000, 6))
    lengths = np.diff(learner.episodes)
    assert lengths[0] == 1
    assert (np.diff(lengths) <= 1).all()
    assert lengths.max() > 30


@pytest.mark.parametrize("mapping", ["myopic", "best-arm"])
def test_policy_sampling_follows_the_drawn_chains(mapping):
    bandit = random_problem(n_arms=3, n_states=[2, 3, 2], rng=7)
    states, rewards = path_of(bandit, 1500, 3)
    learner = make_learner("policy-sampling", bandit, rng=2, mapping=mapping)
    compared = 0
    for t in range(1500):
        arm = learner.ask()
        if t > 100:
            belief, sight = learner.rule.belief, learner.sight
            worth = []
            for k, (chain, means) in enumerate(zip(belief.chains, belief.means, strict=True)):
                age = 10**6 if mapping == "best-arm" else sight.age(k)
                row = np.linalg.matrix_power(chain, age)[sight.states[k]]
                worth.append(row @ means)
            slack = 1e-9 if mapping == "best-arm" else 0.02  # ages closer than that are one
            assert worth[arm] >= max(worth) - slack
            compared += max(worth) - sorted(worth)[-2] > slack
        learner.tell(arm, int(states[arm, t]), float(rewards[arm, t]))
    assert compared > 500


# --- explore, then Whittle ----------------------------------------------------------------------


def test_explore_then_whittle_is_its_pseudocode():
    bandit, horizon = example3(0.1), 3000
    block = ceil(1.5 * horizon ** (2 / 3) / 2)
    states, rewards = path_of(bandit, horizon, 6)
    model = []
    for j, size in enumerate(bandit.n_states):
        seen = states[j, j * block : (j + 1) * block].tolist()
        moves = Counter(pairwise(seen))
        rows = np.array([[moves[s, k] for k in range(size)] for s in range(size)], dtype=float)
        paid = rewards[j, j * block : (j + 1) * block]
        means = [paid[np.array(seen) == k].mean() for k in range(size)]
        model.append(Arm(rows / rows.sum(axis=1, keepdims=True), means))
    learner = make_learner("explore-then-whittle", bandit, horizon, share=1.5)
    pulls = learner.play_path(states, rewards)
    assert pulls[: 2 * block].tolist() == [0] * block + [1] * block
    index, myopic = (make_learner(name, Bandit(model)) for name in ("whittle", "myopic"))
    unlike = 0
    for t in range(horizon):
        if t >= 2 * block:
            assert index.ask() == pulls[t]
            unlike += myopic.ask() != pulls[t]
        for known in (index, myopic):
            known.tell(int(pulls[t]), int(states[pulls[t], t]), 0.0)
    assert unlike > 100  # the problem tells the two apart
