"""Arrays that the scheduler's kernels work on, and its input as such arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from restive.base.arrays import Ints
from restive.base.checks import is_whole
from restive.base.errors import Fault, refusal, refuse

if TYPE_CHECKING:
    from restive._kernels.schedule import Arms, Scratch, Tables


MOST_ARMS = 2**31 - 1  # arms are numbered in 32 bits


def new_arms(tables: Tables, row: Ints, since: Ints, time: int, room: int) -> Arms:
    """Arms with these rows and times of their last pull, in no set yet."""
    from restive._kernels.schedule import Arms

    count = len(row)
    if count > MOST_ARMS:
        raise refusal("kinds", f"more than {MOST_ARMS} arms", str(count), "Use several schedulers.")
    nodes = np.full((count, 4), -1, dtype=np.int32)
    nodes[:, 0] = row
    words = np.zeros(int(tables.levels[-1, -1]), dtype=np.uint64)
    return Arms(
        nodes, np.array(since, dtype=np.int64),
        np.zeros(count, dtype=np.int8), np.full(int(tables.begin[-1]), -1, dtype=np.int32),
        np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64), words,
        np.array([time, 0, -1]),
    )  # fmt: skip


def new_scratch(tables: Tables, pulls: int) -> Scratch:
    """Room to choose this many arms."""
    from restive._kernels.schedule import Scratch

    groups = len(tables.periods)
    looped = int(tables.begin[-1]) if tables.periods[-1] > 1 else 0  # these may tie with each other
    edge = pulls + groups + looped + 2
    return Scratch(
        np.empty(pulls), np.empty(pulls, dtype=np.int64), np.empty(edge),
        np.empty(edge, dtype=np.int64), np.empty(groups, dtype=np.int64), np.empty(groups),
    )  # fmt: skip


def young_most(tables: Tables, row: Ints, pulls: int) -> int:
    """Most arms that are young at once if m are pulled a step: room to begin with."""
    fresh = int((tables.cap[row[row >= 0]] > 1).sum())
    return min(len(row), fresh + pulls * int(tables.cap.max()))


def require_parts(
    state: Mapping[str, Any], words: Sequence[str], arrays: Mapping[str, Any], names: Sequence[str]
) -> None:
    """Refuse a saved scheduler of which something is missing."""
    remedy = "Give both parts of what Scheduler.snapshot() returned."
    lost = [name for name in words if name not in state]
    lost += [name for name in names if name not in arrays]
    refuse([Fault(name, "missing from the saved scheduler", "nothing", remedy) for name in lost])


def whole_number(path: str, raw: int) -> int:
    if not is_whole(raw):
        raise refusal(path, "not a whole number", repr(raw)[:80], "Give a whole number.")
    return int(raw)


def whole_numbers(path: str, raw: ArrayLike) -> Ints:
    numbers = np.atleast_1d(np.asarray(raw))
    if numbers.size == 0:
        return np.empty(0, dtype=np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise refusal(path, "not a list of whole numbers", str(raw)[:80], "Give whole numbers.")
    return np.ascontiguousarray(numbers, dtype=np.int64)
