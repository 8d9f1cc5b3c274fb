"""Arms that change: worlds of them, the evidence for a change, and a learner that forgets."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from scipy.stats import binom

from restive._kernels import changes
from restive.base.errors import ProblemError
from restive.learners import Learner, check_learner, load_learner, make_learner
from restive.learners.storage import pack
from restive.learners.tied.changes import TILTS, ChangeSettings, ChangeWatch
from restive.learners.tied.gaps import Gaps
from restive.learners.tied.sampling import TiedSampling
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.problems import random_problem
from restive.simulation import BanditWorld, ChangingWorld, drifting, play

RARE = 1e-4


def channel(up, down, **options):
    return Arm([[1 - up, up], [down, 1 - down]], [0, 1], **options)


GOOD, POOR = channel(0.3, 0.05), channel(0.05, 0.3)
BEFORE, AFTER = Bandit([GOOD, POOR]), Bandit([POOR, GOOD])


# --- worlds ----------------------------------------------------------------------------------


def test_a_path_is_the_first_bandits_until_it_changes_and_the_same_in_any_blocks():
    world = ChangingWorld([(0, BEFORE), (300, AFTER), (500, BEFORE)], rng=4)
    states, rewards = next(world.blocks(900))
    plain, _ = next(BanditWorld(BEFORE, 4).blocks(300))
    assert (states[:, :300] == plain).all()
    parts = [(s, r) for s, r in world.blocks(900, size=7)]
    assert (np.concatenate([s for s, _ in parts], axis=1) == states).all()
    assert (np.concatenate([r for _, r in parts], axis=1) == rewards).all()
    walk = world.walk()
    seen = [walk.step([0])[0].state for _ in range(900)]
    assert seen == states[0].tolist()


def test_every_stage_moves_and_pays_by_its_own_bandit():
    paid = Bandit([Arm([[0.5, 0.5]] * 2, [0.2, 0.6]), Arm([[1.0]], [0.9])])
    less = Bandit([Arm([[0.9, 0.1]] * 2, [0.1, 0.3]), Arm([[1.0]], [0.4])])
    states, rewards = next(ChangingWorld([(0, paid), (40_000, less)], rng=1).blocks(80_000))
    stages = (slice(0, 40_000), 0.5, [0.2, 0.6]), (slice(40_001, 80_000), 0.1, [0.1, 0.3])
    for part, share, means in stages:
        count = states[0, part].sum()
        spread = np.sqrt(len(states[0, part]) * share * (1 - share))
        assert abs(count - share * len(states[0, part])) < 4 * spread
        assert (rewards[0, part] == np.array(means)[states[0, part]]).all()
    assert set(rewards[1, :40_000]) == {0.9}
    assert set(rewards[1, 40_000:]) == {0.4}


def test_drift_ends_at_the_last_bandit_and_passes_the_middle():
    stages = drifting(BEFORE, AFTER, 100, 300, pieces=10)
    assert [step for step, _ in stages] == [0, *range(100, 300, 20)]
    world = ChangingWorld(stages)
    assert world.at(99) is BEFORE
    assert np.allclose(world.at(299).arms[0].transitions, AFTER.arms[0].transitions)
    middle = 0.5 * (BEFORE.arms[0].transitions + AFTER.arms[0].transitions)
    assert np.allclose(world.at(199).arms[0].transitions, middle)


@pytest.mark.parametrize(
    "stages",
    [[], [(1, BEFORE)], [(0, BEFORE), (0, AFTER)], [(0, BEFORE), (9, AFTER), (5, BEFORE)],
     [(0, BEFORE), (5, random_problem(2, 3))], [(0, BEFORE), (5, random_problem(3, 2))]],
)  # fmt: skip
def test_stages_out_of_order_or_of_other_sizes_are_refused(stages):
    with pytest.raises(ProblemError, match="stages"):
        ChangingWorld(stages)


def test_a_run_in_a_changing_world_has_no_regret_against_one_bandit():
    run = play(make_learner("ucb1", 2), ChangingWorld([(0, BEFORE), (500, AFTER)]), 1000)
    assert run.regret is None
    assert run.weak_regret is None
    assert run.missing["weak_regret"] == "the arms change"
    with pytest.raises(ProblemError, match="change"):
        play(
            make_learner("ucb1", 2), ChangingWorld([(0, BEFORE), (5, AFTER)]), 9, plan=plan(BEFORE)
        )


# --- evidence --------------------------------------------------------------------------------


def slow_evidence(gaps, paid, chain, means):
    """The mean likelihood ratio against tilted odds, sample by sample."""
    size, ratios = len(chain), []
    for z in TILTS:
        for s in range(size):
            for e in range(size):
                ratio = 1.0
                for n in range(gaps.shape[1]):
                    chance = np.linalg.matrix_power(chain, n + 1)[s, e]
                    whole = 1 + chance * (exp(z) - 1)
                    for other in range(size):
                        ratio *= ((exp(z) if other == e else 1.0) / whole) ** gaps[s, n, other]
                ratios.append(ratio)
            count, total = paid[s, 0], paid[s, 1]
            ratios.append(exp(z * total) / (1 + means[s] * (exp(z) - 1)) ** count)
    return log(np.mean(ratios)), log(max(ratios))


def test_the_kernel_is_the_mean_likelihood_ratio():
    rng = np.random.default_rng(2)
    for size in (1, 2, 3):
        chain, means = rng.dirichlet(np.ones(size), size), rng.random(size)
        older = rng.integers(0, 4, (2, size, 5, size))
        now = older.sum(axis=0) + rng.integers(0, 4, (size, 5, size))
        paid_older = rng.integers(0, 5, (2, size, 3)).astype(float)
        paid = paid_older.sum(axis=0) + rng.integers(1, 6, (size, 3))
        powers = np.array([np.linalg.matrix_power(chain, n + 1) for n in range(5)])
        values = np.empty((2, 2))
        changes.log_evidence(now, paid, older, paid_older, powers, means, TILTS, *values)
        for c in range(2):
            slow = slow_evidence(now - older[c], paid - paid_older[c], chain, means)
            assert values[:, c] == pytest.approx(slow, rel=1e-9)


def test_the_ratio_has_mean_one_at_most_if_nothing_has_changed():
    """Summed over all outcomes of three samples, exactly."""
    chain, means = np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([0.0, 1.0])
    expected = 0.0
    for code in range(8):
        outcomes = [code >> k & 1 for k in range(3)]
        gaps, paid, chance, state = np.zeros((2, 2, 2)), np.zeros((2, 3)), 1.0, 0
        for outcome, age in zip(outcomes, (1, 2, 1), strict=True):
            chance *= np.linalg.matrix_power(chain, age)[state, outcome]
            gaps[state, age - 1, outcome] += 1
            paid[outcome] += (1, means[outcome], means[outcome])
            state = outcome
        expected += chance * exp(slow_evidence(gaps, paid, chain, means)[0])
    assert expected == pytest.approx(1.0, rel=1e-9)


def sampled(chain, steps, rng):
    """Counts of a path of two states, seen at every step."""
    counts, state = Gaps.none(1).with_room(len(chain)), 0
    for _ in range(steps):
        after = int(rng.random() < chain[state, 1])
        counts.visits[0] += 1
        counts.gaps[0, state, 0, after] += 1
        counts.paid[0, after] += (1.0, after, after)
        state = after
    return counts


def summed(counts, more):
    return Gaps(counts.visits + more.visits, counts.gaps + more.gaps, counts.paid + more.paid)


def test_a_change_is_found_and_what_was_before_is_forgotten():
    rng = np.random.default_rng(3)
    old, new = GOOD.transitions, POOR.transitions
    watch = ChangeWatch(1, ChangeSettings())
    counts = sampled(old, 500, rng)
    assert watch.check(500, counts, [old]) == []
    since = sampled(new, 60, rng)
    counts = summed(counts, since)
    assert watch.check(550, counts, [old]) == [0]
    assert (counts.gaps == since.gaps).all()
    assert (counts.paid == since.paid).all()
    assert counts.visits[0] == 60
    assert watch.points[0].visits[0] == 0


def test_false_alarms_are_as_rare_as_asked_for():
    """At 0.5 for a whole run, at most; 60 runs of 40 checks."""
    rng, alarms = np.random.default_rng(5), 0
    for _ in range(60):
        watch = ChangeWatch(1, ChangeSettings(alarm=0.5))
        counts = sampled(GOOD.transitions, 50, rng)
        alarm = False
        for k in range(40):
            alarm = alarm or bool(watch.check(50 * k + 50, counts, [GOOD.transitions]))
            counts = summed(counts, sampled(GOOD.transitions, 20, rng))
        alarms += alarm
    assert alarms <= binom.isf(RARE, 60, 0.5)


def test_checkpoints_are_few_and_cover_every_age():
    watch = ChangeWatch(1, ChangeSettings())
    counts = Gaps.none(1)
    for k in range(1, 1001):
        watch.check(50 * k, counts, [np.ones((1, 1))])
        ages = [k - number for number in watch.numbers]
        assert len(ages) <= 2 * k.bit_length()
        for octave in range(k.bit_length() - 2):
            assert any(2**octave <= age < 2 ** (octave + 2) for age in ages)


def test_arms_rest_as_long_as_loses_least_by_brute_force():
    """Looks cost price / w a step, a change prize * w / 2; over all whole w."""
    watch = ChangeWatch(1, ChangeSettings(risk=0.05, patience=1))
    counts = sampled(POOR.transitions, 800, np.random.default_rng(1))
    watch.check(800, counts, [POOR.transitions])
    prize = 1 - counts.paid[0, :, 1].sum() / 800
    for price in (0.05, 0.2, 0.6):
        lost = [price / w + 0.05 / 800 * prize * w / 2 for w in range(1, 2000)]
        assert abs(watch.wait(0, price) - (1 + int(np.argmin(lost)))) <= 1
    assert watch.wait(0, 0.0) == watch.wait(0, -0.1) == 1


def test_an_odd_look_is_soon_followed_by_another():
    rng = np.random.default_rng(3)
    watch = ChangeWatch(2, ChangeSettings())
    counts = sampled(POOR.transitions, 500, rng)
    both = Gaps(
        *(np.concatenate([part, part]) for part in (counts.visits, counts.gaps, counts.paid))
    )
    chains = [POOR.transitions] * 2
    assert watch.wait(0, 0.3) > 1 << 60  # nothing is known before the first check
    watch.check(500, both, chains)
    for seen in (1, 0):  # arm 0 is found in its rare state, arm 1 in the usual one
        arm = 1 - seen
        both.visits[arm] += 1
        both.gaps[arm, 0, 200, seen] += 1
        both.paid[arm, seen] += (1.0, seen, seen)
    assert watch.check(550, both, chains) == []
    assert watch.wait(0, 0.3) < 0.7 * watch.wait(1, 0.3)


# --- the learner -----------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(2, 2), (3, 1, 2)])
def test_a_learner_that_forgets_keeps_the_contract(sizes):
    eager = {"every": 7, "alarm": 1e6, "enough": 2.0, "risk": 0.5, "doubt": 0.0, "patience": 2}

    def build():
        learner = make_learner("tied-sampling", len(sizes), rng=2, changes=True)
        settings = learner.settings | {"changes": eager}
        return TiedSampling.from_settings(settings)

    check_learner(build, sizes, steps=120)
    learner = build()
    rng = np.random.default_rng(0)
    for _ in range(200):
        arm = learner.ask()
        learner.tell(arm, int(rng.integers(sizes[arm])), float(rng.random()))
    assert learner.watch.renewed > 0  # so the check has seen it forget


def test_compiled_play_forgets_as_ask_and_tell_do():
    states, rewards = next(ChangingWorld([(0, BEFORE), (900, AFTER)], rng=3).blocks(1800))
    fast, slow = (make_learner("tied-sampling", 2, rng=1, changes=True) for _ in range(2))
    pulls = fast.play_path(states, rewards)
    assert pulls.tolist() == Learner.play_path(slow, states, rewards).tolist()
    assert pack(*fast.snapshot()) == pack(*slow.snapshot())
    assert fast.watch.renewed > 900


def test_a_saved_learner_that_forgets_is_loaded_as_it_was(tmp_path):
    states, rewards = next(ChangingWorld([(0, BEFORE), (600, AFTER)], rng=3).blocks(1500))
    learner = make_learner("tied-sampling", 2, rng=1, changes=True)
    learner.play_path(states[:, :1000], rewards[:, :1000])
    learner.save(tmp_path / "learner.zip")
    loaded = load_learner(tmp_path / "learner.zip")
    rest = states[:, 1000:], rewards[:, 1000:]
    assert loaded.play_path(*rest).tolist() == learner.play_path(*rest).tolist()


def test_without_the_option_nothing_of_it_is_in_settings_or_snapshot():
    learner = make_learner("tied-sampling", 2)
    assert "changes" not in learner.settings
    assert "watch" not in learner.snapshot()[0]
    assert learner.watch is None


def test_after_a_jump_it_soon_earns_what_the_new_arms_offer():
    """Channels trade places, and 300 steps later it is at home with the new ones."""
    learner = make_learner("tied-sampling", 2, rng=1, changes=True)
    states, rewards = next(ChangingWorld([(0, BEFORE), (3000, AFTER)], rng=6).blocks(4300))
    pulls = learner.play_path(states, rewards)
    assert rewards[pulls, np.arange(4300)][3300:].mean() > 0.9 * plan(AFTER).gain


def test_what_an_arm_paid_before_is_forgotten():
    """Rewards fall and chains stay: with the old rewards in mind it would hold on for long."""
    other = channel(0.3, 0.3)
    good = Arm([[0.8, 0.2], [0.3, 0.7]], [0.7, 0.9])
    fallen = Arm(good.transitions, [0.1, 0.2])
    world = ChangingWorld([(0, Bandit([good, other])), (3000, Bandit([fallen, other]))], rng=6)
    states, rewards = next(world.blocks(4000))
    late = []
    for forgets in (False, True):
        learner = make_learner("tied-sampling", 2, rng=1, changes=forgets)
        pulls = learner.play_path(states, rewards)
        late.append(rewards[pulls, np.arange(4000)][3300:].mean())
    assert late[0] < 0.4 < 0.45 < late[1]


def test_arms_at_rest_are_looked_at_when_that_is_cheap():
    """What looks lose by the plan: far less than the mean loss of a pull of that arm."""
    idle = Bandit([channel(0.3, 0.3), channel(0.02, 0.6)])
    learner = make_learner("tied-sampling", 2, rng=1, changes=True)
    states, rewards = next(BanditWorld(idle, 5).blocks(4000))
    lost = []
    for step in range(4000):
        arm = learner.ask()
        if step > 1000:
            prices = learner._prices()
            assert prices.min() >= 0
            lost.append((learner._detour() == 1, prices[1]))
        looked = learner._detour() == arm
        learner.tell(arm, int(states[arm, step]), float(rewards[arm, step]))
        if looked and step > 1000:  # what it shows is weighed at once
            assert learner.watch.checked == learner.sight.steps
    looks = [price for looked, price in lost if looked]
    assert 2 < len(looks) < 40
    assert np.mean(looks) < 0.8 * np.mean([price for _, price in lost])


def test_an_arm_at_rest_is_looked_at():
    """A poor arm that turns excellent, which the plan would hardly pull."""
    idle = Bandit([channel(0.3, 0.1), channel(0.02, 0.6)])
    risen = Bandit([idle.arms[0], channel(0.9, 0.01)])
    learner = make_learner("tied-sampling", 2, rng=1, changes=True)
    states, rewards = next(ChangingWorld([(0, idle), (3000, risen)], rng=2).blocks(6000))
    pulls = learner.play_path(states, rewards)
    assert rewards[pulls, np.arange(6000)][5000:].mean() > 0.9 * plan(risen).gain
