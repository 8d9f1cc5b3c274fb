"""Confidence sets of one chain's n-step rows: direct, and joined across ages."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit


@njit(cache=True, error_model="numpy")
def divergence(p, q):
    """Bernoulli relative entropy kl(p, q)."""
    total = 0.0
    if p > 0.0:
        total += p * np.log(p / q) if q > 0.0 else np.inf
    if p < 1.0:
        total += (1.0 - p) * np.log((1.0 - p) / (1.0 - q)) if q < 1.0 else np.inf
    return total


@njit(cache=True, error_model="numpy", nogil=True)
def edge(mean, allowed, outside):
    """The first q beyond kl(mean, q) <= allowed on the way to ``outside``, by bisection."""
    inside = mean
    for _ in range(50):
        middle = 0.5 * (inside + outside)
        if divergence(mean, middle) > allowed:
            outside = middle
        else:
            inside = middle
    return outside


@njit(cache=True, error_model="numpy", nogil=True)
def interval(mean, count, budget):
    """All q with count kl(mean, q) <= budget, as (least, most); [0, 1] without samples."""
    if count <= 0.0:
        return 0.0, 1.0
    return edge(mean, budget / count, 0.0), edge(mean, budget / count, 1.0)


@njit(cache=True, error_model="numpy", nogil=True)
def intervals(means, counts, budgets, least, most):
    """``interval`` for flat arrays."""
    for k in range(len(means)):
        least[k], most[k] = interval(means[k], counts[k], budgets[k])


@njit(cache=True, error_model="numpy")
def contraction(rows):
    """Dobrushin coefficient: half the largest L1 distance between two rows."""
    most = 0.0
    for a in range(len(rows)):
        for b in range(a):
            most = max(most, 0.5 * np.abs(rows[a] - rows[b]).sum())
    return most


@njit(cache=True, error_model="numpy", nogil=True)
def join_ages(centers, radii):
    """Tighten the balls around n-step rows by P^n = P^m P^(n - m), for every m < n, in place.

    centers: (A, S, S), radii: (A, S) with || P^n(s, .) - centers[n - 1, s] ||_1 <= radii[n - 1, s].
    From C = C_m C_(n-m): row s of P^n - C is (P^m - C_m)(s) P^(n-m) + C_m(s) (P^(n-m) - C_(n-m)),
    so its L1 norm is at most radius_m(s) tau(P^(n-m)) + sum_i C_m(s, i) radius_(n-m)(i), and
    tau(P^k) <= tau(C_k) + max_i radius_k(i). With two states the intervals are intersected.
    """
    ages, size = radii.shape
    shrink = np.empty(ages)
    row = np.empty(size)
    for n in range(ages):
        for m in range(n):
            rest = n - m - 1  # ages m + 1 and rest + 1 make n + 1
            for s in range(size):
                radius = radii[m, s] * shrink[rest]
                for i in range(size):
                    radius += centers[m, s, i] * radii[rest, i]
                if size == 2:
                    center = centers[m, s, 0] * centers[rest, 0, 0]
                    center += centers[m, s, 1] * centers[rest, 1, 0]
                    low = max(center - 0.5 * radius, centers[n, s, 0] - 0.5 * radii[n, s])
                    high = min(center + 0.5 * radius, centers[n, s, 0] + 0.5 * radii[n, s])
                    if low <= high:
                        middle = min(1.0, max(0.0, 0.5 * (low + high)))
                        centers[n, s, 0], centers[n, s, 1] = middle, 1.0 - middle
                        radii[n, s] = high - low
                elif radius < radii[n, s]:
                    for i in range(size):
                        row[i] = 0.0
                        for k in range(size):
                            row[i] += centers[m, s, k] * centers[rest, k, i]
                    centers[n, s] = row
                    radii[n, s] = radius
        shrink[n] = min(1.0, contraction(centers[n]) + radii[n].max())


@njit(cache=True, error_model="numpy", nogil=True)
def most_mean(count, lost, squares, budget, most):
    """The largest mean up to ``most`` that ``count`` rewards in [0, 1] leave plausible.

    lost, squares: sums of D = 1 - R and of D^2. With x = D/(1 - mean) - 1 >= -1 and psi(l) =
    -log(1 - l) - l the product of exp(l x - psi(l) x^2) is a supermartingale for every l in (0, 1);
    here l = 1.6/2^k, k = 1, 2, ..., and a mean is ruled out if the logarithm of one is above
    budget + log(k (k + 1)). That is a quadratic in v = 1/(1 - mean), above it between its roots.
    """
    rounding = 2.3e-16 * count * count  # of sums of so many numbers up to 1
    lost, squares = lost - rounding, squares + 4.0 * rounding
    if count <= 0.0 or lost <= 0.0 or most >= 1.0:
        return most
    start, again = 1.0 / (1.0 - most), True
    v = start
    while again:
        again, share = False, 1.6
        for k in range(1, 21):
            share *= 0.5
            psi = -np.log1p(-share) - share
            rest = (share + psi) * count + budget + np.log(k * (k + 1.0))
            slope = (share + 2.0 * psi) * lost
            root = slope * slope - 4.0 * psi * squares * rest
            if root > 0.0:
                least = 2.0 * rest / (slope + np.sqrt(root))
                if least < v < 0.5 * (slope + np.sqrt(root)) / (psi * squares):
                    v, again = least, True
    return most if v == start else min(most, max(0.0, 1.0 - 1.0 / v))


@njit(cache=True, error_model="numpy", nogil=True)
def most_means(counts, lost, squares, budget, most):
    """``most_mean`` for flat arrays, in place."""
    for k in range(len(counts)):
        most[k] = most_mean(counts[k], lost[k], squares[k], budget, most[k])
