"""Facts about one finite Markov chain, given by its transition matrix.

Every function takes a square array ``transitions`` of shape (S, S) whose rows sum to one. The
off-diagonal entries are taken as exact and the diagonal, unless it is 0, is what remains
of the row, so nearly reducible chains, where 1 - p rounds to 1, lose no accuracy.
"""

from __future__ import annotations

from math import ceil, gcd, log, log1p

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Bools, Floats, Ints
from restive.base.errors import ArgumentError
from restive.model.double_double import DoubleDouble, lifted

ROUNDING = 2e-15  # of the L1 distance between two rows, each entry to about the last place
SQUARED_UP_TO = 200  # states; above, importing a search takes less time than squaring


def communicating_classes(transitions: ArrayLike) -> list[tuple[list[int], bool]]:
    """Communicating classes as (states, closed) pairs, in order of their smallest state.

    >>> communicating_classes([[1.0, 0.0], [0.5, 0.5]])
    [([0], True), ([1], False)]
    """
    edges = np.asarray(transitions, dtype=np.float64) > 0
    both = _linked(edges)
    classes = []
    for first in np.flatnonzero(np.argmax(both, axis=1) == np.arange(len(both))):
        inside = both[first]
        closed = not edges[np.ix_(inside, ~inside)].any()
        classes.append((np.flatnonzero(inside).tolist(), closed))
    return classes


def _linked(edges: Bools) -> Bools:
    """Whether two states reach each other."""
    if len(edges) > SQUARED_UP_TO:
        from scipy.sparse.csgraph import connected_components

        _, labels = connected_components(edges, directed=True, connection="strong")
        return np.asarray(labels[:, None] == labels)
    reach = edges | np.eye(len(edges), dtype=bool)
    while True:  # squaring doubles the lengths of the paths taken into account
        longer = reach.astype(np.float64) @ reach.astype(np.float64) > 0
        if (longer == reach).all():
            return np.asarray(reach & reach.T)
        reach = longer


def cyclic_classes(transitions: ArrayLike) -> tuple[int, Ints]:
    """Period m of an irreducible chain and the cyclic class (0..m-1, state 0 in 0) of each state.

    >>> cyclic_classes([[0, 1], [1, 0]])
    (2, array([0, 1]))
    """
    edges = np.asarray(transitions, dtype=np.float64) > 0
    depth = np.full(len(edges), -1, dtype=np.int64)
    depth[0] = 0
    frontier, period = [0], 0
    while frontier:
        classes: list[int] = []
        for state in frontier:
            for successor in np.flatnonzero(edges[state]):
                if depth[successor] < 0:
                    depth[successor] = depth[state] + 1
                    classes.append(int(successor))
                else:
                    period = gcd(period, int(abs(depth[state] + 1 - depth[successor])))
        frontier = classes
    return period, depth % period


def stationary(transitions: ArrayLike) -> Floats:
    """Stationary law of an irreducible chain, by Grassmann, Taksar and Heyman (1985).

    No subtraction takes place, so every entry is accurate to a few units in the last place
    relative to itself, however close to reducible the chain is.

    >>> stationary([[1 - 1e-14, 1e-14], [2e-14, 1 - 2e-14]]).round(12)
    array([0.66666667, 0.33333333])
    """
    a = np.array(transitions, dtype=np.float64)
    size = len(a)
    for k in range(size - 1, 0, -1):
        a[:k, k] /= a[k, :k].sum()
        a[:k, :k] += np.outer(a[:k, k], a[k, :k])
    law = np.zeros(size)
    law[0] = 1.0
    for k in range(1, size):
        law[k] = law[:k] @ a[:k, k]
    return np.asarray(law / law.sum())


def hitting_times(transitions: ArrayLike) -> Floats:
    """Expected steps from s to s' as an (S, S) array with zeros on the diagonal.

    Solves (I - Q) t = 1 for each target by elimination without subtraction: the diagonal of the
    M-matrix I - Q is rebuilt from the off-diagonal entries and the flow into the target.
    """
    p = np.asarray(transitions, dtype=np.float64)
    size = len(p)
    times = np.zeros((size, size))
    for target in range(size):
        rest = [s for s in range(size) if s != target]
        times[rest, target] = _absorption_times(p[np.ix_(rest, rest)], p[rest, target])
    return times


def _absorption_times(inner: Floats, leave: Floats) -> Floats:
    """Expected steps until absorption; ``leave`` is the probability of absorption in one step."""
    a, out = inner.copy(), leave.copy()
    reward = np.ones(len(a))
    scale = np.ones(len(a))
    for k in range(len(a) - 1, -1, -1):
        scale[k] = a[k, :k].sum() + out[k]  # probability of leaving k for what is still there
        weight = a[:k, k] / scale[k]
        a[:k, :k] += np.outer(weight, a[k, :k])
        out[:k] += weight * out[k]
        reward[:k] += weight * reward[k]
    times = np.zeros(len(a))
    for k in range(len(a)):
        times[k] = (reward[k] + a[k, :k] @ times[:k]) / scale[k]
    return times


def diameter(transitions: ArrayLike) -> float:
    """D = max over s, s' of the expected time to reach s' from s (0 for a single state).

    >>> round(diameter([[0.9, 0.1], [0.1, 0.9]]), 9)
    10.0
    """
    return float(hitting_times(transitions).max())


