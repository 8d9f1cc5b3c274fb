"""Planning: certified intervals against other solvers, simulation and real chains."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from restive.model.bandit import Arm, Bandit
from restive.paper.claims.examples import PROBLEMS
from restive.planning import Plan, plan
from restive.problems import build
from verification import ALPHA, ROOT, Check, Finding, Settings, judge
from verification.oracle import best_gain, simulate

__all__ = ["CHECKS"]

Floats = NDArray[np.float64]

DATA = ROOT.parent / "shared" / "data" / "us-weather-history"
CITIES = {"KSEA": "Seattle", "KNYC": "New York", "KHOU": "Houston", "KMDW": "Chicago"}
TOLERANCE = 1e-6


# --- simulation ------------------------------------------------------------------------------


def simulated_interval(best: Plan, runs: int, steps: int, seed: int) -> tuple[float, float]:
    """Where the gain of the planned policy lies, by simulation, but for a chance of ALPHA.

    The runs are the batches. A run's mean reward differs in expectation from the gain by
    E[h(first) - h(last)]/steps, which is allowed for by the largest such difference.
    """
    rng = np.random.default_rng([seed, 31])
    means, states, ages = simulate(best.bandit, best.actions, runs, steps, rng)
    width = student.ppf(1 - ALPHA / 2, runs - 1) * means.std(ddof=1) / np.sqrt(runs)
    ends = best.bias(states, ages)
    edge = max(abs(ends[0].min() - ends[1].max()), abs(ends[0].max() - ends[1].min())) / steps
    return float(means.mean() - width - edge), float(means.mean() + width + edge)


def check_simulation(settings: Settings) -> Iterator[Finding]:
    """The policy earns what its certificate says."""
    runs, steps = settings.size(2000, 300), settings.size(5000, 1500)
    shown = []
    for seed, (name, parameters) in enumerate(PROBLEMS.items()):
        best = plan(build(name, **parameters), TOLERANCE)
        low, high = simulated_interval(best, runs, steps, seed)
        shown.append((name, low - best.gain, high - best.gain))
        yield Finding(
            f"simulation: {name}",
            "mean reward of the planned policy lies at the certified gain",
            f"{(low + high) / 2:.5f} +- {(high - low) / 2:.5f}",
            f"{best.gain_lower:.7f}, {best.gain_upper:.7f}",
            judge(low <= best.gain_upper and high >= best.gain_lower),
        )
    settings.draw("planning-simulation", lambda axes: _draw_simulation(axes, shown))


def _draw_simulation(axes: Any, shown: Sequence[tuple[str, float, float]]) -> None:
    for k, (_, low, high) in enumerate(shown):
        axes.plot([low, high], [k, k], color="tab:blue", lw=3, solid_capstyle="butt")
    axes.axvline(0, color="black", lw=1)
    axes.set_yticks(range(len(shown)), [name for name, _, _ in shown])
    axes.set_xlabel("simulated less certified gain, with its interval")


# --- another solver --------------------------------------------------------------------------


def random_bandit(seed: int) -> Bandit:
    """Two arms of 2 to 5 states or three of 2, dense, sparse or sticky; at most one periodic."""
    rng = np.random.default_rng([seed, 99])
    count = 3 if seed % 5 == 0 else 2
    arms = []
    for j in range(count):
        size = 2 if count == 3 else int(rng.integers(2, 6))
        weights = rng.random((size, size)) * (rng.random((size, size)) < rng.choice([0.4, 1.0]))
        weights += 0.2 * np.roll(np.eye(size), 1, axis=1)
        if j == 0 and seed % 4 == 0:  # each step from one half of the states to the other
            half = np.arange(size) % 2
            weights = (half[:, None] != half) * (weights + 0.1)
        else:
            weights += rng.choice([0.05, 1.0]) * np.eye(size)  # aperiodic, and perhaps sticky
        arms.append(Arm(weights / weights.sum(axis=1, keepdims=True), rng.random(size)))
    return Bandit(arms)


def check_intervals(settings: Settings) -> Iterator[Finding]:
    """Certified intervals hold rho*, whatever caps are forced."""
    count = settings.size(300, 25)
    held, held_forced, narrow, errors = 0, 0, 0, []
    for seed in range(count):
        bandit = random_bandit(seed)
        low, high = best_gain(bandit)
        best = plan(bandit, TOLERANCE)
        narrow += best.gain_upper - best.gain_lower <= TOLERANCE
        held += best.gain_lower <= high and best.gain_upper >= low
        caps = np.random.default_rng([seed, 3]).integers(1, 13, bandit.n_arms)
        forced = plan(bandit, TOLERANCE, caps=[int(cap) for cap in caps])
        held_forced += forced.gain_lower <= high and forced.gain_upper >= low
        half = (forced.gain_upper - forced.gain_lower) / 2
        errors.append((abs(forced.gain - (low + high) / 2), half))
    whole = f"{count} of {count}"
    claim = "intervals hold rho* as another solver finds it"
    yield _counted("random problems", claim, held, count, whole)
    yield _counted("random problems: width", "they are 1e-6 wide at most", narrow, count, whole)
    yield _counted(
        "random problems: small caps", claim + ", caps 1 to 12", held_forced, count, whole
    )
    settings.draw("planning-small-caps", lambda axes: _draw_errors(axes, np.array(errors)))


def _counted(name: str, claim: str, good: int, count: int, whole: str) -> Finding:
    return Finding(name, claim, f"{good} of {count}", whole, judge(good == count))


def _draw_errors(axes: Any, errors: Floats) -> None:
    shown = np.maximum(errors, 1e-10)
    axes.loglog(shown[:, 1], shown[:, 0], ".", ms=4, color="tab:blue")
    axes.axline((1e-7, 1e-7), (1, 1), color="black", lw=1)
    axes.set_xlabel("half the width of the certified interval, ages capped at 1 to 12")
    axes.set_ylabel("true error of its middle")


# --- real chains -----------------------------------------------------------------------------


def rain(path: Path) -> NDArray[np.int64]:
    """1 for each dry day of a record, 0 for each wet one."""
    with path.open(encoding="utf-8", newline="") as stream:
        days = [float(row["actual_precipitation"]) for row in csv.DictReader(stream)]
    return np.array([0 if inches > 0 else 1 for inches in days])


def fit(days: NDArray[np.int64], name: str) -> Arm:
    """The chain of two states with the record's own frequencies; a dry day pays 1."""
    counts = np.zeros((2, 2))
    np.add.at(counts, (days[:-1], days[1:]), 1)
    return Arm(counts / counts.sum(axis=1, keepdims=True), [0, 1], states=["wet", "dry"], name=name)


