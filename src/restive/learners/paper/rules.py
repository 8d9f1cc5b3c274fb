"""How counts become a model to plan with, and when an episode ends: all that learners differ in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters, StructuredMDP
from restive.theory.confidence import reward_radius, transition_radius

FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Counts:
    """What was seen so far, per color."""

    visits: Ints  # (C,) N(c)
    outcomes: Ints  # (C, B) how often each outcome came up
    rewards: Floats  # (C, B) sum of the rewards that came with it
    squares: Floats | None = None  # (C, B) sum of their squares, where the rule looks at them

    @classmethod
    def none(cls, structure: Representation | StructuredMDP, squares: bool = False) -> Counts:
        shape = (structure.n_colors, structure.max_support)
        visits, outcomes = (np.zeros(size, dtype=np.int64) for size in (shape[0], shape))
        return cls(visits, outcomes, np.zeros(shape), np.zeros(shape) if squares else None)

    def add(self, color: int, outcome: int, reward: float) -> None:
        self.visits[color] += 1
        self.outcomes[color, outcome] += 1
        self.rewards[color, outcome] += reward
        if self.squares is not None:
            self.squares[color, outcome] += reward * reward


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a rule may look at when an episode starts."""

    structure: Representation | StructuredMDP
    supports: Ints  # (C,) number of outcomes of each color
    counts: Any  # Counts, or whatever has visits of each color and what the rule looks at
    t: int  # t_k: number of samples so far, plus one


class Rule(ABC):
    """How counts become a model to plan with, and when an episode ends."""

    squares: ClassVar[bool] = False  # whether it looks at squared rewards

    @abstractmethod
    def parameters(self, evidence: Evidence, rng: np.random.Generator) -> Any:
        """The model (with radii: the set of models) to plan with in this episode."""

    def limits(self, evidence: Evidence) -> Ints:
        """Visits N_k(c) + max(1, N_k(c)) at which a color ends the episode (Algorithm 1)."""
        visits: Ints = evidence.counts.visits
        return np.asarray(visits + np.maximum(1, visits))

    def longest(self, evidence: Evidence, previous: int) -> int:
        """Most steps of an episode, given the length of the one before; no bound by default."""
        return FOREVER

    def tolerance(self, t: int) -> float:
        """Accuracy 1/sqrt(t_k) of the gain at which planning may stop."""
        return 1.0 / sqrt(t)


@dataclass(frozen=True, eq=False)
class Optimism(Rule):
    """The confidence sets of colored UCRL2, eqs (2) and (3), around the empirical means.

    known: (C,) colors whose parameters are given and not learned (Psi_K); they have no radii and
    end no episode, and C in the radii counts the others only. Colors never visited are estimated
    by the uniform law, whose radius leaves every law open.
    """

    delta: float
    epsilon: float
    max_support: int | None = None  # B, where it is not the structure's own
    known: Bools | None = None
    truth: Parameters | None = field(default=None, repr=False)

    def parameters(self, evidence: Evidence, rng: np.random.Generator) -> Parameters:
        rewards, laws = empirical_means(evidence)
        reward_radii, radii = self.radii(evidence)
        if self.known is not None and self.truth is not None:
            rewards = np.where(self.known, self.truth.rewards, rewards)
            laws = np.where(self.known[:, None], self.truth.probabilities, laws)
        return Parameters(rewards, laws, reward_radii, radii)

    def radii(self, evidence: Evidence) -> tuple[Floats, Floats]:
        """Right-hand sides of eqs (2) and (3), shape (C,) each; 0 for known colors."""
        visits: Ints = evidence.counts.visits
        colors = len(visits) if self.known is None else int((~self.known).sum())
        if colors == 0:
            return np.zeros(len(visits)), np.zeros(len(visits))
        support = self.max_support or evidence.structure.max_support
        arguments = (self.delta, self.epsilon)
        rewards = reward_radius(visits, evidence.t, colors, *arguments)  # eq. (2)
        laws = transition_radius(visits, evidence.t, colors, support, *arguments)  # eq. (3)
        if self.known is not None:
            rewards, laws = np.where(self.known, 0.0, rewards), np.where(self.known, 0.0, laws)
        return rewards, laws

    def limits(self, evidence: Evidence) -> Ints:
        limits = super().limits(evidence)
        return limits if self.known is None else np.where(self.known, FOREVER, limits)


def empirical_means(evidence: Evidence) -> tuple[Floats, Floats]:
    """r^ (C,) and p^ (C, B) of each color; 0 and the uniform law where there is no sample."""
    counts: Counts = evidence.counts
    visits = np.maximum(1, counts.visits)
    laws = counts.outcomes / visits[:, None]
    fresh = np.flatnonzero(counts.visits == 0)
    if len(fresh):
        supports = evidence.supports[fresh][:, None]
        laws[fresh] = (np.arange(laws.shape[1]) < supports) / supports
    return counts.rewards.sum(axis=1) / visits, laws


def n_outcomes(structure: Representation) -> Ints:
    """Number of outcomes of each color, shape (C,)."""
    per_arm = [size * ages for size, ages in zip(structure.sizes, structure.n_ages, strict=True)]
    return np.repeat(np.array(structure.sizes, dtype=np.int64), per_arm)


def carry_over(counts: Counts, old: Representation, new: Representation) -> Counts:
    """The counts of one representation in the colors of another that may have more states.

    Samples of an age beyond the old cap were stored together: they are kept where the new lasso
    stores those ages together too, and dropped where it tells them apart.
    """
    fresh = Counts.none(new, counts.squares is not None)
    width = old.max_support
    for j in range(old.n_arms):
        together = new.caps[j] <= old.caps[j] and old.periods[j] % new.periods[j] == 0
        ages = old.n_ages[j] if together else old.caps[j] - 1
        source = old.color_grid(j)[:, :ages]
        stored = [new.stored_age(j, age) - 1 for age in range(1, ages + 1)]
        target = new.color_grid(j)[: old.sizes[j], stored]
        np.add.at(fresh.visits, target, counts.visits[source])
        np.add.at(fresh.outcomes[:, :width], target, counts.outcomes[source])
        np.add.at(fresh.rewards[:, :width], target, counts.rewards[source])
        if fresh.squares is not None and counts.squares is not None:
            np.add.at(fresh.squares[:, :width], target, counts.squares[source])
    return fresh
