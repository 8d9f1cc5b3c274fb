"""Bounds and simulations of many arms: the same bytes on threads, local processes, Dask and Ray."""

from __future__ import annotations

import os

import numpy as np
import pytest

from restive import Arm, Workplace, lagrangian_bound, simulate_policy, two_state_bound
from restive.base.backends import PATIENCE, in_order
from restive.base.errors import ProblemError, RestiveError
from restive.many import policies, simulated_runs, two_state
from restive.many.population import Population
from restive.problems import random_problem

ARMS = [*random_problem(70, [2] * 70, rng=4).arms, *random_problem(2, [3, 4], rng=5).arms]
RNG = np.random.default_rng(6)
COLUMNS = (RNG.uniform(0.05, 0.4, 300_000), RNG.uniform(0.5, 0.95, 300_000), 0.0, 1.0)


POPULATION = Population([Arm([[0.9, 0.1], [0.2, 0.8]], [0, 1])], [0] * 9)


def simulated(workplace, rule=policies.whittle, time_limit=None):
    value = simulate_policy(POPULATION, rule(POPULATION), 2, 400, 11, rng=3, workplace=workplace,
                            time_limit=time_limit)  # fmt: skip
    return value.run_means.tobytes()


def rolled_out(workplace):
    return simulated(workplace, lambda population: policies.rollout(population, 0.5, pulls=2))


def timed(workplace):
    return simulated(workplace, policies.round_robin, time_limit=1e3)


def priced(workplace):
    return all_of(lagrangian_bound(ARMS, 7, workplace=workplace))


def columns_priced(workplace):
    return all_of(two_state_bound(*COLUMNS, 30_000, workplace=workplace))


def all_of(bound):
    numbers = np.array([bound.upper, bound.price, bound.slack, bound.evaluations])
    return numbers.tobytes() + bound.gains.tobytes() + bound.wanted.tobytes()


@pytest.mark.parametrize("work", [simulated, rolled_out, timed, priced, columns_priced])
@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_bytes_in_processes(work, workers):
    assert work(Workplace("local", "", workers)) == work(None)


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_the_same_bytes_on_a_cluster(backend):
    workplace = Workplace(backend, "", 2)
    assert rolled_out(workplace) == rolled_out(None)
    assert priced(workplace) == priced(None)


def test_there_is_more_than_one_job_to_spread():
    """Otherwise the test above would say nothing."""
    assert len(ARMS) > 64  # kinds in one job
    assert len(COLUMNS[0]) > 2 * two_state.CALL * two_state.CHUNK
    assert simulated_runs.LOADS * 2 < 11


def square(number):
    if number == 3:
        raise ProblemError([])
    return number * number


def die(number):
    os._exit(1)


def die_once(job):
    number, marker = job
    if number == 2 and not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(1)
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_job_raises_is_raised_here(workers):
    with Workplace("local", "", workers).opened(square, 4) as pool:
        assert list(in_order(pool, [1, 2, 5])) == [1, 4, 25]
        with pytest.raises(ProblemError):
            list(in_order(pool, [1, 2, 3, 4]))


def test_jobs_of_a_worker_that_dies_are_done_again(tmp_path):
    marker = str(tmp_path / "marker")
    with Workplace("local", "", 2).opened(die_once, 9) as pool:
        jobs = [(number, marker) for number in range(9)]
        assert list(in_order(pool, jobs)) == list(range(9))
    assert os.path.exists(marker)


def test_workers_that_die_again_and_again_are_told_of():
    with (
        Workplace("local", "", 2).opened(die, 4) as pool,
        pytest.raises(RestiveError, match=f"workers died {PATIENCE} times without finishing a job"),
    ):
        list(in_order(pool, range(4)))


def test_a_workplace_that_does_not_exist_is_refused():
    with pytest.raises(ProblemError, match="no such backend"):
        lagrangian_bound(ARMS, 7, workplace=Workplace("slurm"))
