"""Rewards in the user's own units: planned and learned from 0 to 1, shown as they were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats
from restive.base.errors import Fault
from restive.base.words import shown


@dataclass(frozen=True)
class Units:
    """The smallest and the largest reward that there can be.

    Inside, a reward r is (r - low) / (high - low), which keeps the best policy.

    >>> units = Units(-5.0, 20.0)
    >>> float(units.inside(20)), units.mean(0.5), units.loss(0.5)
    (1.0, 7.5, 12.5)
    """

    low: float = 0.0
    high: float = 1.0

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def plain(self) -> bool:
        """Whether rewards are given from 0 to 1, so that there is nothing to convert."""
        return (self.low, self.high) == (0.0, 1.0)

    @property
    def range(self) -> tuple[float, float]:
        return self.low, self.high

    def inside(self, reward: ArrayLike) -> Floats:
        """Rewards from 0 to 1 for those in these units."""
        return (np.asarray(reward, dtype=np.float64) - self.low) / self.width

    @overload
    def mean(self, reward: float, pulls: int = 1) -> float: ...
    @overload
    def mean(self, reward: Floats, pulls: int = 1) -> Floats: ...
    def mean(self, reward: Any, pulls: int = 1) -> Any:
        """In these units: what ``pulls`` pulls together earn in a step, or on average."""
        return reward if self.plain else pulls * self.low + self.width * reward

    @overload
    def loss(self, amount: float) -> float: ...
    @overload
    def loss(self, amount: Floats) -> Floats: ...
    def loss(self, amount: Any) -> Any:
        """In these units: a difference of rewards, such as a regret."""
        return amount if self.plain else self.width * amount

    def total(self, reward: Any, pulls: Any) -> Any:
        """In these units: the sum of the rewards of so many pulls."""
        return reward if self.plain else pulls * self.low + self.width * reward


PLAIN = Units()


def check_range(raw: object) -> tuple[Units, list[Fault]]:
    """The units that a pair of numbers stands for, or what is wrong with it."""
    ends = list(raw) if isinstance(raw, Sequence | np.ndarray) and not isinstance(raw, str) else []
    remedy = "Give the smallest and the largest reward there can be, such as [-5, 20]."
    numbers = [end for end in ends if isinstance(end, Real) and not isinstance(end, bool)]
    if len(ends) != 2 or len(numbers) != 2:
        return PLAIN, [Fault("reward_range", "not a pair of numbers", shown(raw), remedy)]
    low, high = (float(end) for end in numbers)
    if not (isfinite(low) and isfinite(high) and isfinite(high - low)):
        return PLAIN, [Fault("reward_range", "not finite", shown(raw), remedy)]
    if not low < high:
        message = "the first is not below the second"
        return PLAIN, [Fault("reward_range", message, shown(raw), remedy)]
    return Units(low, high), []
