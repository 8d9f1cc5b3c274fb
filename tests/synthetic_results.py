"""Results that no learner played: curves of a known shape, for tests of what is said about them."""

from __future__ import annotations

import numpy as np

from restive import Arm, Bandit, problems
from restive.experiments.results import Curves, Results

LEARNERS = (
    "tied-sampling", "tied-ucrl", "colored-ucrl2", "restless-ucb", "exp3-style", "ucrl2",
    "rca-with-a-long-name", "dsee", "epsilon-greedy", "best-arm",
)  # fmt: skip


def bandits():
    """Five problems that are drawn in five different ways."""
    return {
        "example 3": problems.example3(0.1),
        "two four-state arms": problems.random_problem(2, 4, rng=1, stickiness=0.5),
        "three arms": problems.random_problem(3, 3, rng=2),
        "four channels": problems.gilbert_elliott(4, 0.4, 0.4),
        "large arms": problems.random_problem(2, [20, 12], rng=1),
    }


def hostile_bandit():
    """Names that would break a page that trusted them."""
    arm = Arm(
        [[0.9, 0.1], [0.2, 0.8]], [0, 1], name="<script>alert('arm')</script>",
        states=['"><img src=x onerror=alert(1)>', "a&b"],
    )  # fmt: skip
    return Bandit([arm, Arm([[1.0]], [0.5], name="$x$ | `y` </style>")])


def results(
    named=None, learners=LEARNERS, horizons=(100_000,), runs=50, seed=0, refused=(), planned=True,
    points=200,
):  # fmt: skip
    """Regret c t^b with one random factor per run; learner k loses about 1.5^k times the first."""
    named = bandits() if named is None else named
    rng = np.random.default_rng(seed)
    finished = {}
    for p, problem in enumerate(named):
        for horizon in horizons:
            luck = rng.lognormal(0, 0.2, runs)
            for k, learner in enumerate(learners):
                if (problem, learner, horizon) not in refused:
                    finished[problem, learner, horizon] = _curves(
                        rng, (p, k), (horizon, points), luck, planned
                    )
    gains = dict.fromkeys(named, (0.7, 0.699999, 0.700001) if planned else (np.nan,) * 3)
    best = {
        name: (bandit.best_arm, bandit.arms[bandit.best_arm].gain) for name, bandit in named.items()
    }
    return Results(
        tuple(named), tuple(learners), tuple(horizons), runs, seed, named, gains,
        best, dict.fromkeys(refused, "it takes two arms at most"),
        {"versions": {"restive": "0.1.0", "numpy": "2.4.6"}, "machines": [{"cores": 2}],
         "files": dict.fromkeys(named, "0" * 64)},
        "restive compare a.toml --learners a,b --runs 50 --out results", finished,
    )  # fmt: skip


def _curves(rng, place, grid, luck, planned):
    (problem, learner), (horizon, points) = place, grid
    times = np.unique(np.geomspace(1, horizon, points).round().astype(np.int64))
    power = 0.35 + 0.06 * ((learner + problem) % 10)
    level = 2.0 * 1.5**learner * (horizon**0.5 / horizon**power)
    own = rng.lognormal(0, 0.15, len(luck))[:, None] * luck[:, None]
    gap = own * level * times**power
    noise = rng.normal(size=gap.shape).cumsum(axis=1) * 0.2 * np.sqrt(times)
    nothing = np.full(gap.shape, np.nan)
    seconds = rng.gamma(50, 0.004 * (learner + 1), len(luck))
    return Curves(
        times, gap + noise if planned else nothing, gap if planned else nothing,
        gap + noise - 0.05 * times, seconds, 0.1 * learner * seconds,
        np.full(len(luck), 12 + learner),
    )  # fmt: skip
