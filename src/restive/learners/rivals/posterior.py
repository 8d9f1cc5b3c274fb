"""Posterior sampling with colors independent of each other, in TSDE's episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.learners.paper.restless import Method, RestlessLearner
from restive.learners.paper.rules import Counts, Evidence, Rule
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters
from restive.model.bandit import Bandit

__all__ = ["TSDE", "PosteriorSampling", "build"]

Floats = NDArray[np.float64]

PRIOR = 1.0  # Dirichlet and Beta weight of each outcome: uniform laws


class PosteriorSampling(Rule):
    """Thompson sampling with dynamic episodes (TSDE), colors independent.

    Jung, Tewari 2019: "Regret bounds for Thompson sampling in episodic restless bandit problems";
    Jung, Abeille, Tewari 2019: "Thompson sampling in non-episodic restless bandits"; episodes of
    Ouyang, Gagrani, Nayyar, Jain 2017: an episode ends when it is one step longer than the one
    before, or when the count of some (arm, state, age) has doubled. In each episode a model is
    drawn from the posterior and its optimal policy followed (policy mapping "optimal").

    Regret: Bayesian, against the optimal policy, of order sqrt(T) log T under the prior. Assumes:
    as for Algorithm 2 (horizon, mixing times, state spaces, periods give the representation).
    Parameters: prior weight 1 per outcome, the uniform law, for every color; none is tuned.

    Rewards are known functions of the state in these papers. Here they are not: each state of each
    arm has a Beta(1, 1) prior that a reward x in [0, 1] moves by (x, 1 - x).

    Deviation: each color has a Dirichlet posterior of its own, instead of one posterior for the
    chain that all ages share.
    Deviation: doubling is tested before a pull, as in Algorithm 1, not after it.
    Deviation: ages are capped as in Algorithm 2; the sampled model is solved to 1/sqrt(t).
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


TSDE = Method(
    "tsde",
    "Bayesian regret against the optimal policy of order sqrt(T) log T, for models drawn from the "
    "prior with known rewards.",
    lambda delta, epsilon: PosteriorSampling(),
    "Deviation: every color has a posterior of its own.",
)


def build(
    bandit: Bandit, horizon: int | None, delta: float, rng: int | np.random.Generator,
    **options: Any,
) -> RestlessLearner:  # fmt: skip
    """Told what Algorithm 2 is told; ``options`` as there."""
    from restive.learners.builders import restless_inputs

    return RestlessLearner(restless_inputs(bandit, horizon, delta, **options), TSDE, rng)
