"""Does something else say more about the next state? Tables of counts, tested with their margins.

A table has a stratum (what the model says is enough to know: the present state, the gap), rows
(what should not matter: the state before, the time, the phase) and columns (the next state). Where
the model is right, rows and columns are independent in each stratum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from restive.base.arrays import Floats, Ints

DRAWS = 999  # tables or paths drawn for a p-value
LEAST = 30  # transitions below which nothing is said
TAIL = 0.01  # share of draws beyond the statistic below which a fitted law says how far out it is
MOST_CELLS = 20_000_000  # of all tables drawn; beyond, fewer are drawn
SMALL = 199
SHUFFLES, MARGINS = "exact shuffles of the path", "tables with the same margins"
SHARPNESS = 0.8  # chance with which a size that is called detectable would have been seen
CELLS_IN_SIGHT = 20  # transitions in a row and in the rest of its stratum, to be shown


@dataclass(frozen=True, eq=False)
class CountTables:
    """counts: (strata, rows, columns)."""

    counts: Ints

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @property
    def degrees(self) -> int:
        """Degrees of freedom; rows and columns that are empty in a stratum do not count."""
        rows = np.maximum((self.counts.sum(axis=2) > 0).sum(axis=1) - 1, 0)
        columns = np.maximum((self.counts.sum(axis=1) > 0).sum(axis=1) - 1, 0)
        return int((rows * columns).sum())

    @property
    def g(self) -> float:
        """G = 2 sum N log(N N.. / (N_r. N_.c)): twice the log-likelihood that the rows add."""
        return float(likelihood_ratio(self.counts))

    def draws(self, number: int, rng: np.random.Generator) -> Floats:
        """G of ``number`` tables drawn with the margins of these."""
        return sum(
            (likelihood_ratio(t[:, None]) for t in self.drawn(number, rng)), np.zeros(number)
        )

    def drawn(self, number: int, rng: np.random.Generator) -> Any:
        """One array (number, rows, columns) for each stratum in which anything can differ."""
        from scipy.stats import random_table

        for table in self.live():
            law = random_table(table.sum(axis=1), table.sum(axis=0), seed=rng)
            yield law.rvs(number, method="patefield").astype(np.int64)

    def live(self) -> list[Ints]:
        """Tables of the strata with two rows and two columns at least; empty columns left out."""
        rows = (self.counts.sum(axis=2) > 0).sum(axis=1)
        kept = []
        for table in self.counts[rows > 1]:
            columns = table.sum(axis=0) > 0
            if columns.sum() > 1:
                kept.append(table[:, columns])
        return kept


@dataclass(frozen=True)
class Reading:
    """What ``tables`` say: a p-value, and how large the thing is.

    p: chance of a G as large where rows do not matter. bits: information that the rows add about
    the next state, per transition, less what they seem to add by chance. share: bits as a part of
    all that is open about the next state. detectable: bits that would have been seen at the 5%
    level with a chance of 80%.
    """

    tables: CountTables
    g: float
    degrees: int
    p: float
    bits: float
    share: float
    detectable: float
    shrinkage: float  # weight that rows deserve against their stratum: 1 - E G / G, at least 0
    method: str

    @property
    def transitions(self) -> int:
        return self.tables.total


def counted(strata: Ints, rows: Ints, columns: Ints, shape: tuple[int, int, int]) -> Ints:
    """Counts (draws, strata, rows, columns) from entries (draws, n) or (1, n)."""
    n_strata, n_rows, n_columns = shape
    cells = (strata * n_rows + rows) * n_columns + columns
    draws, size = len(cells), n_strata * n_rows * n_columns
    flat = (cells + np.arange(draws)[:, None] * size).ravel()
    return np.bincount(flat, minlength=draws * size).reshape(draws, *shape)


def read_tables(
    tables: CountTables,
    rng: np.random.Generator,
    null: Floats | None = None,
    method: str = SHUFFLES,
) -> Reading | None:
    """Test tables by drawing others with their margins, or by a sample ``null`` of G.

    None if there is too little to tell.
    """
    degrees = tables.degrees
    if tables.total < LEAST or degrees == 0:
        return None
    if null is None:
        cells = sum(table.size for table in tables.live())
        null = tables.draws(DRAWS if cells * DRAWS <= MOST_CELLS else SMALL, rng)
        method = MARGINS
    g, expected = tables.g, float(null.mean())
    excess = max(0.0, g - expected)
    nats = excess / (2 * tables.total)
    open_nats = _entropy(tables) or np.inf
    return Reading(tables, g, degrees, chance_of(g, null), float(nats / np.log(2)),
                   float(nats / open_nats), detectable_bits(degrees, tables.total),
                   excess / g if g > 0 else 0.0, method)  # fmt: skip


def chance_of(statistic: float, null: Floats) -> float:
    """p = (1 + draws as large) / (1 + draws); far out, the tail of a gamma law fitted to them."""
    beyond = int((null >= statistic - 1e-9 * (1 + abs(statistic))).sum())
    p = (1 + beyond) / (1 + len(null))
    spread = float(null.var())
    if beyond >= TAIL * len(null) or spread <= 0 or null.mean() <= 0:
        return p
    from scipy.special import gammaincc

    mean = float(null.mean())
    return float(min(p, gammaincc(mean**2 / spread, statistic * mean / spread)))


def detectable_bits(degrees: int, transitions: int) -> float:
    """Bits per transition at which G would exceed its 5% quantile in 80% of such logs."""
    from scipy.special import chdtri, chndtrinc

    shift = float(chndtrinc(chdtri(degrees, 0.05), degrees, 1 - SHARPNESS))
    return shift / (2 * transitions * float(np.log(2)))


def _entropy(tables: CountTables) -> float:
    """Of the next state given its stratum, in nats per transition."""
    counts = tables.counts
    inside = xlogx(counts.sum(axis=(1, 2))).sum() - xlogx(counts.sum(axis=1)).sum()
    return float(inside / max(1, tables.total))


def likelihood_ratio(counts: Ints) -> Floats:
    """G of tables (..., strata, rows, columns)."""
    cells, rows = xlogx(counts).sum(axis=(-3, -2, -1)), xlogx(counts.sum(axis=-1))
    columns, totals = xlogx(counts.sum(axis=-2)), xlogx(counts.sum(axis=(-2, -1)))
    ends = totals.sum(axis=-1) - rows.sum(axis=(-2, -1)) - columns.sum(axis=(-2, -1))
    return np.asarray(2 * (cells + ends))


def xlogx(counts: Any) -> Floats:
    """n log n, 0 for n = 0."""
    values = np.asarray(counts, dtype=np.float64)
    return np.asarray(values * np.log(np.maximum(values, 1.0)))


@dataclass(frozen=True)
class Contrast:
    """The most visible difference: how often ``column`` follows in one row, and in the others."""

    stratum: int
    row: int
    column: int
    inside: float
    outside: float
    n_inside: int
    n_outside: int

    @property
    def difference(self) -> float:
        return self.inside - self.outside


def clearest(tables: CountTables) -> Contrast | None:
    """The row and column that differ most from the rest of their stratum, in standard errors.

    Rows with fewer than 20 transitions, or as few beside them, are not looked at.
    """
    counts = tables.counts.astype(np.float64)
    row, column = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    total = counts.sum(axis=(1, 2), keepdims=True)
    rest = total - row
    pooled = column / np.maximum(total, 1)
    inside, outside = counts / np.maximum(row, 1), (column - counts) / np.maximum(rest, 1)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / np.maximum(row, 1) + 1 / np.maximum(rest, 1)))
    visible = (row >= CELLS_IN_SIGHT) & (rest >= CELLS_IN_SIGHT) & (spread > 0)
    errors = np.where(visible, np.abs(inside - outside) / np.where(spread > 0, spread, 1), -1.0)
    if errors.max(initial=-1.0) < 0:
        return None
    k, r, c = (int(i) for i in np.unravel_index(int(errors.argmax()), errors.shape))
    return Contrast(k, r, c, float(inside[k, r, c]), float(outside[k, r, c]),
                    int(row[k, r, 0]), int(rest[k, r, 0]))  # fmt: skip
