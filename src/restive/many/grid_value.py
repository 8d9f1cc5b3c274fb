"""What the policy of a grid plan earns, by simulation with little noise."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from restive.many.grid import GridPlan


EQUAL = 1e-13  # gains that differ by no more than rounding
STEPS_PER_CALL = 20_000  # between two chances to be interrupted
SHORT, LONGEST = 4_000, 200_000  # steps of a replication,
LEAST_MIXED = 4  # but at least so many mixing times of the slowest arm
WARM_UP = 4  # mixing times
LEAST_SECONDS = 1.0  # for the short look


@dataclass(frozen=True, eq=False)
class SimulatedGain:
    """Gain of a policy: the mean over independent replications, with an interval of it.

    Simulated, not certified: the interval misses the policy's gain with probability 1 - level
    (Student's t over the replications). Endless where there are fewer than two replications, or
    where periodic arms made all of them equal, which says nothing of longer ones.
    """

    mean: float
    half_width: float
    level: float
    replications: int
    steps: int  # of each replication, after the warm-up
    stay: float  # mean number of steps from one change of arms to the next
    visits: Ints  # (V, 1 + 2 K) sampled (set, last states, ages), for refining grids

    @property
    def lower(self) -> float:
        return self.mean - self.half_width if self.half_width < np.inf else -np.inf

    @property
    def upper(self) -> float:
        return self.mean + self.half_width if self.half_width < np.inf else np.inf


def simulate_gain(
    plan: GridPlan,
    *,
    steps: int = 20_000,
    replications: int = 16,
    level: float = 0.99,
    warm_up: int | None = None,
    scores: ArrayLike | None = None,
    rng: int = 0,
    deadline: float = np.inf,
) -> SimulatedGain:
    """Play the plan's policy on the true chains from random starts.

    Averages r(x, a) + E h(next) - h(x) with the plan's values as h: its mean over time is the
    policy's gain for any h, and the nearer h is to the policy's own values the less it varies.
    scores: (K, S, slots) plays the arms with the largest scores instead (see ``scores_of``).
    Replication k draws from its own stream of the seed. deadline: of ``perf_counter``;
    replications that are not over by then are left out.
    """
    play = _Play(plan, scores, deadline)
    before = WARM_UP * _slowest(plan) if warm_up is None else warm_up
    runs = []
    for k in range(replications):
        run = play.run(np.random.default_rng([rng, k]), before, steps)
        if run is None:
            break
        runs.append(run)
    gains = np.array([gain for gain, _, _ in runs])
    width = 1 + 2 * len(plan.arms)
    return SimulatedGain(
        mean=float(gains.mean()) if runs else np.nan,
        half_width=_half_width(gains, level, max(arm.period for arm in plan.arms)),
        level=level,
        replications=len(runs),
        steps=steps,
        stay=len(runs) * steps / max(1.0, sum(count for _, count, _ in runs)),
        visits=np.concatenate(
            [np.zeros((0, width), dtype=np.int64), *(seen for _, _, seen in runs)]
        ),
    )


def _slowest(plan: GridPlan) -> int:
    return max(arm.mixing_time(0.25) for arm in plan.arms)


def _half_width(gains: Floats, level: float, period: int) -> float:
    """Half of Student's interval over the replications."""
    from scipy.special import stdtrit  # scipy.stats takes half a second to import

    if len(gains) < 2 or (period > 1 and np.ptp(gains) <= EQUAL):
        return np.inf
    quantile = stdtrit(len(gains) - 1, 0.5 + 0.5 * level)
    return float(quantile * gains.std(ddof=1) / np.sqrt(len(gains)))


def gain_within(
    plan: GridPlan, seconds: float, rng: int, scores: ArrayLike | None = None
) -> SimulatedGain:
    """The same with as many steps as the time allows, by a short look first.

    Both count whole periods of the arms and enough mixing times for a replication to see the
    slowest arm move; where there is no time for that, the interval is endless.
    """
    began = perf_counter()
    ends = began + max(seconds, LEAST_SECONDS)
    period = lcm(*(arm.period for arm in plan.arms))
    least = _whole(max(SHORT, LEAST_MIXED * _slowest(plan)), period)
    first = simulate_gain(plan, steps=least, replications=8, scores=scores, rng=rng + 1,
                          deadline=ends)  # fmt: skip
    took = perf_counter() - began
    steps = _whole(int(min(LONGEST, least * max(1.0, 0.4 * seconds / max(took, 1e-3)))), period)
    if steps <= 2 * least or first.replications < 2:
        return first
    longer = simulate_gain(plan, steps=steps, replications=16, scores=scores, rng=rng,
                           deadline=ends)  # fmt: skip
    return longer if longer.half_width < np.inf else first


def _whole(steps: int, period: int) -> int:
    """At least so many steps in whole periods."""
    return -(-steps // period) * period


def scores_of(plan: GridPlan, score: list[Floats]) -> Floats:
    """Scores by (arm, last state, slot) from each arm's table (S, ages); older ages: the last."""
    from restive.many.grid_board import slots_of

    board = plan.board
    table = np.full(board.laws.shape[:3], -np.inf)
    for j, grid in enumerate(plan.layout.grids):
        ages = np.minimum(slots_of(grid), score[j].shape[1]) - 1
        table[j, : grid.arm.n_states, : len(ages)] = score[j][:, ages]
    return table


class _Play:
    """A plan's policy, or one by scores, ready to be played."""

    def __init__(self, plan: GridPlan, scores: ArrayLike | None, deadline: float) -> None:
        self.plan, self.board, self.deadline = plan, plan.board, deadline
        empty = np.zeros((0, 0, 0))
        self.scores = empty if scores is None else np.asarray(scores, dtype=np.float64)
        size = max(arm.n_states for arm in plan.arms)
        self.chains = np.zeros((len(plan.arms), size, size))
        for j, arm in enumerate(plan.arms):
            self.chains[j, : arm.n_states, : arm.n_states] = arm.transitions

    def run(
        self, random: np.random.Generator, before: int, steps: int
    ) -> tuple[float, float, Ints] | None:
        """(gain, switches, visits) of one replication; None if it is not over by the deadline."""
        count = len(self.plan.arms)
        lasts = np.array([random.choice(arm.n_states, p=arm.stationary) for arm in self.plan.arms])
        ages, laws = np.arange(1, count + 1), np.zeros(self.chains.shape[:2])
        for j, arm in enumerate(self.plan.arms):
            laws[j, : arm.n_states] = arm.power(j + 1)[lasts[j]]
        state = (lasts, ages, laws, np.zeros(1))
        self._advance(random, before, state, 0)
        totals, visits = self._advance(random, steps, state, max(1, steps // 40))
        return None if perf_counter() > self.deadline else (totals[0] / steps, totals[2], visits)

    def _advance(
        self, random: np.random.Generator, steps: int,
        state: tuple[Ints, Ints, Floats, Floats], every: int,
    ) -> tuple[Floats, Ints]:  # fmt: skip
        from restive._kernels import grid_play

        totals, pulls = np.zeros(3), self.plan.pulls
        seen: list[Ints] = []
        while steps > 0 and perf_counter() <= self.deadline:
            now = min(steps, STEPS_PER_CALL)
            rows = now // every if every else 0
            visits = np.zeros((rows, 1 + 2 * len(self.plan.arms)), dtype=np.int64)
            draws = random.random((now, max(1, pulls)))
            grid_play.play(self.board, self.chains, self.scores, pulls, draws, *state, visits,
                           every, totals)  # fmt: skip
            seen.append(visits)
            steps -= now
        width = 1 + 2 * len(self.plan.arms)
        return totals, np.concatenate(seen) if seen else np.zeros((0, width), dtype=np.int64)
