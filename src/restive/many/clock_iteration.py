"""Value iteration on blocks of arms with clocks: the best choice, or the best that cannot see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from restive._kernels import clocks as kernel
from restive.base.arrays import Floats
from restive.base.errors import OutOfTimeError
from restive.many.clock_process import ClockProcess
from restive.many.clocks import Choices

IMPROVE = (1, 2, 4, 8, 13, 20, 30, 45)  # sweeps after which a blind policy is chosen anew,
IMPROVE_KNOWN = (2, 5, 10, 16, 24)  # and where values are known about
DEPTH = 3  # points that a shortcut combines with the last one
SAME = 1e-12  # share of what tells them apart that is rounding
ASTRAY = 4.0  # bounds this much wider than before: no more shortcuts from here
STALLED = 40  # sweeps in which the bounds did not come nearer: periods keep them apart
SHRUNK = 0.95


@dataclass(frozen=True, eq=False)
class ClockSolution:
    """Bounds of the process' gain (of a blind policy's gain), certified; values and policy."""

    lower: float
    upper: float
    values: list[Floats]
    policy: Choices | None
    sweeps: int
    converged: bool


class _Shortcut:
    """Anderson's acceleration: the combination of the last points whose residual is least.

    Bounds hold at every point, so a shortcut that leads astray costs sweeps and nothing else.
    """

    def __init__(self, states: int) -> None:
        self._images, self._residuals = np.empty((2, DEPTH + 1, states))
        self._products = np.empty((DEPTH + 1, DEPTH + 1))  # of the residuals
        self._count = 0

    def restart(self) -> None:
        self._count = 0

    def take(self, point: Floats, image: Floats) -> None:
        """The next point, in place of the image."""
        spot, states = self._count % (DEPTH + 1), len(image)
        residual = self._residuals[spot]
        self._images[spot] = image
        np.subtract(image, point, out=residual)
        residual -= residual.mean()
        self._count += 1
        known = min(self._count, DEPTH + 1)
        # not by BLAS, which would start threads of its own
        row = np.einsum("ij,j->i", self._residuals[:known], residual)
        self._products[spot, :known] = self._products[:known, spot] = row
        if known == 1:
            return
        others = [i for i in range(known) if i != spot]
        products, along = self._products[np.ix_(others, others)], row[others]
        moves = products - along[:, None] - along + row[spot]  # of steps from the last residual
        weights = np.zeros(known)
        weights[others] = np.linalg.lstsq(moves, row[spot] - along, rcond=SAME)[0]
        weights[spot] = 1 - weights.sum()
        kernel.combine(self._images.ravel(), 0, states, weights, 0, known, image, 0, states)


def solve_clocks(
    process: ClockProcess, start: list[Floats] | None, tolerance: float, most: int = 2000
) -> ClockSolution | None:
    """Damped sweeps until the bounds are within ``tolerance``; None if not even one was in time.

    A blind policy is chosen anew now and then at first, and bounds are those of the last one.
    """
    values, fresh = process.zeros(), process.zeros()
    for part, known in zip(values, start or [], strict=False):
        part[:] = known
    policy, best, shortcut = None, None, _Shortcut(process.states)
    improve = IMPROVE if start is None else IMPROVE_KNOWN
    gain, lower, upper, narrowest, since = 0.0, -np.inf, np.inf, np.inf, 0
    try:
        for count in range(most):
            if process.blind and (count == 0 or count in improve):
                policy = process.choose(values)
                lower, upper, narrowest = -np.inf, np.inf, np.inf
                shortcut.restart()
            slack = process.rounding(values)
            low, high = process.sweep(values, fresh, policy, gain)
            gain = 0.5 * (low + high)
            lower, upper = max(lower, low - slack), min(upper, high + slack)
            if high - low > ASTRAY * narrowest:
                shortcut.restart()
            if upper - lower < SHRUNK * narrowest:
                narrowest, since = upper - lower, count
            if best is None or not process.blind or lower >= best.lower:
                narrow = upper - lower <= tolerance
                ways = None if policy is None else policy.ways
                best = ClockSolution(lower, upper, fresh, ways, count + 1, narrow)
            settled = not process.blind or count > improve[-1]
            if settled and (upper - lower <= tolerance or count - since > STALLED):
                break
            shortcut.take(_whole(values), _whole(fresh))
            values, fresh = fresh, values
    except OutOfTimeError:
        pass
    return best


def _whole(parts: list[Floats]) -> Floats:
    """The array that these are parts of."""
    whole = parts[0].base
    assert isinstance(whole, np.ndarray)
    return whole
