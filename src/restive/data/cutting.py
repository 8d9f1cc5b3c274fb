"""Numeric signals cut into states: at thresholds, at quantiles, or as many as prediction bears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from restive.base.arrays import Floats, Ints

Cut = Sequence[float] | int | Literal["fit"]  # thresholds, a number of quantiles, or a choice

MOST_CHOSEN = 8  # states that are tried
FINE = 48  # thresholds are chosen among about so many


@dataclass(frozen=True, eq=False)
class Cutting:
    """Where a signal was cut: state k has the values above threshold k - 1 and up to threshold k.

    scores: for each number of states that was tried, how well it predicts (see ``cut_signal``).
    """

    thresholds: tuple[float, ...]
    scores: dict[int, float]

    def states(self, values: Floats) -> Ints:
        return np.searchsorted(np.array(self.thresholds), values, side="left").astype(np.int64)

    @property
    def labels(self) -> tuple[str, ...]:
        marks = [f"{threshold:.6g}" for threshold in self.thresholds]
        inner = [f"{low} to {high}" for low, high in pairwise(marks)]
        return (f"<= {marks[0]}", *inner, f"> {marks[-1]}") if marks else ("any",)


def cut_signal(values: Floats, before: Ints, after: Ints, cut: Cut) -> Cutting:
    """Cut a signal; ``before`` and ``after`` are places in it that are next to each other.

    "fit" adds thresholds one by one, each where it helps most, and takes the number of states
    with the largest n I(s; s') - (S - 1)^2 / 2 log n: I is the information that the state before
    has about the state after, and (S - 1)^2 the parameters it takes to tell them. That is the
    Bayesian information criterion of the law of the signal itself, so numbers can be compared.
    """
    if not isinstance(cut, int | str):
        return Cutting(tuple(float(threshold) for threshold in cut), {})
    if isinstance(cut, int):
        return Cutting(_quantiles(values, cut), {})
    return _chosen(values, before, after)


def _chosen(values: Floats, before: Ints, after: Ints) -> Cutting:
    candidates = np.union1d(_quantiles(values, FINE), _wide_gaps(values))
    fine = np.searchsorted(candidates, values, side="left")
    table = np.zeros((len(candidates) + 1,) * 2)
    np.add.at(table, (fine[before], fine[after]), 1.0)
    chosen: list[int] = []
    paths: dict[int, tuple[int, ...]] = {}
    scores: dict[int, float] = {}
    while len(chosen) < min(MOST_CHOSEN - 1, len(candidates)):
        chosen = _settled(table, [*chosen, _best(table, chosen)])
        paths[len(chosen) + 1] = tuple(chosen)
        scores[len(chosen) + 1] = _gain(_merged(table, chosen))
    if not scores:
        return Cutting((), {})
    best = max(scores, key=lambda size: scores[size])
    return Cutting(tuple(candidates[list(paths[best])].tolist()), scores)


def _best(table: Floats, others: list[int]) -> int:
    """The threshold that tells most beside others."""
    left = [k for k in range(len(table) - 1) if k not in others]
    return max(left, key=lambda k: _gain(_merged(table, sorted([*others, k]))))


def _settled(table: Floats, chosen: list[int]) -> list[int]:
    """Each threshold moved in turn to where it tells most beside the others."""
    for _ in range(2):
        for k in chosen:
            others = [threshold for threshold in chosen if threshold != k]
            chosen = [*others, _best(table, others)]
    return sorted(chosen)


def _merged(table: Floats, chosen: list[int]) -> Floats:
    """Counts of moves between the intervals that ``chosen`` candidates leave."""
    first = [0, *(k + 1 for k in chosen)]
    return np.add.reduceat(np.add.reduceat(table, first, axis=0), first, axis=1)


def _wide_gaps(values: Floats) -> Floats:
    """Values below the widest gaps of the signal."""
    distinct = np.unique(values)
    widest = np.argsort(np.diff(distinct))[-FINE // 4 :]
    return distinct[:-1][widest]


def _quantiles(values: Floats, size: int) -> tuple[float, ...]:
    """Thresholds with about equally many values between them, each a value that occurs."""
    levels = np.quantile(values, np.arange(1, size) / size, method="inverted_cdf")
    inside = np.unique(levels)
    return tuple(inside[inside < values.max()].tolist())


def _gain(counts: Floats) -> float:
    """n I(s; s') less the price of its parameters, in nats."""
    total = max(1.0, counts.sum())
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    told = counts[counts > 0] @ np.log(counts[counts > 0] / expected[counts > 0])
    return float(told - 0.5 * (len(counts) - 1) ** 2 * np.log(total))
