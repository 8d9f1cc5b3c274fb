"""What a policy for many arms earns a step, by simulation, with an interval over runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from restive.base.errors import Fault, ProblemError
from restive.many.index_tables import pack_tables
from restive.many.policies import KindIndexPolicy, PopulationPolicy, StayPolicy
from restive.many.population import Population
from restive.many.scheduler_state import new_arms, new_scratch, young_most
from restive.model.bandit import Arm

if TYPE_CHECKING:
    from restive._kernels.schedule import Tables

__all__ = ["Choice", "SimulatedValue", "best_of", "simulate_policy"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]
Rng = int | np.random.Generator | np.random.SeedSequence | None
Steps = Callable[[int], None]  # play this many steps more

CHUNK_SECONDS = 0.2  # a compiled call returns after about this long
BYTES_AT_ONCE = 1 << 28  # of information states held for runs that are played side by side


@dataclass(frozen=True)
class SimulatedValue:
    """Average reward a step of a policy, all m pulls together; simulated, so not certified.

    The runs are independent and of equal length, and the interval is Student's over their means.
    It is for the average over the steps that were counted: what the start still weighs after the
    warm-up is not in it.
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
    rng: Rng = None,
    warmup: int | None = None,
    confidence: float = 0.99,
    time_limit: float | None = None,
    threads: int | None = None,
) -> SimulatedValue:
    """Average reward of a policy over ``horizon`` steps, after a warm-up of a tenth of that.

    An arm's chain is looked at only when it is pulled: its state is then drawn from P^n, which
    is exact in law. Same seed, same result, whatever the number of threads, and policies on the
    same seed meet the same luck where they pull the same arm at the same step. Runs not finished
    within ``time_limit`` seconds are left out; with fewer than two the interval is all that the
    rewards allow.

    >>> from restive.many.policies import myopic
    >>> arms = Population([Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1])], [0, 0])
    >>> simulate_policy(arms, myopic(arms), horizon=2000, runs=8, rng=1).kind
    'simulated'
    """
    population = arms if isinstance(arms, Population) else Population.of(arms)
    _check(population, pulls, horizon, runs)
    skipped = horizon // 10 if warmup is None else warmup
    keys: Keys = _seeds(rng).generate_state(runs, np.uint64).astype(np.uint64)
    sums = np.zeros((runs, 2))
    deadline = np.inf if time_limit is None else perf_counter() + time_limit
    players = _players(population, policy, pulls, keys, skipped, sums)
    _play_all(players, horizon + skipped, deadline, threads)
    return _value(population, pulls, sums, horizon, confidence)


def best_of(
    arms: Population | Sequence[Arm],
    policies: Sequence[PopulationPolicy],
    pulls: int = 1,
    horizon: int = 10_000,
    runs: int = 32,
    *,
    rng: Rng = None,
    time_limit: float | None = None,
    threads: int | None = None,
) -> Choice:
    """The policy that earns most on common random numbers.

    Its value is simulated once more on fresh ones, since the largest of several is flattered.
    """
    population = arms if isinstance(arms, Population) else Population.of(arms)
    first, second = _seeds(rng).spawn(2)
    share = None if time_limit is None else time_limit / (len(policies) + 1)

    def simulated(policy: PopulationPolicy, seeds: np.random.SeedSequence) -> SimulatedValue:
        return simulate_policy(population, policy, pulls, horizon, runs, rng=seeds,
                               time_limit=share, threads=threads)  # fmt: skip

    values = [simulated(policy, first) for policy in policies]
    best = policies[int(np.argmax([value.mean for value in values]))]
    named = {policy.name: value for policy, value in zip(policies, values, strict=True)}
    return Choice(best, simulated(best, second), named)


def _check(population: Population, pulls: int, horizon: int, runs: int) -> None:
    faults = []
    if not 1 <= pulls <= population.n_arms:
        message = "no pull at all" if pulls < 1 else "more pulls than arms"
        remedy = f"Pull at least one arm a step and at most all {population.n_arms} of them."
        faults.append(Fault("pulls", message, str(pulls), remedy))
    for name, number in (("horizon", horizon), ("runs", runs)):
        if number < 1:
            faults.append(Fault(name, "not positive", str(number), "Give 1 or more."))
    if faults:
        raise ProblemError(faults)


def _seeds(rng: Rng) -> np.random.SeedSequence:
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(0, 2**32, size=4).tolist())
    return np.random.SeedSequence(rng)


