"""Numbers and sentences about a comparison, the same on the page and in Markdown."""

from __future__ import annotations

from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from restive.experiments.paired import geometric_ratio

if TYPE_CHECKING:
    from restive.experiments import Results
    from restive.experiments.paired import Comparison
    from restive.experiments.statistics import Interval
    from restive.experiments.summary import Entry, Summary

__all__ = [
    "REGRET_NAMES",
    "amount",
    "chance",
    "intro",
    "lead",
    "longest",
    "missing",
    "ranked_by",
    "run_count",
    "span",
    "steps",
    "title",
]

REGRET_NAMES = {
    "gap": "Gap regret: lost against the best policy, without luck",
    "plain": "Plain regret: lost against the best policy, luck included",
    "weak": "Weak regret: lost against the best single arm (below zero: earned more)",
}

MEASURE_NAMES = {"gap_regret": "gap regret", "regret": "plain regret", "weak_regret": "weak regret"}


def amount(value: float | None) -> str:
    """Three digits, or whole numbers with thousands set apart.

    >>> amount(12345.6), amount(0.012346), amount(-3.0), amount(float("nan"))
    ('12,346', '0.0123', '−3', '?')
    """
    if value is None or not isfinite(value):
        return "?"
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-4:
        words = f"{size:.2e}"
    else:
        words = f"{size:,.0f}" if size >= 999.5 else f"{size:.3g}"
    return ("−" if value < 0 and words != "0" else "") + words


def span(interval: Interval) -> str:
    """The bounds of an interval, or nothing where it has none."""
    if not interval.known:
        return ""
    return f"{amount(interval.lower)} to {amount(interval.upper)}"


def chance(p_value: float) -> str:
    """A p-value.

    >>> chance(0.5), chance(0.00123), chance(1e-7), chance(float("nan"))
    ('0.50', '0.001', '<0.001', '')
    """
    if not isfinite(p_value):
        return ""
    if p_value < 0.0005:
        return "<0.001"
    return f"{p_value:.2f}" if p_value > 0.095 else f"{p_value:.3f}"


def steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count:,} steps"


def title(results: Results) -> str:
    learners, problems = len(results.learners), len(results.problems)
    on = results.problems[0] if problems == 1 else f"{problems} problems"
    return f"{_count(learners, 'learner')} on {on}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def longest(results: Results) -> int:
    """The longest horizon of which there are runs; of all, if there are none."""
    return max({horizon for *_, horizon in results.found} or results.horizons)


def run_count(results: Results, horizon: int, problem: str | None = None) -> str:
    """How many runs a learner has with a horizon, on one problem or on any.

    As "5 runs", or "5 to 8 runs" where that differs.
    """
    counts = {
        len(curves.seconds)
        for (name, _, steps_), curves in results.found.items()
        if steps_ == horizon and problem in (None, name)
    } or {results.runs}
    low, high = min(counts), max(counts)
    return _count(high, "run") if low == high else f"{low} to {high} runs"


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
    tell = _on_one if len(results.problems) == 1 else _on_many
    return [opening, *tell(results, summary, horizon, order)]


def _problems(results: Results, horizon: int) -> str:
    """The problems that were played with a horizon, or are to be."""
    count = len(results.problems)
    there = len({problem for problem, _, steps_ in results.found if steps_ == horizon}) or count
    if count == 1:
        return "the problem"
    return "each problem" if there == count else f"{there} of the {count} problems"


def _order(results: Results, summary: Summary, horizon: int) -> list[str]:
    """Learners that may win and played most problems, by their mean rank."""
    ranks: dict[str, list[int]] = {}
    for problem in results.problems:
        rivals = _rivals(summary, problem, horizon)
        for entry in rivals:
            ranks.setdefault(entry.learner, []).append(_place(entry, rivals))
    most = max(map(len, ranks.values()), default=0)
    full = {name: fmean(places) for name, places in ranks.items() if len(places) == most}
    return sorted(full, key=lambda name: full[name])


def _rivals(summary: Summary, problem: str, horizon: int) -> list[Entry]:
    """Those that may win: yardsticks only where no other learner played."""
    entries = [e for e in summary.ranking(problem, horizon) if e.rank is not None]
    return [e for e in entries if e.learner not in summary.yardsticks] or entries


def _place(entry: Entry, rivals: list[Entry]) -> int:
    return 1 + sum((e.rank or 0) < (entry.rank or 0) for e in rivals)


