"""Two-state arms alone at a price, in closed form, many at once.

With l = p11 - p01, m = p01 / (1 - l) and w(n) = 1 - l^n, a pull n steps after state 0 (1) was seen
shows the other one with chance m w(n) ((1 - m) w(n)). The worth of a wait n is a constant plus
a l^n - n g, where a has one sign for state 0 and the other for state 1: so at most one of the two
states waits longer than a step, and the best wait follows from a logarithm. No age is cut.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

ROUNDS = 60
EPS = 2.220446049250313e-16
LONGEST = 2.0**60


@njit(cache=True, error_model="numpy", nogil=True)
def moved(wait, eigen, log_eigen):
    """w(n) = 1 - l^n."""
    if wait == 1.0:
        return 1.0 - eigen
    if eigen > 0.0:
        return -np.expm1(wait * log_eigen)
    return 1.0 - eigen**wait


@njit(cache=True, error_model="numpy", nogil=True)
def best_wait(factor, eigen, log_eigen, gap, gain):
    """The n >= 1 with the largest factor * l^n - n gain, for gain > 0; gap = 1 - l."""
    if eigen <= 0.0:
        return 2.0 if factor > 0.0 and factor * (-eigen) * gap > gain else 1.0
    if factor >= 0.0 or -factor * eigen * gap <= gain:
        return 1.0
    return min(max(1.0, np.ceil(np.log(gain / (-factor * gap)) / log_eigen)), LONGEST)


@njit(cache=True, error_model="numpy", nogil=True)
def last_price(p01, p10, r0, r1):
    """The price from which on the arm is not worth any lasting pulls: its best reward a pull."""
    gap = p01 + p10
    eigen = 1.0 - gap
    mean = p01 / gap
    up, down = p01, p10
    if eigen > 0.0:  # wait for ever where the state is the worse one
        if r1 > r0:
            up = mean
        elif r0 > r1:
            down = 1.0 - mean
    elif r1 > r0:  # skip the step in which it is expected to be the worse one
        down = (1.0 - mean) * (1.0 - eigen * eigen)
    elif r0 > r1:
        up = mean * (1.0 - eigen * eigen)
    return (down * r0 + up * r1) / (down + up)


@njit(cache=True, error_model="numpy", nogil=True)
def price_one(p01, p10, r0, r1, price, out):
    """out: lower and upper bound of the gain, pulls a step, and the two waits (0 for ever)."""
    highest = last_price(p01, p10, r0, r1)
    out[:] = 0.0
    if price >= highest + 8 * EPS:
        return
    gap = p01 + p10
    eigen = 1.0 - gap
    log_eigen = np.log1p(-gap) if eigen > 0.0 else 0.0
    mean, other = p01 / gap, p10 / gap
    waits = np.ones(2)
    up, down = p01, p10
    gain = (down * (r0 - price) + up * (r1 - price)) / (down + up)
    rich = 1 if r1 > r0 else 0  # the poor state waits where waiting helps, the rich one where l < 0
    waiting = 1 - rich if eigen > 0.0 else rich
    while gain <= 0.0 and waits[waiting] < LONGEST:
        waits[waiting] *= 2.0
        up, down = (
            mean * moved(waits[0], eigen, log_eigen),
            other * moved(waits[1], eigen, log_eigen),
        )
        gain = (down * (r0 - price) + up * (r1 - price)) / (down * waits[0] + up * waits[1])
        if eigen <= 0.0:
            break
    if gain <= 0.0:  # closer to the last price than numbers can tell: g <= highest - price
        out[1] = max(highest - price, 0.0) + 8 * EPS
        return
    worth = 0.0
    for _ in range(ROUNDS):
        worth = ((r1 - r0) - (waits[1] - waits[0]) * gain) / (down + up)
        first = best_wait(-worth * mean, eigen, log_eigen, gap, gain)
        second = best_wait(worth * other, eigen, log_eigen, gap, gain)
        if first == waits[0] and second == waits[1]:
            break
        up, down = mean * moved(first, eigen, log_eigen), other * moved(second, eigen, log_eigen)
        better = (down * (r0 - price) + up * (r1 - price)) / (down * first + up * second)
        if not better > gain:
            up = mean * moved(waits[0], eigen, log_eigen)
            down = other * moved(waits[1], eigen, log_eigen)
            break
        gain, waits[0], waits[1] = better, first, second
    excess = 0.0
    for s in range(2):
        factor = -worth * mean if s == 0 else worth * other
        own = -factor * moved(waits[s], eigen, log_eigen) - waits[s] * gain
        at = best_wait(factor, eigen, log_eigen, gap, gain)
        for n in (at - 1.0, at, at + 1.0):
            if n >= 1.0:
                value = -factor * moved(n, eigen, log_eigen) - n * gain
                excess = max(excess, (value - own) / n)
    slack = 64 * EPS * (1.0 + abs(price) + abs(worth) + gain)
    out[0], out[1] = max(gain - slack, 0.0), gain + excess + slack
    out[2] = (down + up) / (down * waits[0] + up * waits[1])
    out[3], out[4] = waits[0], waits[1]


@njit(cache=True, error_model="numpy", nogil=True)
def price_chunks(p01, p10, r0, r1, counts, price, size, first, last, sums, each):
    """Chunks first, ..., last - 1 of ``size`` arms: sums (n, 3) of lower, upper, pulls.

    each: (N, 3) receives the same of every arm, unless it is empty.
    """
    out = np.zeros(5)
    for chunk in range(first, last):
        lower, upper, pulls = 0.0, 0.0, 0.0
        for j in range(chunk * size, min((chunk + 1) * size, len(p01))):
            price_one(p01[j], p10[j], r0[j], r1[j], price, out)
            lower += counts[j] * out[0]
            upper += counts[j] * out[1]
            pulls += counts[j] * out[2]
            if len(each):
                each[j, 0], each[j, 1], each[j, 2] = out[0], out[1], out[2]
        sums[chunk, 0], sums[chunk, 1], sums[chunk, 2] = lower, upper, pulls


@njit(cache=True, error_model="numpy", nogil=True)
def last_prices(p01, p10, r0, r1):
    """The largest of the last prices of all arms."""
    highest = 0.0
    for j in range(len(p01)):
        highest = max(highest, last_price(p01[j], p10[j], r0[j], r1[j]))
    return highest
