"""Learners that look at the truth at the start of every episode, to see whether their sets hold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.learners.episodes import EpisodicLearner
from restive.learners.paper.colored_ucrl2 import ColoredUCRL2
from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import RestlessLearner, RuleMaker
from restive.learners.paper.rules import Optimism
from restive.learners.replanning import Planner, ValuePlanner
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters
from restive.model.bandit import Bandit
from restive.model.chains import powers
from restive.paper.criteria import DELTA
from restive.paper.random_problems import small_bandit, small_mdp
from restive.planning import plan
from restive.simulation import BanditWorld, StructuredWorld, play
from restive.theory import episodes_bound

__all__ = [
    "Audited",
    "AuditedMDP",
    "AuditedPublished",
    "audit_bandit",
    "audit_mdp",
    "largest_share",
    "true_rows",
]

Floats = NDArray[np.float64]
SLACK = 1e-12


@dataclass(frozen=True)
class Audited:
    """One run: did the sets hold all the time, how close was it, episodes, optimism."""

    held: bool
    closest: float
    margin: float
    episodes: int
    allowed: float


def audit_bandit(
    seed: int, steps: int, kind: type[AuditedPublished] | None = None,
    rule: RuleMaker = Optimism,
) -> Audited:  # fmt: skip
    """A run of Algorithm 2, or of a relative with its own audit, on ``small_bandit(seed)``."""
    bandit = small_bandit(seed)
    gain = plan(bandit, 1e-5).gain_lower
    inputs = Inputs.of(bandit, steps, DELTA)
    learner = (kind or AuditedPublished)(inputs, rule, bandit, gain)
    run = play(learner, BanditWorld(bandit, seed), steps)
    learner.finish()
    return _summary(learner, run.replans, learner.representation.n_colors, steps)


def audit_mdp(seed: int, steps: int) -> Audited:
    """A run of colored UCRL2 on ``small_mdp(seed)``."""
    world = small_mdp(seed)
    learner = AuditedMDP(world, delta=DELTA)
    run = play(learner, world, steps)
    learner.finish()
    return _summary(learner, run.replans, world.mdp.n_colors, steps)


def _summary(learner: Any, episodes: int, colors: int, steps: int) -> Audited:
    audit = learner.audit
    return Audited(audit.held, audit.closest, audit.margin, episodes, episodes_bound(steps, colors))


def true_rows(bandit: Bandit, rep: Representation, arm: int) -> list[Floats]:
    """Rows (S, A, S) of an arm at every stored age: the first and the last that each stands for."""
    chain = bandit.arms[arm]
    first = powers(chain.transitions, rep.n_ages[arm]).transpose(1, 0, 2)
    if chain.period > 1:
        return [first]
    last = first.copy()
    last[:, -1] = chain.stationary
    return [first, last]


def largest_share(distances: Floats, radii: Floats) -> float:
    """Largest distance / radius; 0/0 is 0, and rounding counts as no distance."""
    beyond = np.maximum(0.0, distances - SLACK)
    shares = np.divide(beyond, radii, out=np.where(beyond > 0, np.inf, 0.0), where=radii > 0)
    return float(shares.max(initial=0.0))


class _Audit:
    """What was seen: whether all sets held, how close they came, and what optimism promised."""

    def __init__(self, gain: float) -> None:
        self.gain = gain
        self.held = True
        self.closest = 0.0  # largest distance of the truth, as a share of the set's radius
        self.margin = np.inf  # least advantage of the optimistic gain while the sets held

    def note(self, share: float, promised: float | None = None) -> None:
        self.closest = max(self.closest, share)
        if share > 1:
            self.held = False
        elif promised is not None:
            self.margin = min(self.margin, promised - self.gain)


def _promise(planner: Planner) -> tuple[Parameters, float]:
    """The model of the episode that has just begun, and the most it promises."""
    assert isinstance(planner, ValuePlanner)
    assert planner.parameters is not None
    return planner.parameters, planner.gain[1]


class _Compared(EpisodicLearner):
    """Compares its sets with the truth at the start of every episode."""

    def _begin(self) -> None:
        super()._begin()
        self._compare(*_promise(self.planner))

    def finish(self) -> None:
        """The same at the end of the run, which starts no episode."""
        self._compare(self.rule.parameters(self.evidence, self.rng), None)

    @abstractmethod
    def _compare(self, model: Parameters, promised: float | None) -> None: ...


class AuditedPublished(_Compared, RestlessLearner):
    """Algorithm 2 whose sets of eqs (2) and (3) are compared with the truth."""

    def __init__(self, inputs: Inputs, rule: RuleMaker, bandit: Bandit, gain: float) -> None:
        super().__init__(inputs, rule)
        self.bandit, self.audit = bandit, _Audit(gain)

    def _compare(self, model: Parameters, promised: float | None) -> None:
        worst = 0.0
        for j, arm in enumerate(self.bandit.arms):
            colors, size = self.representation.color_grid(j), self.representation.sizes[j]
            for rows in true_rows(self.bandit, self.representation, j):
                laws = model.probabilities[colors][..., :size]
                off = np.abs(rows - laws).sum(axis=-1)
                paid = np.abs(rows @ arm.rewards - model.rewards[colors])
                assert model.radii is not None
                assert model.reward_radii is not None
                worst = max(worst, largest_share(off, model.radii[colors]))
                worst = max(worst, largest_share(paid, model.reward_radii[colors]))
        self.audit.note(worst, promised)


class AuditedMDP(_Compared, ColoredUCRL2):
    """Colored UCRL2 on an eps-structured MDP, every pair compared with its color's set."""

    def __init__(self, world: StructuredWorld, **options: Any) -> None:
        self.world, self.audit = world, _Audit(world.gain())
        super().__init__(world.mdp, epsilon=world.epsilon, **options)

    def _compare(self, model: Parameters, promised: float | None) -> None:
        colors = self.mdp.colors
        assert model.radii is not None
        assert model.reward_radii is not None
        off = np.abs(self.world.laws - model.probabilities[colors]).sum(axis=-1)
        paid = np.abs(self.world.rewards - model.rewards[colors])
        worst = max(
            largest_share(off, model.radii[colors]), largest_share(paid, model.reward_radii[colors])
        )
        self.audit.note(worst, promised)
