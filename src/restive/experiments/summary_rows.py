"""Rows of a summary: how a learner ended, and how it did against another over all problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Literal

import numpy as np

from restive.experiments.paired import Ratio
from restive.experiments.statistics import Interval, json_number

Measure = Literal["gap_regret", "regret", "weak_regret"]
MEASURES: tuple[Measure, ...] = ("gap_regret", "regret", "weak_regret")


def exponent(value: float) -> str:
    """A growth exponent in two decimals, nothing where there is none.

    >>> exponent(0.5), exponent(-1e-16), exponent(-0.004), exponent(-0.25), exponent(nan)
    ('0.50', '0.00', '0.00', '-0.25', '')
    """
    return f"{round(value, 2) + 0.0:.2f}" if isfinite(value) else ""


@dataclass(frozen=True)
class Final:
    """Regret at the end of the runs."""

    mean: Interval
    median: Interval

    def to_dict(self) -> dict[str, Any]:
        return {"mean": self.mean.to_dict(), "median": self.median.to_dict()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Final:
        return cls(*(Interval.from_dict(content[key]) for key in ("mean", "median")))


@dataclass(frozen=True)
class Entry:
    """One learner on one problem with one horizon.

    rank: by the mean of the summary's measure among the learners there, from 1; None for those
    that did not run. Seconds and episodes are medians over the runs; seconds depend on the
    machine and stay out of ``to_dict``.
    """

    problem: str
    learner: str
    horizon: int
    runs: int
    final: Mapping[Measure, Final]
    slope: Interval  # exponent of growth of the measure
    rank: int | None
    episodes: float
    seconds: float
    planning_seconds: float
    refusal: str = ""  # why it did not run

    def to_dict(self) -> dict[str, Any]:
        head: dict[str, Any] = {
            "problem": self.problem, "learner": self.learner, "horizon": self.horizon
        }  # fmt: skip
        if self.refusal:
            return head | {"refusal": self.refusal}
        finals: dict[str, Any] = {name: interval.to_dict() for name, interval in self.final.items()}
        growth = {"slope": self.slope.to_dict(), "episodes": json_number(self.episodes)}
        return head | {"runs": self.runs, "rank": self.rank} | finals | growth


@dataclass(frozen=True)
class Versus:
    """A learner against the first one over all problems that both played."""

    horizon: int
    learner: str
    against: str
    problems: tuple[str, ...]
    ratio: Ratio

    def to_dict(self) -> dict[str, Any]:
        fields = self.ratio.to_dict()
        ratios = dict(zip(self.problems, fields.pop("ratios"), strict=True))
        head = {"horizon": self.horizon, "learner": self.learner, "against": self.against}
        return head | fields | {"ratios": ratios}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Versus:
        ratios = tuple(nan if r is None else float(r) for r in content["ratios"].values())
        interval = Interval.from_dict(content)
        worst = -1 if np.isnan(ratios).any() or not ratios else int(np.argmax(ratios))
        ratio = Ratio(interval, ratios, (0,) * len(ratios), worst)
        problems = tuple(content["ratios"])
        return cls(content["horizon"], content["learner"], content["against"], problems, ratio)
