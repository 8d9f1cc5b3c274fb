"""One arm in ten pulled a step: how far Whittle's policy is below the bound as arms get many."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from restive.many.lagrangian import lagrangian_bound
from restive.many.policies import index_policy
from restive.many.population import Population
from restive.many.simulating import simulate_policy
from restive.many.whittle import whittle_table
from restive.model.bandit import Arm
from verification import ALPHA, Check, Finding, Settings, judge

__all__ = ["CHECKS"]

KINDS = 10
PULLS = 5_000_000  # counted over all runs, about
SHORTEST, WARM_UP = 40, 120  # steps of a run
RUNS, FEWER = 16, 4  # of up to LARGE arms, and of more
LARGE = 100_000
CLOSE = 1e-3  # the gap that the largest number of arms must fall below


def kinds() -> list[Arm]:
    """Ten different channels, rates .02 to .2."""
    rng = np.random.default_rng(61)
    arms = []
    for _ in range(KINDS):
        up, down = rng.uniform(0.02, 0.2, 2)
        arms.append(Arm([[1 - up, up], [down, 1 - down]], [0, rng.uniform(0.5, 1)]))
    return arms


def _gap(count: int) -> tuple[int, float, float, float]:
    """Arms, and the gap between bound and simulated value: middle, least, most."""
    arms, pulls = kinds(), count // 10
    upper = lagrangian_bound(arms, pulls, counts=[count // KINDS] * KINDS).upper
    population = Population(arms, np.arange(count) % KINDS)
    policy = index_policy("whittle", population, lambda arm: whittle_table(arm, cap=200).indices)
    runs = RUNS if count <= LARGE else FEWER
    steps = min(max(SHORTEST, PULLS // runs // pulls), LARGE)
    value = simulate_policy(population, policy, pulls, steps, runs, rng=count, warmup=WARM_UP,
                            confidence=1 - 2 * ALPHA)  # fmt: skip
    return count, *(1 - v / upper for v in (value.mean, value.upper, value.lower))


def check_tenth(settings: Settings) -> Iterator[Finding]:
    """Both ends meet as the number of arms grows: Whittle's policy is optimal in the limit."""
    sizes = (100, 1_000) if settings.quick else (100, 1_000, 10_000, 100_000, 1_000_000)
    gaps = [_gap(count) for count in sizes]
    settings.draw("many-tenth", partial(_paint, gaps))
    words = ", ".join(f"{gap:.3%} ({least:.3%} to {most:.3%}) at {count:,}"
                      for count, gap, least, most in gaps)  # fmt: skip
    yield Finding(
        "one arm in ten",
        f"{KINDS} kinds of two-state arms, m = K/10: 1 - simulated Whittle / bound",
        words,
        "not below 0" + ("" if settings.quick else f"; at most {CLOSE:.1%} in the end"),
        judge(all(most >= 0 for _, _, _, most in gaps)
              and (settings.quick or gaps[-1][2] <= CLOSE)),
    )  # fmt: skip


def _paint(gaps: list[tuple[int, float, float, float]], axes: Any) -> None:
    counts, middle, least, most = np.array(gaps).T
    axes.errorbar(counts, middle, yerr=[middle - least, most - middle], fmt="o-", capsize=3)
    axes.axhline(0, color="0.7", linewidth=0.8)
    axes.set(xscale="log", xlabel="arms K, of which K/10 are pulled a step",
             ylabel="share that Whittle's policy is below the bound")  # fmt: skip


CHECKS: dict[str, Check] = {"tenth": check_tenth}
