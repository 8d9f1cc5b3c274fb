"""The recount of Algorithm 2 and the sums of the appendix: right about what is right, and wrong."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.optimize import linprog

from restive.learners.contract import Learner
from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import RestlessLearner
from restive.learners.paper.rules import Optimism
from restive.mdp.solver import solve
from restive.mdp.structured import Parameters
from restive.paper.claims.algorithm import KINDS
from restive.paper.claims.colored import pairs_of
from restive.paper.claims.steps import Episode, run_sum, visit_sum
from restive.paper.problems import (
    ladder,
    myopic_loss,
    paired_channel,
    paying_coin,
    small_bandit,
    small_mdp,
)
from restive.paper.published_formulas import favoured, optimistic_sweep, plan_width, published_radii
from restive.paper.recount import exploration, recount
from restive.planning.diameter import diameter
from restive.policies.greedy import GreedyPolicy
from restive.simulation import BanditWorld

STEPS = 600


def differs(name, seed=1, steps=STEPS):
    kind = KINDS[name]
    return recount(kind.problem(seed), steps, seed, kind.options)


@pytest.mark.parametrize("name", KINDS)
def test_the_algorithm_is_as_printed(name):
    run = differs(name)
    assert run.differs == {}
    assert run.episodes > 5


def scaled(factor):
    honest = Optimism.radii
    return lambda self, evidence: tuple(factor * radii for radii in honest(self, evidence))


def longer(self, evidence):
    visits = evidence.counts.visits
    return visits + 2 * np.maximum(1, visits)


def shorter(self, evidence):
    visits = evidence.counts.visits
    return visits + np.maximum(1, visits // 4)


def older(self, sight, arm):
    return self.rep.color(arm, sight.states[arm], sight.age(arm) + 1)


BROKEN = {
    "radii": ("known", Optimism, "radii", scaled(1.001)),
    "episodes too long": ("known", Optimism, "limits", longer),
    "episodes too short": ("known", Optimism, "limits", shorter),
    "colors": ("periodic", Inputs, "lassos", lambda self, sizes: (1,) * len(sizes)),
    "visits": ("horizon", RestlessLearner, "_restructure", None),
    "exploration": ("states", RestlessLearner, "_detour", lambda self: None),
    "policy": ("known", GreedyPolicy, "color", older),
    "plan": ("known", Optimism, "tolerance", lambda self, t: 10.0),
    "estimates": ("nothing", RestlessLearner, "_count", None),
}


@pytest.mark.parametrize("word", BROKEN)
def test_what_is_not_as_printed_is_told(word, monkeypatch):
    name, owner, attribute, broken = BROKEN[word]
    honest = getattr(owner, attribute)
    if word == "visits":  # the first call, before there is anything to keep, stays as it is

        def broken(self, keep):
            honest(self, keep=keep or hasattr(self, "structure"))

    if word == "estimates":  # the sample that showed a state is kept where those before are not

        def broken(self, arm, state, reward):
            self.turned.clear()
            honest(self, arm, state, reward)

    if word == "policy":  # the compiled loop has ages of its own
        monkeypatch.setattr(RestlessLearner, "play_path", Learner.play_path)
    monkeypatch.setattr(owner, attribute, broken)
    steps = 3000 if word in ("policy", "plan") else STEPS  # at first all arms are worth the same
    assert word in differs(name, 0, steps).differs


def test_an_episode_that_any_full_color_ends_is_too_short(monkeypatch):
    """The one that counts is the color of the next pull."""
    over = lambda self: bool((self.counts.visits >= self.limits).any())  # noqa: E731
    monkeypatch.setattr(RestlessLearner, "_over", over)
    monkeypatch.setattr(RestlessLearner, "play_path", Learner.play_path)
    assert "episodes too short" in differs("known").differs


def test_periods_of_the_wrong_arm_are_told(monkeypatch):
    honest = Inputs.lassos
    monkeypatch.setattr(Inputs, "lassos", lambda self, sizes: honest(self, sizes)[::-1])
    assert differs("periodic").differs == {"colors": 1}


def test_what_shows_a_state_on_a_loop_is_dropped_with_what_was_there_before():
    """Kept or not must not rest on the outcome: two sightings on the loop, the second is new."""
    inputs = Inputs(1, horizon=4, mixing_times=(1,), periods=None)  # cap 1: all ages on the loop
    learner = RestlessLearner(inputs)
    for state in "aaa":
        learner.tell(0, state, 1.0)
    assert learner.counts.visits.tolist() == [2]
    learner.tell(0, "b", 1.0)  # lcm(1, 2) = 2 ages from here on
    assert learner.structure.periods == (2,)
    assert learner.counts.visits.sum() == 0
    assert learner.samples == 3  # time goes on
    learner.tell(0, "b", 1.0)
    assert learner.counts.visits.sum() == 1


# --- plans -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_the_most_favourable_law_by_linear_programming(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    law, worth, radius = rng.dirichlet(np.ones(size)), rng.normal(size=size), rng.uniform(0, 2.5)
    # maximize p worth with p = law + up - down, sum(up + down) <= radius
    both = np.concatenate([worth, -worth])
    most = linprog(-both, A_ub=[np.ones(2 * size)], b_ub=[radius],
                   A_eq=[np.repeat([1.0, -1.0], size)], b_eq=[0.0],
                   bounds=[(0, None)] * size + [(0, own) for own in law])  # fmt: skip
    assert favoured(law, np.array(radius), worth) == pytest.approx(law @ worth - most.fun)


def test_the_width_of_a_plan_is_that_of_its_bounds():
    learner = RestlessLearner(Inputs.of(paying_coin(), 10**5))
    path = BanditWorld(paying_coin(), 1).record(20_000)
    learner.play_path(path.states, path.rewards)
    width = plan_width(learner)
    assert 0 < width <= 1 / sqrt(learner.began)
    learner.planner.values = np.zeros_like(learner.planner.values)
    assert plan_width(learner) > 100 * width / learner.began


def test_exploration_sees_every_state_in_every_phase():
    bandit = small_bandit(3)
    run = exploration(bandit, 2000, 3)
    assert len(run.known) == len(run.steps) > 5
    assert run.known[-1] == sum(bandit.n_states)
    assert all(steps >= known for steps, known in zip(run.steps[1:], run.known[1:], strict=True))


# --- oracles ---------------------------------------------------------------------------------


def test_the_printed_radii_by_hand():
    rewards, laws = published_radii(np.array([0, 100]), 1000, 280, 2, 0.05, 0.001)
    # log(2 280 1000/.05) = 16.2314 and log(4 280 1000/.05) = 16.9245
    assert rewards == pytest.approx([7.5382, 0.75472], abs=1e-4)
    assert laws == pytest.approx([43.5389, 4.35479], abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_a_sweep_over_sets_agrees_with_the_solver(seed):
    world = small_mdp(seed)
    rng = np.random.default_rng(seed)
    colors, support = world.mdp.n_colors, world.mdp.max_support
    laws = rng.dirichlet(np.ones(support), colors)
    model = Parameters(rng.random(colors), laws, 0.2 * rng.random(colors), rng.random(colors))
    solution = solve(world.mdp, model, tolerance=1e-10)
    change = optimistic_sweep(model, world.mdp, solution.values)
    assert change.min() == pytest.approx(solution.gain, abs=1e-8)
    assert change.max() == pytest.approx(solution.gain, abs=1e-8)


def doubled(times, colors=3):
    """Visits 1, 2, 4, ... of each color, an episode for every color in turn; those in the end."""
    visits, before = np.zeros(colors, dtype=np.int64), []
    for _ in range(times):
        for color in range(colors):
            before.append(visits.copy())
            visits[color] += max(1, visits[color])
    return before, visits


def test_visits_that_double_reach_the_bound_and_others_break_it():
    before, last = doubled(20)
    assert 0.99 < visit_sum(before, last) <= 1
    tripled = [(3 ** np.log2(np.maximum(1, visits))).astype(int) * (visits > 0)
               for visits in before]  # fmt: skip
    end = (3 ** np.log2(last)).astype(int)
    assert visit_sum(tripled, end) > 1


def test_the_sum_of_a_run_by_hand():
    """One episode of 8 steps at a color without samples: every step costs 1, all it can."""
    seen, last = [Episode(1, np.zeros(2, dtype=np.int64), 3.0)], np.array([8, 0])
    chance = np.log(8 * 8 / 0.05)
    noise = sqrt(5 / 8 * 8 * chance) + sqrt(8) + 3 * sqrt(5 / 2 * 8 * chance)
    total = run_sum(seen, last, np.array([2, 2]), np.array([True, True]), 0.0, 8)
    assert total == pytest.approx(8 + 3 + noise)
    unknown = np.array([False, True])
    later = [Episode(101, np.zeros(2, dtype=np.int64), 3.0)]
    assert run_sum(later, last, np.array([2, 2]), unknown, 0.0, 8) == pytest.approx(
        8 / sqrt(101) + 3 + noise
    )


# --- problems that tell ----------------------------------------------------------------------


def test_the_myopic_policy_stays_with_the_coin_for_ever():
    """rho* by renewal, as for Example 3: m - 1 tosses, a try, then 1/eps steps on average."""
    gains = []
    for m in range(2, 200):
        w = (1 - 0.6**m) / 2
        gains.append(((m - 1) * 0.6 + w / 0.2) / (m + w / 0.2))
    assert myopic_loss(paying_coin()) == pytest.approx(max(gains) - 0.6, abs=1e-6)
    assert myopic_loss(paired_channel()) == pytest.approx((max(gains) - 0.6) / 2, abs=1e-6)
    assert [arm.period for arm in paired_channel().arms] == [2, 1]


@pytest.mark.parametrize("seed", range(3))
def test_a_ladder_is_climbed_by_those_who_plan(seed):
    world = ladder(seed)
    assert world.gain() > 0.6
    assert world.rewards[:, 0].max() < 0.2
    assert world.rewards[:-1, 1].max() == 0
    assert 3 <= diameter(*pairs_of(world)).upper < 10
