"""Workers behind one face: this process, local ones, a Dask or a Ray cluster, all by joblib."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import sleep
from typing import Any

from restive.base.errors import refusal
from restive.base.machine import cores
from restive.base.words import first_line

ANSWER = 10  # seconds that a cluster has to answer

Batches = Iterator[list[Any]]
Work = Callable[[list[Any]], list[Any]]  # of a batch; defined at the top of a module


@dataclass(frozen=True)
class Pool:
    """Workers that take batches of jobs and give back results in the order they finish.

    An exception that ``run`` raises means that workers were lost, where jobs report their own.
    """

    workers: int
    run: Callable[[Batches], Iterator[list[Any]]]


@contextmanager
def local_pool(work: Work, address: str, workers: int | None, jobs: int) -> Iterator[Pool]:
    count = min(workers or cores(), jobs)
    if count == 1:
        with _single_threaded():
            yield Pool(1, lambda batches: (work([job]) for batch in batches for job in batch))
        return
    from joblib import parallel_config

    parent = (os.getpid(),)
    with parallel_config(
        "loky", n_jobs=count, inner_max_num_threads=1, initializer=_as_worker, initargs=parent
    ):
        try:
            yield Pool(count, partial(_joblib, work))
        except BaseException:
            dismiss_local_workers()  # they would continue with cells that are no longer needed
            raise


@contextmanager
def dask_pool(work: Work, address: str, workers: int | None, jobs: int) -> Iterator[Pool]:
    """An existing cluster, or without an address one of its own on this machine."""
    from distributed import Client, LocalCluster
    from joblib import parallel_config

    with ExitStack() as stack:
        if not address:
            count = min(workers or cores(), jobs)
            address = stack.enter_context(
                LocalCluster(
                    n_workers=count, threads_per_worker=1, dashboard_address=None,
                    env={"RESTIVE_THREADS": "1"},
                )
            ).scheduler_address  # fmt: skip
        with _refused(address):
            client = stack.enter_context(Client(address, timeout=ANSWER, set_as_default=False))
            client.wait_for_workers(1, timeout=ANSWER)
        threads = sum(client.nthreads().values())
        stack.enter_context(parallel_config("dask", n_jobs=-1, client=client))
        yield Pool(threads, partial(_joblib, work))


@contextmanager
def ray_pool(work: Work, address: str, workers: int | None, jobs: int) -> Iterator[Pool]:
    """An existing cluster, or without an address one of its own on this machine."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # keeps a warning away
    import ray
    from joblib import parallel_config

    logging.getLogger("ray.util.multiprocessing.pool").setLevel(logging.ERROR)
    _register_ray()
    quiet = {"log_to_driver": False, "configure_logging": False}
    with _refused(address or "a local Ray"):
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init(num_cpus=min(workers or cores(), jobs), include_dashboard=False, **quiet)
    try:
        count = min(workers or int(ray.cluster_resources().get("CPU", 1)), jobs)
        with parallel_config("restive-ray", n_jobs=count), closing(_Kept(work)) as kept:
            yield Pool(count, kept.run)
    finally:
        ray.shutdown()


def _register_ray() -> None:
    from joblib import register_parallel_backend
    from ray.util.joblib.ray_backend import RayBackend

    class Streaming(RayBackend):  # type: ignore[misc, unused-ignore]
        """Ray's own, and results as they finish: it inherits a refusal it has no need of."""

        supports_return_generator = True

    register_parallel_backend("restive-ray", Streaming)


def _joblib(work: Work, batches: Batches) -> Iterator[list[Any]]:
    from joblib import delayed

    calls = (delayed(_on_one_thread)(work, batch) for batch in batches)
    results: Iterator[list[Any]] = _parallel()(calls)
    return results


def _parallel() -> Any:
    from joblib import Parallel

    return Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")


class _Kept:
    """Workers that stay from one call to the next: Ray takes seconds to start them."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.parallel: Any = None

    def run(self, batches: Batches) -> Iterator[list[Any]]:
        from joblib import delayed

        if self.parallel is None:
            self.parallel = _parallel().__enter__()
        try:
            yield from self.parallel(delayed(_on_one_thread)(self.work, b) for b in batches)
        except BaseException:
            self.close()  # after a loss, or in the middle, none of them can be relied on
            raise

    def close(self) -> None:
        parallel, self.parallel = self.parallel, None
        if parallel is not None:
            with suppress(Exception):
                parallel.__exit__(None, None, None)


def _on_one_thread(work: Work, batch: list[Any]) -> list[Any]:
    os.environ["RESTIVE_THREADS"] = "1"
    return work(batch)


def _as_worker(parent: int) -> None:
    """Make a process a worker of ``parent``: it leaves interrupts to it, and goes when it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal

    def leave() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    threading.Thread(target=leave, daemon=True).start()


@contextmanager
def _refused(address: str) -> Iterator[None]:
    """Words for a cluster that does not answer."""
    try:
        yield
    except (OSError, TimeoutError, ValueError, RuntimeError, ConnectionError) as error:
        remedy = "Give the address of a running cluster, such as tcp://host:8786 for Dask."
        words = first_line(error)
        raise refusal("address", f"no answer: {words}", address, remedy) from None


@contextmanager
def _single_threaded() -> Iterator[None]:
    """As in a worker, so that the same is computed."""
    before: Any = os.environ.get("RESTIVE_THREADS")
    os.environ["RESTIVE_THREADS"] = "1"
    try:
        yield
    finally:
        os.environ.pop("RESTIVE_THREADS")
        if before is not None:
            os.environ["RESTIVE_THREADS"] = before


def dismiss_local_workers() -> None:
    """End local workers at once; the next call starts new ones."""
    from joblib.externals.loky import get_reusable_executor

    with suppress(Exception):
        get_reusable_executor().shutdown(wait=False, kill_workers=True)
