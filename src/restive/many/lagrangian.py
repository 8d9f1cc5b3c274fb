"""The Lagrangian bound: sell pulls at one price, and let every arm play alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import fsum
from numbers import Integral
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats
from restive.base.backends import Workplace, in_order
from restive.base.described import Brief
from restive.base.errors import ArgumentError
from restive.base.pools import Pool
from restive.many.single_arm import PricedArm, price_arm
from restive.model.arguments import require_arm_list
from restive.model.bandit import Arm, Bandit

BATCH = 64  # kinds of arms priced by a worker in one go
EVALUATIONS = 60
EPS = float(np.finfo(np.float64).eps)


class Priced(NamedTuple):
    """U at one price."""

    price: float
    lower: float
    upper: float
    slope: float  # pulls there are minus pulls wanted


@dataclass(frozen=True, eq=False, repr=False)
class LagrangianBound(Brief):
    """rho* <= upper = m x + sum over arms of g_j(x), certified.

    price: x. slack: the least over all prices is at most this much lower. gains: (C,) upper bounds
    of g_j(x); wanted: (C,) pulls a step that each arm wants at x; counts: (C,) how many such arms
    there are. priced: the arms at x, where they were given as arms.
    """

    upper: float
    price: float
    slack: float
    pulls: int
    gains: Floats
    wanted: Floats
    counts: Floats
    evaluations: int
    priced: tuple[PricedArm, ...] = field(default=(), repr=False)


def lagrangian_bound(
    arms: Sequence[Arm],
    pulls: int = 1,
    *,
    counts: Sequence[int] | None = None,
    tolerance: float = 1e-9,
    deadline: float = np.inf,
    workplace: Workplace | None = None,
) -> LagrangianBound:
    """The least over prices x of m x + sum_j g_j(x): an upper bound of the best average reward.

    counts: how many arms like each there are (one by default); a million of them cost what one
    does. tolerance: accuracy of the minimum, a pull; the bound is certified in any case. deadline:
    of ``perf_counter``, from which on no more prices are tried. workplace: where arms are priced,
    this process by default; the result is the same to the last bit.

    >>> arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])
    >>> bound = lagrangian_bound([arm], 2, counts=[10])
    >>> round(bound.upper, 6), round(bound.price, 6)
    (1.665594, 0.828773)
    """
    require_arm_list(arms)
    many = counted(counts, len(arms), pulls)
    with ExitStack() as stack:
        pricing = _Pricing(arms, workplace, stack)
        best, slack, count, parts = _best_price(arms, pulls, many, pricing, tolerance, deadline)
    gains, wanted = np.array([[part.upper, part.pulls] for part in parts]).T
    return LagrangianBound(
        best.upper, best.price, slack, pulls, gains, wanted, many, count, tuple(parts)
    )


class _Pricing:
    """All arms at one price after another, each from where it was at the last; equal ones once."""

    def __init__(self, arms: Sequence[Arm], workplace: Workplace | None, stack: ExitStack) -> None:
        self.arms = arms
        self.kinds = tuple(dict.fromkeys(arms))
        self.latest: dict[Arm, PricedArm] = {}
        self.pool: Pool | None = None
        if workplace is not None:
            jobs = -(-len(self.kinds) // BATCH)
            self.pool = stack.enter_context(workplace.opened(_priced, jobs))

    def at(self, price: float) -> list[PricedArm]:
        jobs = [
            (price, [(arm, self.latest.get(arm)) for arm in self.kinds[first : first + BATCH]])
            for first in range(0, len(self.kinds), BATCH)
        ]
        batches = map(_priced, jobs) if self.pool is None else in_order(self.pool, jobs)
        self.latest = {part.arm: part for batch in batches for part in batch}
        return [self.latest[arm] for arm in self.arms]


def _priced(job: tuple[float, list[tuple[Arm, PricedArm | None]]]) -> list[PricedArm]:
    price, parts = job
    return [price_arm(arm, price, start=start) for arm, start in parts]


def _best_price(
    arms: Sequence[Arm], pulls: int, many: Floats, pricing: _Pricing, tolerance: float,
    deadline: float,
) -> tuple[Priced, float, int, list[PricedArm]]:  # fmt: skip
    def evaluate(price: float) -> Priced:
        parts = pricing.at(price)
        lower, upper, share = (
            fsum(c * getattr(part, name) for c, part in zip(many, parts, strict=True))
            for name in ("lower", "upper", "pulls")
        )
        return at_price(pulls, price, lower, upper, share, len(arms))

    highest = max(float(arm.rewards.max()) for arm in arms)
    best, slack, count = minimise(evaluate, highest, tolerance, deadline)
    return best, slack, count, pricing.at(best.price)


def ceiling(bandit: Bandit, patience: float = 10.0) -> float:
    """What no policy earns more than per step: certified, quick, and seldom tight for few arms.

    patience: seconds for the search of the best price; any price gives a bound.

    >>> from restive.problems import example1
    >>> round(ceiling(example1()), 4)
    0.7796
    """
    largest = sorted((float(arm.rewards.max()) for arm in bandit.arms), reverse=True)
    most = fsum(largest[: bandit.pulls])
    try:
        bound = lagrangian_bound(bandit.arms, bandit.pulls, deadline=perf_counter() + patience)
    except (ArithmeticError, MemoryError):
        return most
    return min(bound.upper, most)


def minimise(
    evaluate: Callable[[float], Priced],
    highest: float,
    tolerance: float,
    deadline: float = np.inf,
) -> tuple[Priced, float, int]:
    """Minimum over [0, highest] of a convex function given with slopes: best point, slack, count.

    Left and right tangents bound the minimum from below where they meet. The next price is where
    they meet or, where that creeps, where the slope would be 0 if it were linear in between.
    tolerance: for the value, relative to the pulls there are.
    """
    left, right = evaluate(0.0), evaluate(max(highest, 0.0))
    best, count = min(left, right, key=lambda point: point.upper), 2
    floor, enough = -np.inf, tolerance * max(abs(right.slope), 1.0)
    while count < EVALUATIONS and perf_counter() < deadline:
        if left.slope >= 0 or right.slope <= 0:  # the minimum is at this end
            end = left if left.slope >= 0 else right
            best, floor = end, end.lower
            break
        meet = (right.lower - left.lower + left.slope * left.price - right.slope * right.price) / (
            left.slope - right.slope
        )
        meet = min(max(meet, left.price), right.price)
        floor = left.lower + left.slope * (meet - left.price)
        width = right.price - left.price
        if best.upper - floor <= enough or width <= 4 * EPS:
            break
        straight = left.price - left.slope * width / (right.slope - left.slope)
        price = meet if count % 2 else straight
        if min(price - left.price, right.price - price) <= 0:
            price = left.price + 0.5 * width
        point = evaluate(price)
        count += 1
        best = min(best, point, key=lambda p: p.upper)
        if point.slope < 0:
            left = point
        else:
            right = point
    return best, max(best.upper - floor, 0.0), count


def at_price(
    pulls: int, price: float, lower: float, upper: float, wanted: float, terms: int
) -> Priced:
    """U(x) = m x + sum g, widened for the rounding of sums of ``terms`` numbers."""
    slack = EPS * (terms + 4) * (abs(upper) + pulls * price)
    return Priced(
        price, pulls * price + lower - slack, pulls * price + upper + slack, pulls - wanted
    )


def counted(counts: ArrayLike | None, size: int, pulls: int) -> Floats:
    """How many arms of each kind there are, checked."""
    if size == 0:
        raise ArgumentError("there are no arms")
    if not isinstance(pulls, Integral) or pulls < 1:
        raise ArgumentError(f"pulls must be a whole number from 1 on, not {pulls!r}")
    many = np.ones(size) if counts is None else np.asarray(counts, dtype=np.float64)
    if many.shape != (size,) or not (many >= 0).all():
        raise ArgumentError(f"counts must be {size} numbers that are not negative")
    return np.ascontiguousarray(many)
