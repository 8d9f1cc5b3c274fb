"""Colored UCRL2 does what the paper says: against Algorithms 1 and 2 written down plainly."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import ceil, log, log2, sqrt

import numpy as np
import pytest

from naive import extended_backup
from restive.base.errors import ProblemError
from restive.learners import ColoredUCRL2, Inputs, RestlessLearner, make_learner
from restive.learners.paper.rules import Optimism
from restive.mdp.certificate import bandit_parameters
from restive.mdp.solver import solve
from restive.mdp.structured import Parameters, StructuredMDP
from restive.planning import plan
from restive.problems import example1, example3, random_problem
from restive.simulation import BanditWorld, StructuredWorld, play
from restive.theory import episodes_bound

TIES = 1e-7  # arms whose optimistic values are this close are equally good to the paper


class Tight(Optimism):
    """Plans to rounding, so that only exact ties are left to chance."""

    def tolerance(self, t):
        return 1e-10


class Algorithm2:
    """Algorithm 2 with known inputs, from the paper alone: dictionaries, one step at a time."""

    def __init__(self, sizes, mixing_times, horizon, delta, shrink=1.0):
        self.sizes, self.delta, self.shrink = sizes, delta, shrink
        self.eps = 1 / sqrt(horizon)
        self.caps = [ceil(log2(1 / self.eps)) * time for time in mixing_times]
        self.C = sum(s * m for s, m in zip(sizes, self.caps, strict=True))
        self.B = max(sizes)
        self.samples = {}  # color -> list of (outcome, reward)
        self.state = None  # ((s_1, n_1), ..., (s_K, n_K)), true ages
        self.t = 1
        self.starts = []

    def color(self, arm):
        s, n = self.state[arm]
        return (arm, s, min(n, self.caps[arm]))

    def begin_episode(self):
        self.starts.append(self.t)
        self.N = {c: len(samples) for c, samples in self.samples.items()}
        self.v = {}
        self.model = {}
        for arm, size in enumerate(self.sizes):
            for s, n in product(range(size), range(1, self.caps[arm] + 1)):
                self.model[arm, s, n] = self.estimate((arm, s, n), size)

    def radii(self, count):
        n = max(1, count)
        reward = self.eps + sqrt(7 * log(2 * self.C * self.t / self.delta) / (2 * n))
        law = self.eps + sqrt(56 * self.B * log(4 * self.C * self.t / self.delta) / n)
        return self.shrink * reward, self.shrink * law

    def estimate(self, color, size):
        samples = self.samples.get(color, [])
        if samples:
            mean = sum(reward for _, reward in samples) / len(samples)
            law = [sum(o == k for o, _ in samples) / len(samples) for k in range(size)]
        else:
            mean, law = 0.0, [1 / size] * size
        reward_radius, radius = self.radii(len(samples))
        return min(1.0, mean + reward_radius), np.array(law), radius

    def after(self, state, arm, outcome):
        return tuple(
            (outcome, 1) if j == arm else (s, min(n + 1, self.caps[j]))
            for j, (s, n) in enumerate(state)
        )

    def worth(self, state, arm, h):
        s, n = state[arm]
        reward, law, radius = self.model[arm, s, n]
        nexts = np.array([h[self.after(state, arm, k)] for k in range(self.sizes[arm])])
        return reward + extended_backup(law, nexts, radius)

    def reachable(self):
        states, queue = set(), [self.stored()]
        while queue:
            x = queue.pop()
            if x not in states:
                states.add(x)
                arms = range(len(self.sizes))
                queue += [self.after(x, a, k) for a in arms for k in range(self.sizes[a])]
        return states

    def accept(self, values, tolerance):
        """Take the learner's values, after checking that they solve eq. (4) here.

        min(T h - h) <= rho <= max(T h - h) for the extended operator T of this episode's set, so
        values for which the two meet belong to an optimal policy on an optimistic MDP. There may
        be several (the bias need not be unique), which is why they are not recomputed.
        """
        self.h = {x: values(x) for x in self.reachable()}
        arms = range(len(self.sizes))
        change = [max(self.worth(x, a, self.h) for a in arms) - self.h[x] for x in self.h]
        assert max(change) - min(change) <= tolerance
        return min(change), max(change)

    def stored(self):
        return tuple((s, min(n, self.caps[j])) for j, (s, n) in enumerate(self.state))

    def best_arms(self):
        values = [self.worth(self.stored(), a, self.h) for a in range(len(self.sizes))]
        return {a for a, value in enumerate(values) if value >= max(values) - TIES}

    def episode_over(self, arm):
        color = self.color(arm)
        return self.v.get(color, 0) >= max(1, self.N.get(color, 0))

    def observe(self, arm, outcome, reward):
        color = self.color(arm)
        self.samples.setdefault(color, []).append((outcome, reward))
        self.v[color] = self.v.get(color, 0) + 1
        self.state = tuple(
            (outcome, 1) if j == arm else (s, n + 1) for j, (s, n) in enumerate(self.state)
        )
        self.t += 1


@pytest.mark.parametrize(
    ("bandit", "times", "horizon", "steps", "shrink"),
    [
        (example1(0.1), (1, 1), 300, 1500, 1.0),
        (example1(0.1), (1, 1), 300, 2000, 0.1),
        (example3(0.2), (1, 2), 100, 2000, 0.05),
        (random_problem(n_arms=2, n_states=[3, 2], rng=1), (1, 1), 60, 1500, 0.1),
        (random_problem(n_arms=3, n_states=[2, 1, 2], rng=2), (1, 1, 1), 20, 700, 0.1),
    ],
)
def test_the_learner_makes_the_paper_s_choices(bandit, times, horizon, steps, shrink):
    follow_both(bandit, times, horizon, steps, shrink, Tight)


def follow_both(bandit, times, horizon, steps, shrink, rule):
    """Same episodes, and every pull among the arms that are best in the paper's own terms."""

    class Shrunk(rule):
        def radii(self, evidence):
            rewards, laws = super().radii(evidence)
            return shrink * rewards, shrink * laws

    inputs = Inputs(bandit.n_arms, 0.1, horizon, times, bandit.n_states, (1,) * bandit.n_arms)
    learner = RestlessLearner(inputs, Shrunk)
    paper = Algorithm2(bandit.n_states, times, horizon, 0.1, shrink)
    assert learner.representation.caps == tuple(paper.caps)
    assert learner.representation.n_colors == paper.C
    record = BanditWorld(bandit, 5).record(steps)
    decided = 0
    for t in range(steps):
        arm = learner.ask()
        outcome, reward = int(record.states[arm, t]), float(record.rewards[arm, t])
        old = learner.policy if t >= bandit.n_arms else None
        if paper.state is None:
            assert arm == t  # every arm once
        else:
            assert arm in paper.best_arms(), t
            decided += len(paper.best_arms()) == 1
            paper.observe(arm, outcome, reward)
        learner.tell(arm, outcome, reward)
        if t == bandit.n_arms - 1:
            seen = [(int(record.states[j, j]), t + 1 - j) for j in range(bandit.n_arms)]
            paper.state = tuple(seen)
            begin_both(learner, paper)
        elif old is not None and paper.episode_over(old.arm(learner.sight)):
            begin_both(learner, paper)
        assert len(learner.episodes) == len(paper.starts), t
    assert [start - bandit.n_arms for start in learner.episodes] == paper.starts
    assert decided > steps / 4  # choices, not ties
    check_model(learner, paper)


