"""What learners and rules of thumb earned along a trace, beside what could be had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from restive.base.arrays import Floats
from restive.base.described import Described
from restive.base.documents import finite_or_none
from restive.base.pictured import Pictured
from restive.base.table import Table

Kind = Literal["hindsight", "fitted", "learner", "rule"]


@dataclass(frozen=True, eq=False)
class ReplayRow:
    """One way to pull arms, and what it earned.

    kind: "hindsight" for what only somebody who knows the whole trace could do, "fitted" for what
    follows from the first part alone, "learner", and "rule" for rules of thumb.
    rate: mean reward of the pulls that count, in the part that is judged: the mean over ``runs``
    of a learner's own luck on the same trace; lowest and highest are over these runs.
    counted: share of the pulls there that were recorded.
    whole: the same as rate, over the whole trace; None where there was nothing before the part.
    earned: (n,) sum of the rewards in the part, of the first run.
    """

    name: str
    kind: Kind
    rate: float
    lowest: float
    highest: float
    counted: float
    whole: float | None
    earned: Floats = field(repr=False)
    runs: int = 1

    def to_dict(self) -> dict[str, Any]:
        names = ("name", "kind", "rate", "lowest", "highest", "counted", "whole", "runs")
        return {name: finite_or_none(getattr(self, name)) for name in names}


@dataclass(frozen=True, eq=False, repr=False)
class Replay(Described, Pictured):
    """A trace replayed: rows from the best to the worst.

    steps: of the trace; judged_from: steps before the part that is judged. share: of all arms at
    all steps that were recorded. The trace is one: differences between rows have no interval.
    ``plot(path)`` draws what each earned above the best single arm.
    """

    picture: ClassVar[str] = "restive.report.replay:replay_figure"

    name: str
    source: str
    arms: tuple[str, ...]
    steps: int
    judged_from: int
    share: float
    best_arm: str  # in hindsight, in the part that is judged
    rows: tuple[ReplayRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every arm was recorded at every step."""
        return self.share == 1.0

    def row(self, name: str) -> ReplayRow:
        """The row of this name."""
        return next(row for row in self.rows if row.name == name)

    def table(self) -> Table:
        """One row for each way to pull arms."""
        rows = [row.to_dict() for row in self.rows]
        return Table({key: [row[key] for row in rows] for key in rows[0]})

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, as ``restive replay --json`` prints it."""
        return {
            "data": self.name, "source": self.source, "arms": list(self.arms),
            "steps": self.steps, "judged_from": self.judged_from, "recorded": self.share,
            "best_arm": self.best_arm, "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }  # fmt: skip

    def _title(self) -> str:
        judged = self.steps - self.judged_from
        return f"Replay of {self.name or 'a trace'}, judged on {judged:,} of {self.steps:,} steps"

    def _facts(self) -> list[tuple[str, str]]:
        return [(row.name, f"{row.rate:.4f} a step") for row in self.rows]
