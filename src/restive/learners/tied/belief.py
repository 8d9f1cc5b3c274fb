"""From what was seen at all ages to drawn chains, and to information states to plan on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.learners.index_planning import DOUBLINGS
from restive.learners.paper.rules import Evidence, Rule
from restive.learners.tied.gaps import Gaps
from restive.learners.tied.plan_size import (
    CAPS,
    MANY_ARMS,
    MOST_STATES,
    affordable,
    fits,
    fitted,
    shortest_episode,
)
from restive.learners.tied.settings import TiedSettings
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters

TURN = 4.0  # of many arms so many are drawn anew, for each step, though nothing was seen of them
PATIENCE = 0.98  # weight of a reward beside that of the step before, in what a state is worth


@dataclass(frozen=True, eq=False)
class Belief:
    """One chain for every arm, and the mean rewards of its states.

    Of many arms some keep theirs from episode to episode.
    """

    drawn: tuple[Floats, ...]  # (S, S) each: where the sampler stands
    chains: tuple[Floats, ...]  # (S, S) each: what plans are made with
    means: tuple[Floats, ...]  # (S,) each
    pulls: Floats | None = None  # (K,) of every arm when the last ones were drawn, if they are many
    fresh: Ints | None = None  # the arms that were drawn last; None: all

    @classmethod
    def blank(cls, sizes: Sequence[int]) -> Belief:
        """Of arms that have shown nothing yet."""
        chains = tuple(np.full((size, size), 1.0 / size) for size in sizes)
        return cls(chains, chains, tuple(np.full(size, 0.5) for size in sizes))


class PosteriorDraw(Rule):
    """Draws from the posterior, and episodes of a share of all steps before them."""

    def __init__(self, n_arms: int, settings: TiedSettings, groups: Sequence[int] = ()) -> None:
        self.settings, self.groups = settings, tuple(groups)
        self.belief = Belief.blank([1] * n_arms)

    def parameters(self, evidence: Evidence, rng: np.random.Generator) -> Belief:
        pulls = evidence.counts.paid[:, :, 0].sum(axis=1)
        sizes = self._sizes(evidence, pulls)
        due = self._drawn_anew(pulls, sizes, rng)
        drawn: list[tuple[Floats, Floats, Floats]] = []
        for arm, size in enumerate(sizes):
            leader = self.groups[arm] if self.groups else arm
            if leader < arm:
                drawn.append(drawn[leader])
            elif due[arm]:
                drawn.append(self._draw(evidence, arm, size, rng))
            else:
                old = self.belief
                drawn.append((old.drawn[arm], old.chains[arm], old.means[arm]))
        samplers, chains, means = (tuple(part) for part in zip(*drawn, strict=True))
        self.belief = Belief(samplers, chains, means)
        if len(sizes) > MANY_ARMS:
            self.belief = replace(self.belief, pulls=pulls, fresh=np.flatnonzero(due))
        return self.belief

    def _drawn_anew(self, pulls: Floats, sizes: Sequence[int], rng: np.random.Generator) -> Bools:
        """Which arms to draw: all, or of many those of which something is new, and a few others.

        What is known of the others is what it was, and so is the law of what is drawn for them. By
        chance they are drawn now and then, so that none is left aside for a bad draw.
        """
        before, count = self.belief.pulls, len(sizes)
        if before is None:
            return np.ones(count, dtype=np.bool_)
        grown = np.array([len(chain) for chain in self.belief.chains]) != sizes
        steps = pulls.sum() - before.sum()
        due = (rng.random(count) < TURN * steps / count) | grown | (pulls != before)
        return self._pooled(due) > 0

    def _pooled(self, amounts: Floats | Bools) -> Floats:
        """(K,) the sums of each arm and those declared to be like it."""
        pooled = np.bincount(self.groups, amounts)[list(self.groups)] if self.groups else amounts
        return np.asarray(pooled, dtype=np.float64)

    def forget(self, arms: Sequence[int]) -> None:
        """Let the sampler begin anew for these arms."""
        drawn, pulls = list(self.belief.drawn), self.belief.pulls
        for arm in arms:
            drawn[arm] = np.full(drawn[arm].shape, 1.0 / len(drawn[arm]))
        if pulls is not None:
            pulls = pulls.copy()
            pulls[list(arms)] = -1
        self.belief = replace(self.belief, drawn=tuple(drawn), pulls=pulls)

    def longest(self, evidence: Evidence, previous: int) -> int:
        shortest = shortest_episode(len(_known(evidence).sizes))
        return max(shortest, int(self.settings.growth * evidence.t))

    def oldest(self, evidence: Evidence) -> int:
        """An age well beyond all that can occur in the episode that begins now."""
        return 4 * (evidence.t + self.longest(evidence, 0))

    def tolerance(self, t: int) -> float:
        return float(self.settings.accuracy / t**0.5)

    def _sizes(self, evidence: Evidence, pulls: Floats) -> list[int]:
        """States of each arm to reckon with: one more than known while it is little known."""
        known, sizes = _known(evidence).sizes, []
        for count, looks in zip(known, self._pooled(pulls).tolist(), strict=True):
            patience = self.settings.unseen * (count + 1) * (1 + log(evidence.t))
            if count == 1:  # it has not moved once: perhaps it just moves rarely
                patience *= 3
            sizes.append(count + int(looks < patience))
        return sizes

    def _draw(
        self, evidence: Evidence, arm: int, size: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        """Sampler, matrix and mean rewards of an arm of so many states."""
        counts, totals = self._seen(evidence.counts, arm, size)
        options = self.settings
        many = options.draws if totals[:, 0].sum() > options.enough * size else 1
        start = _resized(self.belief.drawn[arm], size)
        little = self._little(counts) & (totals[:, 0] > 0)
        tries = options.hope.draws if options.hope is not None and little.any() else 0
        draws = options.chains.walk(start, counts, max(many, tries), rng)
        chain = np.asarray(sum(step / many for step in draws[:many]))
        means = np.clip(options.rewards.draw(totals, rng), 0.0, 1.0)
        if tries:
            chain = np.where(little[:, None], _best_rows(draws, means), chain)
        return draws[-1], chain, means

    def _little(self, counts: Ints) -> Bools:
        """Which states were so rarely left that they are hoped for; counts (S, A, S)."""
        few = 0 if self.settings.hope is None or len(counts) == 1 else self.settings.hope.few
        return np.asarray(counts.sum(axis=(1, 2)) < few)

    def _seen(self, seen: Gaps, arm: int, size: int) -> tuple[Ints, Floats]:
        """Counts and rewards of an arm and those like it, with room for so many states."""
        counts = np.zeros((size, seen.gaps.shape[2], size), dtype=np.int64)
        totals = np.zeros((size, 3))
        known = min(size, seen.gaps.shape[1])  # there may be room for fewer than are reckoned with
        pool = self._alike(arm)
        counts[:known, :, :known] = seen.gaps[pool, :known, :, :known].sum(axis=0)
        totals[:known] = seen.paid[pool, :known].sum(axis=0)
        return counts, totals

    def sober(self, seen: Gaps) -> tuple[Floats, ...]:
        """The matrices of the current plan without the hope for states that are little known."""
        sober = []
        for arm, drawn in enumerate(self.belief.drawn):
            little = self._little(self._seen(seen, arm, len(drawn))[0])
            sober.append(np.where(little[:, None], drawn, self.belief.chains[arm]))
        return tuple(sober)

    def _alike(self, arm: int) -> list[int]:
        """The arm and those declared to be like it."""
        if not self.groups:
            return [arm]
        return [j for j, leader in enumerate(self.groups) if leader == self.groups[arm]]

    def small(self, evidence: Evidence, belief: Belief) -> bool:
        """Whether the drawn model is planned for exactly, every age told apart that has to be.

        It is if its information states are no more than ``fewest_states`` and ``states_per_step``
        allow: a budget of size, not of time. Arms of very many states are planned for exactly too,
        with fewer ages if need be.
        """
        sizes, room = [len(chain) for chain in belief.chains], self._room(evidence)
        if max(sizes) > MOST_STATES:
            return True
        if not affordable(sizes, 2, 1, *room):  # not even with the fewest ages
            return False
        return affordable(sizes, *self._lassos(belief), *room)

    def _room(self, evidence: Evidence) -> tuple[float, int]:
        """Information states that may be planned on, and steps that the episode may last."""
        options, length = self.settings, self.longest(evidence, 0)
        return options.fewest_states + options.states_per_step * length, length

    def _lassos(self, belief: Belief) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Caps and loops from which on powers of each chain repeat."""
        from restive._kernels import tied

        error = self.settings.aggregation
        lassos = [tied.lasso(chain, error, CAPS, DOUBLINGS) for chain in belief.chains]
        caps, periods = zip(*lassos, strict=True)
        return caps, periods

    def lay_out(
        self, evidence: Evidence, belief: Belief, last: Representation | None
    ) -> tuple[Representation, Parameters]:
        """Information states fine enough for the drawn matrices, within what planning may take."""
        most, length = self._room(evidence)
        caps, periods = self._lassos(belief)
        rep = fitted([len(chain) for chain in belief.chains], caps, periods, most, length)
        if last is not None and (last.sizes, last.periods) == (rep.sizes, rep.periods):
            slack = [a <= b <= 2 * a for a, b in zip(rep.caps, last.caps, strict=True)]
            if all(slack) and fits(last, most, length):
                rep = last  # fine enough, not much too fine, and its memory is laid out
        return rep, _packed(belief, rep)


