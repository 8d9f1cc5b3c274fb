"""Plan a known bandit: the best policy, and an interval that provably contains its gain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from restive.base.arrays import Floats
from restive.base.errors import TooLargeError
from restive.base.machine import memory_allowed
from restive.base.notebook import notebook_line
from restive.mdp.certificate import Certificate, bandit_parameters, certificate
from restive.mdp.representation import Representation
from restive.mdp.solver import refine, solve
from restive.mdp.structured import Parameters
from restive.model.arguments import require_one_pull
from restive.model.bandit import Bandit
from restive.planning.evaluation import evaluate
from restive.planning.policy_chain import BYTES_PER_STATE
from restive.planning.result import Plan
from restive.planning.size import (
    FIRST_ERROR,
    SEVERAL,
    caps_for_error,
    check_tolerance,
    fitting_words,
    is_small,
    largest_fitting,
    peak,
    refuse_if_hopeless,
    too_large,
)

Caps = int | Sequence[int] | None
Progress = Callable[[str, int, float], None]  # (what is done, sweeps, width of the interval)

EXACT = 1e-300  # stands for rows without any error
SOLVER_SHARE = 0.25  # part of the tolerance left to the iteration; the rest is aggregation
ROUGH = 1e-3  # wider intervals are narrowed by what simple policies earn
BACKUPS_PER_STATE = 20_000  # that take as long as evaluating a policy in one more state
FREE_STATES = 1000  # a simple policy that reaches no more is always evaluated


def plan(
    bandit: Bandit,
    tolerance: float = 1e-6,
    *,
    caps: Caps = None,
    memory: int | None = None,
    time: float | None = None,
    compiled: bool | None = None,
    progress: Progress | None = None,
) -> Plan:
    """The optimal policy, with an interval of at most ``tolerance`` that contains its gain rho*.

    Ages are told apart up to a cap that follows from the tolerance; ``caps`` forces it, and then
    the interval is as wide as that makes it. So it is where rounding alone takes more than the
    tolerance, or where ``time``, in seconds, runs out; ``converged`` is then False, ``note`` says
    why, and the interval holds all the same. memory: bytes that may be used (half of the machine's
    by default). compiled: whether to use compiled sweeps; by default where the problem is not
    small. progress: called with (what is done, sweeps, width of the interval).

    >>> from restive.problems import example1
    >>> best = plan(example1(epsilon=0.1))
    >>> abs(best.gain - 0.7) < 1e-6, best.action([1, 0], [1, 2])
    (True, 0)
    """
    began = perf_counter()
    check_tolerance(tolerance)
    require_one_pull(bandit, "plan", SEVERAL)
    allowed = memory_allowed(memory)
    if caps is None:
        refuse_if_hopeless(bandit, tolerance, allowed)
    compiled = not is_small(bandit, tolerance, caps) if compiled is None else compiled
    with notebook_line() as tell:
        watch = progress or (None if tell is None else _telling(tell))
        work = _Work(bandit, tolerance, caps, allowed, compiled, watch,
                     lambda: time is not None and perf_counter() - began > time)  # fmt: skip
        level = work.refined()
    lower, upper = _narrowed(bandit, level, tolerance)
    note = work.excuse(float((upper - lower).max()), time)
    return Plan(bandit, level.representation, level.parameters, lower, upper, level.values,
                tolerance, level.sweeps, not note, perf_counter() - began, note)  # fmt: skip


def _telling(tell: Callable[[str], None]) -> Progress:
    return lambda doing, sweeps, width: tell(f"{doing}: {sweeps:,} sweeps, within {width:.1e}")


@dataclass(frozen=True, eq=False)
class _Level:
    """One representation solved and certified for the true bandit."""

    representation: Representation
    parameters: Parameters
    values: Floats
    sweeps: int  # of all levels so far
    solved: float  # width of the iteration's own bounds
    proof: Certificate

    @property
    def error(self) -> float:
        """L1 error of the rows beyond the cap."""
        return max(self.proof.error, EXACT)


@dataclass(frozen=True)
class _Work:
    """One plan being made, from coarse caps to fine ones."""

    bandit: Bandit
    tolerance: float
    caps: Caps
    allowed: int  # bytes
    compiled: bool
    progress: Progress | None
    expired: Callable[[], bool]

    def refined(self) -> _Level:
        """Levels until the interval is narrow, or nothing more can be done about it."""
        error, within = FIRST_ERROR, self.tolerance
        level: _Level | None = None
        while True:
            rep = self._representation(error)
            finest = peak(rep) > self.allowed
            if finest:
                rep = self._largest(rep, error, level)
            accuracy = (0.1 if finest else SOLVER_SHARE) * within
            if self.caps is None and not finest:
                accuracy = max(accuracy, 0.02 * error)
            coarser, level = level, self._solved(rep, accuracy, level)
            width = level.proof.width
            within = max(self.tolerance, 4 * level.proof.rounding)  # less is out of reach
            exact = level.error <= EXACT and accuracy <= SOLVER_SHARE * within
            if width <= within or self.caps is not None or exact:
                return level
            if self.expired():
                return level if coarser is None else _meeting(level, coarser)
            if finest:
                raise self._refusal(width)
            error = self._next_error(error, level, within)

    def _representation(self, error: float) -> Representation:
        caps = caps_for_error(self.bandit, error) if self.caps is None else self.caps
        return Representation.of(self.bandit, caps)

    def _solved(self, rep: Representation, accuracy: float, coarser: _Level | None) -> _Level:
        bandit, progress, start = self.bandit, self.progress, None
        if coarser is not None:
            start = refine(coarser.representation, coarser.values, rep)
        parameters = bandit_parameters(bandit, rep)
        report = None if progress is None else lambda n, width: progress("solving", n, width)
        solution = solve(rep, parameters, tolerance=accuracy, start=start, compiled=self.compiled,
                         expired=self.expired, progress=report)  # fmt: skip
        proof = certificate(bandit, rep, solution)
        sweeps = solution.sweeps + (0 if coarser is None else coarser.sweeps)
        if progress is not None:
            progress("certified", sweeps, proof.width)
        width = float((solution.upper - solution.lower).max())
        return _Level(rep, parameters, solution.values, sweeps, width, proof)

    def _next_error(self, error: float, level: _Level, within: float) -> float:
        """Row error for the next level: the interval's excess is about proportional to it."""
        excess = max(level.proof.width - level.solved, 1e-300)
        goal = 0.7 * (1 - SOLVER_SHARE) * within
        return error * min(0.3, max(1e-6, goal / excess))

    def _largest(self, rep: Representation, error: float, level: _Level | None) -> Representation:
        """The finest representation within the memory, where ``rep`` is beyond it."""
        if self.caps is not None:
            instead = "force smaller caps or raise the memory limit"
            raise too_large(self.bandit, self.tolerance, self.allowed, instead, rep)
        fits, coarser = (2.0, None) if level is None else (level.error, level.representation)
        best = largest_fitting(self.bandit, (fits, error), coarser, self.allowed)
        if best is None:
            raise self._refusal(None if level is None else level.proof.width)
        return best

    def _refusal(self, reached: float | None) -> TooLargeError:
        return too_large(self.bandit, self.tolerance, self.allowed, fitting_words(reached))

    def excuse(self, width: float, time: float | None) -> str:
        """Why the interval is wider than the tolerance; empty if it is not."""
        if self.expired() and width >= 1.0:
            raise TooLargeError(
                f"nothing is known of the best policy after {time:g} seconds of planning"
            )
        if width <= self.tolerance:
            return ""
        if self.expired():
            return "the time was over before the tolerance was reached"
        if self.caps is not None:
            return "the caps given, or rounding, leave the interval wider than the tolerance"
        return "rounding leaves the interval wider than the tolerance"


