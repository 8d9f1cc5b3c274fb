"""Plan on grids of beliefs: a certified upper bound and a policy, however slowly the arms mix.

Why the bound holds is written out in docs/theory/grids.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief
from restive.base.errors import ArgumentError, TooLargeError, refuse
from restive.base.machine import memory_allowed
from restive.base.words import size_text
from restive.many.grid_layout import Layout, pull_sets
from restive.many.grid_points import ArmGrid, first_ages
from restive.many.orbits import orbit_law
from restive.model.bandit import Arm, Bandit
from restive.model.validation import check_pulls

if TYPE_CHECKING:
    from restive._kernels.grid_play import Board

Ages = int | Sequence[int | Sequence[Sequence[int]]]
Progress = Callable[[int, float, float], None]  # (sweeps, lower, upper of the grid process)


@dataclass(frozen=True, eq=False, repr=False)
class GridPlan(Brief):
    """A policy for the bandit and an upper bound of every policy's gain.

    upper: certified: no policy of the bandit has a larger gain. Where the periods of several arms
        have a common divisor the best gain depends on the start, ``uppers`` has one bound for each
        orbit of phases and ``upper`` is their mean over the arms' initial laws.
    grid_lower: lower bound of the grid process' own gain. It says how far the iteration is from
        its end, and bounds nothing for the bandit.
    depth: steps of a stay before beliefs are interpolated.
    """

    arms: tuple[Arm, ...]
    pulls: int
    rest: float | None
    layout: Layout = field(repr=False)
    depth: int
    upper: float
    uppers: tuple[float, ...]
    grid_lower: float
    iteration_gain: float = field(repr=False)
    values: Floats = field(repr=False)
    sweeps: int
    converged: bool
    seconds: float
    upper_kind: Literal["certified"] = "certified"

    @property
    def states(self) -> int:
        """States of the grid process."""
        return self.layout.n_states

    @property
    def sizes(self) -> tuple[int, ...]:
        """Grid points of each arm."""
        return self.layout.points

    @property
    def ages(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Ages on the grid, by arm and last state; may be given back to ``plan_grid``."""
        return tuple(grid.ages for grid in self.layout.grids)

    @cached_property
    def board(self) -> Board:
        from restive.many.grid_board import board_of

        prices = [self._price * (self.pulls - len(part)) for part in self.layout.sets]
        return board_of(self.layout, self.values, np.array(prices))

    @property
    def _price(self) -> float:
        return 0.0 if self.rest is None else self.rest

    def action(self, last_states: ArrayLike, ages: ArrayLike) -> int | tuple[int, ...]:
        """Arm to pull (-1: rest), or the tuple of arms where several are pulled a step.

        last_states, ages: for each arm the state last seen and the steps since then, of any size.
        The best of one look ahead at the true beliefs; ties go to the arms pulled last, then to
        the first.
        """
        arms = self.layout.sets[int(self.choices(last_states, ages)[()])]
        if self.pulls > 1:
            return arms
        return arms[0] if arms else -1

    def actions(self, last_states: ArrayLike, ages: ArrayLike) -> Ints:
        """``action`` for many information states at once; inputs (..., K).

        Shape (...) for one pull a step, else (..., pulls); -1 stands for a rest.
        """
        table = np.full((len(self.layout.sets), max(1, self.pulls)), -1)
        for b, part in enumerate(self.layout.sets):
            table[b, : len(part)] = part
        chosen = table[self.choices(last_states, ages)]
        return np.asarray(chosen[..., 0] if self.pulls == 1 else chosen)

    def choices(self, last_states: ArrayLike, ages: ArrayLike) -> Ints:
        """Number of the best set of arms in ``layout.sets``, shape (...)."""
        return self._decide(last_states, ages)[0]

    def pull_values(self, last_states: ArrayLike, ages: ArrayLike) -> Floats:
        """r(x, A) + E h(next) for every set A of ``layout.sets``, shape (..., sets)."""
        return self._decide(last_states, ages)[1]

    def _decide(self, last_states: ArrayLike, ages: ArrayLike) -> tuple[Ints, Floats]:
        from restive._kernels import grid_play

        lasts, raw = self._checked(last_states, ages)
        shape, count = raw.shape[:-1], len(self.arms)
        choices = np.zeros(int(np.prod(shape)), dtype=np.int64)
        worth = np.zeros((len(choices), len(self.layout.sets)))
        grid_play.decide(
            self.board, lasts.reshape(-1, count), raw.reshape(-1, count), choices, worth
        )
        return choices.reshape(shape), worth.reshape(*shape, -1)

    def _checked(self, last_states: ArrayLike, ages: ArrayLike) -> tuple[Ints, Ints]:
        lasts, raw = np.asarray(last_states), np.asarray(ages)
        shape = np.broadcast_shapes(lasts.shape, raw.shape)
        if shape[-1:] != (len(self.arms),):
            raise ArgumentError(f"last_states and ages need {len(self.arms)} entries, one per arm")
        whole = []
        for what, values in (("last_states", lasts), ("ages", raw)):
            if values.dtype.kind not in "iu" and not (values == np.floor(values)).all():
                raise ArgumentError(f"{what} must be whole numbers, one per arm, not {values!r}")
            whole.append(np.array(np.broadcast_to(values, shape), dtype=np.int64, order="C"))
        if (whole[0] < 0).any() or (whole[0] >= self.layout.sizes).any():
            raise ArgumentError(f"last_states must be below {self.layout.sizes}, not {lasts!r}")
        if (whole[1] < 1).any():
            raise ArgumentError(
                f"ages count the steps since each arm was seen, from 1 on; not {raw!r}"
            )
        return whole[0], whole[1]


