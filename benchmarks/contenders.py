"""One function a solver: take a case, time set-up and solution apart, say what came out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from time import perf_counter

import numpy as np

from benchmarks.machine import version_of
from benchmarks.measure import threads
from benchmarks.sparse import SparseMDP, build, rows, span_bounds
from restive.model.bandit import Bandit

__all__ = ["CONTENDERS", "SPAN", "Case", "Timing", "UnableError"]

SPAN = 1e-6  # every solver stops when max(Th - h) - min(Th - h) is at most this
DAMPING = 0.9  # the aperiodicity step of the plain CSR iteration


class UnableError(Exception):
    """The solver cannot take this case; the message says why."""


@dataclass(frozen=True)
class Timing:
    """What one run of one solver took and found."""

    setup: float  # seconds from the bandit or the plain arrays to the solver's own input
    solve: float  # seconds
    lower: float  # bounds on the gain
    upper: float
    sweeps: int | None = None
    version: str = ""


@dataclass(frozen=True)
class Case:
    """A problem of the benchmark."""

    name: str
    bandit: Bandit
    cap: int

    @cached_property
    def mdp(self) -> SparseMDP:
        return build(self.bandit, self.cap)


def _restive(case: Case, accelerate: bool, count: int | None = None) -> Timing:
    """restive's own solver: tables of rows, and no matrix; set-up makes the tables."""
    from restive.mdp.iteration import THREADS_FROM_PAIRS
    from restive.mdp.representation import Representation
    from restive.mdp.solver import solve
    from restive.mdp.structured import Parameters

    start = perf_counter()
    structure = Representation(case.bandit.n_states, case.cap)
    if count == 1 and structure.n_states * structure.n_arms < THREADS_FROM_PAIRS:
        raise UnableError("at this size one thread is used anyway")
    laws = [rows(arm, case.cap).transpose(1, 0, 2) for arm in case.bandit.arms]  # state, age
    rewards = [law @ arm.rewards for law, arm in zip(laws, case.bandit.arms, strict=True)]
    probabilities = np.concatenate([law.reshape(-1, law.shape[2]) for law in laws])
    parameters = Parameters(np.concatenate([r.ravel() for r in rewards]), probabilities)
    ready = perf_counter()
    with threads(count):
        solution = solve(structure, parameters, tolerance=SPAN, accelerate=accelerate)
    done = perf_counter()
    if not solution.converged:
        raise UnableError(f"did not converge in {solution.sweeps:,} sweeps")
    low, high = solution.gain_lower, solution.gain_upper
    return Timing(ready - start, done - ready, low, high, solution.sweeps, _version("restive"))


def scipy_csr(case: Case) -> Timing:
    """Damped relative value iteration, all actions in one CSR matrix: what one writes by hand."""
    start = perf_counter()
    mdp = build(case.bandit, case.cap)
    matrix, rewards = mdp.matrix(), mdp.rewards.ravel()
    ready = perf_counter()
    h, sweeps = np.zeros(mdp.n_states), 0
    while True:
        sweeps += 1
        change = (rewards + matrix @ h).reshape(mdp.rewards.shape).max(axis=0) - h
        low, high = float(change.min()), float(change.max())
        if high - low <= SPAN:
            break
        h += DAMPING * (change - low)
    done = perf_counter()
    return Timing(ready - start, done - ready, low, high, sweeps, _version("scipy"))


def _mdpsolver(case: Case, algorithm: str, parallel: bool) -> Timing:
    """mdpsolver for the average reward, nested lists in; its extra checks are switched off."""
    try:
        import mdpsolver  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise UnableError("not installed") from None
    mdp = case.mdp  # the plain arrays are not counted, only turning them into lists
    start = perf_counter()
    model = mdpsolver.model()
    model.mdp(
        rewards=mdp.rewards.T.tolist(),
        tranMatProbs=mdp.probabilities.transpose(1, 0, 2).tolist(),
        tranMatColumns=mdp.successors.transpose(1, 0, 2).tolist(),
    )
    ready = perf_counter()
    model.solve(
        algorithm=algorithm,
        tolerance=SPAN,
        criterion="average",
        parallel=parallel,
        postProcessing=False,
        makeFinalCheck=False,
    )
    done = perf_counter()
    # It reports no gain, but the bounds that its values imply can be computed for it.
    low, high = span_bounds(mdp, np.array(model.getValueVector()))
    return Timing(ready - start, done - ready, low, high, None, _version("mdpsolver"))


def pymdptoolbox(case: Case) -> Timing:
    """pymdptoolbox's RelativeValueIteration on sparse matrices."""
    try:
        from mdptoolbox.mdp import (  # type: ignore[import-not-found, unused-ignore]
            RelativeValueIteration,
        )
    except ImportError:
        raise UnableError("not installed") from None
    square = case.mdp.n_states**2 * 8 / 1e9
    if square > 1:
        raise UnableError(
            f"not run: checking its input forms a full N x N matrix, {square:,.0f} GB"
        )
    start = perf_counter()
    warnings.simplefilter("ignore")  # its input check compares sparse matrices with 0
    matrices = [case.mdp.matrix(a) for a in range(case.bandit.n_arms)]
    solver = RelativeValueIteration(matrices, case.mdp.rewards.T, SPAN, 100_000)
    ready = perf_counter()
    solver.run()
    done = perf_counter()
    if solver.iter >= solver.max_iter:
        raise UnableError(f"did not converge in {solver.iter:,} sweeps")
    low = float(solver.average_reward)
    return Timing(
        ready - start, done - ready, low, low + SPAN, solver.iter, _version("pymdptoolbox")
    )


def _version(package: str) -> str:
    return f"{package} {version_of(package)}".strip()


CONTENDERS: dict[str, Callable[[Case], Timing]] = {
    "restive": partial(_restive, accelerate=True),
    "restive, plain sweeps": partial(_restive, accelerate=False),
    "restive, one thread": partial(_restive, accelerate=True, count=1),
    "scipy CSR": scipy_csr,
    "mdpsolver, vi": partial(_mdpsolver, algorithm="vi", parallel=False),
    "mdpsolver, vi in parallel": partial(_mdpsolver, algorithm="vi", parallel=True),
    "mdpsolver, mpi": partial(_mdpsolver, algorithm="mpi", parallel=False),
    "pymdptoolbox": pymdptoolbox,
}