def _meeting(level: _Level, coarser: _Level) -> _Level:
    """The finer level with what both prove."""
    finer, rough = level.proof, coarser.proof
    lower, upper = np.maximum(finer.lower, rough.lower), np.minimum(finer.upper, rough.upper)
    return replace(level, proof=replace(finer, lower=lower, upper=upper))


def _narrowed(bandit: Bandit, level: _Level, tolerance: float) -> tuple[Floats, Floats]:
    """Bounds of rho* with what is known from elsewhere: no policy earns less than a simple one.

    One arm alone leaves no choice. A rough interval is worth a look at the myopic policy, unless
    that takes longer than the plan did, as far as sizes tell.
    """
    lower, upper = level.proof.lower, level.proof.upper
    best = bandit.arms[bandit.best_arm]
    slack = 1e-15 * best.n_states
    if bandit.n_arms == 1:
        ends = max(0.0, best.gain - slack), min(1.0, best.gain + slack)
        return lower * 0 + ends[0], upper * 0 + ends[1]
    if level.proof.width <= min(tolerance, ROUGH):
        return lower, upper
    sure = max(best.gain - slack, _myopic_gain(bandit, level, tolerance))
    return np.minimum(np.maximum(lower, sure), upper), upper


def _myopic_gain(bandit: Bandit, level: _Level, tolerance: float) -> float:
    """What the myopic policy earns for certain; 0 where that is not soon known."""
    rep = level.representation
    states = FREE_STATES + level.sweeps * rep.n_states * rep.n_arms // BACKUPS_PER_STATE
    try:
        ages = sum(caps_for_error(bandit, tolerance))
        if len(level.proof.lower) > 1 or ages > 10 * states:
            return 0.0
        return evaluate(bandit, "myopic", tolerance, memory=BYTES_PER_STATE * states).gain_lower
    except (TooLargeError, ArithmeticError):
        return 0.0