def is_reversible(transitions: ArrayLike, tolerance: float = 1e-10) -> bool:
    """Whether mu(s) P(s, s') = mu(s') P(s', s), up to ``tolerance`` relative to the larger flow."""
    p = np.asarray(transitions, dtype=np.float64)
    flow = stationary(p)[:, None] * p
    return bool(np.all(np.abs(flow - flow.T) <= tolerance * np.maximum(flow, flow.T)))


def limit_rows(transitions: ArrayLike, age: int) -> Floats:
    """Rows that P^n approaches along n = age, age + m, age + 2m, ... (the stationary law if m = 1).

    From a state of cyclic class c the law concentrates on class c + n mod m, where it is m mu.
    """
    period, cyclic = cyclic_classes(transitions)
    law = stationary(transitions)
    reached = (cyclic[:, None] + age) % period == cyclic[None, :]
    return np.where(reached, period * law, 0.0)


def distance_to_limit(transitions: ArrayLike, age: int) -> Floats:
    """L1 distance of each row of P^age from its limit row, shape (S,); never grows with age."""
    return np.asarray(np.abs(power(transitions, age) - limit_rows(transitions, age)).sum(axis=1))


def mixing_time(transitions: ArrayLike, epsilon: float = 0.25) -> int:
    """Tmix(eps) = min{t >= 1: max_s sum_s' |P^t(s, s') - limit| <= eps}.

    The limit is the stationary law, or for a periodic chain the law on the cyclic class reached.
    The distance never grows with t, so doubling and then halving finds the answer.

    >>> mixing_time([[0.9, 0.1], [0.1, 0.9]]), mixing_time([[0.9, 0.1], [0.1, 0.9]], 0.01)
    (7, 21)
    """
    p = np.asarray(transitions, dtype=np.float64)
    if not epsilon > 0:
        raise ArgumentError(f"epsilon must be positive, not {epsilon!r}")
    if len(p) == 2 and (age := _two_state_mixing(p, epsilon)):
        return age
    limits = [limit_rows(p, r) for r in range(cyclic_classes(p)[0])]

    def far(matrix: DoubleDouble, age: int) -> bool:
        gap = np.abs(matrix.rounded() - limits[age % len(limits)]).sum(axis=1).max()
        return bool(gap > epsilon)

    squares, age = [lifted(p)], 1
    while far(squares[-1], age):
        if age > 2**52:
            raise ArithmeticError("the chain mixes too slowly to count its steps in float64")
        squares.append(squares[-1] @ squares[-1])
        age *= 2
    if age == 1:
        return 1
    age //= 2
    below = squares[-2]  # the largest power known to be far from its limit
    for k in range(len(squares) - 3, -1, -1):
        candidate = below @ squares[k]
        if far(candidate, age + 2**k):
            below, age = candidate, age + 2**k
    return age + 1


def _two_state_mixing(p: Floats, epsilon: float) -> int:
    """Tmix of two states, where max_s ||P^t(s, .) - mu|| = 2 max(mu) |1 - a - b|^t.

    0 where the powers as they are computed, each entry with an error of some units of rounding,
    might decide otherwise; squaring tells then.
    """
    up, down = float(p[0, 1]), float(p[1, 0])
    rate, furthest = up + down, 2 * max(up, down) / (up + down)
    if rate > 2 - 1e-3 or abs(1 - rate) < 1e-3:  # the logarithm would lose digits
        return 0
    fall = -log1p(-rate) if rate < 1 else -log(rate - 1)
    exact = log(furthest / epsilon) / fall
    doubt = ROUNDING / epsilon / fall + 1e-12 * (1 + abs(exact))
    if exact <= 1 - doubt:
        return 1
    return 0 if abs(exact - round(exact)) <= doubt else ceil(exact)


def power(transitions: ArrayLike, n: int) -> Floats:
    """P^n, correct to about the last place at any n (double-double repeated squaring).

    >>> float(power([[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]], 10**6)[0, 1].round(12))
    0.432332493717
    """
    if n < 0:
        raise ArgumentError(f"n must not be negative, not {n!r}")
    result: DoubleDouble | None = None
    square = lifted(np.asarray(transitions, dtype=np.float64))
    while n:
        if n & 1:
            result = square if result is None else result @ square
        n >>= 1
        if n:
            square = square @ square
    return np.eye(len(square.high)) if result is None else result.rounded()


def mirror(chain: Floats) -> Floats | None:
    """2 Pi - P, where Pi holds the stationary law in every row; None if it is no chain.

    It has the same stationary law and the same even powers: (Pi + Q)^n = Pi + Q^n, with Q -> -Q.
    """
    from restive._kernels import tied

    image = np.empty_like(chain)
    return image if tied.mirror(chain, image) else None


def powers(transitions: ArrayLike, n_max: int) -> Floats:
    """P^1, ..., P^n_max as an (n_max, S, S) array, each to about log2(n_max) roundings.

    Blocks double: P^(m+k) = P^m P^k with P^m taken from :func:`power`, so errors add up over
    log2(n) products and not over n.
    """
    p = np.asarray(transitions, dtype=np.float64)
    table = np.empty((n_max, len(p), len(p)))
    square = lifted(p)
    ready = min(1, n_max)
    table[:ready] = square.rounded()
    while ready < n_max:
        more = min(ready, n_max - ready)
        np.matmul(square.rounded(), table[:more], out=table[ready : ready + more])
        ready += more
        if ready < n_max:
            square = square @ square
    return table
