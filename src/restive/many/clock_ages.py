"""What a block tells apart about its arms: the ages and beliefs that would cost most to do without.

Every arm alone, near the price at which the block's arms share out one pull a step, says how often
it is left in each state and how long it then waits. That only decides what to tell apart: bounds
hold whatever is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log2
from time import perf_counter

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import OutOfTimeError
from restive.many.clocks import Ages, BeliefPoints, limit_laws
from restive.many.lagrangian import lagrangian_bound
from restive.many.single_arm import PricedArm, price_arm
from restive.model import chains
from restive.model.bandit import Arm

LOWER_PRICE = 0.9  # of the block's: beliefs have to serve a range of prices
STAYS = 0.01  # how often an arm is left, in a block, in a state in which it would stay alone
SELDOM = 4  # mixing times between the pulls of an arm that wants none at this price
ASTRAY = 0.01  # share of pulls that find the arm in any state, so that none is out of reach
LATER = 3  # steps that an arm is pulled later than it would be alone
PERIODS = 2  # of a periodic arm, told apart for each halving of what forgetting it may cost
MOST_AGES = 400  # one by one
OLDEST = 20_000
DENSE = 40  # beliefs to choose from are of all ages up to this one, then with gaps,
RATIO, WIDE_RATIO = 1.1, 1.5  # each age so many times the one before,
SETTLED = 1e-9  # until all are so near to the limit
CANDIDATES = 1_500  # probabilities of dense ages, about: arms of many states have fewer of them
WIDE = 8  # states from which on gaps are wide
RARER = 0.8  # so much less often an arm is one step older than it should get
AHEAD = (0, 2, 5)  # steps from now at which a pull has a worth that beliefs are to agree on
ROUND = 1e-4  # weight of plain distance beside that
BATCH = 0.2  # new beliefs at a time, as a share of those there are,
ALIKE = 0.5  # each worth at least this share of the best
SPREADS = 3.0  # spread of beliefs that costs as much as ages forgotten


@dataclass(frozen=True, eq=False)
class ArmUse:
    """How a block uses an arm, by what it does alone at a price.

    leaving: (S,) how often a step it is left in each state, waits: (S,) for how long then.
    """

    priced: PricedArm
    leaving: Floats
    waits: Ints
    deadline: float = inf

    @classmethod
    def at(cls, arm: Arm, price: float, deadline: float = inf) -> ArmUse:
        priced = price_arm(arm, price)
        waits = _waits(priced)
        return cls(priced, _leaving(arm, waits), waits, deadline)

    @cached_property
    def losses(self) -> Floats:
        """(S, A): about what a step loses where a state is forgotten at an age; falls with age."""
        table, worth = self.priced.table, self.priced.advantages
        loop = table.back + (table.ages - table.ages[table.back]) % (len(table.ages) - table.back)
        changes = np.abs(worth - worth[:, loop])
        ahead = np.maximum.accumulate(changes[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(self.leaving[:, None] * ahead)

    def ages(self, loss: float) -> Ages:
        """For each state the ages from 2 on that it costs more than ``loss`` to forget.

        What is forgotten of a periodic arm is its phase, however old: some more periods each time
        the loss is halved.
        """
        arm = self.priced.arm
        if arm.period > 1:
            count = PERIODS * arm.period * max(int(-log2(loss)), 1)
            return (tuple(range(2, 2 + min(count, MOST_AGES))),) * arm.n_states
        free = self.losses <= loss
        free[:, -1] = True
        ends = self.priced.table.ages[np.argmax(free, axis=1)]
        return tuple(tuple(range(2, min(int(end), MOST_AGES))) for end in ends)

    def count(self, loss: float, alone: bool) -> int:
        """Points of a clock."""
        if alone:
            return sum(map(len, self.ages(loss))) + self.priced.arm.n_states
        return self.beliefs.until(loss).size

    def tail_law(self, told: Ages) -> Floats:
        """Where the arm is likely to be once its ages are no longer told apart.

        From then on until it would be pulled if it were alone, and a little longer.
        """
        arm, total = self.priced.arm, np.zeros(self.priced.arm.n_states)
        for state, (part, wait) in enumerate(zip(told, self.waits.tolist(), strict=True)):
            begin = len(part) + 2
            law = chains.power(arm.transitions, begin)[state]
            for _ in range(max(min(wait + LATER, MOST_AGES) - begin, 0) + 1):
                total += self.leaving[state] * law
                law = law @ arm.transitions
        return np.asarray(total / total.sum())

    @cached_property
    def beliefs(self) -> BeliefOrder:
        return BeliefOrder(self)


class BeliefOrder:
    """Beliefs of an arm, first those that others replace worst.

    To begin with those of age 2, of which all later ones are mixtures, and the limits. Then again
    and again the belief whose mixture spreads most, in what a pull is worth now and soon, by how
    often it comes up.
    """

    def __init__(self, use: ArmUse) -> None:
        self.use, self.arm = use, use.priced.arm
        lower = ArmUse.at(self.arm, LOWER_PRICE * use.priced.price)
        self._leaving = 0.5 * (use.leaving + lower.leaving)
        self._waits = np.maximum(use.waits, lower.waits)
        transitions = self.arm.transitions
        start = [*chains.power(transitions, 2), *limit_laws(self.arm)]
        self.points = np.array(start) if self.arm.n_states > 1 else np.ones((1, 1))
        self.costs: list[float] = []  # of doing without each of the points after the first ones
        self._taken: list[int] = []  # of the candidates; none twice, whatever rounding says
        self._first, self._done = len(self.points), self.arm.n_states == 1

    def until(self, loss: float) -> BeliefPoints:
        """The beliefs that it costs more than ``loss`` to do without."""
        while not self._done and (not self.costs or self.costs[-1] > SPREADS * loss):
            self._add()
        count = self._first + sum(cost > SPREADS * loss for cost in self.costs)
        return self._placed(self.points[:count])

    def _placed(self, points: Floats) -> BeliefPoints:
        return BeliefPoints(self.arm, points, _squares(points @ self._worth, points))

    @cached_property
    def _worth(self) -> Floats:
        """(S, len(AHEAD)): what a pull is worth in each state, now and later."""
        arm = self.arm
        worth = arm.rewards + self.use.priced.values
        worth = worth - arm.stationary @ worth
        return np.stack([chains.power(arm.transitions, n) @ worth if n else worth for n in AHEAD]).T

    @cached_property
    def _candidates(self) -> tuple[Floats, Floats]:
        """(C, S) beliefs, state by state, and (C,) how often they come up."""
        oldest = self.arm.mixing_time(SETTLED, OLDEST)
        ratio = RATIO if self.arm.n_states <= WIDE else WIDE_RATIO
        dense = max(min(DENSE, CANDIDATES // self.arm.n_states**2), 4)
        ages = list(range(3, min(oldest, dense) + 1))
        while ages and ages[-1] < oldest:
            ages.append(min(max(int(ratio * ages[-1]), ages[-1] + 1), oldest))
        rows = [chains.power(self.arm.transitions, n) for n in ages]
        late = np.array(ages, dtype=np.float64)[:, None] - self._waits - LATER
        often = self._leaving * RARER ** np.maximum(late, 0.0)
        beliefs = np.stack(rows, axis=1) if rows else np.empty(0)
        return beliefs.reshape(-1, self.arm.n_states), often.T.ravel()

    def _add(self) -> None:
        """The worst beliefs of all, but no two neighbours."""
        if perf_counter() > self.use.deadline:
            raise OutOfTimeError
        beliefs, often = self._candidates
        if not len(beliefs):
            self._done = True
            return
        places = self._placed(self.points).locate(beliefs)
        worth, own = self.points @ self._worth, beliefs @ self._worth
        spread = ((worth[places.places] - own[:, None]) ** 2).sum(axis=2)
        costs = often * np.sqrt((places.weights * spread).sum(axis=1))
        costs[self._taken] = 0.0
        order, most = np.argsort(-costs, kind="stable"), float(costs.max())
        chosen: list[int] = []
        for place in order.tolist():
            if len(chosen) > BATCH * len(self.points) or costs[place] <= ALIKE * most:
                break
            if all(abs(place - other) > 1 for other in chosen):
                chosen.append(place)
        self._done = not chosen
        self._taken += chosen
        self.points = np.concatenate([self.points, beliefs[chosen]])
        ceiling = self.costs[-1] if self.costs else np.inf  # so that costs fall
        self.costs += [min(float(costs[place]), ceiling) for place in chosen]


def _squares(worth: Floats, points: Floats) -> Floats:
    return np.asarray((worth**2).sum(axis=1) + ROUND * (points**2).sum(axis=1))


def arm_uses(arms: Sequence[Arm], deadline: float = inf, pulls: int = 1) -> list[ArmUse]:
    """Every arm of a block; deadline: of ``perf_counter``, for choosing what to tell apart."""
    price = lagrangian_bound(arms, min(pulls, len(arms))).price
    return [ArmUse.at(arm, price, deadline) for arm in arms]


def _waits(priced: PricedArm) -> Ints:
    """(S,): steps from seeing a state to the next pull; long ones where none is wanted."""
    seldom = min(SELDOM * priced.arm.mixing_time(most=OLDEST), OLDEST)
    return np.asarray(np.where(priced.waits > 0, priced.waits, seldom))


def _leaving(arm: Arm, waits: Ints) -> Floats:
    """(S,): how often a step the arm is left in each state, if it waits so long."""
    seen = np.array([chains.power(arm.transitions, n)[s] for s, n in enumerate(waits.tolist())])
    shares = chains.stationary((1 - ASTRAY) * seen + ASTRAY * arm.stationary)
    return np.asarray(shares / (shares @ waits) * np.where(waits > 1, 1.0, STAYS))
