"""Index policies with ages stored at growing distances, for arms that change slowly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.policies.policy import Policy
from restive.policies.sight import Sight


@dataclass(frozen=True, eq=False)
class SpacedTable:
    """Index of one arm by state last seen and stored age.

    ages: (A,) the stored ages, 1 first. An age in between has the index of the one before it; from
    ages[back] on, the stored ages follow each other and repeat.
    """

    indices: Floats  # (S, A)
    ages: Ints
    back: int


@dataclass(frozen=True, eq=False)
class SpacedTables:
    """The tables of all arms, filled up to the largest."""

    indices: Floats  # (K, S, A)
    ages: Ints  # (K, A)
    stored: Ints  # (K,) how many ages an arm has
    back: Ints  # (K,)

    @classmethod
    def of(cls, tables: Sequence[SpacedTable]) -> SpacedTables:
        """Those of the arms in turn."""
        stored, back = np.zeros((2, len(tables)), dtype=np.int64)
        ages = np.empty((len(tables), 0), dtype=np.int64)
        empty = cls(np.empty((len(tables), 0, 0)), ages, stored, back)
        return empty.put(dict(enumerate(tables)))

    def put(self, tables: Mapping[int, SpacedTable]) -> SpacedTables:
        """New tables of some arms in the place of theirs: these, or larger ones if need be."""
        most, width = self.indices.shape[1:]
        states = max(most, *(len(table.indices) for table in tables.values()), 0)
        stored = max(width, *(len(table.ages) for table in tables.values()), 0)
        grown = self
        if (states, stored) != (most, width):
            if stored > width:
                stored = max(stored, width + width // 4)  # at once for the next
            room = ((0, 0), (0, states - most), (0, stored - width))
            grown = SpacedTables(np.pad(self.indices, room, constant_values=-np.inf),
                                 np.pad(self.ages, room[::2]), self.stored, self.back)  # fmt: skip
        for arm, table in tables.items():
            size, count = table.indices.shape
            grown.indices[arm], grown.ages[arm] = -np.inf, 0
            grown.indices[arm, :size, :count], grown.ages[arm, :count] = table.indices, table.ages
            grown.stored[arm], grown.back[arm] = count, table.back
        return grown


class SpacedIndexPolicy(Policy):
    """Pulls the arms with the largest index, the first of several.

    >>> table = SpacedTable(np.array([[0.1, 0.3, 0.5]]), np.array([1, 2, 4]), 2)
    >>> policy = SpacedIndexPolicy(SpacedTables.of([table, table]))
    >>> policy.priorities(np.zeros((1, 2), int), np.array([[3, 99]]), np.zeros(1, int)).tolist()
    [[0.3, 0.5]]
    """

    def __init__(self, tables: SpacedTables) -> None:
        self.tables, self.n_arms = tables, len(tables.stored)

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        arms = np.arange(self.n_arms)
        places = np.array([self._places(row)[0] for row in ages]).reshape(ages.shape)
        return np.asarray(self.tables.indices[arms, states, places])

    def arm(self, sight: Sight) -> int:
        """The arm to pull, every arm having been seen."""
        return self.choose(sight)

    def walk(
        self, sight: Sight, left: Ints, names: Ints, path: Ints, pulls: Ints, begin: int, end: int
    ) -> tuple[int, int]:
        """Pulls along a path until an arm has none left, for callers that count for themselves.

        left: (K,) pulls left to each arm, counted down. ``sight`` stays where it is. Returns where
        and why it stopped.
        """
        from restive._kernels import indices

        tables = self.tables
        places, rests = self._places(np.array(sight.ages))
        step, why = indices.walk(
            tables.indices, tables.ages, tables.stored, tables.back, np.array(sight.states), places,
            rests, left, names, path, pulls, begin, end,
        )  # fmt: skip
        return int(step), int(why)

    def _places(self, ages: Ints) -> tuple[Ints, Ints]:
        """Where these ages (K,) are stored, and steps until each is at its next place."""
        from restive._kernels import indices

        tables = self.tables
        places, rests = np.empty((2, self.n_arms), dtype=np.int64)
        indices.find(tables.ages, tables.stored, tables.back, np.ascontiguousarray(ages), places,
                     rests)  # fmt: skip
        return places, rests
