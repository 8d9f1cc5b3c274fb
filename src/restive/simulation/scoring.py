"""Sums along the steps of a run: what its pulls paid, and what they lost against the best."""

from __future__ import annotations

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.planning import Plan
from restive.policies.greedy import plan_policy

POINTS = 200
EARLY = 2  # pulls before there is an information state: of two arms one has rested by then
TABLE_BYTES = 1 << 28  # gaps are kept in a table up to this size and recomputed beyond it


def marks(horizon: int, points: int = POINTS) -> Ints:
    """Steps at which curves are written down: about ``points``, evenly spaced in the logarithm."""
    if horizon < 1:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.geomspace(1, horizon, points).round().astype(np.int64))


class _Sum:
    """A sum along the steps of a run, and its curve: what it was at the marks ``at``."""

    def __init__(self, at: Ints) -> None:
        self.at = at
        self.curve = np.zeros(len(at))
        self.total = 0.0
        self.steps = 0
        self._mark = 0  # how many marks were reached

    def end(self) -> None:
        """Let the curve end with the last step, if that came before the last mark."""
        self.at, self.curve = self.at[: self._mark], self.curve[: self._mark]
        if self.steps and self.steps not in self.at[-1:]:
            self.at, self.curve = np.append(self.at, self.steps), np.append(self.curve, self.total)


class RewardSum(_Sum):
    """Sum of the rewards received, along the marks, and how often each arm was pulled."""

    def __init__(self, at: Ints, n_arms: int) -> None:
        super().__init__(at)
        self.pulled = np.zeros(n_arms, dtype=np.int64)

    def add(self, pulls: Ints, rewards: Floats) -> None:
        """Steps with one pull each: pulls (n,) among arms that pay rewards (K, n)."""
        self._add(pulls, rewards, self.pulled)

    def add_paid(self, pulls: Ints, paid: Floats) -> None:
        """Steps that paid (n,) each, and all pulls made in them, any number a step."""
        self.pulled += np.bincount(pulls.ravel(), minlength=len(self.pulled))
        whole = np.zeros(len(paid), dtype=np.int64)  # as if one arm paid it all
        self._add(whole, paid[None], np.zeros(1, dtype=np.int64))

    def _add(self, pulls: Ints, rewards: Floats, pulled: Ints) -> None:
        from restive._kernels.scores import add_up

        self.total, self._mark = add_up(
            pulls, rewards, self.total, self.steps, self.at, self._mark, self.curve, pulled
        )
        self.steps += len(pulls)


class GapSum(_Sum):
    """Sum of the pulls' gaps along the information states: regret without luck.

    gap(x, a) = max_b Q(x, b) - Q(x, a) >= 0, where Q(x, a) = r(x, a) + sum_y p(y|x, a) h(y) comes
    from a plan. An arm that was not pulled yet counts as seen in the first step, so that there is
    an information state x_3 from the third step on, whatever the learner does; the two pulls before
    count nothing. Then E[T rho* - sum r_t] = E[sum of gaps] + E[boundary], up to T times the width
    of the plan's interval, with boundary = h(x_{T+1}) - h(x_3) + 2 rho* - r_1 - r_2.

    gain: rho*; where it depends on the start (periodic arms), that of the start of this run.
    """

    def __init__(self, plan: Plan, at: Ints) -> None:
        super().__init__(at)
        rep = plan.representation
        self.gain = plan.gain
        self._plan = plan
        policy = plan_policy(plan)
        self._moves, self._laws = policy.moves, policy.laws
        places = len(plan.values)
        fits = places * rep.n_arms * 8 <= TABLE_BYTES
        self._gaps = np.full((places if fits else 0, rep.n_arms), np.nan)
        self._last, self._paid = 0, 0.0
        self._states = self._seen = np.zeros(rep.n_arms, dtype=np.int64)
        self._first = 0.0

    def add(self, pulls: Ints, states: Ints, rewards: Floats) -> None:
        from restive._kernels.scores import add_gaps

        early = min(EARLY - self.steps, len(pulls))
        for step in range(early):
            self._begin(int(pulls[step]), states[:, step], rewards[:, step])
        early = max(early, 0)
        if len(pulls) == early:
            return
        self.total, self._mark, self._last = add_gaps(
            self._plan.values, self._moves, self._laws, self._gaps, pulls[early:],
            np.ascontiguousarray(states[:, early:]), self.total, self.steps, self.at, self._mark,
            self.curve, self._last, self._seen,
        )  # fmt: skip
        self.steps += len(pulls) - early

    def _begin(self, pull: int, states: Ints, rewards: Floats) -> None:
        """One of the first pulls: it counts nothing, but says where the run starts."""
        if self.steps == 0:
            self._states = states.copy()
        self._states[pull], self._last = states[pull], pull
        self._paid += float(rewards[pull])
        self.steps += 1
        self._mark = int(np.searchsorted(self.at, self.steps, side="right"))
        if self.steps < EARLY:
            return
        rep = self._plan.representation
        ages = [1 if arm == pull else EARLY for arm in range(rep.n_arms)]
        self._seen = np.array(
            [rep.color(arm, int(self._states[arm]), ages[arm]) for arm in range(rep.n_arms)]
        )
        self._first = self._value()
        self.gain = 0.5 * sum(self._plan.gain_from(self._states, ages))

    def _value(self) -> float:
        """h of the current information state."""
        from restive._kernels.play import place_of

        return float(self._plan.values[place_of(self._moves, self._last, self._seen)])

    @property
    def boundary(self) -> float:
        """What plain regret counts in expectation and the gaps do not: bounded, whatever T is."""
        start = min(self.steps, EARLY) * self.gain - self._paid
        return start + (self._value() - self._first if self.steps > EARLY else 0.0)
