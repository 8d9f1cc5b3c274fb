"""The part of an episodic learner that counts what it sees under true ages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require_arms
from restive.base.errors import refuse
from restive.learners.episodes import EpisodicLearner
from restive.learners.index_planning import ChoosingPlanner, IndexPlanner
from restive.learners.paper.rules import Evidence
from restive.learners.records import arrays_of, record_from
from restive.learners.replanning import ValuePlanner
from restive.learners.storage import SavedArrays, SavedState, Snapshot
from restive.learners.tied.belief import Belief, PosteriorDraw
from restive.learners.tied.gaps import DENSE, PLACES, Gaps
from restive.learners.tied.plan_size import sweeps_allowed
from restive.mdp.representation import Representation
from restive.model.validation import check_pulls
from restive.policies.greedy import GreedyPolicy
from restive.policies.policy import most_preferred
from restive.policies.sight import NEVER

if TYPE_CHECKING:
    from restive.estimation.chain import ChainEstimate

SELDOM = 0.5  # share of the steps that show something below which plans reckon with that


class GapLearner(EpisodicLearner):
    """Base: counts N(s, n, s') of every arm; its policies have ``walk`` and ``preferences``.

    An episode may last until an arm has been pulled as often in it as ever before. pulls: arms that
    are pulled at each step; with several, plans must be index policies.
    """

    counts: Gaps
    rule: PosteriorDraw

    def __init__(
        self, n_arms: int, sizes: tuple[int, ...] | None, rng: int | np.random.Generator,
        pulls: int,
    ) -> None:  # fmt: skip
        require_arms(n_arms)
        refuse(check_pulls(pulls, n_arms))
        super().__init__(n_arms, sizes, rng)
        self.pulls = pulls
        self.counts = Gaps.none(n_arms)
        self._make_room()

    @property
    def t(self) -> int:
        return self.sight.steps + 1

    def estimates(self, level: float = 0.95) -> tuple[ChainEstimate | None, ...]:
        """The likeliest chain of each arm given all that was seen, as ``restive.fit`` finds it.

        None for an arm that was not seen twice, or in one state only.
        """
        from restive.estimation.chain import estimate_chain
        from restive.estimation.gap_counts import GapCounts

        fits = []
        for arm, size in enumerate(self.labels.sizes):
            counts = GapCounts.of_table(self.counts.gaps[arm, :size, :, :size], PLACES)
            known = counts.total > 0 and size > 1
            fits.append(estimate_chain(counts, level=level) if known else None)
        return tuple(fits)

    def _share(self) -> float:
        """Pulls that show something, of all that there could be; 1 unless most are missed."""
        share = (self.samples + self.n_arms) / (self.pulls * max(1, self.sight.steps))
        return share if share < SELDOM else 1.0

    def _color(self, arm: int) -> int:
        """All ages of an arm inform each other: an episode ends when its pulls have doubled."""
        return arm

    def _count(self, arm: int, state: int, reward: float) -> None:
        self.samples += self.sight.states[arm] != NEVER
        self.counts.add(self.sight, arm, state, reward)

    def _make_room(self) -> None:
        sizes = self.labels.sizes
        self.structure = Representation(sizes, DENSE)
        self.supports = np.array(sizes)
        self.counts = self.counts.with_room(max(sizes))

    def _over(self) -> bool:
        if self.pulls == 1:
            return super()._over()
        wishes = self.policy.preferences(self.sight)
        upcoming = list(most_preferred(wishes, self.pulls))
        spent = self.counts.visits[upcoming] >= self.limits[upcoming]
        return self.t >= self.until or bool(spent.any())

    def _follow(
        self, names: Ints, path: Ints, rewards: Floats, pulls: Ints, begin: int, end: int
    ) -> tuple[int, int]:
        left = self.limits - self.counts.visits
        step, why = self.policy.walk(self.sight, left, names, path, pulls, begin, end)
        self.counts.add_pulls(self.sight, names, path, rewards, pulls, begin, step)
        return step, why

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        return state, {**arrays, **arrays_of(self.rule.belief)}

    def restore(self, state: SavedState, arrays: SavedArrays) -> None:
        super().restore(state, arrays)
        self.rule.belief = record_from(Belief, arrays)


def planner_for(
    rule: PosteriorDraw, small: Callable[[Evidence, Belief], bool] | None = None,
    share: Callable[[], float] = lambda: 1.0,
) -> ChoosingPlanner:  # fmt: skip
    """Plans for one chain an arm: exact ones where they are small, else by Whittle's index."""
    exact = ValuePlanner(GreedyPolicy, rule.lay_out, sweeps_allowed, False)
    index = IndexPlanner(rule.settings.aggregation, rule.oldest, share=share)
    return ChoosingPlanner(exact, index, small or rule.small)
