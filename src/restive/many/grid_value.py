"""What the policy of a grid plan earns, by simulation with little noise."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from restive.many.grid import GridPlan


STEPS_PER_CALL = 20_000  # between two chances to be interrupted
SHORT, LONGEST = 4_000, 200_000  # steps of a replication


@dataclass(frozen=True, eq=False)
class SimulatedGain:
    """Gain of a policy: the mean over independent replications, with an interval of it.

    Simulated, not certified: the interval misses the policy's gain with probability 1 - level
    (Student's t over the replications).
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
        return self.mean - self.half_width

    @property
    def upper(self) -> float:
        return self.mean + self.half_width


def simulate_gain(
    plan: GridPlan,
    *,
    steps: int = 20_000,
    replications: int = 16,
    level: float = 0.99,
    warm_up: int | None = None,
    scores: ArrayLike | None = None,
    rng: int = 0,
) -> SimulatedGain:
    """Play the plan's policy on the true chains from random starts.

    Averages r(x, a) + E h(next) - h(x) with the plan's values as h: its mean over time is the
    policy's gain for any h, and the nearer h is to the policy's own values the less it varies.
    scores: (K, S, slots) plays the arms with the largest scores instead (see ``scores_of``).
    Replication k draws from its own stream of the seed.
    """
    from scipy.stats import t as student

    play = _Play(plan, scores)
    before = 4 * max(arm.mixing_time(0.25) for arm in plan.arms) if warm_up is None else warm_up
    runs = [play.run(np.random.default_rng([rng, k]), before, steps) for k in range(replications)]
    gains = np.array([gain for gain, _, _ in runs])
    spread = float(gains.std(ddof=1)) / np.sqrt(replications) if replications > 1 else np.inf
    quantile = float(student.ppf(0.5 + 0.5 * level, max(1, replications - 1)))
    switches = sum(count for _, count, _ in runs)
    return SimulatedGain(
        mean=float(gains.mean()),
        half_width=quantile * spread,
        level=level,
        replications=replications,
        steps=steps,
        stay=replications * steps / max(1.0, switches),
        visits=np.concatenate([visits for _, _, visits in runs]),
    )


def gain_within(
    plan: GridPlan, seconds: float, rng: int, scores: ArrayLike | None = None
) -> SimulatedGain:
    """The same with as many steps as the time allows, by a short look first."""
    began = perf_counter()
    first = simulate_gain(plan, steps=SHORT, replications=8, scores=scores, rng=rng + 1)
    took = perf_counter() - began
    steps = int(min(LONGEST, SHORT * max(1.0, 0.4 * seconds / max(took, 1e-3))))
    if steps <= 2 * SHORT:
        return first
    return simulate_gain(plan, steps=steps, replications=16, scores=scores, rng=rng)


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

    def __init__(self, plan: GridPlan, scores: ArrayLike | None) -> None:
        self.plan, self.board = plan, plan.board
        empty = np.zeros((0, 0, 0))
        self.scores = empty if scores is None else np.asarray(scores, dtype=np.float64)
        size = max(arm.n_states for arm in plan.arms)
        self.chains = np.zeros((len(plan.arms), size, size))
        for j, arm in enumerate(plan.arms):
            self.chains[j, : arm.n_states, : arm.n_states] = arm.transitions

    def run(
        self, random: np.random.Generator, before: int, steps: int
    ) -> tuple[float, float, Ints]:
        """(gain, switches, visits) of one replication."""
        count = len(self.plan.arms)
        lasts = np.array([random.choice(arm.n_states, p=arm.stationary) for arm in self.plan.arms])
        ages, laws = np.arange(1, count + 1), np.zeros(self.chains.shape[:2])
        for j, arm in enumerate(self.plan.arms):
            laws[j, : arm.n_states] = arm.power(j + 1)[lasts[j]]
        state = (lasts, ages, laws, np.zeros(1))
        self._advance(random, before, state, 0)
        totals, visits = self._advance(random, steps, state, max(1, steps // 40))
        return totals[0] / steps, totals[2], visits

    def _advance(
        self, random: np.random.Generator, steps: int,
        state: tuple[Ints, Ints, Floats, Floats], every: int,
    ) -> tuple[Floats, Ints]:  # fmt: skip
        from restive._kernels import grid_play

        totals, pulls = np.zeros(3), self.plan.pulls
        seen: list[Ints] = []
        while steps > 0:
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
