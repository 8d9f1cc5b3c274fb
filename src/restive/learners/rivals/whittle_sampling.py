"""Posterior sampling with Whittle's index: learning whose cost grows with the number of arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.checks import require
from restive.base.errors import ProblemError
from restive.learners.contract import require_arms
from restive.learners.declaration import declare
from restive.learners.index_planning import IndexPlanner
from restive.learners.paper.rules import Evidence, Rule
from restive.learners.records import arrays_of, record_from
from restive.learners.storage import Snapshot
from restive.learners.tied.belief import Belief
from restive.learners.tied.gap_learner import GapLearner
from restive.learners.tied.gaps import Gaps
from restive.learners.tied.posterior import ChainPosterior
from restive.model.validation import check_pulls

__all__ = ["IndexDraw", "WhittleSampling"]

Floats = NDArray[np.float64]

AGGREGATION = 0.02  # L1 distance at which ages are told apart no longer
PRIOR = 1.0  # Dirichlet and Beta weight of each outcome: uniform laws


class IndexDraw(Rule):
    """A draw of every arm from its posterior, in TSDE's episodes: each at most one step longer."""

    def __init__(self, sizes: Sequence[int]) -> None:
        chains = tuple(np.full((size, size), 1.0 / size) for size in sizes)
        self.belief = Belief(chains, chains, tuple(np.full(size, 0.5) for size in sizes))

    def parameters(self, evidence: Evidence, rng: np.random.Generator) -> Belief:
        seen: Gaps = evidence.counts
        chains, means = [], []
        for arm, last in enumerate(self.belief.drawn):
            size = len(last)
            posterior = ChainPosterior(mass=PRIOR * size)
            counts = np.ascontiguousarray(seen.gaps[arm, :size, :, :size])
            chains.append(posterior.draw(last, counts, rng))
            count, paid, _ = seen.paid[arm, :size].T
            means.append(rng.beta(PRIOR + paid, PRIOR + np.maximum(0.0, count - paid)))
        self.belief = Belief(tuple(chains), tuple(chains), tuple(means))
        return self.belief

    def longest(self, evidence: Evidence, previous: int) -> int:
        return previous + 1


@declare(
    "whittle-sampling",
    "posterior sampling with Whittle's index in growing episodes (RB-TSDE); for many arms",
    guarantee="Bayesian regret against Whittle's policy of order sqrt(T) log T, shown where all "
    "arms are seen at every step and rewards are known",
    assumes="irreducible aperiodic chains, rewards in [0, 1]; meant for indexable arms",
    told="the number of states of each arm; the paper also takes the rewards as known",
    deviation="only the arms pulled are seen, so an arm's state is (last state, age) and unseen "
    "states are imputed in the posterior; rewards are learned; an episode ends when the pulls of "
    "an arm have doubled, not those in a state",
    cites=(
        "Akbarzadeh, Mahajan: On learning Whittle index policy for restless bandits with scalable "
        "regret (2022)",
        "Jung, Tewari: Regret bounds for Thompson sampling in episodic restless bandit problems, "
        "NeurIPS 2019",
    ),
    several_pulls=True,
)
class WhittleSampling(GapLearner):
    """RB-TSDE: each arm's chain and rewards are drawn, and the largest Whittle indices pulled.

    Rows have Dirichlet(1, ..., 1) priors, mean rewards Beta(1, 1) ones that a reward x in [0, 1]
    moves by (x, 1 - x); nothing is tuned.
    """

    rule: IndexDraw

    def __init__(
        self, sizes: Sequence[int], pulls: int = 1, rng: int | np.random.Generator = 0
    ) -> None:
        self.sizes = tuple(int(size) for size in sizes)
        require_arms(len(self.sizes))
        require(min(self.sizes) >= 1, "sizes", self.sizes, "An arm has at least one state.")
        if faults := check_pulls(pulls, len(self.sizes)):
            raise ProblemError(faults)
        super().__init__(len(self.sizes), self.sizes, rng, pulls)
        self.most_pulls = self.n_arms
        self.rule = IndexDraw(self.sizes)
        self.planner = IndexPlanner(AGGREGATION, lambda evidence: 8 * evidence.t)

    def preferences(self) -> Floats:
        if not self.sight.complete:
            return super().preferences()
        wishes: Floats = self.policy.preferences(self.sight)
        return wishes

    def snapshot(self) -> Snapshot:
        state, arrays = super().snapshot()
        return state, {**arrays, **arrays_of(self.rule.belief)}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(state, arrays)
        self.rule.belief = record_from(Belief, arrays)
