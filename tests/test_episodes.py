"""The loop of all episodic learners: steps with no pull, one or several, and plans of any kind."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from restive.base.errors import ProblemError
from restive.learners import ColoredUCRL2, Learner, make_learner
from restive.learners.records import arrays_of, record_from
from restive.learners.storage import pack, unpack
from restive.learners.tied.belief import Belief
from restive.learners.tied.sampling import TiedSampling
from restive.mdp.structured import Parameters, StructuredMDP
from restive.policies.greedy import laws_of
from restive.problems import example1, random_problem
from restive.simulation import BanditWorld

NAMES = ["colored-ucrl2", "colored-ucrl2-unknown", "colored-ucrl2-keeping", "tied-ucrl",
         "tsde-colors", "ucrl2", "tied-sampling", "tsde", "ala"]  # fmt: skip
BANDIT = random_problem(n_arms=3, n_states=2, rng=8)


def build(name, bandit=BANDIT):
    options = (
        {"mixing_times": 1}
        if name in ("colored-ucrl2", "tied-ucrl", "tsde-colors", "ucrl2")
        else {}
    )
    return make_learner(name, bandit, 150, rng=3, **options)


def irregular_steps(learner, steps, seed):
    """Steps with no pull, one or several; returns (arm, state before, age, state) of samples."""
    rng = np.random.default_rng([seed, 1])
    path = BanditWorld(BANDIT, seed).record(steps)
    last, samples = {}, []
    for t in range(steps):
        kind = rng.choice(["one", "none", "several"], p=[0.8, 0.1, 0.1])
        several = rng.permutation(learner.n_arms)[:2].tolist()
        arms = {"one": [learner.ask()], "none": [], "several": several}[kind]
        for arm in arms:
            state = int(path.states[arm, t])
            if arm in last:
                samples.append((arm, *last[arm], t, state))
            last[arm] = state, t
        learner.step([(j, int(path.states[j, t]), float(path.rewards[j, t])) for j in arms])
    return Counter((arm, state, t - at, after) for arm, state, at, t, after in samples)


def counted(learner):
    """The learner's own counts by (arm, state before, stored age, state)."""
    if isinstance(learner, TiedSampling):
        return {
            (int(j), int(s), int(n) + 1, int(e)): int(learner.counts.gaps[j, s, n, e])
            for j, s, n, e in np.argwhere(learner.counts.gaps)
        }
    rep, numbers = learner.representation, {}
    for arm in range(rep.n_arms):
        grid = rep.color_grid(arm)
        for s, n, e in np.argwhere(learner.counts.outcomes[grid]):
            number = learner.counts.outcomes[grid[s, n], e]
            numbers[arm, int(s), int(n) + 1, int(e)] = int(number)
    return numbers


@pytest.mark.parametrize("name", ["colored-ucrl2", "tied-ucrl", "tied-sampling"])
def test_samples_are_counted_by_true_ages_however_many_a_step_brings(name):
    learner = build(name)
    samples = irregular_steps(learner, 400, 2)
    numbers = learner.labels.numbers
    expected = Counter()
    for (arm, state, age, after), count in samples.items():
        if name == "tied-sampling":
            state, after = numbers[arm][state], numbers[arm][after]
        else:
            age = learner.representation.stored_age(arm, age)
        expected[arm, state, age, after] += count
    assert counted(learner) == expected
    assert len({age for _, _, age, _ in samples}) > 5
    assert learner.samples == sum(samples.values())
    assert learner.sight.steps == 400


@pytest.mark.parametrize("name", NAMES)
def test_after_irregular_steps_a_path_is_played_as_by_ask_and_tell_and_snapshots_go_on(name):
    fast, slow, later = build(name), build(name), build(name)
    for learner in (fast, slow):
        irregular_steps(learner, 60, 5)
        learner.step([])  # nobody was just seen, and a path begins
    assert [fast.sight.age(j) > 1 for j in range(3)] == [True] * 3
    later.restore(*unpack(pack(*slow.snapshot())))
    path = BanditWorld(BANDIT, 6).record(80)
    expected = Learner.play_path(slow, path.states, path.rewards).tolist()
    assert fast.play_path(path.states, path.rewards).tolist() == expected
    assert later.play_path(path.states, path.rewards).tolist() == expected
    assert pack(*fast.snapshot()) == pack(*slow.snapshot()) == pack(*later.snapshot())


