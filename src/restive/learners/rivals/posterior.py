"""Posterior sampling with colors independent of each other, in TSDE's episodes."""

from __future__ import annotations

import numpy as np

from restive.learners.declaration import declare
from restive.learners.paper.inputs import MIXING_TIMES
from restive.learners.paper.restless import ARMS, TOLD, RestlessLearner
from restive.learners.paper.rules import Counts, Evidence, Rule
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters

PRIOR = 1.0  # Dirichlet and Beta weight of each outcome: uniform laws


class PosteriorSampling(Rule):
    """Thompson sampling with dynamic episodes (TSDE), colors independent.

    An episode ends when it is one step longer than the one
    before, or when the count of some (arm, state, age) has doubled. In each episode a model is
    drawn from the posterior and its optimal policy followed (policy mapping "optimal").

    Parameters: prior weight 1 per outcome, the uniform law, for every color; none is tuned.

    Rewards are known functions of the state in these papers. Here they are not: each state of each
    arm has a Beta(1, 1) prior that a reward x in [0, 1] moves by (x, 1 - x).
    """

    def parameters(self, evidence: Evidence, rng: np.random.Generator) -> Parameters:
        rep = evidence.structure
        assert isinstance(rep, Representation)
        counts: Counts = evidence.counts
        inside = np.arange(rep.max_support) < evidence.supports[:, None]
        weights = rng.standard_gamma(np.where(inside, counts.outcomes + PRIOR, 1.0))
        weights = np.where(inside, weights, 0.0)
        laws = weights / weights.sum(axis=1, keepdims=True)
        rewards = np.empty(rep.n_colors)
        for arm in range(rep.n_arms):
            grid = rep.color_grid(arm).ravel()
            seen, paid = counts.outcomes[grid].sum(axis=0), counts.rewards[grid].sum(axis=0)
            means = rng.beta(PRIOR + paid, PRIOR + np.maximum(0.0, seen - paid))
            rewards[grid] = laws[grid] @ means
        return Parameters(rewards, laws)

    def longest(self, evidence: Evidence, previous: int) -> int:
        return previous + 1


@declare(
    "tsde-colors",
    "posterior sampling in growing episodes, every color by itself (TSDE)",
    guarantee="Bayesian regret against rho* of order sqrt(T) log T, for models drawn from the "
    "prior with known rewards",
    assumes=ARMS,
    told=f"{TOLD}; the papers also take the rewards as known",
    deviation="as tsde, but every (state, age) has a posterior of its own instead of one for the "
    "chain that all ages share; rewards are learned; ages are capped as in Algorithm 2; the "
    "sampled model is solved to 1/sqrt(t); doubling is tested before a pull",
    cites=(
        "jung2019-episodic",
        "jung2019-nonepisodic",
        "ouyang2017",
    ),
    options=(MIXING_TIMES,),
)
class ColorTSDE(RestlessLearner):
    """The restless learner with ``PosteriorSampling``."""

    @staticmethod
    def rule_for(delta: float, epsilon: float) -> Rule:
        return PosteriorSampling()
