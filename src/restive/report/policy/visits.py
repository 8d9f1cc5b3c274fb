"""Where a plan's policy spends its time: computed, or simulated where that is too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.base.errors import TooLargeError
from restive.planning.policy_law import PolicyLaw, law_of

if TYPE_CHECKING:
    from restive.planning import Plan


MOST = 60_000  # information states whose law is computed
SHORT = {"steps": 100, "paths": 256, "warm_up": 100}  # play in place of a law


@dataclass(frozen=True, eq=False)
class Play:
    """What happened on B independent paths of T steps, in the order of time.

    last_states, ages: (T, B, K) information state before each pull.
    pulls: (T, B) arm pulled.
    hidden: (T, B, K) state each arm was in at the pull; that of the arm pulled was seen.
    """

    last_states: Ints
    ages: Ints
    pulls: Ints
    hidden: Ints


def simulated_play(plan: Plan, steps: int = 1000, paths: int = 64, warm_up: int = 1000) -> Play:
    """Follow the plan from the bandit's initial laws; the first ``warm_up`` steps are dropped."""
    bandit, stream = plan.bandit, np.random.default_rng(0)
    count = bandit.n_arms
    rows = [np.cumsum(arm.transitions, axis=1) for arm in bandit.arms]
    laws = [np.cumsum(arm.initial_law)[None] for arm in bandit.arms]
    hidden = np.stack([_draw(law, np.zeros(paths, np.int64), stream) for law in laws], axis=-1)
    states, ages = np.zeros((paths, count), np.int64), np.ones((paths, count), np.int64)
    everyone = np.arange(paths)
    log: list[tuple[Ints, Ints, Ints, Ints]] = []
    for t in range(count + warm_up + steps):
        # Play starts with one pull of each arm in turn.
        pulls = np.full(paths, t) if t < count else plan.actions(states, ages)
        if t >= count + warm_up:
            log.append((states.copy(), ages.copy(), pulls, hidden))
        states[everyone, pulls] = hidden[everyone, pulls]
        ages += 1
        ages[everyone, pulls] = 1
        hidden = np.stack([_draw(rows[j], hidden[:, j], stream) for j in range(count)], axis=-1)
    return Play(*(np.stack(part) for part in zip(*log, strict=True)))


def _draw(cumulative: Floats, states: Ints, stream: np.random.Generator) -> Ints:
    """One next state for each of ``states``, from rows of cumulated probabilities."""
    drawn = (stream.random(len(states))[:, None] >= cumulative[states]).sum(axis=1)
    return np.asarray(np.minimum(drawn, cumulative.shape[1] - 1))  # sums may end just below 1


@dataclass(frozen=True, eq=False)
class Visits(PolicyLaw):
    """Information states before a pull, and the part of the time spent in each.

    states, ages: (N, K), ages from 2 on but for the arm pulled just before; last, pulls: (N,);
    shares: (N,), which add up to 1. computed: whether they are the stationary law itself, or come
    from simulated play.
    """

    computed: bool

    def pulled(self, n_arms: int) -> Floats:
        """Part of the time in which each arm is pulled."""
        return np.asarray(np.bincount(self.pulls, self.shares, minlength=n_arms), dtype=np.float64)

    @property
    def arms_pulled(self) -> list[int]:
        """The arms that are pulled at all."""
        return [int(arm) for arm in np.unique(self.pulls)]

    def part(self, chosen: Bools) -> Visits:
        """Some of the information states, (N,); their shares no longer add up to 1."""
        return Visits(self.states[chosen], self.ages[chosen], self.last[chosen],
                      self.pulls[chosen], self.shares[chosen], self.computed)  # fmt: skip

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
        return Visits.of_play(play or simulated_play(plan, **SHORT))
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
