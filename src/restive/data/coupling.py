"""Arms that move together: what a plan could earn that knows of it.

Two arms whose surprises have a correlation c are taken to move by one joint chain: each as fitted,
and the product of their laws weighted by 1 + c z z', z and z' being the surprises in units of their
spread. What is known of them is kept as in all plans here, the state last seen and the age of
every arm; but now the law of a pull depends on what was last seen of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.model.bandit import Arm

MOST_STATES = 3_000  # information states that are planned on
OLDEST, YOUNGEST = 40, 6  # ages told apart, at most and at least
TOLERANCE = 5e-5
MOST_SWEEPS = 600  # then the error is what it is, and said


def joint_chain(arms: Sequence[Arm], correlation: float, lag: int = 0) -> Floats:
    """Chain of all arms together, (N, N) on the product of their states; the first two are coupled.

    lag: 0 if they move at the same step; 1 if the second follows the state of the first, -1 the
    other way round. Where a correlation is larger than two such laws can have, it is the largest.

    >>> fair = Arm([[0.5, 0.5], [0.5, 0.5]], [0, 1])
    >>> joint_chain([fair, fair], 1.0)[0].tolist()
    [0.5, 0.0, 0.0, 0.5]
    """
    first, second = arms[0], arms[1]
    pair = np.empty((first.n_states, second.n_states, first.n_states, second.n_states))
    for x, y in product(range(first.n_states), range(second.n_states)):
        p, q = first.transitions[x], second.transitions[y]
        left, right = _surprise(p, first.rewards), _surprise(q, second.rewards)
        if lag > 0:
            left = np.full(len(p), _surprise(first.stationary, first.rewards)[x])
        elif lag < 0:
            right = np.full(len(q), _surprise(second.stationary, second.rewards)[y])
        pair[x, y] = _tilted(np.outer(p, q), np.outer(left, right), correlation)
    size = first.n_states * second.n_states
    chain: Floats = pair.reshape(size, size)
    for arm in arms[2:]:
        chain = np.kron(chain, arm.transitions).astype(np.float64)
    return chain


def _surprise(law: Floats, rewards: Floats) -> Floats:
    """Rewards of the states less their mean under a law, in units of their spread."""
    away = rewards - law @ rewards
    spread = float(np.sqrt(law @ np.square(away)))
    return np.asarray(away / spread) if spread > 0 else np.zeros(len(law))


def _tilted(law: Floats, weights: Floats, correlation: float) -> Floats:
    """law (1 + c weights), with c as near to the correlation as no entry gets negative."""
    pull = np.where(law > 0, -correlation * weights, 0.0).max()
    return np.asarray(law * (1 + correlation / max(1.0, pull) * weights))


@dataclass(frozen=True)
class Gain:
    """Reward per step, known up to ``error``."""

    value: float
    error: float


class CoupledArms:
    """The decision process of arms with a joint chain, on last sights and ages up to a cap.

    It takes the last sight of each arm for all that is known. For independent arms that is exact,
    for dependent ones older sights could say a little more.
    """

    def __init__(self, arms: Sequence[Arm], chain: Floats) -> None:
        self.arms, self.chain = tuple(arms), chain
        self.sizes = tuple(arm.n_states for arm in arms)
        self.ages = _age_vectors(len(arms), oldest_age(self.sizes))
        self._places = {ages: k for k, ages in enumerate(self.ages)}
        self._states = np.array(list(product(*map(range, self.sizes))))
        self.after = np.array([[self._place_after(ages, k) for k in range(len(arms))]
                               for ages in self.ages])  # fmt: skip
        beliefs = self._beliefs()
        self.laws = [self._marginal(beliefs, k) for k in range(len(arms))]

    def _place_after(self, ages: tuple[int, ...], pulled: int) -> int:
        cap = self.ages[-1][0]
        older = (1 if k == pulled else min(age + 1, cap) for k, age in enumerate(ages))
        return self._places[tuple(older)]

    def _beliefs(self) -> Floats:
        """(ages, states last seen, joint states): the law at the next pull."""
        powers = [np.eye(len(self.chain))]
        for _ in range(self.ages[-1][0]):
            powers.append(powers[-1] @ self.chain)
        stationary = np.full(len(self.chain), 1.0 / len(self.chain)) @ _limit(self.chain)
        seen = [self._states[:, k][None, :] == np.arange(size)[:, None]
                for k, size in enumerate(self.sizes)]  # fmt: skip
        laws = [self._belief(ages, stationary, powers, seen) for ages in self.ages]
        return np.array(laws)

    def _belief(
        self, ages: tuple[int, ...], start: Floats, powers: list[Floats],
        seen: list[Bools],
    ) -> Floats:  # fmt: skip
        """From the oldest sight to the latest: where the arms may be, given all of them."""
        law = np.tile(start, (len(self._states), 1))
        order = sorted(range(len(ages)), key=lambda k: -ages[k])
        for k, later in zip(order, [*order[1:], None], strict=True):
            kept = law * seen[k][self._states[:, k]]
            total = kept.sum(axis=1, keepdims=True)
            law = np.where(total > 0, kept / np.maximum(total, 1e-300), law)
            law = law @ powers[ages[k] - (0 if later is None else ages[later])]
        return law

    def _marginal(self, beliefs: Floats, arm: int) -> Floats:
        """(ages, states last seen, states of the arm): what a pull of it shows."""
        columns = [beliefs[..., self._states[:, arm] == s].sum(axis=-1)
                   for s in range(self.sizes[arm])]  # fmt: skip
        return np.stack(columns, axis=-1)

    def _worths(self, values: Floats) -> Floats:
        """(arms, ages, states): reward of a pull and the value of what it leads to."""
        strides = np.cumprod((1, *self.sizes[:0:-1]))[::-1]
        places, worths = np.arange(len(self._states)), []
        for k, (arm, law) in enumerate(zip(self.arms, self.laws, strict=True)):
            to = (places - self._states[:, k] * strides[k])[:, None]
            to = to + np.arange(self.sizes[k]) * strides[k]
            worths.append((law * (arm.rewards + values[self.after[:, k]][:, to])).sum(axis=-1))
        return np.stack(worths)

    def best(self, values: Floats | None = None) -> tuple[Gain, Floats]:
        """The best gain and the values of its plan; values: to start from."""
        return self._iterate(None, values)

    def policy(self, values: Floats) -> Ints:
        """The arm to pull for each (ages, states), given the values of a plan."""
        return np.asarray(self._worths(values).argmax(axis=0))

    def value(self, policy: Ints, values: Floats | None = None) -> Gain:
        """The gain of pulling these arms."""
        return self._iterate(policy, values)[0]

    def _iterate(self, policy: Ints | None, start: Floats | None) -> tuple[Gain, Floats]:
        """Sweeps that go half of the way, so that turns do not keep them from settling."""
        values = np.zeros((len(self.ages), len(self._states))) if start is None else start
        low, high = 0.0, 1.0
        for _ in range(MOST_SWEEPS):
            worths = self._worths(values)
            swept = worths.max(axis=0) if policy is None else np.choose(policy, worths)
            low, high = float((swept - values).min()), float((swept - values).max())
            if high - low < TOLERANCE:
                break
            values = 0.5 * (swept + values)
            values -= values[0, 0]
        return Gain((low + high) / 2, (high - low) / 2), values


def oldest_age(sizes: Sequence[int]) -> int:
    """The cap that leaves few enough information states; below ``YOUNGEST`` there is none."""
    fits = [cap for cap in range(YOUNGEST, OLDEST + 1)
            if len(sizes) * prod(sizes) * (cap - 1) ** (len(sizes) - 1) <= MOST_STATES]  # fmt: skip
    return max(fits, default=0)


def _age_vectors(n_arms: int, cap: int) -> list[tuple[int, ...]]:
    """One arm seen just now, the others before; the last has the oldest ages first."""
    ages = [ages for ages in product(range(1, cap + 1), repeat=n_arms) if ages.count(1) == 1]
    return sorted(ages)


def _limit(chain: Floats) -> Floats:
    """A high power: joint chains have no closed form for their stationary law here."""
    power = 0.5 * (chain + np.eye(len(chain)))  # half as fast, and never periodic
    for _ in range(40):
        power = power @ power
        power /= power.sum(axis=1, keepdims=True)
    return np.asarray(power)
