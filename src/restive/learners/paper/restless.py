"""The restless bandits algorithm (Algorithm 2), and its extensions to what is not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np

from restive.base.errors import TooLargeError
from restive.base.machine import memory_allowed
from restive.base.words import size_text
from restive.learners.declaration import declare
from restive.learners.episodes import EpisodicLearner
from restive.learners.paper.inputs import (
    DEPARTURES,
    MIXING_TIMES,
    BuiltFromInputs,
    Inputs,
    unknown_options,
)
from restive.learners.paper.rules import Counts, Optimism, Rule, carry_over, n_outcomes
from restive.learners.replanning import ValuePlanner
from restive.learners.storage import Snapshot
from restive.mdp.representation import Representation
from restive.model.bandit import Bandit
from restive.policies.greedy import GreedyPolicy

RuleMaker = Callable[[float, float], Rule]  # (delta, epsilon) of a round -> rule

PAPER = "ortner2012"
ARMS = "irreducible chains, rewards in [0, 1]"
TOLD = "horizon, state spaces, mixing times and periods"


@declare(
    "colored-ucrl2",
    "the restless bandits algorithm (Algorithm 2), constants as published",
    guarantee="with probability 1 - delta regret against rho* of order sqrt(T) log^2(T/delta) for "
    "aperiodic chains (Theorem 2), with larger factors for periodic ones (Remark 5)",
    assumes=ARMS,
    told=f"{TOLD}, unless an option says that one is unknown",
    deviation=DEPARTURES,
    cites=(PAPER,),
    options=(*unknown_options(False), MIXING_TIMES),
)
class RestlessLearner(BuiltFromInputs, EpisodicLearner):
    """Learns a restless bandit, episode by episode, from the inputs it has (``Inputs``).

    First every arm is pulled once. Then each episode plans on the information states with a model
    made of the counts per color, and follows it until the visits of some color have doubled. Time
    t in the radii counts samples: pulls of arms seen before, from 1 in every round.

    A state seen for the first time in mid-episode ends it: the state joins, its arm's counts are
    kept, and exploration begins. Where periods are unknown too, the loop of its arm may then have
    more ages: samples that cannot be told apart are dropped, the one that showed the state among
    them. On a restart known states and what was last seen are kept.

    >>> learner = RestlessLearner(Inputs(2, horizon=1000, mixing_times=(7, 7), sizes=(2, 2),
    ...                                  periods=(1, 1)))
    >>> learner.tell(learner.ask(), 0, 0.0)
    >>> learner.ask()
    1
    """

    structure: Representation
    keeps_samples: ClassVar[bool] = False  # from round to round, if built for a bandit

    planner: ValuePlanner

    def __init__(
        self, inputs: Inputs, rule: RuleMaker | None = None, rng: int | np.random.Generator = 0
    ) -> None:
        super().__init__(inputs.n_arms, inputs.sizes, rng)
        self.inputs, self.make_rule = inputs, rule or type(self).rule_for
        self.explored: list[set[int]] = [set() for _ in range(inputs.n_arms)]  # since an episode
        self.planner = ValuePlanner(GreedyPolicy)
        self.turned: set[int] = set()  # arms whose loop has changed with the state just seen
        self.round_start = 0  # samples before the current round
        self.round = inputs.round(1)
        self._restructure(keep=False)

    @staticmethod
    def rule_for(delta: float, epsilon: float) -> Rule:
        """How counts become a model in a round with these."""
        return Optimism(delta, epsilon)

    @classmethod
    def from_problem(
        cls, problem: Bandit | int, horizon: int | None = None, delta: float = 0.05,
        rng: int | np.random.Generator = 0, **options: Any,
    ) -> Self:  # fmt: skip
        own = {name: options.pop(name) for name in cls.numbers if name in options}
        inputs = Inputs.of(problem, horizon, delta, keep_samples=cls.keeps_samples, **options)
        return cls(inputs, rng=rng, **own)

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
        self.rule = self.make_rule(self.round.delta, self.round.epsilon)
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
        before = self.structure.periods
        self._restructure(keep=True)
        loops = enumerate(zip(before, self.structure.periods, strict=True))
        self.turned = {arm for arm, (old, new) in loops if old % new}

    def _detour(self) -> int | None:
        """Unknown state space: sample each arm until all its known states have been sampled."""
        if self.running or self.inputs.sizes is not None:
            return None
        sizes = enumerate(self.labels.sizes)
        return next((arm for arm, size in sizes if len(self.explored[arm]) < size), None)

    def _count(self, arm: int, state: int, reward: float) -> None:
        if arm in self.turned and self.sight.age(arm) >= self.structure.caps[arm]:
            self.samples += 1  # dropped as those before it: what is kept must not rest on outcomes
        else:
            super()._count(arm, state, reward)
        self.turned.discard(arm)
        if not self.running:
            self.explored[arm].add(state)

    def _end(self) -> None:
        super()._end()
        self.explored = [set() for _ in self.explored]

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        explored = [sorted(states) for states in self.explored]
        own = {"round": self.round.number, "round_start": self.round_start, "explored": explored}
        return {**state, **own}, arrays

    def _restore_round(self, state: Mapping[str, Any]) -> None:
        self.round, self.round_start = self.inputs.round(state["round"]), state["round_start"]
        self.explored = [set(states) for states in state["explored"]]
        self._restructure(keep=False)


@declare(
    "colored-ucrl2-unknown",
    "Algorithm 2 without being told horizon, mixing times, states and periods",
    guarantee="with probability 1 - delta regret against rho* of order sqrt(T) log^(7/2)(T/delta) "
    "for aperiodic chains (Theorem 2 and the extension to unknown states), with larger factors for "
    "periodic ones (Remark 5)",
    assumes=ARMS,
    told="the number of arms and delta, unless an option says that one more is known",
    deviation=DEPARTURES,
    cites=(PAPER,),
    options=(*unknown_options(True), MIXING_TIMES),
)
class UnknownLearner(RestlessLearner):
    """Algorithm 2 in rounds of doubling length; see ``Inputs`` for what each one guesses."""


@declare(
    "colored-ucrl2-keeping",
    "the same, but samples are kept from round to round",
    guarantee="confidence sets that hold with probability 1 - delta, as in Theorem 2; no regret "
    "bound is proven",
    assumes=ARMS,
    told="the number of arms and delta, unless an option says that one more is known",
    deviation="samples are not forgotten at the beginning of a round, except those of ages that "
    f"the new round tells apart and the old one did not; {DEPARTURES}",
    cites=(PAPER,),
    options=(*unknown_options(True), MIXING_TIMES),
)
class KeepingLearner(RestlessLearner):
    """As ``UnknownLearner``, without forgetting."""

    keeps_samples = True


def _refuse_if_too_large(rep: Representation) -> None:
    allowed, needed = memory_allowed(None), _bytes_needed(rep)
    if needed > allowed:
        raise TooLargeError(
            f"planning on {rep.n_states:.3g} information states and {rep.n_colors:.3g} colors "
            f"(caps {rep.caps}) would take {size_text(needed)} of the "
            f"{size_text(allowed)} allowed; learn with a shorter horizon, smaller mixing "
            "times or fewer arms"
        )


def _bytes_needed(rep: Representation) -> int:
    """At the peak: values and slices twice, and per color the plan's tables, counts and model."""
    return 2 * rep.n_bytes + 8 * rep.n_colors * (9 * rep.max_support + 20)
