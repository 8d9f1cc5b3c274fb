"""RCA: the regenerative cycle algorithm for restless bandits."""

from __future__ import annotations

import numpy as np

from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.rivals.compiled import MarkedLearner, zeros
from restive.learners.rivals.spectra import (
    TIE,
    arm_count,
    largest_mass,
    largest_reward,
    multiplicative_gap,
)
from restive.model.arguments import told_bandit
from restive.model.bandit import Bandit


@declare(
    "rca",
    "regenerative cycles: upper confidence bounds on whole cycles of an arm's chain",
    guarantee="expected weak regret of order log T if L is at least 112 S_max^2 r_max^2 pi_max^2 / "
    "eps_min",
    assumes="irreducible, aperiodic chains whose multiplicative symmetrizations are irreducible, "
    "rewards fixed by the states",
    told="bounds on sizes, rewards, stationary laws and eigenvalue gaps",
    deviation="written from the published description, without the papers' text at hand; arms with "
    "reducible symmetrizations (such as periodic ones) do not count for L, which is 1 if there are "
    "no others; after a pull not asked for the cycle begins again",
    cites=(
        "tekin2011-access",
        "tekin2012",
    ),
    options=(Parameter("exploration", "float", ..., "L, if not as the paper has it", 0),),
    practice=Practice(
        {"exploration": 1.0},
        "L is a number that was tuned, not the theorem's sufficient one, which is far larger",
        told="the number of arms",
    ),
)
class RegenerativeCycles(MarkedLearner):
    """RCA: upper confidence bounds on samples from whole cycles of an arm's chain.

    Time is cut into blocks, each with one arm. A block waits until the arm is found in its marked
    state (the state it was first seen in), then lasts until it is found there again. Pulls from
    the first of these two on and before the second count as samples. The next block has the arm
    with the largest mean_j + sqrt(L log t2 / n_j), where n_j are the samples of arm j and t2 of
    all arms; the first K blocks have the arms in turn and need not wait.

    Made for: weak regret, of order log T.
    Parameters: L >= 112 S_max^2 r_max^2 pi_max^2 / eps_min, S_max the largest number of states,
    r_max the largest reward, pi_max the largest mu_j(s) or 1 - mu_j(s), eps_min the smallest
    eigenvalue gap of the multiplicative symmetrizations. The paper takes bounds on these as known:
    ``from_problem`` computes them exactly. The condition is sufficient, and far larger than needed.
    """

    kernels = "learn_cycle", "play_cycle"

    def __init__(self, n_arms: int, exploration: float) -> None:
        self.exploration = float(exploration)
        memory = {
            **zeros(n_arms),
            "marked": np.zeros(n_arms, dtype=np.bool_),
            "place": np.zeros(2, dtype=np.int64),
            "cycle": np.zeros(2),
        }
        super().__init__(n_arms, memory, exploration=self.exploration)

    @classmethod
    def from_problem(
        cls, problem: Bandit | int, exploration: float | None = None
    ) -> RegenerativeCycles:
        if exploration is None:
            exploration = cycle_constant(told_bandit(problem, "exploration"))
        return cls(arm_count(problem), exploration)

    def ask(self) -> int:
        return int(self.memory["place"][0])


def cycle_constant(bandit: Bandit) -> float:
    """L = 112 S_max^2 r_max^2 pi_max^2 / eps_min, with the exceptions named above.

    >>> from restive.problems import example1
    >>> round(cycle_constant(example1(0.1)), 6)
    311.111111
    """
    gaps = [gap for arm in bandit.arms if (gap := multiplicative_gap(arm)) > TIE]
    if not gaps:
        return 1.0
    widths = max(bandit.n_states) * largest_reward(bandit) * largest_mass(bandit)
    return 112 * widths**2 / min(gaps)
