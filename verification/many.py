"""Slow arms and many arms: intervals that hold the truth, and how narrow they get in a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

import numpy as np

from restive.many.grid_improvement import grid_improvements
from restive.many.grid_value import simulate_gain
from restive.many.lagrangian import lagrangian_bound
from restive.many.pricing import price_out
from restive.many.several_pulls import plan_pulls
from restive.model.bandit import Arm, Bandit
from restive.planning import plan
from verification import Check, Finding, Settings, judge

__all__ = ["CHECKS", "channels"]

SLACK = 1e-9  # of an exact gain, beside its own interval


def channels(count: int, rates: tuple[float, float], rng: np.random.Generator) -> Bandit:
    """Two-state arms with rates drawn from a range, rewards 0 and U(.5, 1)."""
    arms = []
    for _ in range(count):
        up, down = rng.uniform(*rates, size=2)
        arms.append(Arm([[1 - up, up], [down, 1 - down]], [0.0, rng.uniform(0.5, 1.0)]))
    return Bandit(arms)


def check_validity(settings: Settings) -> Iterator[Finding]:
    """Every interval holds the exact best gain, for one pull a step and for two."""
    problems = settings.size(300, 6)
    missed, widths = 0, []
    for seed in range(problems):
        rng = np.random.default_rng([seed, 41])
        bandit = channels(3 + seed % 2, (0.1, 0.9), rng)
        exact = plan(bandit, 1e-7)
        interval = price_out(bandit, 1e-3, time=20.0)
        grid = next(iter(grid_improvements(bandit, time=5.0)))
        low, high = exact.gain_lower - SLACK, exact.gain_upper + SLACK
        missed += interval.lower > high or interval.upper < low or grid.upper < low
        widths.append(interval.upper - interval.lower)
    yield Finding(
        "validity, one pull",
        f"{problems} random problems, K = 3 and 4: blocks and grids against exact plans",
        f"{missed} missed, median width {np.median(widths):.1e}",
        "0 missed",
        judge(missed == 0),
    )
    missed = 0
    few = settings.size(60, 3)
    for seed in range(few):
        rng = np.random.default_rng([seed, 43])
        bandit = channels(3 + seed % 2, (0.3, 0.7), rng)
        exact_pulls = plan_pulls(bandit.arms, 2, 1e-4)
        missed += lagrangian_bound(bandit.arms, 2).upper < exact_pulls.lower - SLACK
        grid = next(iter(grid_improvements(bandit, 2, time=5.0)))
        missed += grid.upper < exact_pulls.lower - SLACK
    yield Finding(
        "validity, two pulls",
        f"{few} random problems: the Lagrangian bound and grids against exact plans",
        f"{missed} missed",
        "0 missed",
        judge(missed == 0),
    )


def _shares(gaps: Sequence[float]) -> str:
    median, ninth = np.quantile(gaps, [0.5, 0.9])
    return f"median {100 * median:.3f}%, nine in ten {100 * ninth:.3f}%"


def _narrow(gaps: Sequence[float]) -> bool:
    median, ninth = np.quantile(gaps, [0.5, 0.9])
    return bool(median <= 1e-3 and ninth <= 5e-3)


def check_slow(settings: Settings) -> Iterator[Finding]:
    """The grid's certified bound against the simulated value of its own policy."""
    problems, seconds = settings.size(50, 1), settings.size(30, 6)
    for count in (3, 4, 5):
        gaps = []
        for seed in range(problems):
            rng = np.random.default_rng([seed, count, 47])
            bandit = channels(count, (0.003, 0.03), rng)
            *_, best = grid_improvements(bandit, time=float(seconds), tolerance=1e-3)
            value = simulate_gain(best, rng=seed)
            gaps.append(best.upper / value.lower - 1)
        yield Finding(
            f"slow arms, K = {count}",
            f"{problems} random problems, rates .003 to .03, {seconds} s: upper / simulated lower",
            _shares(gaps),
            "not below 0" if settings.quick else "median at most .3%",
            judge(0 <= float(np.median(gaps)) <= (1.0 if settings.quick else 0.003)),
        )


def check_many(settings: Settings) -> Iterator[Finding]:
    """Both ends certified, for many different arms."""
    problems, seconds = settings.size(100, 1), settings.size(60, 8)
    for count in (10, 20, 50):
        gaps, proven, longest = [], 0, 0.0
        for seed in range(problems):
            bandit = channels(count, (0.05, 0.5), np.random.default_rng([seed, count, 53]))
            began = perf_counter()
            interval = price_out(bandit, 1e-4, time=float(seconds))
            longest = max(longest, perf_counter() - began)
            gaps.append(interval.upper / interval.lower - 1)
            proven += interval.proven_optimal
        yield Finding(
            f"many arms, K = {count}",
            f"{problems} random problems, rates .05 to .5, {seconds} s (longest {longest:.0f} s); "
            f"{proven} proven optimal",
            _shares(gaps),
            "not below 0" if settings.quick else "median at most .1%, nine in ten at most .5%",
            judge(min(gaps) >= 0 and (settings.quick or _narrow(gaps))),
        )


CHECKS: dict[str, Check] = {
    "intervals": check_validity,
    "slow-arms": check_slow,
    "many-arms": check_many,
}
