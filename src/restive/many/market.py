"""Arms outside the block: each alone at any price, with what was computed before remembered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.arrays import Floats
from restive.many.single_arm import PricedArm, price_arm
from restive.model.bandit import Arm

GRID = 161  # prices to look at when choosing the next one,
CELLS = 1_500_000  # fewer where tables of waits are read more than this,
LEAST = 17  # but at least so many
LONGEST = 20_000  # ages of a table of waits, about


class Market:
    """Every arm alone at any price; one that wants nothing at x wants nothing at higher prices."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self.arms = arms
        number: dict[tuple[bytes, bytes], int] = {}  # equal arms are priced once
        self._kinds: list[Arm] = []
        self._kind_of = np.empty(len(arms), dtype=np.int64)
        for j, arm in enumerate(arms):
            key = arm.transitions.tobytes(), arm.rewards.tobytes()
            if key not in number:
                number[key] = len(number)
                self._kinds.append(arm)
            self._kind_of[j] = number[key]
        self._latest: list[PricedArm | None] = [None] * len(self._kinds)
        self._silent = [np.inf] * len(self._kinds)
        self._curves: Floats | None = None
        self._seen: dict[tuple[int, float], tuple[float, float, float]] = {}

    def gain(self, arm: int, price: float) -> tuple[float, float, float]:
        """Bounds of g_j(x), and the pulls a step the arm wants."""
        return self._gain(int(self._kind_of[arm]), price)

    def _gain(self, kind: int, price: float) -> tuple[float, float, float]:
        if price >= self._silent[kind]:
            return 0.0, 0.0, 0.0
        if (kind, price) not in self._seen:
            priced = price_arm(self._kinds[kind], price, start=self._latest[kind])
            self._latest[kind] = priced
            if priced.upper == 0.0:
                self._silent[kind] = price
            self._seen[kind, price] = priced.lower, priced.upper, priced.pulls
        return self._seen[kind, price]

    def grid(self, block: Sequence[int]) -> tuple[Floats, Floats]:
        """Prices, and what the arms outside the block earn at each, in all."""
        highest = max(float(arm.rewards.max()) for arm in self._kinds)
        count = min(GRID, max(LEAST, CELLS // sum(map(_cells, self._kinds))))
        prices = np.linspace(0, highest, count)
        if self._curves is None:
            self._curves = np.array(
                [
                    [self._gain(kind, price)[0] for price in prices.tolist()]
                    for kind in range(len(self._kinds))
                ]
            )
        return prices, self._outside(block) @ self._curves

    def outside(self, block: Sequence[int], price: float) -> tuple[float, float, float]:
        """Sums over the arms that are not in the block."""
        counts = self._outside(block)
        rows = np.array([self._gain(kind, price) for kind in range(len(counts))])
        lower, upper, share = counts @ rows
        return float(lower), float(upper) * (1 + 1e-14 * len(rows)), float(share)

    def _outside(self, block: Sequence[int]) -> Floats:
        """How many arms of each kind are not in the block."""
        counts = np.bincount(self._kind_of, minlength=len(self._kinds)).astype(np.float64)
        np.subtract.at(counts, self._kind_of[list(block)], 1.0)
        return counts


def _cells(arm: Arm) -> int:
    """About the size of an arm's table of waits."""
    return arm.mixing_time(1e-13, LONGEST) * arm.n_states**2
