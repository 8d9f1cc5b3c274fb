"""Arms that are declared alike: files, faults, and a learner that pools what it sees of them."""

from __future__ import annotations

import numpy as np
import pytest

from restive import Arm, Bandit, ProblemError
from restive.learners import load_learner, make_learner
from restive.learners.checking import check_learner
from restive.learners.tied.sampling import TiedSampling
from restive.model.files import dump_problem, parse_problem
from restive.simulation import BanditWorld, play

ROWS = [[0.95, 0.05], [0.08, 0.92]]


def bandit(group: str = "channels", n_arms: int = 5) -> Bandit:
    return Bandit([Arm(ROWS, [0, 1], group=group) for _ in range(n_arms)])


def test_files_keep_groups():
    for form in ("toml", "json"):
        again = parse_problem(dump_problem(bandit(), form), form)
        assert again == bandit()
        assert again.groups == (0, 0, 0, 0, 0)
    assert bandit("").groups == ()
    assert Bandit([*bandit("a", 2).arms, *bandit("", 1).arms, *bandit("a", 1).arms]).groups == (
        0, 0, 2, 0,
    )  # fmt: skip


def test_unlike_arms_in_a_group_are_refused():
    odd = Arm([[0.9, 0.1], [0.08, 0.92]], [0, 1], group="channels")
    with pytest.raises(ProblemError, match=r"arms\[2\].group: unlike arms\[0\]"):
        Bandit([*bandit(n_arms=2).arms, odd])
    with pytest.raises(ProblemError, match="not groups of arms"):
        TiedSampling(2, groups=(1, 1))


def test_the_contract_holds():
    check_learner(lambda: TiedSampling(3, groups=(0, 0, 2)), (2, 2, 3), steps=120)


def test_without_groups_nothing_changes():
    runs = [
        play(make_learner("tied-sampling", problem, rng=1), BanditWorld(bandit(""), 2), 600)
        for problem in (5, bandit(""))
    ]
    assert runs[0].rewards.tobytes() == runs[1].rewards.tobytes()


def test_observations_are_pooled(tmp_path):
    """The chain drawn for arms that are alike rests on what was seen of all of them."""
    learner = make_learner("tied-sampling", bandit(), rng=0)
    play(learner, BanditWorld(bandit(), 3), 400)
    assert all(chain is learner.chains[0] for chain in learner.chains)
    learner.save(tmp_path / "learner.zip")
    again = load_learner(tmp_path / "learner.zip")
    assert again.settings == learner.settings
    for seed in range(30):
        arm = learner.ask()
        assert again.ask() == arm
        for player in (learner, again):
            player.tell(arm, seed % 2, 0.0)
    apart = make_learner("tied-sampling", bandit(""), rng=0)
    play(apart, BanditWorld(bandit(""), 3), 400)
    errors = [
        np.abs(np.array(player.chains) - ROWS).max(axis=(1, 2)).mean()
        for player in (learner, apart)
    ]
    assert errors[0] < errors[1]


def test_pooling_earns_more():
    """Twelve channels, 200 steps: alone they are seen seventeen times each (10 seeds, paired)."""
    gains = []
    for seed in range(10):
        totals = [
            play(make_learner("tied-sampling", bandit(word, 12), rng=seed),
                 BanditWorld(bandit(word, 12), seed), 200).total_reward
            for word in ("channels", "")
        ]  # fmt: skip
        gains.append(totals[0] - totals[1])
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    assert np.mean(gains) > 4 * error
