"""Worlds whose states depend on what is done: eps-structured MDPs."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats
from restive.base.described import in_brief
from restive.base.errors import refusal
from restive.base.randomness import Seed, heights_of, recorded_seed, seed_sequence
from restive.mdp.structured import Parameters, StructuredMDP


class StructuredWorld:
    """An eps-structured MDP to act in: a law over outcomes and a mean reward for each pair.

    laws: (N, A, B), or (C, B) per color. rewards: (N, A), or (C,). Rewards are 0 or 1 with these
    means, or with reward_noise="none" the means themselves.
    """

    def __init__(
        self, mdp: StructuredMDP, laws: ArrayLike, rewards: ArrayLike, rng: Seed = 0, *,
        start: int = 0, reward_noise: Literal["none", "bernoulli"] = "bernoulli",
    ) -> None:  # fmt: skip
        self.mdp, self.start = mdp, start
        self.laws = self._spread(laws, 2)
        self.rewards = self._spread(rewards, 1)
        self.noisy = reward_noise == "bernoulli"
        self._seeds = seed_sequence(rng)
        used = mdp.colors >= 0
        sums = self.laws[used].sum(axis=-1)
        if (self.laws[used] < 0).any() or not np.allclose(sums, 1.0, atol=1e-9):
            remedy = "The probabilities of a pair's outcomes are not negative and sum to 1."
            raise refusal("laws", "not probabilities", "", remedy)
        if ((self.rewards[used] < 0) | (self.rewards[used] > 1)).any():
            raise refusal("rewards", "outside [0, 1]", "", "Rescale the rewards.")

    def __repr__(self) -> str:
        n_states, n_actions = self.mdp.colors.shape
        return in_brief(self, n_states=n_states, n_actions=n_actions, seed=self.seed)

    @property
    def seed(self) -> int | list[int] | None:
        return recorded_seed(self._seeds)

    @cached_property
    def epsilon(self) -> float:
        """The eps of Definition 1: how far pairs of one color differ (L1 of laws, rewards)."""
        widest = 0.0
        for color in range(self.mdp.n_colors):
            same = self.mdp.colors == color
            laws, means = self.laws[same], self.rewards[same]
            for k in range(len(means)):
                widest = max(widest, float(np.abs(laws - laws[k]).sum(axis=1).max()))
            widest = max(widest, float(np.ptp(means)) if len(means) else 0.0)
        return widest

    def gain(self, tolerance: float = 1e-6) -> float:
        """rho*: the best average reward of the true MDP."""
        from restive.mdp.solver import solve

        pairs = np.full(self.mdp.colors.shape, -1, dtype=np.int64)
        used = self.mdp.colors >= 0
        pairs[used] = np.arange(used.sum())
        truth = Parameters(self.rewards[used], self.laws[used])
        return solve(StructuredMDP(pairs, self.mdp.successors), truth, tolerance=tolerance).gain

    def walk(self) -> StructuredWalk:
        """A run from the start; the random numbers are the same for every run."""
        return StructuredWalk(self, np.random.default_rng(self._seeds))

    def _spread(self, values: ArrayLike, trailing: int) -> Floats:
        """Per pair, whether given per pair or per color."""
        array = np.asarray(values, dtype=np.float64)
        shape = self.mdp.successors.shape[: 1 + trailing]
        if array.ndim == trailing and len(array) == self.mdp.n_colors:
            array = array[self.mdp.colors]
        if array.shape != shape:
            remedy = f"Give one entry per color ({self.mdp.n_colors}) or per pair {shape}."
            name = "laws" if trailing == 2 else "rewards"
            raise refusal(name, "wrong shape", str(array.shape), remedy)
        return array


class StructuredWalk:
    """One run through a StructuredWorld; two random numbers a step, for outcome and reward."""

    def __init__(self, world: StructuredWorld, rng: np.random.Generator) -> None:
        self.state = world.start
        self.successors = world.mdp.successors  # (N, A, B) state after each outcome
        self.heights = heights_of(world.laws)  # (N, A, B) cumulative probabilities of the outcomes
        self.means, self.noisy = world.rewards, world.noisy
        self._rng = rng

    def __repr__(self) -> str:
        return in_brief(self, n_states=len(self.means), state=self.state)

    def uniforms(self, count: int) -> Floats:
        """The next ``count`` steps' random numbers, shape (count, 2): outcome, reward."""
        return self._rng.random((count, 2))

    def step(self, action: int) -> tuple[int, float]:
        """Take an action; returns the next state and the reward."""
        chance, luck = self.uniforms(1)[0]
        outcome = int(np.searchsorted(self.heights[self.state, action], chance, side="right"))
        reward = float(self.means[self.state, action])
        if self.noisy:
            reward = 1.0 if luck < reward else 0.0
        self.state = int(self.successors[self.state, action, outcome])
        return self.state, reward