def check_weather(settings: Settings) -> Iterator[Finding]:
    """Where to be for dry weather, from a year of records in four cities."""
    name, claim = "weather", "planning works on fitted chains: certified, better than one city"
    if not DATA.is_dir():
        yield Finding(name, claim, "no records", str(DATA), "skipped")
        return
    records = {city: rain(DATA / f"{code}.csv") for code, city in CITIES.items()}
    bandit = Bandit([fit(days, city) for city, days in records.items()], name="dry days")
    best = plan(bandit, 1e-5)
    single = bandit.arms[bandit.best_arm].gain
    yield Finding(
        name,
        claim,
        f"{best.gain:.4f} dry days a day, {single:.4f} in {bandit.arm_name(bandit.best_arm)}",
        f"{best.gain_lower:.6f}, {best.gain_upper:.6f}",
        judge(best.converged and best.gain_lower >= single),
    )
    low, high = simulated_interval(best, settings.size(2000, 300), 1000, 77)
    yield Finding(
        "weather: simulation",
        "mean reward of the planned policy lies at the certified gain",
        f"{(low + high) / 2:.5f} +- {(high - low) / 2:.5f}",
        f"{best.gain_lower:.6f}, {best.gain_upper:.6f}",
        judge(low <= best.gain_upper and high >= best.gain_lower),
    )
    yield _replayed(best, list(records.values()))


def _replayed(best: Plan, records: Sequence[NDArray[np.int64]]) -> Finding:
    """The plan along the very year it was fitted to: within the spread of simulated years."""
    count, days = len(records), len(records[0])
    states, ages = (
        np.array([record[j] for j, record in enumerate(records)]),
        count - np.arange(count),
    )
    dry = 0
    for day in range(count, days):
        city = best.action(states, ages)
        ages = ages + 1
        states[city], ages[city] = records[city][day], 1
        dry += int(records[city][day])
    rng = np.random.default_rng(123)
    years, _, _ = simulate(best.bandit, best.actions, 2000, days - count, rng)
    reach = norm.ppf(1 - ALPHA / 2) * years.std()
    low, high = years.mean() - reach, years.mean() + reach
    share = dry / (days - count)
    return Finding(
        "weather: the year itself",
        "dry days along the records, within all but a share of 1e-4 of simulated years",
        f"{share:.4f}",
        f"{low:.4f}, {high:.4f}",
        judge(bool(low <= share <= high)),
    )


CHECKS: dict[str, Check] = {
    "simulation": check_simulation,
    "intervals": check_intervals,
    "weather": check_weather,
}
