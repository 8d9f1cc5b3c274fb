"""Is it Markov? What the assumptions of a fitted bandit are worth on the data, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import nan
from typing import Any, Literal

from restive.base.described import Described
from restive.data import verdict_words as words
from restive.data.stakes import Stake
from restive.experiments.paired import holm

Kind = Literal["memory", "change", "period", "dependence"]

KINDS: tuple[Kind, ...] = ("memory", "change", "period", "dependence")
LITTLE = 0.01  # share of the reward below which a loss is called little


@dataclass(frozen=True)
class Assumption:
    """An assumption, tested on one arm.

    fails: None if the data are too few to tell. p: of this test alone; corrected: for all tests of
    the report (Holm), which ``fails`` rests on. bits: information about the next state that the
    model leaves out, per look; share: of all that is open about it. detectable: bits that would
    have shown. difference: largest visible change of a transition probability. correlation: of
    the surprises of two arms; lag: 1 if those of ``partner`` come after, -1 before. jump: step of
    the most visible change; None where it is gradual.
    shrinkage: weight of the difference against chance, 1 - E G / G. stake: reward it could cost.
    looks: number of transitions used.
    """

    kind: Kind
    fails: bool | None
    p: float | None = None
    corrected: float | None = None
    looks: int = 0
    bits: float | None = None
    share: float | None = None
    detectable: float | None = None
    difference: float | None = None
    correlation: float | None = None
    order: int | None = None
    period: float | None = None
    jump: int | None = None
    partner: str | None = None
    lag: int = 0
    evidence: str = ""
    shrinkage: float = 0.0
    method: str = ""
    note: str = ""
    stake: Stake | None = None

    @property
    def little(self) -> bool:
        """Whether it fails but hardly matters to the reward."""
        stake = self.stake
        if not self.fails or stake is None or stake.most is None or not stake.gain:
            return False
        return stake.most < LITTLE * stake.gain

    @property
    def sentence(self) -> str:
        """What was found, how large it is, and what it could cost."""
        return words.sentence(self)

    @property
    def advice(self) -> str:
        """What to do; empty where nothing fails."""
        return words.advice(self) if self.fails else ""


@dataclass(frozen=True)
class ArmVerdict:
    """All findings on one arm."""

    arm: str
    findings: tuple[Assumption, ...]

    @property
    def fails(self) -> tuple[Kind, ...]:
        """Assumptions that fail, those with the largest stake first."""
        failing = [finding for finding in self.findings if finding.fails]
        failing.sort(key=lambda f: -(f.stake.loss or 0.0) if f.stake else 0.0)
        return tuple(finding.kind for finding in failing)

    @property
    def summary(self) -> str:
        """One line: what fails, or that nothing does, or that nothing can be said."""
        return words.summary(self.findings)

    def __getitem__(self, kind: str) -> Assumption:
        return next(finding for finding in self.findings if finding.kind == kind)


@dataclass(frozen=True, repr=False)
class Verdicts(Described):
    """One verdict for each arm. level: chance that any of all tests fails where all is well."""

    arms: tuple[ArmVerdict, ...]
    level: float
    tests: int
    notes: tuple[str, ...] = ()

    @property
    def believable(self) -> bool:
        """Whether no assumption fails on any arm."""
        return not any(verdict.fails for verdict in self.arms)

    def __getitem__(self, arm: str | int) -> ArmVerdict:
        if isinstance(arm, int):
            return self.arms[arm]
        return next(verdict for verdict in self.arms if verdict.arm == arm)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: everything, with sentences."""
        return {
            "level": self.level,
            "tests": self.tests,
            "believable": self.believable,
            "notes": list(self.notes),
            "arms": [
                {
                    "arm": verdict.arm,
                    "summary": verdict.summary,
                    "fails": list(verdict.fails),
                    "findings": [
                        asdict(finding) | {"sentence": finding.sentence, "advice": finding.advice}
                        for finding in verdict.findings
                    ],
                }
                for verdict in self.arms
            ],
        }

    def _title(self) -> str:
        return f"Is it Markov? {self.tests} tests; any false alarm: {self.level:.0%} of reports"

    def _facts(self) -> list[tuple[str, str]]:
        return [(verdict.arm, verdict.summary) for verdict in self.arms]


def corrected(findings: Sequence[Assumption], level: float) -> list[Assumption]:
    """Holm's correction over all findings that have a p-value."""
    p_values = holm([nan if finding.p is None else finding.p for finding in findings]).tolist()
    return [
        finding if finding.p is None else replace(finding, corrected=p, fails=p <= level)
        for finding, p in zip(findings, p_values, strict=True)
    ]