def begin_both(learner, paper):
    paper.begin_episode()
    rep, values = learner.representation, learner.planner.values

    def value(x):
        last_states, ages = zip(*x, strict=True)
        return float(values[rep.positions(last_states, ages)])

    low, high = paper.accept(value, 1e-9)
    assert learner.planner.gain[0] <= high + 1e-9
    assert learner.planner.gain[1] >= low - 1e-9


def check_model(learner, paper):
    """Estimates and radii of the current episode, color by color."""
    model, rep = learner.planner.parameters, learner.representation
    for (arm, s, n), (reward, law, radius) in paper.model.items():
        color = rep.color(arm, s, n)
        assert model.optimistic_rewards[color] == pytest.approx(reward, abs=1e-12)
        assert model.radii[color] == pytest.approx(radius, rel=1e-12)
        assert model.probabilities[color, : len(law)] == pytest.approx(law, abs=1e-12)


class WiderRewards(Tight):
    def radii(self, evidence):
        rewards, laws = super().radii(evidence)
        return 1.01 * rewards, laws


class WiderLaws(Tight):
    def radii(self, evidence):
        rewards, laws = super().radii(evidence)
        return rewards, 1.01 * laws


class LaterEnd(Tight):
    def limits(self, evidence):
        return super().limits(evidence) + 1


class AnotherTime(Tight):
    def radii(self, evidence):
        return super().radii(replace(evidence, t=evidence.t + 1))


