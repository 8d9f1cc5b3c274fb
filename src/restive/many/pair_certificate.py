"""Certified bounds for given budgets: value iteration over pairs, whatever proposed the numbers.

The argument is written out in docs/theory/pairs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import numpy as np

from restive.base.arrays import Floats
from restive.base.machine import helpers
from restive.many.pair_budgets import Budgets, Payoffs, constant_budgets, payoffs
from restive.many.pair_tables import Family, Side

Kind = tuple[int, int]
T = TypeVar("T")

STEP = 0.9  # of each sweep towards the backup; below 1, or periodic policies make values swing
SWEEPS = 6  # in one call of a kernel; even, so that the result lies where the values were
MAX_SWEEPS = 4000
THREADS_FROM_STATES = 5_000  # smaller families are done before threads have woken up
CONVERGED = 1e-12  # relative to the values; sweeps cannot get much closer


@dataclass(frozen=True, eq=False)
class Certified:
    """A proven bound, the budgets it belongs to and the values that prove it."""

    upper: float
    budgets: Budgets
    values: dict[Kind, Floats]


def over_kinds(family: Family, work: Callable[[Kind], T], kinds: Iterable[Kind]) -> list[T]:
    """Results of ``work`` for all kinds in their order; on threads where that pays."""
    if family.n_states < THREADS_FROM_STATES or len(family.kinds) == 1:
        return [work(kind) for kind in kinds]
    with helpers() as pool:
        return list(pool.map(work, kinds))


def certify(
    family: Family, budgets: Budgets, start: dict[Kind, Floats], tolerance: float, deadline: float
) -> Certified:
    """rho* <= sum over kinds of weight max(T h - h), plus what rounding may have done.

    T counts rows beyond the cap at the best law they can stand for. start: values of each kind to
    begin with. Sweeps go on until they can lower the sum by ``tolerance`` at most, or to the
    deadline; the bound holds whenever they stop.
    """
    paid = payoffs(family, budgets)
    width = 2.0 * tolerance / family.n_arms  # the weights of all kinds add up to K / 2
    upper, values = 0.0, {}

    def work(kind: Kind) -> tuple[float, Floats]:
        return _bound(family, paid, kind, start[kind], width, deadline)

    for kind, (high, h) in zip(family.kinds, over_kinds(family, work, family.kinds), strict=True):
        upper += family.weight(*kind) * high
        values[kind] = h
    return Certified(float(upper + _rounding(family, paid, values)), budgets, values)


def _bound(
    family: Family, paid: Payoffs, kind: Kind, start: Floats, width: float, deadline: float
) -> tuple[float, Floats]:
    from restive._kernels import pairs

    first, second = (family.sides[c] for c in kind)
    numbers = paid.of(*kind)
    h, spare = start.copy(), np.empty_like(start)
    best, count = np.inf, 1
    for done in range(0, MAX_SWEEPS, SWEEPS):
        low, high = pairs.sweep(
            h, spare, first, second, *numbers, family.rest, family.both, 1.0, STEP, count
        )
        if count == 1:
            h, spare = spare, h
        best = min(best, high)  # sweeps never raise it, but for rounding
        if high - low <= max(width, CONVERGED * np.abs(h).max()):
            break
        if done and perf_counter() > deadline:
            break
        count = SWEEPS
    return float(best), h


def _rounding(family: Family, paid: Payoffs, values: dict[Kind, Floats]) -> float:
    """Generous bound of all rounding: backups as in the certificate of plans, sums of shares."""
    unit = float(np.finfo(np.float64).eps)
    cross = max(float(np.abs(part).max()) for part in paid.cross)
    own = max(float(np.abs(part).max()) for part in paid.own.values())
    total = 0.0
    for (c, d), h in values.items():
        size = max(len(family.sides[c].fresh), len(family.sides[d].fresh))
        scale = 1.0 + float(np.abs(h).max()) + 2 * own + 2 * cross
        total += family.weight(c, d) * scale * _units(size, max(h.shape))
    shares = family.n_arms * (own + cross) * (8 + 2 * len(family.counts))
    return unit * (total + shares)


def _units(size: int, ages: int) -> float:
    """Units in the last place that a backup can lose: products, sums and the table of powers."""
    return float(12 + 2 * size + 2 * size * np.log2(2.0 + ages))


def at_price(family: Family, price: float, tolerance: float, deadline: float = np.inf) -> Certified:
    """The Lagrangian bound at this price as one by pairs, with h_cd(x, y) = h_c(x) + h_d(y)."""
    alone = [np.zeros(len(side.after)) for side in family.sides]
    for side, h in zip(family.sides, alone, strict=True):
        _find_values(side, h, price, tolerance / family.n_arms, deadline)
    start = {(c, d): alone[c][:, None] + alone[d][None, :] for c, d in family.kinds}
    return certify(family, constant_budgets(family, price), start, np.inf, np.inf)


def _find_values(side: Side, values: Floats, price: float, width: float, deadline: float) -> None:
    """Values of one arm that pays for pulls, in place, until they are worth about ``width``."""
    from restive._kernels import pairs

    spare = np.empty_like(values)
    for _ in range(0, MAX_SWEEPS, SWEEPS):
        low, high = pairs.lone_sweep(values, spare, side, price, STEP, SWEEPS)
        if high - low <= max(width, CONVERGED * np.abs(values).max()):
            break
        if perf_counter() > deadline:
            break
