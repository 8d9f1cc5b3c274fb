"""From sweeps to a solution: plain sweeps, and extrapolation where they are slow.

A policy stays on an arm for a while and then switches. Given the values on entry (just after a
switch) and the gain, one propagation pass solves all runs of stays exactly, so the values on entry
are the fixed point of a map in a space some hundred times smaller than the states. Anderson
acceleration finds it in a few dozen passes where plain sweeps, which move one step of time each,
need many hundreds. It can fail: then plain sweeps go on from where they were, and in any case only
a plain sweep's bounds are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from restive.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from restive.mdp.iteration import BanditIteration

Progress = Callable[[int, float], None]  # (sweeps so far, width of the gain bounds)
Patience = Callable[[int, float], bool]  # the same; whether to go on

CHECK_EVERY = 10  # sweeps between two looks at the bounds

CHEAP_PAIRS = 5_000_000  # backups that take a few milliseconds
SLOW_FROM_SWEEPS = 100  # leave plain sweeps alone where they need no more than this
ATTEMPTS = 2
PASSES = 200
MEMORY = 8
GIVE_UP_AFTER = 8


class Iteration(Protocol):
    """One structure with its parameters, ready to be swept."""

    @property
    def values(self) -> Floats:
        """The current h, in the structure's own order."""

    def sweep(self, gain: Floats, count: int) -> tuple[Floats, Floats]:
        """``count`` damped sweeps; min and max of T h - h per part for the h before the last."""


@dataclass(frozen=True)
class Stop:
    """When sweeps end: the bounds are narrow, the sweeps are used up, or the time is."""

    tolerance: float
    max_sweeps: int
    progress: Progress | None = None
    expired: Callable[[], bool] = lambda: False


class Bounds(NamedTuple):
    """Bounds of the gain in each part, and what they took."""

    lower: Floats
    upper: Floats
    sweeps: int
    converged: bool


def plain_sweeps(
    iteration: Iteration, stop: Stop, sweeps: int = 0, patience: Patience | None = None
) -> Bounds:
    """Plain sweeps, at least one, until it is time to stop or ``patience`` runs out."""
    lower, upper = iteration.sweep(np.zeros(1), 1)
    sweeps += 1
    while (width := float((upper - lower).max())) > stop.tolerance and sweeps < stop.max_sweeps:
        if stop.expired() or (patience is not None and not patience(sweeps, width)):
            break
        count = min(CHECK_EVERY, stop.max_sweeps - sweeps)
        lower, upper = iteration.sweep(0.5 * (lower + upper), count)
        sweeps += count
        if stop.progress is not None:
            stop.progress(sweeps, float((upper - lower).max()))
    return Bounds(lower, upper, sweeps, width <= stop.tolerance)


def accelerated(iteration: BanditIteration, stop: Stop, sweeps: int = 0) -> Bounds:
    """Plain sweeps; where they turn out slow, extrapolation in between."""

    def patience() -> _Patience:
        return _Patience(stop.tolerance, iteration.pairs)

    bounds = plain_sweeps(iteration, stop, sweeps, patience())
    for attempt in range(ATTEMPTS):
        lower, upper, sweeps, converged = bounds
        if converged or sweeps >= stop.max_sweeps or stop.expired():
            return bounds
        before = iteration.values.copy()
        width = float((upper - lower)[0])
        passes = _extrapolate(iteration, (float(lower[0]), float(upper[0])), stop, sweeps)
        low, high = iteration.sweep(0.5 * (lower + upper), 1)
        if not float((high - low)[0]) < width:
            iteration.values[:] = before
        waits = patience() if attempt + 1 < ATTEMPTS else None
        bounds = plain_sweeps(iteration, stop, sweeps + passes + 1, waits)
    return bounds


class _Patience:
    """Whether plain sweeps should go on: yes unless their pace promises too many of them."""

    def __init__(self, tolerance: float, pairs: int) -> None:
        self.tolerance = tolerance
        self.slow = max(SLOW_FROM_SWEEPS, CHEAP_PAIRS // pairs)
        self.widths: list[float] = []

    def __call__(self, sweeps: int, width: float) -> bool:
        self.widths.append(width)
        if len(self.widths) < 3:
            return True
        pace = np.log(self.widths[-1] / self.widths[-2]) / CHECK_EVERY
        if pace >= 0:
            return False
        return bool(np.log(self.tolerance / width) / pace < self.slow)


def _extrapolate(
    iteration: BanditIteration, limits: tuple[float, float], stop: Stop, sweeps: int
) -> int:
    """Anderson acceleration on (values on entry, corners, gain); returns the passes made.

    limits: bounds of the gain. Points outside would make a long stay worth what no policy earns.
    """
    from restive._kernels import anderson

    corners = _corners(iteration)
    target, most = 0.3 * stop.tolerance, min(PASSES, stop.max_sweeps - sweeps)
    search = anderson.Search.of(len(iteration.entries) + len(corners) + 1, MEMORY)
    search.point[-1], search.limits[:] = 0.5 * sum(limits), limits
    iteration.read_entries(iteration.entries)
    while search.status[0] == anderson.GOING and (left := most - search.passes) > 0:
        if stop.expired():
            break
        iteration.propagate(search, corners, target, GIVE_UP_AFTER, left)
    return int(search.passes)


def _corners(iteration: BanditIteration) -> Ints:
    """The ghost cells that stand for all other arms at their oldest age, in every block."""
    lay = iteration.layout
    count = len(lay.sizes)
    blocks = []
    for i in range(count):
        z = int(lay.row_arm[i])
        place = np.zeros((1,) * count, dtype=np.int64) + int(lay.block[i])
        for j in range(count):
            oldest = 0 if j == i else int(lay.rested[j]) - (0 if j == z else 1)
            along = np.arange(lay.sizes[j]) * lay.state_stride[i, j] + oldest * lay.age_stride[i, j]
            place = place + along.reshape([-1 if k == j else 1 for k in range(count)])
        blocks.append(place.ravel() + (1 if z < 0 else 0))
    return np.concatenate(blocks)
