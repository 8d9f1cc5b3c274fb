"""Posterior sampling with all ages of an arm tied to one matrix; told nothing of the bandit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.errors import Fault, ProblemError
from restive.base.options import Parameter
from restive.learners.contract import require_arms
from restive.learners.declaration import declare
from restive.learners.index_planning import ChoosingPlanner, IndexPlanner
from restive.learners.paper.rules import Evidence
from restive.learners.records import arrays_of, record_from
from restive.learners.replanning import ValuePlanner
from restive.learners.storage import Snapshot, plain_label
from restive.learners.tied.belief import Belief, PosteriorDraw, TiedSettings
from restive.learners.tied.gap_learner import GapLearner
from restive.learners.tied.plan_size import FEW_ARMS, require_plannable, sweeps_allowed
from restive.learners.tied.posterior import ChainPosterior, RewardPosterior
from restive.model.validation import check_pulls
from restive.policies.greedy import GreedyPolicy

__all__ = ["TiedSampling", "TiedSettings"]

Floats = NDArray[np.float64]


@declare(
    "tied-sampling",
    "posterior sampling with all ages of an arm tied to one matrix; told nothing",
    guarantee="none proven; Bayesian: each episode's model is a draw, or a mean of a few, from the "
    "posterior, which is exact for Dirichlet rows and normal rewards",
    assumes="irreducible chains, rewards in [0, 1]",
    told="the number of arms",
    options=(
        Parameter("growth", "float", ..., "longest episode, as a share of all steps before", 0),
        Parameter("aggregation", "float", ..., "L1 distance at which ages are no longer told apart",
                  0, 2, above=True),
    ),
    several_pulls=True,
    refuse=lambda bandit: require_plannable(bandit.n_states),  # now, not once it has seen them all
)  # fmt: skip
class TiedSampling(GapLearner):
    """Thompson sampling on the information states, with P_j^n for every age n of arm j.

    Each episode draws a matrix and mean rewards for every arm from the posterior given all
    observations at all ages (``ChainPosterior``, ``RewardPosterior``), plans with them and follows
    the plan. Of an arm that is better known it takes the mean of a few draws, which explores less.
    An episode ends after a share of all steps before it, when an arm has been pulled as often in
    it as ever before, and when a new state shows up. The first are one step long, so that a bad
    start is soon made up for; an arm that was hardly pulled and never moved is looked at again now
    and then. Nothing is known beforehand: states are found, with one more state of unknown reward
    reckoned with as long as an arm is little known; how far ages are told apart and on which loop
    they run (periodic arms) follows from the drawn matrices.

    Plans are exact as long as their information states are no more than 20,000 and 200 for each
    step that the episode may last (from six arms on: 600,000 bytes and 3,000 a step) with ages told
    apart up to ``aggregation``, at most 256. Otherwise, and with several pulls a step, every arm
    gets its Whittle index, at ages as old as may occur. The budget is one of size: the same seed
    gives the same play. Only arms of more than 30 states, for which indices would take too long,
    are planned for exactly with fewer ages.

    >>> learner = TiedSampling(2, rng=0)
    >>> learner.tell(learner.ask(), "busy", 0.0)
    >>> learner.ask()
    1
    """

    rule: PosteriorDraw
    planner: ChoosingPlanner

    def __init__(
        self, n_arms: int, rng: int | np.random.Generator = 0,
        settings: TiedSettings | None = None, pulls: int = 1,
    ) -> None:  # fmt: skip
        require_arms(n_arms)
        if faults := check_pulls(pulls, n_arms):
            raise ProblemError(faults)
        super().__init__(n_arms, None, rng, pulls)
        self.most_pulls = n_arms if pulls > 1 else 1
        self.options = settings or TiedSettings()
        self.rule = PosteriorDraw(n_arms, self.options)
        exact = ValuePlanner(GreedyPolicy, self.rule.lay_out, sweeps_allowed, False)
        index = IndexPlanner(self.options.aggregation, self.rule.oldest)
        self.planner = ChoosingPlanner(exact, index, self._small)

    @classmethod
    def from_problem(
        cls, n_arms: int, pulls: int = 1, rng: int | np.random.Generator = 0,
        growth: float = TiedSettings.growth, aggregation: float = TiedSettings.aggregation,
    ) -> TiedSampling:  # fmt: skip
        return cls(n_arms, rng, TiedSettings(growth=growth, aggregation=aggregation), pulls)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> TiedSampling:
        rest = {key: part for key, part in settings.items() if key not in ("n_arms", "pulls")}
        rest["chains"] = ChainPosterior(**rest["chains"])
        rest["rewards"] = RewardPosterior(**rest["rewards"])
        return cls(settings["n_arms"], settings=TiedSettings(**rest), pulls=settings["pulls"])

    @property
    def settings(self) -> dict[str, Any]:
        return {"n_arms": self.n_arms, "pulls": self.pulls, **asdict(self.options)}

    @property
    def chains(self) -> tuple[Floats, ...]:
        """The matrices that the current plan was made with."""
        return self.rule.belief.chains

    def _small(self, evidence: Evidence, belief: Belief) -> bool:
        """An exact plan is one of a single pull a step."""
        return self.pulls == 1 and self.rule.small(evidence, belief)

    def _admit(self, arm: int, state: Hashable) -> None:
        """Refuse one more state of an arm if plans would get too large, or no state ever returns.

        Nothing can be learned of states that are all seen once, as measured numbers are.
        """
        sizes = list(self.labels.sizes)
        if plain_label(state) in self.labels.numbers[arm]:
            return
        sizes[arm] = len(self.labels.numbers[arm]) + 1
        require_plannable(sizes)
        seen = self.counts.paid[arm, : sizes[arm] - 1, 0]
        if len(seen) >= self.options.one_time_states and (seen == 1).mean() >= 0.9:
            words = f"{len(seen)} states, {int((seen == 1).sum())} of them seen just once"
            remedy = "Put measured numbers into a few bins, and give the bin as the state."
            raise ProblemError(
                [Fault("state", f"arm {arm} hardly ever returns to a state", words, remedy)]
            )

    def preferences(self) -> Floats:
        if not self.sight.complete or not self.planner.by_index:
            return super().preferences()
        wishes: Floats = self.policy.preferences(self.sight)
        detour = self._detour()
        if detour is not None:
            wishes[detour] = np.inf
        return wishes

    def _begin(self) -> None:
        super()._begin()
        if self._detour() is not None:  # then comes a plan that knows what the look has shown
            self.until = self.began + 1

    def _detour(self) -> int | None:
        rest, arm = self._next_look()
        return arm if self.running and rest <= 0 else None

    def _steps_left(self) -> int:
        return min(self._next_look()[0], super()._steps_left())

    def _next_look(self) -> tuple[int, int]:
        """Steps until an arm that never moved is looked at again whatever the plan says; which one.

        Draws alone may leave it aside for thousands of steps after a few bad looks.
        """
        due = (self.until - self.began + 1, -1)
        patience = self.options.look_again * max(1.0, self.n_arms / FEW_ARMS)  # there is one pull
        for arm, (size, chain) in enumerate(zip(self.labels.sizes, self.chains, strict=True)):
            if size == 1 and len(chain) == 2:  # never moved, and hardly pulled as it began
                wait = int(patience * self.counts.paid[arm, 0, 0])
                due = min(due, (wait - self.sight.age(arm), arm))
        return due

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        return state, {**arrays, **arrays_of(self.rule.belief)}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(state, arrays)
        self._make_room()
        self.rule.belief = record_from(Belief, arrays)
