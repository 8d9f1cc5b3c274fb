"""What a claim of the paper is, how it is measured, and how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from restive.paper.chart import Chart, ratios_chart
from restive.paper.criteria import MOST

Verdict = Literal["holds", "fails", "not decided"]


@dataclass(frozen=True)
class Scale:
    """How much to do."""

    quick: bool = False

    def size(self, full: int, quick: int) -> int:
        """A number of problems, runs or steps."""
        return quick if self.quick else full


Cells = Callable[[Scale], Sequence[Any]]


def fixed(*cells: Any) -> Cells:
    """The same cells at every scale."""
    return lambda scale: cells


def seeded(
    full: int, quick: int, *, first: int = 0, kinds: Collection[Any] = (), steps: Sequence[int] = ()
) -> Cells:
    """A cell (kind, steps, seed) for every kind and as many seeds as the scale asks for.

    What is not given is left out: without kinds and steps a cell is its seed. steps: (full, quick).
    """

    def cells(scale: Scale) -> Sequence[Any]:
        length = (scale.size(*steps),) if steps else ()
        seeds = range(first, first + scale.size(full, quick))
        heads = [(kind, *length) for kind in kinds] or [length]
        return [(*head, seed) if head else seed for head in heads for seed in seeds]

    return cells


@dataclass(frozen=True)
class Measurement:
    """Independent pieces of work: ``measure`` of every cell, in any order, on any worker.

    A cell holds the seeds that its work depends on, so results do not depend on who does it.
    ``seconds``: about what one cell takes, (full, quick), to tell the time that is left.
    """

    name: str
    cells: Cells
    measure: Callable[[Any], Any]
    seconds: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True)
class Finding:
    """What was run for a claim, the number that came out, and the verdict on it."""

    ran: str
    number: str
    criterion: str
    verdict: Verdict
    note: str = ""  # the counterexample, or what the verdict does not say
    values: dict[str, Any] = field(default_factory=dict)  # the same for programs
    figure: Chart | None = None  # the numbers beside what they are held against


@dataclass(frozen=True)
class Claim:
    """One claim, its place in the paper, and how an experiment's results decide it.

    expected: the verdict that is known to be right; claims of the paper that are false as printed
    are expected to fail, and those that no run can decide to stay open.
    notices: defects of the code that change the verdict; ``python -m verification mutations`` puts
    them in, one at a time, and looks.
    """

    name: str
    place: str
    statement: str
    measurement: Measurement
    judge: Callable[[Scale, Sequence[Any]], Finding]
    expected: Verdict = "holds"
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """A claim with its finding."""

    claim: Claim
    finding: Finding

    @property
    def surprising(self) -> bool:
        """Whether the verdict is another one than expected, if only less certain."""
        return self.finding.verdict != self.claim.expected

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        claim, finding = self.claim, self.finding
        return {
            "name": claim.name, "place": claim.place, "statement": claim.statement,
            "ran": finding.ran, "number": finding.number, "criterion": finding.criterion,
            "verdict": finding.verdict, "expected": claim.expected, "note": finding.note,
            "notices": list(claim.notices), "values": finding.values,
            "figure": None if finding.figure is None else asdict(finding.figure),
        }  # fmt: skip


def judged(holds: bool) -> Verdict:
    """The verdict where there is nothing in between."""
    return "holds" if holds else "fails"


def ratios_finding(
    ran: str, number: str, criterion: str, title: str, ratios: Mapping[str, ArrayLike],
    *, slack: float = 0.0, note: str = "", what: str = "chains",
) -> Finding:  # fmt: skip
    """On a claim that holds if no ratio is above 1; number: with a place for the largest.

    slack: what rounding may add.
    """
    largest = max(float(np.max(values)) for values in ratios.values())
    return Finding(ran, number.format(largest), criterion, judged(largest <= MOST * (1 + slack)),
                   note, {"largest": largest}, ratios_chart(title, ratios, what=what))  # fmt: skip
