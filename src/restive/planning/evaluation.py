"""The exact average reward of any stationary policy, with an interval that contains it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.errors import refusal
from restive.base.machine import memory_allowed
from restive.base.words import guess, python_text
from restive.mdp.representation import Representation
from restive.model.arguments import require_one_pull
from restive.model.bandit import Bandit
from restive.planning.policy_chain import Rule, Value, value_of
from restive.planning.result import Plan
from restive.planning.size import caps_for_error, check_tolerance
from restive.policies.policy import Always, Function, FunctionPolicy, InTurn, Policy
from restive.policies.tables import IndexPolicy, reward_tables

AnyPolicy = str | int | Plan | Policy | Function

STAY = 1e-12  # myopic ties go to the arm pulled last


def evaluate(
    bandit: Bandit,
    policy: AnyPolicy,
    tolerance: float = 1e-6,
    *,
    caps: int | Sequence[int] | None = None,
    memory: int | None = None,
) -> Value:
    """Exact gain of a policy: "myopic", "round-robin", "best-arm", an arm, a plan or a function.

    A function gets two tuples, the state last seen and the age of every arm, and returns the arm
    to pull; any ``Policy`` will do too. It sees ages up to a cap that follows from the tolerance
    (at least one more than there are arms), unless ``caps`` says otherwise; what is evaluated is
    the policy that treats older ages like that. Play starts with one pull of each arm in turn.

    >>> from restive.problems import example1
    >>> round(evaluate(example1(0.1), "round-robin").gain, 6)
    0.5
    """
    check_tolerance(tolerance)
    simulate = "simulate the policy: restive.play(policy, restive.BanditWorld(bandit), horizon)"
    require_one_pull(bandit, "the exact value of a policy", simulate)
    if isinstance(policy, Plan) and caps is None:
        caps = policy.caps
    known = _meant(bandit, policy)
    if isinstance(known, Always):
        gain = bandit.arms[known.arm].gain
        slack = 1e-15 * bandit.arms[known.arm].n_states
        return Value(gain, max(0.0, gain - slack), min(1.0, gain + slack), 1)
    error = tolerance
    while True:
        rep = Representation.of(bandit, _enough_caps(bandit, error) if caps is None else caps)
        value = value_of(bandit, rep, _rule(bandit, rep, known), memory_allowed(memory))
        width = value.gain_upper - value.gain_lower
        if width <= tolerance or caps is not None or error < 1e-14:
            return value
        error *= min(0.1, 0.5 * tolerance / width)


def _enough_caps(bandit: Bandit, error: float) -> list[int]:
    """Caps at which rows are within ``error``, and at which taking turns is not cut short."""
    return [max(cap, bandit.n_arms + 1) for cap in caps_for_error(bandit, error)]


def _meant(bandit: Bandit, policy: AnyPolicy) -> Policy | Plan | None:
    """The policy that is meant; None for the myopic one, which depends on the ages told apart."""
    if isinstance(policy, Policy | Plan):
        return policy
    if isinstance(policy, int | np.integer):
        return Always(bandit.n_arms, int(policy))
    if callable(policy):
        return FunctionPolicy(policy, bandit.n_states)
    named = {"round-robin": InTurn(bandit.n_arms), "myopic": None,
             "best-arm": Always(bandit.n_arms, bandit.best_arm)}  # fmt: skip
    if isinstance(policy, str) and policy in named:
        return named[policy]
    remedy = f"{guess(str(policy), named)}Give {', '.join(named)}, an arm, a plan or a function."
    raise refusal("policy", "no such policy", python_text(policy), remedy)


def _rule(bandit: Bandit, rep: Representation, policy: Policy | Plan | None) -> Rule:
    if policy is None:
        return _myopic(bandit, rep)
    if isinstance(policy, Plan):
        return lambda states, ages, last: policy.actions(states, ages)
    return policy.arms


def _myopic(bandit: Bandit, rep: Representation) -> Rule:
    """Largest immediate reward; ties go to the arm pulled last, then to the first.

    Ages on the loop count with the reward of their own n, since the limit would make ties where
    there are none.
    """
    return IndexPolicy(rep, reward_tables(bandit, rep, "power"), stay=STAY).arms
