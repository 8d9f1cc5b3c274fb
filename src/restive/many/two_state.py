"""The Lagrangian bound of very many different two-state arms, given as columns of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import fsum

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats
from restive.base.backends import Workplace, in_order
from restive.base.errors import ArgumentError
from restive.many.lagrangian import LagrangianBound, Priced, at_price, counted, minimise

Job = tuple[float, tuple[Floats, ...], bool]  # a price, arms, and whether each is asked for
Mapping = Callable[[list[Job]], Iterator[tuple[Floats, Floats]]]

CHUNK = 4096  # arms summed in one go: fixed, so that threads and workers change no byte
CALL = 16  # chunks in one compiled call


def two_state_bound(
    p01: ArrayLike,
    p11: ArrayLike,
    r0: ArrayLike,
    r1: ArrayLike,
    pulls: int,
    *,
    counts: ArrayLike | None = None,
    tolerance: float = 1e-9,
    threads: int | None = None,
    workplace: Workplace | None = None,
) -> LagrangianBound:
    """``lagrangian_bound`` for many different two-state arms, given as arrays of equal length.

    p01, p11: chances to be in state 1 after 0 and after 1; r0, r1: mean rewards. tolerance: a
    pull. threads: as many as there are cores by default. workplace: other processes or machines in
    place of threads. The result is the same to the last bit.
    """
    from restive._kernels import two_state as kernel

    columns = _columns(p01, p11, r0, r1)
    many = counted(counts, len(columns[0]), pulls)
    parts = _parts((*columns, many))
    with _mapping(len(parts), threads, workplace) as mapped:

        def evaluate(price: float) -> Priced:
            sums = [row for part, _ in mapped([(price, part, False) for part in parts])
                    for row in part.tolist()]  # fmt: skip
            lower, upper, wanted = map(fsum, zip(*sums, strict=True))
            return at_price(pulls, price, lower, upper, wanted, CHUNK)

        best, slack, count = minimise(evaluate, float(kernel.last_prices(*columns)), tolerance)
        each = np.concatenate([own for _, own in mapped([(best.price, p, True) for p in parts])])
    gains, wanted = each[:, 1].copy(), each[:, 2].copy()
    return LagrangianBound(best.upper, best.price, slack, pulls, gains, wanted, many, count)


def two_state_gains(
    p01: ArrayLike, p11: ArrayLike, r0: ArrayLike, r1: ArrayLike, price: float
) -> Floats:
    """What each of many different two-state arms earns alone at a price.

    (n, 3): lower and upper bound of g_j(x), and the pulls a step that the arm wants.

    >>> two_state_gains([0.1], [0.9], [0], [1], 0.7).round(6).tolist()
    [[0.04509, 0.04509, 0.424396]]
    """
    columns = _columns(p01, p11, r0, r1)
    parts = _parts((*columns, np.ones(len(columns[0]))))
    return np.concatenate([_priced((price, part, True))[1] for part in parts])


def _parts(columns: tuple[Floats, ...]) -> list[tuple[Floats, ...]]:
    """The arms in pieces of CALL chunks."""
    size = CALL * CHUNK
    return [tuple(column[first : first + size] for column in columns)
            for first in range(0, len(columns[0]), size)]  # fmt: skip


def _priced(job: Job) -> tuple[Floats, Floats]:
    """Sums of lower, upper and pulls (chunks, 3) at a price, and, if asked for, each arm's."""
    from restive._kernels import two_state as kernel

    price, columns, single = job
    size = len(columns[0])
    chunks = -(-size // CHUNK)
    sums, each = np.zeros((chunks, 3)), np.empty((size if single else 0, 3))
    kernel.price_chunks(*columns, price, CHUNK, 0, chunks, sums, each)
    return sums, each


@contextmanager
def _mapping(jobs: int, threads: int | None, workplace: Workplace | None) -> Iterator[Mapping]:
    """Jobs to their results, in order: on threads, or where the user wants."""
    if workplace is not None:
        with workplace.opened(_priced, jobs) as pool:
            yield lambda work: in_order(pool, work)
        return
    from restive.base.machine import helpers

    with helpers(threads) as workers:
        yield lambda work: workers.map(_priced, work)


def _columns(
    p01: ArrayLike, p11: ArrayLike, r0: ArrayLike, r1: ArrayLike
) -> tuple[Floats, Floats, Floats, Floats]:
    """p01, p10, r0, r1 as checked arrays of one length."""
    raw = [np.atleast_1d(np.asarray(column, dtype=np.float64)) for column in (p01, p11, r0, r1)]
    shape = np.broadcast_shapes(*(column.shape for column in raw))
    columns = [np.array(np.broadcast_to(column, shape)) for column in raw]  # never read-only
    for name, column in zip(("p01", "p11", "r0", "r1"), columns, strict=True):
        bad = ~((column >= 0) & (column <= 1))
        if name == "p01":
            bad |= column == 0
        if name == "p11":
            bad |= column == 1
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            words = "a chance above 0" if name == "p01" else "between 0 and 1"
            words = "a chance below 1" if name == "p11" else words
            raise ArgumentError(f"{name}[{at}] must be {words}, not {column[at]!r}")
    return columns[0], 1.0 - columns[1], columns[2], columns[3]
