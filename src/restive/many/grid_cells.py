"""The cheapest mixture of points with a given mean: a small simplex method, exact to rounding.

Solvers for large programs stop at a residual of 1e-9 or more. Beliefs about slow arms are not much
further apart than that, so the bases are refined here in full precision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["cheapest_cell"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RANK = 1e-11  # relative size of what counts as independent
MOST_PIVOTS = 500
BLAND_AFTER = 100  # pivots, then the rule that cannot cycle


def cheapest_cell(points: Floats, costs: Floats, belief: Floats) -> Ints:
    """Indices of independent points that mix to the belief at the least sum of weight times cost.

    points: (G, S), belief: (S,) in their hull. min c w subject to w >= 0, points^T w = belief.
    """
    from scipy.linalg import qr

    sizes = np.abs(np.diag(qr(points.T, pivoting=True, mode="r")[0]))
    rank = int((sizes > RANK * sizes[0]).sum())
    frame = np.linalg.svd(points, full_matrices=False)[2][:rank]  # where the points differ
    columns, mean = points @ frame.T, frame @ belief
    basis = _first_basis(points, columns, belief, rank)
    for pivot in range(MOST_PIVOTS):
        inverse = np.linalg.inv(columns[basis].T)
        weights = inverse @ mean
        reduced = costs - columns @ (costs[basis] @ inverse)
        reduced[basis] = 0.0
        worse = 1e-12 * (1.0 + float(np.abs(costs).max()))
        useful = np.flatnonzero(reduced < -worse)
        if not len(useful):
            break
        enter = int(useful[0] if pivot > BLAND_AFTER else useful[np.argmin(reduced[useful])])
        change = inverse @ columns[enter]
        falling = np.flatnonzero(change > 1e-12)
        if not len(falling):
            break
        ratios = np.maximum(weights[falling], 0.0) / change[falling]
        basis[falling[np.argmin(ratios)]] = enter
    keep = np.array(basis)[np.linalg.solve(columns[basis].T, mean) > 1e-15]
    return np.sort(keep)


def _first_basis(points: Floats, columns: Floats, belief: Floats, rank: int) -> list[int]:
    """Points that mix to the belief, by least squares, and some more to make a basis."""
    from scipy.optimize import nnls

    weights = nnls(points.T, belief)[0]
    basis: list[int] = []
    left = columns.copy()  # what of each point is independent of the basis so far
    wanted = [*np.flatnonzero(weights > 0).tolist(), -1]
    while len(basis) < rank:
        sizes = np.linalg.norm(left, axis=1)
        chosen = wanted.pop(0) if len(wanted) > 1 else int(np.argmax(sizes))
        if sizes[chosen] <= RANK:
            if len(wanted) > 1:
                continue
            chosen = int(np.argmax(sizes))
        basis.append(chosen)
        axis = left[chosen] / np.linalg.norm(left[chosen])
        left = left - np.outer(left @ axis, axis)
    return basis
