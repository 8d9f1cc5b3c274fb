"""The bandits that are measured, and what a learner knows of them after a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters
from restive.model.bandit import Arm, Bandit
from restive.theory.confidence import reward_radius, transition_radius

__all__ = ["Samples", "channel", "forgetful", "quick_channels", "slow_channels"]

DELTA = 0.05


def channel(memory: float, busy: float, low: float, high: float) -> Arm:
    """A two-state arm with second eigenvalue ``memory`` that is in state 1 a share ``busy``."""
    up, down = (1 - memory) * busy, (1 - memory) * (1 - busy)
    return Arm([[1 - up, up], [down, 1 - down]], [low, high])


def slow_channels(count: int) -> Bandit:
    """Slow two-state channels: they change state every 50 to 100 steps and pay differently."""
    kinds = [(0.98, 0.0, 1.0), (0.976, 0.05, 0.95), (0.97, 0.1, 0.9), (0.96, 0.15, 0.85)]
    arms = [channel(memory, 0.5, low, high) for memory, low, high in kinds[:count]]
    return Bandit(arms, name=f"{count} slow channels")


def quick_channels(count: int) -> Bandit:
    """Channels that forget their state to 1e-6 within about a hundred steps."""
    kinds = [
        (0.865, 0.5, 0.0, 1.0),
        (0.86, 0.45, 0.05, 0.95),
        (0.855, 0.4, 0.0, 1.0),
        (0.85, 0.55, 0.1, 0.85),
    ]
    return Bandit([channel(*kind) for kind in kinds[:count]], name=f"{count} channels")


def forgetful(count: int, size: int, seed: int = 0) -> Bandit:
    """Random arms that stay with probability 4/5 and else jump, so they mix alike at any size."""
    rng = np.random.default_rng([seed, count, size])
    arms = []
    for _ in range(count):
        jumps = rng.dirichlet(np.full(size, 0.5), size) * 0.9 + 0.1 / size
        arms.append(Arm(0.8 * np.eye(size) + 0.2 * jumps, np.sort(rng.random(size))))
    return Bandit(arms, name=f"{count} arms of {size} states")


class Samples:
    """What a learner has seen of a bandit: visits and outcomes of every color.

    Half of the pulls stay on an arm (age 1), the others come after a rest of any length.
    """

    def __init__(self, bandit: Bandit, cap: int, steps: int, seed: int = 0) -> None:
        self.representation = Representation.of(bandit, cap)
        self.truth = bandit_parameters(bandit, self.representation)
        self.rng = np.random.default_rng(seed)
        self.frequency = self._frequency(bandit)
        self.steps = 0
        self.visits = np.zeros(len(self.frequency), dtype=np.int64)
        self.outcomes = np.zeros(self.truth.probabilities.shape, dtype=np.int64)
        self.draw(steps)

    def _frequency(self, bandit: Bandit) -> NDArray[np.float64]:
        parts = []
        for arm, ages in zip(bandit.arms, self.representation.n_ages, strict=True):
            by_age = np.full(ages, 0.5 / (ages - 1))
            by_age[0] = 0.5
            parts.append(np.outer(arm.stationary, by_age).ravel() / bandit.n_arms)
        return np.concatenate(parts)

    def draw(self, steps: int) -> None:
        """See ``steps`` pulls more."""
        fresh = self.rng.multinomial(steps, self.frequency / self.frequency.sum())
        laws = self.truth.probabilities
        self.outcomes += self.rng.multinomial(fresh, laws / laws.sum(axis=1, keepdims=True))
        self.visits += fresh
        self.steps += steps

    def published(self, scale: float = 1.0) -> Parameters:
        """Empirical means with the radii of eqs (2) and (3), times ``scale``."""
        count, support = len(self.visits), self.representation.max_support
        epsilon = self.steps**-0.5
        reward_radii = reward_radius(self.visits, self.steps, count, DELTA, epsilon)
        radii = transition_radius(self.visits, self.steps, count, support, DELTA, epsilon)
        laws = self.outcomes / np.maximum(1, self.visits)[:, None]
        laws[self.visits == 0] = 1 / support
        return Parameters(self.truth.rewards, laws, scale * reward_radii, scale * radii)

    def posterior_draw(self) -> Parameters:
        """Laws drawn from the Dirichlet posterior of every color on its own; no radii."""
        weights = self.rng.standard_gamma(self.outcomes + 1.0)
        return Parameters(self.truth.rewards, weights / weights.sum(axis=1, keepdims=True))
