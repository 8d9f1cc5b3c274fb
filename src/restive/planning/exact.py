"""Plan a known bandit: the best policy, and an interval that provably contains its gain."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.base.errors import TooLargeError
from restive.mdp.certificate import bandit_parameters, certificate, rounding, row_errors
from restive.mdp.representation import Representation
from restive.mdp.solver import Solution, refine, solve
from restive.model.bandit import Arm, Bandit

__all__ = ["Forecast", "Plan", "forecast", "plan"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FIRST_ERROR = 0.1  # L1 error of the rows beyond the cap on the coarsest level
EXACT = 1e-300  # stands for rows without any error
SOLVER_SHARE = 0.25  # part of the tolerance left to the iteration; the rest is aggregation
SECONDS_PER_PAIR_AND_SWEEP = 0.8e-9  # this and what follows: orders of magnitude, for forecasts
FINE_SWEEPS = 200  # of the finer levels together; they start from the coarse one
COARSE_SWEEPS = 5  # of the coarse one per step of the slowest arm's mixing time
OVERHEAD = 0.02  # seconds of any plan
HOPELESS = 30.0  # seconds; what cannot be held anyway and takes longer to try is not begun


@dataclass(frozen=True)
class Forecast:
    """Size of a representation before anything is allocated; time is an order of magnitude."""

    caps: tuple[int, ...]
    states: int
    colors: int
    bytes: int
    seconds: float
    memory: int  # bytes that planning may take

    @property
    def fits(self) -> bool:
        return self.bytes <= self.memory


def forecast(
    bandit: Bandit,
    tolerance: float = 1e-6,
    *,
    caps: int | Sequence[int] | None = None,
    memory: int | None = None,
) -> Forecast:
    """About what planning to ``tolerance`` takes, from the arms' mixing times alone.

    The caps it really needs also depend on how much the policy cares about old ages. States come
    out within a factor of 2 where it does, the time within a factor of about 5.
    """
    check_tolerance(tolerance)
    if caps is None:
        caps = caps_for_error(bandit, _last_error(bandit, tolerance))
        first = Representation.of(bandit, caps_for_error(bandit, FIRST_ERROR))
    else:
        first = Representation.of(bandit, caps)
    rep = Representation.of(bandit, caps)
    seconds = _seconds(bandit, first, rep)
    allowed = memory_allowed(memory)
    return Forecast(rep.caps, rep.n_states, rep.n_colors, _peak(rep), seconds, allowed)


def plan(
    bandit: Bandit,
    tolerance: float = 1e-6,
    *,
    caps: int | Sequence[int] | None = None,
    memory: int | None = None,
    progress: Callable[[str, int, float], None] | None = None,
) -> Plan:
    """The optimal policy, with an interval of at most ``tolerance`` that contains its gain rho*.

    Ages are told apart up to a cap that follows from the tolerance; ``caps`` forces it, and then
    the interval is as wide as that makes it. So it is where rounding alone takes more than the
    tolerance; ``converged`` is then False and the interval holds all the same. memory: bytes that
    may be used (half of the machine's by default). progress: called with (what is done, sweeps,
    width of the interval).

    >>> from restive.problems import example1
    >>> found = plan(example1(epsilon=0.1))
    >>> abs(found.gain - 0.7) < 1e-6, found.action([1, 0], [1, 2])
    (True, 0)
    """
    began = perf_counter()
    check_tolerance(tolerance)
    allowed = memory_allowed(memory)
    if caps is None:
        _refuse_if_hopeless(bandit, tolerance, allowed)
    error, sweeps, within = FIRST_ERROR, 0, tolerance
    level: _Level | None = None
    while True:
        rep = Representation.of(bandit, caps_for_error(bandit, error) if caps is None else caps)
        finest = _peak(rep) > allowed
        if finest:
            rep = _largest_fitting(bandit, rep, error, level, tolerance, allowed, caps is None)
        accuracy = (0.1 if finest else SOLVER_SHARE) * within
        if caps is None and not finest:
            accuracy = max(accuracy, 0.02 * error)
        level = _solve_level(bandit, rep, accuracy, level, progress)
        sweeps += level.solution.sweeps
        width = level.width
        if progress is not None:
            progress("certified", sweeps, width)
        within = max(tolerance, 2 * level.rounding)  # less is out of reach at any age
        exact = level.error <= EXACT and accuracy <= SOLVER_SHARE * within
        if width <= within or caps is not None or exact:
            break
        if finest:
            raise _too_large(bandit, tolerance, allowed, width)
        error = _next_error(error, level, within)
    return Plan(
        bandit, rep, level.lower, level.upper, level.solution.values, tolerance, sweeps,
        width <= tolerance, perf_counter() - began,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Plan:
    """The optimal policy of a bandit, with its certified gain.

    lower, upper: (n_classes,) bounds of rho* in each part of the state space that no policy can
    leave. There is one part, except where the periods of several arms have a common divisor;
    then the gain depends on which phases the arms start in, and ``gain`` is its mean over the
    bandit's initial laws.
    """

    bandit: Bandit
    representation: Representation
    lower: Floats
    upper: Floats
    values: Floats = field(repr=False)
    tolerance: float
    sweeps: int
    converged: bool
    seconds: float

    @property
    def gain(self) -> float:
        """rho*, in the middle of its interval."""
        return 0.5 * (self.gain_lower + self.gain_upper)

    @cached_property
    def gain_lower(self) -> float:
        return float(self.class_law @ self.lower)

    @cached_property
    def gain_upper(self) -> float:
        return float(self.class_law @ self.upper)

    @cached_property
    def class_law(self) -> Floats:
        """Probability of each part under the bandit's initial laws, shape (n_classes,)."""
        rep = self.representation
        law = np.ones(())
        for arm in self.bandit.arms:
            phases = np.bincount(arm.cyclic_class, arm.initial_law, minlength=arm.period)
            law = np.multiply.outer(law, phases)
        parts = np.bincount(rep.orbits.ravel(), law.ravel(), minlength=rep.n_classes)
        return parts.astype(np.float64)

    @property
    def starts(self) -> list[tuple[float, float, float]]:
        """(probability, lower, upper) of each part in which play may start; mostly one."""
        rows = zip(self.class_law.tolist(), self.lower.tolist(), self.upper.tolist(), strict=True)
        return [row for row in rows if row[0] > 0]

    @property
    def states(self) -> int:
        return self.representation.n_states

    @property
    def caps(self) -> tuple[int, ...]:
        return self.representation.caps

    def action(self, last_states: ArrayLike, ages: ArrayLike) -> int:
        """Arm to pull, given for each arm the state last seen and the steps since then.

        States are numbers from 0 or names; the arm pulled last has age 1, the others are older.
        """
        return int(self.actions(last_states, ages))

    def actions(self, last_states: ArrayLike, ages: ArrayLike) -> Ints:
        """``action`` for many information states at once; inputs (..., K)."""
        return np.asarray(np.argmax(self.pull_values(last_states, ages), axis=-1))

    def gap(self, last_states: ArrayLike, ages: ArrayLike) -> Floats:
        """What each pull loses against the best: rho + h(x) - r(x, a) - sum_y p(y|x, a) h(y).

        Shape (..., K), the best pull at 0 up to the tolerance; from the best pull's value, so
        that it is never negative.
        """
        worth = self.pull_values(last_states, ages)
        return np.asarray(worth.max(axis=-1, keepdims=True) - worth)

    def bias(self, last_states: ArrayLike, ages: ArrayLike) -> Floats:
        """h(x): the advantage of starting in x, up to a constant; shape (...)."""
        states, raw = self._checked(last_states, ages)
        return np.asarray(self.values[self.representation.positions(states, raw)])

    def gain_from(self, last_states: ArrayLike, ages: ArrayLike) -> tuple[float, float]:
        """Bounds of the best gain from this information state on."""
        states, raw = self._checked(last_states, ages)
        part = int(self.representation.classes(states, raw))
        return float(self.lower[part]), float(self.upper[part])

    def pull_values(self, last_states: ArrayLike, ages: ArrayLike) -> Floats:
        """r(x, a) + sum_y p(y|x, a) h(y) for every arm a, shape (..., K)."""
        from restive._kernels import lookup

        states, raw = self._checked(last_states, ages)
        rep = self.representation
        shape = raw.shape
        states, raw = states.reshape(-1, rep.n_arms), raw.reshape(-1, rep.n_arms)
        stored, lasts = rep.store(raw)
        worth = lookup.pull_values(
            self.values, rep.layout, self._tables, None, lasts, states, stored - 1
        )
        return np.asarray(worth.reshape(shape))

    @cached_property
    def _tables(self) -> object:
        from restive.mdp.iteration import row_tables

        rep = self.representation
        return row_tables(rep, bandit_parameters(self.bandit, rep))

    def _checked(self, last_states: ArrayLike, ages: ArrayLike) -> tuple[Ints, Ints]:
        states = _whole("last_states", self._numbers(np.asarray(last_states)))
        raw = _whole("ages", np.asarray(ages))
        shape = np.broadcast_shapes(states.shape, raw.shape)
        states, raw = (np.array(np.broadcast_to(a, shape), order="C") for a in (states, raw))
        sizes = self.representation.sizes
        if raw.shape[-1:] != (len(sizes),):
            raise ValueError(f"last_states and ages need {len(sizes)} entries, one per arm")
        if (states < 0).any() or (states >= np.array(sizes)).any():
            raise ValueError(f"last_states must be below {sizes}, not {np.asarray(last_states)!r}")
        # an arm with a cap of 1 has one stored age, which stands for all of them
        fresh = ((raw == 1) & (np.array(self.caps) > 1)).sum(axis=-1)
        if (raw < 1).any() or (raw.min(axis=-1) > 1).any() or (fresh > 1).any():
            raise ValueError(
                "ages count the steps since each arm was seen: they are at least 1, and 1 for the "
                f"arm pulled last and for no other; not {np.asarray(ages)!r}"
            )
        return states, raw

    def _numbers(self, given: NDArray[Any]) -> NDArray[Any]:
        """The states' numbers, where names of states are given."""
        if given.dtype.kind not in "US" or given.shape[-1:] != (self.bandit.n_arms,):
            return given
        numbers = np.empty(given.shape, dtype=np.int64)
        for place, name in np.ndenumerate(given):
            names = self.bandit.arms[place[-1]].states
            if str(name) not in names:
                raise ValueError(
                    f"last_states: {self.bandit.arm_name(place[-1])} has no state {str(name)!r}; "
                    f"its states are {', '.join(names)}"
                )
            numbers[place] = names.index(str(name))
        return numbers


