"""The cheapest mixture of points with a given mean: a small simplex method, exact to rounding.

Solvers for large programs stop at a residual of 1e-9 or more. Beliefs about slow arms are not much
further apart than that, so the bases are refined here in full precision.
"""

from __future__ import annotations

import numpy as np

from restive.base.arrays import Floats, Ints

RANK = 1e-11  # relative size of what counts as independent
MOST_PIVOTS = 500
BLAND_AFTER = 100  # pivots, then the rule that cannot cycle


class Cells:
    """Cells of points with costs: min c w subject to w >= 0, points^T w = belief.

    points: (G, S), costs: (G,).
    """

    def __init__(self, points: Floats, costs: Floats) -> None:
        from scipy.linalg import qr

        self.points, self.costs = points, costs
        sizes = np.abs(np.diag(qr(points.T, pivoting=True, mode="r")[0]))
        self.rank = int((sizes > RANK * sizes[0]).sum())
        self.frame = np.linalg.svd(points, full_matrices=False)[2][: self.rank]
        self.columns = points @ self.frame.T  # the points where they differ

    def cheapest(self, belief: Floats) -> Ints:
        """Independent points that mix to a belief in their hull at the least cost."""
        columns, costs, mean = self.columns, self.costs, self.frame @ belief
        worse = 1e-12 * (1.0 + float(np.abs(costs).max()))
        basis = self._first_basis(belief)
        for pivot in range(MOST_PIVOTS):
            inverse = np.linalg.inv(columns[basis].T)
            weights = inverse @ mean
            reduced = costs - columns @ (costs[basis] @ inverse)
            reduced[basis] = 0.0
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
        weights = np.linalg.solve(columns[basis].T, mean)
        return np.sort(np.array(basis)[weights > 1e-15])

    def _first_basis(self, belief: Floats) -> list[int]:
        """Points that mix to the belief, by least squares, and some more to make a basis."""
        from scipy.optimize import nnls

        weights = nnls(self.points.T, belief)[0]
        used = np.flatnonzero(weights > 0).tolist()
        left = self.columns.copy()  # what of each point is independent of the basis so far
        basis: list[int] = []
        while len(basis) < self.rank:
            sizes = np.linalg.norm(left, axis=1)
            chosen = used.pop(0) if used else int(np.argmax(sizes))
            if sizes[chosen] <= RANK and used:
                continue
            if sizes[chosen] <= RANK:
                chosen = int(np.argmax(sizes))
            basis.append(chosen)
            axis = left[chosen] / sizes[chosen]
            left = left - np.outer(left @ axis, axis)
        return basis
