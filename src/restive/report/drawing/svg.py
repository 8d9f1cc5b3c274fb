"""Small pieces of SVG, for pictures inside a page: colours and fonts come from its style sheet."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape


class Box:
    """The smallest rectangle around everything that was put into a picture."""

    def __init__(self) -> None:
        self.left = self.top = float("inf")
        self.right = self.bottom = float("-inf")

    def add(self, x: float, y: float, reach: float = 0.0, rise: float | None = None) -> None:
        """Make room for a point, ``reach`` to either side and ``rise`` above and below."""
        rise = reach if rise is None else rise
        self.left, self.right = min(self.left, x - reach), max(self.right, x + reach)
        self.top, self.bottom = min(self.top, y - rise), max(self.bottom, y + rise)

    def view(self, margin: float = 4.0) -> tuple[float, float, float, float]:
        """x, y, width and height."""
        width, height = self.right - self.left, self.bottom - self.top
        return self.left - margin, self.top - margin, width + 2 * margin, height + 2 * margin


def picture(
    parts: Iterable[str], view: tuple[float, float, float, float], words: str, kind: str = ""
) -> Markup:
    """A whole picture at its natural size; ``words`` are read out in its place."""
    x, y, width, height = (round(value, 1) for value in view)
    return Markup(
        '<svg class="{}" role="img" aria-label="{}" viewBox="{} {} {} {}" '
        'width="{}" height="{}">{}</svg>'
    ).format(kind, words, x, y, width, height, width, height, Markup("".join(parts)))


def label(x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> Markup:
    """Text whose baseline lies at y; the style sheet centres it unless told otherwise."""
    styled = Markup(' class="{}"').format(kind) if kind else ""
    if anchor != "middle":
        styled += Markup(' text-anchor="{}"').format(anchor)
    return Markup('<text x="{}" y="{}"{}>{}</text>').format(
        _tenths(round(10 * x)), _tenths(round(10 * y)), styled, escape(words)
    )


def _tenths(value: int) -> str:
    return f"{value / 10:.7g}"


def number(value: float) -> str:
    """A probability or reward in at most three digits.

    >>> number(0.1 + 0.2), number(1.0), number(0.00012345)
    ('0.3', '1', '0.000123')
    """
    return f"{value:.3g}"


def short(value: float) -> str:
    """A reward between 0 and 1 in as few letters as fit into a circle.

    >>> short(0.00855), short(0.5), short(1.0), short(0.0)
    ('0.009', '0.5', '1', '0')
    """
    return f"{value:.3f}".rstrip("0").rstrip(".")
