"""Value iteration on a grid process, with bounds of its gain from every sweep.

A sweep with gain g turns the values E of the states just after a switch into

    (T_g E)(x) = the best E[ sum of (reward - g) during the stay + E(state after the switch) ]

over all rules when to leave the arms just pulled. For any E and g the gain of the grid process
lies between g + min(0, T_g E - E) and g + max(0, T_g E - E) (docs/theory/grids.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from restive._kernels import grid as kernel
from restive.base.arrays import Bools, Floats
from restive.base.errors import OutOfTimeError
from restive.base.machine import share_out, thread_count
from restive.many.grid_layout import Layout, joint_rewards, time_tables

DAMPING = 0.95  # step towards the backup; below 1, or periodic policies make values swing
MEMORY = 6  # sweeps that an extrapolation looks back on
CELLS_PER_CALL = 30_000_000  # backups between two chances to be interrupted
PLAIN = 3  # plain sweeps at first; differences of far-off values mislead extrapolation
WORSE = 3.0  # an extrapolation that widens the bounds by this much is taken back
PROBE = 1e-4  # change of the gain by which the length of stays is measured


class GridIteration:
    """A grid process ready to be swept; ``depth``: steps of a stay without interpolation.

    deadline: of ``perf_counter``, at which a sweep is given up.
    """

    def __init__(
        self, layout: Layout, depth: int, prices: Floats | None = None, deadline: float = np.inf
    ) -> None:
        self.layout, self.depth, self.deadline = layout, depth, deadline
        self.prices = np.zeros(len(layout.sets)) if prices is None else prices
        self.tables, self.errors = time_tables(layout.grids, depth)
        self.blocks = [self._ready(b) for b in range(len(layout.sets))]
        self.sweeps = 0

    def _ready(self, number: int) -> kernel.Block:
        block = self.layout.kernel_block(number)
        return block._replace(reward=block.reward + self.prices[number])

    @property
    def work(self) -> int:
        """Backups of one sweep."""
        return self.layout.n_states * self.depth * len(self.layout.sets)

    def sweep(self, values: Floats, gain: float) -> Floats:
        """T_g of the values."""
        target = np.empty_like(values)
        begin = self.layout.begin
        order = sorted(range(len(self.blocks)), key=lambda b: begin[b] - begin[b + 1])
        share_out(self.work, self._some, order, values, target, float(gain))
        self.sweeps += 1
        return target

    def _some(
        self, order: list[int], values: Floats, target: Floats, gain: float, first: int, stride: int
    ) -> None:
        for number in order[first::stride]:
            self._stay(number, values, target, gain)

    def _stay(self, number: int, values: Floats, target: Floats, gain: float) -> None:
        layout, begin = self.layout, self.layout.begin[number]
        base = self._entries(number, values)
        entries, spare = np.empty_like(base), np.empty(max(1, len(base)))
        target[begin : layout.begin[number + 1]] = self._forced(number, values).ravel()
        cells = max(1, (layout.begin[number + 1] - begin) * len(layout.sets))
        phases = max(1, CELLS_PER_CALL // cells)
        for last in range(self.depth, 0, -phases):
            if perf_counter() > self.deadline:
                raise OutOfTimeError  # in the middle of a sweep
            kernel.stays(target, begin, base, entries, spare, self.blocks[number], self.tables,
                         gain, last, max(0, last - phases))  # fmt: skip

    def _forced(self, number: int, values: Floats) -> Floats:
        """Values at the end of the longest stay, where all other arms are interpolated."""
        tables, part = self.tables, self.layout.block(values, number)
        cells = part.ravel()
        axes, own = part.shape, len(self.layout.sets[number])
        for i, arm in enumerate(self.layout.others(self.layout.sets[number])):
            before, after = (int(np.prod(axes[: own + i])), int(np.prod(axes[own + i + 1 :])))
            moved = np.empty_like(cells)
            kernel.age(cells, 0, moved, 0, before, axes[own + i], after,
                       tables.places, tables.weights, tables.counts, arm, self.depth)  # fmt: skip
            cells = moved
        return cells

    def _entries(self, number: int, values: Floats) -> Floats:
        """Value of each outcome of each next pull, all other arms on the grid; flat."""
        layout, now = self.layout, self.layout.sets[number]
        parts = []
        for other, then in enumerate(layout.sets):
            if then == now:
                continue
            rewards = joint_rewards([layout.grids[j].arm.rewards for j in then])
            part = layout.block(values, other)
            rewards = rewards + self.prices[other]
            part = part + rewards.reshape(part.shape[: len(then)] + (1,) * (part.ndim - len(then)))
            arms = [*then, *layout.others(then)]
            for j in now:
                part = self._moved(part, arms.index(j), j, j in then)
            order = [*now, *layout.fresh(now, then), *layout.ageing(now, then)]
            parts.append(part.transpose([arms.index(j) for j in order]).ravel())
        return np.concatenate(parts) if parts else np.zeros(0)

    def _moved(self, part: Floats, axis: int, arm: int, again: bool) -> Floats:
        """From what an arm shows next, or from the grid, to the state s that it was seen in.

        Pulled again it shows s' with chance P(s, s'); left, its belief two steps after s is
        e_s P^2, which lies on the grid as its tables say for one step after age 1.
        """
        size, shape = self.layout.sizes[arm], part.shape
        cells = part.reshape(int(np.prod(shape[:axis])), shape[axis], -1)
        if again:
            spots = np.broadcast_to(np.arange(size), (size, size))
            shares = self.layout.grids[arm].arm.transitions
        else:
            spots, shares = self.tables.places[arm, 1, :size], self.tables.weights[arm, 1, :size]
        out = np.zeros((len(cells), size, cells.shape[2]))
        for s in range(size):
            for spot, share in zip(spots[s], shares[s], strict=True):
                if share:
                    out[:, s] += share * cells[:, spot]
        return out.reshape(*shape[:axis], size, *shape[axis + 1 :])


@dataclass(frozen=True, eq=False)
class Solved:
    """Bounds of the grid process' gain, and its values up to a constant."""

    lower: float
    upper: float
    gain: float
    values: Floats
    sweeps: int
    converged: bool


