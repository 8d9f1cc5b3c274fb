"""eps-structured MDPs (Definition 1): a finite MDP with a coloring and outcome indices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief
from restive.base.errors import ArgumentError, refusal


@dataclass(frozen=True, eq=False, repr=False)
class Parameters(Brief):
    """What the colors do: a mean reward and a law over outcomes each, with optional radii.

    rewards: (C,). probabilities: (C, B), rows sum to one, zeros beyond a color's outcomes.
    reward_radii, radii: (C,) how far the true mean reward and the true law (in L1) may be; the
    solver then maximises over all models within them. None stands for 0: plain planning.
    """

    rewards: Floats
    probabilities: Floats
    reward_radii: Floats | None = None
    radii: Floats | None = None

    @property
    def optimistic_rewards(self) -> Floats:
        """min(1, r + radius): the best mean reward within the radius, rewards being at most 1."""
        if self.reward_radii is None:
            return self.rewards
        return np.minimum(1.0, self.rewards + self.reward_radii)

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Optimistic rewards, probabilities and radii, as compiled loops read them."""
        radii = np.zeros(len(self.rewards)) if self.radii is None else self.radii
        parts = (self.optimistic_rewards, self.probabilities, radii)
        rewards, chances, widths = (np.ascontiguousarray(part, dtype=np.float64) for part in parts)
        return rewards, chances, widths


@dataclass(frozen=True, eq=False, repr=False)
class StructuredMDP(Brief):
    """Structure of a finite MDP: which color each pair has and where each outcome leads.

    colors: (N, A), color of each state-action pair, -1 where the action is not available.
    successors: (N, A, B), state after outcome b; -1 from the last outcome of the color on, where
        it has fewer than B. The translation functions of Definition 1 are these outcome
        indices: outcome b of one pair corresponds to outcome b of every pair of its color.

    One color per pair gives an ordinary MDP:

    >>> import numpy as np
    >>> mdp, parameters = StructuredMDP.plain(np.array([[[0.5, 0.5], [1, 0]], [[0, 1], [1, 0]]]),
    ...                                       np.array([[0.0, 0.2], [1.0, 0.0]]))
    >>> mdp.n_states, mdp.n_colors
    (2, 4)
    """

    colors: Ints
    successors: Ints

    def __init__(self, colors: ArrayLike, successors: ArrayLike) -> None:
        color = np.ascontiguousarray(colors, dtype=np.int64)
        successor = np.ascontiguousarray(successors, dtype=np.int64)
        if color.ndim != 2 or successor.ndim != 3 or successor.shape[:2] != color.shape:
            raise ArgumentError(
                f"colors must be (N, A) and successors (N, A, B), not {color.shape} and "
                f"{successor.shape}"
            )
        if color.size == 0 or (color.max(axis=1) < 0).any():
            empty = int(np.flatnonzero(color.max(axis=1) < 0)[0]) if color.size else 0
            raise ArgumentError(f"state {empty} has no available action (all its colors are -1)")
        used = successor[color >= 0]
        if used.min() < -1 or used.max() >= len(color) or used[:, 0].min() < 0:
            raise ArgumentError(
                f"successors must be state numbers 0..{len(color) - 1}, or -1 after the last "
                f"outcome; not {used.min()}..{used.max()}"
            )
        if ((used[:, 1:] >= 0) & (used[:, :-1] < 0)).any():
            raise ArgumentError(
                "successors: an outcome follows a -1; move the -1 entries to the end"
            )
        object.__setattr__(self, "colors", color)
        object.__setattr__(self, "successors", successor)

    @classmethod
    def plain(cls, transitions: ArrayLike, rewards: ArrayLike) -> tuple[StructuredMDP, Parameters]:
        """An ordinary MDP, every pair a color of its own; transitions (N, A, N), rewards (N, A)."""
        p = np.asarray(transitions, dtype=np.float64)
        r = np.asarray(rewards, dtype=np.float64)
        n, a = r.shape
        successors = np.broadcast_to(np.arange(n), (n, a, n))
        parameters = Parameters(r.reshape(-1).copy(), p.reshape(n * a, n).copy())
        return cls(np.arange(n * a).reshape(n, a), successors), parameters

    @property
    def supports(self) -> Ints:
        """Outcomes of each color, (C,): those that lead somewhere from every pair of it."""
        counts = np.full(self.n_colors, self.max_support, dtype=np.int64)
        there = self.colors >= 0
        np.minimum.at(counts, self.colors[there], (self.successors[there] >= 0).sum(axis=1))
        return counts

    def require_distinct(self, supports: Ints) -> None:
        """Refuse a pair two of whose outcomes lead to the same state: it would be learned wrongly.

        Whoever learns sees states, so it could not tell which of them happened. Planning takes such
        pairs. supports: (C,) outcomes of each color; later entries are ignored.
        """
        outcome = np.arange(self.max_support)
        none = -1 - outcome  # no two of these are the same
        counted = (self.colors >= 0)[..., None] & (outcome < supports[self.colors][..., None])
        nexts = np.sort(np.where(counted & (self.successors >= 0), self.successors, none), axis=2)
        twice = np.argwhere((np.diff(nexts, axis=2) == 0).any(axis=2))
        if len(twice):
            state, action = twice[0].tolist()
            path = f"successors[{state}][{action}]"
            remedy = "Join outcomes that lead to the same state, and add up their chances."
            shown = str(self.successors[state, action].tolist())
            raise refusal(path, "two outcomes lead to the same state", shown, remedy)

    @property
    def n_states(self) -> int:
        return len(self.colors)

    @property
    def n_actions(self) -> int:
        return int(self.colors.shape[1])

    @property
    def n_colors(self) -> int:
        return int(self.colors.max()) + 1

    @property
    def max_support(self) -> int:
        """B: the most outcomes a pair can have."""
        return int(self.successors.shape[2])
