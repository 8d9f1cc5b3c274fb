"""Arms that are alike are shown as one, and plans for many arms tell their policy in words."""

from __future__ import annotations

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from restive import Arm, Bandit, best_plan, dump_problem, plan
from restive.cli import app
from restive.many.policies import whittle
from restive.many.population import Population
from restive.many.simulating import SimulatedValue, simulate_policy
from restive.report.policy import bounded_words as module
from restive.report.policy.alike import alike, names_of, shown_returns, three_alike
from restive.report.policy.bounded_play import pull_shares
from restive.report.policy.bounded_words import BoundedWords, bounded_words
from restive.report.policy.maps import age_maps, best_pulls, returns
from restive.report.policy.visits import visits_of
from restive.report.policy.words import situations


def channel(name, up=0.2, down=0.1, pays=1.0):
    return Arm([[1 - up, up], [down, 1 - down]], [0, pays], name=name, states=["bad", "good"])


def channels(count, *more):
    return Bandit([*(channel(f"channel {k + 1}") for k in range(count)), *more])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["channel 2", "channel 3", "channel 4"], "channels 2 to 4"),
        (["ch2", "ch3", "ch4"], "ch2 to ch4"),
        (["channel 2", "channel 4", "channel 5"], "channel 2 and 2 like it"),
        (["a", "b"], "a and b"),
        (["x", "y", "z"], "x and 2 like it"),
        (["", "", ""], "arms 1 to 3"),
        (["7", "8", "9"], "7 to 9"),
    ],
)
def test_names_of_several_arms(names, words):
    assert names_of(Bandit([channel(name) for name in names]), range(len(names))) == words


def test_alike_are_arms_with_the_same_chain_rewards_and_states():
    other = Arm([[0.8, 0.2], [0.1, 0.9]], [0, 1], states=["no", "yes"])
    bandit = channels(2, channel("x", pays=0.9), other, channel("y"))
    assert alike(bandit, range(5)) == [[0, 1, 4], [2], [3]]


def test_roles_of_three_arms_keep_what_the_policy_does():
    """The action in a situation put in order is that of the situation, put in the same order."""
    solution = plan(channels(3), 1e-6)
    seen = visits_of(solution)
    named, ordered = three_alike(solution.bandit, seen)
    assert [arm.name for arm in named.arms] == ["this arm", "another", "the third"]
    assert (ordered.last == 0).all()
    assert ordered.shares.sum() == pytest.approx(1)
    best, gaps = best_pulls(solution, ordered.states, ordered.ages)
    clear = gaps > 1e-4
    assert clear.mean() > 0.5
    assert (best[clear] == ordered.pulls[clear]).all()
    assert len(age_maps(solution, ordered)) < len(age_maps(solution, seen))
    assert three_alike(channels(2, channel("x", 0.3)), seen) is None


def test_rows_of_arms_alike_add_up_those_of_each():
    solution = plan(channels(3, channel("other", 0.4, 0.3, 0.9)), 1e-3)
    seen = visits_of(solution)
    each, merged = returns(solution.bandit, seen), shown_returns(solution.bandit, seen)
    for state in (0, 1):
        mine = (each.arms < 3) & (each.states == state)
        row = int(np.flatnonzero((merged.arms == 0) & (merged.states == state))[0])
        assert merged.share[row] == pytest.approx(each.share[mine].sum())
        same = sum(
            share * law[arm]
            for share, law, arm in zip(
                each.share[mine], each.following[mine], each.arms[mine], strict=True
            )
        )
        assert merged.following[row, 0] * merged.share[row] == pytest.approx(same)
    assert merged.following.sum(axis=1) == pytest.approx(1)
    assert situations(solution)[0].seen == "one of channels 1 to 3 good"
    assert situations(solution)[0].pull == "the same arm"


# --- plans for many arms


@pytest.fixture(scope="module")
def eight():
    return best_plan(channels(8), time=3)


