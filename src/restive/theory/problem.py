"""The theorems for one bandit: every number in them, and what they say in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from restive.base.checks import require_delta, require_horizon
from restive.model.arguments import require_one_pull
from restive.model.bandit import Bandit
from restive.theory.confidence import (
    color_caps,
    episodes_bound,
    n_colors,
    reward_visits,
    transition_visits,
)
from restive.theory.horizons import first_meaningful_horizon
from restive.theory.regret import (
    RegretTerms,
    Theorem4Arguments,
    diameter_bound,
    lower_bound,
    regret_bound,
    regret_terms,
    theorem_2,
    theorem_2_unknown_mixing,
    theorem_4_arguments,
)


@dataclass(frozen=True)
class BanditBounds:
    """What the paper promises for one bandit, horizon and delta; built by `problem_bounds`."""

    horizon: int  # T
    delta: float
    epsilon: float  # 1/sqrt(T)
    n_states: tuple[int, ...]  # |S_j|
    periods: tuple[int, ...]  # m_j
    diameters: tuple[float, ...]  # D_j
    mixing_times: tuple[int, ...]  # Tmix_j = Tmix_j(1/4)
    caps: tuple[int, ...]  # M_j, eq. (1)
    n_colors: int  # C, ages told apart up to the caps
    n_colors_exact: int  # C_U with Tmix_j(eps) itself in place of eq. (1)
    max_support: int  # B
    lemma_1: float  # Lemma 1's bound on D_eps
    diameter: float  # the D_eps that was used: Lemma 1's, or the true one
    theorem_2: float  # first form, up to its constant
    theorem_2_unknown_mixing: float  # second form, up to its constant
    theorem_3: float  # lower bound for problems of this size; 0 for one arm
    theorem_4: float  # 42 D_eps sqrt(B C T log(T/delta)) + eps (D_eps + 2) T
    terms: RegretTerms  # what Theorem 4 simplifies
    episodes: float  # bound on the number of episodes
    reward_visits: int  # samples of a color until eq. (2) says something, at t = T
    transition_visits: int  # the same for eq. (3)
    meaningful_horizon: int | None  # first T from which on Theorem 4 is below T
    meaningful_horizon_terms: int | None  # the same for the sum of its terms

    @property
    def regret(self) -> float:
        """The best of the upper bounds: Theorem 4, the sum of its terms, and T itself."""
        return min(self.theorem_4, self.terms.total, float(self.horizon))

    @property
    def vacuous(self) -> bool:
        """Whether the theorems say no more at this horizon than that regret is at most T."""
        return self.regret >= self.horizon

    def explain(self) -> list[str]:
        """The promises in plain words, one sentence or two an entry."""
        return [
            *_explain_learning(self),
            *_explain_regret(self),
            f"Every algorithm has an expected regret of at least {_short(self.theorem_3)} on some "
            f"problem with {len(self.n_states)} arms of {_phases(self.n_states)} states "
            "(Theorem 3). That is about the hardest problem of this size, not about this one.",
        ]


def problem_bounds(
    bandit: Bandit, horizon: float, delta: float = 0.05, *, true_diameter: float | None = None
) -> BanditBounds:
    """All bounds for Algorithm 2 on this bandit after ``horizon`` steps.

    true_diameter replaces Lemma 1's bound on D_eps where the diameter of the aggregated MDP is
    known; it is then taken to be the same at every horizon when looking for meaningful ones.

    >>> from restive import Arm, Bandit
    >>> arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])
    >>> bounds = problem_bounds(Bandit([arm, arm]), 10**6)
    >>> bounds.caps, bounds.n_colors, f"{bounds.diameter:.4g}", bounds.vacuous
    ((70, 70), 280, '1.344e+06', True)
    """
    steps = _checked(bandit, horizon, delta)
    arms = tuple((a.n_states, a.diameter, a.mixing_time(), a.period) for a in bandit.arms)
    sizes, diameters, times, periods = zip(*arms, strict=True)
    caps = color_caps(times, steps)
    exact = [arm.mixing_time(steps**-0.5) for arm in bandit.arms]

    def at(t: int) -> Theorem4Arguments:
        return theorem_4_arguments(sizes, diameters, times, t, delta, periods, true_diameter)

    diameter, support, colors, _, _, epsilon = at(steps)
    width = min(epsilon, 0.5)  # at T = 1 eps is 1 and no sample would ever be enough
    return BanditBounds(
        horizon=steps, delta=delta, epsilon=epsilon, max_support=support, diameter=diameter,
        n_states=sizes, periods=periods, diameters=diameters, mixing_times=times,
        caps=caps, n_colors=colors, n_colors_exact=n_colors(sizes, exact, periods),
        lemma_1=diameter_bound(diameters, max(caps), periods),
        theorem_2=theorem_2(sizes, diameters, times, steps, delta),
        theorem_2_unknown_mixing=theorem_2_unknown_mixing(sizes, diameters, steps, delta),
        theorem_3=_hardest(sizes, steps), theorem_4=regret_bound(*at(steps)),
        terms=regret_terms(*at(steps)), episodes=episodes_bound(steps, colors),
        reward_visits=reward_visits(steps, colors, delta, width),
        transition_visits=transition_visits(steps, colors, support, delta, width),
        meaningful_horizon=first_meaningful_horizon(lambda t: regret_bound(*at(t))),
        meaningful_horizon_terms=first_meaningful_horizon(lambda t: regret_terms(*at(t)).total),
    )  # fmt: skip


def _checked(bandit: Bandit, horizon: float, delta: float) -> int:
    """The horizon, once all arguments have been found right."""
    ask = "ask restive.best_plan (restive plan) what several pulls can earn"
    require_one_pull(bandit, "what the theorems promise", ask)
    require_delta(delta)
    return require_horizon(horizon)


def _explain_learning(b: BanditBounds) -> list[str]:
    low, high = min(b.caps), max(b.caps)
    ages = str(low) if low == high else f"{low} to {high} (depending on the arm)"
    return [
        f"The algorithm treats ages from {ages} on as equal and learns one small table for each of "
        f"{b.n_colors} colors (arm, last state, age).",
        f"A color says nothing about where its arm goes before {b.transition_visits} visits, nor "
        f"about its reward before {b.reward_visits}: until then the confidence sets hold "
        f"everything. All colors together need {_short(b.n_colors * b.transition_visits)} visits; "
        f"the horizon has {_short(b.horizon)} steps.",
        f"It replans at most {_short(b.episodes)} times.",
    ]


def _explain_regret(b: BanditBounds) -> list[str]:
    custom = b.diameter != b.lemma_1
    source = "The diameter was given as" if custom else "Lemma 1 bounds the diameter by"
    caveat = " (if the diameter stayed as given; it grows with log T)" if custom else ""
    sure = f"with probability at least {1 - b.delta:g}"
    if b.vacuous:
        best = min(b.theorem_4, b.terms.total)
        promise = (
            f"At T = {_short(b.horizon)} the upper bound is vacuous: it allows a regret of "
            f"{_short(best)}, more than the {_short(b.horizon)} that no policy can exceed."
        )
    else:
        promise = f"After {_short(b.horizon)} steps the regret is below {_short(b.regret)} {sure}."
    return [
        f"The diameter of the decision problem enters as a factor. {source} {_short(b.diameter)}.",
        promise,
        f"Theorem 4 begins to say something {_from(b.meaningful_horizon)}; the sum that its proof "
        f"simplifies does so {_from(b.meaningful_horizon_terms)}{caveat}.",
    ]


def _from(horizon: int | None) -> str:
    return "at no horizon below 1e301" if horizon is None else f"from T = {_short(horizon)} on"


def _phases(n_states: tuple[int, ...]) -> int:
    """m of Theorem 3: K cycles of m states each fit in the S states there are."""
    return sum(n_states) // len(n_states)


def _hardest(n_states: tuple[int, ...], steps: int) -> float:
    """Theorem 3 at this size; with one arm there is nothing to choose and no regret."""
    return lower_bound(len(n_states), _phases(n_states), steps) if len(n_states) > 1 else 0.0


def _short(number: float) -> str:
    """3.2e17 for 3.2 10^17; whole numbers in full up to a million."""
    if math.isinf(number):
        return "more than 1e308"
    if number < 1e6:
        return f"{number:.0f}" if number >= 100 or number == int(number) else f"{number:.3g}"
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
