"""The exact average reward of any stationary policy, with an interval that contains it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.model.bandit import Bandit
from restive.planning.policy_chain import Rule, Value, value_of
from restive.planning.result import Plan
from restive.planning.size import caps_for_error, check_tolerance, memory_allowed

__all__ = ["Policy", "Value", "evaluate"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Policy = str | int | Plan | Callable[[tuple[int, ...], tuple[int, ...]], int]


def evaluate(
    bandit: Bandit,
    policy: Policy,
    tolerance: float = 1e-6,
    *,
    caps: int | Sequence[int] | None = None,
    memory: int | None = None,
) -> Value:
    """Exact gain of a policy: "myopic", "round-robin", "best-arm", an arm, a plan or a function.

    A function gets two tuples, the state last seen and the age of every arm, and returns the arm
    to pull. It sees ages up to a cap that follows from the tolerance (at least one more than there
    are arms), unless ``caps`` says otherwise; what is evaluated is the policy that treats older
    ages like that. Play starts with one pull of each arm in turn.

    >>> from restive.problems import example1
    >>> round(evaluate(example1(0.1), "round-robin").gain, 6)
    0.5
    """
    check_tolerance(tolerance)
    if isinstance(policy, Plan):
        caps = policy.caps if caps is None else caps
    constant = _constant_arm(bandit, policy)
    if constant is not None:
        gain = bandit.arms[constant].gain
        slack = 1e-15 * bandit.arms[constant].n_states
        return Value(gain, max(0.0, gain - slack), min(1.0, gain + slack), 1)
    error = tolerance
    while True:
        if caps is None:
            found = tuple(max(cap, bandit.n_arms + 1) for cap in caps_for_error(bandit, error))
        rep = Representation.of(bandit, found if caps is None else caps)
        value = value_of(bandit, rep, _rule(bandit, rep, policy), memory_allowed(memory))
        width = value.gain_upper - value.gain_lower
        if width <= tolerance or caps is not None or error < 1e-14:
            return value
        error *= min(0.1, 0.5 * tolerance / width)


def _constant_arm(bandit: Bandit, policy: Policy) -> int | None:
    if isinstance(policy, str) and policy == "best-arm":
        return bandit.best_arm
    if isinstance(policy, int | np.integer):
        if not 0 <= policy < bandit.n_arms:
            raise ValueError(f"policy must be an arm 0..{bandit.n_arms - 1}, not {policy}")
        return int(policy)
    return None


def _rule(bandit: Bandit, rep: Representation, policy: Policy) -> Rule:
    if isinstance(policy, Plan):
        return lambda states, ages, last: policy.actions(states, ages)
    if callable(policy):
        return _wrap(policy, bandit.n_arms)
    if policy == "myopic":
        return _myopic(bandit, rep)
    if policy == "round-robin":
        return lambda states, ages, last: np.asarray(np.argmax(ages, axis=1))
    raise ValueError(
        f'policy must be "myopic", "round-robin", "best-arm", an arm, a plan or a function, '
        f"not {policy!r}"
    )


def _wrap(policy: Callable[[tuple[int, ...], tuple[int, ...]], int], n_arms: int) -> Rule:
    def rule(states: Ints, ages: Ints, last: Ints) -> Ints:
        chosen = np.empty(len(states), dtype=np.int64)
        for row in range(len(states)):
            seen = tuple(states[row].tolist()), tuple(ages[row].tolist())
            arm = policy(*seen)
            if not isinstance(arm, int | np.integer) or not 0 <= arm < n_arms:
                raise ValueError(
                    f"the policy must return an arm 0..{n_arms - 1}, "
                    f"not {arm!r} (last states {seen[0]}, ages {seen[1]})"
                )
            chosen[row] = arm
        return chosen

    return rule


def _myopic(bandit: Bandit, rep: Representation) -> Rule:
    """Largest immediate reward; ties go to the arm pulled last, then to the first.

    Ages on the loop count with the reward of their own n, since the limit would make ties where
    there are none.
    """
    rewards = bandit_parameters(bandit, rep, loop="power").rewards

    def rule(states: Ints, ages: Ints, last: Ints) -> Ints:
        worth = rewards[rep.colors(states, ages)]
        worth[np.arange(len(last)), last] += 1e-12
        return np.asarray(np.argmax(worth, axis=1))

    return rule
