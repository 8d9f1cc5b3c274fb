"""Short rules and shares of time: against closed forms, simulation, and what the plan does."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from restive import Arm, Bandit, evaluate, plan, problems
from restive.base.errors import TooLargeError
from restive.cli import app
from restive.mdp.representation import Representation
from restive.planning.policy_law import law_of
from restive.report.policy import visits as visits_module
from restive.report.policy.next_pull import next_pull
from restive.report.policy.rules import StayOrOldest, TryAgain, short_rule
from restive.report.policy.svg import policy_picture
from restive.report.policy.visits import Visits, quantiles, simulated_play, visits_of
from restive.report.policy.words import situations

# --- the law of a policy


def test_staying_while_free_has_the_law_of_a_small_chain():
    """Example 1, eps = 0.1: the best policy earns 0.7, which is the part of pulls that see free."""
    solution = plan(problems.example1(0.1), 1e-7)
    visits = visits_of(solution)
    assert visits.computed
    assert visits.shares.sum() == pytest.approx(1)
    last = visits.last
    free = visits.states[np.arange(len(last)), last] == 1
    assert visits.shares[free].sum() == pytest.approx(0.7, abs=1e-6)
    assert visits.pulled(2) == pytest.approx([0.5, 0.5], abs=1e-6)  # the arms are alike


@pytest.mark.parametrize("bandit", [problems.example3(0.1), problems.example4(),
                                    problems.random_problem(3, 2, rng=5)])  # fmt: skip
def test_the_law_is_what_play_comes_to(bandit):
    solution = plan(bandit, 1e-4)
    law, play = visits_of(solution), Visits.of_play(simulated_play(solution, 400, 256, 200))
    assert law.computed
    assert not play.computed
    # 102,400 steps, correlated over a few: 0.01 is more than five standard deviations
    assert law.pulled(bandit.n_arms) == pytest.approx(play.pulled(bandit.n_arms), abs=0.015)
    earned = sum(
        share * bandit.arms[a].rewards @ bandit.arms[a].power(int(n))[s].T
        for share, a, s, n in zip(
            law.shares, law.pulls, law.states[np.arange(len(law.pulls)), law.pulls],
            law.ages[np.arange(len(law.pulls)), law.pulls], strict=True,
        )
    )  # fmt: skip
    assert earned == pytest.approx(solution.gain, abs=2e-4)


def test_several_classes_are_weighted_by_how_likely_they_are():
    """Two arms that swap for ever, pulled in turn: each start stays in its own phase."""
    swap = Arm([[0, 1], [1, 0]], [0, 1], initial=[0.25, 0.75])
    bandit = Bandit([swap, swap])
    rep = Representation.of(bandit, [2, 2])
    law = law_of(bandit, rep, lambda states, ages, last: 1 - last, 1000)
    assert law.shares.sum() == pytest.approx(1)
    states, shares = law.states, law.shares
    same = shares[(states[:, 0] == states[:, 1])].sum()
    # the second arm is first seen a step later: the two look alike if they started apart
    assert same == pytest.approx(2 * 0.25 * 0.75) or same == pytest.approx(1 - 2 * 0.25 * 0.75)


def test_what_is_too_large_is_simulated_and_says_so(monkeypatch):
    solution = plan(problems.example1(0.1), 1e-4)
    rep = Representation.of(solution.bandit, solution.caps)
    with pytest.raises(TooLargeError):
        law_of(solution.bandit, rep, lambda states, ages, last: solution.actions(states, ages), 3)
    monkeypatch.setattr(visits_module, "MOST", 3)
    assert not visits_of(solution).computed
    assert not situations(solution)[0].computed


def test_quantiles_count_weights():
    values, shares = np.array([5, 1, 3]), np.array([0.2, 0.5, 0.3])
    assert quantiles(values, shares, [0.05, 0.5, 0.51, 0.81]).tolist() == [1, 1, 3, 5]


# --- rules


@pytest.mark.parametrize(
    ("bandit", "words"),
    [
        (problems.example1(0.1), "Stay while free, else pull the one unseen longest"),
        (problems.gilbert_elliott(3, 0.2, 0.4),
         "Stay while good, else pull the one unseen longest"),
        (problems.example3(0.1), "Stay on channel while free, else pull coin and try channel again "
                                 "once it has not been seen for 5 steps"),
        (Bandit([Arm([[1.0]], [0.5], name="sure"), Arm([[0.5, 0.5], [0.5, 0.5]], [0, 0.4])]),
         "Always pull sure"),
        (problems.lower_bound(2, 2), None),
    ],
)  # fmt: skip
def test_rules_that_are_known_are_found(bandit, words):
    solution = plan(bandit, 1e-6)
    rule = short_rule(solution)
    if words is None:
        assert rule is None or rule.gain <= solution.gain_upper
        return
    assert rule.words == words
    assert rule.optimal
    assert solution.gain_lower - 1e-5 <= rule.gain <= solution.gain_upper
    assert "optimal to within" in str(rule)


def test_no_rule_is_said_of_a_plan_that_was_stopped_early():
    """Always pulling one arm would be "optimal to within" an interval as wide as that."""
    solution = plan(problems.example1(0.1), 1e-6)
    assert short_rule(replace(solution, lower=solution.lower - 0.3)) is None
    assert short_rule(replace(solution, lower=solution.lower - 0.3, tolerance=0.4)) is not None


def test_arms_that_only_alternate():
    """Example 2's chains swap with 0.9: after busy comes free, so one stays after busy."""
    solution = plan(problems.example2(0.9), 1e-6)
    assert short_rule(solution).words == "Stay while busy, else pull the one unseen longest"


