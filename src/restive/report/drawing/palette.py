"""Colours and dashes of learners: told apart by any colour vision, on white and on black."""

from __future__ import annotations

# Found by search: least distance between two of them as large as possible under normal vision and
# the three kinds of colour blindness, contrast with the page at least 3.
LIGHT = ("#0072B2", "#E8481A", "#00573E", "#9D7A8E", "#222222", "#803700", "#0099FE")
DARK = ("#62D6EF", "#FF7653", "#108D99", "#A298FF", "#FFFFF7", "#ECAE0D", "#C9B2A0")
# Areas side by side, on white and on black: Okabe and Ito's colours, light ones first.
FILLS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#0072B2", "#D55E00")
DASHES = ("", "8 3", "2 2.5", "9 3 2 3", "14 4")  # 7 and 5: no pair returns before the 36th


def color_index(learner: int) -> int:
    """Place of a learner's colour in either list."""
    return learner % len(LIGHT)


def dash(learner: int) -> str:
    """The learner's dashes as SVG writes them."""
    return DASHES[learner % len(DASHES)]
