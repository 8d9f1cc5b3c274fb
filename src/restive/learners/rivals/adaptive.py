"""Tekin and Liu's learner of uncontrolled restless bandits: explore a little, else plan."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.paper.rules import Evidence
from restive.learners.rivals.chain_draws import SizedLearner
from restive.learners.tied.belief import Belief, PosteriorDraw
from restive.learners.tied.gap_learner import planner_for
from restive.learners.tied.gaps import Gaps
from restive.learners.tied.settings import TiedSettings

REPLAN = 0.05  # a plan is followed for this part of all steps before it, at most
FAR = 1 << 40  # steps; no run is that long


class Estimates(PosteriorDraw):
    """Sample means of chains and rewards; an episode lasts until exploration is due again."""

    def __init__(self, sizes: Sequence[int], exploration: float | None) -> None:
        super().__init__(len(sizes), TiedSettings(hope=None))
        self.sizes, self.exploration = tuple(sizes), exploration
        self.belief = Belief.blank(sizes)

    def parameters(self, evidence: Evidence, rng: np.random.Generator) -> Belief:
        seen: Gaps = evidence.counts
        moves = [seen.gaps[arm, :size, 0, :size] for arm, size in enumerate(self.sizes)]
        chains = tuple(map(estimated_rows, moves))
        means = []
        for arm, size in enumerate(self.sizes):
            count, paid, _ = seen.paid[arm, :size].T
            means.append(np.where(count > 0, paid / np.maximum(1, count), 0.5))
        self.belief = Belief(chains, chains, tuple(means))
        return self.belief

    def needed(self, t: int) -> float:
        """f(t): how often every state of every arm must have been left by time t."""
        return (log(t) if self.exploration is None else self.exploration) * log(t)

    def departures(self, seen: Gaps) -> list[Ints]:
        """C(s) of every arm: how often it was seen one step after s."""
        return [seen.gaps[arm, :size, 0].sum(axis=-1) for arm, size in enumerate(self.sizes)]

    def longest(self, evidence: Evidence, previous: int) -> int:
        replan = max(1, int(REPLAN * evidence.t))
        return min(replan, max(1, self._due(evidence.counts) - evidence.t))

    def _due(self, seen: Gaps) -> int:
        """The first time t at which f(t) is above the fewest departures there are."""
        fewest = min(int(left.min()) for left in self.departures(seen))
        rate = self.exploration
        power = sqrt(fewest) if rate is None else fewest / rate
        due = FAR if power > log(FAR) else int(exp(power))
        while due < FAR and self.needed(due) <= fewest:  # rounding, and the next whole number
            due += 1
        return due


@declare(
    "ala",
    "explore every state of every arm L log t times, else follow the plan of the estimates (ALA)",
    guarantee="regret against the best policy of order L(T) log T if L grows without bound, log T "
    "if it is a large enough constant",
    assumes="irreducible aperiodic chains with P(s, s') > 0, an optimal policy that small changes "
    "of the chains do not change",
    told="the number of states of each arm; the paper also takes the rewards as known",
    deviation="written from the abstracts and from memory: the estimates (a move never seen counts "
    "once) and which of several arms is explored first are a best guess; rewards are learned; the "
    "estimated bandit is planned for when exploration ends and when time has grown by a "
    "twentieth, not at each step; information states take the place of a partition of beliefs, up "
    "to 20,000, beyond which plans are by Whittle's index",
    cites=(
        "tekin2011-adaptive",
        "tekin2011-strong",
    ),
    options=(
        Parameter("exploration", "float", ..., "L; if none is given, log t", 0, above=True),
    ),
    practice=Practice({"exploration": 1.0}, "L is a number that was tuned, not log t"),
)  # fmt: skip
class AdaptiveLearning(SizedLearner):
    """ALA: explore while some state was left less than f(t) = L log t times, else exploit.

    Exploring, it stays with the arm pulled last if one of its states is in want, else goes to the
    first arm with such a state. Exploiting, it follows the best policy of the chains and rewards
    estimated from all pulls of an arm that follow each other.
    Made for: strong regret, against the best policy. Parameters: L; the constant that the theorem
    asks for depends on the unknown chains, so the published form that needs no knowledge has
    L = log t.
    """

    rule: Estimates

    def __init__(
        self, sizes: Sequence[int], rng: int | np.random.Generator = 0,
        exploration: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(sizes, rng)
        self.exploration = None if exploration is None else float(exploration)
        self.rule = Estimates(self.sizes, self.exploration)
        self.planner = planner_for(self.rule)

    def _detour(self) -> int | None:
        """The arm to explore, if an episode is over and a state was left too rarely."""
        if self.running:
            return None
        needed = self.rule.needed(self.t)
        departures = self.rule.departures(self.counts)
        short = [arm for arm, left in enumerate(departures) if left.min() < needed]
        return self.sight.last if self.sight.last in short else next(iter(short), None)


def estimated_rows(moves: Ints) -> Floats:
    """P^(s, s') in proportion to N(s, s'), where a move never seen counts once.

    >>> estimated_rows(np.array([[3, 1], [0, 0]])).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    weights = np.maximum(1, moves).astype(np.float64)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