def test_eight_alike_have_a_rule_that_simulation_confirms(eight):
    words = bounded_words(eight)
    # how many of the eight the policy pulls depends on how far the search came in its time
    rule = r"Stay while good, else pull the one unseen longest(?: of the (\d) it may pull)?\. In"
    said = re.match(rule, words.rule)
    assert said
    assert words.value.confidence == module.CONFIDENCE
    assert words.value.lower >= (1 - module.NEAR) * eight.lower
    assert not words.computed
    pulled = said[1] or 8
    assert words.sentence == f"Share of the pulls (simulated): 100% channels 1 to {pulled}."


def test_a_rule_that_loses_is_not_said(eight, monkeypatch):
    """With a policy that earned 3% more, no rule would be near it."""
    monkeypatch.setattr(module, "NEAR", -0.03)
    assert bounded_words(eight).rule == ""


def test_staying_before_the_index_is_what_it_says():
    """Where the index stays anyway the two agree; the table itself is left as it was."""
    population = Population([channel("")], [0] * 5)
    policy = whittle(population)
    before = policy.tables[0].values.copy()
    staying = module._staying(policy, (np.array([False, True]),))
    assert (policy.tables[0].values == before).all()
    assert (staying.tables[0].values[1, 0] > staying.tables[0].values[:, 1:]).all()
    assert (staying.tables[0].values[0] == before[0]).all()
    values = [simulate_policy(population, p, horizon=2000, runs=4, rng=3).mean
              for p in (policy, staying)]  # fmt: skip
    assert values[0] == values[1]


def test_shares_of_simulated_play_are_those_of_the_stationary_law():
    solution = plan(channels(1, channel("other", 0.4, 0.3, 0.9)), 1e-4)
    assert pull_shares(solution) == pytest.approx(visits_of(solution).pulled(2), abs=0.05)


def test_slow_arms_are_all_pulled_in_simulated_play():
    """Arms that move once in ten thousand steps, by chance all bad or good in a single stretch."""
    slow = best_plan(Bandit([channel(f"{k}", 1e-4, 1e-4) for k in range(3)]), time=2)
    assert pull_shares(slow).min() > 0.1


def test_a_block_is_not_called_optimal_for_all_arms():
    """Rule and shares of an exact block are computed, and compared with the policy alone."""
    many = [channel(f"poor {k}", 0.05, 0.5, 0.2) for k in range(12)]
    bounded = best_plan(
        Bandit([channel("good", 0.3, 0.1), channel("fair", 0.3, 0.3), *many]), time=8
    )
    assert bounded.method == "block"
    words = bounded_words(bounded)
    assert words.computed
    assert words.value is None
    assert sum(share for _, share in words.shares) == pytest.approx(1)
    assert "optimal" not in words.rule
    assert "simulated" not in words.rule


def test_shares_below_half_a_percent_stand_together():
    shares = (("a", 0.9), ("b", 0.09), ("c", 0.004), ("d", 0.003), ("e", 0.003))
    words = BoundedWords("", None, shares, True)
    assert words.sentence == "Share of the pulls (computed): 90% a, 9% b, 1% all others."


def test_the_command_says_the_rule_after_the_result(tmp_path, monkeypatch):
    file = tmp_path / "eight.toml"
    file.write_text(dump_problem(channels(8), "toml"), "utf-8")
    value = SimulatedValue(0.5, 0.4, 0.6, 2, 10, 0.999)
    kept = BoundedWords("Do this.", value, (("arm 1", 1.0),), False)
    monkeypatch.setattr(module, "bounded_words", lambda plan: kept)
    words = ["plan", str(file), "--time", "2", "--tolerance", "0.05"]
    shown = CliRunner().invoke(app, words).stdout
    assert shown.index("no policy earns more") < shown.index("In words: Do this.")
    assert "Share of the pulls (simulated): 100% arm 1." in shown

    def stopped(plan):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "bounded_words", stopped)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 130
    assert "no policy earns more" in result.stdout
