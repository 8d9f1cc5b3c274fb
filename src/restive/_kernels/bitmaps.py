"""Sets of small whole numbers as bits in levels: a bit one level up says that a word is not empty.

levels: (1 + L,) where each level's words begin in ``words``, the members themselves first; the
last entry is the end. 64^L >= members, so the first member from a place on is found in 2 L steps.
"""

from __future__ import annotations

import numpy as np

from restive._kernels.uncounted import compiled

_0, _1, _6, _58, _63 = (np.uint64(n) for n in (0, 1, 6, 58, 63))
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, dtype=np.int64)
for _n in range(64):  # each window of six bits of the sequence occurs once
    _PLACES[((0x03F79D71B4CB0A89 << _n) & (2**64 - 1)) >> 58] = _n


@compiled
def _lowest(word):
    """Number of the lowest bit that is set."""
    return _PLACES[((word & (~word + _1)) * _DE_BRUIJN) >> _58]


@compiled
def add(words, levels, member):
    for level in range(len(levels) - 1):
        place = levels[level] + (member >> 6)
        before = words[place]
        words[place] = before | (_1 << np.uint64(member & 63))
        if before != _0:
            return
        member >>= 6


@compiled
def discard(words, levels, member):
    for level in range(len(levels) - 1):
        place = levels[level] + (member >> 6)
        words[place] &= ~(_1 << np.uint64(member & 63))
        if words[place] != _0:
            return
        member >>= 6


@compiled
def first_from(words, levels, member):
    """The smallest member that is at least this number, -1 if there is none."""
    for level in range(len(levels) - 1):
        place = levels[level] + (member >> 6)
        if place >= levels[level + 1]:
            return -1
        word = words[place] >> np.uint64(member & 63)
        if word != _0:
            member += _lowest(word)
            for below in range(level - 1, -1, -1):
                member = (member << 6) + _lowest(words[levels[below] + member])
            return member
        member = (member >> 6) + 1
    return -1
