"""Learners that look at the truth at the start of every episode, to see whether their sets hold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.learners.contract import Learner
from restive.learners.episodes import EpisodicLearner
from restive.learners.paper.colored_ucrl2 import ColoredUCRL2
from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import RestlessLearner, RuleMaker
from restive.learners.paper.rules import Optimism
from restive.learners.replanning import ValuePlanner
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters
from restive.model.bandit import Bandit
from restive.model.chains import powers
from restive.paper.criteria import DELTA
from restive.paper.problems import first_color, small_bandit, small_mdp
from restive.paper.published_formulas import optimistic_sweep, published_radii
from restive.planning import plan
from restive.simulation import BanditWorld, StructuredWorld, play
from restive.simulation.structured import StructuredWalk
from restive.theory import episodes_bound

SLACK = 1e-12


@dataclass
class Audited:
    """One run: did the sets hold all the time, how close was it, episodes, optimism.

    closest: largest distance of the truth, as a share of the set's radius.
    margin: least advantage of the optimistic gain while the sets held; None if they never did.
    off: largest relative difference of the radii from eqs (2) and (3) written out here; on MDPs
    also of estimates from the means of a color's samples, counted once more. early: episodes there
    that ended before a pair of any but an unknown color whose visits had doubled.
    width: of the optimistic gain's bounds by a sweep written out here, times sqrt(t_k), the largest
    of all episodes; MDPs only. failing: steps in episodes whose sets missed the truth.
    """

    held: bool = True
    closest: float = 0.0
    margin: float | None = None
    episodes: int = 0
    allowed: float = 0.0
    off: float = 0.0
    width: float = 0.0
    failing: int = 0
    early: int = 0
    gain: float = 0.0  # rho*
    begun: int = 0  # steps before the episode
    missed: bool = False  # whether its sets miss the truth

    def note(self, share: float, promised: float | None = None, step: int = 0) -> None:
        """share: how far the truth is, in radii; step: steps made so far."""
        self.failing += (step - self.begun) * self.missed
        self.begun, self.missed = step, share > 1
        self.closest = max(self.closest, share)
        if share > 1:
            self.held = False
        elif promised is not None:
            advantage = promised - self.gain
            self.margin = advantage if self.margin is None else min(self.margin, advantage)

    def compare_radii(self, model: Parameters, published: tuple[Floats, Floats]) -> None:
        """Are the sets those of eqs (2) and (3)?"""
        for own, right in zip((model.reward_radii, model.radii), published, strict=True):
            assert own is not None
            scale = np.where(right > 0, right, 1.0)
            self.off = max(self.off, float(np.abs((own - right) / scale).max()))


def audit_bandit(
    seed: int, steps: int, kind: type[AuditedPublished] | None = None,
    rule: RuleMaker = Optimism,
) -> Audited:  # fmt: skip
    """A run of Algorithm 2, or of a relative with its own audit, on ``small_bandit(seed)``."""
    bandit = small_bandit(seed)
    gain = plan(bandit, 1e-5).gain_lower
    inputs = Inputs.of(bandit, steps, DELTA)
    learner = (kind or AuditedPublished)(inputs, rule, bandit, gain)
    return _audited(learner, BanditWorld(bandit, seed), steps, learner.representation.n_colors)


def audit_mdp(seed: int, steps: int, known: bool = False) -> Audited:
    """A run of colored UCRL2 on ``small_mdp(seed)``; known: its first color is, and eps is 0."""
    world = small_mdp(seed, spread=0.0) if known else small_mdp(seed)
    learner = AuditedMDP(world, delta=DELTA, **(first_color(world) if known else {}))
    return _audited(learner, world, steps, world.mdp.n_colors - known)


def _audited(learner: _Compared, world: Any, steps: int, colors: int) -> Audited:
    audit, run = learner.audit, play(learner, world, steps)
    learner.finish()
    audit.episodes, audit.allowed = run.replans, episodes_bound(steps, colors)
    return audit


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


def _furthest(model: Parameters, colors: Ints, off: Floats, paid: Floats) -> float:
    """Largest distance of laws (``off``) and mean rewards (``paid``) from the truth, in radii."""
    assert model.radii is not None
    assert model.reward_radii is not None
    shares = (
        largest_share(off, model.radii[colors]),
        largest_share(paid, model.reward_radii[colors]),
    )
    return max(shares)


class _Compared(EpisodicLearner):
    """Compares its sets with the truth at the start of every episode."""

    audit: Audited
    planner: ValuePlanner

    def _begin(self) -> None:
        super()._begin()
        assert self.planner.parameters is not None
        self._compare(self.planner.parameters, self.planner.gain[1])

    def finish(self) -> None:
        """The same at the end of the run, which starts no episode."""
        self._compare(self.rule.parameters(self.evidence, self.rng), None)

    @abstractmethod
    def _compare(self, model: Parameters, promised: float | None) -> None: ...


class AuditedPublished(_Compared, RestlessLearner):
    """Algorithm 2 whose sets of eqs (2) and (3) are compared with the truth."""

    def __init__(self, inputs: Inputs, rule: RuleMaker, bandit: Bandit, gain: float) -> None:
        super().__init__(inputs, rule)
        self.bandit, self.audit = bandit, Audited(gain=gain)

    def _compare(self, model: Parameters, promised: float | None) -> None:
        worst, rep, round_ = 0.0, self.representation, self.round
        for j, arm in enumerate(self.bandit.arms):
            colors = rep.color_grid(j)
            laws = model.probabilities[colors][..., : rep.sizes[j]]
            for rows in true_rows(self.bandit, rep, j):
                off = np.abs(rows - laws).sum(axis=-1)
                paid = np.abs(rows @ arm.rewards - model.rewards[colors])
                worst = max(worst, _furthest(model, colors, off, paid))
        published = published_radii(self.counts.visits, self.t, rep.n_colors, rep.max_support,
                                    round_.delta, round_.horizon**-0.5)  # fmt: skip
        self.audit.compare_radii(model, published)
        self.audit.note(worst, promised, self.sight.steps)


class AuditedMDP(_Compared, ColoredUCRL2):
    """Colored UCRL2 on an eps-structured MDP, every pair compared with its color's set.

    It counts for itself, from the states it is told, outcomes by where they lead.
    """

    def __init__(self, world: StructuredWorld, **options: Any) -> None:
        self.world, self.audit = world, Audited(gain=world.gain())
        self.seen = np.zeros((world.mdp.n_colors, world.mdp.max_support))
        self.paid, self.before = np.zeros(world.mdp.n_colors), self.seen.sum(axis=1)
        super().__init__(world.mdp, epsilon=world.epsilon, **options)

    @property
    def unknown(self) -> Bools:
        return np.ones(self.mdp.n_colors, dtype=bool) if self.known is None else ~self.known

    def play_walk(self, walk: StructuredWalk, count: int) -> tuple[Ints, Floats]:
        return Learner.play_walk(self, walk, count)

    def _act(self, action: int, state: Hashable, paid: float) -> None:
        color = int(self.world.mdp.colors[self.state, action])
        leads = self.world.mdp.successors[self.state, action].tolist()
        self.seen[color, leads.index(state)] += 1
        self.paid[color] += paid
        super()._act(action, state, paid)

    def _begin(self) -> None:
        super()._begin()
        self.before = self.seen.sum(axis=1)

    def _end(self) -> None:
        """while v_k(c) < max(1, N_k(c)), c the color of the next pair, if it is to be learned."""
        color = int(self.mdp.colors[self.state, self.policy.actions[self.state]])
        now = self.seen[color].sum() - self.before[color]
        self.audit.early += not (self.unknown[color] and now >= max(1, self.before[color]))
        super()._end()

    def _compare(self, model: Parameters, promised: float | None) -> None:
        colors, unknown = self.mdp.colors, self.unknown
        off = np.abs(self.world.laws - model.probabilities[colors]).sum(axis=-1)
        paid = np.abs(self.world.rewards - model.rewards[colors])
        worst = _furthest(model, colors, off, paid)
        published = published_radii(self.seen.sum(axis=1), self.t, int(unknown.sum()),
                                    self.mdp.max_support, self.delta, self.epsilon)  # fmt: skip
        rewards, laws = (np.where(unknown, radii, 0.0) for radii in published)
        self.audit.compare_radii(model, (rewards, laws))
        self._compare_means(model)
        if promised is not None:
            change = optimistic_sweep(
                replace(model, reward_radii=rewards, radii=laws), self.mdp, self.planner.values
            )
            self.audit.width = max(self.audit.width, float(np.ptp(change)) * sqrt(self.t))
        self.audit.note(worst, promised, self.samples)

    def _compare_means(self, model: Parameters) -> None:
        """Are the sets around the means of all samples of a color?"""
        many = self.seen.sum(axis=1)
        learned = self.unknown & (many > 0)
        laws, paid = self.seen[learned].T / many[learned], self.paid[learned] / many[learned]
        off = [np.abs(model.probabilities[learned].T - laws), np.abs(model.rewards[learned] - paid)]
        self.audit.off = max(self.audit.off, *(float(part.max(initial=0.0)) for part in off))
