"""Steps of time that bring none, one or several observations, and the policies that make them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from restive import Arm, Bandit, ProblemError, evaluate, forecast, plan
from restive.learners import Learner, Observation, check_learner, make_learner
from restive.learners.fixed import FollowPolicy
from restive.many.lagrangian import lagrangian_bound
from restive.mdp.representation import Representation
from restive.model.files import dump_problem, parse_problem, problem_schema
from restive.planning import plan_within
from restive.planning.diameter import bandit_diameter
from restive.policies.greedy import plan_policy
from restive.policies.policy import Always, FunctionPolicy, InTurn, Policy, most_preferred
from restive.policies.sight import Sight
from restive.policies.tables import IndexPolicy, myopic_policy, whittle_policy
from restive.problems import example1, example4, random_problem
from restive.simulation import BanditWorld, RecordedWorld, play
from restive.theory import problem_bounds

THREE = Bandit(
    [  # no arm is the best in all situations
        Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1]),
        Arm([[0.8, 0.2, 0.0], [0.1, 0.7, 0.2], [0.0, 0.15, 0.85]], [0, 0.5, 0.95]),
        Arm([[0.85, 0.15], [0.2, 0.8]], [0, 1]),
    ]
)
NOISY = Bandit([Arm(arm.transitions, arm.rewards, reward_noise="beta") for arm in THREE.arms])


def oldest_first(states, ages):
    return ages.index(max(ages))


def random_index(rng, stay=0.0, unseen=np.inf):
    rep = Representation.of(THREE, (3, 2, 4))
    tables = [rng.integers(4, size=(s, n)) / 4 for s, n in zip(rep.sizes, rep.n_ages, strict=True)]
    return IndexPolicy(rep, tables, unseen, stay)


def policies():
    rng = np.random.default_rng(0)
    return {
        "one arm": Always(3, 1),
        "in turn": InTurn(3),
        "function": FunctionPolicy(oldest_first, THREE.n_states),
        "index": random_index(rng),
        "index that stays": random_index(rng, stay=0.3),
        "index of unseen arms": random_index(rng, unseen=0.5),
        "myopic": myopic_policy(THREE),
        "whittle": whittle_policy(THREE, 20),
        "plan": plan_policy(plan(THREE, 1e-3)),
    }


# --- what was seen ---------------------------------------------------------------------------


def test_ages_grow_at_every_step_whatever_is_seen():
    sight = Sight(3)
    assert not sight.complete
    sight.note(1, 4)
    sight.see([])
    sight.see([(0, 2), (2, 5)])
    assert (sight.steps, sight.states, sight.last) == (3, [2, 4, 5], 2)
    assert [sight.age(arm) for arm in range(3)] == [1, 3, 1]
    assert sight.complete
    assert not sight.regular  # two arms were seen just now
    sight.note(0, 1)
    assert sight.regular
    sight.see([])
    assert not sight.regular  # none was
    again = Sight(3)
    again.restore(json.loads(json.dumps(sight.snapshot())))
    assert again.snapshot() == sight.snapshot()


def test_a_stretch_of_single_pulls_is_noted_as_one_by_one():
    rng = np.random.default_rng(1)
    whole, stepwise = Sight(4), Sight(4)
    for length in (0, 1, 2, 50):
        pulls, path = rng.integers(3, size=length), rng.integers(5, size=(4, length))
        whole.follow(pulls, path)
        for t, arm in enumerate(pulls.tolist()):
            stepwise.note(arm, int(path[arm, t]))
        assert whole.snapshot() == stepwise.snapshot()


# --- policies --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", policies())
def test_compiled_play_of_a_policy_is_what_it_prefers_step_by_step(name):
    """Also from where no single pulls lead to: after missed steps, and after several pulls."""
    policy, rng = policies()[name], np.random.default_rng(2)
    path = np.array([rng.integers(size, size=400) for size in THREE.n_states])
    fast, slow = Sight(3), Sight(3)
    pulls, expected = np.empty((2, 400), dtype=np.int64)
    begin = 0
    while begin < 400:
        end = min(400, begin + int(rng.integers(6)))
        policy.play(fast, path, pulls, begin, end)
        Policy.play(policy, slow, path, expected, begin, end)
        assert pulls[:end].tolist() == expected[:end].tolist()
        assert fast.snapshot() == slow.snapshot()
        arms = rng.permutation(3)[: rng.integers(4)].tolist()
        for sight in (fast, slow):
            sight.see([(arm, 0) for arm in arms])
        begin = end


def test_a_plan_looks_one_step_ahead_from_ages_that_single_pulls_do_not_lead_to():
    optimum = plan(THREE, 1e-4)
    policy, rng = plan_policy(optimum), np.random.default_rng(3)
    for _ in range(200):
        states = [int(rng.integers(size)) for size in THREE.n_states]
        ages = rng.integers(1, 6, size=3).tolist()
        worth = []
        for j, arm in enumerate(THREE.arms):
            row = arm.power(ages[j])[states[j]]
            later = [1 if i == j else age + 1 for i, age in enumerate(ages)]
            after = [[s if i == j else states[i] for i in range(3)] for s in range(len(row))]
            worth.append(row @ (arm.rewards + optimum.bias(after, later)))
        sight = Sight(3)
        sight.steps, sight.states, sight.seen_at = 10, states, [11 - age for age in ages]
        sight.last = int(np.argmin(ages))
        lived = Sight(3)  # with a place of its own, at which the answer is remembered
        lived.steps, lived.states, lived.last = 10, states, sight.last
        lived.seen_at = [10 if j == sight.last else min(9, 11 - n) for j, n in enumerate(ages)]
        policy.arm(lived)
        assert np.allclose(policy.preferences(sight), worth, atol=1e-3)
        top = np.sort(worth)
        if top[-1] - top[-2] > 2e-3:
            assert policy.choose(sight) == policy.arm(sight) == int(np.argmax(worth))


def test_several_arms_are_the_most_preferred_of_those_available():
    numbers = np.array([0.2, 0.9, 0.5, 0.9, np.inf])
    assert most_preferred(numbers, 3) == (4, 1, 3)
    assert most_preferred(numbers, 2, {0, 2, 3}) == (3, 2)
    assert most_preferred(numbers, 4, {0, 2}) == (2, 0)
    assert most_preferred(numbers, 1, set()) == ()


def test_values_of_policies_and_of_their_functions_agree():
    for policy in (random_index(np.random.default_rng(5)), myopic_policy(THREE)):

        def rule(states, ages, policy=policy):
            last = np.array([ages.index(1)])
            return int(policy.arms(np.array([states]), np.array([ages]), last)[0])

        ours, theirs = evaluate(THREE, policy, caps=6), evaluate(THREE, rule, caps=6)
        assert ours.gain == pytest.approx(theirs.gain, abs=1e-12)
    assert evaluate(THREE, InTurn(3)) == evaluate(THREE, "round-robin")
    assert evaluate(THREE, Always(3, 2)) == evaluate(THREE, 2)


def test_a_function_s_order_of_preference():
    learner = FollowPolicy(FunctionPolicy(lambda states, ages: (2, 0), (2, 3, 2)), "mine")
    for arm in range(3):
        learner.tell(arm, 0, 0.5)
    assert learner.ask_step(2) == (2, 0)
    assert learner.ask_step(2, [0, 1]) == (0, 1)
    with pytest.raises(ValueError, match="must return an arm"):
        FunctionPolicy(lambda states, ages: (), (2, 2)).arms(*np.ones((2, 1, 2), int), np.ones(1))


# --- the contract ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", policies())
def test_followed_policies_keep_the_contract(name):
    check_learner(lambda: FollowPolicy(policies()[name]), THREE.n_states, steps=150)


def test_in_turn_goes_on_after_the_last_arm_and_labels_do_not_matter():
    learner = make_learner("round-robin", THREE, None)
    learner.tell(1, "anything", 1.0)
    assert learner.ask_step(3) == (2, 0, 1)
    learner.step([Observation(2, None, 0.0), Observation(0, ("a", 1), 0.0)])
    learner.step([])
    assert learner.ask() == 1
    assert learner.ask_step(available=[0, 2]) == (2,)


def test_learners_for_one_pull_say_so():
    able = "tied-sampling, tied-sampling-tuned, whittle-sampling, whittle-sampling-tuned, "
    able += "round-robin, myopic, whittle, built for a bandit with several pulls."
    for name in ("ucb1", "optimal", "best-arm", "tied-sampling"):
        learner = make_learner(name, THREE, None)
        words = rf"pulls: {name} cannot choose .*found 2.*at most 1, or play {able}$"
        with pytest.raises(ProblemError, match=words):
            learner.ask_step(2)
    learner = make_learner("ucb1", THREE, None)
    before = learner.snapshot()[1]["plays"].tolist()
    with pytest.raises(ProblemError, match="observations: ucb1 learns from one pull a step"):
        learner.step([Observation(0, 0, 0.5), Observation(1, 0, 0.5)])
    assert learner.snapshot()[1]["plays"].tolist() == before
    assert learner.ask_step(available=[]) == ()
    with pytest.raises(ProblemError, match="no such arm"):
        learner.ask_step(available=[3])


@pytest.mark.parametrize(
    "bad", [[(0, 0, 0.5), (0, 1, 0.5)], [(0, 0, 0.5), (1, 0, 7.0)], [(9, 0, 0)]]
)
def test_a_step_is_refused_as_a_whole(bad):
    learner = make_learner("myopic", THREE, None)
    before = learner.snapshot()
    with pytest.raises(ProblemError):
        learner.step([Observation(*seen) for seen in bad])
    assert learner.snapshot() == before


def test_transitions_are_counted_where_no_step_was_missed():
    learner = make_learner("explore-then-plan", example1(), 1000)
    learner.tell(0, 1, 1.0)
    learner.step([Observation(0, 0, 0.0), Observation(1, 1, 1.0)])
    learner.step([])
    learner.step([Observation(0, 1, 0.0), Observation(1, 1, 1.0)])
    learner.tell(1, 0, 1.0)
    assert learner.moves.tolist() == [[[0, 0], [1, 0]], [[0, 0], [1, 0]]]
    assert learner.visits.tolist() == [[1, 2], [1, 2]]
    assert learner.sight.steps == 5


def test_a_missed_step_takes_time_and_breaks_a_sampled_path():
    learner = make_learner("dsee", example1(), None)
    learner.step([])
    assert learner.memory["clock"][0] == 1
    learner = make_learner("asr", example1(), None)
    for _ in range(20):  # until it samples a path that it has begun before
        learner.tell(learner.ask(), 0, 0.5)
    plays = learner.memory["plays"].sum()
    learner.step([])
    learner.tell(learner.ask(), 0, 0.5)
    assert learner.memory["plays"].sum() == plays  # it waited for the state to come back


# --- worlds and runs -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [3, [1, 2]])
def test_walking_shows_the_path_of_the_blocks(seed):
    world, rng = BanditWorld(NOISY, np.random.SeedSequence(seed)), np.random.default_rng(0)
    states, rewards = next(world.blocks(700))
    for walk in (world.walk(), world.record(700).walk()):
        for t in range(700):
            arms = rng.permutation(3)[: rng.integers(4)].tolist()
            expected = [(j, int(states[j, t]), float(rewards[j, t])) for j in arms]
            assert walk.step(arms) == tuple(expected)
        assert walk.steps == 700
    with pytest.raises(ProblemError, match=r"the path is over .*700"):
        walk.step([0])


@pytest.mark.parametrize("arms", [[0, 0], [3], [-1, 0]])
def test_a_walk_refuses_arms_that_there_are_not(arms):
    walk = BanditWorld(THREE).walk()
    with pytest.raises(ProblemError, match=r"different arms of 0\.\.2"):
        walk.step(arms)
    assert walk.steps == 0


def naive_myopic(bandit, states, pulls):
    """Pulls of the most promising arms by beliefs moved on step by step; unseen arms first."""
    beliefs, unseen, chosen = [None] * bandit.n_arms, list(range(bandit.n_arms)), []
    for t in range(states.shape[1]):
        worth = [
            np.inf if b is None else float(b @ arm.rewards)
            for b, arm in zip(beliefs, bandit.arms, strict=True)
        ]
        arms = sorted(unseen, key=lambda j: (-round(worth[j], 9), j))[:pulls]
        chosen.append(arms)
        for j in arms:
            beliefs[j] = np.eye(bandit.n_states[j])[states[j, t]]
        beliefs = [
            None if b is None else b @ arm.transitions
            for b, arm in zip(beliefs, bandit.arms, strict=True)
        ]
    return chosen


@pytest.mark.parametrize("pulls", [2, 3])
def test_several_pulls_a_step(pulls):
    arms = [*THREE.arms, *random_problem(n_arms=2, n_states=2, rng=8).arms]
    bandit, seen = Bandit(arms, pulls=pulls), []
    world = BanditWorld(bandit, 6)
    states, rewards = next(world.blocks(400))
    run = play(myopic_policy(bandit), world, 400, progress=lambda *step: seen.append(step))
    chosen = naive_myopic(bandit, states, pulls)
    total = sum(rewards[j, t] for t, step in enumerate(chosen) for j in step)
    assert run.total_reward == pytest.approx(total)
    assert run.pulls == tuple(sum(j in step for step in chosen) for j in range(5))
    assert (run.steps, sum(run.pulls)) == (400, 400 * pulls)
    best = sum(sorted(arm.gain for arm in arms)[-pulls:])
    assert run.best_arm_gain == pytest.approx(best)
    assert f"best {pulls} arms alone: {best:.4f}" in repr(run)
    assert np.allclose(run.weak_regret, best * run.times - run.rewards)
    assert run.regret is None
    assert run.missing["gap_regret"] == "gap regret is only defined for one pull a step"
    assert seen == [(400, run.total_reward)]
    with pytest.raises(ProblemError, match="ucb1 cannot choose"):
        play(make_learner("ucb1", 5), world, 10)


def test_steps_played_at_once_are_steps_asked_for():
    states, rewards = next(BanditWorld(NOISY, 2).blocks(60))
    slow, fast = (make_learner("whittle", THREE, None) for _ in range(2))
    chosen = fast.play_steps(states, rewards, 2)
    for t in range(60):
        arms = slow.ask_step(2)
        assert chosen[t].tolist() == list(arms)
        slow.step([Observation(j, int(states[j, t]), float(rewards[j, t])) for j in arms])
    assert slow.snapshot() == fast.snapshot()


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: make_learner("round-robin", THREE).ask_step(None), "^pulls: .* from 1 on"),
        (lambda: make_learner("round-robin", THREE).ask_step(0), "^pulls: .* from 1 on"),
        (lambda: make_learner("ucb1", 3).step([(0, 1)]), r"^observations\[0\]: .*Observation"),
        (lambda: make_learner("exp3", THREE, "x"), "^horizon: .* whole number"),
        (lambda: make_learner("thompson", 3, rng="x"), "^rng: not a seed"),
        (lambda: make_learner("ucb1", None), "^problem: .*found None"),
        (lambda: play(None, BanditWorld(THREE, 1), 5), "^learner: .*found None"),
        (lambda: play(InTurn(3), BanditWorld(THREE, 1), "x"), "^horizon: .* whole number"),
        (lambda: BanditWorld(THREE, "x"), "^rng: not a seed"),
        (lambda: plan(THREE, "x"), "^tolerance: not an accuracy"),
        (lambda: evaluate(THREE, "mypic"), "^policy: no such policy .*Did you mean myopic"),
        (lambda: lagrangian_bound(THREE), r"^arms: .*found a Bandit.*bandit\.arms"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named(act, words):
    with pytest.raises(ProblemError, match=words):
        act()


def test_a_run_knows_how_far_it_came():
    record = RecordedWorld(*next(BanditWorld(THREE, 1).blocks(50)), THREE)
    run = play(InTurn(3), record, 50)
    assert (run.steps, run.horizon, run.to_dict()["steps"]) == (50, 50, 50)
    assert run.provenance["learner"] == "policy"
    assert isinstance(make_learner("best-arm", THREE, None), Learner)


# --- the number of pulls of a problem --------------------------------------------------------


@pytest.mark.parametrize("pulls", [0, 4, -1, 1.0, True, "2", None])
def test_a_number_of_pulls_that_is_none_is_refused(pulls):
    with pytest.raises(ProblemError, match=r"pulls: .* from 1 to 3"):
        Bandit(THREE.arms, pulls=pulls)


def test_pulls_belong_to_the_problem():
    two = Bandit(THREE.arms, pulls=2)
    assert two != THREE
    assert two == Bandit(THREE.arms, pulls=np.int64(2))
    assert hash(two) == hash(Bandit(THREE.arms, pulls=2))
    for form in ("toml", "json"):
        text = dump_problem(two, form)
        assert "pulls" in text
        assert parse_problem(text, form) == two
        assert "pulls" not in dump_problem(THREE, form)
    assert problem_schema()["properties"]["pulls"]["default"] == 1
    for line, words in (("4", "from 1 to 3"), ('"2"', "whole number"), ("0", "from 1 to 3")):
        with pytest.raises(ProblemError, match=rf"^pulls: .*{words}"):
            parse_problem(f"pulls = {line}\n" + dump_problem(THREE))


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [
        (plan, ", or take restive.best_plan"),
        (forecast, ", or take restive.best_plan"),
        (lambda bandit: evaluate(bandit, "myopic"), ", or simulate the policy: restive.play"),
        (lambda bandit: problem_bounds(bandit, 1000), ", or ask restive.best_plan"),
        (lambda bandit: bandit_diameter(bandit, 3), r"\.$"),
    ],
)
def test_what_is_for_one_pull_only_says_so(asked, remedy):
    words = r"pulls: .* is only for one pull a step \(found 2\)\. Set pulls to 1"
    with pytest.raises(ProblemError, match=words + remedy):
        asked(Bandit(example4().arms, pulls=2))


def test_a_plan_within_limits_is_refused_with_a_reason():
    reason = plan_within(Bandit(example4().arms, pulls=2), 10.0).reason
    assert reason == "plans to measure regret by are for one pull a step, and here there are 2"
