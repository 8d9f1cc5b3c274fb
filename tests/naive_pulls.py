"""Blocks with several pulls a step, state by state; and the gain of a policy, by its chain."""

from itertools import combinations, product

import numpy as np


def sets(count, pulls, beside):
    sizes = range(pulls + 1) if beside else [pulls]
    return [part for size in sizes for part in combinations(range(count), size)]


def pull(clocks, after, now, then, state, spare):
    """Reward and value one step later of pulling the arms of ``then``, by all that can happen.

    now: arms pulled last; after: values of the states after ``then``, along arms by number. spare:
    what the pulls not used earn.
    """
    outcomes = []
    for j, clock in enumerate(clocks):
        if j in then:
            row = (clock.arm.transitions if j in now else clock.shown)[state[j]]
        else:
            row = (clock.first if j in now else clock.older)[state[j]]
        outcomes.append([(k, row[k]) for k in np.flatnonzero(row)])
    total = spare
    for way in product(*outcomes):
        reward = sum(clocks[j].arm.rewards[way[j][0]] for j in then)
        total += np.prod([w for _, w in way]) * (reward + after[tuple(k for k, _ in way)])
    return total


def worths(clocks, values, now, every, pulls, price):
    """What every set is worth in every state after ``now``; arrays along arms by number."""
    shape = [c.arm.n_states if j in now else c.size for j, c in enumerate(clocks)]
    worth = np.empty((len(every), *shape))
    for way, then in enumerate(every):
        spare = 0.0 if price is None else price * (pulls - len(then))
        for state in product(*map(range, shape)):
            worth[(way, *state)] = pull(clocks, values[way], now, then, state, spare)
    return worth


def policy_gain(arms, action, pulls, cap, steps=4000):
    """What a policy earns in the long run, by the law of (state, age) of every arm from a start.

    Ages from ``cap`` on are one: arms must have forgotten everything by then.
    """
    rows = [[np.linalg.matrix_power(arm.transitions, n) for n in range(cap + 1)] for arm in arms]
    start = tuple((0, 1 if j < pulls else 2) for j in range(len(arms)))
    number, pending, moves, pay = {start: 0}, [start], [], []
    while pending:
        state = pending.pop()
        then = action([s for s, _ in state], [n for _, n in state])
        laws = [rows[j][state[j][1]][state[j][0]] for j in then]
        pay.append((number[state], sum(law @ arms[j].rewards
                                       for j, law in zip(then, laws, strict=True))))  # fmt: skip
        for seen in product(*(range(len(law)) for law in laws)):
            chance = np.prod([law[s] for law, s in zip(laws, seen, strict=True)])
            after = tuple((seen[then.index(j)], 1) if j in then else (s, min(n + 1, cap))
                          for j, (s, n) in enumerate(state))  # fmt: skip
            if chance == 0:
                continue
            if after not in number:
                number[after] = len(number)
                pending.append(after)
            moves.append((number[state], number[after], chance))
    origin, target, chances = (np.array(part) for part in zip(*moves, strict=True))
    rewards = np.array([reward for _, reward in sorted(pay)])
    law, total = np.eye(1, len(number))[0], np.zeros(len(number))
    for step in range(steps):
        law = np.bincount(target, law[origin] * chances, len(number))
        if step >= steps // 2:
            total += law
    return float(total @ rewards / total.sum())
