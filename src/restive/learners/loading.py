"""Learners from files: restored only from what fits them, and refused with a fault otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from restive.base.errors import ProblemError, refusal
from restive.learners.storage import SavedArrays, Snapshot, pack

if TYPE_CHECKING:
    from restive.learners.contract import Learner

REMEDY = "Give a file that this learner's save() wrote, with this version of restive."
MOST = 2**62  # of any count: sums of two of them do not overflow


def restore_checked(learner: Learner, snapshot: Snapshot, source: str) -> None:
    """Go on from a snapshot that somebody else may have written.

    Its arrays must be of the kinds that the learner's own have, its counts must be counts, and the
    learner must remember afterwards exactly what the file says.
    """
    state, arrays = snapshot
    with refusing(source):
        own, arms = learner.snapshot()[1], _seen_arms(learner)
        learner.restore(state, arrays)
        _check_kinds(own, arrays)
        _check_shapes(getattr(learner, "learner", learner), arrays, own)
        if pack(*learner.snapshot()) != pack(state, arrays):
            raise ValueError("it holds more or other than the learner remembers")
        _check_sight(learner, arms)
        arm = learner.ask()
        if not 0 <= arm < learner.n_arms:
            raise ValueError(f"it would pull arm {arm}")


@contextmanager
def refusing(source: str) -> Iterator[None]:
    """Whatever a damaged snapshot makes a learner raise, as a fault."""
    try:
        yield
    except ProblemError:
        raise
    except Exception as error:  # restore() of any learner, on any content
        words = f"{type(error).__name__}: {error}"[:200]
        raise refusal(source, "not a snapshot of such a learner", words, REMEDY) from None


def _check_kinds(own: SavedArrays, other: SavedArrays) -> None:
    """Types and dimensions as the learner's own; counts and numbers in range."""
    for name, array in other.items():
        mine = own.get(name)
        if mine is not None and (array.dtype, array.ndim) != (mine.dtype, mine.ndim):
            raise ValueError(f"{name} has {array.ndim} dimensions and type {array.dtype}")
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise ValueError(f"{name} has entries that are no numbers")
        counts = array if array.dtype.kind in "iu" else np.zeros(0, dtype=np.int64)
        if counts.min(initial=0) < -1:
            raise ValueError(f"{name} has entries that are no counts")


def _check_shapes(learner: Any, arrays: SavedArrays, own: SavedArrays) -> None:
    """Compiled loops look up entries without asking: tables must be as large as they believe."""
    for name, shape in _expected_shapes(learner, arrays, own):
        if name in arrays and arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape}, not {shape}")
    if "index_stored" in arrays:
        stored, back = arrays["index_stored"], arrays["index_back"]
        most = arrays["index_ages"].shape[1]
        if stored.min() < 1 or stored.max() > most or back.min() < 0 or (back >= stored).any():
            raise ValueError("index_stored and index_back do not fit the ages")


def _expected_shapes(
    learner: Any, arrays: SavedArrays, own: SavedArrays
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names of arrays with the shapes that the learner's arms, states and colors ask for."""
    k, planner = learner.n_arms, getattr(learner, "planner", None)
    states = max(getattr(getattr(learner, "labels", None), "sizes", None) or (1,))
    if "gaps" in arrays:
        room = max(states, arrays["gaps"].shape[1])
        lags = own["gaps"].shape[2] if "gaps" in own else arrays["gaps"].shape[2]
        yield from (("gaps", (k, room, lags, room)), ("paid", (k, room, 3)))
        yield "visits", (k,)
    elif "outcomes" in arrays:
        colors, support = learner.structure.n_colors, learner.structure.max_support
        yield from ((name, (colors, support)) for name in ("outcomes", "rewards", "squares"))
        yield "visits", (colors,)
    if getattr(learner, "running", False):  # before, they are those of the states known then
        yield "limits", arrays["visits"].shape
    solved = getattr(getattr(planner, "exact", planner), "structure", None)
    if "values" in arrays and solved is not None:
        layout = getattr(solved, "layout", None)  # information states are stored with gaps
        yield "values", (solved.n_states if layout is None else int(layout.block[-1]),)
        yield from ((f"model_{name}", (solved.n_colors,))
                    for name in ("rewards", "radii", "reward_radii"))  # fmt: skip
        yield "model_probabilities", (solved.n_colors, solved.max_support)
    if "index_indices" in arrays:
        ages = arrays["index_indices"].shape[2]
        yield "index_indices", (k, max(states, arrays["index_indices"].shape[1]), ages)
        yield from (("index_ages", (k, ages)), ("index_stored", (k,)), ("index_back", (k,)))


def _seen_arms(learner: Learner) -> int:
    """How many arms the learner remembers sights of; none if it remembers no sights."""
    sight = getattr(learner, "sight", None)
    return 0 if sight is None else len(sight.states)


def _check_sight(learner: Learner, arms: int) -> None:
    """What was seen of each arm can have been seen: by then, and of states that there are."""
    if not arms:
        return
    sight = learner.sight  # type: ignore[attr-defined]
    if len(sight.states) != arms or len(sight.seen_at) != arms or not 0 <= sight.steps < MOST:
        raise ValueError("what was seen is of other arms")
    times = all(0 <= at <= sight.steps for at in sight.seen_at)
    if not 0 <= sight.last < max(arms, learner.n_arms) or not times:
        raise ValueError("what was seen is of another time")
    sizes = getattr(getattr(learner, "labels", None), "sizes", None)
    limits = sizes if sizes and len(sizes) == arms else [MOST] * arms
    if not all(-1 <= s < size for s, size in zip(sight.states, limits, strict=True)):
        raise ValueError("what was seen is of other states")
