"""Words for values that several rooms show: guesses at a name, sizes, durations, counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from difflib import get_close_matches
from math import floor, isinf, log10
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how spreadsheets know one
SECONDS_PER_YEAR = 31_556_952


def guess(word: str, known: Iterable[str], prefix: str = "") -> str:
    """What was probably meant, as the first sentence of a remedy; empty if nothing is close.

    >>> guess("myopik", ["myopic", "optimal"])
    'Did you mean myopic? '
    """
    close = get_close_matches(word, list(known), n=1)
    return f"Did you mean {prefix}{close[0]}? " if close else ""


def first_line(error: BaseException, most: int | None = 200) -> str:
    """What an exception says first, in so many letters, or its kind if it says nothing.

    >>> first_line(ValueError("no\\nand more")), first_line(KeyboardInterrupt())
    ('no', 'KeyboardInterrupt')
    """
    return (str(error) or type(error).__name__).splitlines()[0][:most]


def kind_and_line(error: BaseException) -> str:
    """Its kind, and what it says first.

    >>> kind_and_line(ValueError("no")), kind_and_line(KeyboardInterrupt())
    ('ValueError: no', 'KeyboardInterrupt')
    """
    kind, words = type(error).__name__, first_line(error)
    return f"{kind}: {words}" if words != kind else kind


def clauses(text: str) -> list[str]:
    """What semicolons part, each by itself.

    >>> clauses("rewards are learned; ages are capped")
    ['rewards are learned', 'ages are capped']
    """
    return [part for part in text.split("; ") if part]


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *head, end = words
    return f"{', '.join(head)} {last} {end}" if head else end


def shown(value: object) -> str:
    """A value as it would stand in a file, cut to fit a line."""
    try:
        text = json.dumps(value, default=str, ensure_ascii=False)
    except ValueError:  # an integer too long for Python to print
        text = "a number too long to show"
    return text if len(text) <= 80 else text[:77] + "..."


def python_text(value: object) -> str:
    """A value as it would stand in Python, cut to fit a line.

    >>> python_text(None), python_text([1, "two"])
    ('None', "[1, 'two']")
    """
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def visible(text: str) -> str:
    """The text with escapes for what a terminal would obey or hide, such as ESC and right-to-left.

    >>> visible("red \\x1b[31m")
    'red \\\\x1b[31m'
    """
    if text.isprintable():
        return text
    kept = (c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    return "".join(kept)


def formula_free(value: Any) -> Any:
    """A cell of a CSV file that no spreadsheet takes for a formula: a quote before its sign.

    >>> formula_free("=1+1"), formula_free("plain"), formula_free(-1.5)
    ("'=1+1", 'plain', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def count_text(count: int) -> str:
    """A whole number in words that stay short: 12,345 or "about 4e205".

    >>> count_text(12_345), count_text(4 * 10**205)
    ('12,345', 'about 4e205')
    """
    if count < 10**12:
        return f"{count:,}"
    return "about " + f"{Decimal(count):.0e}".replace("e+", "e")


def size_text(count: float) -> str:
    """Bytes in words.

    >>> size_text(5_300_000), size_text(12)
    ('5.3 MB', '12 bytes')
    """
    if count >= 1e21:
        return f"{Decimal(count).scaleb(-15):.0e} PB".replace("e+", "e")
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if count < 1000 or unit == "PB":
            break
        count /= 1000
    return f"{count:,.0f} {unit}" if count >= 10 or unit == "bytes" else f"{count:.1f} {unit}"


def duration_text(seconds: float) -> str:
    """A time span in words.

    >>> duration_text(0.5), duration_text(400), duration_text(1e12)
    ('0.50 s', '7 minutes', '31,689 years')
    """
    if isinf(seconds):
        return "for ever"
    if seconds < 0.01:
        return "less than 0.01 s"
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "minutes"), (172800, 3600, "hours")):
        if seconds < limit:
            digits = 2 if seconds < 10 else 0
            return f"{seconds / unit:.{digits}f} {name}"
    if seconds < 3e9:
        return f"{seconds / 86400:,.0f} days"
    years = seconds / SECONDS_PER_YEAR
    return f"{years:,.0f} years" if years < 1e5 else f"{years:.0e} years"


def outward(lower: float, upper: float, most: int = 12) -> tuple[str, str]:
    """Both ends of an interval, rounded outwards so that what is printed is still certain.

    most: decimals at most.

    >>> outward(1 / 3, 2 / 3)
    ('0.3333', '0.6667')
    """
    digits = min(most, max(4, 1 - floor(log10(max(upper - lower, 1e-12)))))
    step = Decimal(1).scaleb(-digits)
    low = Decimal(lower).quantize(step, ROUND_FLOOR)
    high = Decimal(upper).quantize(step, ROUND_CEILING)
    return f"{low:f}", f"{high:f}"
