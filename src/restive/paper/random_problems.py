"""Random chains, bandits and eps-structured MDPs on which claims are measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from restive.base.arrays import Floats
from restive.mdp.structured import Parameters, StructuredMDP
from restive.model.bandit import Arm, Bandit
from restive.problems import random_problem
from restive.simulation import StructuredWorld

BLOCK = 50  # chains in a cell


def random_chain(rng: np.random.Generator) -> Floats:
    """An irreducible aperiodic chain of 2 to 6 states: dense, sparse, sticky or nearly periodic."""
    size = int(rng.integers(2, 7))
    weights = rng.dirichlet(np.full(size, rng.choice([0.1, 1.0])), size) + 1e-3 / size
    turn = np.roll(np.eye(size), 1, axis=1)
    weights += rng.choice([0.0, 5.0], p=[0.7, 0.3]) * turn
    weights += rng.choice([0.0, 1.0, 10.0], p=[0.4, 0.4, 0.2]) * np.eye(size)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def chain_block(
    block: int, stream: int, draw: Callable[[np.random.Generator], Floats] = random_chain
) -> list[Floats]:
    """The chains of one cell; every measurement has a stream of its own."""
    return [draw(np.random.default_rng([block, k, stream])) for k in range(BLOCK)]


def reversible_chain(rng: np.random.Generator) -> Floats:
    """A random walk on a weighted graph of 2 to 8 states, sometimes nearly cut in two."""
    size = int(rng.integers(2, 9))
    weights = rng.random((size, size)) ** rng.choice([1, 8]) + 1e-3
    weights += weights.T
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def small_bandit(seed: int) -> Bandit:
    """Two arms of two and three states with noisy rewards, another bandit for every seed."""
    return random_problem(2, [2, 3], np.random.default_rng([seed, 17]), reward_noise="bernoulli")


def small_mdp(
    seed: int, *, states: int = 6, colors: int = 4, outcomes: int = 3, spread: float = 0.05
) -> StructuredWorld:
    """Two actions in each of a few states; pairs of a color differ by up to 2 ``spread``.

    Every outcome is possible and the first leads to the next state, so all states communicate.
    """
    rng = np.random.default_rng([seed, 23])
    actions = 2
    coloring = rng.integers(0, colors, (states, actions))
    coloring.ravel()[:colors] = np.arange(colors)
    successors = np.empty((states, actions, outcomes), dtype=np.int64)
    for s, a in np.ndindex(states, actions):
        others = rng.permutation([y for y in range(states) if y != (s + 1) % states])
        successors[s, a] = [(s + 1) % states, *others[: outcomes - 1]]
    same = rng.dirichlet(np.ones(outcomes), colors)[coloring]
    own = rng.dirichlet(np.ones(outcomes), (states, actions))
    means, extra = rng.random(colors)[coloring], rng.random((states, actions))
    laws = (1 - spread) * same + spread * own
    return StructuredWorld(
        StructuredMDP(coloring, successors), laws, (1 - spread) * means + spread * extra, seed
    )


def first_color(world: StructuredWorld) -> dict[str, Any]:
    """What colored UCRL2 is told of its first color, in a world where pairs of a color are equal.

    The parameters are those of every color, of which it looks at the known one only.
    """
    colors = range(world.mdp.n_colors)
    rows, actions = np.array([np.argwhere(world.mdp.colors == c)[0] for c in colors]).T
    truth = Parameters(world.rewards[rows, actions], world.laws[rows, actions])
    return {"known": np.array(colors) == 0, "parameters": truth}


def arm_of(rows: Floats) -> Arm:
    """The chain as an arm, where rewards do not matter."""
    return Arm(rows, np.zeros(len(rows)))
