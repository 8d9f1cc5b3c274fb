"""Following the values of a plan: what is worth most in every state, of a bandit or an MDP."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.mdp.certificate import bandit_parameters
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters, StructuredMDP
from restive.policies.policy import Policy
from restive.policies.sight import NEVER, Sight

if TYPE_CHECKING:
    from restive._kernels.play import Graph, Laws, Moves
    from restive.learners.paper.rules import Counts
    from restive.planning.result import Plan


FOREVER = np.iinfo(np.int64).max
ROWS = 1 << 10  # information states that a graph has room for at first
MOST_CELLS = 1 << 26  # of a graph's rows; then it is begun anew


@lru_cache(maxsize=8)
def moves_of(rep: Representation) -> Moves:
    """How information states move when they are written as one color per arm."""
    from restive._kernels.play import Moves

    lay = rep.layout
    seen = np.zeros((rep.n_arms, rep.max_support), dtype=np.int64)
    for arm, size in enumerate(rep.sizes):
        seen[arm, :size] = rep.color_grid(arm)[:, 0]
    stride = np.ascontiguousarray(np.diagonal(lay.state_stride))
    return Moves(lay.block, rep.offsets, rep.older_colors, seen, np.array(rep.sizes), stride)


def laws_of(parameters: Parameters) -> Laws:
    """Parameters per color as the compiled loops read them."""
    from restive._kernels.play import Laws

    return Laws(*parameters.arrays)


class Uncounted(NamedTuple):
    """Counts per color that nobody looks at."""

    visits: Ints
    outcomes: Ints
    rewards: Floats
    squares: None = None


class GreedyPolicy(Policy):
    """The policy that is greedy for given values and parameters, worked out where it is needed.

    Of several arms worth the same the first is pulled. It looks one step ahead from the ages as
    they are, so it also knows what to do after a missed step, or one in which several arms were
    seen; but that it remembers only for what single pulls lead to (``Sight.regular``).
    """

    def __init__(self, rep: Representation, values: Floats, parameters: Parameters) -> None:
        self.rep, self.n_arms, self.sizes = rep, rep.n_arms, rep.sizes
        self.values = values
        self.moves = moves_of(rep)
        self.laws = laws_of(parameters)
        self._extended = parameters.radii is not None
        self._known = np.full(len(values), NEVER, dtype=np.int8)
        self._graph: Graph | None = None
        self._names = np.zeros((0, 0), dtype=np.int64)  # that the graph was made for

    @property
    def most_pulls(self) -> int:
        """The values are those of one pull a step."""
        return 1

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        """Value of pulling each arm: reward of the pull and value of what it leads to."""
        from restive._kernels.play import all_worths

        colors = self.rep.colors(states, self.rep.store(ages)[0])
        return np.asarray(all_worths(self.values, self.moves, self.laws, self._extended, colors))

    def color(self, sight: Sight, arm: int) -> int:
        """Color of a pull: (arm, state last seen, stored age)."""
        return self.rep.color(arm, sight.states[arm], sight.age(arm))

    def _colors(self, sight: Sight) -> Ints:
        return np.array([self.color(sight, arm) for arm in range(self.n_arms)])

    def _best(self, sight: Sight) -> int:
        from restive._kernels import play

        seen = self._colors(sight)
        return int(play.greedy(self.values, self.moves, self.laws, self._extended, seen))

    def arm(self, sight: Sight) -> int:
        """The arm to pull, every arm having been seen."""
        if not sight.regular:  # none of the states that have a place of their own
            return self._best(sight)
        last, offset = sight.last, self.moves.offset
        place = self.moves.block.item(last)
        for arm in range(self.n_arms):  # one by one: an array costs more than it saves
            place += offset.item(last, self.color(sight, arm))
        if self._known[place] == NEVER:
            self._known[place] = self._best(sight)
        return self._known.item(place)

    def choose(self, sight: Sight) -> int:
        return self.arm(sight) if sight.complete else super().choose(sight)

    def play(self, sight: Sight, path: Ints, pulls: Ints, begin: int, end: int) -> None:
        while begin < end and not sight.regular:
            super().play(sight, path, pulls, begin, begin + 1)
            begin += 1
        if begin == end:
            return
        path = np.ascontiguousarray(path[:, begin:end])
        shape = (self.rep.n_colors, self.rep.max_support)
        visits, outcomes = (np.zeros(size, dtype=np.int64) for size in (shape[:1], shape))
        names = np.tile(np.arange(self.rep.max_support), (self.n_arms, 1))
        self.follow(sight, Uncounted(visits, outcomes, np.zeros(shape)),
                    np.full(len(visits), FOREVER), names, path, np.zeros(path.shape),
                    pulls[begin:end], 0, end - begin)  # fmt: skip

    def walk(
        self, sight: Sight, left: Ints, names: Ints, path: Ints, pulls: Ints, begin: int, end: int
    ) -> tuple[int, int]:
        """Pulls along a path until an arm has none left, for callers that count for themselves.

        left: (K,) pulls left to each arm, counted down. ``sight``, which must be regular, stays
        where it is. Returns where and why it stopped.
        """
        from restive._kernels import play

        step, why = play.walk(
            self.values, self.moves, self.laws, self._extended, self._known, self._colors(sight),
            left, names, path, pulls, begin, end, sight.last,
        )  # fmt: skip
        return int(step), int(why)

    def follow(
        self, sight: Sight, counts: Counts | Uncounted, limits: Ints, names: Ints, path: Ints,
        rewards: Floats, pulls: Ints, begin: int, end: int,
    ) -> tuple[int, int]:  # fmt: skip
        """Play along a path from ``begin`` to at most ``end``; returns where and why it stopped.

        Counts, ``pulls`` and ``sight``, which must be regular, are brought up to date.
        """
        from restive._kernels import play

        seen, pulled = self._colors(sight), np.full(self.n_arms, NEVER)
        step, last, why = begin, sight.last, play.FULL
        graph = self._graph_of(names)
        while why == play.FULL:
            step, last, why = play.episode(
                self.values, self.moves, self.laws, self._extended, self._known, graph, limits,
                counts.visits, counts.outcomes, counts.rewards, counts.squares, names, path,
                rewards, pulls, step, end, last, seen, pulled,
            )  # fmt: skip
            if why == play.FULL:
                graph = self._graph = _grown(graph)
        sight.advance(pulled, path, begin, int(step), names)
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


def plan_policy(plan: Plan) -> GreedyPolicy:
    """The optimal policy that a plan found."""
    rep = plan.representation
    return GreedyPolicy(rep, plan.values, bandit_parameters(plan.bandit, rep))
