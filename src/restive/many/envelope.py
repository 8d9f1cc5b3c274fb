"""What a few certified values of a convex function say about it everywhere.

G(x), the best gain of a block where each of m pulls a step that is not used pays x, is convex in x,
its slope is the number of those pulls a step and so lies in [0, m], G(0) is the gain of the block
alone, and from the block's largest reward on G(x) = m x.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """Bounds of G at one price."""

    price: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Envelope:
    """Bounds of G at every price from bounds at some; ``points`` include both ends."""

    points: tuple[Known, ...]
    pulls: int = 1

    @classmethod
    def of(
        cls, alone: tuple[float, float], largest: float, points: list[Known], pulls: int = 1
    ) -> Envelope:
        """alone: bounds of the block's own gain, the least of G; largest: its largest reward."""
        inner = [point for point in points if 0 < point.price < largest]
        least = min([alone[1], *(point.upper for point in inner)])
        ends = [Known(0.0, alone[0], least), Known(largest, pulls * largest, pulls * largest)]
        return cls(tuple(sorted([*ends, *inner], key=lambda point: point.price)), pulls)

    def upper(self, price: float) -> tuple[float, float]:
        """Least chord above ``price`` and its slope: G is convex, so chords lie above it."""
        last = self.points[-1]
        if price >= last.price:
            return self.pulls * price, float(self.pulls)
        hull: list[Known] = []
        for point in self.points:
            while len(hull) > 1 and _slope(hull[-2], point) <= _slope(hull[-2], hull[-1]):
                hull.pop()
            hull.append(point)
        right = next(k for k, point in enumerate(hull) if point.price > price)
        slope = _slope(hull[right - 1], hull[right])
        return hull[right - 1].upper + slope * (price - hull[right - 1].price), slope

    def lower(self, price: float) -> float:
        """The most that G is known to be at least.

        Lines: slope 0 to the right of a point, slope m to its left, the prolonged chords through
        two points, and m x itself.
        """
        least = max(self.pulls * price, self.points[0].lower)
        for k, point in enumerate(self.points):
            away = price - point.price
            least = max(least, point.lower + self.pulls * min(away, 0.0))
            for other in self.points[k + 1 :] if away < 0 else self.points[:k]:
                if other.price != point.price:
                    rise = other.upper - point.lower if away < 0 else point.lower - other.upper
                    slope = min(max(rise / abs(other.price - point.price), 0.0), self.pulls)
                    least = max(least, point.lower + slope * away)
        return least


def _slope(first: Known, second: Known) -> float:
    return (second.upper - first.upper) / max(second.price - first.price, 1e-300)
