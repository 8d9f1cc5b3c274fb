"""Constants of a bandit that the learners of best arms are told: gaps of chains and of gains."""

from __future__ import annotations

import numpy as np

from restive.base.arrays import Floats
from restive.model.bandit import Arm, Bandit

TIE = 1e-9  # gains and gaps closer than this are rounding


def arm_count(problem: Bandit | int) -> int:
    return problem.n_arms if isinstance(problem, Bandit) else problem


def time_reversal(arm: Arm) -> Floats:
    """P~(s, s') = mu(s') P(s', s) / mu(s): the chain run backwards; P itself if reversible."""
    mu = arm.stationary
    return np.asarray(arm.transitions.T * mu / mu[:, None])


def _gap(arm: Arm, reversible: Floats) -> float:
    """1 - the second largest eigenvalue of a matrix that is reversible for the stationary law."""
    if arm.n_states == 1:
        return 1.0
    root = np.sqrt(arm.stationary)
    symmetric = root[:, None] * reversible / root
    values = np.linalg.eigvalsh((symmetric + symmetric.T) / 2)
    return float(max(0.0, 1 - values[-2]))


def multiplicative_gap(arm: Arm) -> float:
    """Eigenvalue gap of the multiplicative symmetrization P~ P; 0 if that is reducible.

    >>> round(multiplicative_gap(Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])), 12)
    0.36
    """
    return _gap(arm, time_reversal(arm) @ arm.transitions)


def additive_gap(arm: Arm) -> float:
    """Eigenvalue gap of (P + P~)/2, which is that of P for reversible chains; always positive.

    >>> round(additive_gap(Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])), 12)
    0.2
    """
    return _gap(arm, (arm.transitions + time_reversal(arm)) / 2)


def gain_gap(bandit: Bandit) -> float:
    """How much more the best arm pays than the next one that pays less; 1 if all pay the same."""
    gains = np.array([arm.gain for arm in bandit.arms])
    gaps = gains.max() - gains
    return float(gaps[gaps > TIE].min(initial=1.0))


def largest_reward(bandit: Bandit) -> float:
    """r_max: the largest mean reward of any state."""
    return float(max(arm.rewards.max() for arm in bandit.arms))


def largest_mass(bandit: Bandit) -> float:
    """The largest mu_j(s) or 1 - mu_j(s) of any arm and state."""
    masses = np.concatenate([arm.stationary for arm in bandit.arms])
    return float(np.maximum(masses, 1 - masses).max())
