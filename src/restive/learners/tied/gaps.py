"""What was seen of every arm at true ages: N(s, n, s'), and the rewards of every state."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.policies.sight import NEVER, Sight

DENSE, OCTAVE = 256, 8  # gaps told apart one by one, and places for gaps in each octave beyond
PLACES = np.append(
    np.arange(1, DENSE + 1),
    [(OCTAVE + k + 1) * DENSE // OCTAVE << octave for octave in range(12) for k in range(OCTAVE)],
)  # gaps that counts have places for
LONGEST_GAP = int(PLACES[-1])  # older observations count as this old
MIDDLES = [(a + b + 1) // 2 for a, b in pairwise(PLACES.tolist())]  # where the next is as near


@dataclass(frozen=True, eq=False)
class Gaps:
    """Samples of K arms of at most S states, gaps at the nearest of the A in PLACES."""

    visits: Ints  # (K,) pulls of an arm seen before
    gaps: Ints  # (K, S, A, S) how often s' was seen so long after s
    paid: Floats  # (K, S, 3) number, sum and sum of squares of the rewards in each state

    @classmethod
    def none(cls, n_arms: int) -> Gaps:
        gaps = np.zeros((n_arms, 1, len(PLACES), 1), dtype=np.int64)
        return cls(np.zeros(n_arms, dtype=np.int64), gaps, np.zeros((n_arms, 1, 3)))

    def with_room(self, size: int) -> Gaps:
        """The same with room for so many states."""
        more = size - self.gaps.shape[1]
        if more <= 0:
            return self
        gaps = np.pad(self.gaps, ((0, 0), (0, more), (0, 0), (0, more)))
        return Gaps(self.visits, gaps, np.pad(self.paid, ((0, 0), (0, more), (0, 0))))

    def add(self, sight: Sight, arm: int, state: int, reward: float) -> None:
        """An arm is found in a state; ``sight`` has not moved on yet."""
        before = sight.states[arm]
        if before != NEVER:
            place = min(place_of(sight.age(arm)), self.gaps.shape[2] - 1)
            self.visits[arm] += 1
            self.gaps[arm, before, place, state] += 1
        paid = self.paid[arm, state]
        paid[0] += 1.0  # one by one: a tuple would be made an array
        paid[1] += reward
        paid[2] += reward * reward

    def add_pulls(
        self, sight: Sight, names: Ints, path: Ints, rewards: Floats, pulls: Ints, begin: int,
        end: int,
    ) -> None:  # fmt: skip
        """Pulls along a path once every arm was seen; ``sight`` moves along."""
        from restive._kernels import tied

        states, seen_at = np.array(sight.states), np.array(sight.seen_at)
        tied.count_pulls(self.visits, self.gaps, self.paid, names, path, rewards, pulls, begin,
                         end, sight.steps, states, seen_at)  # fmt: skip
        sight.steps += end - begin
        sight.states, sight.seen_at = states.tolist(), seen_at.tolist()
        if end > begin:
            sight.last = int(pulls[end - 1])


def place_of(gap: int) -> int:
    """Where a gap is counted."""
    return gap - 1 if gap <= DENSE else int(bisect_right(MIDDLES, gap))
