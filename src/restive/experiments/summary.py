"""Everything a comparison says in numbers, for tables, reports and ``summary.json``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from restive.base.arrays import Floats
from restive.experiments.paired import Comparison, Versus, compare_pairs, geometric_ratio
from restive.experiments.statistics import (
    LEVEL,
    WINDOW,
    Interval,
    json_number,
    mean_interval,
    median_interval,
    slope,
)
from restive.learners import LEARNERS

if TYPE_CHECKING:
    from restive.experiments.results import Curves, Results

LEAST_POINTS = 10  # in time, for a growth exponent
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


@dataclass(frozen=True, repr=False)
class Summary:
    """What ``summarize`` found. Entries are in the experiment's order.

    first: every other learner against the first one named, corrected for these comparisons.
    best: every other learner against the one with the least mean, which is known only afterwards:
    corrected for all pairs of learners. Both within one problem and horizon.
    yardsticks: labels of learners that know the chains and so cannot be the best.
    """

    measure: Measure
    level: float
    entries: tuple[Entry, ...]
    first: tuple[Comparison, ...]
    best: tuple[Comparison, ...]
    ratios: tuple[Versus, ...]
    yardsticks: frozenset[str]

    @cached_property
    def _places(self) -> dict[tuple[str, str, int], Entry]:
        return {(entry.problem, entry.learner, entry.horizon): entry for entry in self.entries}

    def __repr__(self) -> str:
        counts = {"entries": self.entries, "first": self.first, "best": self.best}
        words = ", ".join(f"{name}=({len(rows)} rows)" for name, rows in counts.items())
        return f"Summary(measure={self.measure!r}, level={self.level}, {words})"

    def entry(self, problem: str, learner: str, horizon: int) -> Entry | None:
        """The entry of one learner; None if it has not finished."""
        return self._places.get((problem, learner, horizon))

    def ranking(self, problem: str, horizon: int) -> list[Entry]:
        """Those that ran, best first; those that refused last."""
        entries = [e for e in self.entries if (e.problem, e.horizon) == (problem, horizon)]
        return sorted(entries, key=lambda e: len(entries) + 1 if e.rank is None else e.rank)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the same results give the same dictionary on every machine."""
        return {
            "measure": self.measure,
            "level": self.level,
            "entries": [row.to_dict() for row in self.entries],
            "against_first": [row.to_dict() for row in self.first],
            "against_best": [row.to_dict() for row in self.best],
            "ratios_to_first": [row.to_dict() for row in self.ratios],
        }


def yardsticks_in(results: Results) -> frozenset[str]:
    """Labels of the learners that are told the chains, by their names and not their labels."""
    names = {label: label for label in results.learners}
    names |= {row["label"]: row["name"] for row in results.provenance.get("learners", ())}
    informed = {name for name, entry in LEARNERS.items() if entry.yardstick}
    return frozenset(label for label in results.learners if names[label] in informed)


def summarize(
    results: Results, measure: Measure = "gap_regret", yardsticks: Collection[str] | None = None
) -> Summary:
    """Finals, slopes, ranks, paired comparisons and ratios of an experiment.

    measure: what learners are ranked and compared by; weak regret takes its place on problems too
    large to plan, plain regret that of gap regret where several arms are pulled a step.
    yardsticks: labels of learners that cannot be the best; unless given, of those that know the
    chains.
    """
    informed = yardsticks_in(results) if yardsticks is None else frozenset(yardsticks)
    entries: list[Entry] = []
    first: list[Comparison] = []
    best: list[Comparison] = []
    for problem in results.problems:
        for horizon in results.horizons:
            curves = _curves(results, problem, horizon)
            used = _usable(curves, measure)
            ends = {name: np.asarray(getattr(c, used))[:, -1] for name, c in curves.items()}
            ranks = _ranks(ends)
            for name in results.learners:
                place = (problem, name, horizon)
                if name in curves:
                    entries.append(_entry(place, curves[name], used, ranks[name]))
                elif place in results.refusals:
                    entries.append(_refused(place, results.refusals[place]))
            first += _against_first(problem, horizon, ends)
            best += _against_best(problem, horizon, ends, informed)
    ratios = [v for horizon in results.horizons for v in _ratios(results, horizon, measure)]
    return Summary(
        measure, LEVEL, tuple(entries), tuple(first), tuple(best), tuple(ratios), informed
    )


def summary_from(content: Mapping[str, Any], results: Results) -> Summary:
    """The summary that ``to_dict`` wrote of these results, which know the seconds."""
    entries = tuple(_entry_from(entry, results) for entry in content["entries"])
    first, best = (
        tuple(map(Comparison.from_dict, content[key])) for key in ("against_first", "against_best")
    )
    ratios = tuple(map(Versus.from_dict, content["ratios_to_first"]))
    informed = yardsticks_in(results)
    return Summary(content["measure"], content["level"], entries, first, best, ratios, informed)


