"""Traces: what was seen of every arm, and when, on one clock of steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require
from restive.base.errors import TooLargeError

MOST_CELLS = 200_000_000  # of a dense table


@dataclass(frozen=True, eq=False)
class ArmTrace:
    """The sightings of one arm, n in number.

    times: (n,) steps at which it was seen, increasing; the clock is common to all arms.
    states: (n,) numbers of the states seen, places in ``labels``.
    rewards: (n,) earned at those steps, on the scale of ``Traces``; nan where unknown.
    labels: names of the states.
    pieces: (n,) the piece each sighting belongs to; nothing is known of moves between pieces.
    """

    name: str
    times: Ints
    states: Ints
    rewards: Floats
    labels: tuple[str, ...]
    pieces: Ints

    def __len__(self) -> int:
        return len(self.times)

    @property
    def n_states(self) -> int:
        return len(self.labels)

    def between(self, start: int, end: int) -> ArmTrace:
        """The sightings at steps start, ..., end - 1; the labels stay."""
        kept = slice(*np.searchsorted(self.times, (start, end)))
        return replace(
            self, times=self.times[kept], states=self.states[kept], rewards=self.rewards[kept],
            pieces=self.pieces[kept],
        )  # fmt: skip

    def moves(self) -> tuple[Ints, Ints, Ints]:
        """State before, gap in steps and state after, of sightings next to each other."""
        joined = self.pieces[1:] == self.pieces[:-1]
        gaps = np.diff(self.times)[joined]
        return self.states[:-1][joined], gaps, self.states[1:][joined]


@dataclass(frozen=True, eq=False)
class Traces:
    """All arms of a file or of several.

    tick: length of a step in the unit of the times (seconds for dates); None if rows are steps.
    source: where it was read from.
    scale: rewards 0 and 1 stand for these values of the data.
    notes: what was decided on the way, in words.
    began: second since 1970 (UTC) of step 0, if the times are dates on one clock.
    """

    arms: tuple[ArmTrace, ...]
    tick: float | None = None
    source: str = ""
    scale: tuple[float, float] = (0.0, 1.0)
    notes: tuple[str, ...] = ()
    began: float | None = None

    @property
    def n_arms(self) -> int:
        return len(self.arms)

    @property
    def start(self) -> int:
        """The first step at which any arm was seen."""
        return min((int(arm.times[0]) for arm in self.arms if len(arm)), default=0)

    @property
    def end(self) -> int:
        """The step after the last one at which any arm was seen."""
        return max((int(arm.times[-1]) + 1 for arm in self.arms if len(arm)), default=0)

    def dense(self) -> tuple[Ints, Floats]:
        """States and rewards, both (steps, K), from ``start`` on; -1 and nan where unseen.

        >>> seen = ArmTrace("a", np.array([5, 7]), np.array([0, 1]), np.array([0.0, 1.0]),
        ...                 ("off", "on"), np.array([0, 0]))
        >>> Traces((seen,)).dense()[0].T
        array([[ 0, -1,  1]])
        """
        first, shape = self.start, (self.end - self.start, self.n_arms)
        if shape[0] * shape[1] > MOST_CELLS:
            raise TooLargeError(
                f"{shape[0]:,} steps of {shape[1]:,} arms are too many to be laid out one by one; "
                "take a part with between(start, end), or read with a longer tick."
            )
        states, rewards = np.full(shape, -1, dtype=np.int64), np.full(shape, np.nan)
        for k, arm in enumerate(self.arms):
            states[arm.times - first, k] = arm.states
            rewards[arm.times - first, k] = arm.rewards
        return states, rewards

    def between(self, start: int, end: int) -> Traces:
        """What was seen at steps start, ..., end - 1."""
        return replace(self, arms=tuple(arm.between(start, end) for arm in self.arms))

    def split(self, fraction: float) -> tuple[Traces, Traces]:
        """The first part of the time, to fit on, and the rest, to judge by."""
        remedy = "Give a number above 0 and below 1, such as 0.5."
        require(0 < fraction < 1, "fraction", fraction, remedy)
        middle = self.start + round(fraction * (self.end - self.start))
        return self.between(self.start, middle), self.between(middle, self.end)

    def __repr__(self) -> str:
        sightings, arms = sum(map(len, self.arms)), "arm" if self.n_arms == 1 else "arms"
        seen = sightings / max(1, self.n_arms * (self.end - self.start))
        return (
            f"Traces of {self.n_arms} {arms} over {self.end - self.start:,} steps, "
            f"{sightings:,} sightings ({seen:.0%} of all)"
        )
