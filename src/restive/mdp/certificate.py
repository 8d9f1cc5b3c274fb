"""From an aggregated solution to bounds for the bandit itself: parameters, their errors, proof.

The argument is written out in docs/theory/certificate.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from restive.mdp.representation import Representation
from restive.mdp.solver import Solution
from restive.mdp.structured import Parameters
from restive.model import chains
from restive.model.bandit import Bandit

__all__ = ["bandit_parameters", "certificate", "rounding", "row_errors"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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


def certificate(
    bandit: Bandit, rep: Representation, parameters: Parameters, solution: Solution
) -> tuple[Floats, Floats]:
    """Bounds of the gain of the bandit itself, not of its aggregation, per class.

    The aggregated h, lifted to all ages, is put into the true optimality operator: there
    min(T h - h) <= rho* <= max(T h - h). Rows beyond the cap are known up to
    e = max over the ages they stand for of ||P^n(s, .) - row||_1, so a pull of such a row is
    known up to e/2 times the span of (reward + h) over its outcomes. A small allowance covers
    rounding.
    """
    from restive._kernels import lookup
    from restive.mdp.iteration import row_tables, share_out

    lay = rep.layout
    tables = row_tables(rep, parameters)
    rewards = np.zeros((rep.n_arms, rep.max_support))
    for j, arm in enumerate(bandit.arms):
        rewards[j, : arm.n_states] = arm.rewards
    shape = (len(lay.tasks), rep.n_classes)
    lower, upper = np.full(shape, np.inf), np.full(shape, -np.inf)
    share_out(rep.n_states * rep.n_arms, lookup.certify, solution.values, lay, tables,
              row_errors(bandit, rep), rewards, _phases(rep), rep.orbits.ravel(),
              lower, upper)  # fmt: skip
    slack = rounding(rep, solution.values)
    low = np.minimum(solution.lower, lower.min(axis=0)) - slack
    high = np.maximum(solution.upper, upper.max(axis=0)) + slack
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def row_errors(bandit: Bandit, rep: Representation) -> Floats:
    """e per color: 0 on the tail; on the loop the distance to the limit at the first age."""
    errors = []
    for j, arm in enumerate(bandit.arms):
        part = np.zeros((arm.n_states, rep.n_ages[j]))
        for age in range(rep.caps[j], rep.n_ages[j] + 1):
            part[:, age - 1] = chains.distance_to_limit(arm.transitions, age)
        errors.append(part.ravel())
    found = np.concatenate(errors)
    found[found < 1e-15] = 0.0  # rounding alone; covered by the allowance
    return found


def _phases(rep: Representation) -> Ints:
    """What each color adds to the index of the phase vector in ``rep.orbits``."""
    found = []
    for j in range(rep.n_arms):
        ages = np.arange(1, rep.n_ages[j] + 1)
        cyclic = np.zeros(rep.sizes[j], dtype=np.int64)
        if rep.cyclic is not None:
            cyclic = np.asarray(rep.cyclic[j])
        stride = int(np.prod(rep.orbits.shape[j + 1 :]))
        found.append(((cyclic[:, None] + ages) % rep.orbits.shape[j] * stride).ravel())
    return np.concatenate(found)


def rounding(rep: Representation, values: Floats) -> float:
    """Generous bound of the rounding in one backup: tables, products and the final difference."""
    scale = 1.0 + max(float(np.abs(rep.block(values, last)).max()) for last in range(rep.n_arms))
    table = rep.max_support * np.log2(2.0 + max(rep.n_ages))
    return float(np.finfo(np.float64).eps * scale * (8 + 2 * rep.max_support + 2 * table))
