"""Rows of transition matrices as lists of numbers: cycles, chains that may stay, random rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator

FLOOR = 1e-6  # weight of the uniform law in a random row


def sparse_row(size: int, entries: dict[int, float]) -> list[float]:
    return [entries.get(state, 0.0) for state in range(size)]


def cycle(length: int, stay: float) -> list[list[float]]:
    return lazy([sparse_row(length, {(s + 1) % length: 1.0}) for s in range(length)], stay)


def lazy(rows: Sequence[Sequence[float]], stay: float) -> list[list[float]]:
    """(1 - stay) P + stay I."""
    return [
        [(1 - stay) * p + (stay if s == k else 0.0) for k, p in enumerate(row)]
        for s, row in enumerate(rows)
    ]


def dirichlet_rows(
    size: int, period: int, concentration: float, stream: Generator
) -> list[list[float]]:
    """Rows that lead from each class of states (number modulo period) to the next."""
    rows = []
    for s in range(size):
        targets = [k for k in range(size) if (k - s - 1) % period == 0]
        chances = stream.dirichlet([concentration] * len(targets)).tolist()
        weights = [(1 - FLOOR) * p + FLOOR / len(targets) for p in chances]
        total = sum(weights)
        rows.append(sparse_row(size, {k: w / total for k, w in zip(targets, weights, strict=True)}))
    return rows
