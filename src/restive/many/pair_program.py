"""The linear program that finds the best conditional budgets where all ages fit in it.

    minimise    sum over kinds of weight_cd g_cd
    subject to  g_cd + h_cd(x, y) >= own_cd(x, a) + own_dc(y, b) - cross_c(x, a) b
                                     - cross_d(y, b) a + E h_cd(next)     for all x, y, a, b,
                sum_d share_cd own_cd(x, a) = r(x) a + (m - a) L_c(x, a) / K,

over gains g, values h, shares own and prices L, where cross = (K - 1) L / K. Its solution is a
proposal, never a proof: the bound comes from the certificate.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from restive.base.arrays import Floats
from restive.many.pair_budgets import Budgets, constant_budgets
from restive.many.pair_tables import Family, Side

ACTIONS = ((0, 0), (1, 0), (0, 1), (1, 1))
RANGE = 2.0  # of prices and shares; where they hardly matter, large ones would cost at the cap


def best_budgets(family: Family, seconds: float) -> Budgets | None:
    """Budgets that are best for the ages kept by the family; None if time ran out."""
    shape = constant_budgets(family, 0.0)
    values = [_values(family, c, d) for c, d in family.kinds]
    starts, numbers = _places(family, shape)
    payoffs = [_payoffs(family, starts, numbers, c, d) for c, d in family.kinds]
    left = sparse.hstack([-sparse.block_diag(values), sparse.vstack(payoffs)], format="csr")
    n = left.shape[1] - numbers
    sums, right = _sums(family, shape, starts, numbers)
    cost = np.zeros(left.shape[1])
    at = np.cumsum([0, *(block.shape[1] for block in values)])[:-1]
    cost[at] = [family.weight(c, d) for c, d in family.kinds]
    result = linprog(
        cost,
        A_ub=left,
        b_ub=np.zeros(left.shape[0]),
        A_eq=sparse.hstack([sparse.csr_array((len(right), n)), sums], format="csr"),
        b_eq=right,
        bounds=[(None, None)] * n + [(-RANGE, RANGE)] * numbers,
        method="highs-ipm",
        options={"time_limit": seconds},
    )
    return None if result.x is None else _read(shape, starts, result.x[n:])


def _actions(family: Family) -> list[tuple[int, int]]:
    low, high = 0 if family.rest else 1, 2 if family.both else 1
    return [(a, b) for a, b in ACTIONS if low <= a + b <= high]


def _places(family: Family, shape: Budgets) -> tuple[dict[object, int], int]:
    """Where the prices of each class c and the shares (c, d) begin among the budgets' columns."""
    starts: dict[object, int] = {}
    at = 0
    for c, price in enumerate(shape.prices):
        for key in [c, *((c, d) for d in family.partners(c))]:
            starts[key] = at
            at += price.size
    return starts, at


def _read(shape: Budgets, starts: dict[object, int], columns: Floats) -> Budgets:
    """Shares serve as transfers: what they are too much on the whole is taken off again."""
    prices = []
    for c, price in enumerate(shape.prices):
        prices.append(columns[starts[c] :][: price.size].reshape(price.shape))
    transfers = {
        key: columns[starts[key] :][: part.size].reshape(part.shape)
        for key, part in shape.transfers.items()
    }
    return Budgets(tuple(prices), transfers)


def _moves(side: Side, action: int) -> sparse.csr_array:
    """(X, X) where an arm goes that rests or is pulled."""
    n = len(side.after)
    if action == 0:
        return sparse.csr_array((np.ones(n), (np.arange(n), side.after)), shape=(n, n))
    heads, tails = np.repeat(np.arange(n), len(side.fresh)), np.tile(side.fresh, n)
    return sparse.csr_array((side.laws.ravel(), (heads, tails)), shape=(n, n))


def _values(family: Family, c: int, d: int) -> sparse.csr_array:
    """Coefficients of g and h: a row for each action and pair of states."""
    first, second = family.sides[c], family.sides[d]
    n = len(first.after) * len(second.after)
    parts = [
        sparse.eye_array(n) - sparse.kron(_moves(first, a), _moves(second, b))
        for a, b in _actions(family)
    ]
    h = sparse.vstack(parts)
    gain = sparse.csr_array(np.ones((h.shape[0], 1)))
    return sparse.csr_array(sparse.hstack([gain, h]))


def _payoffs(
    family: Family, starts: dict[object, int], numbers: int, c: int, d: int
) -> sparse.csr_array:
    """Coefficients of shares and prices in a pair's payoffs, rows as in ``_values``."""
    n = family.n_arms
    shape = len(family.sides[c].after), len(family.sides[d].after)
    x, y = (grid.ravel() for grid in np.mgrid[: shape[0], : shape[1]])
    parts = []
    for a, b in _actions(family):
        terms = [(starts[c, d] + 2 * x + a, 1.0), (starts[d, c] + 2 * y + b, 1.0)]
        terms += [(starts[c] + 2 * x + a, -b * (n - 1) / n)] if b else []
        terms += [(starts[d] + 2 * y + b, -a * (n - 1) / n)] if a else []
        columns = np.concatenate([column for column, _ in terms])
        entries = np.repeat([number for _, number in terms], len(x))
        rows = np.tile(np.arange(len(x)), len(terms))
        parts.append(sparse.coo_array((entries, (rows, columns)), shape=(len(x), numbers)))
    return sparse.vstack(parts, format="csr")


def _sums(
    family: Family, shape: Budgets, starts: dict[object, int], numbers: int
) -> tuple[sparse.csr_array, Floats]:
    """The shares of an arm's payoff add up to it: left and right side."""
    parts, right = [], []
    for c, (side, price) in enumerate(zip(family.sides, shape.prices, strict=True)):
        size = price.size
        place = np.arange(size)
        left = np.tile(family.pulls - np.array([0.0, 1.0]), len(price)) / family.n_arms
        part = sparse.coo_array((-left, (place, starts[c] + place)), shape=(size, numbers))
        for d in family.partners(c):
            weights = np.full(size, family.share(c, d))
            part = part + sparse.coo_array(
                (weights, (place, starts[c, d] + place)), shape=(size, numbers)
            )
        parts.append(part)
        paid = np.zeros(price.shape)
        paid[:, 1] = side.laws @ side.rewards
        right.append(paid.ravel())
    return sparse.vstack(parts, format="csr"), np.concatenate(right)