@pytest.mark.parametrize("name", ["tsde-colors", "tied-sampling"])  # plans without radii
def test_in_any_situation_the_arm_with_the_best_value_one_step_ahead_is_pulled(name):
    """Values of the plan after each pull, computed here from ages and laws alone."""
    learner, irregular = build(name), 0
    path = BanditWorld(BANDIT, 9).record(300)
    rng = np.random.default_rng(4)
    for t in range(300):
        arms = [learner.ask()] if t % 5 else rng.permutation(3)[: t % 3].tolist()
        learner.step([(j, int(path.states[j, t]), float(path.rewards[j, t])) for j in arms])
        if not learner.running or learner._detour() is not None:
            continue
        planner, sight = learner.planner, learner.sight
        if getattr(planner, "by_index", False):
            continue
        irregular += t % 5 == 0
        planner = getattr(planner, "exact", planner)
        rep, laws, worth = planner.structure, laws_of(planner.parameters), []
        for arm in range(3):
            color = rep.color(arm, sight.states[arm], sight.age(arm))
            total = laws.rewards[color]
            for state in range(rep.sizes[arm]):
                states, ages = list(sight.states), [sight.age(j) + 1 for j in range(3)]
                states[arm], ages[arm] = state, 1
                total += laws.chances[color, state] * planner.values[rep.positions(states, ages)]
            worth.append(total)
        assert worth[learner.ask()] >= max(worth) - 1e-9
    assert irregular > 30


def test_a_step_that_is_refused_changes_nothing():
    told, free = build("colored-ucrl2"), build("tied-sampling")
    for learner, bad in ((told, (1, 7, 0.5)), (free, (1, [], 0.5)), (free, (3, 0, 0.5))):
        before = pack(*learner.snapshot())
        with pytest.raises(ProblemError):
            learner.step([(0, 0, 0.5), bad])
        assert pack(*learner.snapshot()) == before


def test_an_mdp_is_told_one_action_a_step_at_most():
    mdp, _ = StructuredMDP.plain(np.full((3, 2, 3), 1 / 3), np.zeros((3, 2)))
    learner = ColoredUCRL2(mdp)
    before = pack(*learner.snapshot())
    with pytest.raises(ProblemError, match="more than one action"):
        learner.step([(0, 1, 0.5), (1, 2, 0.5)])
    learner.step([])  # it moves when something is done, and only then
    assert pack(*learner.snapshot()) == before


class Turns:
    """A planner that looks at no values: arm after arm, as many steps of each as there are states.

    It stands for any other way from drawn chains to a policy.
    """

    gain = (0.0, 1.0)

    def __init__(self):
        self.sizes = [1]

    @property
    def policy(self):
        return self

    def plan(self, evidence, model, tolerance):
        self.sizes = [len(chain) for chain in model.chains]

    def arm(self, sight):
        return sight.steps // max(self.sizes) % len(self.sizes)

    def walk(self, sight, left, names, path, pulls, begin, end):
        from restive._kernels.play import UNKNOWN

        return begin, UNKNOWN  # one step by ask and tell

    def snapshot(self):
        return {"sizes": self.sizes}, {}

    def restore(self, state, arrays, structure):
        self.sizes = state["sizes"]


def test_another_planner_can_be_given_to_a_learner():
    path = BanditWorld(example1(0.2), 1).record(500)

    def with_turns():
        learner = TiedSampling(2, 0)
        learner.planner = Turns()
        return learner

    learner, half, later = with_turns(), with_turns(), with_turns()
    pulls = learner.play_path(path.states, path.rewards)
    assert pulls[400:406].tolist() == [0, 0, 1, 1, 0, 0]
    assert len(learner.episodes) > 50
    half.play_path(path.states[:, :250], path.rewards[:, :250])
    later.restore(*unpack(pack(*half.snapshot())))
    rest = later.play_path(path.states[:, 250:], path.rewards[:, 250:])
    assert rest.tolist() == pulls[250:].tolist()


def test_an_episode_that_begins_with_a_second_look_ends_with_it():
    """Whether or not anybody asked in between: asking changes nothing."""
    bandit = random_problem(n_arms=2, n_states=[2, 1], rng=1)
    path = BanditWorld(bandit, 3).record(800)
    plain, asking = TiedSampling(2, 5), TiedSampling(2, 5)
    looks = 0
    for t in range(800):
        arm = plain.ask()
        looks += plain.running and plain._detour() is not None and plain.t == plain.began
        assert asking.policy.arm(asking.sight) in (0, 1) if t >= 2 else True
        for learner in (plain, asking):
            learner.tell(arm, int(path.states[arm, t]), float(path.rewards[arm, t]))
    assert looks > 0
    assert pack(*plain.snapshot()) == pack(*asking.snapshot())


def test_records_of_arrays_come_back():
    half = Parameters(np.arange(3.0), np.ones((3, 2)), None, np.zeros(3))
    again = record_from(Parameters, arrays_of(half, "model_"), "model_")
    assert again.reward_radii is None
    assert again.rewards.tolist() == [0, 1, 2]
    assert again.rewards is not half.rewards
    many = Belief.blank([1] * 12)
    back = record_from(Belief, arrays_of(many))
    assert [len(part) for part in (back.drawn, back.chains, back.means)] == [12, 12, 12]
