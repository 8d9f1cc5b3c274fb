"""One chain of two states seen at many ages: all its matrices that the samples leave plausible.

A chain is P = [[1 - p, p], [q, 1 - q]] with p = sin^2 a, q = sin^2 b, and z = 1 - p - q. With g_n =
1 + z + ... + z^(n-1) it switches within n steps with probability P^n(0, 1) = p g_n, P^n(1, 0) =
q g_n. counts: (A, 2, 2) switches and stays from each state at ages 1, ..., A. A cell is a rectangle
of angles (a, b, half width in a, in b). All bounds are outer bounds up to rounding.
"""

from __future__ import annotations

import numpy as np

from restive._kernels import njit

QUARTER = 0.5 * np.pi


@njit(cache=True, error_model="numpy", nogil=True)
def log_likelihood(counts, p, q):
    """log of the product of P^n(s, s') over all samples."""
    total, g, power = 0.0, 0.0, 1.0
    for n in range(len(counts)):
        g += power
        power *= 1.0 - p - q
        for s in range(2):
            switch = min(1.0, (q if s else p) * g)
            if counts[n, s, 0] > 0.0:
                total += counts[n, s, 0] * np.log(switch)
            if counts[n, s, 1] > 0.0:
                total += counts[n, s, 1] * np.log(1.0 - switch)
    return total


@njit(cache=True, error_model="numpy", nogil=True)
def sums_between(x, y, sums):
    """Bounds of g_n, of its derivative and of n z^(n-1) for z in [x, y], into the rows of ``sums``.

    For z >= 0 all three grow with z. For z = -u they are (1 - z^n)/(1 + u), (g_n - n z^(n-1))/
    (1 + u) and n z^(n-1) with powers of u that grow with u.
    """
    x0, y0, u0, u1 = max(0.0, x), max(0.0, y), max(0.0, -y), max(0.0, -x)
    gx = gy = dx = dy = 0.0
    px = py = v0 = v1 = 1.0
    for n in range(1, len(sums) + 1):
        dx, dy = gx + x0 * dx, gy + y0 * dy
        gx, gy = gx + px, gy + py
        row = sums[n - 1]
        row[0], row[1], row[2], row[3], row[4], row[5] = gx, gy, dx, dy, n * px, n * py
        px, py = px * x0, py * y0
        if x < 0.0:
            t0, t1 = (n * v0, n * v1) if n % 2 else (-n * v1, -n * v0)
            v0, v1 = v0 * u0, v1 * u1
            most = 1.0 + v1 if n % 2 else 1.0 - v0
            least = 1.0 + v0 if n % 2 else 1.0 - v1
            g0, g1 = least / (1.0 + u1), min(1.0, most / (1.0 + u0))
            d0, d1 = g0 - t1, g1 - t0
            d0 /= 1.0 + (u1 if d0 > 0.0 else u0)
            d1 /= 1.0 + (u0 if d1 > 0.0 else u1)
            if y > 0.0:
                g0, g1 = min(g0, gx), max(g1, gy)
                d0, d1 = min(d0, dx), max(d1, dy)
                t0, t1 = min(t0, row[4]), max(t1, row[5])
            row[0], row[1], row[2], row[3], row[4], row[5] = g0, g1, d0, d1, t0, t1


@njit(cache=True, error_model="numpy", nogil=True)
def times(x0, x1, y0, y1):
    """The products of numbers in [x0, x1] and [y0, y1]."""
    a, b, c, d = x0 * y0, x0 * y1, x1 * y0, x1 * y1
    return min(min(a, b), min(c, d)), max(max(a, b), max(c, d))


@njit(cache=True, error_model="numpy", nogil=True)
def switch_slopes(p0, p1, q0, q1, row):
    """Bounds of P^n(0, 1)'s derivatives in p, n z^(n-1) + q g_n', and in q, -p g_n'."""
    own0, own1 = times(q0, q1, row[2], row[3])
    off0, off1 = times(p0, p1, row[2], row[3])
    return own0 + row[4], own1 + row[5], -off1, -off0


@njit(cache=True, error_model="numpy", nogil=True)
def switches_between(p0, p1, q0, q1, sums, switches):
    """Bounds (A, 2, 2) of P^n(0, 1) and P^n(1, 0) over p in [p0, p1], q in [q0, q1].

    Where z >= 0, P^n(0, 1) grows with p and falls with q (``switch_slopes``), so that two corners
    tell its range. Elsewhere it is bounded by its factors, and by its value in the middle and its
    slopes. P^n(1, 0) likewise.
    """
    exact = 1.0 - p1 - q1 >= 0.0
    corner, other = 1.0 - p0 - q1, 1.0 - p1 - q0
    if not exact:
        corner = other = 1.0 - 0.5 * (p0 + p1 + q0 + q1)
    g = h = 0.0
    power = another = 1.0
    for n in range(len(switches)):
        g, h = g + power, h + another
        power, another = power * corner, another * other
        if exact:
            switches[n, 0, 0], switches[n, 0, 1] = p0 * g, min(1.0, p1 * h)
            switches[n, 1, 0], switches[n, 1, 1] = q0 * h, min(1.0, q1 * g)
        else:
            row = sums[n]
            switches[n, 0] = switch_between(p0, p1, q0, q1, g, row)
            switches[n, 1] = switch_between(q0, q1, p0, p1, g, row)


