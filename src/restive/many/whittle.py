"""All Whittle indices of an arm, and whether they deserve the name, from one sweep over the price.

The best waits change at finitely many prices; between two changes gain and values are lines in the
price, and the advantage of pulling is concave. So its sign changes are found exactly, and no
interval in which a rested state is pulled again can hide between two points.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief
from restive.base.errors import ArgumentError
from restive.many.waits import WaitTable, wait_table
from restive.model.bandit import Arm

SHORTEST = 1e-10  # pieces of the price that are shorter are passed over
ROUNDING = 2e-15  # relative: advantages below this are 0
PIECES = 256  # between two looks at the clock of the caller
CURVE = 20_000  # pieces of the Lagrangian curve that are kept


@dataclass(frozen=True)
class Witness:
    """Proof that an arm is not indexable: rested at a price, pulled again at a higher one."""

    state: int
    age: int
    rested_at: float
    pulled_at: float


@dataclass(frozen=True, eq=False, repr=False)
class WhittleTable(Brief):
    """Whittle's index W(s, n) of every stored (last state, age) of an arm.

    indices: (S, A) the smallest price at which resting is best; the price from which on it is best
        where the arm is indexable.
    accuracy: rounding may have moved an index by about this much.
    witness: a state that is pulled again at a higher price, None if the arm is indexable.
    prices, gains: the Lagrangian curve g(x), piecewise linear between these points, 0 after the
        last one; empty for the discounted criterion.
    """

    arm: Arm
    discount: float
    indices: Floats
    accuracy: float
    witness: Witness | None
    prices: Floats
    gains: Floats
    table: WaitTable = field(repr=False)

    @property
    def indexable(self) -> bool:
        return self.witness is None

    def index(self, state: int, age: int) -> float:
        """W(s, n) for any age; older ones than are stored have the index they approach."""
        return float(self.indices[state, self.table.place(age)])

    def gain(self, price: float) -> float:
        """g(x), the best average of reward - x per pull, from the curve."""
        if not len(self.prices):
            raise ArgumentError("a table for the discounted criterion has no average gain")
        if price < self.prices[0]:  # every step is a pull
            return float(self.gains[0] + self.prices[0] - price)
        return float(np.interp(price, self.prices, self.gains))


def whittle_table(arm: Arm, *, discount: float = 1.0, cap: int | None = None) -> WhittleTable:
    """All Whittle indices of an arm, with the verdict on indexability and the Lagrangian curve.

    W(s, n) is the price of a pull at which pulling and resting are equally good n steps after s
    was seen. discount = 1 means average reward (where resting now and pulling a period later are
    the same, the sooner pull counts, as under discounting close to 1). cap: age from which on
    ages are merged, by default where rows have converged.

    >>> sticky = whittle_table(Arm([[0.8, 0.2], [0.2, 0.8]], [0, 1]))
    >>> sticky.indices[:, 0].round(9).tolist(), sticky.indexable  # Liu and Zhao (2010)
    ([0.2, 0.8], True)
    """
    if not 0 < discount <= 1:
        raise ArgumentError(f"discount must lie in (0, 1], not {discount!r}")
    return _of_table(wait_table(arm, cap), discount)


def indices_from(laws: Floats, means: Floats, ages: Ints, back: int, rewards: Floats) -> Floats:
    """Whittle's index of every (last state, stored age), (S, A), from rows made elsewhere.

    laws, means, ages, back: as in ``WaitTable``. rewards: (S,) those of the states.
    """
    steps = np.diff(ages, append=ages[-1] + 1)
    return _march(laws, means, ages, steps, back, 1.0, *_prices(rewards))[0]


def _prices(rewards: Floats) -> tuple[float, float]:
    """Prices below which every pull pays, and above which none does."""
    low, high = float(rewards.min()), float(rewards.max())
    room = 0.01 * max(high - low, 1e-3)
    return low - room, high + room


def _of_table(table: WaitTable, discount: float) -> WhittleTable:
    rows = (table.laws, table.means, table.ages, table.steps, table.back)
    indices, place, witness, accuracy, curve = _march(*rows, discount, *_prices(table.arm.rewards))
    prices, gains = _curve(curve[: int(place[3])], discount)
    seen = _witness(table, witness) if place[4] else None
    return WhittleTable(
        table.arm, discount, indices, float(accuracy[0]), seen, prices, gains, table
    )


def _march(
    laws: Floats, means: Floats, ages: Ints, steps: Ints, back: int, discount: float, low: float,
    high: float,
) -> tuple[Floats, ...]:  # fmt: skip
    """Sweep over the prices: indices, where it ended, a witness' numbers, accuracy, the curve."""
    from restive._kernels import waits as kernel

    waits = np.zeros(len(means), dtype=np.int64)
    place = np.array([low, float(discount < 1), 0.0, 0.0, 0.0])
    indices, rested = np.full((2, *means.shape), np.nan)
    pulled = np.ones(means.shape, dtype=np.bool_)
    witness, accuracy = np.full(4, np.nan), np.zeros(1)
    curve = np.empty((CURVE, 3))
    weights = discount ** (ages - 1.0)
    while not kernel.march(
        waits, place, laws, means, ages, steps, back, weights, discount, high, SHORTEST, ROUNDING,
        PIECES, indices, pulled, rested, witness, accuracy, curve,
    ):  # fmt: skip
        pass  # back in Python now and then, so that Ctrl-C is heard
    return indices, place, witness, accuracy, curve


def _witness(table: WaitTable, numbers: Floats) -> Witness:
    rested, pulled, state, place = numbers.tolist()
    return Witness(int(state), int(table.ages[int(place)]), rested, pulled)


def _curve(pieces: Floats, discount: float) -> tuple[Floats, Floats]:
    """Breakpoints of g from its pieces (price, gain, slope)."""
    if discount < 1:
        return np.empty(0), np.empty(0)
    return pieces[:, 0].copy(), pieces[:, 1].copy()
