"""Regret of a run, three ways that must not be confused, computed from its pulls alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from restive.learners.greedy import laws_of, moves_of
from restive.planning import Plan, bandit_parameters

__all__ = ["GapSum", "RewardSum", "marks"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POINTS = 200
TABLE_BYTES = 1 << 28  # gaps are kept in a table up to this size and worked out anew beyond it


def marks(horizon: int, points: int = POINTS) -> Ints:
    """Steps at which curves are written down: about ``points``, evenly spaced in the logarithm."""
    if horizon < 1:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.geomspace(1, horizon, points).round().astype(np.int64))


def _ended(at: Ints, curve: Floats, mark: int, steps: int, total: float) -> tuple[Ints, Floats]:
    """A curve whose first ``mark`` marks were reached, up to the last step made."""
    at, curve = at[:mark], curve[:mark]
    if steps in at[-1:] or not steps:
        return at, curve
    return np.append(at, steps), np.append(curve, total)


class RewardSum:
    """Sum of the rewards received, along the marks, and how often each arm was pulled."""

    def __init__(self, at: Ints, n_arms: int) -> None:
        self.at = at
        self.curve = np.zeros(len(at))
        self.pulled = np.zeros(n_arms, dtype=np.int64)
        self.total = 0.0
        self.steps = 0
        self._mark = 0

    def add(self, pulls: Ints, rewards: Floats) -> None:
        from restive._kernels.scores import add_up

        self.total, self._mark = add_up(
            pulls, rewards, self.total, self.steps, self.at, self._mark, self.curve, self.pulled
        )
        self.steps += len(pulls)

    def end(self) -> None:
        """Let the curve end with the last step, if that came before the last mark."""
        self.at, self.curve = _ended(self.at, self.curve, self._mark, self.steps, self.total)


class GapSum:
    """Sum of the pulls' gaps along the true information states (regret without reward noise).

    gap(x, a) = max_b Q(x, b) - Q(x, a), where Q(x, a) = r(x, a) + sum_y p(y|x, a) h(y) comes from
    a plan. Then E[T rho* - sum r_t] = E[sum of gaps] + E[h(x_{T+1})] - E[h(x_1)], up to T times the
    width of the plan's interval. x_1 is the first complete information state: until every arm
    has been seen a step counts rho* - r_t.
    """

    def __init__(self, plan: Plan, at: Ints) -> None:
        rep = plan.representation
        self.at = at
        self.curve = np.zeros(len(at))
        self.total = 0.0
        self._steps = self._mark = 0
        self._gain = plan.gain
        self._values, self._laws = plan.values, laws_of(bandit_parameters(plan.bandit, rep))
        places = len(plan.values)
        fits = places * rep.n_arms * 8 <= TABLE_BYTES
        self._gaps = np.full((places if fits else 0, rep.n_arms), np.nan)
        self._last = 0
        self._seen = np.full(rep.n_arms, -1)
        self._moves = moves_of(rep)
        self._first = np.nan

    def add(self, pulls: Ints, states: Ints, rewards: Floats) -> None:
        from restive._kernels.scores import add_gaps

        self.total, self._mark, self._last, first = add_gaps(
            self._values, self._moves, self._laws, self._gaps, pulls, states, rewards, self._gain,
            self.total, self._steps, self.at, self._mark, self.curve, self._last, self._seen,
        )  # fmt: skip
        self._steps += len(pulls)
        if not np.isnan(first):
            self._first = float(first)

    def end(self) -> None:
        """As for a RewardSum."""
        self.at, self.curve = _ended(self.at, self.curve, self._mark, self._steps, self.total)

    @property
    def boundary(self) -> float:
        """h(x_{T+1}) - h(x_1), or 0 if there is no complete information state yet."""
        from restive._kernels.play import place_of

        if np.isnan(self._first):
            return 0.0
        place = place_of(self._moves, self._last, self._seen)
        return float(self._values[place]) - self._first
