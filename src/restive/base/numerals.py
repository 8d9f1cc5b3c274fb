"""Numbers written as text, read exactly: 1000, 1_000 and 1e3 are one whole number."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

LARGEST = Decimal("1e300")  # beyond, formulas leave the range of floats


def decimal_in(text: str) -> Decimal | None:
    """The number, or None if it is none or not finite."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def whole_in(text: str, low: Decimal | int = -LARGEST, high: Decimal | int = LARGEST) -> int | None:
    """The whole number, or None if it is none or outside of its range.

    >>> whole_in("1_000"), whole_in("1e6"), whole_in("0.5"), whole_in("many")
    (1000, 1000000, None, None)
    """
    number = decimal_in(text)
    # the size is looked at first: 1e999999999 would fill the memory as an integer
    if number is None or not low <= number <= high or number != int(number):
        return None
    return int(number)