def _whole(what: str, given: NDArray[Any]) -> Ints:
    """The numbers as integers, if that is what they are."""
    if given.dtype.kind in "iu":
        return given.astype(np.int64, copy=False)
    if given.dtype.kind != "f" or not (given == np.floor(given)).all():
        raise ValueError(f"{what} must be whole numbers, one per arm, not {given!r}")
    return given.astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Level:
    """One representation solved and certified for the true bandit."""

    representation: Representation
    error: float  # L1 error of the rows beyond the cap
    rounding: float  # part of the interval's width that only allows for rounding
    solution: Solution
    lower: Floats
    upper: Floats

    @property
    def width(self) -> float:
        return float((self.upper - self.lower).max())


def _solve_level(
    bandit: Bandit,
    rep: Representation,
    accuracy: float,
    coarser: _Level | None,
    progress: Callable[[str, int, float], None] | None,
) -> _Level:
    start = None
    if coarser is not None:
        start = refine(coarser.representation, coarser.solution.values, rep)
    parameters = bandit_parameters(bandit, rep)
    report = None if progress is None else lambda n, width: progress("solving", n, width)
    solution = solve(rep, parameters, tolerance=accuracy, start=start, progress=report)
    lower, upper = certificate(bandit, rep, parameters, solution)
    error = max(float(row_errors(bandit, rep).max()), EXACT)
    return _Level(rep, error, 2 * rounding(rep, solution.values), solution, lower, upper)


