"""Problems on which claims are measured: random ones, and some that only planning solves."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from restive.base.arrays import Floats
from restive.mdp.structured import Parameters, StructuredMDP
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.planning.evaluation import evaluate
from restive.problems import example3, random_problem
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


# --- problems that tell ----------------------------------------------------------------------
#
# On Example 1 and on cycles the myopic policy is optimal, so a learner without a planner would do
# as well there. Here it loses something in every step, for ever.


def paying_coin(epsilon: float = 0.2, pays: float = 0.6) -> Bandit:
    """Example 3 with a coin that pays more than the channel does on average.

    After a 0 the channel never expects as much as the coin again; the best policy tries it all the
    same. With the fair coin of Example 3 the two are equal after a long rest, and whoever looks a
    step ahead returns by accident.
    """
    channel = example3(epsilon).arms[0]
    return Bandit([channel, _coin(pays)], name=f"paying coin, epsilon = {epsilon:g}")


def paired_channel(epsilon: float = 0.2, pays: float = 0.6) -> Bandit:
    """The same with period 2: the channel pays in every other step, and may turn after it.

    States are (phase 0, busy), (phase 0, free), (phase 1, busy), (phase 1, free).
    """
    stay = 1 - epsilon
    rows = [[0, 0, 1, 0], [0, 0, 0, 1], [stay, epsilon, 0, 0], [epsilon, stay, 0, 0]]
    channel = Arm(np.array(rows), [0, 1, 0, 0], initial=0)
    return Bandit([channel, _coin(pays)], name=f"paired channel, epsilon = {epsilon:g}")


def _coin(pays: float) -> Arm:
    return Arm([[1.0]], [pays], name="coin", reward_noise="bernoulli")


def ladder(seed: int, rungs: int = 4) -> StructuredWorld:
    """An MDP of three colors in which going up pays nothing before the top, and resting a little.

    Action 0 rests: it pays something and mostly leads to the bottom. Action 1 climbs, and at the
    top it pays 1 and mostly stays. Whoever looks a step ahead rests for ever.
    """
    rng = np.random.default_rng([seed, 31])
    rest, up, stay = rng.uniform([0.05, 0.6, 0.9], [0.2, 0.95, 0.99])
    colors = np.array([[0, 1]] * (rungs - 1) + [[0, 2]])
    here = np.arange(rungs)
    climb = np.stack([np.minimum(here + 1, rungs - 1), here], axis=1)
    climb[-1] = rungs - 1, 0
    fall = np.tile([0, 1], (rungs, 1))
    laws = np.zeros((rungs, 2, 2))
    laws[:, 0], laws[:-1, 1], laws[-1, 1] = [0.95, 0.05], [up, 1 - up], [stay, 1 - stay]
    rewards = np.array([[rest, 0.0]] * (rungs - 1) + [[rest, 1.0]])
    return StructuredWorld(StructuredMDP(colors, np.stack([fall, climb], 1)), laws, rewards, seed)


COIN, PAIRED = "Example 3, epsilon = 0.2, its coin at 0.6", "the same channel with period 2"


@cache
def myopic_loss(bandit: Bandit) -> float:
    """What the myopic policy, all parameters known, loses in every step.

    >>> round(myopic_loss(paying_coin()), 4)
    0.0441
    """
    return float(plan(bandit, 1e-6).gain - evaluate(bandit, "myopic").gain)
