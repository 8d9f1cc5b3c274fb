"""Posterior sampling with tied ages: the contract, compiled play, arms of every awkward kind."""

from __future__ import annotations

import numpy as np
import pytest

from restive._kernels import tied
from restive.base.errors import ProblemError
from restive.learners import Learner, check_learner, load_learner, make_learner
from restive.learners.storage import pack
from restive.learners.tied.belief import DOUBLINGS, _best_rows, _resized
from restive.learners.tied.gaps import PLACES, place_of
from restive.learners.tied.plan_size import CAPS
from restive.learners.tied.posterior import ChainPosterior
from restive.learners.tied.sampling import TiedSampling, TiedSettings
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.problems import (
    example1,
    example2,
    example3,
    example4,
    gilbert_elliott,
    lower_bound,
    random_problem,
)
from restive.simulation import BanditWorld, play

RING2, RING3 = np.roll(np.eye(2), 1, axis=1), np.roll(np.eye(3), 1, axis=1)


SOBER = TiedSettings(hope=None)


def sticky(leave, rewards=(0, 1), **options):
    return Arm([[1 - leave, leave], [leave, 1 - leave]], rewards, **options)


def lasso(chain):
    return tied.lasso(chain, 0.02, CAPS, DOUBLINGS)


def coin(mean, noise="none"):
    return Arm([[1.0]], [mean], reward_noise=noise)


BANDITS = {  # with the most that a step may lose on average over 5,000 steps
    "channels": (example1(0.1), 0.015),
    "alternating": (example2(0.9), 0.03),
    "channel and coin": (example3(0.1), 0.03),
    "rings": (
        Bandit([Arm(RING2, [0, 1], initial=0), Arm(RING3, [0.2, 0.9, 0.4], initial=0)]),
        0.01,
    ),
    "ring and noise": (
        Bandit([Arm(RING3, [0.1, 0.9, 0.3], reward_noise="bernoulli"), coin(0.5, "bernoulli")]),
        0.05,
    ),
    "lower bound": (lower_bound(2, 3, gap=0.3), 0.03),
    "iid": (Bandit([Arm([[0.3, 0.7]] * 2, [0, 1]), Arm([[0.6, 0.4]] * 2, [0, 1])]), 0.015),
    "single states": (Bandit([coin(0.3), coin(0.6)]), 0.01),
    "noisy single states": (Bandit([coin(0.3, "bernoulli"), coin(0.6, "bernoulli")]), 0.03),
    "one arm": (Bandit([sticky(0.1)]), 0.001),
    "five states": (random_problem(2, 5, rng=2, reward_noise="beta"), 0.02),
    "three states": (random_problem(2, 3, rng=0), 0.01),
    "four arms": (gilbert_elliott(4, [0.1, 0.2, 0.1, 0.3], [0.1, 0.1, 0.2, 0.3], 0.9, 0.1), 0.06),
    "index policies fail": (example4(), 0.12),
    "looks constant": (Bandit([sticky(0.01, (0.1, 1), initial=0), coin(0.4)]), 0.05),
    "slow arms": (example1(0.01), 0.06),
}


def drive(learner, record, steps, forced=None):
    for step in range(steps):
        arm = learner.ask() if forced is None else forced(step)
        learner.tell(arm, int(record.states[arm, step]), float(record.rewards[arm, step]))


# --- contract --------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", ["channels", "four arms", "one arm", "index policies fail"])
def test_tied_sampling_keeps_the_contract(problem):
    bandit, _ = BANDITS[problem]
    check_learner(lambda: TiedSampling(bandit.n_arms, rng=7), bandit.n_states, steps=120)


@pytest.mark.parametrize("problem", BANDITS)
def test_compiled_play_gives_the_same_bytes_as_ask_and_tell(problem):
    bandit, _ = BANDITS[problem]
    record = BanditWorld(bandit, 1).record(500)
    fast, slow = (make_learner("tied-sampling", bandit, None, rng=3) for _ in range(2))
    parts = [slice(0, 1), slice(1, 90), slice(90, 500)]
    pulls = [fast.play_path(record.states[:, part], record.rewards[:, part]) for part in parts]
    expected = Learner.play_path(slow, record.states, record.rewards)
    assert np.concatenate(pulls).tolist() == expected.tolist()
    assert pack(*fast.snapshot()) == pack(*slow.snapshot())
    assert fast.episodes == slow.episodes


