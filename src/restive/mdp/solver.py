"""The one average-reward solver: structure + parameters -> gain bounds and bias.

Relative value iteration on h <- h + tau (T h - rho - h), where T is the optimality operator, or
with radii the extended one that also picks the best model within them. The step tau < 1 makes
periodic policies harmless. Whatever produced h, one plain sweep certifies the gain of the MDP:
min(T h - h) <= rho <= max(T h - h) (Odoni).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import ArgumentError
from restive.mdp.convergence import Bounds, Progress, Stop, accelerated, plain_sweeps
from restive.mdp.layout import SPARE, fill_ghosts
from restive.mdp.numpy_iteration import NumpyIteration
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters, StructuredMDP
from restive.model.chains import stationary

NUMPY_PRODUCTS = 50_000_000  # what NumPy may do, some .3 s, before compiled sweeps go on
ROW_SUM_ERROR = 1e-6  # how far from 1 the sum of a law may be
ROUNDING = 1e-12  # how far below 0 an entry may be


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """What the solver found, with its accuracy.

    lower, upper: (n_classes,) bounds of the optimal gain in each part of the state space that no
        policy can leave; there is one part except where periodic arms share a divisor.
    values: bias h, in the structure's own order, up to a constant per part.
    policy: (N,) the best action in every state, the first of several; for MDPs given by arrays.
    """

    lower: Floats
    upper: Floats
    values: Floats
    sweeps: int
    converged: bool
    seconds: float
    _iteration: Any

    def __repr__(self) -> str:
        parts = zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        gains = ", ".join(f"{low:.8g} to {high:.8g}" for low, high in list(parts)[:4])
        more = ", ..." if len(self.lower) > 4 else ""
        ended = "" if self.converged else ", not converged"
        return f"Solution(gain {gains}{more}; {self.sweeps:,} sweeps{ended})"

    @cached_property
    def policy(self) -> Ints:
        return np.asarray(self.pair_values.argmax(axis=1))

    @cached_property
    def pair_values(self) -> Floats:
        """(N, A) reward and expected bias of every pair; for MDPs given by arrays."""
        if not hasattr(self._iteration, "pair_values"):
            raise ArgumentError(
                "information states are too many to list; ask restive.plan(bandit).action(...)"
            )
        return np.asarray(self._iteration.pair_values())

    def certify(self, errors: Floats, rewards: Floats) -> tuple[Floats, Floats]:
        """Bounds of the true T h - h where rows are only known up to ``errors``."""
        bounds: tuple[Floats, Floats] = self._iteration.certify(errors, rewards)
        return bounds

    @property
    def gain_lower(self) -> float:
        return self._only(self.lower)

    @property
    def gain_upper(self) -> float:
        return self._only(self.upper)

    @property
    def gain(self) -> float:
        return 0.5 * (self.gain_lower + self.gain_upper)

    def _only(self, bounds: Floats) -> float:
        if len(bounds) > 1:
            raise ArgumentError(
                f"the gain depends on the start: there are {len(bounds)} parts that no policy can "
                "leave; read .lower and .upper, one entry per part"
            )
        return float(bounds[0])


def solve(
    structure: Representation | StructuredMDP,
    parameters: Parameters,
    *,
    tolerance: float = 1e-6,
    start: Floats | None = None,
    max_sweeps: int = 1_000_000,
    accelerate: bool = True,
    compiled: bool = True,
    expired: Callable[[], bool] = lambda: False,
    progress: Progress | None = None,
) -> Solution:
    """Optimal (or with radii: optimistic) gain and bias of a structured MDP.

    tolerance: width of the gain bounds at which to stop. start: values to start from, as returned
    before. accelerate: extrapolate where plain sweeps converge slowly (information states only);
    the bounds always come from a plain sweep. compiled: False begins in NumPy, which needs no
    compiler and is quick enough for small bandits without radii. expired: asked between sweeps
    whether to stop. A solution that ran out of sweeps or time says so in ``converged``; its bounds
    hold all the same.

    >>> mdp, parameters = StructuredMDP.plain([[[0, 1], [1, 0]], [[0, 1], [1, 0]]],
    ...                                       [[0.0, 0.2], [1.0, 0.0]])
    >>> round(solve(mdp, parameters, tolerance=1e-9).gain, 6)
    1.0
    """
    began = perf_counter()
    _check(structure, parameters)
    stop = Stop(tolerance, max_sweeps, progress, expired)
    iteration: Any
    if isinstance(structure, StructuredMDP):
        from restive.mdp.iteration import ArrayIteration  # not above: it imports numba

        iteration = ArrayIteration(structure, parameters, start)
        bounds = plain_sweeps(iteration, stop)
    else:
        iteration, bounds = _solve_states(structure, parameters, start, stop, accelerate, compiled)
    seconds = perf_counter() - began
    lower, upper, sweeps, converged = bounds
    return Solution(lower, upper, iteration.values, sweeps, converged, seconds, iteration)


def _solve_states(
    rep: Representation, parameters: Parameters, start: Floats | None, stop: Stop,
    accelerate: bool, compiled: bool,
) -> tuple[Any, Bounds]:  # fmt: skip
    """Information states: in NumPy while that is quick, if asked to, then compiled."""
    sweeps = 0
    if rep.n_arms == 1 and parameters.radii is None:
        start = _single_arm_values(rep, parameters)
    if not compiled and parameters.radii is None:
        plain = NumpyIteration(rep, parameters, start)
        most = NUMPY_PRODUCTS // plain.entries
        bounds = plain_sweeps(plain, stop, 0, lambda count, _: count < most)
        if bounds.converged or bounds.sweeps >= stop.max_sweeps or stop.expired():
            return plain, bounds
        start, sweeps = plain.values, bounds.sweeps
    from restive.mdp.iteration import BanditIteration

    iteration = BanditIteration(rep, parameters, start)
    iteration.expired = stop.expired
    method = accelerated if accelerate and iteration.can_propagate else plain_sweeps
    return iteration, method(iteration, stop, sweeps)


def _single_arm_values(structure: Representation, parameters: Parameters) -> Floats:
    """Exact bias of the only policy there is, so that slow chains need no sweeps."""
    now = structure.color_grid(0)[:, 0]  # the arm is always pulled, so its age is always 1
    p = parameters.probabilities[now][:, : structure.sizes[0]]
    law = stationary(p)
    rewards = parameters.rewards[now]
    bias = np.linalg.solve(np.eye(len(p)) - p + law, rewards - law @ rewards)
    values = np.zeros(int(structure.layout.block[-1]))
    rows = values[:-SPARE].reshape(len(p), -1)
    rows[:, 0] = rows[:, 1] = bias
    return values


def refine(coarse: Representation, values: Floats, fine: Representation) -> Floats:
    """Values of a representation read off a coarser one, as a start for its solution."""
    fresh = np.zeros(int(fine.layout.block[-1]))
    for last in range(fine.n_arms):
        index = [np.arange(size) for size in fine.sizes]
        for j, ages in enumerate(fine.block_ages(last)):
            stored = np.array([coarse.stored_age(j, int(age)) for age in ages]) - 1
            index.append(stored * 0 if j == last else stored - coarse.layout.first[j])
        fine.block(fresh, last)[...] = coarse.block(values, last)[np.ix_(*index)]
    fill_ghosts(fine, fresh)
    return fresh


def _check(structure: Representation | StructuredMDP, parameters: Parameters) -> None:
    colors, support = structure.n_colors, structure.max_support
    if parameters.rewards.shape != (colors,):
        raise ArgumentError(f"rewards must have shape ({colors},), not {parameters.rewards.shape}")
    shape = parameters.probabilities.shape
    if len(shape) != 2 or shape[0] != colors or shape[1] != support:
        raise ArgumentError(f"probabilities must have shape ({colors}, {support}), not {shape}")
    for name in ("reward_radii", "radii"):
        radii = getattr(parameters, name)
        if radii is not None and (radii.shape != (colors,) or not (radii >= 0).all()):
            raise ArgumentError(f"{name} must be {colors} numbers that are not negative")
    if not np.isfinite(parameters.rewards).all():
        color = int(np.flatnonzero(~np.isfinite(parameters.rewards))[0])
        raise ArgumentError(f"rewards[{color}] is {parameters.rewards[color]}, not a finite number")
    _check_laws(structure, parameters.probabilities)


def _check_laws(structure: Representation | StructuredMDP, laws: Floats) -> None:
    """Quick where all is well: learners call this thousands of times."""
    off = np.abs(laws @ np.ones(laws.shape[1]) - 1.0)
    if not (off.max() <= ROW_SUM_ERROR and laws.min() >= -ROUNDING):  # so that NaN is refused too
        color = int(np.flatnonzero(~((off <= ROW_SUM_ERROR) & (laws >= -ROUNDING).all(axis=1)))[0])
        raise ArgumentError(
            f"probabilities[{color}] must be a law (not negative, with sum 1), not {laws[color]}"
        )
    if isinstance(structure, StructuredMDP) and structure.successors.min() < 0:
        _check_outcomes(structure, laws)


def _check_outcomes(mdp: StructuredMDP, laws: Floats) -> None:
    """Refuse laws that give outcomes a chance which lead nowhere."""
    there = mdp.colors >= 0
    lost = (mdp.successors[there] < 0) & (laws[mdp.colors[there]] > ROUNDING)
    if lost.any():
        state, action = np.argwhere(there)[np.flatnonzero(lost.any(axis=1))[0]]
        color = mdp.colors[state, action]
        raise ArgumentError(
            f"probabilities[{color}] is {laws[color]}, but action {action} in state {state} leads "
            f"to {mdp.successors[state, action]}: an outcome that leads nowhere must have chance 0"
        )
