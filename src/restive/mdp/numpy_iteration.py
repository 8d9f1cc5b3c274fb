"""Information states written out one by one and swept in NumPy: no compiler is needed.

For problems so small that importing the compiled sweeps takes longer than planning. The steps are
those of ``iteration.BanditIteration``, so that values and bounds are the same up to rounding.
"""

from __future__ import annotations

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.mdp.layout import fill_ghosts
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters

DAMPING = 0.9  # step towards the backup; below 1, or periodic policies make values swing
PERIODIC_DAMPING = 0.5  # long cycles of the arms themselves die out faster with this one


def pull_values(
    rep: Representation, parameters: Parameters, values: Floats, colors: Ints
) -> Floats:
    """r(x, a) + sum_y p(y|x, a) h(y) of states given by the colors of their arms, (n, K).

    Outcomes are added up in their order, as the compiled loops do.
    """
    places = _successor_places(rep, colors)
    worth = np.empty(colors.shape)
    for arm, size in enumerate(rep.sizes):
        own = colors[:, arm]
        worth[:, arm] = parameters.rewards[own]
        for outcome in range(size):
            chance = parameters.probabilities[own, outcome]
            worth[:, arm] += chance * values[places[arm] + outcome * _stride(rep, arm)]
    return worth


def _stride(rep: Representation, arm: int) -> int:
    """From the place of an arm just seen in a state to that of the next state."""
    return int(rep.layout.state_stride[arm, arm])


def _successor_places(rep: Representation, colors: Ints) -> Ints:
    """Place after a pull of each arm that finds it in state 0, shape (K, n)."""
    older = rep.older_colors[colors]
    steps = rep.offsets[:, older]  # (K, n, K)
    arms = np.arange(rep.n_arms)
    steps[arms, :, arms] = 0
    return np.asarray(rep.layout.block[:-1, None] + steps.sum(axis=2))


class NumpyIteration:
    """Sweeps over all information states at once; without radii."""

    def __init__(
        self, rep: Representation, parameters: Parameters, start: Floats | None = None
    ) -> None:
        last, states, stored = rep.every_state()
        self._rep = rep
        self._places = rep.place(last, states, stored)
        self._colors = rep.colors(states, stored)
        self._classes = rep.classes(states, stored)
        self._rewards = parameters.rewards[self._colors].T.copy()  # (K, N)
        self._chances = parameters.probabilities[self._colors].transpose(1, 2, 0).copy()
        self._successors = self._numbers()  # (K, B, N)
        self._h = np.zeros(rep.n_states) if start is None else start[self._places]
        self.damping = DAMPING if max(rep.periods) == 1 else PERIODIC_DAMPING

    def _numbers(self) -> Ints:
        """Number of the state after each pull and outcome; beyond an arm's own, the first's."""
        rep = self._rep
        number = np.zeros(int(rep.layout.block[-1]), dtype=np.int64)
        number[self._places] = np.arange(len(self._places))
        places = _successor_places(rep, self._colors)
        outcomes = np.arange(rep.max_support) % np.array(rep.sizes)[:, None]  # any of its own
        steps = outcomes * np.array([_stride(rep, arm) for arm in range(rep.n_arms)])[:, None]
        return np.asarray(number[places[:, None] + steps[:, :, None]])

    @property
    def entries(self) -> int:
        """Products in one sweep."""
        return int(self._chances.size)

    @property
    def values(self) -> Floats:
        values = np.zeros(int(self._rep.layout.block[-1]))
        values[self._places] = self._h
        fill_ghosts(self._rep, values)
        return values

    def _pulls(self) -> tuple[Floats, Floats]:
        """Values of all pulls (K, N), and of all their outcomes (K, B, N)."""
        nexts = self._h[self._successors]
        return self._rewards + (self._chances * nexts).sum(axis=1), nexts

    def sweep(self, gain: Floats, count: int) -> tuple[Floats, Floats]:
        goal = np.broadcast_to(gain, self._rep.n_classes)[self._classes]
        for _ in range(count):
            change = self._pulls()[0].max(axis=0) - self._h
            self._h = self._h + self.damping * (change - goal)
        return self._extremes(change, change)

    def _extremes(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Smallest ``low`` and largest ``high`` of each class."""
        lower, upper = (np.full(self._rep.n_classes, end) for end in (np.inf, -np.inf))
        np.minimum.at(lower, self._classes, low)
        np.maximum.at(upper, self._classes, high)
        return lower, upper

    def certify(self, errors: Floats, rewards: Floats) -> tuple[Floats, Floats]:
        """Bounds of the true T h - h per class, over the states in which some row is rough.

        errors: (C,) L1 distance between a color's row and any true row it stands for. rewards:
        (K, B) of each outcome. A pull is then known up to errors/2 times the span of reward +
        value over its outcomes.
        """
        worth, nexts = self._pulls()
        sizes = np.array(self._rep.sizes)[:, None]
        paid = np.take_along_axis(rewards, np.arange(rewards.shape[1]) % sizes, axis=1)
        error = errors[self._colors].T
        doubt = 0.5 * error * np.ptp(paid[:, :, None] + nexts, axis=1)
        exact = ~error.any(axis=0)
        low = (worth - doubt).max(axis=0) - self._h
        high = (worth + doubt).max(axis=0) - self._h
        return self._extremes(np.where(exact, np.inf, low), np.where(exact, -np.inf, high))
