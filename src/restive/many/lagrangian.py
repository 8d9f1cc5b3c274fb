"""The Lagrangian bound: sell pulls at one price, and let every arm play alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import fsum
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.many.single_arm import PricedArm, price_arm
from restive.model.bandit import Arm

__all__ = [
    "LagrangianBound",
    "Priced",
    "lagrangian_bound",
    "minimise",
    "two_state_bound",
    "two_state_gains",
]

Floats = NDArray[np.float64]

CHUNK = 4096  # arms summed in one go: fixed, so that threads change no byte
CALL = 16  # chunks in one compiled call
EVALUATIONS = 60
EPS = float(np.finfo(np.float64).eps)


class Priced(NamedTuple):
    """U at one price."""

    price: float
    lower: float
    upper: float
    slope: float  # pulls there are minus pulls wanted


@dataclass(frozen=True, eq=False)
class LagrangianBound:
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
) -> LagrangianBound:
    """The least over prices x of m x + sum_j g_j(x): an upper bound of the best average reward.

    counts: how many arms like each there are (one by default); a million of them cost what one
    does. tolerance: accuracy of the minimum, a pull; the bound is certified in any case. deadline:
    of ``perf_counter``, from which on no more prices are tried.

    >>> arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])
    >>> bound = lagrangian_bound([arm], 2, counts=[10])
    >>> round(bound.upper, 6), round(bound.price, 6)
    (1.665594, 0.828773)
    """
    many = _counts(counts, len(arms), pulls)
    latest: list[PricedArm | None] = [None] * len(arms)
    kinds = {arm: j for j, arm in reversed(list(enumerate(arms)))}  # equal arms are priced once

    def priced_at(price: float) -> list[PricedArm]:
        for j in kinds.values():
            latest[j] = price_arm(arms[j], price, start=latest[j])
        return [part for arm in arms if (part := latest[kinds[arm]]) is not None]

    def evaluate(price: float) -> Priced:
        parts = priced_at(price)
        lower, upper, wanted = (
            fsum(c * getattr(part, name) for c, part in zip(many, parts, strict=True))
            for name in ("lower", "upper", "pulls")
        )
        return _sold(pulls, price, lower, upper, wanted, len(arms))

    highest = max(float(arm.rewards.max()) for arm in arms)
    best, slack, count = minimise(evaluate, highest, tolerance, deadline)
    parts = priced_at(best.price)
    gains, wanted = np.array([[part.upper, part.pulls] for part in parts]).T
    return LagrangianBound(
        best.upper, best.price, slack, pulls, gains, wanted, many, count, tuple(parts)
    )


def two_state_bound(
    p01: ArrayLike,
    p11: ArrayLike,
    r0: ArrayLike,
    r1: ArrayLike,
    pulls: int,
    *,
    counts: ArrayLike | None = None,
    tolerance: float = 1e-9,
    threads: int | None = None,
) -> LagrangianBound:
    """``lagrangian_bound`` for many different two-state arms, given as arrays of equal length.

    p01, p11: chances to be in state 1 after 0 and after 1; r0, r1: mean rewards. tolerance: a
    pull. threads: as many as there are cores by default; the result is the same to the last bit.
    """
    from restive._kernels import two_state as kernel

    columns = _columns(p01, p11, r0, r1)
    size = len(columns[0])
    many = _counts(counts, size, pulls)
    blocks = -(-size // CHUNK)
    sums, each = np.zeros((blocks, 3)), np.empty((size, 3))
    workers = ThreadPoolExecutor(threads or _threads(), thread_name_prefix="restive")

    work: Callable[..., None] = kernel.price_chunks

    def run(price: float, out: Floats) -> Priced:
        jobs = [
            workers.submit(
                work, *columns, many, price, CHUNK, first,
                min(first + CALL, blocks), sums, out,
            )
            for first in range(0, blocks, CALL)
        ]  # fmt: skip
        for job in jobs:
            job.result()
        lower, upper, wanted = (fsum(column) for column in sums.T.tolist())
        return _sold(pulls, price, lower, upper, wanted, CHUNK)

    with workers:
        highest = float(kernel.last_prices(*columns))
        best, slack, count = minimise(lambda x: run(x, np.empty((0, 3))), highest, tolerance)
        best = run(best.price, each)
    gains, wanted = each[:, 1].copy(), each[:, 2].copy()
    return LagrangianBound(best.upper, best.price, slack, pulls, gains, wanted, many, count)


def two_state_gains(
    p01: ArrayLike, p11: ArrayLike, r0: ArrayLike, r1: ArrayLike, price: float
) -> Floats:
    """What each of many different two-state arms earns alone at a price.

    (n, 3): lower and upper bound of g_j(x), and the pulls a step that the arm wants.

    >>> two_state_gains([0.1], [0.9], [0], [1], 0.7).round(6).tolist()
    [[0.04509, 0.04509, 0.424396]]
    """
    from restive._kernels import two_state as kernel

    columns = _columns(p01, p11, r0, r1)
    size = len(columns[0])
    blocks = -(-size // CHUNK)
    sums, each = np.zeros((blocks, 3)), np.empty((size, 3))
    for first in range(0, blocks, CALL):
        end = min(first + CALL, blocks)
        kernel.price_chunks(*columns, np.ones(size), price, CHUNK, first, end, sums, each)
    return each


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


def _sold(
    pulls: int, price: float, lower: float, upper: float, wanted: float, terms: int
) -> Priced:
    """U(x) = m x + sum g, widened for the rounding of sums of ``terms`` numbers."""
    slack = EPS * (terms + 4) * (abs(upper) + pulls * price)
    return Priced(
        price, pulls * price + lower - slack, pulls * price + upper + slack, pulls - wanted
    )


def _counts(counts: ArrayLike | None, size: int, pulls: int) -> Floats:
    if size == 0:
        raise ValueError("there are no arms")
    if pulls < 1:
        raise ValueError(f"pulls must be at least 1, not {pulls!r}")
    many = np.ones(size) if counts is None else np.asarray(counts, dtype=np.float64)
    if many.shape != (size,) or not (many >= 0).all():
        raise ValueError(f"counts must be {size} numbers that are not negative")
    return np.ascontiguousarray(many)


def _columns(
    p01: ArrayLike, p11: ArrayLike, r0: ArrayLike, r1: ArrayLike
) -> tuple[Floats, Floats, Floats, Floats]:
    """p01, p10, r0, r1 as checked arrays of one length."""
    raw = [np.atleast_1d(np.asarray(column, dtype=np.float64)) for column in (p01, p11, r0, r1)]
    shape = np.broadcast_shapes(*(column.shape for column in raw))
    columns = [np.ascontiguousarray(np.broadcast_to(column, shape)) for column in raw]
    for name, column in zip(("p01", "p11", "r0", "r1"), columns, strict=True):
        bad = ~((column >= 0) & (column <= 1))
        if name == "p01":
            bad |= column == 0
        if name == "p11":
            bad |= column == 1
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            words = "a chance above 0" if name == "p01" else "between 0 and 1"
            words = "a chance below 1" if name == "p11" else words
            raise ValueError(f"{name}[{at}] must be {words}, not {column[at]!r}")
    return columns[0], 1.0 - columns[1], columns[2], columns[3]


def _threads() -> int:
    from restive.base.machine import thread_count

    return thread_count()
