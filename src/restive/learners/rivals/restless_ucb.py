"""Restless-UCB (Wang, Huang, Lui 2020): explore, then plan for an optimistic birth-death bandit."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log, sqrt

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.checks import require_horizon
from restive.base.errors import Fault, refuse
from restive.base.options import Parameter
from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.rivals.committing import Committing, best_policy
from restive.model.bandit import Arm, Bandit
from restive.policies.policy import Policy


def require_birth_death(bandit: Bandit) -> None:
    """Refuse chains that move to other than neighbouring states, in the order of their rewards."""
    faults = []
    for j, arm in enumerate(bandit.arms):
        order = reward_order(arm.rewards)
        rows = arm.transitions[np.ix_(order, order)]
        far = np.abs(np.subtract.outer(np.arange(len(rows)), np.arange(len(rows)))) > 1
        if (rows[far] > 0).any():
            message = f"{bandit.arm_name(j)} is no birth-death chain along increasing rewards"
            remedy = "Restless-UCB is defined for chains that move to neighbouring states only."
            faults.append(Fault(f"arms[{j}].transitions", message, "", remedy))
    refuse(faults)


@declare(
    "restless-ucb",
    "explore, then plan for an optimistic birth-death bandit (Restless-UCB)",
    guarantee="regret against rho* of order (N + M^3) T^(2/3), up to logarithms",
    assumes="birth-death chains along increasing rewards with P(k, k+1) + P(k+1, k) <= 1, all "
    "moves bounded away from 0",
    told="the horizon and the mean rewards",
    deviation="the offline oracle is the exact planner (tolerance 1/T), not Whittle's index; "
    "probabilities are cut to [0, 1], those of moves kept at 1/T or more; written from the "
    "abstract and the authors' program",
    cites=(
        "wang2020",
    ),
    options=(
        Parameter("samples", "float", ..., "multiple of T^(2/3) samples of every state", 0,
                  above=True),
        Parameter("width", "float", ..., "multiple of the radius rad", 0),
    ),
    practice=Practice({"samples": 0.1, "width": 0.1}, "m and rad are tuned multiples"),
    refuse=require_birth_death,
)  # fmt: skip
class RestlessUCB(Committing):
    """Restless-UCB: optimism once, after exploration.

    Arm by arm, pull until each state has been left
    m = floor(T^(2/3)) + 1 times. Then, states in the order of their rewards and with
    rad = sqrt(log(T) / (2 m)), raise each P^(k, k+1) by rad and lower each P^(k, k-1) by rad,
    solve this offline instance and follow its policy to the end.

    Regret: against the policy that the offline oracle finds for the true bandit; rho* with an exact
    oracle. That P(k, k+1) + P(k+1, k) <= 1 and that moves are bounded away from 0 is not checked:
    without it the algorithm runs, its optimism is lost. m and rad are those of
    the authors' program, since the paper's full text could not be had. Probabilities to the next
    states stay at 1/T or more so that the optimistic chain is irreducible. ``rewards``: (S_j,) mean
    rewards of each arm. ``samples`` and ``width`` multiply m and rad.
    """

    def __init__(
        self, rewards: Sequence[Floats], horizon: int, samples: float = 1.0, width: float = 1.0
    ) -> None:
        super().__init__([len(means) for means in rewards])
        self.rewards = [np.asarray(means, dtype=np.float64) for means in rewards]
        self.horizon = require_horizon(horizon)
        self.samples, self.width = float(samples), float(width)
        self.target = floor(self.samples * self.horizon ** (2 / 3)) + 1
        self.radius = self.width * sqrt(log(self.horizon) / (2 * self.target))

    @classmethod
    def from_problem(
        cls, bandit: Bandit, horizon: int, samples: float = 1.0, width: float = 1.0
    ) -> RestlessUCB:
        return cls([arm.rewards for arm in bandit.arms], horizon, samples, width)

    def exploring(self) -> tuple[int, int, int] | None:
        left = self.moves.sum(axis=2)
        for arm, size in enumerate(self.sizes):
            if (left[arm, :size] < self.target).any():
                return arm, 1 << 62, self.target
        return None

    def commit(self) -> Policy:
        arms = []
        for j, size in enumerate(self.sizes):
            moves = self.moves[j, :size, :size]
            rows = moves / moves.sum(axis=1, keepdims=True)
            order = reward_order(self.rewards[j])
            raised = optimistic_rows(rows[np.ix_(order, order)], self.radius, 1 / self.horizon)
            back = np.argsort(order)
            arms.append(Arm(raised[np.ix_(back, back)], self.rewards[j]))
        return best_policy(Bandit(arms), self.horizon)


def reward_order(rewards: Floats) -> Ints:
    """States by increasing reward, in the given order or its reverse where that will do."""
    if (np.diff(rewards) <= 0).all() and (np.diff(rewards) < 0).any():
        return np.arange(len(rewards))[::-1]
    return np.argsort(rewards, kind="stable")


def optimistic_rows(rows: Floats, radius: float, floor_at: float) -> Floats:
    """P~(k, k+1) = P^(k, k+1) + rad, P~(k, k-1) = P^(k, k-1) - rad, the rest stays; (S, S)."""
    size = len(rows)
    raised = np.zeros((size, size))
    for k in range(size):
        down = max(floor_at, rows[k, k - 1] - radius) if k > 0 else 0.0
        up = max(floor_at, rows[k, k + 1] + radius) if k < size - 1 else 0.0
        up = min(up, 1.0 - down)
        if k > 0:
            raised[k, k - 1] = down
        if k < size - 1:
            raised[k, k + 1] = up
        raised[k, k] = 1.0 - up - down
    return raised