def test_a_saved_learner_goes_on_with_the_same_bytes(tmp_path):
    bandit, _ = BANDITS["three states"]
    record = BanditWorld(bandit, 2).record(800)
    settings = TiedSettings(chains=ChainPosterior(mass=2.0), growth=0.1)
    whole, half = (TiedSampling(2, 5, settings) for _ in range(2))
    expected = whole.play_path(record.states, record.rewards)[400:]
    half.play_path(record.states[:, :400], record.rewards[:, :400])
    half.save(tmp_path / "half.zip")
    loaded = load_learner(tmp_path / "half.zip")
    rest = loaded.play_path(record.states[:, 400:], record.rewards[:, 400:])
    assert rest.tolist() == expected.tolist()
    assert pack(*loaded.snapshot()) == pack(*whole.snapshot())
    with pytest.raises(ProblemError, match="another learner"):
        TiedSampling(2, 5).load(tmp_path / "half.zip")


@pytest.mark.parametrize("reward", [float("nan"), -0.1, 1.5])
def test_rewards_outside_the_unit_interval_are_refused_and_change_nothing(reward):
    learner = TiedSampling(2)
    before = pack(*learner.snapshot())
    with pytest.raises(ProblemError, match="reward"):
        learner.tell(0, "new", reward)
    with pytest.raises(ProblemError, match="no such arm"):
        learner.tell(2, "new", 0.5)
    assert pack(*learner.snapshot()) == before


def test_states_may_be_any_labels_and_are_numbered_as_they_come():
    bandit, _ = BANDITS["channels"]
    record = BanditWorld(bandit, 4).record(300)
    plain, named = TiedSampling(2, 1), TiedSampling(2, 1)
    labels = {0: "busy", 1: ("free", 2, None)}
    for step in range(300):
        arm = plain.ask()
        assert named.ask() == arm
        state, reward = int(record.states[arm, step]), float(record.rewards[arm, step])
        plain.tell(arm, state, reward)
        named.tell(arm, labels[state], reward)
    again = TiedSampling(2, 1)
    again.restore(*named.snapshot())
    assert again.ask() == named.ask()
    assert again.labels.numbers == named.labels.numbers


def test_counts_are_those_of_true_ages():
    """One row per state last seen and gap; long gaps at the nearest that has a place."""
    learner = TiedSampling(2, 0)
    seen = [(0, "x"), (1, "u"), (0, "y"), (1, "u"), (1, "u"), (0, "x"), *[(1, "u")] * 300, (0, "y")]
    for arm, state in seen:
        learner.tell(arm, state, 0.25)
    expected = np.zeros((2, 2, len(PLACES), 2), dtype=np.int64)
    expected[0, 0, 1, 1] = expected[0, 1, 2, 0] = expected[0, 0, place_of(301), 1] = 1
    expected[1, 0, 1, 0] = 2  # at steps 2 and 4, and again from 5 to 7
    expected[1, 0, 0, 0] = 300
    assert (learner.counts.gaps == expected).all()
    assert learner.counts.paid[1, 0].tolist() == [303, 303 / 4, 303 / 16]


# --- lassos and starts -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chain", "cap", "loop"),
    [
        (np.ones((1, 1)), 1, 1),
        (np.full((3, 3), 1 / 3), 1, 1),
        (RING2, 1, 2),
        (RING3, 1, 3),
        (np.array([[0.9, 0.1], [0.1, 0.9]]), 23, 1),  # .8^n <= .02: n >= 17.5
        (np.array([[0.1, 0.9], [0.9, 0.1]]), 23, 1),
        (np.array([[0.01, 0.99], [0.99, 0.01]]), 256, 1),  # .98^n <= .02: n >= 193.6
        (np.array([[0.99, 0.01], [0.01, 0.99]]), 256, 1),
        (np.array([[0.999, 0.001], [0.001, 0.999]]), 256, 1),
        (np.array([[0.001, 0.999], [0.999, 0.001]]), 256, 2),
        (np.array([[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]]), 1, 1),  # it does not move at all
        (np.kron([[0.9, 0.1], [0.1, 0.9]], RING3), 23, 3),
    ],
)
def test_ages_are_told_apart_as_long_as_it_matters(chain, cap, loop):
    assert lasso(chain) == (cap, loop)


@pytest.mark.parametrize("seed", range(20))
def test_ages_beyond_the_cap_are_like_those_on_the_loop(seed):
    rng = np.random.default_rng([seed, 21])
    size = int(rng.integers(2, 5))
    chain = rng.dirichlet(np.full(size, 0.3), size)
    stay = rng.choice([0.0, 0.9])
    chain = stay * np.eye(size) + (1 - stay) * chain
    cap, loop = lasso(chain)
    stored = [np.linalg.matrix_power(chain, cap + k) for k in range(loop)]
    beyond = np.linalg.matrix_power(chain, cap)
    farthest = 0.0
    for n in range(2000):
        farthest = max(farthest, np.abs(beyond - stored[n % loop]).sum(axis=1).max())
        beyond = beyond @ chain
    assert farthest <= 0.04 or cap == CAPS[-1]
    if cap > 1 and loop == 1:  # and no smaller cap would do
        earlier = np.linalg.matrix_power(chain, CAPS[cap > CAPS].max())
        assert np.abs(beyond - earlier).sum(axis=1).max() > 0.02


