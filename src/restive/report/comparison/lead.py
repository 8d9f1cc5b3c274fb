"""The first sentences of a report: who lost least, and whether the runs can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count as numbers_from
from math import comb, isfinite
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from restive.base.words import listed
from restive.experiments.paired import EXACT_RUNS, FLIPS, geometric_ratio
from restive.report.comparison.words import (
    CLEAR,
    MEASURE_NAMES,
    amount,
    chance,
    longest,
    ranking_measure,
    run_count,
    steps,
    within,
)

if TYPE_CHECKING:
    from restive.experiments import Results
    from restive.experiments.paired import Comparison
    from restive.experiments.summary import Entry, Summary


@dataclass(frozen=True)
class Ranking:
    """Who has the least mean on a problem, yardsticks apart, and whom the runs do not tell from it.

    least: empty if nobody that may win has played. others: the rest that may win, best first.
    """

    least: str
    tied: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def winner(self) -> str:
        """The one with the least mean if it is told apart from every other; otherwise empty."""
        return self.least if self.others and not self.tied else ""


def standing(summary: Summary, problem: str, horizon: int) -> Ranking:
    """How the learners that may win stand on one problem."""
    names = [entry.learner for entry in _rivals(summary, problem, horizon)]
    pairs = against_best(summary, problem, horizon)
    least = next((v.against for v in pairs.values()), names[0] if names else "")
    others = tuple(name for name in names if name != least)
    tied = [name for name in others if name not in pairs or not pairs[name].corrected < CLEAR]
    return Ranking(least, tuple(tied), others)


def against_best(summary: Summary, problem: str, horizon: int) -> dict[str, Comparison]:
    """By learner, how it compares with the one that lost least on a problem."""
    place = problem, horizon
    return {pair.learner: pair for pair in summary.best if (pair.problem, pair.horizon) == place}


def lead(results: Results, summary: Summary) -> list[str]:
    """Who lost least and by how much, in sentences; at the longest horizon that was played."""
    horizon = longest(results)
    order = _order(results, summary, horizon)
    played = "played" if order else "is to play"
    runs = f"{run_count(results, horizon)} of {steps(horizon)}"
    opening = (
        f"Each learner {played} {_problems(results, horizon)} in {runs}, all learners in the same "
        "worlds."
    )
    if not order:
        return [opening, "No learner has finished yet."]
    if len(results.problems) == 1:
        told = _on_one(results, summary, horizon)
    else:
        told = _on_many(results, summary, horizon, order)
    return [opening, *told, *_too_few(results, horizon)]


def _problems(results: Results, horizon: int) -> str:
    """The problems that were played with a horizon, or are to be."""
    count = len(results.problems)
    there = len({problem for problem, _, steps_ in results.finished if steps_ == horizon}) or count
    if count == 1:
        return "the problem"
    return "each problem" if there == count else f"{there} of the {count} problems"


def _order(results: Results, summary: Summary, horizon: int) -> dict[str, float]:
    """Learners that may win and played most problems, with their mean ranks, best first."""
    ranks: dict[str, list[int]] = {}
    for problem in results.problems:
        rivals = _rivals(summary, problem, horizon)
        for entry in rivals:
            place = 1 + sum((rival.rank or 0) < (entry.rank or 0) for rival in rivals)
            ranks.setdefault(entry.learner, []).append(place)
    most = max(map(len, ranks.values()), default=0)
    full = {name: fmean(places) for name, places in ranks.items() if len(places) == most}
    return {name: full[name] for name in sorted(full, key=lambda name: full[name])}


def _rivals(summary: Summary, problem: str, horizon: int) -> list[Entry]:
    """Those that may win: yardsticks only where no other learner played."""
    entries = [e for e in summary.ranking(problem, horizon) if e.rank is not None]
    return [e for e in entries if e.learner not in summary.yardsticks] or entries


def _on_one(results: Results, summary: Summary, horizon: int) -> list[str]:
    problem = results.problems[0]
    place = standing(summary, problem, horizon)
    entry = summary.entry(problem, place.least, horizon)
    if entry is None:
        return []
    final = entry.final[ranking_measure(results, summary, problem)].mean
    lost = f"{amount(final.value)}{within(final)}"
    if not place.others:
        return [f"{place.least} lost {lost} on average."]
    if place.tied:
        return [
            f"No learner is clearly the best: {place.least} lost least on average, {lost}, but the "
            f"runs do not tell it from {_several(place.tied)}."
        ]
    versus = against_best(summary, problem, horizon).get(place.others[0])
    behind = [] if versus is None else [_behind(versus)]
    return [f"{place.least} lost least: {lost} on average.", *behind]


def _several(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> _several(["a", "b", "c"]), _several("abcdef")
    ('a, b and c', 'a, b, c and 3 more')
    """
    return listed(names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"])


def _behind(versus: Comparison) -> str:
    """How far a learner is behind the best, and how sure that is."""
    more = versus.difference
    words = f"{versus.learner} came next and lost {amount(more.value)}{within(more)} more"
    p_value = chance(versus.corrected)
    sign = "p " if p_value.startswith("<") else "p = "
    return f"{words}, {sign}{p_value} corrected for all pairs." if p_value else f"{words}."


def _on_many(
    results: Results, summary: Summary, horizon: int, order: dict[str, float]
) -> list[str]:
    names = list(order)
    if len(names) == 1:  # nothing to compare
        return []
    first = [name for name in names if order[name] == order[names[0]]]
    if len(first) > 1:
        return [f"{_several(first)} share the best mean rank."]
    best, least, clear, played = names[0], 0, 0, 0
    for problem in results.problems:
        place = standing(summary, problem, horizon)
        played += bool(place.least)
        least += place.least == best
        clear += place.winner == best
    words = f"{best} has the best mean rank; it lost least on {least} of {played} problems"
    told = "told apart from every other learner"
    sentence = f"{words}, on {clear} of them {told}."
    if clear == least:
        sentence = f"{words}, {told} on {'it' if least == 1 else 'each'}."
    if not clear:
        sentence = f"{words}, but on none of them is it {told}."
    return [sentence, *_ratio(results, summary, horizon, best, names[1])]


def _ratio(results: Results, summary: Summary, horizon: int, best: str, other: str) -> list[str]:
    ends: list[list[np.ndarray]] = [[], []]
    for problem in results.problems:
        pair = [results.curves(problem, name, horizon) for name in (best, other)]
        values = [np.asarray(getattr(c, summary.measure))[:, -1] for c in pair if c is not None]
        if len(values) == 2 and all(np.isfinite(v).all() and len(v) for v in values):
            ends[0].append(values[0])
            ends[1].append(values[1])
    ratio = geometric_ratio(ends[0], [[values] for values in ends[1]]).interval
    if not isfinite(ratio.value):
        return []
    inside = ratio.known and ratio.lower <= 1 <= ratio.upper
    doubt = " The runs do not tell the two apart." if inside else ""
    count = len(ends[0])
    over = "the problems" if count == len(results.problems) else _part(count, results)
    return [
        f"Over {over} its mean {MEASURE_NAMES[summary.measure]} was {amount(ratio.value)} "
        f"times{within(ratio)} that of {other}, which came next (geometric mean).{doubt}"
    ]


def _part(count: int, results: Results) -> str:
    """Some of the problems: those where both learners' regret is known."""
    which = "the one" if count == 1 else f"the {count}"
    return f"{which} of {len(results.problems)} problems on which both learners' is known"


def _too_few(results: Results, horizon: int) -> list[str]:
    """Where no difference, however large, could be told: how many runs it takes."""
    sizes: dict[str, list[int]] = {}
    for (problem, _, steps_), curves in results.finished.items():
        if steps_ == horizon:
            sizes.setdefault(problem, []).append(len(curves.seconds))
    pairs = max((comb(len(runs), 2) for runs in sizes.values()), default=0)
    runs = max((min(group) for group in sizes.values()), default=0)
    least = pairs * _least_p(runs)
    if least < CLEAR or not pairs:
        return []
    enough = next(n for n in numbers_from(runs) if pairs * _least_p(n) < CLEAR)
    of = f"{pairs} pairs of learners" if pairs > 1 else "two learners"
    return [
        f"With {run_count(results, horizon)} no difference, however large, can be told: the least "
        f"corrected p of {of} is {chance(min(least, 1.0))}. {enough} runs could tell."
    ]


def _least_p(runs: int) -> float:
    """The least p-value that flips of the signs of so many differences can have."""
    return 2.0 ** (1 - runs) if runs <= EXACT_RUNS else 1 / (1 + FLIPS)
