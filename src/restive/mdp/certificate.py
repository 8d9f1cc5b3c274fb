"""From an aggregated solution to bounds for the bandit itself: parameters, their errors, proof.

The argument is written out in docs/theory/certificate.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats
from restive.mdp.representation import Representation
from restive.mdp.solver import Solution
from restive.mdp.structured import Parameters
from restive.model import chains
from restive.model.bandit import Bandit


def bandit_parameters(bandit: Bandit, rep: Representation, *, loop: str = "limit") -> Parameters:
    """True parameters of every color: row s of P^n and its mean reward sum_s' P^n(s, s') r(s').

    Ages before the cap are exact. An age on the loop stands for infinitely many n: with
    ``loop="limit"`` it gets the law they approach, with ``loop="power"`` that of its own n (the
    T-step representation, where no older age occurs).
    """
    laws = []
    for j, arm in enumerate(bandit.arms):
        rows = chains.powers(arm.transitions, rep.n_ages[j])
        if loop == "limit":
            for age in range(rep.caps[j], rep.n_ages[j] + 1):
                rows[age - 1] = chains.limit_rows(arm.transitions, age)
        laws.append(rows.transpose(1, 0, 2))  # (state, age, outcome)
    means = [rows @ arm.rewards for rows, arm in zip(laws, bandit.arms, strict=True)]
    return Parameters(rep.pack(means), rep.pack(laws))


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bounds of the gain of the bandit itself, not of its aggregation, per class."""

    lower: Floats
    upper: Floats
    error: float  # largest L1 error of a stored row
    rounding: float  # what the bounds leave for rounding on either side

    @property
    def width(self) -> float:
        return float((self.upper - self.lower).max())


def certificate(bandit: Bandit, rep: Representation, solution: Solution) -> Certificate:
    """The aggregated h, lifted to all ages, put into the true optimality operator.

    There min(T h - h) <= rho* <= max(T h - h). Rows beyond the cap are known up to
    e = max over the ages they stand for of ||P^n(s, .) - row||_1, so a pull of such a row is
    known up to e/2 times the span of (reward + h) over its outcomes. A small allowance covers
    rounding.
    """
    errors, slack = row_errors(bandit, rep), rounding(rep, solution.values)
    lower, upper = solution.certify(errors, outcome_rewards(bandit, rep))
    low = np.minimum(solution.lower, lower) - slack
    high = np.maximum(solution.upper, upper) + slack
    return Certificate(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), float(errors.max()), slack)


def outcome_rewards(bandit: Bandit, rep: Representation) -> Floats:
    """(K, S): the reward of every outcome of each arm, 0 where an arm has fewer states."""
    rewards = np.zeros((rep.n_arms, rep.max_support))
    for j, arm in enumerate(bandit.arms):
        rewards[j, : arm.n_states] = arm.rewards
    return rewards


def row_errors(bandit: Bandit, rep: Representation) -> Floats:
    """e per color: 0 on the tail; on the loop the distance to the limit at the first age."""
    errors = []
    for j, arm in enumerate(bandit.arms):
        part = np.zeros((arm.n_states, rep.n_ages[j]))
        for age in range(rep.caps[j], rep.n_ages[j] + 1):
            part[:, age - 1] = chains.distance_to_limit(arm.transitions, age)
        errors.append(part)
    packed = rep.pack(errors)
    packed[packed < 1e-15] = 0.0  # rounding alone; covered by the allowance
    return packed


def rounding(rep: Representation, values: Floats) -> float:
    """Generous bound of the rounding in one backup: tables, products and the final difference."""
    scale = 1.0 + max(float(np.abs(rep.block(values, last)).max()) for last in range(rep.n_arms))
    table = rep.max_support * np.log2(2.0 + max(rep.n_ages))
    return float(np.finfo(np.float64).eps * scale * (8 + 2 * rep.max_support + 2 * table))