@njit(cache=True, error_model="numpy", nogil=True)
def switch_between(p0, p1, q0, q1, g, row):
    """Bounds of P^n(0, 1) where z may be below 0; g: g_n in the middle."""
    own0, own1, off0, off1 = switch_slopes(p0, p1, q0, q1, row)
    middle = 0.5 * (p0 + p1) * g
    reach = 0.5 * (p1 - p0) * max(own1, -own0) + 0.5 * (q1 - q0) * max(off1, -off0) + 1e-15
    return max(p0 * row[0], middle - reach), min(1.0, min(p1 * row[1], middle + reach))


@njit(cache=True, error_model="numpy", nogil=True)
def ends(angle, width):
    """Bounds of sin^2 and of its derivative sin(2 .) within ``width`` of an angle."""
    low, high = max(0.0, angle - width), min(QUARTER, angle + width)
    slope_low, slope_high = np.sin(2.0 * low), np.sin(2.0 * high)
    top = 1.0 if low <= 0.5 * QUARTER <= high else max(slope_low, slope_high)
    return np.sin(low) ** 2, np.sin(high) ** 2, max(0.0, min(slope_low, slope_high)), top


@njit(cache=True, error_model="numpy", nogil=True)
def loose_bound(counts, switches):
    """Upper bound of the log-likelihood: every color's own largest within its bounds."""
    total = 0.0
    for n in range(len(counts)):
        for s in range(2):
            moved, stayed = counts[n, s, 0], counts[n, s, 1]
            if moved + stayed > 0.0:
                f = min(switches[n, s, 1], max(switches[n, s, 0], moved / (moved + stayed)))
                if moved > 0.0:
                    total += moved * np.log(f)
                if stayed > 0.0:
                    total += stayed * np.log(1.0 - f)
    return total


@njit(cache=True, error_model="numpy", nogil=True)
def slopes(counts, p0, p1, q0, q1, sums, switches):
    """Bounds of the log-likelihood's derivatives in p and in q; infinite where none is known."""
    up0 = up1 = uq0 = uq1 = 0.0
    for n in range(len(counts)):
        for s in range(2):
            moved, stayed = counts[n, s, 0], counts[n, s, 1]
            if moved + stayed == 0.0:
                continue
            low, high = switches[n, s, 0], switches[n, s, 1]
            if (moved > 0.0 and low <= 0.0) or (stayed > 0.0 and high >= 1.0):
                return -np.inf, np.inf, -np.inf, np.inf
            score0 = score1 = 0.0
            if moved > 0.0:
                score0, score1 = moved / high, moved / low
            if stayed > 0.0:
                score0, score1 = score0 - stayed / (1.0 - high), score1 - stayed / (1.0 - low)
            x0, x1, y0, y1 = (p0, p1, q0, q1) if s == 0 else (q0, q1, p0, p1)
            own0, own1, off0, off1 = switch_slopes(x0, x1, y0, y1, sums[n])
            own0, own1 = times(score0, score1, own0, own1)
            off0, off1 = times(score0, score1, off0, off1)
            if s == 0:
                up0, up1, uq0, uq1 = up0 + own0, up1 + own1, uq0 + off0, uq1 + off1
            else:
                up0, up1, uq0, uq1 = up0 + off0, up1 + off1, uq0 + own0, uq1 + own1
    return up0, up1, uq0, uq1


@njit(cache=True, error_model="numpy", nogil=True)
def measure(counts, cell, floor, sums, switches, measures):
    """measures: value in the middle, an upper bound, bounds of both slopes, a bound of the mean.

    cell: (a, b, half width of a, of b). Once the upper bound is below the floor the rest is left
    out. With slopes in [l, h] a value differs from that in the middle by at most max(h, -l) times
    the half width. The log of the mean likelihood is at least the mean of its log (Jensen), and
    that is below the value in the middle by at most (h - l)/4 times the half width.
    """
    p0, p1, ap0, ap1 = ends(cell[0], cell[2])
    q0, q1, aq0, aq1 = ends(cell[1], cell[3])
    sums_between(1.0 - p1 - q1, 1.0 - p0 - q0, sums)
    switches_between(p0, p1, q0, q1, sums, switches)
    measures[1] = loose_bound(counts, switches)
    if measures[1] < floor:
        measures[6] = -np.inf
        return
    measures[0] = log_likelihood(counts, np.sin(cell[0]) ** 2, np.sin(cell[1]) ** 2)
    up0, up1, uq0, uq1 = slopes(counts, p0, p1, q0, q1, sums, switches)
    if np.isinf(up0):
        measures[2], measures[3], measures[4], measures[5] = up0, up1, uq0, uq1
        measures[6] = -np.inf
        return
    measures[2], measures[3] = times(up0, up1, ap0, ap1)
    measures[4], measures[5] = times(uq0, uq1, aq0, aq1)
    rise = max(measures[3], -measures[2]) * cell[2] + max(measures[5], -measures[4]) * cell[3]
    bend = (measures[3] - measures[2]) * cell[2] + (measures[5] - measures[4]) * cell[3]
    measures[1] = min(measures[1], measures[0] + rise)
    measures[6] = measures[0] - 0.25 * bend
