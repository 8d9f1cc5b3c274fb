"""What this machine allows: its memory bandwidth, measured in the process that runs the solvers."""

from __future__ import annotations

import os
import platform
from statistics import median
from time import perf_counter

import numpy as np

__all__ = ["bandwidth", "description"]

CELLS = 16_000_000  # three arrays of 128 MB: beyond any cache


def bandwidth(repeats: int = 7) -> dict[str, float]:
    """GB/s of the triad a = b + s c (24 bytes a cell), on one thread and on all of them."""
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def triad(a, b, c, s):  # type: ignore[no-untyped-def]
        for i in numba.prange(len(a)):
            a[i] = b[i] + s * c[i]

    a, b, c = np.zeros(CELLS), np.ones(CELLS), np.ones(CELLS)
    measured = {}
    threads = numba.get_num_threads()
    for label, count in [("one thread", 1), ("all threads", threads)]:
        numba.set_num_threads(count)
        triad(a, b, c, 3.0)
        seconds = []
        for _ in range(repeats):
            start = perf_counter()
            triad(a, b, c, 3.0)
            seconds.append(perf_counter() - start)
        measured[label] = 24 * CELLS / median(seconds) / 1e9
    numba.set_num_threads(threads)
    return measured


def description() -> dict[str, str | int]:
    """Processor, cores, load and versions, for the record beside the numbers."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
