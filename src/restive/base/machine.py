"""What the machine offers: threads to share work among, memory, versions of packages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache

THREADS_FROM_PAIRS = 2_000_000  # below, threads cost more than they save


def share_out(pairs: int, work: Callable[..., None], *arguments: object) -> None:
    """Call ``work(*arguments, first, stride)`` so that all parts get done, on threads if it pays.

    The kernels release the interpreter lock, so ordinary threads do: they need no runtime of
    their own, sleep when idle, and leave the machine usable for others.
    """
    threads = thread_count() if pairs >= THREADS_FROM_PAIRS else 1
    if threads == 1:
        work(*arguments, 0, 1)
        return
    pool = _pool(threads)
    for future in [pool.submit(work, *arguments, k, threads) for k in range(threads)]:
        future.result()


def thread_count() -> int:
    """Threads to use: RESTIVE_THREADS, or as many as there are cores for this process."""
    setting = os.environ.get("RESTIVE_THREADS", "")
    return int(setting) if setting.isdigit() and int(setting) > 0 else cores()


def cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="restive")


@contextmanager
def helpers(threads: int | None = None) -> Iterator[ThreadPoolExecutor]:
    """Threads for a while: after Ctrl-C nobody waits for what they are still doing."""
    pool = ThreadPoolExecutor(threads or thread_count(), thread_name_prefix="restive")
    try:
        yield pool
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    except BaseException:
        pool.shutdown()
        raise
    pool.shutdown()


def memory_allowed(memory: int | None = None) -> int:
    """Bytes that one answer may take: as asked, or half of what the machine has."""
    if memory is not None:
        return int(memory)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def installed_version(package: str) -> str:
    """The version of a package; "unknown" where it runs from its source and is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