def _entry_from(content: Mapping[str, Any], results: Results) -> Entry:
    place = (content["problem"], content["learner"], content["horizon"])
    if "refusal" in content:
        return _refused(place, content["refusal"])
    finals: dict[Measure, Final] = {name: Final.from_dict(content[name]) for name in MEASURES}
    growth, medians = Interval.from_dict(content["slope"]), _medians(results.finished[place])
    return Entry(*place, content["runs"], finals, growth, content["rank"], *medians)


def _curves(results: Results, problem: str, horizon: int) -> dict[str, Curves]:
    every = {name: results.curves(problem, name, horizon) for name in results.learners}
    return {name: c for name, c in every.items() if c is not None and len(c.seconds)}


def _usable(curves: Mapping[str, Curves], measure: Measure) -> Measure:
    """The measure, or the next one that is known: of several pulls a step there are no gaps."""
    usual: tuple[Measure, ...] = (measure, "regret")
    for name in usual:
        if all(np.isfinite(getattr(c, name)[:, -1]).all() for c in curves.values()):
            return name
    return "weak_regret"


def _entry(place: tuple[str, str, int], curves: Curves, used: Measure, rank: int) -> Entry:
    finals = {}
    for name in MEASURES:
        ends = np.asarray(getattr(curves, name))[:, -1]
        finals[name] = Final(mean_interval(ends), median_interval(ends))
    growth = _growth(curves, used)
    return Entry(*place, len(curves.seconds), finals, growth, rank, *_medians(curves))


def _growth(curves: Curves, used: Measure) -> Interval:
    """The slope, if it rests on enough points in time."""
    inside = int((curves.times >= curves.times[-1] / WINDOW).sum())
    if inside < LEAST_POINTS:
        return Interval(nan, reason=f"fewer than {LEAST_POINTS} points in time")
    return slope(curves.times, getattr(curves, used))


def _refused(place: tuple[str, str, int], why: str) -> Entry:
    nothing = Interval(nan, reason="it did not run")
    finals: dict[Measure, Final] = {name: Final(nothing, nothing) for name in MEASURES}
    return Entry(*place, 0, finals, nothing, None, nan, nan, nan, why)


def _ranks(ends: Mapping[str, Floats]) -> dict[str, int]:
    """Equal means share the better rank."""
    means = {name: float(values.mean()) for name, values in ends.items()}
    return {name: 1 + sum(m < mean for m in means.values()) for name, mean in means.items()}


def _same_runs(ends: Mapping[str, Floats]) -> dict[str, Floats]:
    count = min(map(len, ends.values()), default=0)
    return {name: values[:count] for name, values in ends.items()}


def _against_first(problem: str, horizon: int, ends: Mapping[str, Floats]) -> list[Comparison]:
    names = list(ends)
    pairs = [(name, names[0]) for name in names[1:]]
    return compare_pairs(problem, horizon, _same_runs(ends), pairs)


def _against_best(
    problem: str, horizon: int, ends: Mapping[str, Floats], yardsticks: Collection[str]
) -> list[Comparison]:
    rivals = [name for name in ends if name not in yardsticks]
    if not rivals:
        return []
    best = min(rivals, key=lambda name: float(ends[name].mean()))
    pairs = [(b, a) if a == best else (a, b) for a, b in combinations(ends, 2)]
    return compare_pairs(problem, horizon, _same_runs(ends), pairs, only=best)


def _ratios(results: Results, horizon: int, measure: Measure) -> list[Versus]:
    """Ratios to the first learner over the problems that both played and that could be planned."""
    curves = {p: _curves(results, p, horizon) for p in results.problems}
    first, versus = results.learners[0], []
    for name in results.learners[1:]:
        shared = [p for p, c in curves.items() if {first, name} <= c.keys()
                  and _usable(c, measure) == measure]  # fmt: skip
        ends = [
            [np.asarray(getattr(curves[p][learner], measure))[:, -1] for p in shared]
            for learner in (name, first)
        ]
        ratio = geometric_ratio(ends[0], [[values] for values in ends[1]])
        versus.append(Versus(horizon, name, first, tuple(shared), ratio))
    return versus


def _medians(curves: Curves) -> tuple[float, float, float]:
    """Of episodes, seconds and planning seconds over the runs."""
    numbers = np.array([curves.episodes, curves.seconds, curves.planning_seconds], dtype=np.float64)
    episodes, seconds, planning = np.median(numbers, axis=1).tolist()
    return episodes, seconds, planning
