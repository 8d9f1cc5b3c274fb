"""Slow gains of dense MDPs: P of shape (A, N, N), r of shape (A, N), no structure assumed.

Four independent ways to the best gain (all policies, linear programming, multichain policy
iteration, damped value iteration), and the optimistic expectation over an L1 ball in two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

__all__ = [
    "Answer",
    "brute_force_gain",
    "damped_iteration",
    "evaluate_policy",
    "extended_backup",
    "extended_backup_by_lp",
    "gain_by_iteration",
    "gain_by_lp",
    "gain_by_policy_iteration",
    "limiting_matrix",
    "stationary",
]

Array = NDArray[np.float64]


class Answer(NamedTuple):
    """Gain and bias of every state, and the arm to pull there."""

    gain: Array
    bias: Array
    policy: NDArray[np.int64]


def stationary(matrix: Array) -> Array:
    """The law with pi P = pi and sum pi = 1, by least squares."""
    size = len(matrix)
    equations = np.vstack([np.eye(size) - matrix.T, np.ones(size)])
    law: Array = np.linalg.lstsq(equations, np.eye(size + 1)[size], rcond=None)[0]
    return law


# --- one policy ------------------------------------------------------------------------------


def limiting_matrix(p: Array) -> Array:
    """P* = sum over closed classes of (probability to end there) x (its stationary law)."""
    count, label = connected_components((p > 0).astype(int), directed=True, connection="strong")
    classes = [np.flatnonzero(label == c) for c in range(count)]
    closed = [c for c in classes if not (p[np.ix_(c, np.setdiff1d(np.arange(len(p)), c))]).any()]
    transient = np.setdiff1d(np.arange(len(p)), np.concatenate(closed))
    result = np.zeros_like(p)
    inner = np.eye(len(transient)) - p[np.ix_(transient, transient)]
    for members in closed:
        law = stationary(p[np.ix_(members, members)])
        ends_here = np.zeros(len(p))
        ends_here[members] = 1.0
        into = p[np.ix_(transient, members)].sum(axis=1)
        ends_here[transient] = np.linalg.solve(inner, into)
        result[:, members] = np.outer(ends_here, law)
    return result


def evaluate_policy(P: Array, r: Array, policy: Sequence[int] | NDArray[np.int64]) -> Answer:
    """Gain g = P* r and bias h = (I - P + P*)^-1 (I - P*) r of a policy, multichain or not."""
    at = np.arange(P.shape[1])
    chosen = np.asarray(policy, dtype=np.int64)
    p, reward = P[chosen, at], r[chosen, at]
    star = limiting_matrix(p)
    gain = star @ reward
    bias = np.asarray(np.linalg.solve(np.eye(len(at)) - p + star, reward - gain), dtype=np.float64)
    return Answer(gain, bias, chosen)


# --- the best policy, four ways --------------------------------------------------------------


def brute_force_gain(P: Array, r: Array) -> Array:
    """The best gain of every state over all stationary policies; for a dozen states."""
    actions, size = r.shape
    policies = product(range(actions), repeat=size)
    return np.asarray(np.max([evaluate_policy(P, r, policy).gain for policy in policies], axis=0))


def gain_by_lp(P: Array, r: Array) -> Array:
    """min sum g subject to g >= P_a g and g + h >= r_a + P_a h (Puterman 9.3): the gain."""
    actions, size = r.shape
    eye, zero = np.eye(size), np.zeros((size, size))
    block = [[P[a] - eye, zero] for a in range(actions)]
    block += [[-eye, P[a] - eye] for a in range(actions)]
    bound = np.concatenate([np.zeros(actions * size), -r.ravel()])
    cost = np.concatenate([np.ones(size), np.zeros(size)])
    program = linprog(cost, np.block(block), bound, bounds=(None, None), method="highs")
    if program.status != 0 or program.x is None:
        raise ArithmeticError(program.message)
    return np.asarray(program.x[:size])


def gain_by_policy_iteration(P: Array, r: Array, tie: float = 1e-10) -> Answer:
    """Howard's multichain policy iteration (Puterman 9.2): first by gain, then by bias."""
    at = np.arange(P.shape[1])
    policy = np.argmax(r, axis=0)
    for _ in range(1000):
        answer = evaluate_policy(P, r, policy)
        ahead = P @ answer.gain
        better = ahead.max(axis=0) > ahead[policy, at] + tie
        choice = np.argmax(ahead, axis=0)
        if not better.any():
            worth = np.where(ahead >= ahead.max(axis=0) - tie, r + P @ answer.bias, -np.inf)
            better = worth.max(axis=0) > worth[policy, at] + tie
            choice = np.argmax(worth, axis=0)
        if not better.any():
            return answer
        policy = np.where(better, choice, policy)
    raise ArithmeticError("policy iteration did not come to rest in 1000 rounds")


def damped_iteration(
    backup: Callable[[Array], Array], size: int, span: float, damping: float, sweeps: int
) -> tuple[float, float, Array]:
    """Odoni bounds on a constant gain, and a bias, from h <- tau T h + (1 - tau) h."""
    h = np.zeros(size)
    for _ in range(sweeps):
        change = backup(h) - h
        low, high = float(change.min()), float(change.max())
        if high - low <= span:
            return low, high, h - h[0]
        h = h + damping * change
        h -= h[0]
    raise ArithmeticError(f"the span is still {high - low:.3g} after {sweeps} sweeps")


def gain_by_iteration(P: Array, r: Array, span: float = 1e-11, damping: float = 0.9) -> float:
    """The gain, the same for all states, by damped relative value iteration."""

    def backup(h: Array) -> Array:
        return np.asarray((r + P @ h).max(axis=0))

    low, high, _ = damped_iteration(backup, r.shape[1], span, damping, 200_000)
    return (low + high) / 2


# --- optimism --------------------------------------------------------------------------------


def extended_backup(p: Array, values: Array, radius: float) -> float:
    """max of q . values over laws q with |q - p|_1 <= radius (Jaksch, Ortner and Auer, fig. 2)."""
    q = np.array(p, dtype=float)
    order = np.argsort(values)[::-1]
    q[order[0]] = min(1.0, q[order[0]] + radius / 2)
    for worst in order[:0:-1]:
        q[worst] = max(0.0, q[worst] - max(0.0, q.sum() - 1.0))
    return float(q @ values)


def extended_backup_by_lp(p: Array, values: Array, radius: float) -> float:
    """The same maximum as a linear program in q and |q - p|."""
    n, eye = len(p), np.eye(len(p))
    limits = np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, n)), np.ones((1, n))]])
    program = linprog(
        np.concatenate([-np.asarray(values), np.zeros(n)]),
        limits,
        np.concatenate([p, -np.asarray(p), [radius]]),
        np.concatenate([np.ones(n), np.zeros(n)])[None],
        [1.0],
    )
    return float(-(program.fun or 0.0))
