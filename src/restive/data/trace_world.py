"""From traces to the world that they are."""

from __future__ import annotations

import numpy as np

from restive.base.errors import refusal
from restive.base.machine import memory_allowed
from restive.data.traces import Traces
from restive.simulation.traced import TraceWorld

MOST_CELLS = 10**8  # arms times steps
THIN = 10**7  # from here on a hundredth of the cells must be seen
CELL = 32  # bytes: state and reward, twice while they change places


def trace_world(traces: Traces) -> TraceWorld:
    """The world that a trace is; rewards must be known.

    >>> from restive.data.reading import read_traces
    >>> trace_world(read_traces({"a": [0, 1, 1, 0], "b": [1, None, 0, 1]})).complete
    False
    """
    cells = traces.n_arms * (traces.end - traces.start)
    seen = sum(map(len, traces.arms))
    most = min(MOST_CELLS, max(THIN, 100 * seen), memory_allowed() // CELL)
    if cells > most:
        remedy = "Give a longer tick, fewer arms or a part of the time."
        words = f"{traces.n_arms} arms and {traces.end - traces.start:,} steps"
        raise refusal("data", "too long to replay step by step", words, remedy)
    states, rewards = traces.dense()
    world = TraceWorld(np.ascontiguousarray(states.T), np.ascontiguousarray(rewards.T))
    for arm, seen in zip(traces.arms, world.seen, strict=True):
        if not seen.any():
            remedy = "Give rewards by state (rewards=, --rewards on the command line) or a column."
            raise refusal("rewards", f"no reward is known of arm {arm.name!r}", "", remedy)
    return world
