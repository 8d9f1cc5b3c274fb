"""Theorems 2, 3 and 4, Lemma 1 and their relatives, with every constant spelled out.

Logarithms are natural unless log2 is written. All regret bounds hold with probability at least
1 - delta. A product too large for a float comes out as infinity: it bounds nothing, correctly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from restive.base.checks import require, require_delta, require_horizon
from restive.theory.confidence import color_caps, episodes_bound, n_colors

Theorem4Arguments = tuple[float, int, int, float, float, float]


@dataclass(frozen=True)
class RegretTerms:
    """The terms of the last display in the proof of Theorem 4; their sum bounds the regret."""

    noise: float  # sqrt(5/8 T log(8T/delta)): rewards around their means
    failure: float  # sqrt(T): episodes in which the confidence sets miss the truth
    martingale: float  # D sqrt(5/2 T log(8T/delta)): transitions around their laws
    episodes: float  # D times the number of episodes: a new policy starts anywhere
    aggregation: float  # eps (D + 2) T: pairs of one color agree only up to eps
    estimation: float  # 3 (sqrt(2)+1) D sqrt(14 B C T log(2 C B T/delta)): widths of the sets

    @property
    def total(self) -> float:
        """The bound itself."""
        chance = self.noise + self.failure + self.martingale
        return chance + self.episodes + self.aggregation + self.estimation


def regret_bound(
    diameter: float, max_support: int, n_colors: int, horizon: float, delta: float, epsilon: float
) -> float:
    """42 D_eps sqrt(B C_U T log(T/delta)) + eps (D_eps + 2) T, Theorem 4.

    >>> f"{regret_bound(20, 2, 280, 10**6, 0.05, epsilon=0.001):.3g}"
    '8.15e+07'
    """
    steps = _checked(diameter, max_support, n_colors, horizon, delta, epsilon)
    root = math.sqrt(max_support * n_colors * _log(steps, delta)) * math.sqrt(steps)
    return 42 * diameter * root + epsilon * (diameter + 2) * steps


def regret_terms(
    diameter: float, max_support: int, n_colors: int, horizon: float, delta: float, epsilon: float
) -> RegretTerms:
    """The sum of six terms that Theorem 4 simplifies: last display of the paper's appendix.

    The total is at most :func:`regret_bound` wherever 42 D sqrt(B C T log(T/delta)) <= T; for
    smaller T Theorem 4 holds because the regret never exceeds T.

    Deviation: log(2 C max(B, 2) T / delta) replaces log(2 C B T / delta), which for B = 1 is less
    than the log(4 C T / delta) it comes from.

    >>> f"{regret_terms(20, 2, 280, 10**6, 0.05, epsilon=0.001).total:.3g}"
    '6.29e+07'
    """
    steps = _checked(diameter, max_support, n_colors, horizon, delta, epsilon)
    chance = math.sqrt(steps) * math.sqrt(_log(8 * steps, delta))
    log = _log(2 * n_colors * max(max_support, 2) * steps, delta)
    root = math.sqrt(14 * max_support * n_colors * log) * math.sqrt(steps)
    return RegretTerms(
        noise=math.sqrt(5 / 8) * chance,
        failure=math.sqrt(steps),
        martingale=diameter * math.sqrt(5 / 2) * chance,
        episodes=diameter * episodes_bound(steps, n_colors),
        aggregation=epsilon * (diameter + 2) * steps,
        estimation=3 * (math.sqrt(2) + 1) * diameter * root,
    )


def diameter_bound(
    diameters: Sequence[float], mixing_time: int, periods: Sequence[int] | None = None
) -> float:
    """D_eps <= 2 ceil(log2(4 max_j D_j)) Tmix(eps) prod_j (4 D_j), Lemma 1, eps <= 1/4.

    mixing_time is the largest age told apart: max_j Tmix_j(eps), or the largest cap M_j. Any
    number that is at least max_j Tmix_j(1/4) will do.

    Deviation: 4 D_j stands for 2/mu_j(s), which is 2 for an arm with a single state (D_j = 0); so
    max(4 D_j, 2) is used. And one trial of the proof takes Tmix(eps) + n - 1 steps, where n is the
    largest of K distinct ages, up to K - 2 (with periods m_j, up to m (K - 1) - 1) beyond the cap,
    after up to lcm(m_j) - 1 steps that wait for the phase; so 2 Tmix(eps) grows to that where it
    is less. For K <= 3 aperiodic arms and Tmix(eps) >= 2 it never is. For periodic arms the bound
    is for targets that agree with the phases of the start; others are never reached.

    >>> diameter_bound([10.0, 10.0], 70)
    1344000.0
    """
    require(len(diameters) > 0, "diameters", list(diameters), "Give one for each arm.")
    remedy = "A diameter is 0 for a single state, and at least 1 otherwise."
    require(all(d == 0 or d >= 1 for d in diameters), "diameters", list(diameters), remedy)
    require(mixing_time >= 1, "mixing_time", mixing_time, "Mixing times are at least 1.")
    loops = [1] if periods is None else periods
    require(all(m >= 1 for m in loops), "periods", list(loops), "Periods are at least 1.")
    factors = [max(4.0 * d, 2.0) for d in diameters]
    beyond = max(loops) * (len(diameters) - 1) - 1
    trial = mixing_time + max(mixing_time, 2) + beyond - 1 + math.lcm(*loops) - 1
    log = math.ceil(math.log2(max(factors)))
    return log * max(2 * mixing_time, trial) * math.prod(factors)


def bandit_regret_bound(
    n_states: Sequence[int],
    diameters: Sequence[float],
    mixing_times: Sequence[int],
    horizon: float,
    delta: float,
    *,
    periods: Sequence[int] | None = None,
    true_diameter: float | None = None,
) -> float:
    """Theorem 2 with its constants: Theorem 4 for eps = 1/sqrt(T), with eq. (1) and Lemma 1.

    42 D_eps sqrt(max_j |S_j| C T log(T/delta)) + eps (D_eps + 2) T, where C counts the colors up
    to the caps of eq. (1) and D_eps is Lemma 1 at the largest cap, or true_diameter if given.
    """
    problem = (n_states, diameters, mixing_times, horizon, delta)
    return regret_bound(*theorem_4_arguments(*problem, periods, true_diameter))


def theorem_4_arguments(
    n_states: Sequence[int],
    diameters: Sequence[float],
    mixing_times: Sequence[int],
    horizon: float,
    delta: float,
    periods: Sequence[int] | None,
    true_diameter: float | None,
) -> Theorem4Arguments:
    """D_eps, B, C, T, delta, eps: the arguments of Theorem 4 for Algorithm 2 at this horizon."""
    caps = color_caps(mixing_times, horizon)
    lemma = diameter_bound(diameters, max(caps), periods)
    diameter = lemma if true_diameter is None else float(true_diameter)
    colors = n_colors(n_states, caps, periods)
    return diameter, max(n_states), colors, horizon, delta, float(horizon**-0.5)


def theorem_2(
    n_states: Sequence[int],
    diameters: Sequence[float],
    mixing_times: Sequence[int],
    horizon: float,
    delta: float,
    const: float = 1.0,
) -> float:
    """const S Tmix^(3/2) prod_j (4 D_j) max_i log(D_i) log^2(T/delta) sqrt(T), Theorem 2.

    Only up to its constant, which the paper does not give: a shape, not a bound. For numbers to
    rely on use :func:`bandit_regret_bound`.

    Deviation: max(4 D_j, 2) and max(1, log D_i), so that small arms do not make it 0.
    """
    steps = require_horizon(horizon)
    shape = _theorem_2_shape(n_states, diameters, steps, delta)
    mixing: float = max(mixing_times) ** 1.5
    return const * shape * mixing * _log(steps, delta) ** 2


def theorem_2_unknown_mixing(
    n_states: Sequence[int],
    diameters: Sequence[float],
    horizon: float,
    delta: float,
    const: float = 1.0,
) -> float:
    """const S prod_j (4 D_j) max_i log(D_i) log^(7/2)(T/delta) sqrt(T), Theorem 2, second form.

    For Tmix guessed as log t. Only up to its constant and to an additive one, the regret until
    log t has outgrown Tmix. Deviation: as in :func:`theorem_2`.
    """
    steps = require_horizon(horizon)
    shape = _theorem_2_shape(n_states, diameters, steps, delta)
    power: float = _log(steps, delta) ** 3.5
    return const * shape * power


def lower_bound(n_arms: int, phases: int, horizon: float) -> float:
    """sum over m phases of (1/20) min(sqrt(K T_i), T_i), Theorem 3: Omega(sqrt(S T)), S = K m.

    T_i are the steps of phase i, T/m up to rounding, so this is (1/20) min(sqrt(S T), T) where m
    divides T. Every learner has at least this expected regret on some K-armed problem of cycles
    of length m, since each phase is a K-armed bandit of its own, to which the lower bound of
    Auer, Cesa-Bianchi, Freund and Schapire (2002, Theorem 5.1) applies.

    >>> lower_bound(2, 2, 10**6)
    100.0
    """
    steps = require_horizon(horizon)
    require(n_arms >= 2, "n_arms", n_arms, "A choice takes at least 2 arms.")
    require(phases >= 1, "phases", phases, "A cycle has at least 1 state.")
    short, long = steps // phases, steps % phases
    parts = [(phases - long, short), (long, short + 1)]
    return sum(count * min(math.sqrt(n_arms * t), t) / 20 for count, t in parts)


def ucrl2_bound(
    n_states: int, n_actions: int, diameter: float, horizon: float, delta: float
) -> float:
    """42 D S sqrt(A T log(T/delta)), Remark 3: Theorem 4 for eps = 0, B = S, one color a pair."""
    return regret_bound(diameter, n_states, n_states * n_actions, horizon, delta, 0.0)


def ucrl2_original_bound(
    n_states: int, n_actions: int, diameter: float, horizon: float, delta: float
) -> float:
    """34 D S sqrt(A T log(T/delta)): Jaksch, Ortner and Auer (2010), Theorem 2, for comparison."""
    return 34 / 42 * ucrl2_bound(n_states, n_actions, diameter, horizon, delta)


def logarithmic_bound(
    diameter: float,
    max_support: int,
    n_colors: int,
    gap: float,
    horizon: float,
    delta: float,
    averaging_times: Sequence[float] = (),
) -> float:
    """2 42^2 D^2 B C log(T/delta) / g + sum_c ceil(1 + log2 T_c) T_c, Remark 3 (eps = 0).

    g is the gain of the best policy less that of the second best. Call an episode bad if its
    average reward is more than g/2 below the best gain, and let R be the regret and L the steps of
    all bad episodes. Then g L / 2 <= R, and Theorem 4 restricted to these episodes says
    R <= 42 D sqrt(B C L log(T/delta)); together they give the first term. T_c is the time after
    which every policy that uses color c is within g/2 of its gain on average; an episode shorter
    than that is charged in full, and color c ends at most 1 + log2 T_c of them. Without
    averaging_times the second term is left out: the result then bounds the bad episodes alone.
    """
    steps = _checked(diameter, max_support, n_colors, horizon, delta, 0.0)
    require(0 < gap <= 1, "gap", gap, "Give the difference of two gains, above 0 and at most 1.")
    ok = all(t >= 1 for t in averaging_times)
    require(ok, "averaging_times", list(averaging_times), "Times are at least 1.")
    bad = 2 * 42**2 * diameter**2 * max_support * n_colors * _log(steps, delta) / gap
    return bad + sum(math.ceil(1 + math.log2(t)) * t for t in averaging_times)


def _log(steps: int, delta: float) -> float:
    """log(steps / delta), also where the quotient is too large for a float."""
    return math.log(steps) - math.log(delta)


def _theorem_2_shape(
    n_states: Sequence[int], diameters: Sequence[float], steps: int, delta: float
) -> float:
    """S prod_j max(4 D_j, 2) max(1, max_i log D_i) sqrt(T)."""
    require_delta(delta)
    product = math.prod(max(4.0 * d, 2.0) for d in diameters)
    return sum(n_states) * product * math.log(max(math.e, *diameters)) * math.sqrt(steps)


def _checked(
    diameter: float, max_support: int, n_colors: int, horizon: float, delta: float, epsilon: float
) -> int:
    remedy = "Going from one state to another takes at least 1 step."
    require(diameter >= 1, "diameter", diameter, remedy)
    require(max_support >= 1, "max_support", max_support, "A law has at least one outcome.")
    require(n_colors >= 1, "n_colors", n_colors, "There is at least one color.")
    require(epsilon >= 0, "epsilon", epsilon, "Give 0 or a positive distance.")
    require_delta(delta)
    return require_horizon(horizon)
