"""The Markov chain that a policy makes of the information states it reaches, and its gain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from restive.base.arrays import Bools, Floats, Ints
from restive.base.errors import TooLargeError
from restive.base.words import size_text
from restive.mdp.certificate import bandit_parameters, row_errors
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters
from restive.model.bandit import Bandit

Rule = Callable[[Ints, Ints, Ints], Ints]  # (last states, stored ages, arm pulled last) -> arms
Part = tuple[Ints, Ints, Floats, Floats, Ints, Ints]  # see _Explorer.expand

BYTES_PER_STATE = 600  # of the sparse chain and its factors, roughly
DENSE = 100  # systems up to this size are solved without importing SciPy
SWEEPS = 2000  # tried before it is imported


@dataclass(frozen=True)
class Value:
    """Average reward of a policy from the bandit's initial laws, with its interval."""

    gain: float
    gain_lower: float
    gain_upper: float
    states: int  # information states the policy can reach


def value_of(bandit: Bandit, rep: Representation, rule: Rule, memory: int) -> Value:
    """Exact gain of a policy on a representation, the doubt about rows beyond its caps included."""
    chain = chain_of(bandit, rep, rule, memory)
    closed = chain.moves.closed_classes()
    bias = np.zeros(len(chain.rewards))
    gains = np.empty(len(closed))
    for k, part in enumerate(closed):
        gains[k], bias[part] = _poisson(chain.moves, part, chain.rewards[part])
    weights = absorption(chain, closed) if len(closed) > 1 else np.ones(1)
    low, high = np.array([_bounds(chain, bias, part) for part in closed]).T
    gain = float(weights @ gains)
    transient = _outside(closed, len(bias))
    if len(closed) > 1 and chain.errors[transient].any():
        # how likely each class is depends on rows known only approximately
        return Value(gain, float(low.min()), float(high.max()), len(bias))
    return Value(gain, float(weights @ low), float(weights @ high), len(bias))


@dataclass(frozen=True, eq=False)
class SparseChain:
    """A sparse stochastic matrix, row by row; row x is entries begin[x] to begin[x + 1]."""

    begin: Ints  # (n + 1,)
    columns: Ints  # (m,)
    chances: Floats  # (m,)

    @classmethod
    def of(cls, rows: Ints, columns: Ints, chances: Floats, n: int) -> SparseChain:
        """From entries in the order of their rows."""
        return cls(np.searchsorted(rows, np.arange(n + 1)), columns, chances)

    @property
    def rows(self) -> Ints:
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))

    def reached(self, first: Ints) -> Bools:
        """States that can be reached from any of these, themselves included."""
        seen = np.zeros(len(self.begin) - 1, dtype=bool)
        frontier = first
        while len(frontier):
            seen[frontier] = True
            counts = self.begin[frontier + 1] - self.begin[frontier]
            ends = np.cumsum(counts)
            entries = np.arange(ends[-1]) + np.repeat(self.begin[frontier] - ends + counts, counts)
            nexts = self.columns[entries]
            frontier = np.unique(nexts[~seen[nexts]])
        return seen

    def reversed(self) -> SparseChain:
        order = np.argsort(self.columns, kind="stable")
        n = len(self.begin) - 1
        return SparseChain.of(self.columns[order], self.rows[order], self.chances[order], n)

    def closed_classes(self) -> list[Ints]:
        """Sets of states that reach each other and nothing else, by their smallest state."""
        back, classes = self.reversed(), []
        left = np.ones(len(self.begin) - 1, dtype=bool)  # states not known to reach a closed class
        while left.any():
            start = np.flatnonzero(left)[:1]
            while True:
                ahead, behind = self.reached(start), back.reached(start)
                lost = np.flatnonzero(ahead & ~behind)  # from there nothing leads back
                if not len(lost):
                    break
                start = lost[:1]
            classes.append(np.flatnonzero(ahead))
            left &= ~behind
        return sorted(classes, key=lambda part: int(part[0]))

    def within(self, part: Ints) -> tuple[Ints, Ints, Floats]:
        """Entries (row, column, chance) between these states, numbered in their order."""
        number = np.full(len(self.begin) - 1, -1)
        number[part] = np.arange(len(part))
        row, column = number[self.rows], number[self.columns]
        kept = (row >= 0) & (column >= 0)
        return row[kept], column[kept], self.chances[kept]


