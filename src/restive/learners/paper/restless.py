"""The restless bandits algorithm (Algorithm 2), and its extensions to what is not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from restive.base.errors import TooLargeError
from restive.learners.episodes import EpisodicLearner
from restive.learners.paper.inputs import Exploration, Inputs
from restive.learners.paper.rules import Counts, Optimism, Rule, carry_over, n_outcomes
from restive.learners.replanning import ValuePlanner
from restive.learners.storage import Snapshot
from restive.mdp.representation import Representation
from restive.planning.exact import memory_allowed
from restive.policies.greedy import GreedyPolicy

__all__ = ["COLORED_UCRL2", "KEEPING", "Method", "RestlessLearner"]


@dataclass(frozen=True)
class Method:
    """A learner's rule and the words that go with it."""

    name: str
    guarantee: str
    rule: Callable[[float, float], Rule]  # (delta, epsilon) of a round -> rule
    deviation: str = ""


COLORED_UCRL2 = Method(
    "colored-ucrl2",
    "With probability 1 - delta the regret against rho* after T steps is of order "
    "sqrt(T) log^2(T) (Theorem 2), for irreducible chains.",
    Optimism,
)
KEEPING = Method(
    "colored-ucrl2-keeping",
    "The confidence sets hold with probability 1 - delta, as in Theorem 2; the regret bound of the "
    "rounds is not proven for it.",
    Optimism,
    "Deviation: samples are carried over from round to round instead of being forgotten, except "
    "those of ages that the new round tells apart and the old one did not.",
)


class RestlessLearner(EpisodicLearner):
    """Learns a restless bandit, episode by episode, from the inputs it has (``Inputs``).

    First every arm is pulled once. Then each episode plans on the information states with a model
    made of the counts per color, and follows it until the visits of some color have doubled. Time
    t in the radii counts samples: pulls of arms seen before, from 1 in every round.

    A state seen for the first time in mid-episode ends it: the state joins, its arm's counts are
    kept, and exploration begins. On a restart known states and what was last seen are kept.

    >>> learner = RestlessLearner(Inputs(2, horizon=1000, mixing_times=(7, 7), sizes=(2, 2),
    ...                                  periods=(1, 1)))
    >>> learner.tell(learner.ask(), 0, 0.0)
    >>> learner.ask()
    1
    """

    structure: Representation

    def __init__(
        self, inputs: Inputs, method: Method = COLORED_UCRL2, rng: int | np.random.Generator = 0
    ) -> None:
        self.name, self.guarantee, self.deviation = method.name, method.guarantee, method.deviation
        super().__init__(inputs.n_arms, inputs.sizes, rng)
        self.inputs, self.method = inputs, method
        self.exploration = Exploration(inputs.n_arms)
        self.planner = ValuePlanner(GreedyPolicy)
        self.round_start = 0  # samples before the current round
        self.round = inputs.round(1)
        self._restructure(keep=False)

    @property
    def settings(self) -> dict[str, Any]:
        return self.inputs.to_dict()

    @property
    def representation(self) -> Representation:
        """The information states planned on in the current round."""
        return self.structure

    @property
    def t(self) -> int:
        """Time of the next sample, as it enters the radii."""
        forgotten = 0 if self.inputs.keep_samples else self.round_start
        return self.samples - forgotten + 1

    @property
    def mode(self) -> Literal["start", "explore", "episode"]:
        if not self.sight.complete:
            return "start"
        return "episode" if self.running else "explore"

    def _color(self, arm: int) -> int:
        """c = (arm, state last seen, stored age): "Coloring the T-step representation"."""
        return self.structure.color(arm, self.sight.states[arm], self.sight.age(arm))

    def _restructure(self, keep: bool) -> None:
        """The eps-structured MDP of Algorithm 2 for the round's eps and the states known now."""
        sizes = self.labels.sizes
        rep = Representation(sizes, self.round.caps, self.inputs.lassos(sizes))
        _refuse_if_too_large(rep)
        self.rule = self.method.rule(self.round.delta, self.round.epsilon)
        none = Counts.none(rep, self.rule.squares)
        self.counts = carry_over(self.counts, self.structure, rep) if keep else none
        self.structure, self.supports = rep, n_outcomes(rep)
        self.planner.forget()
        self.began = 0

    def _renew(self) -> bool:
        """T or Tmix unknown: round i + 1 follows round i after its 2^i samples (Theorem 2)."""
        if self.round.steps is None or self.samples - self.round_start < self.round.steps:
            return False
        self.round_start = self.samples
        self.round = self.inputs.round(self.round.number + 1)
        self._restructure(keep=self.inputs.keep_samples)
        return True

    def _steps_left(self) -> int:
        left = super()._steps_left()
        if self.round.steps is None:
            return left
        return min(left, self.round_start + self.round.steps - self.samples)

    def _make_room(self) -> None:
        self._restructure(keep=True)

    def _detour(self) -> int | None:
        """Unknown state space: sample each arm until all its known states have been sampled."""
        if self.running or self.inputs.sizes is not None:
            return None
        return self.exploration.next_arm(self.labels.sizes)

    def _count(self, arm: int, state: int, reward: float) -> None:
        super()._count(arm, state, reward)
        if not self.running:
            self.exploration.note(arm, state)

    def _end(self) -> None:
        super()._end()
        self.exploration.clear()

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        explored = [sorted(seen) for seen in self.exploration.seen]
        own = {"round": self.round.number, "round_start": self.round_start, "explored": explored}
        return {**state, **own}, arrays

    def _restore_round(self, state: Mapping[str, Any]) -> None:
        self.round, self.round_start = self.inputs.round(state["round"]), state["round_start"]
        self.exploration.seen = [set(seen) for seen in state["explored"]]
        self._restructure(keep=False)


def _refuse_if_too_large(rep: Representation) -> None:
    allowed, needed = memory_allowed(None), _bytes_needed(rep)
    if needed > allowed:
        raise TooLargeError(
            f"planning on {rep.n_states:.3g} information states and {rep.n_colors:.3g} colors "
            f"(caps {rep.caps}) would take {needed / 2**30:.3g} GiB of the "
            f"{allowed / 2**30:.3g} GiB allowed; learn with a shorter horizon, smaller mixing "
            "times or fewer arms"
        )


def _bytes_needed(rep: Representation) -> int:
    """At the peak: values and slices twice, and per color the plan's tables, counts and model."""
    return 2 * rep.n_bytes + 8 * rep.n_colors * (9 * rep.max_support + 20)
