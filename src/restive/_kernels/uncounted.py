"""Compilation without reference counts, for small functions that take tuples of many arrays.

Numba counts the references of every array at every call, atomically. Functions of a few
instructions that are handed twenty arrays then spend most of their time counting: the scheduler
ran at a sixth of its speed. Such functions must not allocate; their callers own all arrays.
"""

from __future__ import annotations

from numba import njit

compiled = njit(cache=True, error_model="numpy", nogil=True, _nrt=False, forceinline=True)
inlined = njit(cache=True, error_model="numpy", nogil=True, _nrt=False, inline="always")
