"""What an arm shows after each wait: the table behind prices and indices of one arm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.model import chains
from restive.model.bandit import Arm

ROW_ERROR = 1e-13  # L1 distance of the merged rows from their limit
LONGEST = 2**50  # ages; rows of an arm that takes longer to mix are cut there
CELLS = 2_000_000  # probabilities kept for ages that are told apart one by one,
FEWEST, MOST = 2_048, 40_000  # but at least and at most so many ages
SPREAD = 512  # ages of each step length beyond them: the gaps are 1/512 of the age


@dataclass(frozen=True, eq=False)
class WaitTable:
    """Laws of what an arm shows n steps after state s was seen, at its stored ages.

    Ages 1, 2, ... are stored one by one up to a cap, then one period of limit rows, which stand
    for all later ages. Where an arm takes too long to mix for that, ages from ``dense`` on are
    stored at growing distances.

    laws: (S, S, A), laws[s, t, k] = P^n(s, t) at n = ages[k]; means: (S, A) mean rewards;
    ages: (A,); steps: (A,) steps of rest to the next stored age, of the last one to place ``back``;
    doubts: (S, A) largest L1 error of a row over the ages it stands for.
    """

    arm: Arm
    laws: Floats
    means: Floats
    ages: Ints
    steps: Ints
    back: int
    dense: int
    doubts: Floats

    def place(self, age: int) -> int:
        """Place among the stored ages of the last one that is not above ``age``."""
        first = int(self.ages[self.back])
        if age < first:
            return int(np.searchsorted(self.ages, age, side="right")) - 1
        return self.back + (age - first) % (len(self.ages) - self.back)


def wait_table(arm: Arm, cap: int | None = None) -> WaitTable:
    """The table of an arm; cap: where merging begins, by default where rows have converged.

    >>> table = wait_table(Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1]), 4)
    >>> table.ages.tolist(), table.means[1].round(3).tolist()
    ([1, 2, 3, 4], [0.9, 0.82, 0.756, 0.5])
    """
    return _cached(arm, cap)


@lru_cache(maxsize=256)
def _cached(arm: Arm, cap: int | None) -> WaitTable:
    dense = min(max(FEWEST, CELLS // arm.n_states**2), MOST)
    chosen = arm.mixing_time(ROW_ERROR, LONGEST) if cap is None else cap
    if cap is not None or chosen + arm.period <= dense:
        ages = np.arange(1, chosen + arm.period)
        rows = chains.powers(arm.transitions, len(ages))
        dense = len(ages)
    else:
        dense = 4 * SPREAD
        ages, rows = _spread(arm, dense, chosen)
    _clean(arm, rows)
    doubts = np.zeros((arm.n_states, len(ages)))
    back = len(ages) - arm.period
    for k in range(back, len(ages)):
        limit = chains.limit_rows(arm.transitions, int(ages[k]))
        doubts[:, k] = np.abs(rows[k] - limit).sum(axis=1)
        rows[k] = limit
    laws = np.ascontiguousarray(rows.transpose(1, 2, 0))
    means = np.ascontiguousarray((rows @ arm.rewards).T)
    return WaitTable(
        arm, laws, means, ages, np.diff(ages, append=ages[-1] + 1), back, dense, doubts
    )


def _clean(arm: Arm, rows: Floats) -> None:
    """Put back the zeros that rounding has filled: they decide which states a policy reaches.

    From age S^2 on, P^n is positive wherever its cyclic classes allow it.
    """
    edges = (arm.transitions > 0).astype(np.float64)
    reach = edges
    for k in range(min(len(rows), arm.n_states**2)):
        rows[k] = np.where(reach > 0, np.maximum(rows[k], 0.0), 0.0)
        reach = (reach @ edges > 0).astype(np.float64)


def _spread(arm: Arm, dense: int, last: int) -> tuple[Ints, Floats]:
    """Ages one by one up to ``dense``, then at distances that double; one loop at the end."""
    rows = [*chains.powers(arm.transitions, dense)]
    ages = [*range(1, dense + 1)]
    step = 2
    while ages[-1] < last:
        stride = step
        while gcd(stride, arm.period) > 1:  # so that every phase comes round
            stride += 1
        move = chains.power(arm.transitions, stride)
        for _ in range(SPREAD):
            ages.append(ages[-1] + stride)
            rows.append(rows[-1] @ move)
        step *= 2
    for _ in range(arm.period):  # the loop, one step apart
        ages.append(ages[-1] + 1)
        rows.append(rows[-1] @ arm.transitions)
    return np.array(ages), np.array(rows)
