"""What ``restive bounds`` shows: the theorems' numbers for one problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from restive.cli.console import console, show, table, title


def show_bounds(facts: Mapping[str, Any]) -> None:
    """Print what ``facts.of_bounds`` found."""
    out = console()
    known = facts["true_diameter"]
    columns = [facts["lemma_1"]] + ([known["bounds"]] if known and known["bounds"] else [])
    heads = ("", "with Lemma 1", "with the true diameter")[: len(columns) + 1]
    rows = [(what, *(_large(read(column)) for column in columns)) for what, read in _BOUNDS]
    show(
        out,
        title(facts, f"what the theorems promise at T = {_large(facts['horizon'])}"), "",
        table(out, heads, rows, right=range(1, len(heads))), "",
        *_diameter_sentence(known), *facts["explanation"], *_units_sentence(facts),
    )  # fmt: skip


def _units_sentence(facts: Mapping[str, Any]) -> list[str]:
    low, high = facts["reward_range"]
    if (low, high) == (0, 1):
        return []
    return [
        "Regrets here are for rewards brought to 0 to 1, as the theorems have them; multiply them "
        f"by {high - low:g} for the units of this problem."
    ]


def _diameter_sentence(known: Mapping[str, Any] | None) -> list[str]:
    """What is known of the true diameter beside Lemma 1's bound: a sentence, or none."""
    if known is None:
        return []
    if known["within_upper"] is None:
        return ["The true diameter is infinite: some states are never reached from others."]
    low, high = known["within_lower"], known["within_upper"]
    value = f"{_large(high)} (certain to within {high - low:.1g}; {known['states']:,} states)"
    if high < 1:
        value += ", which the theorems count as 1"
    if known["finite"]:
        return [f"The true diameter is {value}."]
    return [
        "The true diameter is infinite: the periods of some arms share a divisor, so their phases "
        f"never change against each other. Among the states that one play can meet it is {value}."
    ]


_BOUNDS: tuple[tuple[str, Callable[[Mapping[str, Any]], float | None]], ...] = (
    ("diameter of the decision problem", lambda b: b["diameter"]),
    ("regret at most, Theorem 4", lambda b: b["theorem_4"]),
    ("regret at most, the sum in its proof", lambda b: b["terms"]["total"]),
    ("regret at most, by any play", lambda b: b["horizon"]),
    ("Theorem 4 says something from T =", lambda b: b["meaningful_horizon"]),
    ("the sum says something from T =", lambda b: b["meaningful_horizon_terms"]),
)


def _large(value: float | None) -> str:
    """Short, whatever the size; None stands for what no float can hold."""
    if value is None:
        return "beyond 1e300"
    if value < (1e9 if isinstance(value, int) else 1e6):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
    return f"{value:.2e}"
