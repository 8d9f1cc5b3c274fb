"""Tables of a comparison as plain dictionaries, which the page and Markdown print as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import asinh, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.experiments.summary import exponent
from restive.report.comparison.lead import Ranking, against_best, standing
from restive.report.comparison.words import (
    CLEAR,
    amount,
    chance,
    other_measure,
    ranking_measure,
    span,
)
from restive.report.drawing import palette
from restive.report.policy.alike import alike

if TYPE_CHECKING:
    from restive.experiments import Results
    from restive.experiments.statistics import Interval
    from restive.experiments.summary import Entry, Summary
    from restive.model.bandit import Arm, Bandit

TableCell = dict[str, Any]
NOTHING: TableCell = {"text": "", "span": "", "value": "", "why": ""}
SHOWN_ARMS = 12  # in the table of pulls
NAMES = {"files": "problem files (SHA-256)", "experiment": "experiment (SHA-256)"}


def learner_styles(results: Results) -> list[dict[str, Any]]:
    """Name, colour and dashes of each learner."""
    return [
        {"name": name, "color": palette.color_index(k), "dash": palette.dash(k)}
        for k, name in enumerate(results.learners)
    ]


def _cell(interval: Interval) -> TableCell:
    """A value with its interval, and the number by which a column is sorted."""
    if not isfinite(interval.value):
        return NOTHING | {"why": interval.reason}
    return {
        "text": amount(interval.value), "span": span(interval),
        "value": f"{interval.value:.6g}", "why": interval.reason,
    }  # fmt: skip


def ranking(results: Results, summary: Summary, problem: str, horizon: int) -> list[dict[str, Any]]:
    """One row per learner, best first; those that refused last, with the reason."""
    against, stands = against_best(summary, problem, horizon), standing(summary, problem, horizon)
    rows = []
    for entry in summary.ranking(problem, horizon):
        row = _ranked(results, entry, summary.yardsticks)
        versus = against.get(entry.learner)
        row["difference"] = _cell(versus.difference) if versus else NOTHING
        p_value = versus.corrected if versus else float("nan")
        row["p"] = {"text": chance(p_value), "value": f"{p_value:.6g}" if versus else ""}
        row["winner"] = entry.learner == stands.winner
        rows.append(row)
    return [*rows, *_failed(results, summary, problem, horizon)]


def failure(results: Results, place: tuple[str, str, int]) -> str:
    """How many runs of a learner failed, and why; nothing if none did."""
    return str(results.failures[place]) if place in results.failures else ""


def _failed(results: Results, summary: Summary, problem: str, horizon: int) -> list[dict[str, Any]]:
    """Rows of learners with failed runs, which have no numbers that can be compared."""
    informed = summary.yardsticks
    return [
        {"rank": None, "learner": name, "index": k, "told": name in informed, "refusal": why,
         "stopped": why, "winner": False, "p": {"text": ""}}
        | dict.fromkeys(("mean", "median", "difference", "slope", "plain", "weak"), NOTHING)
        for k, name in enumerate(results.learners)
        if (why := failure(results, (problem, name, horizon)))
        and summary.entry(problem, name, horizon) is None
    ]  # fmt: skip


def _exponent(interval: Interval) -> TableCell:
    bounds = f"{exponent(interval.lower)} to {exponent(interval.upper)}" if interval.known else ""
    text = exponent(interval.value).replace("-", "−")
    return _cell(interval) | {"text": text, "span": bounds.replace("-", "−")}


def _ranked(results: Results, entry: Entry, informed: Collection[str]) -> dict[str, Any]:
    finals = entry.final
    return {
        "rank": entry.rank,
        "learner": entry.learner,
        "index": results.learners.index(entry.learner),
        "told": entry.learner in informed,
        "refusal": entry.refusal,
        "stopped": f"did not run: {entry.refusal}" if entry.refusal else "",
        "runs": entry.runs,
        "mean": _cell(finals["gap_regret"].mean),
        "median": _cell(finals["gap_regret"].median),
        "plain": _cell(finals["regret"].mean),
        "weak": _cell(finals["weak_regret"].mean),
        "slope": _exponent(entry.slope),
    }


def overview(results: Results, summary: Summary, horizon: int) -> list[dict[str, Any]]:
    """Learners by problems: final mean regret, how far above the best, and who equals the best."""
    tied = {
        (versus.problem, versus.learner)
        for versus in summary.best
        if versus.horizon == horizon and not versus.corrected < CLEAR
    }
    places = {problem: standing(summary, problem, horizon) for problem in results.problems}
    rows: list[dict[str, Any]] = []
    for k, learner in enumerate(results.learners):
        cells = [
            _overview_cell(results, summary, (problem, learner, horizon), places[problem], tied)
            for problem in results.problems
        ]
        ranks = [cell["rank"] for cell in cells if cell["rank"]]
        mean = float(np.mean(ranks)) if ranks else float("nan")
        rows.append({
            "learner": learner, "index": k, "told": learner in summary.yardsticks, "cells": cells,
            "rank": f"{mean:.2f}" if ranks else "", "rank_value": f"{mean:.6g}" if ranks else "",
        })  # fmt: skip
    for column in range(len(results.problems)):
        _shade([row["cells"][column] for row in rows])
    return sorted(rows, key=lambda row: float(row["rank_value"] or "inf"))


def _overview_cell(
    results: Results, summary: Summary, place: tuple[str, str, int], stands: Ranking,
    tied: set[tuple[str, str]],
) -> TableCell:  # fmt: skip
    problem, learner, horizon = place
    entry = summary.entry(problem, learner, horizon)
    if entry is None or entry.rank is None:
        failed = failure(results, place)
        why = entry.refusal if entry else failed or "not finished"
        text = "refused" if entry else "failed" if failed else ""
        return {"text": text, "value": "", "rank": None, "level": 0.0, "winner": False,
                "tied": False, "why": why}  # fmt: skip
    value = entry.final[ranking_measure(results, summary, problem)].mean.value
    return {
        "text": amount(value), "value": f"{value:.6g}", "rank": entry.rank, "level": 0.0,
        "winner": learner == stands.winner, "tied": (problem, learner) in tied,
        "why": other_measure(results, summary, problem),
    }  # fmt: skip


def _shade(cells: Sequence[TableCell]) -> None:
    """Set each cell's level: 0 for the least of a column, 1 for the most, by ratios between them.

    Numbers near zero and below it count by their differences, so no ratio is needed there.
    """
    values = {k: float(cell["value"]) for k, cell in enumerate(cells) if cell["value"]}
    sizes = [abs(value) for value in values.values() if value]
    if len(set(values.values())) < 2:
        return
    heights = {k: asinh(value / min(sizes)) for k, value in values.items()}
    low, high = min(heights.values()), max(heights.values())
    for k, height in heights.items():
        cells[k]["level"] = round((height - low) / (high - low), 3)


def pulls(results: Results, summary: Summary, problem: str, horizon: int) -> dict[str, Any]:
    """Share of the pulls that each arm got from each learner; of many arms the most pulled."""
    bandit = results.bandits[problem]
    shares: dict[str, Any] = {}
    for learner in results.learners:
        curves = results.curves(problem, learner, horizon)
        if curves is not None and curves.pulls is not None:
            shares[learner] = (curves.pulls / curves.pulls.sum(axis=1, keepdims=True)).mean(axis=0)
    if not shares:
        return {"arms": [], "rows": []}
    order = np.argsort(-np.max(list(shares.values()), axis=0), kind="stable")
    few = bandit.n_arms <= SHOWN_ARMS
    arms = np.arange(bandit.n_arms) if few else np.sort(order[:SHOWN_ARMS])
    names = [bandit.arm_name(int(j)) for j in arms]
    rest = bandit.n_arms - len(arms)
    rows = [
        {"learner": learner, "index": results.learners.index(learner),
         "told": learner in summary.yardsticks,
         "shares": [round(float(x), 4) for x in [*row[arms], *[1 - row[arms].sum()] * bool(rest)]]}
        for learner, row in shares.items()
    ]  # fmt: skip
    return {"arms": [*names, *[f"{rest} other arms"] * bool(rest)], "rows": rows}


def times(results: Results, horizon: int) -> list[dict[str, Any]]:
    """Seconds of a run, playing and planning: medians over all runs of a learner.

    Medians, as on the screen, since the first run may have to compile.
    """
    rows: list[dict[str, Any]] = []
    for k, learner in enumerate(results.learners):
        every = [results.curves(problem, learner, horizon) for problem in results.problems]
        curves = [c for c in every if c is not None and np.isfinite(c.seconds).any()]
        if not curves:
            continue
        whole = np.concatenate([c.seconds for c in curves])
        planning = np.concatenate([c.planning_seconds for c in curves])
        seconds = float(np.nanmedian(whole))
        rows.append({"learner": learner, "index": k, "seconds": seconds,
                     "planning": float(np.nanmedian(planning)),
                     "playing": float(np.nanmedian(whole - planning)),
                     "episodes": float(np.median(np.concatenate([c.episodes for c in curves]))),
                     "per_step": 1e6 * seconds / horizon})  # fmt: skip
    longest = max((row["seconds"] for row in rows), default=1.0) or 1.0
    for row in rows:
        row["bars"] = [round(100 * row[part] / longest, 1) for part in ("playing", "planning")]
        row["text"] = {
            part: amount(row[part])
            for part in ("seconds", "playing", "planning", "per_step", "episodes")
        }
    return sorted(rows, key=lambda row: float(row["seconds"]))


def arms(bandit: Bandit) -> list[dict[str, Any]]:
    """Arms with the same chain and rewards together, each with its facts in words."""
    return [
        {"arm": bandit.arms[group[0]], "names": _names(bandit, group),
         "facts": _arm_facts(bandit.arms[group[0]])}
        for group in alike(bandit, range(bandit.n_arms), noise=True)
    ]  # fmt: skip


def _names(bandit: Bandit, group: list[int]) -> str:
    names = [bandit.arm_name(j) for j in group]
    if len(names) > 4:
        names = [*names[:2], f"… {names[-1]}"]
        return f"{', '.join(names)} ({len(group)} alike)"
    return ", ".join(names)


def _arm_facts(arm: Arm) -> str:
    words = [f"alone earns {amount(arm.units.mean(arm.gain))} a step"]
    if arm.n_states > 1:
        words.append(f"mixes in {arm.mixing_time()} steps" if arm.period == 1 else "")
        words.append(f"period {arm.period}" if arm.period > 1 else "")
    if arm.reward_noise != "none":
        words.append(f"{arm.reward_noise} rewards")
    return ", ".join(word for word in words if word)


def provenance(results: Results) -> list[tuple[str, str]]:
    """Where the numbers come from, as pairs of name and value."""
    pairs = [("seed", str(results.seed)), ("runs", str(results.runs)),
             ("horizons", ", ".join(f"{horizon:,}" for horizon in results.horizons))]  # fmt: skip
    for name, value in results.provenance.items():
        if name not in ("seed", "runs", "horizons") and value not in ("", None, [], {}):
            text = _players(value) if name == "learners" else _inline(value)
            pairs.append((NAMES.get(name, str(name).replace("_", " ")), text))
    return pairs


def _players(learners: Sequence[Mapping[str, Any]]) -> str:
    """Labels, with what they stand for where that is not the same."""
    words = []
    for learner in learners:
        label, name = learner["label"], learner["name"]
        options = _inline(learner.get("options", {}))
        real = ", ".join(filter(None, (name if name != label else "", options)))
        words.append(f"{label} ({real})" if real else str(label))
    return ", ".join(words)


def _inline(value: Any) -> str:
    """Anything out of JSON on one line."""
    if isinstance(value, Mapping):
        parts = [(key, _inline(part)) for key, part in value.items()]
        return ", ".join(f"{key} {part}" for key, part in parts if part)
    if isinstance(value, list | tuple):
        return "; ".join(filter(None, map(_inline, value)))
    return "" if value is None else str(value)
