"""Options about data that commands share, and what they say as they are written."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn

import typer

from restive.base.errors import Fault, ProblemError

__all__ = [
    "ArmColumn",
    "Arms",
    "BreakAfter",
    "Cut",
    "Data",
    "Labels",
    "PieceColumn",
    "RewardColumn",
    "Rewards",
    "StateColumn",
    "Tick",
    "TimeColumn",
    "read_period",
    "reading",
]

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="Data files: .csv, .tsv, .jsonl (one JSON object a line) or .parquet; - reads CSV or "
        "JSON lines from standard input.",
    ),
]
ArmColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with the name of the arm.")
]
TimeColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with the time: numbers or dates.")
]
StateColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with what was seen.")
]
RewardColumn = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the reward.")]
PieceColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that tells apart pieces with gaps unknown."),
]
Arms = Annotated[str, typer.Option(metavar="NAME,...", help="Arms to take, all by default.")]
Cut = Annotated[
    str,
    typer.Option(
        metavar="CUT",
        help="Cut numbers into states: at thresholds (0,2.5), at quantiles (q3: three states) "
        "or as fits best (fit).",
    ),
]
Labels = Annotated[
    str, typer.Option(metavar="NAME,...", help="Names of the states, from the lowest.")
]
Rewards = Annotated[
    str, typer.Option(metavar="STATE=X,...", help="Reward of each state: good=1,bad=0.")
]
Tick = Annotated[
    float | None,
    typer.Option(metavar="X", help="Length of a step in the unit of time, seconds for dates."),
]
BreakAfter = Annotated[
    int | None,
    typer.Option(metavar="N", help="A gap of more steps than this begins a new piece."),
]


def reading(*, arms: str, cut: str, labels: str, rewards: str, **columns: Any) -> dict[str, Any]:
    """Arguments of ``read_traces``; columns, tick and break_after are such already."""
    return {
        **columns, "arms": _names("--arms", arms), "cut": _cut(cut),
        "labels": _names("--labels", labels), "rewards": _rewards(rewards),
    }  # fmt: skip


def _names(option: str, text: str) -> list[str] | None:
    """Names separated by commas; None if there are none.

    >>> _names("--arms", "left, right")
    ['left', 'right']
    """
    if not text:
        return None
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        _refuse(option, "an empty name", text, "Separate the names by single commas.")
    return words


def _cut(text: str) -> list[float] | int | str | None:
    """Thresholds, a number of quantiles, or "fit".

    >>> _cut("0,2.5"), _cut("q3"), _cut("fit")
    ([0.0, 2.5], 3, 'fit')
    """
    if not text:
        return None
    if text == "fit":
        return "fit"
    if text[0] == "q" and text[1:].isdecimal():
        return int(text[1:])
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        remedy = "Write thresholds (0,2.5), a number of quantile states (q3), or fit."
        _refuse("--cut", "not a way to cut a signal", text, remedy)


def read_period(text: str) -> float | str | None:
    """A number of steps, or a word for ``check_markov``.

    >>> read_period("24"), read_period("day"), read_period("")
    (24.0, 'day', None)
    """
    try:
        return float(text) if text else None
    except ValueError:
        return text


def _rewards(text: str) -> dict[str, float] | None:
    """Rewards by state: good=1,bad=0.

    >>> _rewards("good=1,bad=0")
    {'good': 1.0, 'bad': 0.0}
    """
    if not text:
        return None
    values: dict[str, float] = {}
    for part in text.split(","):
        state, mark, number = part.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            mark = ""
        if not mark or not state.strip() or state.strip() in values:
            remedy = "Write each state once with its reward: good=1,bad=0."
            _refuse("--rewards", "not a reward of a state", part, remedy)
        values[state.strip()] = value
    return values


def _refuse(option: str, message: str, text: str, remedy: str) -> NoReturn:
    raise ProblemError([Fault(option, message, text[:80], remedy)]) from None