def _players(
    population: Population,
    policy: PopulationPolicy,
    pulls: int,
    keys: Keys,
    warmup: int,
    sums: Floats,
) -> Iterator[Callable[[], Steps]]:
    """One builder of a run for each key, or for several keys where runs are played together."""
    if isinstance(policy, KindIndexPolicy):
        tables = pack_tables(policy.tables)
        for key, total in zip(keys, sums, strict=True):
            yield partial(_index_run, population, tables, pulls, key, warmup, total)
    elif isinstance(policy, StayPolicy):
        good = np.concatenate(policy.good)
        for key, total in zip(keys, sums, strict=True):
            yield partial(_stay_run, population, good, pulls, key, warmup, total)
    else:
        together = max(1, min(len(keys), BYTES_AT_ONCE // (64 * population.n_arms)))
        for k in range(0, len(keys), together):
            part = slice(k, k + together)
            yield partial(_rule_run, population, policy, pulls, keys[part], warmup, sums[part])


def _index_run(
    population: Population, tables: Tables, pulls: int, key: np.uint64, warmup: int, sums: Floats
) -> Steps:
    from restive._kernels import schedule, unseen_chains

    kinds, laws = population.kind_of, population.laws
    row = tables.first[kinds] + tables.sizes[kinds]
    arms = new_arms(tables, row, np.full(len(row), -1), 0, young_most(tables, row, pulls))
    schedule.store_all(tables, arms, 0, len(row))
    room = new_scratch(tables, pulls)
    pulled, seen = np.empty((2, pulls), dtype=np.int64)

    def play(steps: int) -> None:
        unseen_chains.play_index(tables, arms, laws, key, pulls, steps, warmup, room, pulled, seen,
                                 sums)  # fmt: skip

    return play


def _stay_run(
    population: Population, good: NDArray[np.bool_], pulls: int, key: np.uint64, warmup: int,
    sums: Floats,
) -> Steps:  # fmt: skip
    from restive._kernels import unseen_chains

    kinds, laws = population.kind_of, population.laws
    states, since = np.full((2, len(kinds)), -1)
    queue, counters = np.arange(len(kinds), dtype=np.int32), np.zeros(3, dtype=np.int64)
    held = np.empty(pulls, dtype=np.int64)

    def play(steps: int) -> None:
        unseen_chains.play_stay(good, kinds, laws, key, pulls, steps, warmup, states, since, queue,
                                counters, held, sums)  # fmt: skip

    return play


def _rule_run(
    population: Population,
    policy: PopulationPolicy,
    pulls: int,
    keys: Keys,
    warmup: int,
    sums: Floats,
) -> Steps:
    """Several runs side by side, for policies that are no tables."""
    from restive._kernels import unseen_chains

    shape, time = (len(keys), population.n_arms), 0
    states, ages = np.full(shape, -1), np.ones(shape, dtype=np.int64)
    seen, paid = np.empty((len(keys), pulls), dtype=np.int64), np.empty((len(keys), pulls))

    def play(steps: int) -> None:
        nonlocal time
        for _ in range(steps):
            arms = np.ascontiguousarray(policy.select(states, ages, pulls), dtype=np.int64)
            unseen_chains.draw_all(population.laws, population.kind_of, states, ages, keys, arms,
                                   time, seen, paid)  # fmt: skip
            ages[:] += 1
            np.put_along_axis(ages, arms, 1, axis=1)
            np.put_along_axis(states, arms, seen, axis=1)
            if time >= warmup:
                sums[:, 0] += 1
                sums[:, 1] += paid.sum(axis=1)
            time += 1

    return play


def _play_all(
    players: Iterator[Callable[[], Steps]], steps: int, deadline: float, threads: int | None
) -> None:
    """Play every run to its end or to the deadline, a few at a time; Ctrl-C ends them soon."""
    from restive.base.machine import thread_count

    stop = Event()

    def play(build: Callable[[], Steps]) -> None:
        if not stop.is_set() and perf_counter() < deadline:
            _in_chunks(build(), steps, lambda: stop.is_set() or perf_counter() >= deadline)

    with ThreadPoolExecutor(threads or thread_count()) as pool:
        try:
            for _ in pool.map(play, players):
                pass
        finally:
            stop.set()


def _in_chunks(play: Steps, steps: int, over: Callable[[], bool]) -> None:
    """Play in calls of about CHUNK_SECONDS; where they end changes nothing."""
    chunk = 1
    while steps > 0 and not over():
        began = perf_counter()
        play(min(chunk, steps))
        steps -= chunk
        took = perf_counter() - began
        chunk = max(1, min(4 * chunk, int(chunk * CHUNK_SECONDS / max(took, 1e-9))))


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
    if runs >= 2:
        half = stdtrit(runs - 1, 0.5 + confidence / 2) * means.std(ddof=1) / np.sqrt(runs)
        low, high = max(low, mean - half), min(high, mean + half)
    return SimulatedValue(mean, float(low), float(high), runs, steps, confidence, run_means=means)