def test_a_resized_chain_is_a_chain_and_keeps_what_it_was():
    chain = np.array([[0.8, 0.2], [0.3, 0.7]])
    assert _resized(chain, 2) is chain
    for size in (1, 3, 5):
        grown = _resized(chain, size)
        assert grown.shape == (size, size)
        assert grown.sum(axis=1) == pytest.approx(1)
        assert (grown > 0).all()
    assert _resized(chain, 3)[0, 0] > _resized(chain, 3)[0, 1]


# --- play ------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", BANDITS)
def test_what_is_lost_is_small_on_arms_of_every_kind(problem):
    """Two of three seeds are below the margin, which is some three times what was measured."""
    bandit, margin = BANDITS[problem]
    optimum = plan(bandit, 1e-4)
    lost = []
    for seed in range(3):
        run = play(TiedSampling(bandit.n_arms, seed), BanditWorld(bandit, [seed, 8]), 5000,
                   plan=optimum)  # fmt: skip
        lost.append(run.gap_regret[-1] / 5000)
    assert np.median(lost) <= margin


def test_arms_that_hardly_ever_move_cost_little():
    """Within 5,000 steps they stand still: pull the one that stands better."""
    arms = [sticky(1e-6, (0.2, 0.7), initial=1), sticky(1e-6, (0.1, 0.9), initial=0)]
    for seed in range(3):
        run = play(TiedSampling(2, seed), BanditWorld(Bandit(arms), seed), 5000)
        assert run.total_reward / 5000 > 0.68


def test_an_arm_that_shows_one_state_for_long_is_tried_again():
    """It pays less than the other until it moves, after 100 steps on average."""
    bandit, _ = BANDITS["looks constant"]
    for seed in range(5):
        run = play(TiedSampling(2, seed), BanditWorld(bandit, [seed, 9]), 5000)
        assert run.pulls[0] > 1000


@pytest.mark.parametrize("truth", [0.15, 0.85])
def test_even_ages_alone_leave_both_twins_open_and_odd_ones_settle_it(truth):
    """An operator pulls the first arm every second step only; then the learner takes over."""
    bandit = Bandit([sticky(truth), Arm([[1.0]], [0.5])])
    record = BanditWorld(bandit, 10).record(4000)
    learner = TiedSampling(2, 6)
    drive(learner, record, 400, forced=lambda step: step % 2)
    rng, chain, signs = np.random.default_rng(0), learner.chains[0], []
    counts = learner.counts.gaps[0, :2, :, :2]
    assert counts[:, [0, 2, 4]].sum() == 0
    for _ in range(300):
        chain = ChainPosterior().draw(chain, counts, rng)
        signs.append(np.trace(chain) > 1)
    assert 0.02 < np.mean(signs) < 0.98
    rest = record.states[:, 400:], record.rewards[:, 400:]
    learner.play_path(*rest)
    assert abs(learner.chains[0][0, 1] - truth) < 0.1


def test_planning_stays_within_its_means(monkeypatch):
    """Three slow arms would make millions of information states; what is too large has indices."""
    bandit = Bandit([sticky(0.002), sticky(0.004), sticky(0.003)])
    learner = TiedSampling(3, 0, TiedSettings(fewest_states=2000, states_per_step=10.0))
    begin, plans = learner._begin, []

    def noted():
        begin()
        rep = None if learner.planner.by_index else learner.planner.exact.structure
        plans.append((rep, learner.until - learner.began))

    monkeypatch.setattr(learner, "_begin", noted)
    record = BanditWorld(bandit, 11).record(400)
    learner.play_path(record.states, record.rewards)
    assert any(rep is None for rep, _ in plans)
    assert all(rep.n_states <= 2000 + 10 * length for rep, length in plans if rep is not None)


def test_episodes_grow_and_end_when_an_arm_was_pulled_as_often_as_before():
    bandit, _ = BANDITS["channels"]
    learner = TiedSampling(2, 0)
    record = BanditWorld(bandit, 12).record(3000)
    learner.play_path(record.states, record.rewards)
    lengths = np.diff(learner.episodes)
    starts = np.array(learner.episodes[:-1])
    assert (lengths <= np.maximum(1, 0.02 * starts) + 1).all()
    assert lengths[:3].max() <= 3
    assert lengths[-1] >= 40


