"""Arms outside the block: each alone at any price, with what was computed before remembered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from restive.many.single_arm import PricedArm, price_arm
from restive.model.bandit import Arm

__all__ = ["Market"]

Floats = NDArray[np.float64]

GRID = 161  # prices to look at when choosing the next one


class Market:
    """Every arm alone at any price; one that wants nothing at x wants nothing at higher prices."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self.arms = arms
        self._latest: list[PricedArm | None] = [None] * len(arms)
        self._silent = [np.inf] * len(arms)
        self._curves: Floats | None = None
        self._seen: dict[tuple[int, float], tuple[float, float, float]] = {}

    def gain(self, arm: int, price: float) -> tuple[float, float, float]:
        """Bounds of g_j(x), and the pulls a step the arm wants."""
        if price >= self._silent[arm]:
            return 0.0, 0.0, 0.0
        if (arm, price) not in self._seen:
            priced = price_arm(self.arms[arm], price, start=self._latest[arm])
            self._latest[arm] = priced
            if priced.upper == 0.0:
                self._silent[arm] = price
            self._seen[arm, price] = priced.lower, priced.upper, priced.pulls
        return self._seen[arm, price]

    def grid(self, block: Sequence[int]) -> tuple[Floats, Floats]:
        """Prices, and what the arms outside the block earn at each, in all."""
        highest = max(float(arm.rewards.max()) for arm in self.arms)
        prices = np.linspace(0, highest, GRID)
        if self._curves is None:
            self._curves = np.array(
                [
                    [self.gain(j, price)[0] for price in prices.tolist()]
                    for j in range(len(self.arms))
                ]
            )
        others = [j for j in range(len(self.arms)) if j not in block]
        return prices, self._curves[others].sum(axis=0)

    def outside(self, block: Sequence[int], price: float) -> tuple[float, float, float]:
        """Sums over the arms that are not in the block."""
        rows = [self.gain(j, price) for j in range(len(self.arms)) if j not in block]
        lower, upper, wanted = np.array(rows, dtype=np.float64).reshape(-1, 3).sum(axis=0)
        return float(lower), float(upper) * (1 + 1e-14 * len(rows)), float(wanted)
