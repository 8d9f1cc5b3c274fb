"""Numbers and sentences about a comparison, the same on the page and in Markdown."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from restive.experiments import Results
    from restive.experiments.statistics import Interval
    from restive.experiments.summary import Measure, Summary
    from restive.model.bandit import Bandit

REGRET_NAMES = {
    "gap": "Gap regret: lost against the best policy, without luck",
    "plain": "Plain regret: lost against the best policy, luck included",
    "weak": "Weak regret: lost against the best arm, or arms, alone (below zero: earned more)",
}

REWARD_NAME = "Mean reward per step so far"
CLEAR = 0.05  # corrected p-values below this tell learners apart
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


def file_word(name: str) -> str:
    """A name as part of the name of a file to save.

    >>> file_word("Two channels, p = 0.1"), file_word("?")
    ('two-channels-p-0-1', 'problem')
    """
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "problem"


def title(results: Results) -> str:
    learners, problems = len(results.learners), len(results.problems)
    on = results.problems[0] if problems == 1 else f"{problems} problems"
    return f"{count(learners, 'learner')} on {on}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def longest(results: Results) -> int:
    """The longest horizon of which there are runs; of all, if there are none."""
    return max({horizon for *_, horizon in results.finished} or results.horizons)


def run_count(results: Results, horizon: int, problem: str | None = None) -> str:
    """How many runs a learner has with a horizon, on one problem or on any.

    As "5 runs", or "5 to 8 runs" where that differs.
    """
    counts = {
        len(curves.seconds)
        for (name, _, steps_), curves in results.finished.items()
        if steps_ == horizon and problem in (None, name)
    } or {results.runs}
    low, high = min(counts), max(counts)
    return count(high, "run") if low == high else f"{low} to {high} runs"


def within(interval: Interval) -> str:
    return f" (95 % interval {span(interval)})" if interval.known else ""


def unplanned(results: Results, problem: str) -> bool:
    return not isfinite(results.gains[problem][0])


def ranking_measure(results: Results, summary: Summary, problem: str) -> Measure:
    """What the learners of a problem are ranked by."""
    if unplanned(results, problem):
        return "weak_regret"
    no_gaps = summary.measure == "gap_regret" and results.bandits[problem].pulls > 1
    return "regret" if no_gaps else summary.measure


def other_measure(results: Results, summary: Summary, problem: str) -> str:
    """The regret that learners of a problem are ranked by if it is another one than usual."""
    measure = ranking_measure(results, summary, problem)
    if measure == summary.measure and not unplanned(results, problem):
        return ""
    return MEASURE_NAMES[measure]


def ranked_by(results: Results, summary: Summary, problem: str) -> str:
    """Why learners are ranked by another regret than usual, or nothing."""
    if not other_measure(results, summary, problem):
        return ""
    if not unplanned(results, problem):
        return (
            "Several pulls a step, for which gap regret is not defined: ranks, differences to the "
            "best, p-values and growth are of plain regret."
        )
    if problem in results.traces:
        return (
            "A trace: every run played a stretch of its own. Ranks, differences to the best, "
            "p-values and growth are of weak regret, against the best single arm of the stretch in "
            "hindsight."
        )
    return (
        "Not planned, so gap and plain regret are not known: ranks, differences to the best, "
        "p-values and growth are of weak regret."
    )


def heading(results: Results, summary: Summary, problem: str) -> str:
    """A problem at the head of a column of regrets, and of which ones if not of the usual ones."""
    other = other_measure(results, summary, problem)
    return problem + (f" ({other})" if other else "")


def intro(results: Results, name: str) -> str:
    """What a problem is and what can be earned in it."""
    bandit, (gain, low, high) = results.bandits[name], results.gains[name]
    best, alone = results.best_arms[name]
    sizes = sorted(set(bandit.n_states))
    states = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    plural = "" if bandit.n_arms == 1 else "s"
    sentence = f"{bandit.n_arms} arm{plural} with {states} state{'' if sizes == [1] else 's'}."
    if name in results.traces:
        return (
            f"{sentence} A recorded trace of {results.traces[name]:,} steps; the arms shown were "
            "fitted to all of it, and so is what learners are told that are told of the arms."
        )
    if isfinite(gain):
        within = max(gain - low, high - gain)
        sentence += f" The best policy earns {gain:.6f} a step (certain to within {within:.0e});"
    else:
        ceiling = results.ceiling(name)
        sentence += f" The best policy is not known, but none earns more than {ceiling:.6f} a step"
        sentence += " (certified);"
    arms = f"{sentence} the {best_arms(bandit)}"
    if bandit.pulls > 1:
        return f"{arms}, always pulled, earn {alone:.6f} together."
    return f"{arms}, {bandit.arm_name(best)}, earns {alone:.6f}."


def best_arms(bandit: Bandit) -> str:
    """What weak regret compares with."""
    return "best single arm" if bandit.pulls == 1 else f"{bandit.pulls:,} best arms"


def missing(results: Results, summary: Summary) -> list[str]:
    """What a reader must know before trusting the tables."""
    sentences = []
    if not results.complete:
        there = sum(len(curves.seconds) for curves in results.finished.values())
        cells = len(results.problems) * len(results.learners) * len(results.horizons)
        expected = results.runs * (cells - len(results.refusals))
        sentences.append(
            f"This comparison is not finished: {there} of {expected} runs are shown. Learners of "
            "one problem and horizon are shown with the runs that all of them have finished. The "
            "command below goes on where it stopped."
        )
    names = [p for p in results.problems if unplanned(results, p) and p not in results.traces]
    if names:
        known = (
            "Not planned (too large, or not yet): weak regret is shown in place of gap regret on "
        )
        sentences.append(f"{known}{', '.join(names)}.")
    reasons = {e.final[summary.measure].mean.reason for e in summary.entries if not e.refusal}
    sentences += [f"No intervals: {reason}." for reason in sorted(reasons) if "too few" in reason]
    return sentences
