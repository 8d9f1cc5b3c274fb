"""Numbers given as options, read exactly and refused in words."""

from __future__ import annotations

from decimal import Decimal

from restive.base.errors import refusal
from restive.base.numerals import LARGEST, decimal_in, whole_in


def read_whole(option: str, text: str, low: int = 0, high: int | None = None) -> int:
    """A whole number, written 1000, 1_000 or 1e3.

    >>> read_whole("--runs", "2e1"), read_whole("--seed", "1_000")
    (20, 1000)
    """
    number = whole_in(text, low, LARGEST if high is None else high)
    if number is None:
        reach = "on" if high is None else f"to {high:,}"
        remedy = f"Give a whole number from {low} {reach}."
        raise refusal(option, "not a number that this option takes", text[:80], remedy)
    return number


def read_number(option: str, text: str) -> float:
    """A number; what it may be is for the function that gets it to say."""
    number = decimal_in(text)
    if number is None:
        raise refusal(option, "not a number", text[:80], "Give a number, such as 0.5 or 1e-3.")
    return float(number)


def read_horizon(text: str) -> int:
    """A number of steps, written 1000000, 1_000_000 or 1e6.

    >>> read_horizon("1e6"), read_horizon("1_000")
    (1000000, 1000)
    """
    steps = whole_in(text, 1)
    if steps is None:
        remedy = "Give a whole number of steps from 1 to 1e300, such as 1e6."
        raise refusal("--horizon", "not a number of steps", text[:80], remedy)
    return steps


def read_probability(option: str, text: str) -> float:
    """A probability above 0 and below 1."""
    chance = decimal_in(text)
    if chance is None or not 0 < float(chance) < 1:
        remedy = "Give a probability above 0 and below 1, such as 0.05."
        raise refusal(option, "not a probability", text[:80], remedy)
    return float(chance)


def read_caps(text: str, n_arms: int) -> list[int] | None:
    """One cap for all arms or one each, separated by commas; None if nothing is given.

    >>> read_caps("40", 2), read_caps("1e2,1", 2)
    ([40, 40], [100, 1])
    """
    if not text:
        return None
    words = text.split(",")
    caps = [whole_in(word, 1) for word in words]
    numbers = [cap for cap in caps if cap is not None]
    if len(numbers) < len(caps) or len(numbers) not in (1, n_arms):
        remedy = f"Give one whole number from 1 on, or {n_arms} separated by commas."
        raise refusal("--caps", "not ages to tell apart", text[:80], remedy)
    return numbers * n_arms if len(numbers) == 1 else numbers


def read_memory(text: str) -> int | None:
    """A number of bytes, with K, M, G or T for powers of 1000; None if nothing is given.

    >>> read_memory("8G"), read_memory("1.5K")
    (8000000000, 1500)
    """
    if not text:
        return None
    unit = "KMGT".find(text[-1].upper()) + 1
    size = decimal_in(text[:-1] if unit else text)
    if size is None or not 0 < size < Decimal("1e18"):
        remedy = "Give a size such as 500M, 8G or a number of bytes."
        raise refusal("--memory", "not a size", text[:80], remedy)
    return int(size * 1000**unit)
