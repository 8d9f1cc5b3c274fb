"""The likelihood of a chain seen at gaps: its maxima, its curvature there, and its profiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.estimation.gap_counts import GapCounts

ROUNDS = 500  # of accelerated EM, three likelihoods each
CLOSE = 1e-9  # largest move of a step of EM at which it has arrived
NUDGE = 1e-4  # of a logarithm, to differentiate slopes; their error is of the order of its square
GRID = np.concatenate([[1e-6, 0.002, 0.01], np.arange(0.03, 0.98, 0.047), [0.99, 0.998, 1 - 1e-6]])
PROFILE_ROUNDS = 60  # of the climb at each value of a profile
HALVINGS = 7


@dataclass(frozen=True, eq=False)
class Climb:
    """A maximum of the likelihood; arrived: whether EM had stopped moving."""

    chain: Floats
    value: float  # log likelihood, with the prior
    arrived: bool
    evaluations: int


def climb(
    counts: GapCounts, start: Floats, prior: float = 0.0, rounds: int = ROUNDS,
    fixed: tuple[int, int] | None = None, value: float = 0.0,
) -> Climb:  # fmt: skip
    """From ``start`` up to a maximum of sum N(s, n, s') log P^n(s, s') + prior sum log P(s, s').

    fixed: an entry of P that is held at ``value``.
    """
    if counts.every_step and fixed is None:
        return _counted(counts, prior)
    from restive._kernels import gap_likelihood

    chain = np.array(start, dtype=np.float64)
    place = np.array(fixed or (-1, -1), dtype=np.int64)
    best, largest, taken = gap_likelihood.climb(
        chain, *counts.program, float(prior), place, float(value), rounds, CLOSE
    )
    return Climb(chain, float(best), bool(largest <= CLOSE), int(taken))


def _counted(counts: GapCounts, prior: float) -> Climb:
    """Every step was seen: shares of what followed each state."""
    moves = counts.counts[0] + prior
    rows = moves.sum(axis=1, keepdims=True)
    even = np.full_like(moves, 1.0 / len(moves))
    chain = np.where(rows > 0, moves / np.where(rows > 0, rows, 1.0), even)
    value = log_likelihood(counts, chain)
    if prior > 0:
        value += prior * float(np.log(chain).sum())
    return Climb(chain, value, True, 1)


def moves_expected(counts: GapCounts, chain: Floats) -> tuple[float, Floats]:
    """log likelihood of a chain, and the expected moves (S, S) of all steps, unseen or not."""
    if counts.every_step:
        seen = counts.counts[0]
        with np.errstate(divide="ignore"):
            return float((seen[seen > 0] * np.log(chain[seen > 0])).sum()), seen.copy()
    from restive._kernels import gap_likelihood

    left, right, table = counts.program
    shape = (len(left), *chain.shape)
    moves = np.zeros(chain.shape)
    value = gap_likelihood.expected_moves(
        np.ascontiguousarray(chain), left, right, table, np.empty(shape), np.empty(shape), moves
    )
    return float(value), moves


def log_likelihood(counts: GapCounts, chain: Floats) -> float:
    """sum over s, n, s' of N(s, n, s') log P^n(s, s').

    >>> seen = GapCounts.of_moves(np.array([0]), np.array([3]), np.array([1]), 2)
    >>> round(log_likelihood(seen, np.full((2, 2), 0.5)), 6)
    -0.693147
    """
    return moves_expected(counts, chain)[0]


def information(counts: GapCounts, chain: Floats, prior: float = 0.0) -> Floats:
    """Observed information in the logarithms of all entries of each row but one.

    Shape (S (S - 1), S (S - 1)). The one is the largest of its row. All entries of ``chain`` must
    be positive. The slope in the logarithms is the expected moves less the share of its row:
    M(s, s') - P(s, s') M(s).
    """
    size = len(chain)
    free = _free(chain)
    result = np.empty((size * (size - 1),) * 2)
    entries = [(s, e) for s in range(size) for e in free[s]]
    for column, (s, e) in enumerate(entries):
        ends = []
        for sign in (1.0, -1.0):
            moved = chain.copy()
            moved[s, e] *= np.exp(sign * NUDGE)
            moved[s] /= moved[s].sum()
            moves = moves_expected(counts, moved)[1] + prior
            slope = moves - moved * moves.sum(axis=1, keepdims=True)
            ends.append(np.take_along_axis(slope, free, axis=1).ravel())
        result[:, column] = (ends[1] - ends[0]) / (2 * NUDGE)
    return 0.5 * (result + result.T)


def _free(chain: Floats) -> Ints:
    """Columns of each row but that of its largest entry, (S, S - 1)."""
    size = len(chain)
    largest = chain.argmax(axis=1)
    return np.array([[e for e in range(size) if e != largest[s]] for s in range(size)]).reshape(
        size, size - 1
    )


def entry_variances(counts: GapCounts, chain: Floats, prior: float = 0.0) -> Floats:
    """Variances (S, S) of the entries of P, by the curvature of the likelihood at ``chain``.

    Directions in which the likelihood does not bend have the variance inf.
    """
    size = len(chain)
    matrix = information(counts, chain, prior)
    values, vectors = np.linalg.eigh(matrix)
    floor = 1e-10 * max(1.0, float(values[-1]))
    spread = np.where(values > floor, 1.0 / np.maximum(values, floor), np.inf)
    free, variances = _free(chain), np.zeros((size, size))
    for s in range(size):
        rows = slice(s * (size - 1), (s + 1) * (size - 1))
        for e in range(size):
            slope = chain[s, e] * ((free[s] == e) - chain[s, free[s]])
            weights = (slope @ vectors[rows]) ** 2
            variances[s, e] = (weights[weights > 0] * spread[weights > 0]).sum()
    return variances


def profile(
    counts: GapCounts, chain: Floats, entry: tuple[int, int], others: Sequence[Floats],
    level: float, prior: float = 0.0,
) -> tuple[float, float]:  # fmt: skip
    """Smallest and largest value of an entry whose best chain is likely enough.

    chain: where the likelihood is largest. others: further chains to start from, since with an
    entry held the best may be far away. Likely enough is within chi2(level) / 2 nats of the best;
    the outermost such values are taken, so that twins are inside both.
    """
    from scipy.stats import chi2

    best = climb(counts, np.maximum(chain, 1e-9), prior, PROFILE_ROUNDS).value
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
    return climb(counts, held, prior, PROFILE_ROUNDS, entry, value).value


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
