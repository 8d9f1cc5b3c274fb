"""Paths drawn anew with the same transitions: every order that a chain could have taken them in."""

from __future__ import annotations

import numpy as np

from restive._kernels import njit


@njit(cache=True, error_model="numpy", nogil=True)
def shuffle_path(path, size, rng, out):
    """Draw a path uniformly among those with the ends and the transition counts of ``path``.

    An Eulerian path is a tree of last exits to the final state and an order of the other exits
    (BEST theorem). The tree is drawn by walks with their loops erased (Wilson 1996).
    """
    n = len(path)
    first = np.zeros(size + 1, dtype=np.int64)
    for i in range(n - 1):
        first[path[i] + 1] += 1
    for s in range(size):
        first[s + 1] += first[s]
    exits = np.empty(max(n - 1, 1), dtype=np.int64)
    place = first[:size].copy()
    for i in range(n - 1):
        exits[place[path[i]]] = path[i + 1]
        place[path[i]] += 1
    last = _last_exits(path[n - 1], first, exits, rng)
    for s in range(size):
        end = first[s + 1]
        if last[s] >= 0:
            end -= 1
            exits[last[s]], exits[end] = exits[end], exits[last[s]]
        for i in range(end - 1, first[s], -1):
            k = first[s] + int(rng.random() * (i - first[s] + 1))
            exits[i], exits[k] = exits[k], exits[i]
    place[:] = first[:size]
    out[0] = path[0]
    for i in range(n - 1):
        s = out[i]
        out[i + 1] = exits[place[s]]
        place[s] += 1


@njit(cache=True, error_model="numpy", nogil=True)
def shuffle_paths(path, size, rng, out):
    """Fill every row of ``out`` with a path of its own."""
    for k in range(len(out)):
        shuffle_path(path, size, rng, out[k])


@njit(cache=True, error_model="numpy", nogil=True)
def _last_exits(root, first, exits, rng):
    """Place in ``exits`` of the last exit of every state but the root; -1 where there is none."""
    size = len(first) - 1
    last = np.full(size, -1, dtype=np.int64)
    joined = np.zeros(size, dtype=np.bool_)
    joined[root] = True
    for s in range(size):
        if first[s + 1] == first[s]:
            continue
        u = s
        while not joined[u]:
            last[u] = first[u] + int(rng.random() * (first[u + 1] - first[u]))
            u = exits[last[u]]
        u = s
        while not joined[u]:
            joined[u] = True
            u = exits[last[u]]
    return last
