"""Slow, readable twins of what restive computes fast, written from the paper alone.

Nothing here shares code with restive: ``Arm`` and ``Bandit`` are only read. Information states are
dictionary keys, matrices are dense, and every answer can be had in at least two ways.

The age lasso: an arm with period m and cap M stores the ages 1, ..., M - 1 as they are and the
later ones on the loop M, ..., M + m - 1. For m = 1 the one age M stands for every n >= M.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, permutations, product
from math import gcd
from random import Random
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naive_gains import (
    Answer,
    brute_force_gain,
    damped_iteration,
    evaluate_policy,
    extended_backup,
    extended_backup_by_lp,
    gain_by_iteration,
    gain_by_lp,
    gain_by_policy_iteration,
    limiting_matrix,
    stationary,
)
from restive.model.bandit import Arm, Bandit

__all__ = [
    "Answer",
    "DenseMDP",
    "after",
    "brute_force_gain",
    "damped_iteration",
    "dense_mdp",
    "evaluate_policy",
    "exact_power",
    "extended_backup",
    "extended_backup_by_lp",
    "extended_gain_by_iteration",
    "first_states",
    "gain_by_iteration",
    "gain_by_lp",
    "gain_by_policy_iteration",
    "information_states",
    "limit",
    "limiting_matrix",
    "period",
    "row",
    "rows",
    "simulate",
    "stationary",
    "stored",
    "true_gain_large_cap",
]

Array = NDArray[np.float64]
Info = tuple[tuple[int, int], ...]  # (last state, age) of every arm
Color = tuple[int, int, int]  # (arm, last state, stored age)


class DenseMDP(NamedTuple):
    """An information-state MDP with everything spelled out."""

    P: Array  # (K, N, N)
    r: Array  # (K, N)
    states: list[Info]
    successors: list[list[list[int]]]  # [arm][x][outcome]: where each outcome leads
    colors: list[list[Color]]  # [arm][x]


# --- one arm ---------------------------------------------------------------------------------


def period(arm: Arm) -> int:
    """gcd of the lengths n at which state 0 can return to itself."""
    edges = arm.transitions > 0
    reach, divisor = np.eye(len(edges), dtype=bool), 0
    for n in range(1, len(edges) ** 2 + len(edges) + 1):
        reach = (reach.astype(int) @ edges) > 0
        if reach[0, 0]:
            divisor = gcd(divisor, n)
    return divisor


def stored(age: int, cap: int, loop: int) -> int:
    """The stored age of the true age n >= 1."""
    return age if age < cap else cap + (age - cap) % loop


def exact_power(arm: Arm, n: int) -> list[list[Fraction]]:
    """P^n in fractions, of the rational matrix nearest to the floats (so that .1 means 1/10)."""
    size = arm.n_states
    p = [[Fraction(float(x)).limit_denominator(10**12) for x in row] for row in arm.transitions]
    for s in range(size):
        p[s][s] = 1 - sum((p[s][k] for k in range(size) if k != s), Fraction(0))
    result = [[Fraction(int(s == k)) for k in range(size)] for s in range(size)]
    for _ in range(n):
        result = [[sum(a * b for a, b in zip(row, c, strict=True)) for c in zip(*p, strict=True)]
                  for row in result]  # fmt: skip
    return result


def limit(arm: Arm, age: int) -> Array:
    """What P^n tends to along n = age, age + m, ...: m mu on the cyclic class reached."""
    m = period(arm)
    steps = age + m * arm.n_states**2  # enough for every state of the class to be reached
    edges = (arm.transitions > 0).astype(int)
    reached = np.eye(arm.n_states, dtype=int)
    for _ in range(steps):
        reached = ((reached @ edges) > 0).astype(int)
    return np.where(reached > 0, m * stationary(arm.transitions), 0.0)


def rows(arm: Arm, cap: int, how: Literal["limit", "power"] = "limit") -> dict[int, Array]:
    """The (S, S) matrix used at each stored age: P^n on the tail, and on the loop its limit."""
    matrices, current = {}, np.eye(arm.n_states)
    for age in range(1, cap + period(arm)):
        current = current @ arm.transitions
        matrices[age] = limit(arm, age) if age >= cap and how == "limit" else current
    return matrices


def row(arm: Arm, stored_age: int, cap: int, how: Literal["limit", "power"] = "limit") -> Array:
    """Outcome probabilities by last state at one stored age, shape (S, S)."""
    return rows(arm, cap, how)[stored_age]


# --- the information-state MDP ---------------------------------------------------------------


def after(state: Info, arm: int, outcome: int, caps: Sequence[int], loops: Sequence[int]) -> Info:
    """The information state after pulling ``arm`` and seeing it in ``outcome``."""
    return tuple(
        (outcome, 1) if j == arm else (s, stored(n + 1, caps[j], loops[j]))
        for j, (s, n) in enumerate(state)
    )


def first_states(bandit: Bandit, caps: Sequence[int], loops: Sequence[int]) -> list[Info]:
    """Information states after pulling every arm once, in any order and with any outcomes."""
    return [
        tuple((s, stored(n, caps[j], loops[j])) for j, (s, n) in enumerate(zip(x, ages)))  # noqa: B905
        for ages in permutations(range(1, bandit.n_arms + 1))
        for x in product(*(range(size) for size in bandit.n_states))
    ]


def information_states(bandit: Bandit, caps: Sequence[int]) -> dict[Info, int]:
    """Every information state that some pulls and some outcomes lead to, numbered."""
    loops = [period(arm) for arm in bandit.arms]
    number: dict[Info, int] = {}
    queue = deque(first_states(bandit, caps, loops))
    while queue:
        state = queue.popleft()
        if state in number:
            continue
        number[state] = len(number)
        for j, arm in enumerate(bandit.arms):
            queue.extend(after(state, j, s, caps, loops) for s in range(arm.n_states))
    return number


def dense_mdp(
    bandit: Bandit, caps: Sequence[int], how: Literal["limit", "power"] = "limit"
) -> DenseMDP:
    """P[a, x, y] and r[a, x] = sum_s' p(s') r_a(s') over the reachable information states."""
    number = information_states(bandit, caps)
    loops = [period(arm) for arm in bandit.arms]
    shape = (bandit.n_arms, len(number))
    P, r = np.zeros((*shape, len(number))), np.zeros(shape)
    successors: list[list[list[int]]] = [[] for _ in bandit.arms]
    colors: list[list[Color]] = [[] for _ in bandit.arms]
    for j, arm in enumerate(bandit.arms):
        table = rows(arm, caps[j], how)
        for x, state in enumerate(number):
            last, age = state[j]
            p = table[age][last]
            leads = [number[after(state, j, s, caps, loops)] for s in range(arm.n_states)]
            P[j, x, leads] = p
            r[j, x] = p @ arm.rewards
            successors[j].append(leads)
            colors[j].append((j, last, age))
    return DenseMDP(P, r, list(number), successors, colors)


def true_gain_large_cap(bandit: Bandit, cap: int, error: float = 1e-12) -> Array:
    """The gain with ages kept exactly up to ``cap``; the aggregation error is checked <= error."""
    mdp = dense_mdp(bandit, [cap] * bandit.n_arms)
    answer = gain_by_policy_iteration(mdp.P, mdp.r)
    far = 0.0
    for arm in bandit.arms:
        reach = range(cap, cap + period(arm))  # distances do not grow beyond these ages
        exact = rows(arm, cap, "power")
        far = max(far, *(np.abs(exact[n] - limit(arm, n)).sum(axis=1).max() for n in reach))
    left = far * (1 + np.ptp(answer.bias)) / 2
    if left > error:
        raise ArithmeticError(f"cap {cap} leaves an aggregation error of up to {left:.3g}")
    return answer.gain


def extended_gain_by_iteration(
    mdp: DenseMDP,
    reward_radius: Mapping[Color, float],
    radius: Mapping[Color, float],
    span: float = 1e-9,
) -> float:
    """The optimistic gain max over plausible MDPs, with eqs. (2) and (3) given color by color."""
    actions, size = mdp.r.shape

    def worth(a: int, x: int, h: Array) -> float:
        color, leads = mdp.colors[a][x], mdp.successors[a][x]
        reward = min(1.0, mdp.r[a, x] + reward_radius[color])
        return float(reward) + extended_backup(mdp.P[a, x, leads], h[leads], radius[color])

    def backup(h: Array) -> Array:
        return np.array([max(worth(a, x, h) for a in range(actions)) for x in range(size)])

    low, high, _ = damped_iteration(backup, size, span, 0.9, 20_000)
    return (low + high) / 2


# --- the true system -------------------------------------------------------------------------


def simulate(
    bandit: Bandit, policy: Callable[[Info], int], steps: int, seed: int
) -> list[tuple[int, int, float]]:
    """(arm, state seen, mean reward) for each step after the first pull of every arm in turn.

    Every chain moves at every step; the policy sees only the last states and their true ages.
    """
    random: Any = Random(seed)
    draw = [[list(accumulate(law)) for law in arm.transitions.tolist()] for arm in bandit.arms]
    start = [list(accumulate(arm.initial_law.tolist())) for arm in bandit.arms]

    def pick(heights: list[float]) -> int:
        return min(bisect_right(heights, random.random()), len(heights) - 1)

    hidden = [pick(heights) for heights in start]
    known: list[tuple[int, int]] = [(0, 0)] * bandit.n_arms
    history = []
    for t in range(-bandit.n_arms, steps):
        arm = t + bandit.n_arms if t < 0 else policy(tuple(known))
        seen = hidden[arm]
        if t >= 0:
            history.append((arm, seen, float(bandit.arms[arm].rewards[seen])))
        known = [(seen, 1) if j == arm else (s, n + 1) for j, (s, n) in enumerate(known)]
        hidden = [pick(draw[j][s]) for j, s in enumerate(hidden)]
    return history