def _on_one(results: Results, summary: Summary, horizon: int, order: list[str]) -> list[str]:
    problem, best = results.problems[0], order[0]
    entry = summary.entry(problem, best, horizon)
    if entry is None:
        return []
    measure = "weak_regret" if _unplanned(results, problem) else summary.measure
    final = entry.final[measure].mean
    sentences = [f"{best} lost least: {amount(final.value)}{_within(final)} on average."]
    place, second = (problem, horizon, best), order[1] if len(order) > 1 else ""
    behind = [
        versus
        for versus in summary.best
        if (versus.problem, versus.horizon, versus.against) == place and versus.learner == second
    ]
    return [*sentences, *map(_behind, behind)]


def _behind(versus: Comparison) -> str:
    """How far a learner is behind the best, and how sure that is."""
    more = versus.difference
    words = f"{versus.learner} came next and lost {amount(more.value)}{_within(more)} more"
    p_value = chance(versus.corrected)
    if not more.known or not p_value:
        return f"{words}."
    sign = "p " if p_value.startswith("<") else "p = "
    return f"{words}, {sign}{p_value} corrected for all pairs."


def _on_many(results: Results, summary: Summary, horizon: int, order: list[str]) -> list[str]:
    best, wins, played = order[0], 0, 0
    for problem in results.problems:
        rivals = _rivals(summary, problem, horizon)
        played += bool(rivals)
        wins += any(e.learner == best and _place(e, rivals) == 1 for e in rivals)
    sentences = [f"{best} has the best mean rank; it lost least on {wins} of {played} problems."]
    if len(order) > 1:
        sentences += _ratio(results, summary, horizon, best, order[1])
    return sentences


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
        f"times{_within(ratio)} that of {other}, which came next (geometric mean).{doubt}"
    ]


def _part(count: int, results: Results) -> str:
    """Some of the problems: those where both learners' regret is known."""
    which = "the one" if count == 1 else f"the {count}"
    return f"{which} of {len(results.problems)} problems on which both learners' is known"


def _within(interval: Interval) -> str:
    return f" (95 % interval {span(interval)})" if interval.known else ""


def _unplanned(results: Results, problem: str) -> bool:
    return not isfinite(results.gains[problem][0])


def ranked_by(results: Results, problem: str) -> str:
    """Why learners are ranked by another regret than usual, or nothing."""
    if not _unplanned(results, problem):
        return ""
    return (
        "Not planned, so gap and plain regret are not known: ranks, differences to the best, "
        "p-values and growth are of weak regret."
    )


def intro(results: Results, name: str) -> str:
    """What a problem is and what can be earned in it."""
    bandit, (gain, low, high) = results.bandits[name], results.gains[name]
    best, alone = results.best_arms[name]
    sizes = sorted(set(bandit.n_states))
    states = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    plural = "" if bandit.n_arms == 1 else "s"
    sentence = f"{bandit.n_arms} arm{plural} with {states} state{'' if sizes == [1] else 's'}."
    if isfinite(gain):
        within = max(gain - low, high - gain)
        sentence += f" The best policy earns {gain:.6f} a step (certain to within {within:.0e});"
    else:
        sentence += " The best policy is not known;"
    return f"{sentence} the best single arm, {bandit.arm_name(best)}, earns {alone:.6f}."


def missing(results: Results, summary: Summary) -> list[str]:
    """What a reader must know before trusting the tables."""
    sentences = []
    if not results.complete:
        there = sum(len(curves.seconds) for curves in results.found.values())
        cells = len(results.problems) * len(results.learners) * len(results.horizons)
        expected = results.runs * (cells - len(results.refusals))
        sentences.append(
            f"This comparison is not finished: {there} of {expected} runs are shown. Learners of "
            "one problem and horizon are shown with the runs that all of them have finished. The "
            "command below goes on where it stopped."
        )
    if any(_unplanned(results, problem) for problem in results.problems):
        names = [problem for problem in results.problems if _unplanned(results, problem)]
        known = (
            "Not planned (too large, or not yet): weak regret is shown in place of gap regret on "
        )
        sentences.append(f"{known}{', '.join(names)}.")
    reasons = {e.final[summary.measure].mean.reason for e in summary.entries if not e.refusal}
    sentences += [f"No intervals: {reason}." for reason in sorted(reasons) if "too few" in reason]
    return sentences