@dataclass(frozen=True, eq=False)
class PolicyChain:
    """A policy's chain; its states are numbered in the order in which the policy is asked."""

    moves: SparseChain
    rewards: Floats  # (n,)
    errors: Floats  # (n,) L1 error of the row used
    outcome_rewards: Floats  # (m,) reward of each entry of ``moves``
    start: Floats  # (n,) law after one pull of each arm


def chain_of(bandit: Bandit, rep: Representation, rule: Rule, memory: int) -> PolicyChain:
    """The chain of the information states that a policy reaches from the start."""
    last, states, ages, law = _first_states(bandit, rep)
    explorer = _Explorer(bandit, rep, bandit_parameters(bandit, rep))
    first = explorer.numbers(last, states, ages)
    parts: list[Part] = []
    while len(last):
        if BYTES_PER_STATE * len(explorer.number) > memory:
            raise TooLargeError(
                f"the policy reaches more than {len(explorer.number):.3g} information states, too "
                f"many for the {size_text(memory)} it may take; force smaller caps or raise the "
                "limit"
            )
        part, (last, states, ages) = explorer.expand(rule(states, ages, last), last, states, ages)
        parts.append(part)
    row, column, chance, paid, at, colors = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    n, order = len(explorer.number), np.lexsort((column, row))
    moves = SparseChain.of(row[order], column[order], chance[order], n)
    color = np.empty(n, dtype=np.int64)
    color[at] = colors
    start = np.bincount(first, law, minlength=n).astype(np.float64)
    rewards, errors = explorer.parameters.rewards[color], row_errors(bandit, rep)[color]
    return PolicyChain(moves, rewards, errors, paid[order], start)


def _first_states(bandit: Bandit, rep: Representation) -> tuple[Ints, Ints, Ints, Floats]:
    """Information states after one pull of each arm in turn, with their law."""
    count = bandit.n_arms
    laws = [arm.initial_law @ arm.power(j) for j, arm in enumerate(bandit.arms)]
    states = np.array(list(product(*(np.flatnonzero(law > 0) for law in laws))), dtype=np.int64)
    law = np.prod([laws[j][states[:, j]] for j in range(count)], axis=0)
    ages, last = rep.store(np.broadcast_to(np.arange(count, 0, -1), states.shape))
    return last, states, ages, law


class _Explorer:
    """Information states numbered in the order in which they are met."""

    def __init__(self, bandit: Bandit, rep: Representation, parameters: Parameters) -> None:
        self.rep, self.parameters = rep, parameters
        self.number: dict[int, int] = {}
        self.paid = np.zeros((rep.n_arms, rep.max_support))
        for j, arm in enumerate(bandit.arms):
            self.paid[j, : arm.n_states] = arm.rewards

    def numbers(self, last: Ints, states: Ints, ages: Ints) -> Ints:
        """Numbers of these states; those not met before get the next ones."""
        number = self.number
        places = self.rep.place(last, states, ages).tolist()
        return np.array([number.setdefault(place, len(number)) for place in places])

    def expand(
        self, pulls: Ints, last: Ints, states: Ints, ages: Ints
    ) -> tuple[Part, tuple[Ints, Ints, Ints]]:
        """Successors of the frontier: the chain's new entries, and the states not met before.

        Entries are (row, column, chance, reward of the outcome), then (row, color) of the pulls.
        """
        rep, each = self.rep, np.arange(len(last))
        rows = self.numbers(last, states, ages)
        colors = rep.colors(states, ages)[each, pulls]
        laws = self.parameters.probabilities[colors]
        row, outcome = np.nonzero(laws > 0)
        new_last, entry = pulls[row], np.arange(len(row))
        new_states, new_ages = states[row], rep.older(ages)[row]
        new_states[entry, new_last], new_ages[entry, new_last] = outcome, 1
        met = len(self.number)
        columns = self.numbers(new_last, new_states, new_ages)
        fresh = np.unique(columns, return_index=True)[1]
        fresh = fresh[columns[fresh] >= met]
        part = (rows[row], columns, laws[row, outcome], self.paid[new_last, outcome], rows, colors)
        return part, (new_last[fresh], new_states[fresh], new_ages[fresh])


