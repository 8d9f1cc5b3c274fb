"""Arms that move together: joint chains, plans that know of them, and what is at stake."""

from __future__ import annotations

import numpy as np
import pytest

from restive import Arm, Bandit, plan
from restive.data.coupling import CoupledArms, joint_chain, oldest_age
from restive.data.stakes import dependence_stake


def channel(up, down):
    return Arm([[1 - up, up], [down, 1 - down]], [0, 1])


SLOW = channel(0.1, 0.1)
ARMS = [channel(0.15, 0.1), channel(0.2, 0.3), channel(0.3, 0.3)]


@pytest.mark.parametrize("lag", [-1, 0, 1])
def test_each_arm_alone_moves_as_fitted(lag):
    rng = np.random.default_rng(4)
    first = Arm(rng.dirichlet(np.ones(3), 3), rng.random(3))
    joint = joint_chain([first, ARMS[0], ARMS[1]], 0.6, lag).reshape(3, 2, 2, 3, 2, 2)
    assert joint.min() >= 0
    assert joint.sum(axis=(3, 4, 5)) == pytest.approx(1.0)
    own = joint.sum(axis=(4, 5))
    if lag >= 0:  # the first follows nobody
        assert np.abs(own - first.transitions[:, None, None]).max() < 1e-12
    third = joint.sum(axis=(3, 4))
    assert np.abs(third - ARMS[1].transitions).max() < 1e-12


def test_the_surprises_have_the_correlation_asked_for():
    first, second = channel(0.4, 0.5), channel(0.5, 0.45)
    joint = joint_chain([first, second], 0.3).reshape(2, 2, 2, 2)
    for x in range(2):
        for y in range(2):
            p, q = first.transitions[x, 1], second.transitions[y, 1]
            together = joint[x, y, 1, 1] - p * q
            assert together / np.sqrt(p * (1 - p) * q * (1 - q)) == pytest.approx(0.3)


def test_independent_arms_are_planned_as_ever():
    for arms in (ARMS[:2], ARMS):
        gain, _ = CoupledArms(arms, joint_chain(arms, 0.0)).best()
        assert gain.value == pytest.approx(plan(Bandit(arms)).gain, abs=2e-4)


def test_opposites_and_copies_by_hand():
    """Of opposites one is good at any time, and stays so with 0.9; of copies both are or none."""
    for correlation, best in ((-1.0, 0.9), (1.0, 0.5)):
        coupled = CoupledArms([SLOW, SLOW], joint_chain([SLOW, SLOW], correlation))
        assert coupled.best()[0].value == pytest.approx(best, abs=1e-4)


def simulated(model, policy, steps, seed):
    """Mean reward of a policy where the arms themselves move by the joint chain."""
    rng = np.random.default_rng(seed)
    sizes, cap = model.sizes, model.ages[-1][0]
    states = [np.unravel_index(k, sizes) for k in range(len(model.chain))]
    to = np.cumsum(model.chain, axis=1)
    place = {ages: k for k, ages in enumerate(model.ages)}
    now, seen, ages, total = 0, [0] * len(sizes), [1, *range(2, len(sizes) + 1)], 0.0
    for draw in rng.random(steps):
        now = min(int(np.searchsorted(to[now], draw)), len(to) - 1)
        arm = int(policy[place[tuple(ages)], np.ravel_multi_index(seen, sizes)])
        seen[arm] = int(states[now][arm])
        total += model.arms[arm].rewards[seen[arm]]
        ages = [1 if k == arm else min(age + 1, cap) for k, age in enumerate(ages)]
    return total / steps


@pytest.mark.parametrize(("arms", "correlation", "lag"), [(ARMS[:2], 0.5, 0), (ARMS, -0.6, 1)])
def test_gains_are_those_of_play_in_the_joint_world(arms, correlation, lag):
    """Old sights say little more than the last ones: the promise holds to within 0.01."""
    coupled = CoupledArms(arms, joint_chain(arms, correlation, lag))
    gain, values = coupled.best()
    alone = CoupledArms(arms, joint_chain(arms, 0.0))
    plain = alone.policy(alone.best()[1])
    for policy, promised in ((coupled.policy(values), gain), (plain, coupled.value(plain))):
        earned = simulated(coupled, policy, 60_000, 3)
        assert earned == pytest.approx(promised.value, abs=0.01 + 4 * 0.5 * (20 / 60_000) ** 0.5)


def test_the_play_notices_beliefs_that_overlook_the_other_arm():
    """The oracle above, broken on purpose: laws of independent arms in a world of opposites."""
    world = CoupledArms([SLOW, SLOW], joint_chain([SLOW, SLOW], -1.0))
    blind = CoupledArms([SLOW, SLOW], joint_chain([SLOW, SLOW], 0.0))
    gain, values = blind.best()
    earned = simulated(world, blind.policy(values), 60_000, 3)
    assert abs(earned - gain.value) > 0.1


def test_a_stake_is_what_the_plan_in_use_gives_away():
    arms = [channel(0.1, 0.1), channel(0.1, 0.1), channel(0.3, 0.3)]
    stake = dependence_stake(Bandit(arms), 0, 1, 0.5, 300, 0)
    assert 0 <= stake.low <= stake.loss <= stake.high <= stake.most
    assert stake.loss > 0.003
    assert stake.promise == pytest.approx(plan(Bandit(arms)).gain, abs=2e-3)
    assert stake.gain < stake.promise - 0.02  # both bad at once: there is less to turn to
    none = dependence_stake(Bandit(arms), 0, 1, 0.0, 300, 0)
    assert none.loss == 0
    assert none.gain == pytest.approx(none.promise, abs=1e-4)


def test_arms_of_many_states_are_left_out_or_refused():
    rng = np.random.default_rng(0)
    wide = [Arm(rng.dirichlet(np.ones(9), 9), rng.random(9)) for _ in range(3)]
    assert oldest_age([9, 9, 9]) == 0
    assert dependence_stake(Bandit(wide), 0, 1, 0.5, 300, 0).arms == ("arm 1", "arm 2")
    wider = [Arm(rng.dirichlet(np.ones(40), 40), rng.random(40)) for _ in range(2)]
    assert "too many states" in dependence_stake(Bandit(wider), 0, 1, 0.5, 300, 0).note
