"""Slow twins of the sweeps over pairs, and the whole bandit with several pulls by brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from restive.model.bandit import Arm

ACTIONS = ((0, 0), (1, 0), (0, 1), (1, 1))


def outcomes(side, state, action):
    """[(chance, next state, reward earned)] of one arm."""
    if action == 0:
        return [(1.0, side.after[state], 0.0)]
    return [(p, side.fresh[s], side.rewards[s]) for s, p in enumerate(side.laws[state]) if p > 0]


def span(side, values):
    reached = [side.rewards[s] + values[side.fresh[s]] for s in range(len(side.fresh))]
    return max(reached) - min(reached)


def action_value(family, paid, kind, values, x, y, action, wary):
    """What ``action`` is worth in (x, y), rows beyond the cap counted at their best if wary."""
    first, second = (family.sides[c] for c in kind)
    own, cross, other_own, other_cross = paid.of(*kind)
    a, b = action
    total = own[x, a] + other_own[y, b] - cross[x, a] * b - other_cross[y, b] * a
    for (p, i, _), (q, j, _) in product(outcomes(first, x, a), outcomes(second, y, b)):
        total += p * q * values[i, j]
    if not wary:
        return total
    if a:
        mean = sum(q * values[:, j] for q, j, _ in outcomes(second, y, b))
        total += 0.5 * first.errors[x] * span(first, mean)
    if b and not a:
        total += 0.5 * second.errors[y] * span(second, values[first.after[x]])
    if b and a:
        total += 0.5 * second.errors[y] * max(span(second, values[i]) for i in first.fresh)
    return total


def action_values(family, paid, kind, values, wary):
    """(X, Y, 4), minus infinity where an action is not available."""
    q = np.full((*values.shape, 4), -np.inf)
    for x, y in np.ndindex(*values.shape):
        for k, action in enumerate(ACTIONS):
            if (0 if family.rest else 1) <= sum(action) <= (2 if family.both else 1):
                q[x, y, k] = action_value(family, paid, kind, values, x, y, action, wary)
    return q


def occurs(family, kind, x, y):
    first, second = (family.sides[c] for c in kind)
    return family.both or first.ages[x] < 0 or first.ages[x] != second.ages[y]


def move_mass(family, kind, mass, policy):
    """Law of the pair's states one step later."""
    first, second = (family.sides[c] for c in kind)
    later = np.zeros_like(mass)
    for x, y in np.ndindex(*mass.shape):
        for (a, b), chance in zip(ACTIONS, policy[x, y], strict=True):
            for (p, i, _), (q, j, _) in product(outcomes(first, x, a), outcomes(second, y, b)):
                later[i, j] += mass[x, y] * chance * p * q
    return later


def joint_gain(arms: list[Arm], pulls: int, cap: int, sweeps: int = 400) -> float:
    """Largest gain of all arms together, ages at most ``cap``, by plain value iteration.

    Made for arms that forget within ``cap`` steps: nothing is allowed for what they remember.
    """
    powers = [[np.linalg.matrix_power(arm.transitions, n) for n in range(cap + 1)] for arm in arms]
    shape = [size for arm in arms for size in (arm.n_states, cap)]
    grid = np.indices(shape).reshape(len(shape), -1)
    last, age = grid[::2], grid[1::2] + 1
    moves = []
    for chosen in combinations(range(len(arms)), pulls):
        for seen in product(*(range(arms[j].n_states) for j in chosen)):
            chance, states, ages = np.ones(grid.shape[1]), last.copy(), np.minimum(age + 1, cap)
            for j, s in zip(chosen, seen, strict=True):
                chance = chance * np.array(powers[j])[age[j], last[j], s]
                states[j], ages[j] = s, 1
            place = [part for pair in zip(states, ages - 1, strict=True) for part in pair]
            reward = sum(arms[j].rewards[s] for j, s in zip(chosen, seen, strict=True))
            moves.append((chosen, chance, np.ravel_multi_index(place, shape), reward))
    values = np.zeros(grid.shape[1])
    for _ in range(sweeps):
        q = {}
        for chosen, chance, target, reward in moves:
            q[chosen] = q.get(chosen, 0.0) + chance * (reward + values[target])
        move = np.max(list(q.values()), axis=0) - values
        values = values + 0.9 * move
        values -= values[0]
    assert np.ptp(move) < 1e-7
    return float(move.mean())
