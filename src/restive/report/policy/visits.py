"""Where a plan's policy spends its time: computed, or simulated where that is too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import TooLargeError
from restive.planning.policy_law import PolicyLaw, law_of
from restive.report.policy.play import Play, simulated_play

if TYPE_CHECKING:
    from restive.planning import Plan


MOST = 60_000  # information states whose law is computed
PATHS, STEPS, WARM_UP = 256, 100, 100


@dataclass(frozen=True, eq=False)
class Visits(PolicyLaw):
    """Information states before a pull, and the part of the time spent in each.

    states, ages: (N, K), ages from 2 on but for the arm pulled just before; last, pulls: (N,);
    shares: (N,), which add up to 1. computed: whether they are the stationary law itself, or come
    from simulated play.
    """

    computed: bool

    @property
    def source(self) -> str:
        """Where the shares come from, in a word."""
        return "computed" if self.computed else "simulated"

    def pulled(self, n_arms: int) -> Floats:
        """Part of the time in which each arm is pulled."""
        return np.asarray(np.bincount(self.pulls, self.shares, minlength=n_arms), dtype=np.float64)

    @property
    def arms_pulled(self) -> list[int]:
        """The arms that are pulled at all."""
        return [int(arm) for arm in np.unique(self.pulls)]

    @classmethod
    def of_play(cls, play: Play) -> Visits:
        """Simulated play, every step of which counts the same."""
        pulls = play.pulls.ravel()
        arms = play.ages.shape[-1]
        states, ages = play.last_states.reshape(-1, arms), play.ages.reshape(-1, arms)
        last, shares = np.argmin(ages, axis=1), np.full(len(pulls), 1 / len(pulls))
        return cls(states, ages, np.asarray(last), pulls, shares, False)


def visits_of(plan: Plan, play: Play | None = None) -> Visits:
    """The law of the plan's policy; where it has too many states, of simulated play."""
    from restive.mdp.representation import Representation

    def rule(states: Ints, ages: Ints, last: Ints) -> Ints:
        return np.asarray(plan.actions(states, ages))

    try:
        law = law_of(plan.bandit, Representation.of(plan.bandit, plan.caps), rule, MOST)
    except (TooLargeError, ArithmeticError):
        return Visits.of_play(play or simulated_play(plan, STEPS, PATHS, WARM_UP))
    # an arm with one cap for all ages stores 1 for them, as if it had been pulled
    ages = np.maximum(law.ages, 2)
    ages[np.arange(len(ages)), law.last] = 1
    return Visits(law.states, ages, law.last, law.pulls, law.shares, True)


def grouped(keys: Ints, shares: Floats) -> dict[tuple[int, ...], float]:
    """Sum of the shares for each distinct row of keys, the most frequent first."""
    rows, place = np.unique(keys, axis=0, return_inverse=True)
    sums = np.bincount(place.ravel(), shares, minlength=len(rows))
    order: Sequence[int] = np.argsort(-sums.round(12), kind="stable").tolist()
    return {tuple(rows[k].tolist()): float(sums[k]) for k in order}


def quantiles(values: Ints, shares: Floats, levels: Sequence[float]) -> Floats:
    """The least values that these parts of the weight do not exceed."""
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(shares[order]) / shares.sum()
    places = np.searchsorted(cumulated, np.array(levels) - 1e-12)
    return np.asarray(values[order][np.minimum(places, len(values) - 1)], dtype=np.float64)