def test_no_rule_is_said_that_is_worse():
    """Every rule said is evaluated again here, by a function of one's own."""
    for seed in range(6):
        bandit = problems.random_problem(2, 2, rng=seed)
        solution = plan(bandit, 1e-6)
        rule = short_rule(solution)
        if rule is None:
            continue
        assert rule.gain >= (1 - 1e-3) * solution.gain_lower - 1e-6
        assert rule.optimal == (rule.gain >= solution.gain_upper - rule.tolerance - 1e-9)


def test_the_policies_behind_the_words_do_what_they_say():
    bandit = problems.example3(0.1)
    again = TryAgain(bandit, 0, (False, True), 5)

    def spelled(states, ages):
        stay = ages[0] == 1 and states[0] == 1
        return 0 if stay or ages[0] >= 5 else 1

    values = [evaluate(bandit, policy, 1e-9).gain for policy in (again, spelled)]
    assert values[0] == pytest.approx(values[1], abs=1e-12)
    assert values[0] == pytest.approx(0.6412169920, abs=1e-8)  # the closed form at m = 5
    stay = StayOrOldest(problems.gilbert_elliott(3), ((False, True),) * 3, [0, 2])

    def only_two(states, ages):
        last = min(range(3), key=lambda j: ages[j])
        if states[last] == 1:
            return last
        return max((j for j in (0, 2) if j != last), key=lambda j: ages[j])

    three = problems.gilbert_elliott(3)
    values = [evaluate(three, policy, 1e-6).gain for policy in (stay, only_two)]
    assert values[0] == pytest.approx(values[1], abs=1e-6)


def test_the_command_says_the_rule_and_computed_shares():
    done = CliRunner().invoke(app, ["plan", "example-1"])
    assert (
        "In words: Stay while free, else pull the one unseen longest. This rule is" in done.stdout
    )
    assert "share of time" in done.stdout
    assert "simulated" not in done.stdout
    facts = json.loads(CliRunner().invoke(app, ["plan", "example-1", "--json"]).stdout)
    assert facts["rule"]["optimal"]
    assert all(situation["computed"] for situation in facts["situations"])
    assert sum(situation["share"] for situation in facts["situations"]) == pytest.approx(
        1, abs=1e-6
    )


def test_as_much_as_stands_only_beside_equal_numbers():
    from restive.cli.screen import _comparison

    assert _comparison(0.70004, 0.70001) == "as much as"
    assert _comparison(0.7002, 0.7) == "0.03% more than"
    assert _comparison(0.71, 0.7) == "1.4% more than"
    assert _comparison(0.9, 0.7) == "29% more than"


