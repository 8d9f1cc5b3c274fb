"""Does the chain change: in time, at one moment, or with a period?

Rows of the tables are stretches of time or phases of a period; strata are the present state and the
gap to the next look, since the next state depends on both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.data.orders import shuffled, shuffled_paths
from restive.data.tables import (
    DRAWS,
    LEAST,
    MARGINS,
    MOST_CELLS,
    SHUFFLES,
    CountTables,
    Reading,
    chance_of,
    counted,
    likelihood_ratio,
    read_tables,
    xlogx,
)

if TYPE_CHECKING:
    from restive.data.traces import ArmTrace


BINS = 32  # stretches with equally many transitions; a jump may lie between any two
SEGMENTS = 4
PHASES = 8
EDGE = 3  # stretches at either end that no jump is looked for in
MOSTLY = 0.85  # of the change over segments that a jump explains; a steady drift: 0.8
TOO_FEW = f"fewer than {LEAST} repeated transitions"  # where there is no reading
STRATUM = 10  # transitions of one state at one gap, below which they are left out


@dataclass(frozen=True, eq=False)
class GapMoves:
    """From one look to the next: states (n,), gaps (n,), next states (n,), times of the latter."""

    states: Ints
    gaps: Ints
    after: Ints
    times: Ints
    size: int

    @property
    def strata(self) -> Ints:
        """State and gap as one number; -1 for those too rare to compare anything within."""
        code = self.gaps * self.size + self.states
        _, places, totals = np.unique(code, return_inverse=True, return_counts=True)
        often = totals >= STRATUM
        return np.asarray(np.where(often, np.cumsum(often) - 1, -1)[places])


@dataclass(frozen=True)
class ChangeTest:
    """Change over segments of time and at the most visible moment, or over phases of a period.

    reading: None if there is too little to tell. p: of both tests together.
    jump: time of the first look after the most visible jump; None if the change is gradual.
    """

    reading: Reading | None
    p: float | None
    jump: int | None = None


def find_moves(trace: ArmTrace) -> GapMoves:
    """All moves within pieces, in the order of their times."""
    seen_at = trace.times[1:][np.diff(trace.pieces) == 0]
    return GapMoves(*trace.moves(), seen_at, trace.n_states)


def change_test(trace: ArmTrace, rng: np.random.Generator, draws: int = DRAWS) -> ChangeTest:
    """Test four segments of time, and every moment between 32 stretches for a jump."""
    moves = find_moves(trace)
    bins = np.arange(len(moves.states)) * BINS // max(1, len(moves.states))
    fine = _counts(moves, bins, BINS)
    segments = CountTables(_merged(fine))
    if segments.total < LEAST or segments.degrees == 0:
        return ChangeTest(None, None)
    null = _unchanging(trace, moves, fine, rng, draws)
    method = SHUFFLES if _exact(trace, fine, draws) else MARGINS
    reading = read_tables(segments, rng, null[0], method)
    assert reading is not None
    scan = jump_scan(fine[None])[0]
    place = int(scan.argmax()) + EDGE
    p = min(1.0, 2 * min(reading.p, chance_of(float(scan.max()), null[1])))
    explained = float(scan.max() - null[1].mean()) / max(1e-9, reading.g - float(null[0].mean()))
    at = int(moves.times[np.searchsorted(bins, place)]) if explained >= MOSTLY else None
    return ChangeTest(reading, p, at)


def period_test(
    trace: ArmTrace, period: float, rng: np.random.Generator, draws: int = DRAWS
) -> ChangeTest:
    """Test whether transitions depend on the phase of a period, in steps."""
    moves = find_moves(trace)
    rows, phases = phase_of(moves.times, period), n_phases(period)
    tables, null = CountTables(_counts(moves, rows, phases)), None
    if _exact(trace, tables.counts, draws):
        null = likelihood_ratio(_shuffled_counts(moves, rows, phases, rng, draws))
    reading = read_tables(tables, rng, null)
    return ChangeTest(reading, reading.p if reading else None)


def n_phases(period: float) -> int:
    """How many phases of a period are told apart."""
    return int(min(PHASES, max(2, np.floor(period))))


def phase_of(times: Ints, period: float) -> Ints:
    """The phase, from 0 on, that each time lies in."""
    phases = n_phases(period)
    return np.asarray((times % period) / period * phases).astype(np.int64).clip(0, phases - 1)


def jump_scan(counts: Ints) -> Floats:
    """G of two parts, for each moment of a jump: counts (n, strata, BINS, columns) -> (n, moments).

    Twice the gain of log-likelihood when the rows before and after have laws of their own.
    """
    before = np.cumsum(counts, axis=2)[:, :, EDGE - 1 : BINS - EDGE]
    whole = counts.sum(axis=2, keepdims=True)
    gain = _likelihood(before) + _likelihood(whole - before) - _likelihood(whole)
    return np.asarray(2 * gain.sum(axis=1))


def _likelihood(counts: Any) -> Floats:
    """Largest log-likelihood of outcomes (..., columns); sums over a short last axis are slow."""
    columns = np.moveaxis(counts, -1, 0)
    return np.asarray(sum(map(xlogx, columns)) - xlogx(sum(columns)))


def _counts(moves: GapMoves, rows: Ints, n_rows: int) -> Ints:
    """(strata, rows, columns); moves from rare strata are left out."""
    strata = moves.strata
    often = strata >= 0
    shape = (int(strata.max(initial=-1)) + 1, n_rows, moves.size)
    counts = counted(strata[None, often], rows[None, often], moves.after[None, often], shape)
    return np.asarray(counts[0])


def _merged(fine: Ints) -> Ints:
    """Stretches joined to segments: (..., BINS, columns) -> (..., SEGMENTS, columns)."""
    *strata, _, columns = fine.shape
    parts = fine.reshape(*strata, SEGMENTS, BINS // SEGMENTS, columns)
    return np.asarray(parts.sum(axis=-2))


def _exact(trace: ArmTrace, counts: Ints, draws: int) -> bool:
    """Whether paths are shuffled.

    Shuffling pieces would leave the change from one to the next as it is, so it takes one piece.
    """
    alone = len(np.unique(trace.pieces)) == 1
    return alone and shuffled(trace) and 0 < counts.size * draws <= MOST_CELLS


def _unchanging(
    trace: ArmTrace, moves: GapMoves, fine: Ints, rng: np.random.Generator, draws: int
) -> tuple[Floats, Floats]:
    """G over segments and the largest over jumps, of draws where nothing changes."""
    if _exact(trace, fine, draws):
        bins = np.arange(len(moves.states)) * BINS // len(moves.states)
        counts = _shuffled_counts(moves, bins, BINS, rng, draws)
        return likelihood_ratio(_merged(counts)), jump_scan(counts).max(axis=1)
    segments, jumps = np.zeros(draws), np.zeros((draws, BINS - 2 * EDGE + 1))
    for table in CountTables(fine).drawn(draws, rng):
        segments += likelihood_ratio(_merged(table)[:, None])
        jumps += jump_scan(table[:, None])
    return segments, jumps.max(axis=1)


def _shuffled_counts(
    moves: GapMoves, rows: Ints, n_rows: int, rng: np.random.Generator, draws: int
) -> Ints:
    """(draws, states, rows, columns) of paths with the same transitions in another order."""
    path = np.concatenate([moves.states, moves.after[-1:]])
    drawn = shuffled_paths(path, moves.size, rng, draws)
    often = np.bincount(moves.states, minlength=moves.size) >= STRATUM
    counts = counted(drawn[:, :-1], rows[None], drawn[:, 1:], (moves.size, n_rows, moves.size))
    return counts[:, often]
