"""Whittle indices of one arm, and whether they are what their name promises."""

from __future__ import annotations

import numpy as np

from restive.base.arrays import Floats
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.model.bandit import Arm, Bandit

TIES = 1e-7  # differences of values below this do not tell resting from pulling


def whittle_indices(arm: Arm, cap: int | None = None, tolerance: float = 1e-7) -> Floats:
    """W(s, n): the subsidy for resting at which pulling and resting are equally good.

    The arm alone, in state (s, n) of last state and age: a pull pays sum_s' P^n(s, s') r(s') and
    leads to (s', 1), a rest pays the subsidy and leads to (s, n + 1); average reward. Shape
    (S, stored ages): ages 1, ..., cap - 1 and one period from cap on, all later ones merged. cap:
    by default where rows are within ``tolerance`` of their limit. Found by bisection, which for
    an arm that is not indexable gives one of several crossings.

    >>> arm = Arm([[0.8, 0.2], [0.2, 0.8]], [0, 1])
    >>> whittle_indices(arm, 30)[:, 0].round(6).tolist()  # P(s, 1) itself (Liu, Zhao 2010)
    [0.2, 0.8]
    """
    from restive._kernels import subsidy

    rows, means, back = _tables(arm, cap, tolerance)
    low, high = float(arm.rewards.min()), float(arm.rewards.max())
    if high - low <= tolerance:
        return np.full(means.T.shape, 0.5 * (low + high))
    return np.asarray(subsidy.indices(rows, means, back, low, high, tolerance).T)


def rest_advantage(arm: Arm, subsidy: float, cap: int | None = None) -> Floats:
    """What resting is worth more than pulling under this subsidy, (S, stored ages)."""
    from restive._kernels import subsidy as kernel

    rows, means, back = _tables(arm, cap, 1e-7)
    out = np.empty(means.shape)
    kernel.rest_advantage(rows, means, back, float(subsidy), out)
    return out.T


def is_indexable(arm: Arm, cap: int | None = None, points: int = 201) -> bool:
    """Whether the states where resting is best only grow with the subsidy, on a grid of it.

    A False is proof up to rounding; a True holds on ``points`` subsidies from the smallest to the
    largest reward.

    >>> is_indexable(Arm([[0.8, 0.2], [0.3, 0.7]], [0, 1]), 30)
    True
    """
    from restive._kernels import subsidy

    rows, means, back = _tables(arm, cap, 1e-7)
    out, rested = np.empty(means.shape), np.zeros(means.shape, dtype=bool)
    for value in np.linspace(arm.rewards.min(), arm.rewards.max(), points):
        subsidy.rest_advantage(rows, means, back, float(value), out)
        if (rested & (out < -TIES)).any():
            return False
        rested |= out > TIES
    return True


def _tables(arm: Arm, cap: int | None, tolerance: float) -> tuple[Floats, Floats, int]:
    """Laws (A, S, S) and mean rewards (A, S) of a pull at each stored age; where ages go back."""
    chosen = arm.mixing_time(max(tolerance, 1e-12)) if cap is None else cap
    rep = Representation.of(Bandit([arm]), chosen)
    parameters = bandit_parameters(Bandit([arm]), rep)
    shape = (arm.n_states, rep.n_ages[0])
    rows = parameters.probabilities.reshape(*shape, arm.n_states).transpose(1, 0, 2)
    means = parameters.rewards.reshape(shape).T
    return np.ascontiguousarray(rows), np.ascontiguousarray(means), chosen - 1
