"""Rivals that plan: the contract, compiled play, slow twins of the papers, and what they find."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import ceil, floor, log, sqrt

import numpy as np
import pytest

from restive.base.errors import ProblemError, TooLargeError
from restive.learners import LEARNERS, ColoredUCRL2, Learner, check_learner, make_learner
from restive.learners.paper.rules import Counts, Evidence, n_outcomes
from restive.learners.rivals.committing import estimated_arm
from restive.learners.rivals.posterior import PosteriorSampling
from restive.learners.rivals.restless_ucb import optimistic_rows
from restive.learners.rivals.tiling import best_waits
from restive.learners.rivals.ucrl2 import pair_structure
from restive.learners.storage import pack
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.mdp.solver import solve
from restive.mdp.structured import Parameters
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.problems import example1, example3, example4, gilbert_elliott, random_problem
from restive.simulation import BanditWorld, play

NAMES = ["tsde-colors", "ucrl2", "restless-ucb", "tiling", "explore-then-plan", "myopic", "whittle"]
LINE = Arm([[0.6, 0.4, 0], [0.2, 0.5, 0.3], [0, 0.3, 0.7]], [0.1, 0.5, 0.9])
BANDITS = {
    "identical": example1(0.2),
    "single channel": example3(0.2),
    "birth and death": Bandit([LINE, Arm([[0.6, 0.4], [0.3, 0.7]], [0.2, 0.8])]),
    "periodic": example4(),
}
CASES = [
    (name, problem) for name in NAMES for problem, bandit in BANDITS.items()
    if not LEARNERS[name].why_not(bandit) and (name, problem) != ("ucrl2", "periodic")
]  # fmt: skip


def build(name, bandit, horizon=200, seed=3, **options):
    if name in ("tsde-colors", "ucrl2"):
        options = {"mixing_times": 2, **options}
    return make_learner(name, bandit, horizon, rng=seed, **options)


def path_of(bandit, horizon, seed=1):
    record = BanditWorld(bandit, seed).record(horizon)
    return record.states, record.rewards


@pytest.mark.parametrize(("name", "problem"), CASES)
def test_rivals_keep_the_contract(name, problem):
    bandit = BANDITS[problem]
    check_learner(lambda: build(name, bandit), bandit.n_states, steps=250)


@pytest.mark.parametrize(("name", "problem"), CASES)
def test_compiled_play_gives_the_same_bytes_as_ask_and_tell(name, problem):
    bandit = BANDITS[problem]
    states, rewards = path_of(bandit, 600)
    fast, slow = build(name, bandit), build(name, bandit)
    cuts = ((0, 1), (1, 2), (2, 150), (150, 600))
    pulls = np.concatenate([fast.play_path(states[:, a:b], rewards[:, a:b]) for a, b in cuts])
    assert pulls.tolist() == Learner.play_path(slow, states, rewards).tolist()
    assert pack(*fast.snapshot()) == pack(*slow.snapshot())


def test_rivals_are_listed_with_what_they_need():
    for name in ("restless-ucb", "tiling", "explore-then-plan", "tsde-colors", "ucrl2"):
        with pytest.raises(ValueError, match="horizon"):
            make_learner(name, example1(), None)
    for name in ("myopic", "whittle"):
        assert make_learner(name, example1(), None).name == name


# --- tsde ------------------------------------------------------------------------------------


def test_tsde_draws_from_the_posterior_of_each_color():
    rep = Representation((2, 3), (2, 2))
    counts = Counts.none(rep)
    counts.outcomes[0, :2] = (8, 2)
    counts.outcomes[-1] = (0, 5, 1)
    counts.visits[:] = counts.outcomes.sum(axis=1)
    counts.rewards[0, :2] = (6.0, 0.5)
    evidence = Evidence(rep, n_outcomes(rep), counts, 17)
    rng, rule = np.random.default_rng(0), PosteriorSampling()
    draws = [rule.parameters(evidence, rng) for _ in range(20_000)]
    laws = np.mean([draw.probabilities for draw in draws], axis=0)
    np.testing.assert_allclose(laws[0], [9 / 12, 3 / 12, 0], atol=0.006)
    np.testing.assert_allclose(laws[-1], [1 / 9, 6 / 9, 2 / 9], atol=0.008)
    np.testing.assert_allclose(laws[1], [1 / 2, 1 / 2, 0], atol=0.012)
    spread = np.std([draw.probabilities[0, 0] for draw in draws])
    assert abs(spread - sqrt(9 * 3 / (12**2 * 13))) < 0.004
    rewards = np.mean([draw.rewards for draw in draws], axis=0)
    low, high = 7 / 10, 1.5 / 4  # Beta(7, 3) and Beta(1.5, 2.5)
    assert abs(rewards[0] - (9 / 12 * low + 3 / 12 * high)) < 0.007
    assert all(draw.radii is None for draw in draws[:5])


def test_tsde_episodes_end_by_length_or_by_doubling():
    bandit = BANDITS["birth and death"]
    learner = build("tsde-colors", bandit, 2000)
    states, rewards = path_of(bandit, 2000)
    pulls = learner.play_path(states, rewards)
    caps = learner.representation.caps
    seen, last_state = [0, 0], [None, None]
    counts, began, starts = Counter(), Counter(), []
    start = previous = 0
    for t in range(2000):
        arm = int(pulls[t])
        color = (arm, last_state[arm], min(caps[arm], t - seen[arm]))
        if None not in last_state:
            doubled = counts[color] - began[color] >= max(1, began[color])
            if not starts or t - start >= previous + 1 or t + 1 in learner.episodes:
                # the new episode's own pull need not be the one that ended the old one
                early = bool(starts) and t - start < previous + 1
                full = [c for c, n in counts.items() if n - began[c] >= max(1, began[c])]
                assert full or not early, t
                previous = t - start if starts else 0
                starts.append(t + 1)
                start, began = t, counts.copy()
            else:
                assert not doubled, t
            counts[color] += 1
        seen[arm], last_state[arm] = t, int(states[arm, t])
    assert tuple(starts) == tuple(s for s in learner.episodes if s <= 2000)
    lengths = np.diff(starts)
    assert (np.diff(lengths) <= 1).all()
    assert len(starts) < 3 * sqrt(2 * 2000)


# --- ucrl2 -----------------------------------------------------------------------------------


def test_pairs_lead_where_information_states_lead():
    rep = Representation((2, 3, 1), (3, 2, 2), (1, 2, 1))
    mdp, supports, places = pair_structure(rep)
    assert mdp.n_states == rep.n_states
    assert mdp.n_colors == mdp.colors.size == len(set(mdp.colors.ravel().tolist()))
    rng = np.random.default_rng(4)
    states, ages = [1, 2, 0], [2, 1, 3]
    at = int(places[rep.positions(states, ages)])
    for _ in range(500):
        arm = int(rng.integers(3))
        outcome = int(rng.integers(rep.sizes[arm]))
        assert supports[mdp.colors[at, arm]] == rep.sizes[arm]
        at = int(mdp.successors[at, arm, outcome])
        states[arm] = outcome
        ages = [1 if j == arm else n + 1 for j, n in enumerate(ages)]
        assert at == places[rep.positions(states, ages)]


def test_pairs_have_the_gain_of_the_representation():
    bandit = BANDITS["birth and death"]
    rep = Representation.of(bandit, 12)
    mdp, _, places = pair_structure(rep)
    truth = bandit_parameters(bandit, rep)
    inside = np.flatnonzero(places >= 0)
    states = np.empty((mdp.n_states, 2), dtype=np.int64)
    colors = np.empty((mdp.n_states, 2), dtype=np.int64)
    for last in (0, 1):
        for s0, s1 in np.ndindex(3, 2):
            for n in range(2, 13):
                ages = [1, n] if last == 0 else [n, 1]
                at = places[rep.positions([s0, s1], ages)]
                states[at] = s0, s1
                colors[at] = rep.color(0, s0, ages[0]), rep.color(1, s1, ages[1])
    assert len(inside) == mdp.n_states
    pairs = Parameters(truth.rewards[colors].ravel(), truth.probabilities[colors].reshape(-1, 3))
    dense = solve(mdp, pairs, tolerance=1e-8)
    assert abs(dense.gain - solve(rep, truth, tolerance=1e-8).gain) < 1e-7


def test_ucrl2_counts_each_pair_and_refuses_many():
    bandit = example1(0.2)
    learner = build("ucrl2", bandit, 1000)
    states, rewards = path_of(bandit, 1000)
    pulls = learner.play_path(states, rewards)
    caps, seen, last_state, counts = learner.rep.caps, [0, 0], [None, None], Counter()
    for t in range(1000):
        arm = int(pulls[t])
        if None not in last_state:
            ages = tuple(min(caps[j], t - seen[j]) for j in range(2))
            counts[(arm, tuple(last_state), ages, int(states[arm, t]))] += 1
        seen[arm], last_state[arm] = t, int(states[arm, t])
    outcomes = learner.counts.outcomes
    assert sorted(counts.values()) == sorted(outcomes[outcomes > 0].tolist())
    assert learner.samples == 998
    with pytest.raises(TooLargeError, match=r"colored-ucrl2.*max_pairs"):
        make_learner("ucrl2", example4(), 10_000, max_pairs=1000)


# --- explore, then commit --------------------------------------------------------------------


def literal_restless_ucb(bandit, states, horizon):
    """The algorithm as the docstring has it, one step at a time; returns the pulls."""
    target = floor(horizon ** (2 / 3)) + 1
    radius = sqrt(log(horizon) / (2 * target))
    pulls, model, t = [], [], 0
    for j, arm in enumerate(bandit.arms):
        moves = [Counter() for _ in range(arm.n_states)]
        before = None
        while min(sum(row.values()) for row in moves) < target:
            now = int(states[j, t])
            if before is not None:
                moves[before][now] += 1
            pulls.append(j)
            before, t = now, t + 1
        rows = np.zeros((arm.n_states, arm.n_states))
        for s, row in enumerate(moves):
            for k, count in row.items():
                rows[s, k] = count / sum(row.values())
            if s + 1 < arm.n_states:
                rows[s, s + 1] += radius
                if s == 0:
                    rows[s, s] -= radius
            if s > 0:
                rows[s, s - 1] -= radius
                if s + 1 == arm.n_states:
                    rows[s, s] += radius
        assert (rows[~np.isclose(rows, 0)] > 0).all()  # no clipping in this test
        model.append(Arm(rows, arm.rewards))
    return pulls, plan(Bandit(model), 1e-5)


def follow(optimum, states, pulls, n_arms):
    """Pulls of a plan along a path, after the pulls given."""
    seen = [max(t for t, arm in enumerate(pulls) if arm == j) for j in range(n_arms)]
    pulls = list(pulls)
    for t in range(len(pulls), states.shape[1]):
        last = [int(states[j, seen[j]]) for j in range(n_arms)]
        arm = optimum.action(last, [t - at for at in seen])
        pulls.append(arm)
        seen[arm] = t
    return pulls


def test_restless_ucb_is_its_pseudocode():
    bandit = Bandit([LINE, Arm([[0.6, 0.4], [0.3, 0.7]], [0.2, 0.8])])
    horizon = 3000
    states, rewards = path_of(bandit, horizon, 5)
    explored, optimum = literal_restless_ucb(bandit, states, horizon)
    learner = make_learner("restless-ucb", bandit, horizon)
    pulls = learner.play_path(states, rewards)
    assert learner.committed_at == len(explored) < 2500
    assert pulls.tolist() == follow(optimum, states, explored, 2)


def test_optimism_moves_up_and_stays_irreducible():
    rows = np.array([[0.9, 0.1, 0], [0.02, 0.5, 0.48], [0, 0.6, 0.4]])
    raised = optimistic_rows(rows, 0.05, 1e-3)
    expected = [[0.85, 0.15, 0], [0.001, 0.469, 0.53], [0, 0.55, 0.45]]
    np.testing.assert_allclose(raised, expected, atol=1e-12)
    np.testing.assert_allclose(optimistic_rows(np.eye(1), 0.1, 1e-3), [[1.0]])
    full = optimistic_rows(np.array([[0.01, 0.99], [0.5, 0.5]]), 0.05, 1e-3)
    assert full[0].tolist() == [0.0, 1.0]


def test_restless_ucb_orders_states_by_reward():
    order = [2, 0, 1]
    mixed = Arm(LINE.transitions[np.ix_(order, order)], LINE.rewards[order])
    plain, turned = Bandit([LINE, LINE]), Bandit([mixed, mixed])
    states, rewards = path_of(plain, 1500, 2)
    renamed = np.argsort(order)[states]
    pulls = make_learner("restless-ucb", plain, 1500).play_path(states, rewards)
    other = make_learner("restless-ucb", turned, 1500).play_path(renamed, rewards)
    assert pulls.tolist() == other.tolist()


def test_explore_then_plan_is_its_pseudocode():
    bandit = random_problem(n_arms=3, n_states=2, rng=4)
    horizon = 2000
    block = ceil(horizon ** (2 / 3) / 3)
    states, rewards = path_of(bandit, horizon, 6)
    explored = [j for j in range(3) for _ in range(block)]
    model = []
    for j in range(3):
        seen = states[j, j * block : (j + 1) * block].tolist()
        moves = Counter(pairwise(seen))
        rows = [[moves[s, k] / (moves[s, 0] + moves[s, 1]) for k in (0, 1)] for s in (0, 1)]
        paid = rewards[j, j * block : (j + 1) * block]
        means = [np.mean([p for p, s in zip(paid, seen, strict=True) if s == k]) for k in (0, 1)]
        model.append(Arm(rows, means))
    learner = make_learner("explore-then-plan", bandit, horizon)
    pulls = learner.play_path(states, rewards)
    expected = follow(plan(Bandit(model), 1 / horizon), states, explored, 3)
    assert pulls.tolist() == expected
    assert learner.episodes == (3 * block + 1,)


def test_estimates_of_poor_samples_are_still_a_chain():
    never_left = np.array([[3, 1, 0], [0, 5, 0], [0, 0, 0]])
    arm = estimated_arm(never_left, np.array([4, 6, 0]), np.array([2.0, 6.0, 0.0]))
    np.testing.assert_allclose(arm.transitions[1], [1 / 18, 16 / 18, 1 / 18])
    np.testing.assert_allclose(arm.transitions[2], [1 / 3] * 3)
    np.testing.assert_allclose(arm.rewards, [0.5, 1.0, 0.8])
    cycle = estimated_arm(np.array([[0, 4], [3, 0]]), np.array([4, 4]), np.array([0.0, 4.0]))
    assert cycle.transitions.tolist() == [[0, 1], [1, 0]]


def test_overridden_pulls_break_the_chain_of_samples():
    learner = make_learner("explore-then-plan", example1(), 1000)
    for arm, state in [(0, 0), (0, 1), (1, 0), (0, 1), (0, 0)]:
        learner.tell(arm, state, 0.0)
    assert learner.moves[0].tolist() == [[0, 1], [1, 0]]


# --- tiling ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "beta", "rest"), [
    (0.1, 0.9, 0.5), (0.2, 0.7, 0.45), (0.6, 0.2, 0.4), (0.3, 0.3, 0.2), (0.2, 0.3, 0.9),
    (0.85, 0.05, 0.5),
])  # fmt: skip
def test_best_waits_have_the_planned_gain(alpha, beta, rest):
    channel = Arm([[1 - alpha, alpha], [1 - beta, beta]], [0.1, 1.0])
    optimum = plan(Bandit([channel, Arm([[1.0]], [rest])]), 1e-7)
    waits = best_waits(np.array([alpha]), np.array([beta]), (0.1, 1.0), rest)[0].tolist()
    gain = rest
    if waits != [0, 0]:
        rows = [channel.power(w)[s] for s, w in enumerate(waits)]
        law = Arm(rows, [0, 0]).stationary
        paid = [(w - 1) * rest + row @ channel.rewards for w, row in zip(waits, rows, strict=True)]
        gain = law @ paid / (law @ waits)
    assert abs(gain - optimum.gain) < 1e-6


def test_best_waits_of_example_3():
    for epsilon, age in ((0.1, 5), (0.2, 3)):
        pair = np.array([epsilon]), np.array([1 - epsilon])
        assert best_waits(*pair, (0.0, 1.0), 0.5).tolist() == [[age, 1]]


def literal_exploration(states, horizon, clear):
    """Pulls of the channel until ``clear`` of the estimates, looked at at 2, 3, ... pulls."""
    look, t = 2, 0
    moves = np.zeros((2, 2))
    while True:
        t += 1
        if t > 1:
            moves[states[t - 2], states[t - 1]] += 1
        if t < look:
            continue
        look = max(t + 1, ceil(1.1 * t))
        left = moves.sum(axis=1)
        if left.min() == 0:
            continue
        width = np.sqrt(log(horizon) / (6 * left))
        if (width <= (log(horizon) / horizon) ** (1 / 3)).all() or clear(moves[:, 1] / left, width):
            return t


def test_tiling_explores_a_single_channel_as_long_as_it_should():
    horizon = 20_000
    bandit = example3(0.2)
    states, rewards = path_of(bandit, horizon, 3)
    learner = make_learner("tiling", bandit, horizon)
    pulls = learner.play_path(states, rewards)

    def clear(center, width):
        waits = set()
        for x in np.linspace(-1, 1, 5):
            for y in np.linspace(-1, 1, 5):
                point = np.clip(center + width * [x, y], 0, 1)
                waits.add(tuple(best_waits(point[:1], point[1:], (0.0, 1.0), 0.5)[0].tolist()))
        return len(waits) == 1

    explored = literal_exploration(states[0], horizon, clear)
    assert explored == learner.committed_at
    assert (pulls[:explored] == 0).all()
    seen, t = explored - 1, explored
    while t < horizon:  # the best policy: stay after a 1, come back 3 steps after a 0
        sense = states[0, seen] == 1 or t - seen >= 3
        assert pulls[t] == (0 if sense else 1)
        seen, t = (t if sense else seen), t + 1


def test_tiling_tells_the_sign_of_identical_channels():
    horizon = 5000
    for bandit in (example1(0.2), example1(0.9)):
        states, rewards = path_of(bandit, horizon, 3)
        learner = make_learner("tiling", bandit, horizon)
        pulls = learner.play_path(states, rewards)
        explored = literal_exploration(
            states[0], horizon, lambda center, width: abs(center[0] - center[1]) > width.sum()
        )
        assert explored == learner.committed_at < 200
        best = make_learner("myopic", bandit, horizon)
        for t in range(horizon):
            if t > explored + 50:
                assert best.ask() == pulls[t]
            best.tell(int(pulls[t]), int(states[pulls[t], t]), 0.0)


# --- policies that know the bandit -----------------------------------------------------------


def test_myopic_pulls_what_pays_most_now():
    bandit = BANDITS["birth and death"]
    states, rewards = path_of(bandit, 400, 9)
    pulls = make_learner("myopic", bandit, None).play_path(states, rewards)
    assert pulls[:2].tolist() == [0, 1]
    seen = [0, 1]
    for t in range(2, 400):
        worth = [
            np.linalg.matrix_power(arm.transitions, t - seen[j])[states[j, seen[j]]] @ arm.rewards
            for j, arm in enumerate(bandit.arms)
        ]
        assert worth[pulls[t]] >= max(worth) - 1e-8
        seen[pulls[t]] = t


def test_whittle_is_myopic_for_identical_positively_correlated_channels():
    bandit = gilbert_elliott()
    states, rewards = path_of(bandit, 3000)
    whittle, myopic = (
        make_learner(name, bandit, None).play_path(states, rewards)
        for name in ("myopic", "whittle")
    )
    assert whittle.tolist() == myopic.tolist()


def test_whittle_waits_as_long_as_is_best_in_example_3():
    bandit = example3(0.1)
    run = play(make_learner("whittle", bandit, None), BanditWorld(bandit, 2), 20_000,
               plan=plan(bandit, 1e-6))  # fmt: skip
    assert run.gap_regret[-1] < 3
    myopic = play(make_learner("myopic", bandit, None), BanditWorld(bandit, 2), 20_000,
                  plan=plan(bandit, 1e-6))  # fmt: skip
    assert myopic.gap_regret[-1] > 500


# --- where they are defined, and what they find ----------------------------------------------


def test_restless_ucb_and_tiling_refuse_what_they_are_not_made_for():
    bandit = random_problem(n_arms=2, n_states=3, rng=3)
    assert "no birth-death chain" in LEARNERS["restless-ucb"].why_not(bandit)
    with pytest.raises(ProblemError, match=r"arms\[0\]\.transitions"):
        make_learner("restless-ucb", bandit, 100)
    with pytest.raises(ProblemError, match=r"arms\[0\].*3 states"):
        make_learner("tiling", bandit, 100)
    two = Bandit([Arm([[0.5, 0.5], [0.1, 0.9]], [0, 1]), Arm([[0.6, 0.4], [0.1, 0.9]], [0, 1])])
    with pytest.raises(ProblemError, match="arm 2 differs from arm 1"):
        make_learner("tiling", two, 100)
    with pytest.raises(ProblemError, match="nothing to choose"):
        make_learner("tiling", Bandit(two.arms[:1]), 100)
    assert LEARNERS["tsde-colors"].why_not(bandit) is LEARNERS["tiling"].why_not(example3()) is None
    assert LEARNERS["tiling"].why_not(Bandit([Arm([[1.0]], [0.5]), two.arms[0]])) is None


@pytest.mark.parametrize(
    ("name", "problem"),
    [("tsde-colors", "identical"), ("tsde-colors", "birth and death"),
     ("restless-ucb", "identical"),
     ("explore-then-plan", "birth and death"), ("tiling", "single channel")],
)  # fmt: skip
def test_regret_against_the_best_policy_grows_ever_more_slowly(name, problem):
    bandit, horizon = BANDITS[problem], 20_000
    learner = make_learner(name, bandit, horizon, rng=3)
    run = play(learner, BanditWorld(bandit, 7), horizon, plan=plan(bandit, 1e-5))
    third = np.searchsorted(run.times, horizon // 3)
    early, late = run.gap_regret[third], run.gap_regret[-1] - run.gap_regret[third]
    assert late < 1.5 * early  # linear growth: 2; the square root: 0.73; six seeds: at most 1.1


def test_ucrl2_learns_once_its_sets_are_small():
    rows = [[0.12, 0.88], [0.1, 0.9]]
    bandit = Bandit([Arm(rows, [0, 1]), Arm(np.array(rows)[::-1, ::-1], [0, 1])])
    best, horizon = plan(bandit, 1e-5), 4_000_000
    learner = make_learner("ucrl2", bandit, horizon)
    run = play(learner, BanditWorld(bandit, 5), horizon, plan=best)
    half = np.searchsorted(run.times, horizon // 2)
    assert run.gap_regret[-1] - run.gap_regret[half] < 0.5 * run.gap_regret[half]
    assert best.gain < learner.planner.gain[1] < best.gain + 0.03  # optimistic, and nearly right


def test_ucrl2_is_colored_ucrl2_with_one_color_a_pair():
    bandit, horizon = example1(0.3), 3000
    learner = build("ucrl2", bandit, horizon)
    states, rewards = path_of(bandit, horizon, 4)
    twin = None
    for t in range(horizon):
        arm = learner.ask()
        if twin is not None:
            assert twin.ask() == arm
            after = int(twin.mdp.successors[twin.state, arm, states[arm, t]])
            twin.tell(arm, after, float(rewards[arm, t]))
        learner.tell(arm, int(states[arm, t]), float(rewards[arm, t]))
        if twin is None and t == 1:
            last = [int(states[0, 0]), int(states[1, 1])]
            mdp, supports, places = pair_structure(learner.rep)
            start = int(places[learner.rep.positions(last, [2, 1])])
            twin = ColoredUCRL2(mdp, delta=0.05, epsilon=1 / sqrt(horizon), start=start,
                                supports=supports)  # fmt: skip
    assert len(learner.episodes) == len(twin.episodes) > 10
