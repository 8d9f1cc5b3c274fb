"""Runs of learners that several claims look at: regret over time, and on Theorem 3's family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.learners import make_learner
from restive.learners.paper.inputs import Inputs
from restive.learners.paper.restless import RestlessLearner
from restive.model.bandit import Bandit
from restive.paper.criteria import DELTA
from restive.paper.estimates import Curve
from restive.paper.problems import COIN, PAIRED, paired_channel, paying_coin
from restive.planning import plan
from restive.problems import example1, lower_bound

STAYING = 0.1  # chances that an arm of the aperiodic family stays, over all T steps


def gap_curve(bandit: Bandit, name: str, horizon: int, seed: int, **options: Any) -> Curve:
    """The gap regret of one run over time."""
    from restive.simulation import BanditWorld, play

    rng = np.random.default_rng([seed, 1])
    learner = make_learner(name, bandit, horizon, DELTA, rng, **options)
    run = play(learner, BanditWorld(bandit, seed), horizon, plan=plan(bandit, 1e-6))
    assert run.gap_regret is not None
    return run.times.astype(np.float64), run.gap_regret


class Setting(NamedTuple):
    """A problem, what Algorithm 2 is not told of it, and the name of both for readers."""

    problem: Callable[..., Bandit]
    options: dict[str, bool]
    words: str


def unknown(*names: str) -> dict[str, bool]:
    return {f"unknown_{name}": True for name in names}


SETTINGS: dict[str, Setting] = {
    "known": Setting(partial(example1, 0.3), {}, "Example 1, epsilon = 0.3"),
    "slow": Setting(partial(example1, 0.1), {}, "Example 1, epsilon = 0.1"),
    "telling": Setting(paying_coin, {}, COIN),
    "periodic arms": Setting(paired_channel, {}, PAIRED),
    "unknown states": Setting(paying_coin, unknown("states"), COIN),
    "unknown mixing time": Setting(paying_coin, unknown("mixing"), COIN),
    "unknown horizon": Setting(paying_coin, unknown("horizon"), COIN),
    "unknown periods": Setting(paired_channel, unknown("periods"), PAIRED),
    "nothing known": Setting(paying_coin, unknown("states", "mixing", "horizon", "periods"),
                             COIN),
}  # fmt: skip


def setting_curve(name: str, horizon: int, seed: int) -> Curve:
    """Gap regret of Algorithm 2 in a setting."""
    setting = SETTINGS[name]
    return gap_curve(setting.problem(), "colored-ucrl2", horizon, seed, **setting.options)


def hard_regret(name: str, horizon: int, size: tuple[int, int], seed: int) -> float:
    """Gap regret on (K, m) of Theorem 3's family, with new good arms for every seed."""
    k, m = size
    own = 10_000 * seed + 100 * k + m  # every size draws for itself
    bandit = lower_bound(k, m, horizon=horizon, rng=own)
    return float(gap_curve(bandit, name, horizon, own)[1][-1])


def hardest_gap(k: int, m: int, horizon: int) -> float:
    """The gap of the proof: sqrt(S / T) / 4, and 1/4 at most."""
    return float(min(1.0, np.sqrt(k * m / horizon)) / 4)


def informed_regret(horizon: int, size: tuple[int, int], seed: int) -> float:
    """The same for a learner that is told everything but the good arms.

    In each phase Thompson sampling over K Bernoulli arms, with horizon / m steps.
    """
    k, m = size
    rng = np.random.default_rng([seed, k, m, 29])
    means = np.full((m, k), 0.5)
    means[np.arange(m), rng.integers(k, size=m)] += hardest_gap(k, m, horizon)
    return _thompson(means, horizon // m, rng)


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


def staying_regret(name: str, horizon: int, size: tuple[int, int], seed: int) -> float:
    """Regret on Theorem 3's family made aperiodic: every state is kept with probability 1/(10 T).

    name: a learner, told the periods of the cycles, or "told" for one told all but the good arms.
    Against the policy that goes by the clock, which is best while no arm has stayed.
    """
    k, m = size
    rng = np.random.default_rng([seed, k, m, 43])
    best = rng.integers(k, size=m)
    moved = rng.random((k, horizon)) >= STAYING / horizon
    path = np.asarray((np.cumsum(moved, axis=1) - moved[:, :1]) % m)
    means = 0.5 + hardest_gap(k, m, horizon) * (best[path] == np.arange(k)[:, None])
    paid = (rng.random((k, horizon)) < means).astype(np.float64)
    if name == "told":
        pulls = _told_pulls(path, paid, m, rng)
    else:
        inputs = Inputs(k, DELTA, horizon, (1,) * k, (m,) * k, (m,) * k)
        pulls = RestlessLearner(inputs).play_path(path, paid)
    steps = np.arange(horizon)
    return float((means[best[steps % m], steps] - means[pulls, steps]).sum())


def _told_pulls(path: Ints, paid: Floats, phases: int, rng: np.random.Generator) -> Ints:
    """Thompson sampling in each phase, the phase being that of the arm seen last."""
    good, bad = np.ones((phases, len(path))), np.ones((phases, len(path)))
    pulls, phase = np.zeros(path.shape[1], dtype=np.int64), 0
    for t in range(len(pulls)):
        arm = int(rng.beta(good[phase], bad[phase]).argmax())
        pulls[t], seen = arm, path[arm, t]
        good[seen, arm] += paid[arm, t]
        bad[seen, arm] += 1 - paid[arm, t]
        phase = int(seen + 1) % phases
    return pulls
