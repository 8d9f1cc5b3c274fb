"""Slow twins of the scheduler and of simulated policies: look at every arm, move every chain."""

from __future__ import annotations

import numpy as np

from restive.many.index_tables import IndexTable

__all__ = ["NaiveScheduler", "draw_table", "index_of", "play_all_chains"]


def index_of(table, state, age):
    """Index at an age by walking the lasso step by step."""
    row = table.unseen if state < 0 else table.values[state]
    column = 0
    for _ in range(age - 1):
        column = column + 1 if column + 1 < len(row) else len(row) - table.period
    return row[column]


class NaiveScheduler:
    """The same contract as Scheduler: sort all arms by (-index, number)."""

    def __init__(self, tables, kinds, pulls):
        self.tables, self.pulls = tables, pulls
        self.arms = {number: [kind, -1, 1] for number, kind in enumerate(kinds)}

    def ask(self, pulls=None):
        keys = [(-index_of(self.tables[k], s, n), arm) for arm, (k, s, n) in self.arms.items()]
        return [arm for _, arm in sorted(keys)[: self.pulls if pulls is None else pulls]]

    def tell(self, arms, states):
        for entry in self.arms.values():
            entry[2] += 1
        for arm, state in zip(arms, states, strict=True):
            self.arms[arm][1:] = [state, 1]

    def skip(self, steps=1):
        for _ in range(steps):
            self.tell([], [])

    def add(self, kinds):
        numbers = []
        for kind in kinds:
            number = next(n for n in range(len(self.arms) + 1) if n not in self.arms)
            self.arms[number] = [kind, -1, 1]
            numbers.append(number)
        return numbers

    def remove(self, arms):
        for arm in arms:
            del self.arms[arm]


def draw_table(rng, ages=9, states=3, loops=4):
    """A random table: rough or with many ties, with a loop; fresh arms get a number or several."""
    size, length = int(rng.integers(1, states + 1)), int(rng.integers(1, ages + 1))
    period = int(rng.integers(1, min(length, loops) + 1))
    values = rng.random((size, length))
    if rng.random() < 0.5:
        values = np.round(values * 4) / 4
    unseen = [None, float(values.max()), np.inf, rng.random(2 * period)][int(rng.integers(4))]
    return IndexTable(values, period, unseen)


def play_all_chains(arms, choose, pulls, horizon, rng):
    """Mean reward a step of a rule, all chains moved at every step as the problem says."""
    states = [int(rng.choice(arm.n_states, p=arm.initial_law)) for arm in arms]
    last, ages, total = np.full((1, len(arms)), -1), np.ones((1, len(arms)), dtype=np.int64), 0.0
    for _ in range(horizon):
        pulled = choose(last, ages, pulls)[0]
        ages += 1
        for arm in pulled:
            total += arms[arm].rewards[states[arm]]
            last[0, arm], ages[0, arm] = states[arm], 1
        states = [
            int(rng.choice(arm.n_states, p=arm.transitions[s]))
            for arm, s in zip(arms, states, strict=True)
        ]
    return total / horizon
