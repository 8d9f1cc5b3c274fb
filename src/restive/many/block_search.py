"""The search for a block of contenders and its price: what to plan next, and how finely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from restive.base.errors import OutOfTimeError, TooLargeError
from restive.many.block_bounds import HASTY, PATIENT, BlockBounds, BlockPlanner, PricedInterval
from restive.many.envelope import Envelope, Known
from restive.many.lagrangian import Priced, lagrangian_bound, minimise
from restive.many.market import Market
from restive.model.bandit import Arm, Bandit
from restive.planning import Plan, plan
from restive.policies.policy import InTurn, Policy

TILT = 1e-3  # of two prices that promise the same, the lower one
WORTH = 0.3  # search on at a block while it may win this share of the gap, otherwise let it grow
SHARES = (0.05, 0.12, 0.3)  # accuracy of plans in units of the gap so far: the finest one that
QUICK = 0.15  # takes no more than this share of the time left,
FINEST_SHARES = (0.01, 0.05, 0.3)  # and these where there is nothing else to do
GROWING = 0.5  # share of the time left for a larger block,
CHEAP = 0.2  # where the last arm to join has not won
GROWTH = 0.1  # this share of the gap,
LAST = 0.8  # and where there is nothing else to do with the time
CLEAR = 0.1  # accuracy in units of the gap at which a larger block is seen to be better,
DIM = 1.0  # and at which it may be
ROUNDING = 1e-14  # of a chord and a sum, relative
LAST_SHARE = 0.1  # but no finer than this share of the tolerance
POLISH = 0.02  # the same where it cannot grow,
SETTLED = 0.002  # until a round wins no more than this share of the gap,
LEAST = 1e-4  # or than this one where there is nothing else to do
DEMAND = 0.25  # of the rate at which the gap would close in the time left
NEAR = 0.008  # prices to choose from are no further apart than this,
LEAST_PRICE = 0.01  # in units of the largest reward
SEARCHES = 6  # prices at which one block is planned, at most


class BlockSearch:
    """The block so far, what is known of G for it, and the best interval."""

    def __init__(
        self, bandit: Bandit, tolerance: float, planner: BlockPlanner, began: float, deadline: float
    ) -> None:
        self.arms, self.pulls = bandit.arms, bandit.pulls
        self.tolerance, self.planner = tolerance, planner
        self.began, self.deadline = began, deadline
        self.market = Market(self.arms)
        bound = lagrangian_bound(self.arms, self.pulls)
        self.own = _best_alone(bandit, max(LAST_SHARE * tolerance, 1e-12))
        self.block: tuple[int, ...] = ()
        self.known: list[Known] = []
        self.state: object = None  # of the latest plan with a price
        self.shares, self.demand, self.rough = SHARES, DEMAND, False
        self.interval = PricedInterval(
            self.own.lower, min(bound.upper, float(self.pulls)), (), bandit.best_arms, bound.price,
            float(bound.gains.sum()), tolerance, perf_counter() - began, self.own.plan,
        )  # fmt: skip

    def intervals(self) -> Iterator[PricedInterval]:
        """Intervals that close, until no larger block and no finer plan fits time and memory."""
        yield self.interval
        try:
            share = GROWING
            while self.go_on(share, CLEAR):
                self.planner.patience, smaller = HASTY, None
                while self.go_on(share, CLEAR):
                    width, smaller = self.width, self.block_known
                    self.grow()
                    yield from self.alone(1.0)
                    yield from self.at_prices(WORTH)
                    share = GROWING if self.width <= (1 - GROWTH) * width else CHEAP
                self.planner.patience, larger = PATIENT, self.block_known
                yield from self.polished()
                if share == CHEAP and smaller is not None:  # the larger one may take too long
                    self.block_known = smaller
                    yield from self.polished()
                    self.block_known = larger
                share = GROWING
            yield from self.last()
        except (OutOfTimeError, TooLargeError):
            return

    @property
    def width(self) -> float:
        return self.interval.upper - self.interval.lower

    @property
    def block_known(self) -> tuple[tuple[int, ...], list[Known], BlockBounds, object]:
        """The block and what is known of it."""
        return self.block, self.known, self.own, self.state

    @block_known.setter
    def block_known(self, kept: tuple[tuple[int, ...], list[Known], BlockBounds, object]) -> None:
        self.block, self.known, self.own, self.state = kept

    def go_on(self, share: float, clear: float) -> bool:
        """Whether there is a larger block whose gain would show in this share of the time left.

        clear: accuracy in units of the gap at which it would.
        """
        if self.interval.proven_optimal or len(self.block) == len(self.arms):
            return False
        joined = self._chosen([*self.block, *self._joining()])
        prices = (0.5,) if self.rough else (None, 0.5)
        return sum(self._ahead(joined, price, clear) for price in prices) <= share * self.left

    @property
    def left(self) -> float:
        """Seconds."""
        return self.deadline - perf_counter()

    def _ahead(self, arms: Sequence[Arm], price: float | None, clear: float) -> float:
        """Forecast of a plan with this accuracy in units of the gap."""
        accuracy = max(LAST_SHARE * self.tolerance, min(clear * self.width, 0.01))
        return self.planner.seconds(arms, price, accuracy)

    def _accuracy(self, arms: Sequence[Arm], price: float | None, most: float) -> float | None:
        """How accurate a plan to make, None if even a rough one takes more of the time left."""
        if not arms:
            return None
        for share in self.shares:
            accuracy = max(LAST_SHARE * self.tolerance, min(share * self.width, 0.01))
            ahead = self.planner.seconds(arms, price, accuracy)
            if ahead <= QUICK * self.left and np.isfinite(ahead):
                return accuracy
        return accuracy if ahead <= most * self.left and np.isfinite(ahead) else None

    def grow(self) -> None:
        """Let the outside arms that earn most at the best price join; bounds of G carry over.

        G of the larger block is at least the old one and at most the old one + g_j(x).
        """
        for j in self._joining():
            self.known = [
                replace(k, upper=k.upper + self.market.gain(j, k.price)[1]) for k in self.known
            ]
            self.own = replace(self.own, upper=self.own.upper + self.market.gain(j, 0.0)[1])
            self.block = (*self.block, j)

    def _joining(self) -> list[int]:
        """One arm, but to begin with one more than there are pulls."""
        outside = [j for j in range(len(self.arms)) if j not in self.block]
        price, step = self.interval.price, 0.01
        count = min(len(outside), 1 if self.block else self.pulls + 1)
        while True:
            worth = [self.market.gain(j, price)[1] for j in outside]
            if sum(value > 0 for value in worth) >= count or price <= 0:
                break
            price, step = max(price - step, 0.0), 2 * step
        order = sorted(range(len(outside)), key=lambda k: (-worth[k], outside[k]))
        return [outside[k] for k in order[:count]]

    def _rate(self) -> float:
        """By how much each second of work has to narrow the interval."""
        return self.demand * self.width / max(self.left, 1e-3)

    def _chosen(self, block: Sequence[int]) -> list[Arm]:
        return [self.arms[j] for j in block]

    def alone(self, share: float) -> Iterator[PricedInterval]:
        """Plan the block alone, if that takes no more than this share of the time left."""
        arms = self._chosen(self.block)
        accuracy = self._accuracy(arms, None, share)
        if accuracy is not None:
            self.planner.rate = self._rate()
            self.own = self.planner(arms, None, accuracy, self.state)
            yield self._note_lower(self.own)

    def at_prices(self, worth: float) -> Iterator[PricedInterval]:
        """Plan the block beside a constant arm, at the prices that promise most.

        worth: stop where the search may win no more than this share of the rest of the gap.
        """
        arms = self._chosen(self.block)
        if not arms:
            return
        largest = max(float(arm.rewards.max()) for arm in arms)
        for _ in range(SEARCHES):
            alone = self.own
            envelope = self._envelope(largest)
            floor, price = self._promise(envelope)
            price = max(price, LEAST_PRICE * largest)  # a bound of G there is one of G(0)
            yield self._note_upper(envelope, largest)
            left = self.interval.upper - floor
            if self.interval.proven_optimal or left <= worth * max(floor - alone.lower, 0.0):
                return
            accuracy = self._accuracy(arms, price, 1.0)
            if accuracy is None and self.rough and self._ahead(arms, price, DIM) <= self.left:
                accuracy = max(LAST_SHARE * self.tolerance, SHARES[0] * self.width)
            if left <= LAST_SHARE * self.tolerance or price >= largest or accuracy is None:
                return
            self.planner.rate = self._rate()
            beside = self.planner(arms, price, accuracy, self.state)
            self.state = beside.state
            self.known = [*self.known, Known(price, beside.lower, beside.upper)]
            yield self._note_upper(self._envelope(largest), largest)
            if alone.doubt > WORTH * self.width:
                yield from self.alone(1.0)

    def last(self) -> Iterator[PricedInterval]:
        """What may still narrow the interval: rough plans of larger blocks, then finer ones."""
        alone = beside = self.block_known
        self.rough = True
        while self.go_on(LAST, DIM):
            width = self.width
            self.grow()
            yield from self.at_prices(WORTH)
            beside = self.block_known if self.interval.block == self.block else beside
            lower = self.interval.lower
            yield from self.alone(LAST)
            alone = self.block_known if self.interval.lower > lower else alone
            if self.width >= (1 - SETTLED) * width:
                break
        self.planner.patience, self.shares, self.demand = 1.0, FINEST_SHARES, 0.0
        width = np.inf
        while self.width < (1 - LEAST) * width:
            width = self.width
            self.block_known = beside
            yield from self.at_prices(POLISH)
            beside, self.block_known = self.block_known, alone
            yield from self.alone(1.0)
            alone = self.block_known

    def _envelope(self, largest: float) -> Envelope:
        bounds = self.own.lower, self.own.upper
        return Envelope.of(bounds, largest, self.known, self.pulls)

    def polished(self) -> Iterator[PricedInterval]:
        """Plan the block again and again, each time finer, as long as that pays."""
        width = np.inf
        while self.block and self.width < (1 - SETTLED) * width:
            width = self.width
            yield from self.alone(1.0)
            yield from self.at_prices(POLISH)

    def _note_lower(self, alone: BlockBounds) -> PricedInterval:
        if alone.lower > self.interval.lower:
            self.interval = replace(
                self.interval, lower=alone.lower, plan_arms=self.block, plan=alone.plan
            )
        return self._stamped()

    def _note_upper(self, envelope: Envelope, largest: float) -> PricedInterval:
        """The least of U over all prices, from chords of G."""

        def total(price: float) -> Priced:
            value, slope = envelope.upper(price)
            _, upper, wanted = self.market.outside(self.block, price)
            value = (value + upper) * (1 + ROUNDING)
            return Priced(price, value, value, slope - wanted)

        best, _, _ = minimise(total, largest, 1e-3 * self.tolerance)
        if best.upper < self.interval.upper:
            outside = self.market.outside(self.block, best.price)[1]
            self.interval = replace(
                self.interval, upper=best.upper, price=best.price, block=self.block, outside=outside
            )
        return self._stamped()

    def _promise(self, envelope: Envelope) -> tuple[float, float]:
        """About the least that U can be, and the price where that is; to steer only.

        On a grid, and where that is coarse between the neighbours of its best price.
        """
        prices, outside = self.market.grid(self.block)
        least = np.array([envelope.lower(price) for price in prices.tolist()]) + outside
        at = int(np.argmin(least + TILT * prices))
        best = float(least[at]), float(prices[at])
        low, high = prices[max(at - 1, 0)], prices[min(at + 1, len(prices) - 1)]
        count = int((high - low) / (NEAR * prices[-1]))
        for price in np.linspace(low, high, count + 2)[1:-1].tolist():
            own = envelope.lower(price) + self.market.outside(self.block, price)[0]
            best = min(best, (own, price), key=lambda promise: promise[0] + TILT * promise[1])
        return best

    def _stamped(self) -> PricedInterval:
        self.interval = replace(self.interval, seconds=perf_counter() - self.began)
        return self.interval


def _best_alone(bandit: Bandit, accuracy: float) -> BlockBounds:
    """The best arms pulled for ever, each planned by itself."""
    # alone an arm is always of age 1, so no more ages are needed
    plans = [plan(Bandit([bandit.arms[j]]), accuracy, caps=2) for j in bandit.best_arms]
    lower, upper = sum(own.gain_lower for own in plans), sum(own.gain_upper for own in plans)
    slack = ROUNDING * len(plans) if len(plans) > 1 else 0.0
    everyone: Plan | Policy = plans[0] if len(plans) == 1 else InTurn(len(plans))
    return BlockBounds(lower - slack, upper + slack, None, everyone)
