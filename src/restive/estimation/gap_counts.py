"""How often s' was seen n steps after s, for the gaps n that occur."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np

from restive.base.arrays import Floats, Ints

MOST_GAPS = 4096  # different gaps; beyond, long ones are rounded by less than a part in FINENESS
FINENESS = 512


@dataclass(frozen=True, eq=False)
class GapCounts:
    """gaps: (G,), increasing. counts: (G, S, S), N(s, n, s') for each gap n.

    rounded: whether long gaps were rounded to have fewer of them.
    """

    gaps: Ints
    counts: Floats
    rounded: bool = False

    @classmethod
    def of_moves(cls, before: Ints, gaps: Ints, after: Ints, size: int) -> GapCounts:
        """Counts of moves between sightings next to each other.

        >>> before, gaps, after = np.array([[0, 1, 1], [1, 4, 4], [1, 1, 1]])
        >>> seen = GapCounts.of_moves(before, gaps, after, 2)
        >>> seen.gaps, seen.counts[1, 1, 1]
        (array([1, 4]), np.float64(2.0))
        """
        gaps = np.asarray(gaps, dtype=np.int64)
        rounded = len(np.unique(gaps)) > MOST_GAPS
        if rounded:
            gaps = _coarse(gaps)
        lengths, places = np.unique(gaps, return_inverse=True)
        cells = (places * size + before) * size + after
        counts = np.bincount(cells, minlength=len(lengths) * size * size)
        return cls(lengths, counts.reshape(-1, size, size).astype(np.float64), rounded)

    @classmethod
    def of_table(cls, table: Ints, gaps: Ints | None = None) -> GapCounts:
        """Counts from a table (S, A, S) of gaps, increasing; by default 1, ..., A."""
        used = np.flatnonzero(table.any(axis=(0, 2)))
        lengths = used + 1 if gaps is None else gaps[used]
        return cls(lengths, np.ascontiguousarray(table[:, used].transpose(1, 0, 2), np.float64))

    @property
    def n_states(self) -> int:
        return int(self.counts.shape[1])

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @property
    def every_step(self) -> bool:
        """Whether all gaps are 1: nothing is hidden, and moves need only be counted."""
        return bool(len(self.gaps) == 1 and self.gaps[0] == 1)

    @property
    def divisor(self) -> int:
        """The largest number that divides all gaps; 0 if there are none."""
        return gcd(*self.gaps.tolist())

    @cached_property
    def program(self) -> tuple[Ints, Ints, Floats]:
        """Products that make all powers, and the counts at each power.

        Power k is that of places left[k] and right[k]; a gap is made of its two halves.
        """
        needed, pending = {1}, set(self.gaps.tolist())
        while pending:
            gap = pending.pop()
            if gap not in needed:
                needed.add(gap)
                pending |= {gap // 2, gap - gap // 2}
        lengths = sorted(needed)
        place = {gap: k for k, gap in enumerate(lengths)}
        left = np.array([place[gap // 2] if gap > 1 else 0 for gap in lengths])
        right = np.array([place[gap - gap // 2] if gap > 1 else 0 for gap in lengths])
        counts = np.zeros((len(lengths), self.n_states, self.n_states))
        for gap, own in zip(self.gaps.tolist(), self.counts, strict=True):
            counts[place[gap]] = own
        return left, right, counts


def _coarse(gaps: Ints) -> Ints:
    """Long gaps rounded to few digits, odd ones to odd ones: n to within n / FINENESS."""
    step = np.maximum(1, 2 ** np.floor(np.log2(np.maximum(gaps / FINENESS, 1))).astype(np.int64))
    odd = gaps % 2
    return np.where(step == 1, gaps, 2 * step * ((gaps - odd + step) // (2 * step)) + odd)
