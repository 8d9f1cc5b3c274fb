"""Restless-UCB (Wang, Huang, Lui 2020): explore, then plan for an optimistic birth-death bandit."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.checks import require, require_horizon
from restive.base.errors import Fault, ProblemError
from restive.learners.rivals.committing import Committing
from restive.learners.rivals.following import Follower, PlanFollower, plan_model
from restive.model.bandit import Arm, Bandit

__all__ = ["RestlessUCB", "applicable", "build", "optimistic_rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class RestlessUCB(Committing):
    """Restless-UCB, "an efficient and low-complexity algorithm for online restless bandits".

    Wang, Huang, Lui, NeurIPS 2020. Arm by arm, pull until each state has been left
    m = floor(T^(2/3)) + 1 times. Then, states in the order of their rewards and with
    rad = sqrt(log(T) / (2 m)), raise each P^(k, k+1) by rad and lower each P^(k, k-1) by rad,
    solve this offline instance and follow its policy to the end.

    Regret: against the policy that the offline oracle finds for the true bandit; rho* with an exact
    oracle, of order (N + M^3) T^(2/3) up to logarithms. Assumes: horizon and mean rewards known;
    each chain a birth-death chain along increasing rewards, with
    P(k, k+1) + P(k+1, k) <= 1, and probabilities of staying and of moving bounded away from 0. The
    last two are not checked: without them the algorithm runs, its optimism is lost. Nothing is
    tuned. ``rewards``: (S_j,) mean rewards of each arm.

    Written from the paper's abstract and the authors' published program, from which m and rad are
    taken; the paper's full text could not be had.

    Deviation: the oracle is the exact planner (tolerance 1/T), not Whittle's index.
    Deviation: probabilities are clipped to [0, 1], and those to the next states kept at 1/T or more
    so that the optimistic chain stays irreducible.
    """

    name = "restless-ucb"
    guarantee = (
        "Regret against rho* of order (N + M^3) T^(2/3), up to logarithms, for monotone "
        "birth-death chains with known rewards."
    )
    deviation = "Deviation: exact planning instead of Whittle's index as the offline oracle."

    def __init__(self, rewards: Sequence[Floats], horizon: int) -> None:
        super().__init__([len(means) for means in rewards])
        self.rewards = [np.asarray(means, dtype=np.float64) for means in rewards]
        self.horizon = require_horizon(horizon)
        self.target = floor(self.horizon ** (2 / 3)) + 1
        self.radius = sqrt(log(self.horizon) / (2 * self.target))

    @property
    def settings(self) -> dict[str, Any]:
        return {"rewards": [means.tolist() for means in self.rewards], "horizon": self.horizon}

    def exploring(self) -> tuple[int, int, int] | None:
        left = self.moves.sum(axis=2)
        for arm, size in enumerate(self.sizes):
            if (left[arm, :size] < self.target).any():
                return arm, 1 << 62, self.target
        return None

    def commit(self) -> Follower:
        arms = []
        for j, size in enumerate(self.sizes):
            moves = self.moves[j, :size, :size]
            rows = moves / moves.sum(axis=1, keepdims=True)
            order = reward_order(self.rewards[j])
            raised = optimistic_rows(rows[np.ix_(order, order)], self.radius, 1 / self.horizon)
            back = np.argsort(order)
            arms.append(Arm(raised[np.ix_(back, back)], self.rewards[j]))
        return PlanFollower(plan_model(Bandit(arms), self.horizon))


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


def _faults(bandit: Bandit) -> list[Fault]:
    faults = []
    for j, arm in enumerate(bandit.arms):
        order = reward_order(arm.rewards)
        rows = arm.transitions[np.ix_(order, order)]
        far = np.abs(np.subtract.outer(np.arange(len(rows)), np.arange(len(rows)))) > 1
        if (rows[far] > 0).any():
            message = f"{bandit.arm_name(j)} is no birth-death chain along increasing rewards"
            remedy = "Restless-UCB is defined for chains that move to neighbouring states only."
            faults.append(Fault(f"arms[{j}].transitions", message, "", remedy))
    return faults


def applicable(bandit: Bandit) -> str:
    """Why Restless-UCB is not defined for this bandit; empty if it is."""
    return "; ".join(fault.message for fault in _faults(bandit))


def build(
    bandit: Bandit, horizon: int | None, delta: float, rng: int | np.random.Generator
) -> RestlessUCB:
    """Told what the paper takes as known: horizon, state spaces and mean rewards."""
    require(horizon is not None, "horizon", horizon, "This learner needs the number of steps.")
    assert horizon is not None
    faults = _faults(bandit)
    if faults:
        raise ProblemError(faults)
    return RestlessUCB([arm.rewards for arm in bandit.arms], horizon)
