"""Numbers given as options, read exactly and refused in words."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from restive.errors import Fault, ProblemError

__all__ = ["read_horizon", "read_probability"]

LONGEST = Decimal("1e300")  # beyond, formulas leave the range of floats


def read_horizon(text: str, option: str = "--horizon") -> int:
    """A number of steps, written 1000000, 1_000_000 or 1e6.

    >>> read_horizon("1e6"), read_horizon("1_000")
    (1000000, 1000)
    """
    steps = _read(text)
    # the size is looked at first: 1e999999999 would fill the memory as an integer
    if steps is None or not 1 <= steps <= LONGEST or steps != int(steps):
        remedy = "Give a whole number of steps from 1 to 1e300, such as 1e6."
        raise ProblemError([Fault(option, "not a number of steps", text[:80], remedy)])
    return int(steps)


def read_probability(option: str, text: str) -> float:
    """A probability above 0 and below 1."""
    chance = _read(text)
    if chance is None or not 0 < float(chance) < 1:
        remedy = "Give a probability above 0 and below 1, such as 0.05."
        raise ProblemError([Fault(option, "not a probability", text[:80], remedy)])
    return float(chance)


def _read(text: str) -> Decimal | None:
    """The number, or None if it is none or not finite."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
