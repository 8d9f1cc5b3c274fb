"""Products of a few long vectors, on the caller's thread.

A linear-algebra library would start threads of its own for these; on a busy machine they cost
more than the products.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, fastmath=True, error_model="numpy", nogil=True)
def products(rows, vector, out):
    """out[k] = rows[k] . vector for as many rows as ``out`` has entries."""
    for k in range(len(out)):
        total = 0.0
        for q in range(len(vector)):
            total += rows[k, q] * vector[q]
        out[k] = total


@njit(cache=True, fastmath=True, error_model="numpy", nogil=True)
def subtract(target, rows, weights):
    """target -= sum_k weights[k] rows[k]."""
    for k in range(len(weights)):
        weight = weights[k]
        for q in range(len(target)):
            target[q] -= weight * rows[k, q]
