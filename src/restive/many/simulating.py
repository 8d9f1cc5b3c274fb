"""What a policy for many arms earns a step, by simulation, with an interval over runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from restive.base.arrays import Floats
from restive.base.backends import Workplace
from restive.base.errors import Fault, refuse
from restive.base.randomness import Seed, seed_sequence
from restive.many.policies import PopulationPolicy
from restive.many.population import Population
from restive.many.simulated_runs import Keys, Runs
from restive.model.bandit import Arm
from restive.model.validation import check_pulls

WARM_UP = 4  # mixing times of the slowest arm, for play that stands for the long run
EQUAL = 1e-13  # runs that differ by less than this part of what they earn differ by rounding


@dataclass(frozen=True)
class SimulatedValue:
    """Average reward a step of a policy, all m pulls together; simulated, so not certified.

    The runs are independent and of equal length, and the interval is Student's over their means,
    wider by what one period of the arms can weigh in a run that ends within it. Runs that are all
    equal say nothing of what the next one would be, nor of longer ones: the interval is then all
    that the rewards allow. It is for the average over the steps that were counted: what the start
    still weighs after the warm-up is not in it (see ``settled_play``).
    """

    mean: float
    lower: float
    upper: float
    runs: int
    steps: int  # counted in each run
    confidence: float
    kind: Literal["simulated"] = "simulated"
    run_means: Floats = field(default_factory=lambda: np.empty(0), repr=False, compare=False)


@dataclass(frozen=True)
class Choice:
    """The best of several policies by simulation, its value simulated anew."""

    policy: PopulationPolicy
    value: SimulatedValue
    values: dict[str, SimulatedValue]  # of all of them, on the same random numbers


def simulate_policy(
    arms: Population | Sequence[Arm],
    policy: PopulationPolicy,
    pulls: int = 1,
    horizon: int = 10_000,
    runs: int = 32,
    *,
    rng: Seed = None,
    warmup: int | None = None,
    confidence: float = 0.99,
    time_limit: float | None = None,
    threads: int | None = None,
    workplace: Workplace | None = None,
) -> SimulatedValue:
    """Average reward of a policy over ``horizon`` steps, after a warm-up of a tenth of that.

    An arm's chain is looked at only when it is pulled: its state is then drawn from P^n, which
    is exact in law. Same seed, same result, whatever the number of threads, and policies on the
    same seed meet the same luck where they pull the same arm at the same step. Runs not finished
    within ``time_limit`` seconds are left out; with fewer than two the interval is all that the
    rewards allow. workplace: other processes or machines that play the runs, with the same result.

    >>> from restive.many.policies import myopic
    >>> arms = Population([Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])], [0, 0])
    >>> simulate_policy(arms, myopic(arms), horizon=2000, runs=8, rng=1).kind
    'simulated'
    """
    population = arms if isinstance(arms, Population) else Population.of(arms)
    _check(population, pulls, horizon, runs)
    skipped = horizon // 10 if warmup is None else warmup
    keys: Keys = seed_sequence(rng).generate_state(runs, np.uint64).astype(np.uint64)
    whole = Runs(population, policy, pulls, horizon, skipped, keys, time_limit)
    sums = whole.play(threads) if workplace is None else whole.spread(workplace)
    return _value(population, pulls, sums, horizon, confidence)


def settled_play(population: Population, horizon: int) -> tuple[Population, int]:
    """Arms and warm-up for ``simulate_policy`` that let a policy's gain be seen, not its start.

    Aperiodic arms are at their stationary law from the beginning, and WARM_UP mixing times of the
    slowest arm are left out, after which what the policy knows is as old as it usually is.
    """
    return population.settled, max(horizon // 10, WARM_UP * population.slowest)


def best_of(
    arms: Population | Sequence[Arm],
    policies: Sequence[PopulationPolicy],
    pulls: int = 1,
    horizon: int = 10_000,
    runs: int = 32,
    *,
    rng: Seed = None,
    warmup: int | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    workplace: Workplace | None = None,
) -> Choice:
    """The policy that earns most on common random numbers.

    Its value is simulated once more on fresh ones, since the largest of several is flattered.
    """
    population = arms if isinstance(arms, Population) else Population.of(arms)
    first, second = seed_sequence(rng).spawn(2)
    share = None if time_limit is None else time_limit / (len(policies) + 1)

    def simulated(policy: PopulationPolicy, seeds: np.random.SeedSequence) -> SimulatedValue:
        return simulate_policy(population, policy, pulls, horizon, runs, rng=seeds, warmup=warmup,
                               time_limit=share, threads=threads, workplace=workplace)  # fmt: skip

    values = [simulated(policy, first) for policy in policies]
    best = policies[int(np.argmax([value.mean for value in values]))]
    named = {policy.name: value for policy, value in zip(policies, values, strict=True)}
    return Choice(best, simulated(best, second), named)


def _check(population: Population, pulls: int, horizon: int, runs: int) -> None:
    faults = check_pulls(pulls, population.n_arms)
    for name, number in (("horizon", horizon), ("runs", runs)):
        if number < 1:
            faults.append(Fault(name, "not positive", str(number), "Give 1 or more."))
    refuse(faults)


def _value(
    population: Population, pulls: int, sums: Floats, horizon: int, confidence: float
) -> SimulatedValue:
    from scipy.special import stdtrit

    rewards = np.concatenate([arm.rewards for arm in population.kinds])
    low, high = pulls * float(rewards.min()), pulls * float(rewards.max())
    done = sums[:, 0] == horizon
    counted = sums[done] if done.any() else sums[sums[:, 0] > 0]
    means = counted[:, 1] / counted[:, 0]
    runs = int(done.sum())
    mean = float(means.mean()) if len(means) else 0.5 * (low + high)
    steps = int(counted[:, 0].min()) if len(means) else 0
    if runs >= 2 and np.ptp(means) > EQUAL * abs(mean):
        half = stdtrit(runs - 1, 0.5 + confidence / 2) * means.std(ddof=1) / np.sqrt(runs)
        half += (high - low) * (population.period - 1) / horizon
        low, high = max(low, mean - half), min(high, mean + half)
    return SimulatedValue(mean, float(low), float(high), runs, steps, confidence, run_means=means)
