"""UCRL2 (Jaksch, Ortner, Auer 2010) on the information states, without colors (Remark 3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from restive.base.arrays import Ints
from restive.base.checks import require
from restive.base.errors import TooLargeError
from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.episodes import EpisodicLearner
from restive.learners.forms import Practice
from restive.learners.paper.inputs import MIXING_TIMES, BuiltFromInputs, Inputs
from restive.learners.paper.restless import ARMS, TOLD
from restive.learners.paper.rules import Counts
from restive.learners.replanning import ValuePlanner
from restive.learners.rivals.narrow_ucrl2 import NARROW, TUNED, WIDTH, NarrowOptimism
from restive.mdp.representation import Representation
from restive.mdp.structured import StructuredMDP
from restive.model.bandit import Bandit
from restive.policies.greedy import PairPolicy
from restive.policies.sight import NEVER, Sight


@declare(
    "ucrl2",
    "UCRL2 on the information states, without colors",
    guarantee="with probability 1 - delta regret against rho* of order D S sqrt(A T), S the number "
    "of information states",
    assumes=ARMS,
    told=TOLD,
    deviation="it is told which information states a pull can lead to, so that B is the largest "
    "state space of an arm, which only helps it; radii are widened by eps for capped ages",
    cites=("jaksch2010",),
    options=(
        MIXING_TIMES,
        Parameter("max_pairs", "int", ..., "most pairs of information state and arm", 1),
        WIDTH,
    ),
    practice=Practice({"width": TUNED}, f"{NARROW}, that of colored-ucrl2-tuned"),
)
class UCRL2(BuiltFromInputs, EpisodicLearner):
    """UCRL2 on the representation of Algorithm 2: every (information state, arm) learned by itself.

    Needs the same inputs as Algorithm 2: horizon, mixing times, state spaces and periods, from
    which come eps = 1/sqrt(T) and the caps. Confidence sets are those of eqs (2) and (3) with one
    color a pair (Remark 3), so it differs from Algorithm 2 in nothing but the colors. The sets are
    vacuous for long: every law is open to a pair of fewer than about 14 B log(4 C t / delta)
    visits, so that with a few hundred pairs regret may grow linearly well beyond T = 1e5.
    """

    structure: StructuredMDP
    numbers = "max_pairs", "width"

    def __init__(
        self, inputs: Inputs, rng: int | np.random.Generator = 0, max_pairs: int = 20_000,
        width: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(inputs.n_arms, inputs.sizes, rng)
        told = inputs.horizon, inputs.mixing_times, inputs.sizes, inputs.periods
        require(None not in told, "inputs", inputs, "Give horizon, mixing_times, sizes, periods.")
        assert inputs.sizes is not None
        self.inputs, self.max_pairs, self.width = inputs, max_pairs, float(width)
        only = inputs.round(1)
        self.rep = Representation(inputs.sizes, only.caps, inputs.lassos(inputs.sizes))
        pairs = self.rep.n_states * self.n_arms
        if pairs > max_pairs:
            raise TooLargeError(
                f"UCRL2 would have to learn {pairs} pairs of information state and arm one by one, "
                f"more than {max_pairs}; use colored-ucrl2, a shorter horizon, smaller mixing "
                "times, or raise max_pairs"
            )
        self.structure, self.supports, self._states = pair_structure(self.rep)
        self.rule = NarrowOptimism(only.delta, only.epsilon, width=self.width)
        self.counts = Counts.none(self.structure)
        self.planner = ValuePlanner(partial(PairPolicy, state=self._state))

    @classmethod
    def from_problem(
        cls, bandit: Bandit, horizon: int, delta: float = 0.05, rng: int | np.random.Generator = 0,
        mixing_times: int | Sequence[int] | None = None, max_pairs: int = 20_000,
        width: float = 1.0,
    ) -> UCRL2:  # fmt: skip
        inputs = Inputs.of(bandit, horizon, delta, mixing_times=mixing_times)
        return cls(inputs, rng, max_pairs, width)

    def _state(self, sight: Sight) -> int:
        """Number of the information state.

        In each of them one arm was just seen. After a missed step, or a step with several pulls,
        the one in which just the last arm was seen stands for what it is.
        """
        last = sight.last
        ages = [1 if j == last else max(2, sight.age(j)) for j in range(self.n_arms)]
        stored = np.array(self.rep.stored_ages(ages))
        return int(self._states[self.rep.place(np.array(last), np.array(sight.states), stored)])

    def _color(self, arm: int) -> int:
        return int(self.structure.colors[self._state(self.sight), arm])

    def _count(self, arm: int, state: int, reward: float) -> None:
        if self.sight.regular:  # or it is no pair of the MDP
            super()._count(arm, state, reward)


def pair_structure(rep: Representation) -> tuple[StructuredMDP, Ints, Ints]:
    """The information states as an MDP with one color a pair.

    Returns it, the number of outcomes of each color, and the number of the state at each place of
    the representation's values. Outcomes that a pull does not have lead where its first one does.
    """
    table = [  # (last, states, stored ages)
        (last, states, ages)
        for last in range(rep.n_arms)
        for states in product(*(range(size) for size in rep.sizes))
        for ages in product(*(part.tolist() for part in rep.block_ages(last)))
    ]
    count = len(table)
    lasts, states, ages = (np.array(column) for column in zip(*table, strict=True))
    number = np.full(int(rep.layout.block[-1]), NEVER, dtype=np.int64)
    number[rep.place(lasts, states, ages)] = np.arange(count)
    older = np.stack([[rep.stored_age(j, n + 1) for n in ages[:, j].tolist()]
                      for j in range(rep.n_arms)], axis=1)  # fmt: skip
    successors = np.empty((count, rep.n_arms, rep.max_support), dtype=np.int64)
    for arm, size in enumerate(rep.sizes):
        after, seen = older.copy(), states.copy()
        after[:, arm] = 1
        for outcome in range(rep.max_support):
            seen[:, arm] = outcome if outcome < size else 0
            places = rep.place(np.full(count, arm), seen, after)
            successors[:, arm, outcome] = number[places]
    colors = np.arange(count * rep.n_arms).reshape(count, rep.n_arms)
    return StructuredMDP(colors, successors), np.tile(rep.sizes, count), number
