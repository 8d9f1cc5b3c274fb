"""The part of an episodic learner that counts what it sees under true ages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.learners.episodes import EpisodicLearner
from restive.learners.tied.gaps import DENSE, PLACES, Gaps
from restive.mdp.representation import Representation
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

    def __init__(
        self, n_arms: int, sizes: tuple[int, ...] | None, rng: int | np.random.Generator,
        pulls: int,
    ) -> None:  # fmt: skip
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
