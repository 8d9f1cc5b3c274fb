"""The options of a reading, checked before anything is read: a file may give them anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from itertools import pairwise
from math import isfinite
from numbers import Integral, Real
from typing import Any

from restive.base.checks import require

MOST_STEPS = 2**62  # of a gap


def check_reading(
    columns: Mapping[str, Any], lists: Mapping[str, Any], rewards: Any, cut: Any, tick: Any,
    break_after: Any,
) -> None:  # fmt: skip
    """Raise ProblemError for the first option that is none.

    columns: names of columns by what they hold. lists: lists of names. None stands for the default.
    """
    for key, name in columns.items():
        require(name is None or isinstance(name, str), key, name, "Give the name of a column.")
    for key, names in lists.items():
        remedy = "Give a list of names."
        require(names is None or _names(names), key, names, remedy)
    remedy = "Give a number for each state: { busy = 0, free = 1 }."
    require(rewards is None or _worth(rewards), "rewards", rewards, remedy)
    remedy = "Give the length of a step, above 0."
    require(tick is None or (_number(tick) and tick > 0), "tick", tick, remedy)
    remedy = "Give a number of steps from 1 on."
    steps = break_after is None or (_whole(break_after) and 1 <= break_after <= MOST_STEPS)
    require(steps, "break_after", break_after, remedy)
    remedy = 'Give thresholds in increasing order, a number of states from 2 on, or "fit".'
    require(_cut(cut), "cut", cut, remedy)


def _number(value: Any) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool)
    try:
        return real and isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _names(value: Any) -> bool:
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Collection):
        return False
    return len(value) > 0 and all(isinstance(name, str) for name in value)


def _worth(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return all(isinstance(name, str) and _number(worth) for name, worth in value.items())


def _cut(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value == "fit"):
        return True
    if _whole(value):
        return 2 <= int(value) <= 64
    if isinstance(value, str | Mapping | Real):
        return False
    try:
        levels = list(value)
    except TypeError:
        return False
    return bool(levels) and all(map(_number, levels)) and all(a < b for a, b in pairwise(levels))