def caps_for_error(bandit: Bandit, error: float) -> tuple[int, ...]:
    """Smallest caps from which on every row is within ``error`` (L1) of its limit."""
    return tuple(_cap(arm, error) for arm in bandit.arms)


def _cap(arm: Arm, error: float) -> int:
    return arm.mixing_time(error)


def _next_error(error: float, level: _Level, tolerance: float) -> float:
    """Row error for the next level: the interval's excess is about proportional to it."""
    iteration = float((level.solution.upper - level.solution.lower).max())
    excess = max(level.width - iteration, 1e-300)
    wanted = 0.7 * (1 - SOLVER_SHARE) * tolerance
    return error * min(0.3, max(1e-6, wanted / excess))


def _last_error(bandit: Bandit, tolerance: float) -> float:
    """About the row error that a plan ends with; values differ by what an arm takes to mix."""
    span = max(arm.mixing_time(0.25) * float(np.ptp(arm.rewards)) for arm in bandit.arms)
    return max(1e-15, tolerance / max(1.0, span))


def _seconds(bandit: Bandit, first: Representation, last: Representation) -> float:
    """Time of a plan from its first level to its last; extrapolation may do better."""
    slowest = max(arm.mixing_time(0.25) for arm in bandit.arms)
    coarse = COARSE_SWEEPS * min(slowest, max(first.caps)) if first.n_arms > 1 else 0
    backups = last.n_arms * (first.n_states * coarse + last.n_states * FINE_SWEEPS)
    return OVERHEAD + SECONDS_PER_PAIR_AND_SWEEP * backups


