"""How much of the past matters: order 1 against 2 and 3.

Order k against order m: given the last k states, do the m - k before them say anything about the
next? For a trace without gaps the null law of G is exact: all paths with the same counts of (k +
1)-tuples are equally likely under order k (Besag and Mondal 2013), so they are drawn. For logs with
gaps, windows of m + 1 looks at equal distances are used (at distance g a chain of order 1 is one of
order 1 too), and tables are drawn with the margins of those seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from restive.base.arrays import Floats, Ints
from restive.data.tables import (
    DRAWS,
    LEAST,
    MOST_CELLS,
    CountTables,
    Reading,
    counted,
    likelihood_ratio,
    read_tables,
)

if TYPE_CHECKING:
    from restive.data.traces import ArmTrace


EXACT = 2_000  # observations up to which paths are shuffled
PIECE = 50  # observations in a piece, on average, for shuffles within pieces to be worth it
STRATUM = 20  # windows at one distance, below which they are left out
LARGEST = 50_000  # cells of all tables beyond which no order is tested


@dataclass(frozen=True, eq=False)
class Windows:
    """states: (n, m + 1) looks in a row at equal distances; gaps: (n,) the distance."""

    states: Ints
    gaps: Ints


@dataclass(frozen=True)
class OrderTest:
    """Whether a chain of order ``against`` fits better than one of a lower order.

    reading: None if the log holds too little to tell; note then says why. gaps: distances of the
    looks that were used, with the number of windows at each.
    """

    against: int
    reading: Reading | None
    gaps: tuple[tuple[int, int], ...]
    note: str = ""


def find_windows(trace: ArmTrace, length: int) -> Windows:
    """All windows of ``length`` > 1 looks at equal distances, none across pieces."""
    n = len(trace.states) - length + 1
    if n < 1:
        return Windows(np.empty((0, length), dtype=np.int64), np.empty(0, dtype=np.int64))
    steps = np.diff(trace.times)
    same = np.diff(trace.pieces) == 0
    gaps = steps[:n]
    fits = np.ones(n, dtype=bool)
    for k in range(length - 1):
        fits &= same[k : k + n] & (steps[k : k + n] == gaps)
    places = np.flatnonzero(fits)[:, None] + np.arange(length)
    return Windows(trace.states[places], gaps[fits])


def shuffled(trace: ArmTrace) -> bool:
    """Whether the null law is drawn by shuffling the path: it is short, and every step was seen."""
    n, pieces = len(trace.states), len(np.unique(trace.pieces))
    steps = np.diff(trace.times)[np.diff(trace.pieces) == 0]
    return n <= EXACT and bool((steps == 1).all()) and n >= PIECE * pieces


def order_test(
    trace: ArmTrace, order: int, against: int, rng: np.random.Generator, draws: int = DRAWS
) -> OrderTest:
    """Test order ``order`` against the larger order ``against``."""
    size = len(trace.labels)
    windows = find_windows(trace, against + 1)
    distances, counts = np.unique(windows.gaps, return_counts=True)
    enough = counts >= STRATUM
    gaps = tuple(zip(distances[enough].tolist(), counts[enough].tolist(), strict=True))
    if not gaps:
        note = f"no {STRATUM} windows of {against + 1} looks at equal distances"
        return OrderTest(against, None, gaps, note)
    if size ** (against + 1) * len(gaps) > LARGEST:
        note = f"{size} states have too many tuples of {against + 1} to count"
        return OrderTest(against, None, gaps, note)
    kept = np.isin(windows.gaps, distances[enough])
    strata = np.searchsorted(distances[enough], windows.gaps[kept])
    tables = CountTables(_counts(windows.states[None, kept], strata, order, size, len(gaps))[0])
    null = None
    if shuffled(trace) and tables.counts.size * draws <= MOST_CELLS:
        null = _shuffles(trace, order, against, rng, draws)
    reading = read_tables(tables, rng, null)
    note = "" if reading else f"fewer than {LEAST} windows that could differ"
    return OrderTest(against, reading, gaps, note)


def _counts(states: Ints, gaps: Ints, order: int, size: int, n_gaps: int = 1) -> Ints:
    """Counts of windows (draws, n, m + 1), gaps (n,) numbered.

    Strata: gap and last ``order`` states; rows: those before; columns: the next.
    """
    before = states.shape[-1] - 1 - order
    present = gaps * size**order + _coded(states[..., before:-1], size)
    rows = _coded(states[..., :before], size)
    shape = (n_gaps * size**order, size**before, size)
    return counted(present, rows, states[..., -1], shape)


def _coded(states: Ints, size: int) -> Ints:
    """Tuples (..., k) as numbers, the oldest state first."""
    code = np.zeros(states.shape[:-1], dtype=np.int64)
    for k in range(states.shape[-1]):
        code = code * size + states[..., k]
    return code


def _shuffles(
    trace: ArmTrace, order: int, against: int, rng: np.random.Generator, draws: int
) -> Floats:
    """G of paths drawn with the same counts of (order + 1)-tuples in every piece."""
    size = len(trace.labels)
    starts = np.flatnonzero(np.diff(trace.pieces, prepend=trace.pieces[0] - 1))
    counts: Ints | int = 0
    for piece in np.split(trace.states, starts[1:]):
        if len(piece) <= against:
            continue
        code = _coded(sliding_window_view(piece, order), size)
        drawn = shuffled_paths(code, size**order, rng, draws)
        first = np.broadcast_to(piece[: order - 1], (draws, order - 1))
        paths = np.concatenate([first, drawn % size], axis=1)
        windows = sliding_window_view(paths, against + 1, axis=1)
        counts = counts + _counts(windows, np.zeros(1, dtype=np.int64), order, size)
    return likelihood_ratio(np.asarray(counts))


def shuffled_paths(path: Ints, size: int, rng: np.random.Generator, draws: int) -> Ints:
    """Paths (draws, n) with the same transitions in another order."""
    from restive._kernels.shuffles import shuffle_paths

    drawn = np.empty((draws, len(path)), dtype=np.int64)
    shuffle_paths(path, size, rng, drawn)
    return drawn
