"""Sets of arms that know their smallest number: leftist heaps linked through the arms themselves.

A node is an arm and its key is its number. The arrays left, right and parent hold -1 where there
is nothing; rank is 1 for a leaf. Many disjoint heaps share the arrays: an arm is in at most one.
Insertion, deletion of any node and melding take O(log n) in the worst case (Crane, 1972).
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, error_model="numpy", nogil=True)
def _straighten(left, right, rank, node):
    """Put the child of larger rank on the left, and return the rank of the node."""
    a, b = left[node], right[node]
    rank_a = rank[a] if a >= 0 else 0
    rank_b = rank[b] if b >= 0 else 0
    if rank_a < rank_b:
        left[node], right[node] = b, a
        return rank_a + 1
    return rank_b + 1


@njit(cache=True, error_model="numpy", nogil=True)
def meld(left, right, parent, rank, a, b):
    """Root of the union of two heaps; its parent stays as it was."""
    if a < 0:
        return b
    if b < 0:
        return a
    if b < a:
        a, b = b, a
    root = a
    while True:  # down the right spines, the smaller node first
        below = right[a]
        if below < 0:
            right[a], parent[b] = b, a
            break
        if b < below:
            right[a], parent[b] = b, a
            a, b = b, below
        else:
            a = below
    while True:
        rank[a] = _straighten(left, right, rank, a)
        if a == root:
            return root
        a = parent[a]


@njit(cache=True, error_model="numpy", nogil=True)
def insert(left, right, parent, rank, root, node):
    """Root of the heap with one more node."""
    left[node], right[node], parent[node], rank[node] = -1, -1, -1, 1
    root = meld(left, right, parent, rank, root, node)
    parent[root] = -1
    return root


@njit(cache=True, error_model="numpy", nogil=True)
def delete(left, right, parent, rank, root, node):
    """Root of the heap without the node, -1 if nothing is left."""
    above = parent[node]
    rest = meld(left, right, parent, rank, left[node], right[node])
    if rest >= 0:
        parent[rest] = above
    rank[node] = 0
    if above < 0:
        return rest
    if left[above] == node:
        left[above] = rest
    else:
        right[above] = rest
    while above >= 0:
        height = _straighten(left, right, rank, above)
        if height == rank[above]:
            break
        rank[above] = height
        above = parent[above]
    return root
