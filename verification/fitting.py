"""Fitting: chains from logs against the information bound, their intervals, and plans on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from restive import problems
from restive.data.fitting import fit
from restive.data.traces import ArmTrace, Traces
from restive.estimation.chain import ChainEstimate, estimate_chain
from restive.estimation.gap_counts import GapCounts
from restive.model.bandit import Bandit
from restive.planning import plan
from restive.planning.evaluation import evaluate
from verification import ALPHA, Check, Finding, Settings, judge

__all__ = ["CHECKS"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEEN = 0.1  # share of steps at which an arm is seen
FACTOR = 1.3  # mean squared error over the information bound, at most
LEVEL = 0.95
SLACK = 0.015  # by which coverage may differ from its level besides noise: intervals are asymptotic
LOSS = 0.01  # of the best average reward, by planning on a fitted model


@dataclass(frozen=True)
class Case:
    """Logs of a chain: so many sightings, each step seen with the same chance."""

    chain: Floats
    sightings: int
    seen: float = SEEN


CASES = {
    "slow, two states": Case(np.array([[0.95, 0.05], [0.1, 0.9]]), 1000),
    "quick, two states": Case(np.array([[0.7, 0.3], [0.4, 0.6]]), 3000),
    "restless, two states": Case(np.array([[0.25, 0.75], [0.6, 0.4]]), 3000),
    "slow, three states": Case(
        np.array([[0.9, 0.07, 0.03], [0.06, 0.9, 0.04], [0.05, 0.05, 0.9]]), 2000
    ),
    "a cycle, three states": Case(
        np.array([[0.8, 0.17, 0.03], [0.03, 0.8, 0.17], [0.17, 0.03, 0.8]]), 2000
    ),
}
SMALL = {
    "few sightings": Case(np.array([[0.9, 0.1], [0.2, 0.8]]), 100, 0.3),
    "near the border": Case(np.array([[0.98, 0.02], [0.3, 0.7]]), 300, 0.3),
    "seen at every step": Case(
        np.array([[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7]]), 300, 1
    ),
}


# --- simulated logs --------------------------------------------------------------------------


def logs(case: Case, runs: int, seed: int) -> tuple[Ints, Ints]:
    """Gaps (runs, n - 1) and states (runs, n) of independent logs, drawn from powers."""
    rng = np.random.default_rng([seed, 71])
    gaps = rng.geometric(case.seen, (runs, case.sightings - 1))
    powers = np.array([np.linalg.matrix_power(case.chain, n) for n in range(gaps.max() + 1)])
    heights = powers.cumsum(axis=2)[:, :, :-1]
    limit = np.linalg.matrix_power(case.chain, 10_000)[0]
    states = np.empty((runs, case.sightings), dtype=np.int64)
    states[:, 0] = rng.choice(len(case.chain), runs, p=limit / limit.sum())
    for t in range(case.sightings - 1):
        chances = rng.random(runs)[:, None]
        states[:, t + 1] = (chances > heights[gaps[:, t], states[:, t]]).sum(axis=1)
    return gaps, states


def estimates(case: Case, runs: int, seed: int) -> Iterator[ChainEstimate]:
    for gaps, states in zip(*logs(case, runs, seed), strict=True):
        counts = GapCounts.of_moves(states[:-1], gaps, states[1:], len(case.chain))
        yield estimate_chain(counts, level=LEVEL)


def information_bound(case: Case) -> Floats:
    """Cramer and Rao's least variances (S, S) of unbiased estimates, for logs of a case.

    The expected information of a sighting, by sums over gaps: derivatives of P^n follow those of
    P^(n - 1), in the entries of each row but the last.
    """
    chain, size = case.chain, len(case.chain)
    free = [(s, e) for s in range(size) for e in range(size - 1)]
    steps = np.zeros((len(free), size, size))
    for k, (s, e) in enumerate(free):
        steps[k, s, e], steps[k, s, size - 1] = 1.0, -1.0
    law = np.linalg.matrix_power(chain, 10_000)[0]
    power, slopes, matrix = np.eye(size), np.zeros_like(steps), np.zeros((len(free),) * 2)
    for n in range(1, 1 + int(np.ceil(30 / case.seen)) if case.seen < 1 else 2):
        slopes = slopes @ chain + power @ steps
        power = power @ chain
        weight = case.seen * (1 - case.seen) ** (n - 1)
        matrix += weight * np.einsum("s,kse,lse->kl", law, slopes / power, slopes)
    spread = np.linalg.inv((case.sightings - 1) * matrix)
    return np.einsum("kse,kl,lse->se", steps, spread, steps)


# --- checks ----------------------------------------------------------------------------------


def check_bound(settings: Settings) -> Iterator[Finding]:
    """Mean squared errors over all entries of the chain beside the least that is possible."""
    runs, shown = settings.size(1000, 60), []
    for seed, (name, case) in enumerate(CASES.items()):
        chains = np.array([estimate.chain for estimate in estimates(case, runs, seed)])
        errors = ((chains - case.chain) ** 2).sum(axis=(1, 2))
        least = float(information_bound(case).sum())
        ratio = errors.mean() / least
        noise = norm.isf(ALPHA / 2) * errors.std(ddof=1) / np.sqrt(runs) / least
        shown.append((name, ratio, noise))
        yield Finding(
            f"bound: {name}",
            f"mean squared error is at most {FACTOR} times the information bound",
            f"{ratio:.3f} +- {noise:.3f} in {runs} logs",
            f"{case.sightings} sightings, {case.seen:.0%} of steps",
            judge(ratio - noise <= FACTOR),
        )
    settings.draw("fitting-bound", lambda axes: _draw_bound(axes, shown))


def _draw_bound(axes: Any, shown: Sequence[tuple[str, float, float]]) -> None:
    for k, (_, ratio, noise) in enumerate(shown):
        axes.errorbar(ratio, k, xerr=noise, fmt="o", color="tab:blue")
    axes.axvline(1, color="black", lw=1)
    axes.axvline(FACTOR, color="tab:red", lw=1, ls="--")
    axes.set_yticks(range(len(shown)), [name for name, _, _ in shown])
    axes.set_xlabel("mean squared error over the information bound")


def check_coverage(settings: Settings) -> Iterator[Finding]:
    """How often intervals hold the truth, entry by entry."""
    runs = settings.size(1000, 60)
    for seed, (name, case) in enumerate({**CASES, **SMALL}.items()):
        held = np.zeros(case.chain.shape)
        width = np.zeros(case.chain.shape)
        for estimate in estimates(case, runs, 100 + seed):
            held += (estimate.lower <= case.chain) & (case.chain <= estimate.upper)
            width += estimate.upper - estimate.lower
        entries = held.size - len(held) * (len(held) == 2)  # the two of a row hold together
        rates = held / runs
        noise = norm.isf(ALPHA / 2 / entries) * np.sqrt(LEVEL * (1 - LEVEL) / runs)
        yield Finding(
            f"coverage: {name}",
            f"intervals hold the truth in {LEVEL:.0%} of logs",
            f"{rates.min():.1%} to {rates.max():.1%} by entry, {width.mean() / runs:.3f} wide",
            f"{LEVEL - SLACK - noise:.1%} to {min(1.0, LEVEL + SLACK + noise):.1%}, {runs} logs",
            judge(bool((np.abs(rates - LEVEL) <= SLACK + noise).all())),
        )


def log_of(bandit: Bandit, sightings: int, seed: int) -> Traces:
    """A log of all arms, each seen at a tenth of the steps; ``sightings`` in all."""
    traces = []
    for k, arm in enumerate(bandit.arms):
        case = Case(arm.transitions, sightings // bandit.n_arms)
        gaps, states = (rows[0] for rows in logs(case, 1, 1000 * seed + k))
        times = np.concatenate([[0], np.cumsum(gaps)])
        pieces = np.zeros(len(times), dtype=np.int64)
        traces.append(
            ArmTrace(f"arm {k + 1}", times, states, arm.rewards[states], arm.states, pieces)
        )
    return Traces(tuple(traces))


def check_plans(settings: Settings) -> Iterator[Finding]:
    """The plan on the fitted model, valued exactly on the true one, beside the true plan."""
    runs, sightings = settings.size(30, 2), 10_000
    named = {
        "Example 1": problems.example1(0.1),
        "Example 2": problems.example2(0.1),
        "two channels": problems.gilbert_elliott(2, 0.05, 0.1),
        "arms nearly alike": problems.random_problem(2, 3, rng=3, stickiness=0.6),
        "arms apart": problems.random_problem(2, 3, rng=6, stickiness=0.6),
        "three arms": problems.random_problem(3, 2, rng=3, stickiness=0.6),
    }
    for name, bandit in named.items():
        best, losses = plan(bandit), []
        for seed in range(runs):
            fitted = plan(fit(log_of(bandit, sightings, seed)).bandit)
            value = evaluate(bandit, lambda last, ages, f=fitted: f.action(last, ages), 1e-5)
            losses.append(1 - value.gain_lower / best.gain_upper)
        yield Finding(
            f"plan: {name}",
            f"planning on the fit loses at most {LOSS:.0%} of rho*",
            f"mean {np.mean(losses):.3%}, largest {max(losses):.3%} in {runs} logs",
            f"{sightings:,} sightings of {bandit.n_arms} arms, {SEEN:.0%} of steps",
            judge(max(losses) <= LOSS),
        )


CHECKS: dict[str, Check] = {
    "information": check_bound,
    "chain-intervals": check_coverage,
    "fitted-plans": check_plans,
}
