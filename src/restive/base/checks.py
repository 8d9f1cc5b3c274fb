"""Checks of arguments that several rooms take: each names the argument, its value, the remedy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard

from restive.base.errors import Fault, refusal
from restive.base.words import shown


def require(holds: bool, name: str, value: object, remedy: str) -> None:
    """Raise ProblemError with the argument's name, its value and the remedy unless ``holds``."""
    if not holds:
        raise refusal(name, "not allowed", repr(value)[:80], remedy)


def is_number(value: Any) -> bool:
    """Whether it is a finite number: of Python or NumPy, but neither True nor False."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def is_whole(value: Any, low: float = -math.inf, high: float = math.inf) -> TypeGuard[int]:
    """Whether it is an integer within these ends: of Python or NumPy, neither True nor False."""
    return isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high


def require_delta(delta: float) -> None:
    """Check that delta is a failure probability."""
    remedy = "Give a probability between 0 and 1, such as 0.05."
    require(is_number(delta) and 0 < delta < 1, "delta", delta, remedy)


def require_arms(n_arms: int) -> None:
    """Refuse a number of arms that is none."""
    if not is_whole(n_arms, 1):
        remedy = "Give the number of arms: a whole number from 1 on."
        raise refusal("n_arms", "not a number of arms", repr(n_arms)[:80], remedy)


def require_horizon(horizon: Any) -> int:
    """The number of steps as an integer, checked."""
    remedy = "Give a whole number of steps from 1 on."
    whole = is_number(horizon) and horizon == math.floor(horizon)
    require(whole and horizon >= 1, "horizon", horizon, remedy)
    return int(horizon)


def name_faults(names: Sequence[str], place: str, what: str, remedy: str) -> list[Fault]:
    """Faults of those that are blank or were given before; place: of one, {} for its number."""
    faults = []
    for k, name in enumerate(names):
        blank = not any(c.isprintable() and not c.isspace() for c in name)
        if blank or name in names[:k]:
            message = f"blank {what}" if blank else f"{what} used twice"
            value = ascii(name) if blank else shown(name)
            faults.append(Fault(place.format(k), message, value, remedy))
    return faults
