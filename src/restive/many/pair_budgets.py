"""Conditional budgets and transfers: the numbers that split a bandit over its pairs of arms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.many.pair_tables import Family, Side


@dataclass(frozen=True, eq=False)
class Budgets:
    """Prices L_c(x, a) = K l_c(x, a) and transfers T_cd(x, a); every choice gives a bound.

    prices: per class (X, 2), what a pull elsewhere costs while an arm of the class is in state x
        and rests (0) or is pulled (1). Constant prices give the Lagrangian bound.
    transfers: (c, d) -> (X_c, 2), what arms of class c earn more in their pairs with class d; the
        mean over all pairs of the arm is taken off again, so that they cancel.
    """

    prices: tuple[Floats, ...]
    transfers: dict[tuple[int, int], Floats]

    def flat(self) -> Floats:
        parts = [*self.prices, *self.transfers.values()]
        return np.concatenate([part.ravel() for part in parts])

    def like(self, numbers: Floats) -> Budgets:
        """Budgets of the same shapes from one long vector."""
        parts = []
        at = 0
        for part in [*self.prices, *self.transfers.values()]:
            parts.append(numbers[at : at + part.size].reshape(part.shape))
            at += part.size
        n = len(self.prices)
        return Budgets(tuple(parts[:n]), dict(zip(self.transfers, parts[n:], strict=True)))


def constant_budgets(family: Family, price: float) -> Budgets:
    """A pull costs ``price`` whatever the states: the Lagrangian bound."""
    shapes = [(len(side.after), 2) for side in family.sides]
    transfers = {}
    for c, shape in enumerate(shapes):
        partners = family.partners(c)
        for d in partners if len(partners) > 1 else []:
            transfers[c, d] = np.zeros(shape)
    return Budgets(tuple(np.full(shape, price) for shape in shapes), transfers)


@dataclass(frozen=True, eq=False)
class Payoffs:
    """What a pair earns: own(x, a) + own'(y, b) - cross(x, a) b - cross'(y, b) a, times K - 1.

    own: (c, d) -> (X_c, 2), for an arm of class c in its pairs with class d. cross: per class.
    """

    own: dict[tuple[int, int], Floats]
    cross: tuple[Floats, ...]

    def of(self, c: int, d: int) -> tuple[Floats, Floats, Floats, Floats]:
        return self.own[c, d], self.cross[c], self.own[d, c], self.cross[d]


def payoffs(family: Family, budgets: Budgets) -> Payoffs:
    """phi(x, a) = r(x) a + (m - a) L(x, a) / K, own_cd = phi + T_cd - sum_e share_ce T_ce."""
    n = family.n_arms
    own, cross = {}, []
    for c, (side, price) in enumerate(zip(family.sides, budgets.prices, strict=True)):
        left = family.pulls - np.array([0.0, 1.0])
        total = price * left / n
        total[:, 1] += side.laws @ side.rewards
        partners = family.partners(c)
        for e in partners:
            if (c, e) in budgets.transfers:
                total = total - family.share(c, e) * budgets.transfers[c, e]
        for d in partners:
            own[c, d] = np.ascontiguousarray(total + budgets.transfers.get((c, d), 0.0))
        cross.append(np.ascontiguousarray((n - 1) / n * price))
    return Payoffs(own, tuple(cross))


def gradient(family: Family, budgets: Budgets, slopes: Payoffs) -> Budgets:
    """Derivatives of a function of the payoffs by the budgets, from those by the payoffs."""
    n = family.n_arms
    left = family.pulls - np.array([0.0, 1.0])
    sums = [
        sum((slopes.own[c, d] for d in family.partners(c)), np.zeros_like(price))
        for c, price in enumerate(budgets.prices)
    ]
    prices = tuple(
        left / n * total + (n - 1) / n * cross
        for total, cross in zip(sums, slopes.cross, strict=True)
    )
    transfers = {
        (c, d): slopes.own[c, d] - family.share(c, d) * sums[c] for c, d in budgets.transfers
    }
    return Budgets(prices, transfers)


def read_at(
    budgets: Budgets, values: dict[tuple[int, int], Floats], known: Family, target: Family
) -> tuple[Budgets, dict[tuple[int, int], Floats]]:
    """Budgets and values of one set of caps read at another, state by state of equal age."""
    places = [_places(a, b) for a, b in zip(known.sides, target.sides, strict=True)]
    prices = tuple(price[place] for price, place in zip(budgets.prices, places, strict=True))
    transfers = {(c, d): part[places[c]] for (c, d), part in budgets.transfers.items()}
    read = {(c, d): h[np.ix_(places[c], places[d])] for (c, d), h in values.items()}
    return Budgets(prices, transfers), read


def _places(known: Side, target: Side) -> Ints:
    """For each wanted state a known one: the two age side by side, the first to meet counts."""
    place = np.full(len(target.after), -1, dtype=np.int64)
    at, there = target.fresh, known.fresh
    for _ in range(len(target.after) + len(known.after)):
        last = known.ages[there] < 0  # "not seen for long" is known best by what never gets older
        fresh = (place[at] < 0) | last
        place[at[fresh]] = there[fresh]
        at, there = target.after[at], known.after[there]
    return place