def plan_grid(
    arms: Bandit | Sequence[Arm], *, pulls: int = 1, rest: float | None = None, ages: Ages = 4,
    depth: int = 48, start: GridPlan | None = None, tolerance: float = 1e-4,
    memory: int | None = None, deadline: float = np.inf, progress: Progress | None = None,
) -> GridPlan:  # fmt: skip
    """Solve the grid process: an upper bound of the best gain, and a policy by one look ahead.

    pulls: arms pulled in each step. rest: None, or what each pull that is not made pays.
    ages: how many ages for each arm and last state, or the ages themselves. depth: steps of a
    stay on the same arms that are followed exactly; only then and at switches are beliefs
    interpolated. start: a plan of the same arms, sets of pulls and any grid to start from.
    tolerance: of the iteration; the bound holds whatever it is. deadline: time of
    ``perf_counter`` to stop at.

    >>> from restive.problems import example1
    >>> plan = plan_grid(example1(epsilon=0.1), ages=8)
    >>> bool(0.7 <= plan.upper < 0.701), plan.action([1, 0], [1, 2])
    (True, 0)
    """
    began = perf_counter()
    layout = _layout(arms, pulls, rest, ages)
    arms_planned = tuple(grid.arm for grid in layout.grids)
    _refuse_if_large(layout, memory_allowed(memory))
    from restive.many.grid_solution import solution_of

    answer = solution_of(
        layout, pulls, rest, depth, None if start is None else (start.layout, start.values,
        start.iteration_gain, start.depth), tolerance, deadline, progress,
    )  # fmt: skip
    law = orbit_law(arms_planned)
    return GridPlan(
        arms=arms_planned, pulls=pulls, rest=rest, layout=layout, depth=answer.depth,
        upper=float(law @ np.array(answer.uppers)), uppers=answer.uppers,
        grid_lower=float(law @ np.array(answer.lowers)), iteration_gain=answer.gain,
        values=answer.values, sweeps=answer.sweeps, converged=answer.converged,
        seconds=perf_counter() - began,
    )  # fmt: skip


def _layout(arms: Bandit | Sequence[Arm], pulls: int, rest: float | None, ages: Ages) -> Layout:
    arms_planned = tuple(arms.arms if isinstance(arms, Bandit) else arms)
    _check_pulls(len(arms_planned), pulls, rest)
    grids = tuple(
        ArmGrid(arm, part)
        for arm, part in zip(arms_planned, _spread(arms_planned, ages), strict=True)
    )
    return Layout(grids, pull_sets(len(arms_planned), pulls, rest is not None))


def _spread(arms: Sequence[Arm], ages: Ages) -> list[Sequence[Sequence[int]]]:
    """Ages by arm and last state."""
    if isinstance(ages, int):
        return [first_ages(arm, ages) for arm in arms]
    if len(ages) != len(arms):
        raise ArgumentError(f"ages must have one entry per arm ({len(arms)}), not {len(ages)}")
    return [
        first_ages(arm, part) if isinstance(part, int) else part
        for arm, part in zip(arms, ages, strict=True)
    ]


def _check_pulls(count: int, pulls: int, rest: float | None) -> None:
    refuse(check_pulls(pulls, count))
    if rest is not None and not 0 <= rest < np.inf:
        raise ArgumentError(f"rest must be None or a price that is not negative, not {rest!r}")


def _refuse_if_large(layout: Layout, allowed: int) -> None:
    from restive.many.grid_iteration import solve_bytes

    needed = solve_bytes(layout)
    if needed > allowed:
        raise TooLargeError(
            f"the grid makes {layout.n_states:.3g} states, about {size_text(needed)}, more "
            f"than the {size_text(allowed)} allowed; ask for fewer ages an arm, fewer "
            "arms, or raise the memory limit"
        )
