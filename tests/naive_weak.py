"""Slow twins of the rivals that look for the best arm, written from the papers' pseudocode.

A twin is a generator: it yields an arm and is sent the state and the reward, so that its loops read
as the paper's do. Nothing here shares code with restive.
"""

from __future__ import annotations

from math import e, exp, log, sqrt

import numpy as np
from scipy.optimize import brentq

__all__ = [
    "asr", "epochs", "exp3", "follow", "kl_ucb", "rca", "sw_ucb", "thompson", "ucb1", "ucb1_tuned",
]  # fmt: skip


def follow(twin, states, rewards):
    """Pulls of a twin along a path, both (K, n)."""
    pulls = [next(twin)]
    for step in range(states.shape[1] - 1):
        arm = pulls[-1]
        pulls.append(twin.send((int(states[arm, step]), float(rewards[arm, step]))))
    return pulls


def ucb1(count):
    plays, sums = [0] * count, [0.0] * count
    for t in range(10**9):
        arm = t
        if t >= count:
            arm = max(range(count), key=lambda j: sums[j] / plays[j] + sqrt(2 * log(t) / plays[j]))
        _, reward = yield arm
        plays[arm] += 1
        sums[arm] += reward


def ucb1_tuned(count):
    paid = [[] for _ in range(count)]
    for t in range(10**9):

        def index(j, t=t):
            n, own = len(paid[j]), paid[j]
            spread = sum(x * x for x in own) / n - (sum(own) / n) ** 2 + sqrt(2 * log(t) / n)
            return sum(own) / n + sqrt(log(t) / n * min(1 / 4, spread))

        arm = t if t < count else max(range(count), key=index)
        _, reward = yield arm
        paid[arm].append(reward)


def sw_ucb(count, window):
    past = []
    while True:
        latest = past[-window:]
        rewards = [[paid for arm, paid in latest if arm == j] for j in range(count)]
        arm = next((j for j in range(count) if not rewards[j]), None)
        if arm is None:
            level = 0.6 * log(min(len(past), window))
            index = [sum(own) / len(own) + sqrt(level / len(own)) for own in rewards]
            arm = index.index(max(index))
        _, reward = yield arm
        past.append((arm, reward))


def kl(p, q):
    terms = [(p, q), (1 - p, 1 - q)]
    return sum(a * log(a / b) for a, b in terms if a > 0)


def kl_ucb(count, c):
    plays, sums = [0] * count, [0.0] * count

    def index(j, level):
        mean = min(sums[j] / plays[j], 1.0)
        if mean == 1 or plays[j] * kl(mean, 1 - 1e-13) <= level:
            return 1.0
        return brentq(lambda q: plays[j] * kl(mean, q) - level, mean, 1 - 1e-13, xtol=1e-13)

    for t in range(1, 10**9):
        arm = t - 1
        if t > count:
            level = log(t) + c * max(0.0, log(log(t)))
            values = [index(j, level) for j in range(count)]
            arm = next(j for j in range(count) if values[j] > max(values) - 1e-9)
        _, reward = yield arm
        plays[arm] += 1
        sums[arm] += reward


def thompson(count, rng):
    wins, losses = [0] * count, [0] * count
    arm = int(rng.integers(count))
    while True:
        _, reward = yield arm
        won = rng.random() < reward
        wins[arm] += won
        losses[arm] += not won
        arm = int(np.argmax([rng.beta(wins[j] + 1, losses[j] + 1) for j in range(count)]))


def exp3(count, gamma, alpha, rng):
    weights = np.ones(count)
    while True:
        chances = (1 - gamma) * weights / weights.sum() + gamma / count
        arm = int(np.searchsorted(np.cumsum(chances), rng.random(), side="right"))
        _, reward = yield arm
        total = weights.sum()
        weights[arm] *= exp(gamma * reward / chances[arm] / count)
        weights += e * alpha / count * total


def rca(count, scale):
    marks, plays, sums = [None] * count, [0] * count, [0.0] * count
    for arm in range(count):
        marks[arm], reward = yield arm
        yield from cycle(arm, reward, marks[arm], plays, sums)
    while True:
        t2 = sum(plays)
        arm = max(range(count), key=lambda j: sums[j] / plays[j] + sqrt(scale * log(t2) / plays[j]))
        state, reward = yield arm
        while state != marks[arm]:
            state, reward = yield arm
        yield from cycle(arm, reward, marks[arm], plays, sums)


def cycle(arm, reward, mark, plays, sums):
    """Take samples until the mark shows again."""
    while True:
        plays[arm] += 1
        sums[arm] += reward
        state, reward = yield arm
        if state == mark:
            return


def epochs(count, rate, bonus, everything):
    """DSEE and RUCB; rate(t) is D, bonus(t) is L."""
    t, explored, exploited = 1, 0, 0
    samples = [[] for _ in range(count)]
    while True:
        if (4**explored - 1) / 3 > rate(t) * log(t):
            arm = max(
                range(count),
                key=lambda j: np.mean(samples[j]) + sqrt(bonus(t) * log(t) / len(samples[j])),
            )
            for _ in range(2 * 4**exploited):
                _, reward = yield arm
                t += 1
                if everything:
                    samples[arm].append(reward)
            exploited += 1
        else:
            for arm in range(count):
                for _ in range(4**explored):
                    _, reward = yield arm
                    t += 1
                    samples[arm].append(reward)
            explored += 1


def asr(count, scale, gap, margin, floor):
    t, exploited = 1, 0
    samples, last, phases = [[] for _ in range(count)], [None] * count, [0] * count

    def short(j):
        if phases[j] == 0:
            return True
        known = [np.mean(s) for s in samples if s]
        distance = (max(known) - np.mean(samples[j])) ** 2 - margin
        return len(samples[j]) <= max(4 * scale / max(gap**2, distance), floor) * log(t)

    while True:
        wanting = [j for j in range(count) if short(j)]
        if wanting:
            arm = min(wanting, key=lambda j: phases[j])
            while phases[arm] > 0:
                state, _ = yield arm
                t += 1
                if state == last[arm]:
                    break
            for _ in range(4 ** phases[arm]):
                state, reward = yield arm
                t += 1
                samples[arm].append(reward)
                last[arm] = state
            phases[arm] += 1
        else:
            arm = int(np.argmax([np.mean(s) for s in samples]))
            for _ in range(2 * 4**exploited):
                yield arm
                t += 1
            exploited += 1
