"""Mixing times, colors, confidence radii and episodes: the quantities the theorems are made of.

Logarithms are natural unless log2 is written. Every function is a formula of plain numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats
from restive.base.checks import require, require_delta, require_horizon


def mixing_time_bound(epsilon: float, mixing_time: int) -> int:
    """Tmix(eps) <= ceil(log2(1/eps)) Tmix, eq. (1), where Tmix = Tmix(1/4).

    In L1 distance the chain is then even within 2 eps^2 of its limit, so two rows beyond this age
    are within eps of each other, as Definition 1 asks.

    Deviation: the factor is at least 1. For eps >= 1 the formula gives 0, and mixing times count
    from 1.

    >>> mixing_time_bound(0.001, 7)
    70
    """
    require(epsilon > 0, "epsilon", epsilon, "Give a positive distance.")
    require(mixing_time >= 1, "mixing_time", mixing_time, "Mixing times are at least 1.")
    # eps = m 2^e with 1/2 <= m < 1, so 2^l eps >= 1 exactly from l = 1 - e on: no rounding.
    return max(1, 1 - math.frexp(epsilon)[1]) * mixing_time


def color_caps(mixing_times: Sequence[int], horizon: float) -> tuple[int, ...]:
    """M_j = ceil(log2(1/eps)) Tmix_j with eps = 1/sqrt(T): the ages Algorithm 2 tells apart.

    >>> color_caps([7, 7], 10**6)
    (70, 70)
    """
    steps = require_horizon(horizon)
    # The smallest l with 4^l >= T, in integers: right next to powers of four at any T.
    factor = max(1, ((steps - 1).bit_length() + 1) // 2)
    return tuple(mixing_time_bound(1.0, time) * factor for time in mixing_times)


def n_colors(
    n_states: Sequence[int], caps: Sequence[int], periods: Sequence[int] | None = None
) -> int:
    """C = sum_j |S_j| (M_j - 1 + m_j): one color per arm, last state and stored age.

    Without periods (m_j = 1) this is sum_j |S_j| M_j, and with caps Tmix_j(eps) it is the number
    C_U = sum_j |S_j| Tmix_j(eps) in the proof of Theorem 2.

    >>> n_colors([2, 2], [70, 70]), n_colors([3], [5], periods=[3])
    (280, 21)
    """
    loops = [1] * len(caps) if periods is None else periods
    require(all(m >= 1 for m in loops), "periods", list(loops), "Periods are at least 1.")
    require(all(m >= 1 for m in caps), "caps", list(caps), "Caps are at least 1.")
    require(all(s >= 1 for s in n_states), "n_states", list(n_states), "Arms have states.")
    return sum(s * (m - 1 + loop) for s, m, loop in zip(n_states, caps, loops, strict=True))


def reward_radius(
    visits: ArrayLike, t: float, n_colors: int, delta: float, epsilon: float
) -> Floats:
    """eps + sqrt(7 log(2 C t / delta) / (2 max(1, N))), eq. (2), for each entry N of visits.

    >>> reward_radius([0, 1, 100], t=1000, n_colors=280, delta=0.05, epsilon=0.001).round(3)
    array([7.538, 7.538, 0.755])
    """
    width = 3.5 * _log_colors(2.0, t, n_colors, delta, epsilon)
    return np.asarray(epsilon + np.sqrt(width / np.maximum(1.0, np.asarray(visits))))


def transition_radius(
    visits: ArrayLike, t: float, n_colors: int, max_support: int, delta: float, epsilon: float
) -> Floats:
    """eps + sqrt(56 B log(4 C t / delta) / max(1, N)), eq. (3): L1, for each entry N of visits.

    >>> float(transition_radius(10**6, 10**6, 280, 2, delta=0.05, epsilon=0.001).round(4))
    0.0527
    """
    width = 56.0 * max_support * _log_colors(4.0, t, n_colors, delta, epsilon)
    require(max_support >= 1, "max_support", max_support, "A law has at least one outcome.")
    return np.asarray(epsilon + np.sqrt(width / np.maximum(1.0, np.asarray(visits))))


def reward_visits(t: float, n_colors: int, delta: float, epsilon: float) -> int:
    """Smallest N for which the radius of eq. (2) is below 1, the width of [0, 1]."""
    require(epsilon < 1, "epsilon", epsilon, "From 1 on no sample is enough; give less.")
    guess = 3.5 * _log_colors(2.0, t, n_colors, delta, epsilon) / (1 - epsilon) ** 2
    near = range(max(1, int(guess)), int(guess) + 3)
    return next(n for n in near if reward_radius(n, t, n_colors, delta, epsilon) < 1)


def transition_visits(
    t: float, n_colors: int, max_support: int, delta: float, epsilon: float
) -> int:
    """Smallest N for which the radius of eq. (3) is below 2, the L1 diameter of the simplex.

    >>> transition_visits(t=104 * 560, n_colors=104, max_support=2, delta=0.05, epsilon=10**-2.5)
    562
    """
    require(epsilon < 2, "epsilon", epsilon, "From 2 on no sample is enough; give less.")
    log = _log_colors(4.0, t, n_colors, delta, epsilon)
    guess = 56.0 * max_support * log / (2 - epsilon) ** 2
    near = range(max(1, int(guess)), int(guess) + 3)
    arguments = (t, n_colors, max_support, delta, epsilon)
    return next(n for n in near if transition_radius(n, *arguments) < 2)


def episodes_bound(horizon: float, n_colors: int) -> float:
    """m <= C log2(8T/C) for T >= C, Appendix, "The True Transition Matrix": the number of episodes.

    Deviation: never more than T, which is all that can be said for T < C, since every episode
    lasts at least one step.

    >>> round(episodes_bound(10**6, 280), 1), episodes_bound(100, 280)
    (4144.6, 100.0)
    """
    steps = require_horizon(horizon)
    require(n_colors >= 1, "n_colors", n_colors, "There is at least one color.")
    if steps < n_colors:
        return float(steps)
    return min(float(steps), n_colors * math.log2(8 * steps / n_colors))


def reversible_mixing_bound(diameter: float, epsilon: float = 0.25) -> int:
    """Tmix(eps) <= max(1, ceil((D/eps^2 - 1)/2)), Remark 4, for reversible chains that are lazy.

    Lazy means P(s, s) >= 1/2 throughout; having no negative eigenvalue is enough. Then P^n(s, s)
    falls with n, sum_n (P^n(s,s)/mu(s) - 1) = E_mu[time to s] <= D, and
    ||P^m(s,.) - mu||_1^2 <= P^2m(s,s)/mu(s) - 1 <= D/(2m + 1).

    Deviation: Remark 4 leaves laziness out, but a chain of two states that flips with probability
    1 - x has diameter 1/(1 - x) and mixes in about 1/x steps. See :func:`two_step_mixing_bound`.

    >>> reversible_mixing_bound(10.0)
    80
    """
    require(diameter >= 0, "diameter", diameter, "Diameters are not negative.")
    require(epsilon > 0, "epsilon", epsilon, "Give a positive distance.")
    return max(1, math.ceil((diameter / epsilon**2 - 1) / 2))


def two_step_mixing_bound(two_step_diameter: float, epsilon: float = 0.25) -> int:
    """Tmix(eps) <= max(1, ceil(D2/eps^2 - 1)) for any aperiodic reversible chain.

    D2 is the diameter of the chain P^2, whose eigenvalues are squares, hence not negative: the
    argument of :func:`reversible_mixing_bound` for P^2 gives ||P^m(s,.) - mu||_1^2 <= D2/(m + 1).
    """
    require(two_step_diameter >= 0, "two_step_diameter", two_step_diameter, "Give the diameter.")
    require(epsilon > 0, "epsilon", epsilon, "Give a positive distance.")
    return max(1, math.ceil(two_step_diameter / epsilon**2 - 1))


def exploration_cost(diameters: Sequence[float], n_states: Sequence[int]) -> float:
    """sum_j D_j log(3 |S_j|), Section 8: expected steps until every arm has shown all its states.

    One phase between two episodes when the state space is unknown (Matthews' cover time bound).
    """
    return sum(d * math.log(3 * s) for d, s in zip(diameters, n_states, strict=True))


def _log_colors(factor: float, t: float, n_colors: int, delta: float, epsilon: float) -> float:
    """log(factor C t / delta), with everything checked."""
    require(t >= 1, "t", t, "Steps count from 1.")
    require(n_colors >= 1, "n_colors", n_colors, "There is at least one color.")
    require(epsilon >= 0, "epsilon", epsilon, "Give 0 or a positive distance.")
    require_delta(delta)
    return math.log(factor * n_colors * t / delta)
