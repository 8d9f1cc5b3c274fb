"""The best gain of a bandit by other means: plain matrices, no code shared with restive.

Ages are kept apart until the powers of the matrix repeat (up to the period) within 1e-12, states
are dictionary keys, and damped value iteration on sparse matrices stops on its own bounds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from restive.model.bandit import Bandit

__all__ = ["best_gain", "simulate"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Table = tuple[list[Array], list[Array]]  # powers of a matrix: a tail, then a loop
Info = tuple[tuple[int, int], ...]  # (last state, stored age) of every arm


def best_gain(bandit: Bandit, accuracy: float = 1e-9) -> tuple[float, float]:
    """Bounds of rho* (of a bandit whose gain does not depend on the start)."""
    tables = [_powers(arm.transitions) for arm in bandit.arms]
    number = _information_states(bandit, tables)
    moves, rewards = zip(
        *(_matrix(bandit, tables, number, j) for j in range(bandit.n_arms)), strict=True
    )
    damping = 0.5 if any(len(loop) > 1 for _, loop in tables) else 0.9
    h = np.zeros(len(number))
    for _ in range(1_000_000):
        best = np.max([r + p @ h for p, r in zip(moves, rewards, strict=True)], axis=0)
        change = best - h
        low, high = change.min(), change.max()
        if high - low <= accuracy:
            break
        h += damping * (change - low)
    else:
        raise ArithmeticError(f"value iteration stopped at a width of {high - low:.3g}")
    slack = 1e-12 * (1 + np.ptp(h))  # aggregation and rounding
    return float(low - slack), float(high + slack)


def _powers(matrix: Array) -> Table:
    """P^1, P^2, ... on the tail, and the loop of powers that then repeats."""
    powers = [matrix]
    while True:
        for length in range(1, min(len(matrix), len(powers) - 1) + 1):
            if np.abs(powers[-1] - powers[-1 - length]).sum(axis=1).max() <= 1e-12:
                return powers[: -length - 1], powers[-length - 1 : -1]
        powers.append(powers[-1] @ matrix)


def _older(age: int, table: Table) -> int:
    tail, loop = table
    return age + 1 if age < len(tail) + len(loop) else len(tail) + 1


def _information_states(bandit: Bandit, tables: list[Table]) -> dict[Info, int]:
    number: dict[Info, int] = {}
    queue: deque[Info] = deque()
    for order in permutations(range(bandit.n_arms)):
        for seen in product(*(range(size) for size in bandit.n_states)):
            state = [(0, 0)] * bandit.n_arms
            for arm in order:
                state = [(s, _older(n, tables[j])) for j, (s, n) in enumerate(state)]
                state[arm] = (seen[arm], 1)
            queue.append(tuple(state))
    while queue:
        one = queue.popleft()
        if one in number:
            continue
        number[one] = len(number)
        for arm, size in enumerate(bandit.n_states):
            rest = [(s, _older(n, tables[j])) for j, (s, n) in enumerate(one)]
            queue.extend((*rest[:arm], (s, 1), *rest[arm + 1 :]) for s in range(size))
    return number


def _matrix(
    bandit: Bandit, tables: list[Table], number: dict[Info, int], arm: int
) -> tuple[sparse.csr_array, Array]:
    tail, loop = tables[arm]
    rows = [*tail, *loop]
    size = bandit.n_states[arm]
    columns = np.empty((len(number), size), dtype=np.int64)
    chances = np.empty((len(number), size))
    for state, x in number.items():
        rest = [(s, _older(n, tables[j])) for j, (s, n) in enumerate(state)]
        last, age = state[arm]
        chances[x] = rows[age - 1][last]
        columns[x] = [number[(*rest[:arm], (s, 1), *rest[arm + 1 :])] for s in range(size)]
    pointers = np.arange(0, columns.size + 1, size)
    shape = (len(number), len(number))
    moves = sparse.csr_array((chances.ravel(), columns.ravel(), pointers), shape=shape)
    return moves, chances @ bandit.arms[arm].rewards


def simulate(
    bandit: Bandit, act: Callable[[Ints, Ints], Ints], runs: int, steps: int,
    rng: np.random.Generator,
) -> tuple[Array, Ints, Ints]:  # fmt: skip
    """Mean reward of each of many runs side by side, and information states at start and end.

    act: (last states, ages), both (runs, K), to arms (runs,). Every arm is pulled once first. The
    states returned are arrays (2, runs, K): after these pulls, and at the end.
    """
    count, every = bandit.n_arms, np.arange(runs)
    heights = [np.cumsum(arm.transitions, axis=1) for arm in bandit.arms]
    hidden = np.stack([_pick(np.tile(np.cumsum(arm.initial_law), (runs, 1)), rng)
                       for arm in bandit.arms], axis=1)  # fmt: skip
    paid = np.array([np.pad(a.rewards, (0, max(bandit.n_states) - a.n_states))
                     for a in bandit.arms])  # fmt: skip
    states, ages = np.zeros((2, runs, count), dtype=np.int64)
    total = np.zeros(runs)
    kept = []
    for t in range(-count, steps):
        if t == 0:
            kept = [(states.copy(), ages.copy())]
        pulls = np.full(runs, t + count) if t < 0 else act(states, ages)
        seen = hidden[every, pulls]
        if t >= 0:
            total += paid[pulls, seen]
        ages += 1
        states[every, pulls], ages[every, pulls] = seen, 1
        for j in range(count):
            hidden[:, j] = _pick(heights[j][hidden[:, j]], rng)
    kept.append((states, ages))
    return total / steps, np.stack([s for s, _ in kept]), np.stack([a for _, a in kept])


def _pick(heights: Array, rng: np.random.Generator) -> Ints:
    """One draw per row of cumulative probabilities."""
    below = heights[:, :-1] <= rng.random(len(heights))[:, None]
    return np.asarray(below.sum(axis=1))
