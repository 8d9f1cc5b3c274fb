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
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from restive._iteration import BanditIteration
from restive._kernels import vectors

__all__ = ["accelerated", "plain"]

Floats = NDArray[np.float64]
Progress = Callable[[int, float], None]

CHECK_EVERY = 10  # sweeps between two looks at the bounds

CHEAP_PAIRS = 5_000_000  # backups that are over in the blink of an eye
SLOW_FROM_SWEEPS = 100  # leave plain sweeps alone where they need no more than this
ATTEMPTS = 2
PASSES = 200
MEMORY = 8
GIVE_UP_AFTER = 8


class Iteration(Protocol):
    """One structure with its parameters, ready to be swept."""

    values: Floats

    def sweep(self, gain: Floats, count: int) -> tuple[Floats, Floats]:
        """``count`` damped sweeps; min and max of T h - h per part for the h before the last."""


Found = tuple[Floats, Floats, Floats, int, bool]  # lower, upper, values, sweeps, converged


def plain(
    iteration: Iteration,
    tolerance: float,
    max_sweeps: int,
    progress: Progress | None = None,
    sweeps: int = 0,
    patience: Callable[[int, float], bool] | None = None,
) -> Found:
    """Plain sweeps until the bounds are within the tolerance, or ``patience`` runs out."""
    lower, upper = iteration.sweep(np.zeros(1), 1)
    sweeps += 1
    while (width := float((upper - lower).max())) > tolerance and sweeps < max_sweeps:
        if patience is not None and not patience(sweeps, width):
            break
        count = min(CHECK_EVERY, max_sweeps - sweeps)
        lower, upper = iteration.sweep(0.5 * (lower + upper), count)
        sweeps += count
        if progress is not None:
            progress(sweeps, float((upper - lower).max()))
    return lower, upper, iteration.values, sweeps, width <= tolerance


def accelerated(
    iteration: BanditIteration, tolerance: float, max_sweeps: int, progress: Progress | None = None
) -> Found:
    """Plain sweeps; where they turn out slow, extrapolation in between."""

    def patience() -> _Patience:
        return _Patience(tolerance, iteration.pairs)

    found = plain(iteration, tolerance, max_sweeps, progress, 0, patience())
    for attempt in range(ATTEMPTS):
        lower, upper, _, sweeps, converged = found
        if converged or sweeps >= max_sweeps:
            return found
        before = iteration.values.copy()
        width = float((upper - lower)[0])
        gain = float(0.5 * (lower + upper)[0])
        passes = _extrapolate(iteration, gain, 0.3 * tolerance, max_sweeps - sweeps)
        low, high = iteration.sweep(0.5 * (lower + upper), 1)
        if not float((high - low)[0]) < width:
            iteration.values[:] = before
        waits = patience() if attempt + 1 < ATTEMPTS else None
        found = plain(iteration, tolerance, max_sweeps, progress, sweeps + passes + 1, waits)
    return found


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


def _extrapolate(iteration: BanditIteration, gain: float, target: float, most: int) -> int:
    """Anderson acceleration on (values on entry, corners, gain); returns the passes made."""
    step = _Pass(iteration)
    point = step.read(gain)
    duration = step.duration(point)
    history = _History(len(point))
    before, failures = np.inf, 0
    passes = 2
    while passes < min(PASSES, most):
        passes += 1
        image, residual, error = step(point, duration)
        if error <= target:
            break
        if not error < 4 * before:  # the policy has changed: the past no longer tells
            failures += 1
            if failures > GIVE_UP_AFTER or not np.isfinite(error):
                break
            history.clear()
        before = error
        point = history.extrapolate(image, residual)
    return passes


class _Pass:
    """One propagation pass as a map of points (entries, corners, gain)."""

    def __init__(self, iteration: BanditIteration) -> None:
        self.iteration = iteration
        self.corners = _corners(iteration)
        self.n_entries = len(iteration.entries)

    def read(self, gain: float) -> Floats:
        """The point at which plain sweeps have arrived."""
        run = self.iteration
        return self._point(run.read_entries(run.entries), run.values[self.corners], gain)

    def _point(self, entries: Floats, corners: Floats, gain: float) -> Floats:
        level = entries.mean()  # values matter up to a constant only
        return np.concatenate([entries - level, corners - level, [gain]])

    def _propagate(self, point: Floats, gain: float) -> tuple[Floats, Floats]:
        self.iteration.values[self.corners] = point[self.n_entries : -1]
        entries = self.iteration.propagate(point[: self.n_entries], gain)
        return entries, self.iteration.values[self.corners]

    def duration(self, point: Floats) -> float:
        """Mean time from entry to the next switch, as the slope of the values in the gain."""
        shift = 1e-3
        here, there = (
            float(self._propagate(point, point[-1] + more)[0].mean()) for more in (0.0, shift)
        )
        return max(1.0, (here - there) / shift)

    def __call__(self, point: Floats, duration: float) -> tuple[Floats, Floats, float]:
        """Image of the point, what it lacks to a fixed point, and the size of that."""
        entries, corners = self._propagate(point, float(point[-1]))
        change = np.concatenate([entries, corners]) - point[:-1]
        drift = float(change[: self.n_entries].mean())
        image = self._point(entries, corners, float(point[-1]) + drift / duration)
        error = float(change.max() - change.min()) + abs(drift)
        return image, np.append(change - drift, drift), error


def _corners(iteration: BanditIteration) -> NDArray[np.int64]:
    """The ghost cells that stand for all other arms at their oldest age, in every block."""
    lay = iteration.layout
    count = len(lay.sizes)
    found = []
    for i in range(count):
        z = int(lay.row_arm[i])
        place = np.zeros((1,) * count, dtype=np.int64) + int(lay.block[i])
        for j in range(count):
            oldest = 0 if j == i else int(lay.rested[j]) - (0 if j == z else 1)
            along = np.arange(lay.sizes[j]) * lay.state_stride[i, j] + oldest * lay.age_stride[i, j]
            place = place + along.reshape([-1 if k == j else 1 for k in range(count)])
        found.append(place.ravel() + (1 if z < 0 else 0))
    return np.concatenate(found)


class _History:
    """The last few points and residuals, for the least-squares step of Anderson acceleration."""

    def __init__(self, size: int) -> None:
        self.images = np.zeros((MEMORY, size))
        self.residuals = np.zeros((MEMORY, size))
        self.gram = np.zeros((MEMORY, MEMORY))  # products of the residuals' steps
        self.clear()

    def clear(self) -> None:
        self.count = 0
        self.last: tuple[Floats, Floats] | None = None

    def extrapolate(self, image: Floats, residual: Floats) -> Floats:
        if self.last is not None:
            self._add(image - self.last[0], residual - self.last[1])
        self.last = (image, residual)
        used = min(self.count, MEMORY)
        if not used:
            return image
        sides = np.empty(used)
        vectors.products(self.residuals, residual, sides)
        weights, *_ = np.linalg.lstsq(self.gram[:used, :used], sides, rcond=1e-13)
        found = image.copy()
        vectors.subtract(found, self.images, weights)
        return found

    def _add(self, image: Floats, residual: Floats) -> None:
        slot = self.count % MEMORY
        self.images[slot], self.residuals[slot] = image, residual
        self.count += 1
        row = np.empty(min(self.count, MEMORY))
        vectors.products(self.residuals, residual, row)
        self.gram[slot, : len(row)] = self.gram[: len(row), slot] = row