def _refuse_if_hopeless(bandit: Bandit, tolerance: float, allowed: int) -> None:
    """Do not work for long towards caps that will not fit."""
    size = forecast(bandit, tolerance, memory=allowed)
    if not size.fits and size.seconds > HOPELESS:
        raise _too_large(bandit, tolerance, allowed, None, begun=False)


def check_tolerance(tolerance: float) -> float:
    if not 1e-12 <= tolerance <= 1:
        raise ValueError(
            f"tolerance must lie between 1e-12 and 1 (rewards are in [0, 1]), not {tolerance!r}"
        )
    return tolerance


def memory_allowed(memory: int | None) -> int:
    if memory is not None:
        return int(memory)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def _peak(rep: Representation) -> int:
    """Bytes at the peak: values and slices twice (a way back for extrapolation), and the tables."""
    return 2 * rep.n_bytes + 8 * 6 * rep.n_colors * (rep.max_support + 2)


def _largest_fitting(
    bandit: Bandit, wanted: Representation, error: float, level: _Level | None, tolerance: float,
    allowed: int, free: bool,
) -> Representation:  # fmt: skip
    """The finest representation within the memory, finer than the level before it.

    Raises TooLargeError if the caps are given, or if there is none.
    """
    if not free:
        raise TooLargeError(
            f"caps {wanted.caps} make {_size(wanted)}, more than the "
            f"{_memory_text(allowed)} allowed; "
            "force smaller caps or raise the memory limit"
        )
    best = None
    high, low = (2.0 if level is None else level.error), error
    for _ in range(40):
        middle = (high * low) ** 0.5
        rep = Representation.of(bandit, caps_for_error(bandit, middle))
        if _peak(rep) <= allowed:
            best, high = rep, middle
        else:
            low = middle
    if best is None or (level is not None and best.caps == level.representation.caps):
        raise _too_large(bandit, tolerance, allowed, None if level is None else level.width)
    return best


def _too_large(
    bandit: Bandit, tolerance: float, allowed: int, reached: float | None, begun: bool = True
) -> TooLargeError:
    """The refusal: what it would take, and the tolerance that was reached within the memory."""
    wanted = Representation.of(bandit, caps_for_error(bandit, _last_error(bandit, tolerance)))
    message = (
        f"planning to a tolerance of {tolerance:g} takes about {_size(wanted)} at ages up to "
        f"{max(wanted.caps)}, more than the {_memory_text(allowed)} it may use. "
    )
    if reached is not None and 1.3 * reached < 1:  # room for a rougher iteration next time
        message += f"A tolerance of {_rounded_up(1.3 * reached)} fits. "
    elif begun:
        message += "No useful tolerance fits. "
    else:
        message += "Ask for a larger tolerance. "
    message += (
        "Otherwise raise the memory limit, force smaller caps (the interval then says what they "
        "cost), or plan fewer arms together."
    )
    return TooLargeError(message)


def _rounded_up(width: float) -> str:
    """Two digits, not less than the width."""
    text = f"{width:.1e}"
    return f"{float(text if float(text) >= width else f'{1.05 * width:.1e}'):g}"


def _size(rep: Representation) -> str:
    return f"{rep.n_states:.3g} information states ({_memory_text(_peak(rep))})"


def _memory_text(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"
