"""Solve a grid process orbit by orbit, from the values of another grid where there are some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.many.grid_iteration import GridIteration, Solved, solve_grid
from restive.many.grid_layout import Layout
from restive.many.grid_points import ArmGrid, first_ages, slip_cost
from restive.mdp.representation import Representation
from restive.model.bandit import Arm, Bandit

Start = tuple[Layout, Floats, float, int]  # layout, values, gain and depth of another plan
Progress = Callable[[int, float, float], None]

FIRST_DEPTHS = (1, 4, 16)  # a cold start is led from short stays to long ones
LOOSE = 20.0  # on the way there the tolerance is this much larger
START_SLACK = 1e-3  # of the mixtures that only start values are read off
HURRIED_RATE = 0.25  # slow arms are first solved so fast that some state is left at this rate
HURRIED_DEPTH = 8
HURRIED_AGES = 4
SLOWER = 3.0  # from one speed to the next
LEAST_SPEED = 2.0  # the last step is the arms' own speed


@dataclass(frozen=True, eq=False)
class Answer:
    """Bounds for each orbit of phases (lower: of the grid process only), and the values."""

    lowers: tuple[float, ...]
    uppers: tuple[float, ...]
    gain: float
    values: Floats
    depth: int
    sweeps: int
    converged: bool


def solution_of(
    layout: Layout, pulls: int, rest: float | None, depth: int, start: Start | None,
    tolerance: float, deadline: float, progress: Progress | None,
) -> Answer:  # fmt: skip
    """Solve for every orbit; the allowance for interpolation and rounding is in the upper ends."""
    prices = np.zeros(len(layout.sets))
    if rest is not None:
        prices = np.array([rest * (pulls - len(part)) for part in layout.sets])
    if start is None:
        start = _from_hurried(layout, prices, tolerance, deadline)
    values, gain, depths = _begin(layout, start, depth)
    orbits = _orbits(layout)
    count, sweeps = int(orbits.max()) + 1, 0
    solved: list[Solved] = []
    for step in depths:
        if solved and perf_counter() > deadline:
            break  # bounds of shorter stays hold too
        iteration = GridIteration(layout, step, prices, deadline)
        last = step == depth
        solved = []
        for orbit in range(count):
            part = None if count == 1 else orbits == orbit
            answer = solve_grid(
                iteration, values, gain, part=part, tolerance=tolerance * (1 if last else LOOSE),
                progress=progress,
            )  # fmt: skip
            values, gain = answer.values, answer.gain
            solved.append(answer)
        sweeps += iteration.sweeps
    extra = allowance(iteration, values)
    return Answer(
        lowers=tuple(answer.lower for answer in solved),
        uppers=tuple(min(answer.upper + extra, _most(layout, pulls, rest)) for answer in solved),
        gain=gain,
        values=values,
        depth=iteration.depth,
        sweeps=sweeps,
        converged=iteration.depth == depth and all(answer.converged for answer in solved),
    )


def _begin(layout: Layout, start: Start | None, depth: int) -> tuple[Floats, float, list[int]]:
    """Values, gain and the depths to go through."""
    if start is not None and start[0].sets == layout.sets:
        return carry_over(start[0], start[1], layout), start[2], [depth]
    size = len(layout.sets[0])
    gain = sum(sorted((grid.arm.gain for grid in layout.grids), reverse=True)[:size])
    return np.zeros(layout.n_states), gain, [d for d in FIRST_DEPTHS if d < depth] + [depth]


def _from_hurried(
    layout: Layout, prices: Floats, tolerance: float, deadline: float
) -> Start | None:
    """Values from the same arms made faster, I + c (P - I), c falling step by step towards 1.

    Values of slow arms grow with the time that these take to change. Sweeps would have to build
    them up step by step; those of arms c times as fast, times c, are nearly there.
    """
    leave = max(float((1 - np.diag(grid.arm.transitions)).max()) for grid in layout.grids)
    speed = HURRIED_RATE / leave if leave > 0 else 1.0
    ages = max(len(part) for grid in layout.grids for part in grid.ages)
    start: Start | None = None
    while speed >= LEAST_SPEED and perf_counter() < deadline:
        quick = _hurried(layout, min(ages, HURRIED_AGES), speed)
        if start is not None:
            start = (start[0], SLOWER * start[1], start[2], start[3])
        values, gain, depths = _begin(quick, start, HURRIED_DEPTH)
        for depth in depths:
            iteration = GridIteration(quick, depth, prices, deadline)
            answer = solve_grid(iteration, values, gain, tolerance=LOOSE * tolerance, most=200)
            values, gain = answer.values, answer.gain
        start = (quick, values - values[0], gain, HURRIED_DEPTH)
        speed /= SLOWER
    return None if start is None else (start[0], SLOWER * speed * start[1], start[2], start[3])


def _hurried(layout: Layout, ages: int, speed: float) -> Layout:
    grids = []
    for grid in layout.grids:
        eye = np.eye(grid.arm.n_states)
        arm = Arm(eye + speed * (grid.arm.transitions - eye), grid.arm.rewards)
        grids.append(ArmGrid(arm, first_ages(arm, ages)))
    return Layout(tuple(grids), layout.sets)


def _most(layout: Layout, pulls: int, rest: float | None) -> float:
    """No pull pays more than the largest reward, no rest more than its price."""
    tops = sorted((float(grid.arm.rewards.max()) for grid in layout.grids), reverse=True)[:pulls]
    return sum(max(top, rest or 0.0) for top in tops)


def allowance(iteration: GridIteration, values: Floats) -> float:
    """What mixtures that are not quite exact, and rounding, may take from the bound."""
    extra, eps = 0.0, float(np.finfo(np.float64).eps)
    for grid, error in zip(iteration.layout.grids, iteration.errors, strict=True):
        size = grid.arm.n_states
        slip = error + eps * (8 + 2 * size * np.log2(2.0 + iteration.depth))
        extra += slip_cost(grid.arm, slip)
    scale = 1.0 + float(np.abs(values).max())
    terms = sum(max(2, grid.arm.n_states) for grid in iteration.layout.grids)
    return extra + eps * scale * iteration.depth * (8 + 2 * terms)


def _orbits(layout: Layout) -> Ints:
    """Orbit of the phases of every state of the grid process; a single zero if there is one."""
    arms = [grid.arm for grid in layout.grids]
    rep = Representation.of(Bandit(arms), 1)
    if rep.n_classes == 1:
        return np.zeros(1, dtype=np.int64)
    parts = []
    for pulled in layout.sets:
        order = [*pulled, *layout.others(pulled)]
        phases = np.ix_(*(layout.grids[j].phases[: layout.sizes[j]] if j in pulled
                          else layout.grids[j].phases for j in order))  # fmt: skip
        turned = [phases[order.index(j)] for j in range(len(arms))]
        parts.append(np.asarray(rep.orbits[tuple(turned)]).ravel())
    return np.concatenate(parts)


def carry_over(old: Layout, values: Floats, new: Layout) -> Floats:
    """Values on another grid of the same arms, interpolated."""
    matrices = [_onto(a, b) for a, b in zip(old.grids, new.grids, strict=True)]
    fresh = np.empty(new.n_states)
    for number, pulled in enumerate(new.sets):
        part = old.block(values, number)
        order = [*pulled, *old.others(pulled)]
        for axis, j in enumerate(order):
            if j not in pulled:
                part = np.moveaxis(np.tensordot(matrices[j], part, axes=(1, axis)), 0, axis)
        axes = [*pulled, *new.others(pulled)]
        new.block(fresh, number)[...] = part.transpose([order.index(j) for j in axes])
    return fresh


def _onto(old: ArmGrid, new: ArmGrid) -> Floats:
    """(G', G): the new grid's points as mixtures of the old one's."""
    spots = old.locate(new.points, START_SLACK)
    matrix = np.zeros((new.size, old.size))
    for g in range(new.size):
        np.add.at(matrix[g], spots.places[g], spots.weights[g])
    return matrix