def test_an_arm_that_never_moved_is_looked_at_again():
    """Rests of at most ten steps for each pull; draws alone leave it aside for longer."""
    record = BanditWorld(Bandit([coin(0.9), coin(0.1)]), 3).record(4000)
    rests = {}
    for look_again in (10.0, 1e9):
        learner = TiedSampling(2, 0, TiedSettings(look_again=look_again))
        looks = np.flatnonzero(learner.play_path(record.states, record.rewards) == 1)
        rests[look_again] = np.diff(looks) / np.arange(1, len(looks))
    assert len(rests[10.0]) > 20
    assert rests[10.0].max() <= 10
    assert rests[1e9].max() > 10


def test_an_arm_thought_to_stand_still_is_looked_at_again_ever_more_rarely():
    """A channel that is bad for its first 3,000 steps and good from then on, beside a steady arm.

    An operator has pulled it so often that its state seems to be all there is.
    """
    states = np.zeros((2, 8_000), dtype=np.int64)
    states[0, 3_000:] = 1
    rewards = np.where(states == 1, 0.9, 0.1)
    rewards[1] = 0.5
    learner = TiedSampling(2, 0)
    for step in range(200):
        arm = int(step == 1 or step >= 150)
        learner.tell(arm, 0, float(rewards[arm, step]))
    assert len(learner.chains[0]) == 1
    pulls = learner.play_path(states[:, 200:], rewards[:, 200:])
    assert 0 < (pulls[:2_800] == 0).sum() < 40
    assert (pulls[4_000:] == 0).mean() > 0.9


def test_a_good_state_that_was_hardly_seen_is_not_given_up():
    """Seen once, for a step, it may have been bad luck: it lasts 25 steps on average."""
    bandit = Bandit([Arm([[0.99, 0.01], [0.04, 0.96]], [0.05, 1.0], initial=0), coin(0.3)])
    record = BanditWorld(bandit, 5).record(6_000)
    shares = {}
    for settings in (TiedSettings(), SOBER):
        runs = []
        for seed in range(4):
            learner = TiedSampling(2, seed, settings)
            for arm, state in [(0, 0), (1, 0), *[(0, 0)] * 60, (0, 1), (0, 0), *[(1, 0)] * 20]:
                learner.tell(arm, state, (0.05, 1.0)[state] if arm == 0 else 0.3)
            learner.play_path(record.states, record.rewards)
            runs.append(learner.counts.paid[0, 1, 0])
        shares[settings] = runs
    assert min(shares[TiedSettings()]) > 300
    assert min(shares[SOBER]) < 300  # what is mended here


def test_a_learner_without_hope_keeps_the_contract(tmp_path):
    check_learner(lambda: TiedSampling(2, 0, SOBER), (2, 3), steps=120)
    record = BanditWorld(example3(0.1), 2).record(600)
    fast, slow, half = (make_learner("tied-sampling", 2, hope=False, rng=1) for _ in range(3))
    assert fast.options == SOBER
    pulls = fast.play_path(record.states, record.rewards)
    assert pulls.tolist() == Learner.play_path(slow, record.states, record.rewards).tolist()
    half.play_path(record.states[:, :300], record.rewards[:, :300])
    half.save(tmp_path / "half.zip")
    loaded = load_learner(tmp_path / "half.zip")
    loaded.play_path(record.states[:, 300:], record.rewards[:, 300:])
    assert pack(*fast.snapshot()) == pack(*slow.snapshot()) == pack(*loaded.snapshot())


def test_the_best_row_of_each_state_is_that_of_the_draw_in_which_it_is_worth_most():
    stays, leaves = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.7, 0.3], [0.6, 0.4]])
    rows = _best_rows([stays, leaves, np.full((2, 2), 0.5)], np.array([0.1, 0.8]))
    worth = [sum(0.98**n * np.linalg.matrix_power(c, n) @ [0.1, 0.8] for n in range(2_000))
             for c in (stays, leaves, np.full((2, 2), 0.5))]  # fmt: skip
    best = np.argmax(worth, axis=0)
    assert rows.tolist() == [[stays, leaves, np.full((2, 2), 0.5)][b][s].tolist()
                             for s, b in enumerate(best)]  # fmt: skip


def test_hope_is_kept_out_of_the_watch_for_changes():
    """Evidence of a change is against what is believed, not against what is hoped for."""
    learner = TiedSampling(2, 0)
    for arm, state in [(0, 0), (1, 0), *[(0, 0)] * 60, (0, 1), (0, 0), *[(1, 0)] * 5]:
        learner.tell(arm, state, float(state))
    sober = learner.rule.sober(learner.counts)[0]
    assert sober[0].tolist() == learner.chains[0][0].tolist()  # well known
    assert sober[1].tolist() == learner.rule.belief.drawn[0][1].tolist()
