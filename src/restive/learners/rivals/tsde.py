"""Thompson sampling with dynamic episodes for restless bandits: policies of drawn chains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from restive.base.arrays import Floats
from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.index_planning import Index, IndexPlanner
from restive.learners.rivals.chain_draws import PRIOR, ChainDraw, SizedLearner
from restive.learners.tied.gap_learner import planner_for
from restive.model.chains import stationary

Mapped = Literal["myopic", "best-arm"]

PAPERS = (
    "jung2019-episodic",
    "jung2019-nonepisodic",
)
OUYANG = "ouyang2017"
LEARNED = (
    "rewards are learned; draws come from a Markov chain over matrices that leaves the posterior "
    "unchanged, two sweeps an episode; an episode ends when the pulls of an arm have doubled, not "
    "those in a (state, age)"
)
TOLD = "the number of states of each arm; the papers also take the rewards as known"


def next_reward(chain: Floats, means: Floats, powers: Floats) -> Floats:
    """The expected reward of a pull now: (S, A) from the powers (A, S, S) of a chain."""
    return np.ascontiguousarray((powers @ means).T)


def long_run_reward(chain: Floats, means: Floats, powers: Floats) -> Floats:
    """What always pulling the arm pays a step, whatever was seen of it; (S, A)."""
    return np.full((len(chain), len(powers)), float(stationary(chain) @ means))


INDICES: dict[Mapped, Index] = {"myopic": next_reward, "best-arm": long_run_reward}


@declare(
    "tsde",
    "posterior sampling in growing episodes, one posterior a chain (TSDE)",
    guarantee="Bayesian regret against rho* of order sqrt(T) log T, for models drawn from the "
    "prior with known rewards",
    assumes="irreducible aperiodic chains, rewards in [0, 1]",
    told=TOLD,
    deviation=f"{LEARNED}; the drawn model is planned for exactly up to 20,000 information states, "
    "else by Whittle's index",
    cites=(*PAPERS, OUYANG),
    options=(PRIOR,),
    practice=Practice({"prior": 0.5}, "the prior weight of an outcome is tuned, not 1"),
)
class TSDE(SizedLearner):
    """TSDE with the policy mapping "optimal": each episode follows the best policy of a draw.

    An episode is at most one step longer than the one before. Rows have Dirichlet(1, ..., 1)
    priors and mean rewards Beta(1, 1) ones; ages are told apart as far as the drawn chains need.
    """

    def __init__(
        self, sizes: Sequence[int], rng: int | np.random.Generator = 0, prior: float = 1.0
    ) -> None:
        super().__init__(sizes, rng)
        self.prior = float(prior)
        self.rule = ChainDraw(self.sizes, self.prior)
        self.planner = planner_for(self.rule)


@declare(
    "policy-sampling",
    "posterior sampling of a plain policy: myopic, or the best arm, of drawn chains (TSDE)",
    guarantee="Bayesian regret against that policy of the true bandit, not against rho*, of order "
    "sqrt(T) log T, for models drawn from the prior with known rewards",
    assumes="irreducible aperiodic chains, rewards in [0, 1]",
    told=TOLD,
    deviation=LEARNED,
    cites=PAPERS,
    options=(
        Parameter("mapping", "choice", ..., "policy of drawn chains", choices=tuple(INDICES)),
        PRIOR,
    ),
    practice=Practice({"prior": 0.5}, "the prior weight of an outcome is tuned, not 1"),
)
class PolicySampling(TSDE):
    """TSDE with the policy mappings "myopic" and "best arm" of Jung and Tewari.

    Each episode draws every arm's chain and rewards, and pulls the arm whose next reward is
    expected to be the largest ("myopic"), or always the arm that pays most in the long run.
    """

    def __init__(
        self, sizes: Sequence[int], rng: int | np.random.Generator = 0,
        mapping: Mapped = "myopic", prior: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(sizes, rng, prior)
        self.mapping = mapping
        error, index = self.rule.settings.aggregation, INDICES[mapping]
        self.planner = IndexPlanner(error, lambda evidence: 8 * evidence.t, index)
