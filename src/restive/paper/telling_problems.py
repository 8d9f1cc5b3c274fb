"""Problems that tell a learner that plans from one that only looks a step ahead.

On Example 1 and on cycles the myopic policy is optimal, so a learner without a planner would do as
well there. Here it loses something in every step, for ever.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from restive.mdp.structured import StructuredMDP
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from restive.planning.evaluation import evaluate
from restive.problems import example3
from restive.simulation import StructuredWorld


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
