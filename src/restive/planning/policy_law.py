"""How often a policy is where: the stationary law of the information states that it reaches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.mdp.representation import Representation
from restive.model.bandit import Bandit
from restive.planning.policy_chain import (
    BYTES_PER_STATE,
    Rule,
    SparseChain,
    absorption,
    chain_of,
)

SWEEPS = 20_000
EXACT = 1e-12  # change of a sweep at which the law has settled


@dataclass(frozen=True, eq=False)
class PolicyLaw:
    """Information states with the part of the time that is spent in each.

    states, ages: (N, K) before the pull, ages up to their caps. last: (N,) arm pulled before.
    pulls, shares: (N,).
    """

    states: Ints
    ages: Ints
    last: Ints
    pulls: Ints
    shares: Floats


def law_of(bandit: Bandit, rep: Representation, rule: Rule, most: int) -> PolicyLaw:
    """The law of a policy on a representation, up to rounding.

    most: information states to reach at most. Raises TooLargeError beyond, and ArithmeticError
    where the chain of the policy takes too long to settle.
    """
    seen: list[tuple[Ints, Ints, Ints, Ints]] = []

    def noting(states: Ints, ages: Ints, last: Ints) -> Ints:
        pulls = rule(states, ages, last)
        seen.append((states, ages, last, pulls))
        return pulls

    chain = chain_of(bandit, rep, noting, most * BYTES_PER_STATE)  # in the order of its numbers
    closed = chain.moves.closed_classes()
    weights = absorption(chain, closed) if len(closed) > 1 else np.ones(1)
    shares = np.zeros(len(chain.rewards))
    for part, weight in zip(closed, weights, strict=True):
        shares[part] = weight * _stationary(chain.moves, part)
    there = shares > 0
    every = (np.concatenate(part)[there] for part in zip(*seen, strict=True))
    states, ages, last, pulls = every
    return PolicyLaw(states, ages, last, pulls, shares[there])


def _stationary(moves: SparseChain, part: Ints) -> Floats:
    """The stationary law of a closed class, by damped sweeps: mu = mu P."""
    row, column, chance = moves.within(part)
    law = np.full(len(part), 1.0 / len(part))
    for _ in range(SWEEPS):
        after = 0.1 * law + 0.9 * np.bincount(column, law[row] * chance, minlength=len(part))
        change = float(np.abs(after - law).sum())
        law = after / after.sum()
        if change <= EXACT:
            return np.asarray(law)
    raise ArithmeticError("the policy's chain takes too long to settle")
