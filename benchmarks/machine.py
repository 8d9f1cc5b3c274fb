"""What this machine allows: its memory bandwidth, measured in the process that runs the solvers."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise

import numpy as np

__all__ = ["TRIAD_BYTES", "description", "triad", "version_of"]

CELLS = 16_000_000  # three arrays of 128 MB: beyond any cache
TRIAD_BYTES = 24 * CELLS  # two reads and one write a cell


def triad(threads: int) -> Callable[[], None]:
    """A function that runs a = b + s c once on this many threads, compiled and warm.

    Ordinary threads share the arrays out, as they do in restive's sweeps.
    """
    import numba

    @numba.njit(nogil=True, fastmath=True)
    def part(a, b, c, s):  # type: ignore[no-untyped-def]
        for i in range(len(a)):
            a[i] = b[i] + s * c[i]

    compiled: Callable[..., None] = part
    arrays = np.zeros(CELLS), np.ones(CELLS), np.ones(CELLS)
    pool = ThreadPoolExecutor(threads)
    cuts = [CELLS * k // threads for k in range(threads + 1)]
    shares = [[x[i:j] for x in arrays] for i, j in pairwise(cuts)]

    def run() -> None:
        list(pool.map(lambda share: compiled(*share, 3.0), shares))

    run()
    return run


def description() -> dict[str, str | int]:
    """Processor, cores, load and versions, for the record beside the numbers."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": version_of("numba"),
    }


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a source tree
        return ""


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