def solve_bytes(layout: Layout) -> int:
    """Memory of a solution at its peak: values, sweeps looked back on, entries of two threads."""
    entries = max(layout.entry_cells(b) for b in range(len(layout.sets)))
    return 8 * ((2 * MEMORY + 6) * layout.n_states + 4 * thread_count() * entries)


def solve_grid(
    iteration: GridIteration,
    values: Floats,
    gain: float,
    *,
    part: Bools | None = None,
    tolerance: float,
    progress: Callable[[int, float, float], None] | None = None,
    most: int = 2000,
) -> Solved:
    """Sweeps with Anderson extrapolation of (values, gain), until the bounds are within tolerance.

    At the iteration's deadline it ends with what is known; before the first sweep that is nothing.

    Every sweep gives valid bounds, so nothing rests on the extrapolation. part: states to solve
    for, where not all can reach each other; the values of the others stay as they are.
    """
    solved = Solved(-np.inf, np.inf, gain, values, 0, False)
    try:
        for solved in _sweeps(iteration, values, gain, part, tolerance, most):
            if progress is not None:
                progress(iteration.sweeps, solved.lower, solved.upper)
            if perf_counter() > iteration.deadline:
                break
    except OutOfTimeError:
        pass  # what the sweeps before have shown holds
    return solved


def _sweeps(
    iteration: GridIteration, values: Floats, gain: float, part: Bools | None,
    tolerance: float, most: int,
) -> Iterator[Solved]:  # fmt: skip
    """What is known after each sweep, until the bounds are within tolerance."""
    search = _Search(values, gain)
    lower, upper, stay = -np.inf, np.inf, 1.0
    best, narrowest = (values, gain), np.inf
    plain = patience = PLAIN  # sweeps before extrapolation is tried, more after each failure
    for count in range(most):
        target = iteration.sweep(search.values, search.gain)
        change = target - search.values
        seen = change if part is None else change[part]
        low, high = float(seen.min()), float(seen.max())
        lower = max(lower, search.gain + min(0.0, low))
        upper = min(upper, search.gain + max(0.0, high))
        if high - low < narrowest:
            narrowest, best = high - low, (search.values + _within(change, part), search.gain)
        converged = upper - lower <= tolerance
        yield Solved(lower, upper, best[1], best[0], iteration.sweeps, converged)
        if converged:
            return
        if count in (0, 4, 16) or count % 50 == 49:
            stay = _stay_length(iteration, *(best if count else (values, gain)))
        if high - low > WORSE * narrowest and plain <= 0:
            search = _Search(best[0], float(np.clip(best[1], lower, upper)))
            plain = patience = 2 * patience
            continue
        middle = 0.5 * (low + high)
        plain -= 1
        search.advance(_within(change - middle, part), middle / stay, (lower, upper), plain <= 0)


def _within(change: Floats, part: Bools | None) -> Floats:
    return change if part is None else np.where(part, change, 0.0)


def _stay_length(iteration: GridIteration, values: Floats, gain: float) -> float:
    """Mean steps from one switch to the next: how fast T_g falls with g."""
    slow = iteration.sweep(values, gain + PROBE)
    fast = iteration.sweep(values, gain - PROBE)
    return max(1.0, float((fast - slow).mean()) / (2 * PROBE))


class _Search:
    """A point (values, gain), the changes seen so far, and steps by Anderson's method."""

    def __init__(self, values: Floats, gain: float) -> None:
        self.values, self.gain = values, gain
        self.points: list[tuple[Floats, float]] = []
        self.changes: list[tuple[Floats, float]] = []
        self.gram = np.zeros((0, 0))

    def advance(
        self, change: Floats, drift: float, limits: tuple[float, float], extrapolate: bool
    ) -> None:
        """The next point, from the change of the values and of the gain at this one."""
        self.points = [*self.points, (self.values, self.gain)][-MEMORY:]
        self.changes = [*self.changes, (change, drift)][-MEMORY:]
        shares = self._shares()
        if not extrapolate:
            shares = np.eye(len(shares))[-1]
        values, gain = np.zeros_like(change), 0.0
        for share, point, step in zip(shares, self.points, self.changes, strict=True):
            values += share * point[0]
            values += (share * DAMPING) * step[0]
            gain += share * (point[1] + DAMPING * step[1])
        self.values = values
        self.gain = float(np.clip(gain, *limits))

    def _shares(self) -> Floats:
        """Shares with sum 1 whose mixture of changes is least in the sense of least squares."""
        change, drift = self.changes[-1]
        # einsum and not BLAS, whose threads take longer to meet than the sum takes
        fresh = [np.einsum("i,i", part, change) / len(change) + slip * drift
                 for part, slip in self.changes]  # fmt: skip
        count, kept = len(self.changes), len(self.changes) - 1
        gram = np.zeros((count, count))
        gram[:kept, :kept] = self.gram[len(self.gram) - kept :, len(self.gram) - kept :]
        gram[-1, :] = gram[:, -1] = fresh
        self.gram = gram
        ridge = gram + 1e-12 * np.trace(gram) * np.eye(count)
        shares = np.linalg.solve(ridge, np.ones(count)) if gram.any() else np.ones(count)
        return np.asarray(shares / shares.sum())