@pytest.mark.parametrize("wrong", [WiderRewards, WiderLaws, LaterEnd, AnotherTime])
def test_the_oracle_notices_departures(wrong):
    with pytest.raises(AssertionError):
        follow_both(example1(0.1), (1, 1), 300, 1000, 0.1, wrong)


def test_each_plan_is_made_to_1_over_sqrt_t_from_the_last_one(monkeypatch):
    asked = []

    def spying(structure, parameters, **options):
        solution = solve(structure, parameters, **options)
        asked.append((options["tolerance"], options["start"], solution.values))
        return solution

    monkeypatch.setattr("restive.learners.replanning.solve", spying)
    learner = make_learner("colored-ucrl2", example1(0.1), 5000)
    record = BanditWorld(example1(0.1), 1).record(5000)
    learner.play_path(record.states, record.rewards)
    assert len(asked) == len(learner.episodes) > 20
    for k, (tolerance, start, _) in enumerate(asked):
        assert tolerance == 1 / sqrt(learner.episodes[k] - 2)
        if k == 0:
            assert start is None
        else:
            before = asked[k - 1][2]
            assert np.ptp(start - before) < 1e-12  # the same up to a constant


@pytest.mark.parametrize("seed", range(3))
def test_episodes_are_at_most_c_log2_8t_over_c(seed):
    bandit = random_problem(n_arms=2, n_states=[2, 3], rng=seed)
    learner = make_learner("colored-ucrl2", bandit, 100_000)
    run = play(learner, BanditWorld(bandit, seed), 100_000)
    assert 10 < run.replans <= episodes_bound(100_000, learner.representation.n_colors)


def test_the_optimistic_gain_is_no_less_than_the_true_one_when_the_model_is_in_the_set():
    bandit = example1(0.1)
    learner = make_learner("colored-ucrl2", bandit, 200_000)
    rep = learner.representation
    truth = bandit_parameters(bandit, rep)
    gain = solve(rep, truth, tolerance=1e-7).gain_lower
    record = BanditWorld(bandit, 2).record(200_000)
    inside = 0
    for begin in range(0, 200_000, 10_000):
        part = slice(begin, begin + 10_000)
        learner.play_path(record.states[:, part], record.rewards[:, part])
        model = learner.planner.parameters
        far = np.abs(model.probabilities - truth.probabilities).sum(axis=1)
        contained = (far <= model.radii).all() and (
            np.abs(model.rewards - truth.rewards) <= model.reward_radii
        ).all()
        inside += contained
        if contained:
            assert learner.planner.gain[1] >= gain
    assert inside == 20  # with these radii the truth is never outside in so short a run


def test_with_the_true_parameters_and_no_radii_the_plan_is_followed():
    bandit = example3(0.1)
    inputs = Inputs(2, 0.05, 400, (7, 1), bandit.n_states, (1, 1))
    optimum = plan(bandit, caps=inputs.round(1).caps)
    truth = bandit_parameters(bandit, optimum.representation)

    def rule(delta, epsilon):
        known = np.ones(optimum.representation.n_colors, dtype=bool)
        return Tight(delta, epsilon, None, known, truth)

    learner = RestlessLearner(inputs, rule)
    record = BanditWorld(bandit, 3).record(3000)
    checked = 0
    for t in range(3000):
        arm = learner.ask()
        if t >= 2:
            ages = [learner.sight.age(j) for j in range(2)]
            gaps = optimum.gap(learner.sight.states, ages)
            assert gaps[arm] <= 1e-5
            checked += gaps.max() > 1e-3
        learner.tell(arm, int(record.states[arm, t]), float(record.rewards[arm, t]))
    assert checked > 2500
    assert len(learner.episodes) == 1  # known colors end no episode


# --- Algorithm 1 on other MDPs ---------------------------------------------------------------


def two_rooms():
    """Two states, two actions; going on is worth it only after some steps of nothing."""
    p = [[[0.9, 0.1], [0.3, 0.7]], [[0.2, 0.8], [0.8, 0.2]]]
    return StructuredMDP.plain(p, [[0.2, 0.0], [0.9, 0.1]])


