"""Compilation for small functions that take tuples of many arrays: inlined, references uncounted.

Numba hands over every array of a tuple at every call and counts its references, atomically.
Functions of a few instructions that are given twenty arrays then do little else: without these
options the scheduler runs at a tenth of its speed. Such functions must not allocate arrays; all
they work on belongs to their caller.
"""

from __future__ import annotations

from typing import Any

from restive._kernels import njit

_OPTIONS: dict[str, Any] = {"_nrt": False}  # not in numba's type hints

compiled = njit(cache=True, error_model="numpy", nogil=True, forceinline=True, **_OPTIONS)
