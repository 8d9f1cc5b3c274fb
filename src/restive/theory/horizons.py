"""Horizons: running without knowing T, and the T from which on a bound says something."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from restive.base.checks import require, require_delta, require_horizon


class DoublingRound(NamedTuple):
    """One round of the doubling trick: the horizon and delta it is run with, and its steps."""

    number: int  # i, from 1 on
    start: int  # first step, counted from 1
    horizon: int  # 2^i, what the algorithm is told
    delta: float  # delta / 2^i
    steps: int  # steps played: all of the horizon except perhaps in the last round


def doubling_rounds(horizon: float, delta: float) -> list[DoublingRound]:
    """Rounds i = 1, 2, ... with T = 2^i and delta/2^i that cover the steps 1..horizon (proof of
    Theorem 2); all rounds together fail with probability at most delta.

    >>> [(r.start, r.horizon, r.steps) for r in doubling_rounds(10, 0.05)]
    [(1, 2, 2), (3, 4, 4), (7, 8, 4)]
    """
    left = require_horizon(horizon)
    require_delta(delta)
    rounds: list[DoublingRound] = []
    start, i = 1, 1
    while left > 0:
        steps = min(2**i, left)
        rounds.append(DoublingRound(i, start, 2**i, delta / 2**i, steps))
        start, left, i = start + steps, left - steps, i + 1
    return rounds


def doubling_bound(bound: Callable[[int, float], float], horizon: float, delta: float) -> float:
    """sum_i min(2^i, bound(2^i, delta/2^i)) over the rounds of the doubling trick (Theorem 2)."""
    rounds = doubling_rounds(horizon, delta)
    return sum(min(r.steps, bound(r.horizon, r.delta)) for r in rounds)


def first_meaningful_horizon(bound: Callable[[int], float], largest: int = 2**1000) -> int | None:
    """Smallest T from which on bound(T) < T, which no regret can exceed; None beyond largest.

    bound(T)/T may jump up right after powers of two, as the caps do after powers of four, and must
    fall in between. Both sides of every jump are checked, so a dip that does not last is not
    mistaken for the answer.

    >>> first_meaningful_horizon(lambda T: 10 * T**0.5)
    101
    """
    require(largest >= 1, "largest", largest, "Horizons count from 1.")
    good = largest
    if bound(good) >= good:
        return None
    edges = {2**k + side for k in range(largest.bit_length()) for side in (0, 1)}
    bad = next((t for t in sorted(edges, reverse=True) if t < good and bound(t) >= t), 0)
    good = min((t for t in edges if t > bad), default=largest)
    while good - bad > 1:
        middle = (good + bad) // 2
        if bound(middle) < middle:
            good = middle
        else:
            bad = middle
    return good
