"""Tables and sentences about a run and about the learners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from restive.base.words import clauses, duration_text, outward
from restive.cli.console import console, dim, gain_text, option_row, show, table, title
from restive.learners.references import citation

if TYPE_CHECKING:
    from restive.learners import Declaration

GAP = "Gap regret is the same loss added up pull by pull, without the luck in rewards and states. "


def show_run(facts: Mapping[str, Any]) -> None:
    """Print what ``restive learn`` found."""
    out = console()
    steps = facts["steps"]
    if facts["interrupted"]:
        words = f"restive: interrupted; reached {steps:,} of {facts['horizon']:,} steps."
        show(console(stderr=True), Text(words, style="yellow"))
    if not steps:
        return
    heads = ("", "compared with", "earns per step", "lost in total")
    show(
        out,
        title(facts, f"{facts['learner']}, {steps:,} step{'s' * (steps != 1)}"), "",
        table(out, heads, _rows(facts), right=(2, 3)), "",
        f"{_sentence(facts)} {_meaning(facts)}", *_notes(facts), dim(_small(facts)),
    )  # fmt: skip


def show_learners(entries: Iterable[Declaration], default: str) -> None:
    """Print the learners: what each is, promises and assumes, and its options."""
    out = console()
    rows: list[tuple[str, ...]] = []
    for entry in entries:
        name = f"{entry.name} (default)" if entry.name == default else entry.name
        words = (
            (name, entry.description),
            ("  promises", entry.guarantee),
            ("  assumes", entry.assumes),
            ("  is told", entry.told),
            *(("  deviates", words) for words in clauses(entry.deviation)),
            *(("  cites", reference) for reference in map(citation, entry.cites)),
        )
        rows += [(head, text) for head, text in words if text]
        rows += [option_row(option) for option in entry.options]
    command = "restive learn PROBLEM --learner NAME --horizon 1e6"
    closing = f"{command} lets one play; those on MDPs are classes in Python."
    show(out, table(out, ("learner", "what it is"), rows, right=()), "", closing)


def _rows(facts: Mapping[str, Any]) -> list[tuple[str, ...]]:
    best, gain = facts["best_arm"], facts["gain"]
    weak = ("weak regret", _best(facts), gain_text(best["gain"]), _lost(facts["weak_regret"]))
    if gain is None:
        upper = outward(facts["gain_ceiling"], facts["gain_ceiling"], 4)[1]
        lost = _lost(facts["regret_at_most"])
        return [("regret, at most", "what no policy can exceed (certified)", upper, lost), weak]
    top = gain_text(gain)
    rows = [("regret", "the best policy", top, _lost(facts["regret"]))]
    if facts["gap_regret"] is not None:
        lost = _lost(facts["gap_regret"])
        rows.append(("gap regret", "the best policy, luck left out", top, lost))
    return [*rows, weak]


def _loss(facts: Mapping[str, Any]) -> float:
    """The regret with the least luck in it."""
    return float(facts["regret"] if facts["gap_regret"] is None else facts["gap_regret"])


def _best(facts: Mapping[str, Any]) -> str:
    count, name = facts["pulls_per_step"], facts["best_arm"]["name"]
    return f"the best single arm, {name}" if count == 1 else f"the {count} best arms, {name}"


def _sentence(facts: Mapping[str, Any]) -> str:
    best, gain = facts["best_arm"], facts["gain"]
    words = f"{facts['learner']} earned {gain_text(facts['mean_reward'])} per step. "
    single = f"pulling {_best(facts)},"
    if gain is None:
        return words + f"Always {single} would earn {gain_text(best['gain'])}."
    words += f"The best policy would earn {gain_text(gain)}, and always "
    return words + f"{single} {gain_text(best['gain'])}."


def _meaning(facts: Mapping[str, Any]) -> str:
    """What the regrets of the table are."""
    single = "the best single arm" if facts["pulls_per_step"] == 1 else "the same arms"
    gap = "" if facts["gap_regret"] is None else GAP
    return (
        "Regret is what was lost against the best policy that knows the arms. "
        f"{gap}Weak regret only compares with pulling {single} "
        "for ever; below 0 the learner earned more than that."
    )


def _notes(facts: Mapping[str, Any]) -> list[str]:
    """What the reader must know about the accuracy of the numbers."""
    if facts["gain"] is None:
        return [
            f"What the best policy earns is unknown: {facts['gain_note']}. It cannot be more than "
            "the bound above, so the regret is at most that. restive plan narrows it down."
        ]
    error = 0.5 * (facts["gain_upper"] - facts["gain_lower"])
    notes = []
    if facts["gain_note"]:
        close = f"{facts['gain_tolerance']:g}"
        notes.append(f"The best policy is known to within {close} only: {facts['gain_note']}.")
    if error * facts["steps"] >= 0.05 * max(1.0, abs(_loss(facts))):
        notes.append(
            f"What it earns per step is certain to within {error:.1g}, its regrets therefore to "
            f"within {_lost(error * facts['steps'])}."
        )
    return notes


def _small(facts: Mapping[str, Any]) -> str:
    planning = duration_text(facts["plan_seconds"])
    times = f"{duration_text(facts['seconds'])}, of which {planning} planning."
    count = facts["episodes"]
    return f"{count:,} episode{'s' * (count != 1)}, {times}" if count else times.capitalize()


def _lost(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.1f}"
