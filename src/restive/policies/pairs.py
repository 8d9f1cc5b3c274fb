"""The best action in every state of an MDP given by arrays, followed along a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.mdp.structured import Parameters, StructuredMDP
from restive.policies.sight import NEVER, Sight

if TYPE_CHECKING:
    from restive.learners.paper.rules import Counts


class PairPolicy:
    """The action worth most in each state, the first of several.

    state: what was last seen -> state of the MDP. actions: (N,).
    """

    def __init__(
        self, mdp: StructuredMDP, values: Floats, parameters: Parameters,
        state: Callable[[Sight], int],
    ) -> None:  # fmt: skip
        from restive._kernels import arrays
        from restive.mdp.iteration import ArrayIteration

        self.mdp, self.state = mdp, state
        ready = ArrayIteration(mdp, parameters, values)
        self.actions = np.asarray(arrays.pair_values(ready.values, *ready.arguments).argmax(axis=1))

    def arm(self, sight: Sight) -> int:
        return int(self.actions[self.state(sight)])

    def follow(
        self, sight: Sight, counts: Counts, limits: Ints, names: Ints, path: Ints, rewards: Floats,
        pulls: Ints, begin: int, end: int,
    ) -> tuple[int, int]:  # fmt: skip
        """As ``GreedyPolicy.follow``, where the outcomes of an arm are the states on its path."""
        from restive._kernels import play

        pulled = np.full(self.mdp.n_actions, NEVER)
        step, why = play.pair_path(
            self.mdp.colors, self.mdp.successors, self.actions, limits, counts.visits,
            counts.outcomes, counts.rewards, counts.squares, path, rewards, pulls, begin, end,
            self.state(sight), pulled,
        )  # fmt: skip
        sight.advance(pulled, path, begin, int(step), names)
        return int(step), int(why)
