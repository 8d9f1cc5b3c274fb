"""Sets of arms that know their smallest number: leftist heaps linked through the arms themselves.

A node is an arm and its key is its number. nodes: (K, 4), what follows the row of an arm are its
left child, right child and parent, -1 where there is none; rank: (K,), 1 for a leaf. Many disjoint
heaps share the arrays: an arm is in at most one of them.
Insertion, deletion of any node and melding take O(log n) in the worst case (Crane, 1972).
"""

from __future__ import annotations

import numpy as np

from restive._kernels.uncounted import compiled

ROW, LEFT, RIGHT, PARENT = 0, 1, 2, 3  # columns of nodes, side by side in memory


@compiled
def _straighten(nodes, rank, node):
    """Put the child of larger rank on the left, and return the rank of the node."""
    a, b = nodes[node, LEFT], nodes[node, RIGHT]
    rank_a = rank[a] if a >= 0 else 0
    rank_b = rank[b] if b >= 0 else 0
    if rank_a < rank_b:
        nodes[node, LEFT], nodes[node, RIGHT] = b, a
        return rank_a + 1
    return rank_b + 1


@compiled
def meld(nodes, rank, a, b):
    """Root of the union of two heaps; its parent stays as it was."""
    if a < 0:
        return b
    if b < 0:
        return a
    if b < a:
        a, b = b, a
    root = a
    while True:  # down the right spines, the smaller node first
        below = np.int64(nodes[a, RIGHT])
        if below < 0:
            nodes[a, RIGHT], nodes[b, PARENT] = b, a
            break
        if b < below:
            nodes[a, RIGHT], nodes[b, PARENT] = b, a
            a, b = b, below
        else:
            a = below
    while True:
        rank[a] = _straighten(nodes, rank, a)
        if a == root:
            return root
        a = np.int64(nodes[a, PARENT])


@compiled
def insert(nodes, rank, root, node):
    """Root of the heap with one more node."""
    nodes[node, LEFT], nodes[node, RIGHT], nodes[node, PARENT] = -1, -1, -1
    rank[node] = 1
    root = meld(nodes, rank, root, node)
    nodes[root, PARENT] = -1
    return root


@compiled
def delete(nodes, rank, root, node):
    """Root of the heap without the node, -1 if nothing is left."""
    above = np.int64(nodes[node, PARENT])
    rest = meld(nodes, rank, np.int64(nodes[node, LEFT]), np.int64(nodes[node, RIGHT]))
    if rest >= 0:
        nodes[rest, PARENT] = above
    rank[node] = 0
    if above < 0:
        return rest
    if nodes[above, LEFT] == node:
        nodes[above, LEFT] = rest
    else:
        nodes[above, RIGHT] = rest
    while above >= 0:
        height = _straighten(nodes, rank, above)
        if height == rank[above]:
            break
        rank[above] = height
        above = np.int64(nodes[above, PARENT])
    return root
