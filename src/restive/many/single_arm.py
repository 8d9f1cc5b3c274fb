"""One arm alone at a price for each pull: what it earns, and at which price it is worth a pull.

After state s was seen, choose how long to wait, n, or to wait for ever; the pull then earns
(P^n r)(s) - x and shows the next state. That is a semi-Markov decision process with only |S|
states. The argument for its certified bounds is written out in docs/theory/prices.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.described import Brief
from restive.base.errors import ArgumentError
from restive.many.waits import WaitTable, wait_table
from restive.model.bandit import Arm

MARGIN = 1e-10  # prices this far above the last one that pays have a gain of exactly 0
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, repr=False)
class PricedArm(Brief):
    """What an arm earns alone at a price, with certified bounds.

    lower, upper: bounds of g(x), the best average of reward - x per pull; waiting for ever earns 0.
    pulls: pulls a step of the best policy, minus the slope of g at x.
    waits: (S,) steps from seeing a state to the next pull, 0 for ever.
    values: (S,) h(s), the worth of having just seen s; where the gain is 0, all that is still
        earned before the arm is left alone, otherwise relative to one of the states.
    """

    arm: Arm
    price: float
    lower: float
    upper: float
    pulls: float
    waits: Ints
    values: Floats
    table: WaitTable = field(repr=False)
    _gain: float = field(repr=False)
    _home: int = field(repr=False)

    @property
    def gain(self) -> float:
        """g(x), in the middle of its interval."""
        return 0.5 * (self.lower + self.upper)

    @cached_property
    def advantages(self) -> Floats:
        """(S, A): what pulling now is worth more than resting, at each stored age."""
        from restive._kernels import waits

        table = self.table
        pulls = np.zeros((2, *table.means.shape))
        pulls[0] = self._pull_values()
        out = np.empty_like(table.means)
        gain, stopping = np.array([self._gain, 0.0]), self._gain <= 0
        waits.advantages(
            pulls, 0.0, stopping, table.steps, table.back, 1.0, gain, out, np.empty_like(out)
        )
        return out

    def advantage(self, state: int, age: int) -> float:
        """What pulling ``age`` steps after ``state`` was seen is worth more than resting."""
        return float(self.advantages[state, self.table.place(age)])

    @cached_property
    def age_values(self) -> Floats:
        """(S, A): V(s, n), the best from each stored age on; V(s, 1) = values[s]."""
        pull = self._pull_values()
        return np.asarray(pull + np.maximum(-self.advantages, 0.0))

    def _pull_values(self) -> Floats:
        worth = self.table.means - self.price - max(self._gain, 0.0)
        return np.asarray(worth + np.einsum("stk,t->sk", self.table.laws, self.values))


def price_arm(
    arm: Arm, price: float, *, start: PricedArm | None = None, cap: int | None = None
) -> PricedArm:
    """The best an arm can earn alone when every pull costs ``price``, with certified bounds.

    g(x) = max over waiting rules of the average of reward - x per pull. Policy iteration over
    waits takes a few rounds, fewer from ``start``, the same arm at a neighbouring price. cap: age
    from which on ages are merged; the bounds hold whatever it is.

    >>> arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])
    >>> priced = price_arm(arm, 0.7)
    >>> priced.waits.tolist(), round(priced.gain, 9), round(priced.pulls, 6)
    ([8, 1], 0.045089671, 0.424396)
    """
    if not np.isfinite(price):
        raise ArgumentError(f"price must be a finite number, not {price!r}")
    table = wait_table(arm, cap) if start is None else start.table
    waits, home = np.zeros(arm.n_states, dtype=np.int64), 0
    if start is not None and (start.waits > 0).all():
        waits, home = np.searchsorted(table.ages, start.waits), start._home
    solution = _solve(table, price, waits, home)
    if solution.gain <= 0:
        return _unwanted(table, price, solution)
    return _priced(table, price, solution)


@dataclass(frozen=True, eq=False)
class _Solution:
    gain: float
    pulls: float
    values: Floats
    waits: Ints  # places in the table, -1 for ever
    home: int


def _solve(
    table: WaitTable, price: float, waits: Ints, home: int, stopping: bool = False
) -> _Solution:
    from restive._kernels import waits as kernel

    gain, lines = np.zeros(2), np.zeros((len(waits), 2))
    pulls = np.empty((2, *table.means.shape))
    home = kernel.iterate(
        waits, home, price, stopping, table.laws, table.means, table.ages,
        np.ones(len(table.ages)), 1.0, gain, lines, pulls,
    )  # fmt: skip
    values = lines[:, 0] + lines[:, 1] * price
    return _Solution(float(gain[0] + gain[1] * price), float(-gain[1]), values, waits, int(home))


def _priced(table: WaitTable, price: float, solution: _Solution) -> PricedArm:
    excess, slack = _excess(table, price, solution.gain, solution.values)
    upper = solution.gain + float((excess + slack).max(initial=0.0))
    own = (np.arange(len(solution.waits)), solution.waits)
    lower = solution.gain + float((excess - slack)[own].min())
    ages = table.ages[solution.waits]
    return PricedArm(
        table.arm, price, max(lower, 0.0), upper, solution.pulls, ages, solution.values, table,
        solution.gain, solution.home,
    )  # fmt: skip


def _unwanted(table: WaitTable, price: float, losing: _Solution) -> PricedArm:
    """The arm at a price at which no lasting policy pays: what it earns before it is left alone.

    Values of a slightly lower price prove a gain of exactly 0, where that price does not pay
    either.
    """
    never = np.full(len(losing.waits), -1)
    proof = solution = _solve(table, price, never, losing.home, True)
    if losing.gain < -MARGIN * losing.pulls:
        proof = _solve(table, price - MARGIN, never.copy(), losing.home, True)
    excess, slack = _excess(table, price, 0.0, proof.values)
    upper = float((excess + slack).max(initial=0.0))
    ages = np.where(solution.waits < 0, 0, table.ages[solution.waits])
    return PricedArm(
        table.arm, price, 0.0, upper, 0.0, ages, solution.values, table, 0.0, losing.home
    )


def _excess(table: WaitTable, price: float, gain: float, values: Floats) -> tuple[Floats, Floats]:
    """By how much each wait beats h, a step: ((P^n (r + h))(s) - x - n g - h(s)) / n.

    Shape (S, A), and what is not known of it: rows beyond the cap, rounding and, where ages are
    stored at a distance, the ages in between.
    """
    worth = table.arm.rewards + values  # v
    excess = np.einsum("stk,t->sk", table.laws, worth) - price - gain * table.ages
    excess -= values[:, None]
    size, count = len(values), len(table.ages)
    units = 8 + 2 * size + 2 * size * np.log2(2 + count)
    units = units + size * np.maximum(np.arange(count) - table.dense, 0)
    scale = 1 + np.abs(worth).max() + abs(price)
    slack = 0.5 * table.doubts * np.ptp(worth) + EPS * units * (scale + abs(gain) * table.ages)
    slack = slack + _between(table, gain, worth)
    return excess / table.ages, slack / table.ages


def _between(table: WaitTable, gain: float, worth: Floats) -> Floats | float:
    """How much more a wait between two stored ages can be worth than the one before it.

    With w = P v - v, P^(n + j) v = P^n v + sum over i < j of P^(n + i) w, and P^(n + i) w grows by
    at most max(P^m (P w - w)) a step, where m is the last age up to which all are stored.
    """
    gaps = table.steps - 1.0
    if not gaps.any():
        return 0.0
    chain = table.arm.transitions
    growth = chain @ worth - worth
    smooth = table.laws[:, :, table.dense - 1] @ (chain @ growth - growth)
    bend = max(float(smooth.max()), 0.0)
    slope = np.einsum("stk,t->sk", table.laws, growth) - gain
    rise = np.maximum(gaps * (slope + 0.5 * bend * gaps), 0.0)
    return np.asarray(np.where(gaps > 0, rise, 0.0))
