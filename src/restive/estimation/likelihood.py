"""The likelihood of a chain seen at gaps, its maxima, and its curvature there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.estimation.gap_counts import GapCounts

ROUNDS = 500  # of accelerated EM, three likelihoods each
CLOSE = 1e-9  # largest move of a step of EM at which it has arrived
NUDGE = 1e-4  # of a logarithm, to differentiate slopes; their error is of the order of its square


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
