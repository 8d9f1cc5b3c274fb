"""What an experiment found: curves of every learner on every problem, read from its directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.model.bandit import Bandit

__all__ = ["Curves", "Failure", "Place", "Results"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Place = tuple[str, str, int]  # problem, learner, horizon


@dataclass(frozen=True, eq=False)
class Curves:
    """Runs of one learner on one problem with one horizon; rows are runs, in order of run number.

    Row r of every learner met the same world, so differences between learners are paired.
    ``regret`` and ``gap_regret`` are nan where the problem is too large to plan.
    """

    times: Ints  # (G,) steps, evenly spaced in the logarithm, the same for all learners
    regret: Floats  # (R, G) plain, against rho*
    gap_regret: Floats  # (R, G)
    weak_regret: Floats  # (R, G)
    seconds: Floats  # (R,) wall time of the run; nan if unknown
    planning_seconds: Floats  # (R,)
    episodes: Ints  # (R,)


@dataclass(frozen=True, eq=False)
class Failure:
    """Runs of one learner on one problem with one horizon, some of which raised an exception.

    They are not among the results' curves, so that nobody takes those that went well for all.
    """

    failed: tuple[int, ...]  # numbers of the runs that failed, from 0
    runs: int  # how many there should be
    error: str  # what the first of them raised, in one line
    good: Curves | None = field(default=None, repr=False)  # those that went well, if any did

    def __str__(self) -> str:
        return f"{len(self.failed)} of {self.runs} runs failed ({self.error})"


@dataclass(frozen=True, eq=False)
class Results:
    """An experiment's results; names and labels in the experiment's order."""

    problems: tuple[str, ...]
    learners: tuple[str, ...]
    horizons: tuple[int, ...]
    runs: int
    seed: int
    bandits: Mapping[str, Bandit]
    gains: Mapping[str, tuple[float, float, float]]  # rho*: value, lower, upper; nan if unknown
    best_arms: Mapping[str, tuple[int, float]]  # best single arm and its average reward
    refusals: Mapping[Place, str]  # why a learner was not run
    provenance: Mapping[str, Any]  # versions, machines, file hashes, times
    command: str  # that made it, as it was last given
    found: Mapping[Place, Curves] = field(repr=False)
    failures: Mapping[Place, Failure] = field(default_factory=dict)  # learners with failed runs

    def curves(self, problem: str, learner: str, horizon: int) -> Curves | None:
        """The runs of one learner; None if it refused the problem, failed or is not finished."""
        return self.found.get((problem, learner, horizon))

    @property
    def complete(self) -> bool:
        """Whether every run is there or was refused."""
        wanted = len(self.problems) * len(self.learners) * len(self.horizons)
        done = sum(len(curves.seconds) == self.runs for curves in self.found.values())
        return done + len(self.refusals) == wanted
