"""tied-sampling with many arms and many states: plans that stay small, and clear refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from typer.testing import CliRunner

from restive.base.errors import ProblemError, TooLargeError
from restive.cli import app
from restive.learners import LEARNERS, Learner, check_learner, make_learner
from restive.learners.index_planning import index_table
from restive.learners.rivals.index import UCB1
from restive.learners.storage import pack
from restive.learners.tied.plan_size import (
    FEW_ARMS,
    FEWEST_BYTES,
    MANY_ARMS,
    fitted,
    require_plannable,
)
from restive.learners.tied.sampling import TiedSampling, TiedSettings
from restive.mdp.representation import Representation
from restive.model import files
from restive.policies.spaced import SpacedTable, SpacedTables
from restive.problems import example1, gilbert_elliott, random_problem
from restive.simulation import BanditWorld


@pytest.mark.parametrize("seed", range(5))
def test_a_fitted_plan_is_as_fine_as_fits_and_no_finer_than_asked_for(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, size=7).tolist()
    caps = rng.choice([1, 2, 4, 16, 64], size=7).tolist()
    rep = fitted(sizes, caps, [1] * 7, 1e9, 1)
    limit = max(Representation(sizes, 2).n_bytes, FEWEST_BYTES + 3_000)
    assert rep.n_bytes <= limit
    assert all(own <= want for own, want in zip(rep.caps, caps, strict=True))
    for arm, cap in enumerate(rep.caps):
        if cap < caps[arm]:  # the next cap up would be too much
            more = [*rep.caps[:arm], 2 * cap if cap > 2 else cap + 1, *rep.caps[arm + 1 :]]
            assert Representation(sizes, more).n_bytes > limit


def test_few_arms_are_planned_for_by_their_states():
    caps = [64] * FEW_ARMS
    rep = fitted([2] * FEW_ARMS, caps, [1] * FEW_ARMS, 20_000, 1)
    assert 5_000 < rep.n_states <= 20_000
    small = [2, 3, 1, 1, 4]
    assert fitted([2] * FEW_ARMS, small, [1] * FEW_ARMS, 20_000, 1).caps == tuple(small)


@pytest.mark.parametrize("n_arms", [12, 200])
def test_many_arms_are_welcome_and_planned_for_by_index(n_arms):
    learner = make_learner("tied-sampling", gilbert_elliott(n_arms), None)
    record = BanditWorld(gilbert_elliott(n_arms), 0).record(n_arms + 30)
    pulls = learner.play_path(record.states, record.rewards)
    assert sorted(pulls[:n_arms]) == list(range(n_arms))
    assert learner.planner.by_index


def test_arms_of_too_many_states_are_refused_at_once_with_a_remedy():
    require_plannable([2] * 1000)
    require_plannable([200] * 2)
    for sizes in ([40] * 6, [200] * 12, [30] * 1000):
        with pytest.raises(TooLargeError, match=r"arms of up to .*ucb1, rca or dsee"):
            require_plannable(sizes)
    with pytest.raises(TooLargeError, match=r"6 arms of up to 40 states"):
        make_learner("tied-sampling", random_problem(6, 40, rng=0), None)


def test_the_command_line_learns_many_arms(tmp_path):
    path = tmp_path / "many.toml"
    path.write_text(files.dump_problem(gilbert_elliott(20)))
    shown = CliRunner().invoke(app, ["learn", str(path), "--horizon", "60"])
    assert shown.exit_code == 0, shown.output


@pytest.mark.parametrize("n_arms", [6, 12])
def test_compiled_play_of_many_arms_gives_the_same_bytes_as_ask_and_tell(n_arms):
    record = BanditWorld(gilbert_elliott(n_arms), 3).record(120)
    fast, slow = TiedSampling(n_arms, 2), TiedSampling(n_arms, 2)
    pulls = fast.play_path(record.states, record.rewards)
    assert pulls.tolist() == Learner.play_path(slow, record.states, record.rewards).tolist()
    assert pack(*fast.snapshot()) == pack(*slow.snapshot())


def test_states_that_never_return_are_refused_with_the_arm_and_a_remedy():
    learner = TiedSampling(2, 0, TiedSettings(one_time_states=12))
    for step in range(12):
        learner.tell(0, "steady", 0.5)
        learner.tell(1, step / 7, 0.5)
    with pytest.raises(ProblemError, match=r"arm 1 .*12 states, 12 of them.*bins"):
        learner.tell(1, 0.456, 0.5)
    before = pack(*learner.snapshot())
    with pytest.raises(ProblemError, match="bins"):
        learner.tell(1, 0.123, 0.5)
    assert pack(*learner.snapshot()) == before
    learner.tell(1, 0.0, 0.5)  # a state seen before is welcome still


def test_states_that_do_return_are_not_refused():
    learner = TiedSampling(2, 0, TiedSettings(one_time_states=12))
    for state in [*range(10), *range(10), *range(10, 14)]:
        learner.tell(0, state, 0.5)
    assert learner.labels.sizes == (14, 1)


# --- what users may hand over by mistake ------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "tiling"])
@pytest.mark.parametrize("reward", [None, "0.5", [0.5], 1.5, math.nan])
def test_what_is_no_reward_is_refused_and_changes_nothing(name, reward):
    learner = make_learner(name, example1(0.2), 50)
    before = pack(*learner.snapshot())
    with pytest.raises(ProblemError, match="reward"):
        learner.tell(learner.ask(), 0, reward)
    assert pack(*learner.snapshot()) == before


@pytest.mark.parametrize("arm", [None, "0", 0.5, -1, 2])
def test_what_is_no_arm_is_refused(arm):
    with pytest.raises(ProblemError, match="no such arm"):
        TiedSampling(2).tell(arm, "a", 0.5)


@pytest.mark.parametrize("n_arms", [0, -1, 2.5, None])
@pytest.mark.parametrize("make", [TiedSampling, UCB1])
def test_what_is_no_number_of_arms_is_refused(make, n_arms):
    with pytest.raises(ProblemError, match="n_arms"):
        make(n_arms)


@pytest.mark.parametrize("label", [math.nan, math.inf, ("a", -math.inf)])
def test_a_state_that_cannot_be_saved_is_named_when_saving(label, tmp_path):
    learner = TiedSampling(2)
    learner.tell(0, label, 0.5)
    with pytest.raises(ProblemError, match=r"state: a label that cannot be saved .*(nan|inf)"):
        learner.save(tmp_path / "saved.zip")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("label", [[1, 2], {"a": 1}, np.zeros(2)])
def test_states_that_are_not_hashable_are_refused(label):
    with pytest.raises(ProblemError, match=r"state: not hashable .*tuple"):
        TiedSampling(2).tell(0, label, 0.5)


def test_of_many_arms_those_nothing_is_new_of_keep_what_was_drawn_for_a_while():
    """Arms that were pulled are drawn anew, others now and then; tables follow the draws."""
    bandit = gilbert_elliott(MANY_ARMS + 10)
    learner = TiedSampling(bandit.n_arms, 0)
    record = BanditWorld(bandit, 1).record(3 * bandit.n_arms)
    drawn, begin = [], learner._begin

    def watched():
        before, pulls = learner.rule.belief, learner.counts.paid[:, :, 0].sum(axis=1)
        begin()
        after = learner.rule.belief
        changed = [a is not b for a, b in zip(before.chains, after.chains, strict=True)]
        if before.pulls is not None:
            assert after.fresh.tolist() == np.flatnonzero(changed).tolist()
            assert all(np.array(changed)[pulls != before.pulls])
            drawn.append(changed)
        oldest = learner.rule.oldest(learner.evidence)
        for arm in after.fresh[:3]:
            own = index_table(after.chains[arm], after.means[arm], 0.02, oldest)
            tables = learner.planner.index.tables
            assert tables.indices[arm, : len(own.indices), : len(own.ages)].tolist() == (
                own.indices.tolist()
            )
            assert tables.stored[arm] == len(own.ages)

    learner._begin = watched
    learner.play_path(record.states, record.rewards)
    shares = np.mean(drawn, axis=0)
    assert 0.02 < np.median(shares) < 0.3  # of the episodes
    assert shares.min() > 0


def test_many_arms_keep_the_contract_also_in_groups():
    count = MANY_ARMS + 4
    check_learner(lambda: TiedSampling(count, 0), (2,) * count, steps=3 * count)
    pairs = [j - j % 2 for j in range(count)]
    check_learner(lambda: TiedSampling(count, 0, groups=pairs), (2,) * count, steps=2 * count)


def test_new_tables_of_some_arms_are_those_of_all_made_at_once():
    rng = np.random.default_rng(0)

    def table(size, count):
        return SpacedTable(rng.random((size, count)), np.arange(1, count + 1), count - 1)

    old, new = [table(2, 3), table(2, 5), table(1, 1)], {1: table(2, 2), 2: table(3, 7)}
    put, whole = SpacedTables.of(old).put(new), SpacedTables.of([old[0], new[1], new[2]])
    assert np.array_equal(put.indices[..., :7], whole.indices)
    assert np.array_equal(put.ages[:, :7], whole.ages)
    assert (put.indices[..., 7:] == -np.inf).all()
    assert [put.stored.tolist(), put.back.tolist()] == [whole.stored.tolist(), whole.back.tolist()]
    assert SpacedTables.of(old).put({}).indices.shape == (3, 2, 5)
