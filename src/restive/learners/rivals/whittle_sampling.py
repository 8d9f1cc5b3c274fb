"""Posterior sampling with Whittle's index: learning whose cost grows with the number of arms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.arrays import Floats
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.index_planning import IndexPlanner
from restive.learners.rivals.chain_draws import PRIOR, ChainDraw, SizedLearner


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
        "akbarzadeh2022",
        "jung2019-episodic",
    ),
    options=(PRIOR,),
    practice=Practice({"prior": 0.35}, "the prior weight of an outcome is tuned, not 1"),
    several_pulls=True,
)
class WhittleSampling(SizedLearner):
    """RB-TSDE: each arm's chain and rewards are drawn, and the largest Whittle indices pulled.

    Rows have Dirichlet(1, ..., 1) priors, mean rewards Beta(1, 1) ones that a reward x in [0, 1]
    moves by (x, 1 - x).
    """

    def __init__(
        self, sizes: Sequence[int], pulls: int = 1, rng: int | np.random.Generator = 0,
        prior: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(sizes, rng, pulls)
        self.prior = float(prior)
        self.rule = ChainDraw(self.sizes, self.prior)
        error = self.rule.settings.aggregation
        self.planner = IndexPlanner(error, lambda evidence: 8 * evidence.t)

    def preferences(self) -> Floats:
        if not self.sight.complete:
            return super().preferences()
        wishes: Floats = self.policy.preferences(self.sight)
        return wishes