def _best_rows(chains: Sequence[Floats], means: Floats) -> Floats:
    """Of each state the row of the matrix in which it is worth most: rewards from then on, with
    less weight the later they come."""
    rows = np.array(chains)
    worth = np.linalg.solve(np.eye(len(means)) - PATIENCE * rows, means[:, None])[..., 0]
    return np.asarray(rows[worth.argmax(axis=0), np.arange(len(means))])


def _known(evidence: Evidence) -> Representation:
    """The states that are known, at true ages."""
    assert isinstance(evidence.structure, Representation)
    return evidence.structure


def _packed(belief: Belief, rep: Representation) -> Parameters:
    """Parameters of every color: the powers of each chain, and the mean rewards after them."""
    from restive._kernels import tied

    rows = []
    for ages, chain in zip(rep.n_ages, belief.chains, strict=True):
        powers = np.empty((ages, len(chain), len(chain)))
        tied.fill_powers(chain, powers)
        rows.append(powers.transpose(1, 0, 2))
    rewards = [(own @ means).ravel() for own, means in zip(rows, belief.means, strict=True)]
    return Parameters(np.concatenate(rewards), rep.pack(rows))


def _resized(chain: Floats, size: int) -> Floats:
    """A start for the posterior's Markov chain when the number of states has changed."""
    if len(chain) == size:
        return chain
    grown = np.full((size, size), 1.0 / size)
    kept = min(size, len(chain))
    grown[:kept, :kept] = 0.5 * grown[:kept, :kept] + 0.5 * chain[:kept, :kept]
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))
