"""A deep Q-network in NumPy: what general reinforcement learning does with these problems.

Double Q-learning with a target network and replayed experience (Mnih et al., Human-level control
through deep reinforcement learning, Nature 518, 2015; van Hasselt, Guez, Silver, Deep reinforcement
learning with double Q-learning, AAAI 2016). Last states and ages are all there is to know, so the
network needs no memory of its own. Two hidden layers are three products: no library is needed.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.model.bandit import Bandit
from restive.policies.sight import NEVER, Sight

__all__ = ["DeepQ", "Network"]

Floats = NDArray[np.float64]

HIDDEN, BATCH, MEMORY = 32, 32, 5_000
SCALES = np.array([2.0, 8.0, 32.0])  # steps over which what was seen of an arm fades
REFRESH = 250  # steps between copies to the target network
ANNEALED, LEAST = 0.1, 0.02  # share of the run in which chance choices fall from 1 to the least


class Network:
    """x -> relu(x W + b) -> relu -> Q(x, .), trained by Adam; all weights are one vector."""

    def __init__(self, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
        self.shapes = list(pairwise(sizes))
        layers = [rng.standard_normal(shape) * np.sqrt(2 / shape[0]) for shape in self.shapes]
        self.weights = np.concatenate(
            [np.concatenate([layer.ravel(), np.zeros(layer.shape[1])]) for layer in layers]
        )
        self.moments, self.updates = np.zeros((2, len(self.weights))), 0

    def layers(self, weights: Floats) -> list[tuple[Floats, Floats]]:
        """Views of W and b of every layer."""
        parts, at = [], 0
        for rows, columns in self.shapes:
            end = at + rows * columns
            parts.append((weights[at:end].reshape(rows, columns), weights[end : end + columns]))
            at = end + columns
        return parts

    def activations(self, x: Floats, weights: Floats) -> list[Floats]:
        """The input (n, F), what every layer makes of it, and at last Q (n, K)."""
        values = [x]
        layers = self.layers(weights)
        for number, (matrix, bias) in enumerate(layers):
            sums = values[-1] @ matrix + bias
            values.append(np.maximum(0.0, sums) if number + 1 < len(layers) else sums)
        return values

    def values(self, x: Floats, weights: Floats | None = None) -> Floats:
        return self.activations(x, self.weights if weights is None else weights)[-1]

    def gradient(self, x: Floats, actions: Any, targets: Floats) -> Floats:
        """Of the mean of (Q(x, a) - target)^2 / 2."""
        values, rows = self.activations(x, self.weights), np.arange(len(x))
        back = np.zeros_like(values[-1])
        back[rows, actions] = (values[-1][rows, actions] - targets) / len(x)
        slopes = np.empty_like(self.weights)
        views = self.layers(slopes)
        for number, (matrix, _) in reversed(list(enumerate(self.layers(self.weights)))):
            views[number][0][...] = values[number].T @ back
            views[number][1][...] = back.sum(axis=0)
            back = (back @ matrix.T) * (values[number] > 0)
        return slopes

    def train(self, slopes: Floats, rate: float) -> None:
        """Adam with its usual constants."""
        self.updates += 1
        for moment, decay, own in zip(self.moments, (0.9, 0.999), (slopes, slopes**2), strict=True):
            moment += (1 - decay) * (own - moment)
        mean, square = (m / (1 - d**self.updates)
                        for m, d in zip(self.moments, (0.9, 0.999), strict=True))  # fmt: skip
        self.weights -= rate * mean / (np.sqrt(square) + 1e-8)


class DeepQ:
    """Pulls the arm with the largest Q, or any by chance; replays 32 past steps at each step."""

    def __init__(
        self, bandit: Bandit, horizon: int, rng: np.random.Generator | int = 0,
        discount: float = 0.95, rate: float = 1e-3,
    ) -> None:  # fmt: skip
        self.sizes, self.horizon, self.discount, self.rate = (
            bandit.n_states, horizon, discount, rate,
        )  # fmt: skip
        self.rng = np.random.default_rng(rng)
        self.sight = Sight(len(self.sizes))
        width = sum(self.sizes) * (1 + len(SCALES))
        self.network = Network((width, HIDDEN, HIDDEN, len(self.sizes)), self.rng)
        self.slow = self.network.weights.copy()
        self.before, self.after = np.zeros((2, MEMORY, width))
        self.pulled, self.paid = np.zeros(MEMORY, dtype=np.int64), np.zeros(MEMORY)
        self.chosen = 0

    def ask(self) -> int:
        return self.chosen if self.sight.complete else self.sight.states.index(NEVER)

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        place = self.sight.steps % MEMORY
        self.before[place], self.pulled[place], self.paid[place] = self._features(), arm, reward
        self.sight.note(arm, int(state))  # type: ignore[call-overload]
        self.after[place] = here = self._features()
        if self.sight.steps >= BATCH:
            self._learn(min(self.sight.steps, MEMORY))
        if self.sight.steps % REFRESH == 0:
            self.slow = self.network.weights.copy()
        by_chance = max(LEAST, 1 - self.sight.steps / (ANNEALED * self.horizon))
        if self.rng.random() < by_chance:
            self.chosen = int(self.rng.integers(len(self.sizes)))
        else:
            self.chosen = int(self.network.values(here[None])[0].argmax())

    def _features(self) -> Floats:
        """Last state of each arm, and the same fading with its age at three scales."""
        parts = []
        for arm, size in enumerate(self.sizes):
            seen = np.arange(size) == self.sight.states[arm]
            fades = np.exp(-self.sight.age(arm) / SCALES)
            parts.append(np.outer([1.0, *fades], seen).ravel())
        return np.concatenate(parts)

    def _learn(self, count: int) -> None:
        """One step of Adam on r + discount Q'(y, argmax Q(y, .)), Q' the target network."""
        rows = self.rng.integers(count, size=BATCH)
        after = self.after[rows]
        best = self.network.values(after).argmax(axis=1)
        ahead = self.network.values(after, self.slow)[np.arange(BATCH), best]
        targets = self.paid[rows] + self.discount * ahead
        slopes = self.network.gradient(self.before[rows], self.pulled[rows], targets)
        self.network.train(slopes, self.rate)
