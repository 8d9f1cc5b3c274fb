"""Where jobs run: in this process, in local ones, or on a Dask or Ray cluster, all by joblib."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import chain
from typing import Any, NamedTuple, cast

from restive.base.errors import Fault, RestiveError, refuse
from restive.base.pools import Pool, Work, dask_pool, local_pool, ray_pool
from restive.base.words import first_line

BACKENDS = ("local", "dask", "ray")
PACKAGES = {"dask": ("dask", "distributed"), "ray": ("ray",)}

PATIENCE = 3  # losses of workers in a row, without a job that was finished


class Workplace(NamedTuple):
    """Where a user wants jobs to run."""

    backend: str = "local"
    address: str = ""
    workers: int | None = None  # all cores

    @contextmanager
    def opened(self, work: Callable[[Any], Any], jobs: int) -> Iterator[Pool]:
        """A pool whose workers do ``work`` of every job that ``in_order`` sends."""
        with opened(partial(_numbered, work), *self, jobs) as pool:
            yield pool


def check_backend(backend: str, address: str, workers: int | None) -> list[Fault]:
    """What is wrong with where the user wants cells to run."""
    faults = []
    if backend not in BACKENDS:
        remedy = f"Backends are {', '.join(BACKENDS)}."
        return [Fault("backend", "no such backend", backend, remedy)]
    missing = [name for name in PACKAGES.get(backend, ()) if find_spec(name) is None]
    if missing:
        remedy = f"Install it with: pip install 'restive[{backend}]'"
        faults.append(Fault("backend", f"needs {missing[0]}, which is not installed", "", remedy))
    if address and backend == "local":
        remedy = "Leave it out, or choose the backend dask or ray."
        faults.append(Fault("address", "local workers have none", address, remedy))
    if address and backend == "dask" and workers is not None:
        remedy = "Leave it out: the cluster at the address has its own number of workers."
        faults.append(Fault("workers", "cannot be chosen here", str(workers), remedy))
    if workers is not None and workers < 1:
        remedy = "Give a whole number from 1 on."
        faults.append(Fault("workers", "not a number of workers", str(workers), remedy))
    return faults


@contextmanager
def opened(
    work: Work, backend: str, address: str, workers: int | None, jobs: int
) -> Iterator[Pool]:
    """A pool on one of the BACKENDS, with no more workers of its own than there are jobs.

    work: what workers do with a batch; they do it on one thread, the other cores are busy.
    """
    refuse(check_backend(backend, address, workers))
    start = {"local": local_pool, "dask": dask_pool, "ray": ray_pool}[backend]
    with warnings.catch_warnings(), start(work, address, workers, max(jobs, 1)) as pool:
        # after an interrupt this is what the user asked for
        warnings.filterwarnings("ignore", ".*tasks which were still being processed", UserWarning)
        yield pool


class _Raised(NamedTuple):
    """What a job raised, which is not the loss of a worker."""

    error: Exception


def _numbered(work: Callable[[Any], Any], batch: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    results: list[tuple[int, Any]] = []
    for number, job in batch:
        try:
            results.append((number, work(job)))
        except Exception as error:
            results.append((number, _Raised(error)))
    return results


def in_order(pool: Pool, jobs: Sequence[Any]) -> Iterator[Any]:
    """Results in the order of the jobs, for a pool of a ``Workplace``.

    What workers that were lost had to do is done again. An exception of a job is raised here.
    """
    missing, ready, position, losses = dict(enumerate(jobs)), {}, 0, 0
    while missing:
        before, batches = len(missing), iter([[item] for item in missing.items()])
        try:
            with closing(cast(Generator[list[Any], None, None], pool.run(batches))) as results:
                for number, result in chain.from_iterable(results):
                    if isinstance(result, _Raised):
                        raise _JobError(result.error)
                    ready[number] = result
                    del missing[number]
                    while position in ready:
                        yield ready.pop(position)
                        position += 1
        except _JobError as failure:
            raise failure.error from None
        except Exception as error:
            losses = losses + 1 if len(missing) == before else 0
            if losses >= PATIENCE:
                raise workers_lost(error, losses) from error


class _JobError(Exception):
    """Carries an exception of a job past those of the pool."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def workers_lost(error: Exception, losses: int, kept: str = "") -> RestiveError:
    """Words for workers that are lost again and again; ``kept``: what the user still has."""
    words = first_line(error)
    return RestiveError(
        f"workers died {losses} times without finishing a job: {words}. Give them more memory, "
        f"start fewer of them, and see that restive is installed where they run{kept}."
    )
