"""Runs of a policy for many arms: built, played on threads, or spread over workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from restive.base.arrays import Bools, Floats
from restive.base.backends import Workplace, in_order
from restive.many.index_tables import pack_tables
from restive.many.policies import KindIndexPolicy, PopulationPolicy, StayPolicy
from restive.many.population import Population
from restive.many.scheduler_state import new_arms, new_scratch, young_most

if TYPE_CHECKING:
    from restive._kernels.schedule import Tables

Keys = NDArray[np.uint64]
Steps = Callable[[int], None]  # play this many steps more

CHUNK_SECONDS = 0.2  # a compiled call returns after about this long
LOADS = 4  # portions of runs for each worker
BYTES_AT_ONCE = 1 << 28  # of information states held for runs that are played side by side


class Runs(NamedTuple):
    """Independent runs to be played, one for each key."""

    population: Population
    policy: PopulationPolicy
    pulls: int
    horizon: int
    skipped: int
    keys: Keys
    time_limit: float | None

    def play(self, threads: int | None = 1) -> Floats:
        """Steps counted and rewards of each run (runs, 2)."""
        deadline = np.inf if self.time_limit is None else perf_counter() + self.time_limit
        sums = np.zeros((len(self.keys), 2))
        players = _players(self.population, self.policy, self.pulls, self.keys, self.skipped, sums)
        _play_all(players, self.horizon + self.skipped, deadline, threads)
        return sums

    def spread(self, workplace: Workplace) -> Floats:
        """As ``play``, a few runs to a worker at a time; each portion has its share of the time."""
        with workplace.opened(Runs.play, len(self.keys)) as pool:
            size = -(-len(self.keys) // (LOADS * pool.workers))
            parts = [self._replace(keys=self.keys[first : first + size])
                     for first in range(0, len(self.keys), size)]  # fmt: skip
            if self.time_limit is not None:
                share = self.time_limit * pool.workers / max(len(parts), pool.workers)
                parts = [part._replace(time_limit=share) for part in parts]
            return np.concatenate(list(in_order(pool, parts)))


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
    population: Population, good: Bools, pulls: int, key: np.uint64, warmup: int,
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
    from restive.base.machine import helpers

    stop = Event()

    def play(build: Callable[[], Steps]) -> None:
        if not stop.is_set() and perf_counter() < deadline:
            _in_chunks(build(), steps, lambda: stop.is_set() or perf_counter() >= deadline)

    with helpers(threads) as pool:
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
