"""Following the values of a plan: what was last seen of each arm, and the arm worth most there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters

if TYPE_CHECKING:
    from restive._kernels.play import Graph, Laws, Moves
    from restive.learners.paper.rules import Counts

__all__ = ["GreedyPolicy", "Sight", "advance", "laws_of", "moves_of", "one_just_seen"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEVER = -1
ROWS = 1 << 10  # information states that a graph has room for at first
MOST_CELLS = 1 << 26  # of a graph's rows; then it is begun anew


class Sight:
    """What was last seen of each arm, and at which step; NEVER where it was not pulled yet."""

    def __init__(self, n_arms: int) -> None:
        self.steps = 0
        self.states = [NEVER] * n_arms
        self.seen_at = [0] * n_arms
        self.last = 0

    def note(self, arm: int, state: int) -> None:
        self.steps += 1
        self.states[arm] = state
        self.seen_at[arm] = self.steps
        self.last = arm

    def age(self, arm: int) -> int:
        """Steps since the arm was seen, counted at the next pull: 1 for the arm pulled last."""
        return self.steps + 1 - self.seen_at[arm]

    @property
    def complete(self) -> bool:
        """Whether every arm was seen, so that there is an information state."""
        return NEVER not in self.states

    def snapshot(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "states": list(self.states),
            "seen_at": list(self.seen_at),
            "last": self.last,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.steps, self.last = int(state["steps"]), int(state["last"])
        self.states = [int(s) for s in state["states"]]
        self.seen_at = [int(n) for n in state["seen_at"]]


@lru_cache(maxsize=8)
def moves_of(rep: Representation) -> Moves:
    """How information states move when they are written as one color per arm."""
    from restive._kernels.play import Moves

    lay = rep.layout
    offset = np.zeros((rep.n_arms, rep.n_colors), dtype=np.int64)
    older = np.arange(1, rep.n_colors + 1)
    seen = np.zeros((rep.n_arms, rep.max_support), dtype=np.int64)
    for arm in range(rep.n_arms):
        grid = rep.color_grid(arm)
        older[grid[:, -1]] = grid[:, rep.caps[arm] - 1]
        seen[arm, : rep.sizes[arm]] = grid[:, 0]
        states, ages = np.indices(grid.shape)
        for last in range(rep.n_arms):
            offset[last, grid] = states * lay.state_stride[last, arm]
            if arm != last:
                offset[last, grid] += (ages - lay.first[arm]) * lay.age_stride[last, arm]
    stride = np.ascontiguousarray(np.diagonal(lay.state_stride))
    return Moves(lay.block, offset, older, seen, np.array(rep.sizes), stride)


def laws_of(parameters: Parameters) -> Laws:
    """Parameters per color as the compiled loops read them."""
    from restive._kernels.play import Laws

    rewards = np.ascontiguousarray(parameters.optimistic_rewards, dtype=np.float64)
    chances = np.ascontiguousarray(parameters.probabilities, dtype=np.float64)
    radii = np.zeros(len(rewards)) if parameters.radii is None else parameters.radii
    return Laws(rewards, chances, np.ascontiguousarray(radii, dtype=np.float64))


def one_just_seen(sight: Sight) -> bool:
    """Whether the last step showed one arm: no step was missed, and no two arms were pulled."""
    return sight.seen_at.count(sight.steps) == 1


def advance(sight: Sight, names: Ints, path: Ints, pulled: Ints, begin: int, end: int) -> None:
    """Move ``sight`` from ``begin`` to ``end`` on a path; pulled: (K,) last pulls, or NEVER."""
    for arm in np.flatnonzero(pulled != NEVER).tolist():
        sight.seen_at[arm] = sight.steps + int(pulled[arm]) - begin + 1
        sight.states[arm] = int(names[arm, path[arm, pulled[arm]]])
    if end > begin:
        sight.last = int(np.argmax(pulled))
    sight.steps += end - begin


class GreedyPolicy:
    """The policy that is greedy for given values and parameters, worked out where it is needed.

    Of several arms worth the same the first is pulled.
    """

    def __init__(self, rep: Representation, values: Floats, parameters: Parameters) -> None:
        self.rep = rep
        self.values = values
        self._moves = moves_of(rep)
        self._laws = laws_of(parameters)
        self._extended = parameters.radii is not None
        self._known = np.full(len(values), NEVER, dtype=np.int8)
        self._graph: Graph | None = None
        self._names = np.zeros((0, 0), dtype=np.int64)  # that the graph was made for

    def color(self, sight: Sight, arm: int) -> int:
        """Color of a pull: (arm, state last seen, stored age)."""
        return self.rep.color(arm, sight.states[arm], sight.age(arm))

    def _colors(self, sight: Sight) -> Ints:
        return np.array([self.color(sight, arm) for arm in range(self.rep.n_arms)])

    def arm(self, sight: Sight) -> int:
        """The arm to pull once every arm was seen."""
        from restive._kernels import play

        seen = self._colors(sight)
        greedy = (self.values, self._moves, self._laws, self._extended, seen)
        if not one_just_seen(sight):  # none of the states that have a place of their own
            return int(play.greedy(*greedy))
        place = self._moves.block[sight.last] + self._moves.offset[sight.last, seen].sum()
        if self._known[place] == NEVER:
            self._known[place] = play.greedy(*greedy)
        return int(self._known[place])

    def walk(
        self, sight: Sight, left: Ints, names: Ints, path: Ints, pulls: Ints, begin: int, end: int
    ) -> tuple[int, int]:
        """Pulls along a path until an arm has none left, for callers that count for themselves.

        left: (K,) pulls left to each arm, counted down. ``sight`` stays where it is. Returns where
        and why it stopped.
        """
        from restive._kernels import play

        step, why = play.walk(
            self.values, self._moves, self._laws, self._extended, self._known, self._colors(sight),
            left, names, path, pulls, begin, end, sight.last,
        )  # fmt: skip
        return int(step), int(why)

    def follow(
        self, sight: Sight, counts: Counts, limits: Ints, names: Ints, path: Ints, rewards: Floats,
        pulls: Ints, begin: int, end: int,
    ) -> tuple[int, int]:  # fmt: skip
        """Play along a path from ``begin`` to at most ``end``; returns where and why it stopped.

        Counts, ``pulls`` and ``sight`` are brought up to date.
        """
        from restive._kernels import play

        seen, pulled = self._colors(sight), np.full(self.rep.n_arms, NEVER)
        step, last, why = begin, sight.last, play.FULL
        graph = self._graph_of(names)
        while why == play.FULL:
            step, last, why = play.episode(
                self.values, self._moves, self._laws, self._extended, self._known, graph, limits,
                counts.visits, counts.outcomes, counts.rewards, counts.squares, names, path,
                rewards, pulls, step, end, last, seen, pulled,
            )  # fmt: skip
            if why == play.FULL:
                graph = self._graph = _grown(graph)
        advance(sight, names, path, pulled, begin, int(step))
        return int(step), int(why)

    def _graph_of(self, names: Ints) -> Graph:
        """The states met so far; none if the labels were numbered in another way."""
        from restive._kernels.play import NOWHERE, Graph

        if self._graph is None or not np.array_equal(names, self._names):
            width = 3 + names.shape[1] + self.rep.n_arms
            self._names = names
            self._graph = Graph(
                np.full(len(self.values), NOWHERE),
                np.empty(min(ROWS, len(self.values)) * width, dtype=np.uint32),
                np.zeros(1, dtype=np.int64),
                width,
            )
        return self._graph


def _grown(graph: Graph) -> Graph:
    """Room for twice as many rows, or where that would be too many for none of the old ones."""
    from restive._kernels.play import NOWHERE

    length = 2 * len(graph.rows)
    if length > MOST_CELLS:
        graph.row[:], graph.used[:] = NOWHERE, 0
        return graph
    rows = np.empty(length, dtype=np.uint32)
    rows[: len(graph.rows)] = graph.rows
    return graph._replace(rows=rows)
