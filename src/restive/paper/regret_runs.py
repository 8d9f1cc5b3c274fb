"""Runs of learners that several claims look at: regret over time, and on Theorem 3's family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from restive.learners import make_learner
from restive.model.bandit import Bandit
from restive.paper.criteria import DELTA
from restive.paper.estimates import Curve
from restive.planning import plan
from restive.problems import example1, lower_bound

__all__ = ["SETTINGS", "Setting", "gap_curve", "hard_regrets", "informed_regrets", "setting_curve"]

Floats = NDArray[np.float64]


def gap_curve(bandit: Bandit, name: str, horizon: int, seed: int, **options: Any) -> Curve:
    """The gap regret of one run over time."""
    from restive.simulation import BanditWorld, play

    rng = np.random.default_rng([seed, 1])
    learner = make_learner(name, bandit, horizon, DELTA, rng, **options)
    run = play(learner, BanditWorld(bandit, seed), horizon, plan=plan(bandit, 1e-6))
    assert run.gap_regret is not None
    return run.times.astype(np.float64), run.gap_regret


class Setting(NamedTuple):
    """A problem, and what Algorithm 2 is not told."""

    problem: Callable[[], Bandit]
    options: dict[str, bool]
    words: str


def _unknown(*names: str) -> dict[str, bool]:
    return {f"unknown_{name}": True for name in names}


_PERIODIC = partial(lower_bound, 2, 3, 0.25)
_MILD = partial(example1, 0.3)
SETTINGS: dict[str, Setting] = {
    "known": Setting(_MILD, {}, "Example 1, epsilon = 0.3"),
    "slow": Setting(partial(example1, 0.1), {}, "Example 1, epsilon = 0.1"),
    "periodic arms": Setting(_PERIODIC, {}, "two cycles of length 3"),
    "unknown states": Setting(_MILD, _unknown("states"), "Example 1, epsilon = 0.3"),
    "unknown mixing time": Setting(_MILD, _unknown("mixing"), "Example 1, epsilon = 0.3"),
    "unknown horizon": Setting(_MILD, _unknown("horizon"), "Example 1, epsilon = 0.3"),
    "unknown periods": Setting(_PERIODIC, _unknown("periods"), "two cycles of length 3"),
    "nothing known": Setting(_PERIODIC, _unknown("states", "mixing", "horizon", "periods"),
                             "two cycles of length 3"),
}  # fmt: skip


def setting_curve(name: str, horizon: int, seed: int) -> Curve:
    """Gap regret of Algorithm 2 in a setting."""
    setting = SETTINGS[name]
    return gap_curve(setting.problem(), "colored-ucrl2", horizon, seed, **setting.options)


def hard_regrets(
    name: str, horizon: int, cells: Sequence[tuple[int, int]], seed: int
) -> list[float]:
    """Gap regret on each (K, m) of Theorem 3's family, with new good arms for every seed."""
    regrets = []
    for k, m in cells:
        own = 10_000 * seed + 100 * k + m  # every cell draws for itself
        bandit = lower_bound(k, m, horizon=horizon, rng=own)
        regrets.append(float(gap_curve(bandit, name, horizon, own)[1][-1]))
    return regrets


def informed_regrets(horizon: int, cells: Sequence[tuple[int, int]], seed: int) -> list[float]:
    """The same for a learner that is told everything but the good arms.

    In each phase Thompson sampling over K Bernoulli arms, with horizon / m steps.
    """
    regrets = []
    for k, m in cells:
        rng = np.random.default_rng([seed, k, m, 29])
        gap = min(1.0, np.sqrt(k * m / horizon)) / 4
        means = np.full((m, k), 0.5)
        means[np.arange(m), rng.integers(k, size=m)] += gap
        regrets.append(_thompson(means, horizon // m, rng))
    return regrets


def _thompson(means: Floats, steps: int, rng: np.random.Generator) -> float:
    """Sum of the gaps of the arms pulled, in all phases side by side."""
    phases = np.arange(len(means))
    good, bad = np.ones(means.shape), np.ones(means.shape)
    lost, best = 0.0, means.max(axis=1)
    for _ in range(steps):
        arm = rng.beta(good, bad).argmax(axis=1)
        won = rng.random(len(phases)) < means[phases, arm]
        good[phases, arm] += won
        bad[phases, arm] += ~won
        lost += float((best - means[phases, arm]).sum())
    return lost
