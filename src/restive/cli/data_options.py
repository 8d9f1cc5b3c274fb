"""Options about data that commands share, and what they say as they are written."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import chain
from typing import Annotated, Any, NoReturn

from restive.base.errors import refusal
from restive.cli.app import argument, option

Data = Annotated[
    list[str],
    argument(
        "DATA",
        "Data files: .csv, .tsv, .jsonl (one JSON object a line) or .parquet; - reads CSV or "
        "JSON lines from standard input.",
    ),
]
OPTIONS: dict[str, tuple[str, str]] = {  # what stands for a value, help
    "arm": ("COLUMN", "Column with the name of the arm."),
    "time": ("COLUMN", "Column with the time: numbers or dates."),
    "state": ("COLUMN", "Column with what was seen."),
    "reward": ("COLUMN", "Column with the reward."),
    "piece": ("COLUMN", "Column that says which piece a row belongs to; gaps between pieces "
              "are unknown."),
    "arms": ("NAME,...", "Arms to take, all by default."),
    "cut": ("CUT", "Cut numbers into states: at thresholds (0,2.5), at quantiles (q3: three "
            "states) or as fits best (fit)."),
    "labels": ("NAME,...", "Names of the states, from the lowest."),
    "rewards": ("STATE=X,...", "Reward of each state: good=1,bad=0."),
    "tick": ("X", "Length of a step in the unit of time, seconds for dates."),
    "break_after": ("N", "A gap of more steps than this begins a new piece."),
}  # fmt: skip


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options above in place of its argument ``columns``.

    It gets them there as arguments of ``read_traces``.
    """

    @wraps(command)
    def run(**given: Any) -> None:
        command(columns=_reading(**{name: given.pop(name) for name in OPTIONS}), **given)

    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None,
                  annotation=Annotated[str | None, option(value, words)])
        for name, (value, words) in OPTIONS.items()
    ]  # fmt: skip
    own = signature(command, eval_str=True).parameters.items()
    merged = [options if name == "columns" else [parameter] for name, parameter in own]
    run.__signature__ = Signature(list(chain.from_iterable(merged)))  # type: ignore[attr-defined]  # what Typer reads
    return run


def _reading(
    *, arms: str, cut: str, labels: str, rewards: str, tick: str, break_after: str, **columns: Any
) -> dict[str, Any]:
    from restive.cli.numbers import read_number, read_whole

    return {
        **columns, "arms": _names("--arms", arms), "cut": _cut(cut),
        "labels": _names("--labels", labels), "rewards": _rewards(rewards),
        "tick": read_number("--tick", tick) if tick else None,
        "break_after": read_whole("--break-after", break_after, 1) if break_after else None,
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
    raise refusal(option, message, text[:80], remedy) from None
