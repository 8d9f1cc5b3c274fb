"""What an experiment found: curves of every learner on every problem, read from its directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief
from restive.base.errors import refusal
from restive.base.pictured import Pictured
from restive.base.table import Table
from restive.base.words import guess
from restive.model.bandit import Bandit

if TYPE_CHECKING:
    from restive.experiments.summary import Summary

Place = tuple[str, str, int]  # problem, learner, horizon


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Brief):
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
    pulls: Ints | None = None  # (R, K) how often each arm was pulled; None if unknown


@dataclass(frozen=True, eq=False)
class Failure:
    """Runs of one learner on one problem with one horizon, some of which raised an exception.

    They are not among the results' curves, so that runs that went well do not pass for all.
    """

    failed: tuple[int, ...]  # numbers of the runs that failed, from 0
    runs: int  # how many there should be
    error: str  # what the first of them raised, in one line
    good: Curves | None = field(default=None, repr=False)  # those that went well, if any did

    def __str__(self) -> str:
        return f"{len(self.failed)} of {self.runs} runs failed ({self.error})"


@dataclass(frozen=True, eq=False, repr=False)
class Results(Pictured):
    """An experiment's results; names and labels in the experiment's order.

    ``plot(path, problem=..., horizon=...)`` draws the regret curves of one problem and horizon, by
    default of the first problem and the longest horizon; without a path into a notebook.
    """

    picture: ClassVar[str] = "restive.report:regret_picture"

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
    finished: Mapping[Place, Curves] = field(repr=False)  # runs that are there
    failures: Mapping[Place, Failure] = field(default_factory=dict)  # learners with failed runs
    traces: Mapping[str, int] = field(default_factory=dict)  # steps of problems that are traces

    def ceiling(self, problem: str) -> float:
        """What no policy earns more than per step: rho* as far as it is known, else a bound."""
        upper = self.gains[problem][2]
        if isfinite(upper):
            return upper
        from restive.many.lagrangian import ceiling

        bandit = self.bandits[problem]
        return bandit.units.mean(ceiling(bandit), bandit.pulls)

    def curves(self, problem: str, learner: str, horizon: int) -> Curves | None:
        """The runs of one learner; None if it refused the problem, failed or is not finished."""
        for field_name, name, known in (
            ("problem", problem, self.problems),
            ("learner", learner, self.learners),
            ("horizon", horizon, self.horizons),
        ):
            if name not in known:
                names = [str(option) for option in known]
                remedy = f"{guess(str(name), names)}There are {', '.join(names)}."
                raise refusal(field_name, "not in these results", repr(name), remedy)
        return self.finished.get((problem, learner, horizon))

    @cached_property
    def summary(self) -> Summary:
        """Finals, slopes, ranks and paired comparisons with their intervals."""
        from restive.experiments.summary import summarize

        return summarize(self)

    def table(self) -> Table:
        """One row for each problem, horizon and learner: mean losses with their intervals."""
        from restive.experiments.summary import MEASURES

        rows = []
        for entry in self.summary.entries:
            head = (entry.problem, entry.horizon, entry.learner, entry.runs, entry.rank)
            ends = [entry.final[name].mean for name in MEASURES]
            numbers = [x for end in ends for x in (end.value, end.lower, end.upper)]
            rows.append((*head, *numbers, entry.seconds, entry.refusal))
        heads = [f"{name}{part}" for name in MEASURES for part in ("", "_lower", "_upper")]
        names = ["problem", "horizon", "learner", "runs", "rank", *heads, "seconds", "refusal"]
        return Table.of_rows(names, rows)

    def __repr__(self) -> str:
        return f"{self._title}\n{self._brief!r}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._title)}</p>{self._brief._repr_html_()}{self.picture_html()}"

    @property
    def _title(self) -> str:
        parts = [
            f"{len(part)} {word}{'s' * (len(part) != 1)}"
            for part, word in (
                (self.problems, "problem"), (self.learners, "learner"), (self.horizons, "horizon")
            )
        ]  # fmt: skip
        state = "" if self.complete else ", not complete"
        return f"Results: {', '.join(parts)}, {self.runs} runs each{state}"

    @property
    def _brief(self) -> Table:
        table = self.table().columns
        shown = ["problem", "horizon", "rank", "learner", "gap_regret"]
        if not any(value == value for value in table["gap_regret"]):  # none could be planned
            shown[-1] = "weak_regret"
        order = sorted(
            range(len(table["rank"])),
            key=lambda k: (self.problems.index(table["problem"][k]), table["horizon"][k],
                           table["rank"][k] or len(self.learners) + 1),
        )  # fmt: skip
        columns = {name.replace("_", " "): [table[name][k] for k in order] for name in shown}
        last = list(columns)[-1]
        columns[last] = [_rounded(value) for value in columns[last]]
        return Table(columns)

    @property
    def complete(self) -> bool:
        """Whether every run is there or was refused."""
        total = len(self.problems) * len(self.learners) * len(self.horizons)
        whole = sum(len(curves.seconds) == self.runs for curves in self.finished.values())
        return whole + len(self.refusals) == total


def _rounded(value: float) -> float:
    """Four digits, or whole numbers: the rest is noise of the runs."""
    if value != value:  # nan is not equal to itself
        return value
    return float(f"{value:.4g}") if abs(value) < 1000 else float(round(value))
