"""Slow readable twins for one arm at a price: value iteration, enumeration, a linear program."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
from scipy.optimize import linprog

__all__ = [
    "advantages",
    "best_gain",
    "crossings",
    "discounted_advantages",
    "program_gain",
    "tables",
]


def tables(arm, cap):
    """Rows (A, S, S) at ages 1, ..., cap - 1, then one period of limit rows; where ages go back."""
    ages = range(1, cap + arm.period)
    limits = [_limit(arm, n) for n in range(cap, cap + arm.period)]
    return np.array(
        [*(np.linalg.matrix_power(arm.transitions, n) for n in ages[: cap - 1]), *limits]
    )


def _limit(arm, age):
    """Row that P^n approaches along n = age + a multiple of the period: by brute force."""
    steps = age + arm.period * 4000
    return np.linalg.matrix_power(arm.transitions, steps)


def best_gain(arm, price, cap):
    """Every choice of one wait a state (or resting for ever), the best class of each; tiny arms."""
    rows = tables(arm, cap)
    best = 0.0
    for waits in product(range(len(rows)), repeat=arm.n_states):
        chain = np.array([rows[w, s] for s, w in enumerate(waits)])
        pay = chain @ arm.rewards - price
        time = np.array(waits) + 1.0
        average = chain.copy()
        for _ in range(30):  # of P, (P + P^2) / 2, ...: visits in the long run, from every state
            average = 0.5 * (average + average @ average)
        best = max(best, float(((average @ pay) / (average @ time)).max()))
    return best


def program_gain(arm, price, cap):
    """The same by a linear program: least g >= 0 with h(s) >= pay(s, n) - n g + P^n h."""
    rows = tables(arm, cap)
    size = arm.n_states
    matrix, right = [], []
    for k, row in enumerate(rows):
        for s in range(size):
            line = np.concatenate([[-(k + 1.0)], row[s]])
            line[1 + s] -= 1.0
            matrix.append(line)
            right.append(price - row[s] @ arm.rewards)
    cost = np.concatenate([[1.0], np.zeros(size)])
    bounds = [(0, None), (0, 0)] + [(None, None)] * (size - 1)
    solved = linprog(cost, A_ub=np.array(matrix), b_ub=right, bounds=bounds, method="highs")
    return float(solved.x[0])


def advantages(arm, price, cap, step=0.7, sweeps=400_000):
    """Pulling minus resting by relative value iteration over (s, n), average reward; (S, A)."""
    rows = tables(arm, cap)
    after = [*range(1, len(rows)), cap - 1]
    h = np.zeros(rows.shape[:2])
    for _ in range(sweeps):
        pull, rest = rows @ arm.rewards - price + rows @ h[0], h[after]
        change = np.maximum(pull, rest) - h
        if np.ptp(change) < 1e-12:
            break
        h = h + step * (change - change[0, 0])
    return (pull - rest).T


def discounted_advantages(arm, price, cap, discount):
    """Pulling minus resting by value iteration, discounted reward; (S, A)."""
    rows = tables(arm, cap)
    after = [*range(1, len(rows)), cap - 1]
    h = np.zeros(rows.shape[:2])
    for _ in range(int(40 / (1 - discount))):
        pull, rest = rows @ arm.rewards - price + discount * (rows @ h[0]), discount * h[after]
        h = np.maximum(pull, rest)
    return (pull - rest).T


def crossings(values):
    """How often a row of advantages along rising prices changes from resting to pulling."""
    signs = [value > 0 for value in values if abs(value) > 1e-8]
    return sum(not before and now for before, now in pairwise(signs))


def best_gain_of_several(arms, pulls, cap, sweeps=3000):
    """rho* with several pulls a step, by value iteration over all (s, n) of all arms; tiny ones.

    Ages from ``cap`` on are merged; arms must have forgotten everything by then.
    """
    rows = [
        np.array([np.linalg.matrix_power(a.transitions, n + 1) for n in range(cap)]) for a in arms
    ]
    states = list(product(*[[(s, n) for s in range(a.n_states) for n in range(cap)] for a in arms]))
    place = {state: k for k, state in enumerate(states)}
    older = [[min(n + 1, cap - 1) for n in range(cap)]] * len(arms)
    backups = []
    for chosen in combinations(range(len(arms)), pulls):
        pay = np.array(
            [sum(rows[j][x[j][1], x[j][0]] @ arms[j].rewards for j in chosen) for x in states]
        )
        branches = []
        for seen in product(*[range(arms[j].n_states) for j in chosen]):
            shown = dict(zip(chosen, seen, strict=True))
            after, chance = [], []
            for x in states:
                following = tuple(
                    (shown[j], 0) if j in shown else (s, older[j][n]) for j, (s, n) in enumerate(x)
                )
                after.append(place[following])
                chance.append(np.prod([rows[j][x[j][1], x[j][0], shown[j]] for j in chosen]))
            branches.append((np.array(after), np.array(chance)))
        backups.append((pay, branches))
    h = np.zeros(len(states))
    for _ in range(sweeps):
        values = [pay + sum(p * h[to] for to, p in branches) for pay, branches in backups]
        change = np.max(values, axis=0) - h
        if np.ptp(change) < 1e-10:
            break
        h = h + 0.8 * (change - change[0])
    return float(change.min()), float(change.max())
