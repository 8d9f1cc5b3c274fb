"""Optimism with the ages of an arm tied together: tighter sets that stay sound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.learners.declaration import declare
from restive.learners.paper.inputs import MIXING_TIMES, unknown_options
from restive.learners.paper.restless import ARMS, PAPER, TOLD, RestlessLearner
from restive.learners.paper.rules import Evidence, Rule
from restive.learners.tied.sets import (
    TiedSets,
    azuma_radius,
    direct_sets,
    empirical_rows,
    join_loop,
    largest_means,
    meet,
    pooled,
    reward_intervals,
)
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters


@dataclass(frozen=True, eq=False)
class TiedOptimism(Rule):
    """Confidence sets for P_j and its powers, and for the mean reward of each state.

    Every color has a direct set from its own samples: for two outcomes the Bernoulli relative
    entropy interval, for more the L1 ball that such intervals for all ways to split the outcomes
    give, each valid at all times at once (``mixture_excess``); ages on the loop, which stand for
    several rows, have an L1 ball from Azuma's inequality. For arms of two states they are met with
    what the likelihood of all ages together leaves (``pooled``). Sets of different ages of an arm
    are then joined: P^n = P^m P^(n-m) (``_kernels.sets.join_ages``). Rewards belong to states,
    whose samples at all ages are pooled. All sets hold together with probability 1 - delta.

    growth: an episode ends when the visits of a color have grown by this factor.
    """

    squares: ClassVar[bool] = True

    delta: float
    epsilon: float
    growth: float = 0.3

    def parameters(self, evidence: Evidence, rng: np.random.Generator) -> Parameters:
        rep = evidence.structure
        assert isinstance(rep, Representation)
        sets = [self.sets(evidence, arm) for arm in range(rep.n_arms)]
        rewards = [largest_means(own.centers, own.radii, own.rewards[:, 1]).ravel() for own in sets]
        return Parameters(
            np.minimum(1.0, np.concatenate(rewards)),
            rep.pack([own.centers for own in sets]),
            None,
            np.concatenate([own.radii.ravel() for own in sets]),
        )

    def sets(self, evidence: Evidence, arm: int) -> TiedSets:
        """The confidence sets of one arm."""
        from restive._kernels import sets

        rep = evidence.structure
        assert isinstance(rep, Representation)
        size = rep.sizes[arm]
        grid = rep.color_grid(arm)
        counts = evidence.counts.outcomes[grid][..., :size].astype(np.float64)
        share = self.shares(rep, arm) * (0.5 if size == 2 else 1.0)
        centers, radii = direct_sets(counts, share)
        tail = rep.caps[arm] - 1
        if size > 1:  # an age on the loop stands for many rows
            centers[:, tail:] = empirical_rows(counts[:, tail:])
            radii[:, tail:] = azuma_radius(counts[:, tail:].sum(axis=-1), size, share[:, tail:])
        if size == 2 and tail > 0:  # the other half of each share
            bounds = pooled(counts[:, :tail], float(share.sum()))
            meet(centers[:, :tail, 0], radii[:, :tail], bounds)
            centers[:, :tail, 1] = 1.0 - centers[:, :tail, 0]
        centers = np.ascontiguousarray(centers.transpose(1, 0, 2))
        radii = np.ascontiguousarray(radii.T)
        if size > 1:
            sets.join_ages(centers[:tail], radii[:tail])
            join_loop(centers, radii, tail, self.epsilon)
        totals = counts.sum(axis=(0, 1))
        sums = evidence.counts.rewards[grid][..., :size].sum(axis=(0, 1))
        assert evidence.counts.squares is not None
        squares = evidence.counts.squares[grid][..., :size].sum(axis=(0, 1))
        rewards = reward_intervals(totals, sums, squares, 0.5 * self.delta / sum(rep.sizes))
        return TiedSets(centers.transpose(1, 0, 2), radii.T, rewards)

    def shares(self, rep: Representation, arm: int) -> Floats:
        """Part (S, A) of delta for each color: half of delta/2 evenly, half for young ages."""
        ages = np.arange(1.0, rep.n_ages[arm] + 1)
        young = 1 / (sum(rep.sizes) * ages * (ages + 1))
        return np.tile(0.25 * self.delta * (young + 1 / rep.n_colors), (rep.sizes[arm], 1))

    def limits(self, evidence: Evidence) -> Ints:
        visits = evidence.counts.visits
        return np.asarray(visits + np.maximum(1, (self.growth * visits).astype(np.int64)))


@declare(
    "tied-ucrl",
    "Algorithm 2 with confidence sets for P that bind all its powers",
    guarantee="with probability 1 - delta the true model is in the sets at all times; with "
    "probability 1 - 2 delta the regret against rho* is at most that of Algorithm 2 with these "
    "smaller radii (docs/theory/tied-sets.md)",
    assumes=ARMS,
    told=f"{TOLD}, unless an option says that one is unknown",
    deviation="from Algorithm 2: sets that use P^n = P^m P^(n-m), the likelihood of all ages of a "
    "two-state arm and pooled rewards, and shorter episodes, in place of eqs (2) and (3)",
    cites=(PAPER,),
    options=(*unknown_options(False), MIXING_TIMES),
)
class TiedUCRL(RestlessLearner):
    """Algorithm 2 with the sets of ``TiedOptimism``."""

    @staticmethod
    def rule_for(delta: float, epsilon: float) -> Rule:
        return TiedOptimism(delta, epsilon)
