"""Traces of chains that are as assumed, and of some that are not."""

from __future__ import annotations

import numpy as np

from restive.data.traces import ArmTrace

STICKY = np.array([[0.9, 0.1], [0.2, 0.8]])
THREE = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.1, 0.6]])


def walk(chain, steps, rng):
    """A path of a chain of any order: ``chain`` has one axis for each state that matters."""
    chain = np.asarray(chain)
    order, size = chain.ndim - 1, chain.shape[-1]
    path = list(rng.integers(size, size=order))
    for number in rng.random(steps - order):
        law = np.cumsum(chain[tuple(path[-order:])])
        path.append(min(int(np.searchsorted(law, number)), size - 1))
    return np.array(path)


def arm_of(states, name="arm", times=None, pieces=None, size=None, rewards=None):
    states = np.asarray(states, dtype=np.int64)
    size = int(states.max()) + 1 if size is None else size
    times = np.arange(len(states)) if times is None else np.asarray(times)
    pieces = np.zeros(len(states)) if pieces is None else np.asarray(pieces)
    paid = states / max(1, size - 1) if rewards is None else rewards
    labels = tuple("abcdefghijklmnopqrstuvwxyz"[:size])
    return ArmTrace(name, times.astype(np.int64), states, np.asarray(paid, dtype=np.float64),
                    labels, pieces.astype(np.int64))  # fmt: skip


def thinned(trace, share, rng):
    """Each look kept with the chance ``share``."""
    kept = rng.random(len(trace.states)) < share
    return ArmTrace(trace.name, trace.times[kept], trace.states[kept], trace.rewards[kept],
                    trace.labels, trace.pieces[kept])  # fmt: skip