# --- pictures


def worthless():
    """Three good channels and two that never pay."""
    dull = Arm([[0.5, 0.5], [0.5, 0.5]], [0, 0.01], name="dull")
    good = problems.gilbert_elliott(2, 0.2, 0.4).arms
    return Bandit([*good, dull, dull])


def test_arms_that_are_never_pulled_are_left_out_of_pictures():
    solution = plan(worthless(), 1e-3)
    pictures, note = policy_picture(solution)
    assert "dull" not in "".join(map(str, pictures))
    assert "Left out: 2 arms, never pulled." in note


def test_three_arms_one_of_which_is_never_pulled_get_the_short_picture():
    three = Bandit(list(worthless().arms[:3]))
    pictures, note = policy_picture(plan(three, 1e-3))
    assert len(pictures) == 1
    assert "Left out: 1 arm, never pulled." in note


def test_maps_that_say_the_same_are_one():
    from restive.report.policy.maps import age_maps

    solution = plan(problems.random_problem(3, [2, 3, 2], rng=35), 1e-4)
    maps = age_maps(solution, visits_of(solution), 100)
    drawn = [(m.last, m.states[m.last], m.actions.tobytes()) for m in maps]
    assert len(maps) <= len(set(drawn)) + 2
    assert len(maps) < 3 * 8
    assert sum(m.share for m in maps) == pytest.approx(1, abs=0.05)
    wide = [m for m in maps if any(len(states) > 1 for states in m.also)]
    assert wide
    for part in wide:  # every state in the title has this very map
        for state in part.also[part.others[0]]:
            states = list(part.states)
            states[part.others[0]] = state
            ages = np.array([[2, 3, 4]])
            ages[0, part.last] = 1
            a, b = part.others
            i, k = (
                np.searchsorted(part.ages[0], ages[0, a]),
                np.searchsorted(part.ages[1], ages[0, b]),
            )
            if part.actions[i, k] >= 0:
                assert solution.actions([states], ages)[0] == part.actions[i, k]


# --- what is pulled after a sight


def _written(pulls, shares=None):
    """Three arms; the first was just seen in state 0, the second was last seen in state 0 or 1."""
    states = np.array([[0, s, 0] for s in (0, 1) for _ in range(2, 12)])
    ages = np.array([[1, age, 40] for _ in (0, 1) for age in range(2, 12)])
    shares = np.full(20, 1 / 20) if shares is None else shares
    return Visits(states, ages, np.zeros(20, int), np.array(pulls), np.array(shares), True)


CITIES = Bandit(
    [Arm([[0.9, 0.1], [0.2, 0.8]], [0, 1], name=name, states=["down", "up"])
     for name in ("Oslo", "Rome", "Bern")]
)  # fmt: skip


@pytest.mark.parametrize(
    ("pulls", "words"),
    [
        ([0] * 5 + [1] * 5 + [0] * 5 + [1] * 5, "Rome once unseen for 7 steps, else Oslo"),
        ([0] * 5 + [1] * 5 + [0] * 2 + [1] * 8,
         "Rome once unseen for 4 steps after up or for 7 steps after down, else Oslo"),
        ([0] * 5 + [1] * 5 + [1] * 10,
         "Rome if last seen up or once unseen for 7 steps after down, else Oslo"),
        ([2] * 10 + [0] * 5 + [1] * 5, None),  # Bern depends on what was seen of Rome
        ([0, 1] * 10, None),
    ],
)  # fmt: skip
def test_ages_tell_the_next_pull_where_they_decide_it(pulls, words):
    assert next_pull(CITIES, _written(pulls), 0, 0) == words


def test_words_that_are_right_nearly_always_are_hedged():
    pulls = [0] * 5 + [1] * 5 + [0] * 5 + [1] * 5
    pulls[0] = 2
    shares = np.full(20, 0.98 / 19)
    shares[0] = 0.02
    words = next_pull(CITIES, _written(pulls, shares), 0, 0)
    assert words == "as a rule Rome once unseen for 7 steps, else Oslo"
    shares[0] = 0.2
    assert next_pull(CITIES, _written(pulls, shares / shares.sum()), 0, 0) is None
