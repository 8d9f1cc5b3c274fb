"""Stochastic matrices in double-double arithmetic: twice the digits of a float."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from restive.base.arrays import Floats

EXACT_POWER_MAX_STATES = 64  # above this, double-double products cost more than they are worth


class DoubleDouble(NamedTuple):
    """A stochastic matrix in double-double arithmetic: the sum high + low of two arrays."""

    high: Floats
    low: Floats

    def __matmul__(self, other: DoubleDouble) -> DoubleDouble:
        if len(self.high) > EXACT_POWER_MAX_STATES:
            product = self.high @ other.high
            return DoubleDouble(
                product / product.sum(axis=1, keepdims=True), np.zeros_like(product)
            )
        high = np.zeros_like(self.high)
        low = np.zeros_like(self.high)
        for k in range(len(high)):
            a, b = self.high[:, k, None], other.high[None, k, :]
            product, error = _two_product(a, b)
            error = error + (a * other.low[None, k, :] + self.low[:, k, None] * b)
            high, carry = _two_sum(high, product)
            low = low + (carry + error)
        return DoubleDouble(*_two_sum(high, low))

    def rounded(self) -> Floats:
        return self.high + self.low


def lifted(p: Floats) -> DoubleDouble:
    """Lift P, with the diagonal replaced by what the off-diagonal entries leave of the row.

    Where the diagonal is 0 it stays so, or a periodic chain would be none: there the largest entry
    takes what the others leave.
    """
    high, low = p.copy(), np.zeros_like(p)
    for s in range(len(p)):
        free = s if p[s, s] > 0 else int(p[s].argmax())
        rest, error = np.ones(()), np.zeros(())
        for entry in np.delete(p[s], free):
            rest, carry = _two_sum(rest, -entry)
            error = error + carry
        high[s, free], low[s, free] = _two_sum(rest, error)
    return DoubleDouble(high, low)


def _two_sum(a: Floats | float, b: Floats | float) -> tuple[Floats, Floats]:
    """a + b and its rounding error (Knuth)."""
    total = np.add(a, b)
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a * b and its rounding error (Dekker, with Veltkamp's splitting)."""
    product = a * b
    a_high, b_high = (134217729.0 * a, 134217729.0 * b)
    a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error
