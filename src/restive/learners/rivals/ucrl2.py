"""UCRL2 (Jaksch, Ortner, Auer 2010) on the information states, without colors (Remark 3)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.checks import require
from restive.base.errors import TooLargeError
from restive.learners.contract import Learner
from restive.learners.defaults import MAX_PAIRS
from restive.learners.episodes import Episodes
from restive.learners.paper.inputs import Inputs, Labels
from restive.learners.paper.rules import Optimism
from restive.learners.storage import Snapshot, generator_from, generator_state
from restive.mdp.representation import Representation
from restive.mdp.structured import StructuredMDP
from restive.model.bandit import Bandit
from restive.policies.greedy import NEVER, Sight

__all__ = ["UCRL2", "build", "pair_structure"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class UCRL2(Learner):
    """UCRL2 on the representation of Algorithm 2: every (information state, arm) learned by itself.

    Jaksch, Ortner, Auer 2010: "Near-optimal regret bounds for reinforcement learning". Regret:
    against rho*, of order D S sqrt(A T), S the number of information states. Needs the same inputs
    as Algorithm 2: horizon, mixing times, state spaces and periods, from which come eps = 1/sqrt(T)
    and the caps. Confidence sets are those of eqs (2) and (3) with one color a pair (Remark 3), so
    it differs from Algorithm 2 in nothing but the colors. The sets are vacuous for long:
    every law is open to a pair of fewer than about 14 B log(4 C t / delta) visits, so that with a
    few hundred pairs regret may grow linearly well beyond T = 1e5.

    Deviation: it is told which information states a pull can lead to, so that B is the largest
    state space of an arm and not the number of information states; this only helps it.
    Deviation: eps stays in the radii, since an aggregated state is none of an exact MDP.
    """

    name = "ucrl2"
    guarantee = (
        "With probability 1 - delta the regret against rho* is of order D S sqrt(A T), S the "
        "number of information states."
    )
    deviation = "Deviation: the possible successors of each pair are known."

    def __init__(
        self, inputs: Inputs, rng: int | np.random.Generator = 0, max_pairs: int = MAX_PAIRS
    ) -> None:
        given = inputs.horizon, inputs.mixing_times, inputs.sizes, inputs.periods
        require(None not in given, "inputs", inputs, "Give horizon, mixing_times, sizes, periods.")
        assert inputs.sizes is not None
        self.inputs, self.n_arms = inputs, inputs.n_arms
        only = inputs.round(1)
        self.rep = Representation(inputs.sizes, only.caps, inputs.lassos(inputs.sizes))
        pairs = self.rep.n_states * self.n_arms
        if pairs > max_pairs:
            raise TooLargeError(
                f"UCRL2 would have to learn {pairs} pairs of information state and arm one by one, "
                f"more than {max_pairs}; use colored-ucrl2, a shorter horizon, smaller mixing "
                "times, or raise max_pairs"
            )
        self.mdp, supports, self._places = pair_structure(self.rep)
        self.engine = Episodes(self.mdp, supports, Optimism(only.delta, only.epsilon))
        self.sight = Sight(self.n_arms)
        self.labels = Labels(self.n_arms, inputs.sizes)
        self.rng = np.random.default_rng(rng)
        self.place = NEVER  # number of the information state, once every arm was seen
        self.samples = 0
        self.policy = np.zeros(0, dtype=np.int64)
        self._starts: list[int] = []

    @property
    def settings(self) -> dict[str, Any]:
        return self.inputs.to_dict()

    @property
    def episodes(self) -> tuple[int, ...]:
        return tuple(self._starts)

    @property
    def planning_seconds(self) -> float:
        return self.engine.seconds

    def ask(self) -> int:
        if self.place == NEVER:
            return self.sight.states.index(NEVER)
        return int(self.policy[self.place])

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        arm, paid = self.check_arm(arm), self.check_reward(reward)
        number = self.labels.number(arm, state)
        if self.place == NEVER:
            self.sight.note(arm, number)
            if self.sight.complete:
                self.place = self._located()
                self._begin()
            return
        self.engine.counts.add(int(self.mdp.colors[self.place, arm]), number, paid)
        self.place = int(self.mdp.successors[self.place, arm, number])
        self.samples += 1
        self._settle()

    def play_path(self, states: Ints, rewards: Floats) -> Ints:
        from restive._kernels.rivals_policy import pair_path

        self.labels.table(states)
        pulls = np.empty(states.shape[1], dtype=np.int64)
        step, counts = 0, self.engine.counts
        while step < len(pulls):
            if self.place == NEVER:
                arm = pulls[step] = self.ask()
                self.tell(int(arm), int(states[arm, step]), float(rewards[arm, step]))
                step += 1
                continue
            after, place = pair_path(
                self.mdp.colors, self.mdp.successors, self.policy, self.engine.limits,
                counts.visits, counts.outcomes, counts.rewards, counts.squares, states, rewards,
                pulls, step, len(pulls), self.place,
            )  # fmt: skip
            self.samples += int(after) - step
            step, self.place = int(after), int(place)
            self._settle()
        return pulls

    def _located(self) -> int:
        ages = [self.sight.age(j) for j in range(self.n_arms)]
        return int(self._places[self.rep.positions(self.sight.states, ages)])

    def _settle(self) -> None:
        color = int(self.mdp.colors[self.place, self.policy[self.place]])
        if self.engine.over(color, self.samples + 1):
            self._begin()

    def _begin(self) -> None:
        self.engine.begin(self.samples + 1, self.rng)
        self._starts.append(self.sight.steps + self.samples + 1)
        self.policy = self._greedy()

    def _greedy(self) -> Ints:
        """The arm worth most in every information state, the first of several; shape (N,)."""
        from restive._kernels import arrays
        from restive.mdp.iteration import ArrayIteration

        assert self.engine.model is not None
        ready = ArrayIteration(self.mdp, self.engine.model, self.engine.values)
        return np.asarray(arrays.pair_values(ready.values, *ready.arguments).argmax(axis=1))

    def snapshot(self) -> Snapshot:
        engine, arrays = self.engine.snapshot()
        state = {
            "name": self.name,
            "settings": self.settings,
            "sight": self.sight.snapshot(),
            "place": self.place,
            "samples": self.samples,
            "rng": generator_state(self.rng),
            "engine": engine,
        }
        return state, arrays | {"starts": np.array(self._starts, dtype=np.int64)}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.check_origin(state)
        self.sight.restore(state["sight"])
        self.place, self.samples = int(state["place"]), int(state["samples"])
        self.rng = generator_from(state["rng"])
        self.engine.restore(state["engine"], arrays)
        self._starts = arrays["starts"].tolist()
        if self.place != NEVER:
            self.policy = self._greedy()


def pair_structure(rep: Representation) -> tuple[StructuredMDP, Ints, Ints]:
    """The information states as an MDP with one color a pair.

    Returns it, the number of outcomes of each color, and the number of the state at each place of
    the representation's values. Outcomes that a pull does not have lead where its first one does.
    """
    found = [  # (last, states, stored ages)
        (last, states, ages)
        for last in range(rep.n_arms)
        for states in product(*(range(size) for size in rep.sizes))
        for ages in product(*(part.tolist() for part in rep.block_ages(last)))
    ]
    lasts = np.array([last for last, _, _ in found])
    states, ages = np.array([x for _, x, _ in found]), np.array([x for _, _, x in found])
    number = np.full(int(rep.layout.block[-1]), NEVER, dtype=np.int64)
    number[rep.place(lasts, states, ages)] = np.arange(len(found))
    older = np.stack([[rep.stored_age(j, n + 1) for n in ages[:, j].tolist()]
                      for j in range(rep.n_arms)], axis=1)  # fmt: skip
    successors = np.empty((len(found), rep.n_arms, rep.max_support), dtype=np.int64)
    for arm, size in enumerate(rep.sizes):
        after, seen = older.copy(), states.copy()
        after[:, arm] = 1
        for outcome in range(rep.max_support):
            seen[:, arm] = outcome if outcome < size else 0
            places = rep.place(np.full(len(found), arm), seen, after)
            successors[:, arm, outcome] = number[places]
    colors = np.arange(len(found) * rep.n_arms).reshape(len(found), rep.n_arms)
    return StructuredMDP(colors, successors), np.tile(rep.sizes, len(found)), number


def build(
    bandit: Bandit, horizon: int | None, delta: float, rng: int | np.random.Generator,
    max_pairs: int = MAX_PAIRS, **options: Any,
) -> UCRL2:  # fmt: skip
    """Told what Algorithm 2 is told."""
    from restive.learners.builders import restless_inputs

    return UCRL2(restless_inputs(bandit, horizon, delta, **options), rng, max_pairs)
