"""Intervals by profile likelihood: all values of an entry that the data do not contradict."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import chi2

from restive.base.arrays import Floats
from restive.estimation.gap_counts import GapCounts
from restive.estimation.likelihood import climb

GRID = np.concatenate([[1e-6, 0.002, 0.01], np.arange(0.03, 0.98, 0.047), [0.99, 0.998, 1 - 1e-6]])
ROUNDS = 60  # of the climb at each value
HALVINGS = 7


def profile(
    counts: GapCounts, chain: Floats, entry: tuple[int, int], others: Sequence[Floats],
    level: float, prior: float = 0.0,
) -> tuple[float, float]:  # fmt: skip
    """Smallest and largest value of an entry whose best chain is likely enough.

    chain: where the likelihood is largest. others: further chains to start from, since with an
    entry held the best may be far away. Likely enough is within chi2(level) / 2 nats of the best;
    the outermost such values are taken, so that twins are inside both.
    """
    best = climb(counts, np.maximum(chain, 1e-9), prior, ROUNDS).value
    need = best - 0.5 * float(chi2.ppf(level, 1))

    def likely(value: float) -> bool:
        return any(
            _height(counts, start, entry, value, prior) >= need for start in (chain, *others)
        )

    peak = float(chain[entry])
    middle = int(np.searchsorted(GRID, peak))
    return _outermost(GRID[:middle], peak, likely), _outermost(GRID[:middle:-1], peak, likely)


def _height(
    counts: GapCounts, start: Floats, entry: tuple[int, int], value: float, prior: float
) -> float:
    """The largest likelihood with an entry held."""
    s, e = entry
    held = np.maximum(np.array(start), 1e-9)
    rest = np.delete(held[s], e)
    held[s] = np.insert(rest * (1 - value) / rest.sum(), e, value)
    return climb(counts, held, prior, ROUNDS, entry, value).value


def _outermost(values: Floats, peak: float, likely: Callable[[float], bool]) -> float:
    """The first of ``values``, from outside to the peak, that is likely, made precise."""
    outside: float | None = None
    inside = peak
    for value in values.tolist():
        if likely(value):
            inside = value
            break
        outside = value
    if outside is None:  # even the border is likely
        return round(inside) if len(values) else peak
    for _ in range(HALVINGS):
        middle = 0.5 * (outside + inside)
        if likely(middle):
            inside = middle
        else:
            outside = middle
    return outside