def _outside(closed: list[Ints], n: int) -> Ints:
    """States in none of the closed classes."""
    return np.setdiff1d(np.arange(n), np.concatenate(closed), assume_unique=True)


def _solved(rows: Ints, columns: Ints, entries: Floats, sides: Floats) -> Floats:
    """x with A x = sides, A the sum of these entries; by SciPy where it is large."""
    n = len(sides)
    if n <= 5 * DENSE:  # importing SciPy takes longer
        matrix = np.zeros((n, n))
        np.add.at(matrix, (rows, columns), entries)
        return np.asarray(np.linalg.solve(matrix, sides))
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    sparse = coo_array((entries, (rows, columns)), shape=(n, n))
    return np.asarray(splu(sparse.tocsc()).solve(sides))


def _poisson(moves: SparseChain, part: Ints, rewards: Floats) -> tuple[float, Floats]:
    """Gain g and bias h of a closed class: g + h = r + P h, h(first) = 0."""
    if len(part) == 1:
        return float(rewards[0]), np.zeros(1)
    row, column, chance = moves.within(part)
    if len(part) > DENSE and (swept := _swept(row, column, chance, rewards)) is not None:
        return swept
    later, here = column > 0, np.arange(len(part))
    # the first bias is 0, so its column can carry the gain
    rows = np.concatenate([row[later], here[1:], here])
    columns = np.concatenate([column[later], here[1:], np.zeros_like(here)])
    entries = np.concatenate([-chance[later], np.ones(2 * len(part) - 1)])
    bias = _solved(rows, columns, entries, rewards)
    gain, bias[0] = float(bias[0]), 0.0
    return gain, bias


def _swept(row: Ints, column: Ints, chance: Floats, rewards: Floats) -> tuple[float, Floats] | None:
    """Gain and bias by damped sweeps; None where they are not accurate to rounding soon.

    The system would fill up, and its dense factors take longer than a few hundred sweeps.
    """
    begin, bias = np.searchsorted(row, np.arange(len(rewards))), np.zeros(len(rewards))
    for sweep in range(SWEEPS):
        change = rewards + np.add.reduceat(chance * bias[column], begin) - bias
        low, high = (float(change.min()), float(change.max())) if sweep % 10 == 0 else (0.0, 1.0)
        if high - low <= 1e-14 * (1 + float(np.abs(bias).max())):
            return 0.5 * (low + high), bias
        bias = bias + 0.9 * (change - change[0])
    return None


def _bounds(chain: PolicyChain, bias: Floats, part: Ints) -> tuple[float, float]:
    """min and max over a closed class of r + P h - h, rows known up to their L1 error."""
    moves = chain.moves
    nexts, begin = bias[moves.columns], moves.begin[:-1]
    worth = chain.outcome_rewards + nexts
    span = np.maximum.reduceat(worth, begin) - np.minimum.reduceat(worth, begin)
    change = chain.rewards + np.add.reduceat(moves.chances * nexts, begin) - bias
    doubt = 0.5 * chain.errors * span
    slack = 64 * np.finfo(np.float64).eps * (1 + np.abs(bias[part]).max())
    low, high = (change - doubt)[part].min() - slack, (change + doubt)[part].max() + slack
    return max(0.0, float(low)), min(1.0, float(high))


def absorption(chain: PolicyChain, closed: list[Ints]) -> Floats:
    """Probability of ending in each closed class from the start."""
    n = len(chain.start)
    transient = _outside(closed, n)
    label = np.full(n, len(closed))
    for k, part in enumerate(closed):
        label[part] = k
    weights = np.bincount(label, chain.start, minlength=len(closed) + 1)[:-1]
    if len(transient):
        row, column, chance = chain.moves.within(transient)
        here = np.arange(len(transient))
        visits = np.zeros(n)
        visits[transient] = _solved(np.concatenate([column, here]), np.concatenate([row, here]),
                                    np.concatenate([-chance, np.ones(len(here))]),
                                    chain.start[transient])  # fmt: skip
        moves = chain.moves
        flow = visits[moves.rows] * moves.chances
        weights = weights + np.bincount(label[moves.columns], flow, minlength=len(closed) + 1)[:-1]
    return np.asarray(weights / weights.sum())
