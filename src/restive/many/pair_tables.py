"""Classes of identical arms, and the kinds of pairs they make up, as tables for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.model import chains
from restive.model.bandit import Arm

NEGLIGIBLE = 1e-15  # row errors below this are rounding, which has an allowance of its own


class Side(NamedTuple):
    """One arm of a pair. Its X states: (last state, age) for each age before the cap, then
    "not seen for long", one state for each phase of a periodic arm.
    """

    after: Ints  # (X,) state after a rest
    fresh: Ints  # (S,) state after a pull that saw s
    ages: Ints  # (X,) age, -1 for "not seen for long"
    laws: Floats  # (X, S) law of what a pull sees
    chances: Floats  # (S, X) the same, transposed
    errors: Floats  # (X,) L1 distance of that law to the true ones it stands for
    rewards: Floats  # (S,)


def side_of(arm: Arm, cap: int) -> Side:
    """The arm with the ages 1, ..., cap - 1 apart; from there on the limit law, whatever was seen.

    One state for all old ages, and not one for each last state, is what keeps pairs unichain: an
    arm that is never pulled again would otherwise remember for ever what it showed last.
    """
    size, tail, period = arm.n_states, cap - 1, arm.period
    old = size * tail + np.arange(period)  # by the phase, the cyclic class of the hidden state
    states, ages = np.arange(size)[:, None], np.arange(1, cap)[None, :]
    after = np.where(
        ages < tail, states * tail + ages, old[(arm.cyclic_class[:, None] + cap) % period]
    )
    entry = np.arange(size) * tail if tail else old[(arm.cyclic_class + 1) % period]
    laws = np.concatenate([
        chains.powers(arm.transitions, tail).transpose(1, 0, 2).reshape(-1, size),
        _old_laws(arm),
    ])  # fmt: skip
    return Side(
        np.concatenate([after.ravel(), np.roll(old, -1)]),
        entry,
        np.concatenate([np.tile(ages[0], size), np.full(period, -1)]),
        laws,
        np.ascontiguousarray(laws.T),
        np.concatenate([np.zeros(size * tail), _old_errors(arm, cap)]),
        np.array(arm.rewards),
    )


def _old_laws(arm: Arm) -> Floats:
    """(period, S): the limit law in each phase."""
    phases = np.arange(arm.period)
    return np.where(arm.cyclic_class == phases[:, None], arm.period * arm.stationary, 0.0)


def _old_errors(arm: Arm, cap: int) -> Floats:
    """(period,): how far rows of ages from the cap on can be from the limit law of their phase."""
    errors = np.zeros(arm.period)
    for age in range(cap, cap + arm.period):
        phase = (arm.cyclic_class + age) % arm.period
        np.maximum.at(errors, phase, chains.distance_to_limit(arm.transitions, age))
    errors[errors < NEGLIGIBLE] = 0.0
    return errors


@dataclass(frozen=True, eq=False)
class Family:
    """Classes of identical arms with their numbers, and how many pulls a step has."""

    sides: tuple[Side, ...]
    counts: tuple[int, ...]
    pulls: int

    @property
    def n_arms(self) -> int:
        return sum(self.counts)

    @property
    def rest(self) -> bool:
        """Whether a pair may rest: not where the other arms cannot take all pulls."""
        return self.pulls <= self.n_arms - 2

    @property
    def both(self) -> bool:
        return self.pulls > 1

    @cached_property
    def kinds(self) -> tuple[tuple[int, int], ...]:
        """Kinds of pairs (c, d), c <= d, that occur."""
        n = len(self.counts)
        return tuple((c, d) for c in range(n) for d in range(c, n) if c < d or self.counts[c] > 1)

    def weight(self, c: int, d: int) -> float:
        """Pairs of this kind, divided by the K - 1 pairs that an arm is in."""
        pairs = self.counts[c] * (self.counts[d] - (c == d))
        return pairs / (2 if c == d else 1) / (self.n_arms - 1)

    def share(self, c: int, d: int) -> float:
        """Of the pairs that an arm of class c is in, the part with an arm of class d."""
        return (self.counts[d] - (c == d)) / (self.n_arms - 1)

    def partners(self, c: int) -> list[int]:
        return [d for d in range(len(self.counts)) if self.share(c, d) > 0]

    @property
    def n_states(self) -> int:
        """States of all kinds of pairs together."""
        return sum(len(self.sides[c].after) * len(self.sides[d].after) for c, d in self.kinds)


def family_states(arms: Sequence[Arm], counts: Sequence[int], error: float) -> int:
    """``Family.n_states`` without building the family, which very slow arms do not allow."""
    sizes = [arm.n_states * (arm.mixing_time(error) - 1) + arm.period for arm in arms]
    unlike = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    return unlike + sum(size**2 for size, count in zip(sizes, counts, strict=True) if count > 1)


def family_of(arms: Sequence[Arm], counts: Sequence[int], pulls: int, error: float) -> Family:
    """The family with caps where rows are within ``error`` (L1) of their limits."""
    sides = tuple(side_of(arm, arm.mixing_time(error)) for arm in arms)
    return Family(sides, tuple(counts), pulls)
