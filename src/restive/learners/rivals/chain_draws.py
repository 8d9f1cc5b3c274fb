"""What rivals share that draw whole chains: one posterior an arm, whose ages are its powers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.checks import require
from restive.base.options import Parameter
from restive.learners.paper.rules import Evidence
from restive.learners.tied.belief import Belief, PosteriorDraw
from restive.learners.tied.gap_learner import GapLearner
from restive.learners.tied.gaps import Gaps
from restive.learners.tied.posterior import ChainPosterior
from restive.learners.tied.settings import TiedSettings

PRIOR = Parameter("prior", "float", ..., "Dirichlet and Beta weight of each outcome", 0, above=True)


class ChainDraw(PosteriorDraw):
    """A draw of every arm from its posterior, in TSDE's episodes: each at most one step longer.

    Rows have Dirichlet(prior, ..., prior) priors, mean rewards Beta(prior, prior) ones that a
    reward x in [0, 1] moves by (x, 1 - x).
    """

    def __init__(self, sizes: Sequence[int], prior: float = 1.0) -> None:
        super().__init__(len(sizes), TiedSettings(hope=None))
        self.prior = prior
        self.belief = Belief.blank(sizes)

    def parameters(self, evidence: Evidence, rng: np.random.Generator) -> Belief:
        seen: Gaps = evidence.counts
        chains, means = [], []
        for arm, last in enumerate(self.belief.drawn):
            size = len(last)
            posterior = ChainPosterior(mass=self.prior * size)
            counts = np.ascontiguousarray(seen.gaps[arm, :size, :, :size])
            chains.append(posterior.draw(last, counts, rng))
            count, paid, _ = seen.paid[arm, :size].T
            lost = np.maximum(0.0, count - paid)
            means.append(rng.beta(self.prior + paid, self.prior + lost))
        self.belief = Belief(tuple(chains), tuple(chains), tuple(means))
        return self.belief

    def longest(self, evidence: Evidence, previous: int) -> int:
        return previous + 1


class SizedLearner(GapLearner):
    """Base: a learner that is told the sizes of the arms and believes in one chain for each."""

    def __init__(
        self, sizes: Sequence[int], rng: int | np.random.Generator = 0, pulls: int = 1
    ) -> None:
        self.sizes = tuple(int(size) for size in sizes)
        remedy = "An arm has at least one state."
        require(min(self.sizes, default=1) >= 1, "sizes", self.sizes, remedy)
        super().__init__(len(self.sizes), self.sizes, rng, pulls)