def test_one_color_per_pair_is_ucrl2():
    """Radii of UCRL2 with B = S, C = SA, and an episode's end by single pairs."""
    mdp, truth = two_rooms()
    learner = ColoredUCRL2(mdp, delta=0.1)
    world = StructuredWorld(mdp, truth.probabilities, truth.rewards, 4)
    walk = world.walk()
    counts, now, starts = np.zeros((2, 2)), np.zeros((2, 2)), [1]
    before = counts.copy()
    for t in range(2, 4002):
        state, action = walk.state, learner.ask()
        old = learner.policy.actions
        after, reward = walk.step(action)
        learner.tell(action, after, reward)
        counts[state, action] += 1
        now[state, action] += 1
        nxt = (after, old[after])
        if now[nxt] >= max(1, before[nxt]):
            before, now = counts.copy(), np.zeros((2, 2))
            starts.append(t)
    assert list(learner.episodes) == starts
    assert len(starts) > 20
    t_k, model = starts[-1], learner.planner.parameters
    visits = np.maximum(1, before.ravel())
    assert model.reward_radii == pytest.approx(np.sqrt(7 * log(2 * 4 * t_k / 0.1) / (2 * visits)))
    assert model.radii == pytest.approx(np.sqrt(56 * 2 * log(4 * 4 * t_k / 0.1) / visits))


def test_known_colors_are_not_learned():
    mdp, truth = two_rooms()
    known = np.array([True, False, False, True])
    world = StructuredWorld(mdp, truth.probabilities, truth.rewards, 4)
    learner = ColoredUCRL2(mdp, delta=0.1, known=known, parameters=truth)
    play(learner, world, 20_000)
    model = learner.planner.parameters
    assert model.radii[known].tolist() == model.reward_radii[known].tolist() == [0, 0]
    assert np.array_equal(model.rewards[known], truth.rewards[known])
    assert np.array_equal(model.probabilities[known], truth.probabilities[known])
    t_k = learner.episodes[-1]
    limits = learner.limits[~known]
    before = np.maximum(1, limits // 2)  # N_k: the limit is N_k + max(1, N_k)
    assert model.radii[~known] == pytest.approx(
        np.sqrt(56 * 2 * log(4 * 2 * t_k / 0.1) / before), rel=1e-12
    )
    everything = ColoredUCRL2(mdp, known=[True] * 4, parameters=truth)
    run = play(everything, world, 5000)
    assert run.episodes == (1,)
    gain = world.gain()
    assert abs(run.total_reward / 5000 - gain) < 0.05


def test_outcomes_a_color_does_not_have_are_worth_nothing():
    """Round 0 -> 1 -> 2 -> 0 only state 2 pays; staying in 0 has padding that leads to 2."""
    colors = np.array([[0, 1], [2, -1], [3, -1]])
    successors = np.array([[[0, 2], [1, -1]], [[2, -1], [0, -1]], [[0, -1], [0, -1]]])
    mdp = StructuredMDP(colors, successors)
    truth = Parameters(np.array([0.0, 0.0, 0.0, 1.0]), np.tile([1.0, 0.0], (4, 1)))
    known = np.array([False, True, True, True])
    gains = {}
    for supports in (None, [1, 1, 1, 1]):
        learner = ColoredUCRL2(mdp, known=known, parameters=truth, supports=supports)
        for _ in range(500):
            learner.tell(0, 0, 0.0)
        learner._begin()
        gains[supports is None] = learner.planner.gain
    assert gains[True][0] > 0.45  # hopes to get from 0 to 2 at once
    assert gains[False][0] <= 1 / 3 <= gains[False][1] < 0.4


def test_outcomes_that_cannot_be_told_apart_are_refused():
    """Both outcomes of action 1 in state 0 lead to state 1; its second color has one outcome."""
    mdp = StructuredMDP([[0, 1], [0, 0]], [[[0, 1], [1, 1]], [[1, 0], [1, 0]]])
    with pytest.raises(ProblemError, match=r"successors\[0\]\[1\]: two outcomes .*\[1, 1\]"):
        ColoredUCRL2(mdp)
    assert ColoredUCRL2(mdp, supports=[2, 1]).n_arms == 2
    joined = StructuredMDP([[0, 1], [0, 0]], [[[0, 1], [1, -1]], [[1, 0], [1, 0]]])
    assert ColoredUCRL2(joined).n_arms == 2


def test_what_is_not_in_the_mdp_is_refused():
    mdp = StructuredMDP([[0, -1], [1, 1]], [[[1], [0]], [[0], [0]]])
    learner = ColoredUCRL2(mdp)
    with pytest.raises(ValueError, match="available action"):
        learner.tell(1, 0, 0.0)
    with pytest.raises(ValueError, match="one of"):
        learner.tell(0, 0, 0.0)
    with pytest.raises(ValueError, match="together"):
        ColoredUCRL2(mdp, known=[True, False])
    with pytest.raises(ValueError, match="supports"):
        ColoredUCRL2(mdp, supports=[2, 1])
