"""How large a plan may get: ages told apart within what a replan may take, and what is too large.

Up to five arms the number of information states tells how long a sweep takes. With more arms rows
get short and most of the work is reading other rows: bytes tell it then, about 1 ns a byte.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.errors import TooLargeError
from restive.mdp.representation import Representation

__all__ = [
    "CAPS", "fits", "fitted", "fitting_sizes", "require_plannable", "shortest_episode",
    "sweeps_allowed",
]  # fmt: skip

CAPS = np.array([1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 181, 256])
FEW_ARMS = 5
FEWEST_BYTES = 600_000  # that may always be planned on with many arms
BYTES_PER_STEP = 3_000  # and this many more for every step an episode may last
SWEPT_BYTES = 60_000_000  # bytes times sweeps of a plan with many arms
FEWEST_SWEEPS, MOST_SWEEPS = 30, 2_000
BYTES_A_STEP_EARNS = 500_000  # an episode lasts a step for each of these, at least
MOST_BYTES = 32_000_000  # of the smallest plan there is: 12 arms of two states take more


def require_plannable(sizes: Sequence[int]) -> None:
    """Refuse arms for which even the smallest plan is too large; sizes: states of each."""
    least = _least(sizes)
    if least.n_bytes > MOST_BYTES:
        raise TooLargeError(
            f"tied-sampling would have to plan on at least {least.n_states:.3g} information states "
            f"for {least.n_arms} arms of up to {max(least.sizes)} states, and has to do so again "
            "and again; learn with fewer arms, merge states, or take a learner that does not plan, "
            "such as ucb1, rca or dsee"
        )


def fitted(
    sizes: Sequence[int], caps: Sequence[int], periods: Sequence[int], states: float, length: int
) -> Representation:
    """The representation with these caps, or lower ones so that it is no larger than allowed.

    states: how many it may have with few arms. length: steps that the episode may last.
    """
    room = (states, length)
    rep = _lowered(Representation(sizes, caps, periods), room)
    if len(sizes) <= FEW_ARMS:
        return rep
    if not fits(rep, *room):
        rep = Representation(sizes, rep.caps)
    return _raised(rep, caps, room)


def fits(rep: Representation, states: float, length: int) -> bool:
    """Whether it is no larger than allowed, with ``states`` and ``length`` as in ``fitted``."""
    if rep.n_arms <= FEW_ARMS:
        return rep.n_states <= states
    least = _least(rep.sizes).n_bytes  # less cannot be had
    return rep.n_bytes <= max(least, FEWEST_BYTES + BYTES_PER_STEP * length)


def fitting_sizes(known: Sequence[int], hoped: Sequence[int], length: int) -> list[int]:
    """States of each arm to plan with: those known, and one unseen where hoped for and affordable.

    An arm that has shown a single state keeps the other one: without it, it could not move.
    """
    if len(known) <= FEW_ARMS:
        return list(hoped)
    sizes = [more if size == 1 else size for size, more in zip(known, hoped, strict=True)]
    for arm, more in enumerate(hoped):
        larger = [*sizes[:arm], more, *sizes[arm + 1 :]]
        if _least(larger).n_bytes <= FEWEST_BYTES + BYTES_PER_STEP * length:
            sizes = larger
    return sizes


def shortest_episode(sizes: Sequence[int]) -> int:
    """Steps that an episode lasts at least, so that replans do not take all the time."""
    return 1 if len(sizes) <= FEW_ARMS else max(1, _least(sizes).n_bytes // BYTES_A_STEP_EARNS)


def sweeps_allowed(rep: Representation) -> int:
    """Sweeps after which a plan is taken as it is; the next one starts from its values."""
    if rep.n_arms <= FEW_ARMS:
        return MOST_SWEEPS
    return min(MOST_SWEEPS, max(FEWEST_SWEEPS, SWEPT_BYTES // rep.n_bytes))


def _least(sizes: Sequence[int]) -> Representation:
    """Nothing but the states last seen is told apart, and which arm was pulled last."""
    return Representation([max(2, size) for size in sizes], 2)


def _lowered(rep: Representation, room: tuple[float, int]) -> Representation:
    """Lower the largest cap, again and again, until the representation fits or all are 2."""
    while not fits(rep, *room) and max(rep.caps) > 2:
        widest = int(np.argmax(rep.caps))
        rep = _with_cap(rep, widest, int(CAPS[rep.caps[widest] > CAPS].max()))
    return rep


def _with_cap(rep: Representation, arm: int, cap: int) -> Representation:
    return Representation(rep.sizes, [*rep.caps[:arm], cap, *rep.caps[arm + 1 :]], rep.periods)


def _raised(rep: Representation, caps: Sequence[int], room: tuple[float, int]) -> Representation:
    """Raise caps again where that is free, as within the lines of memory that a row takes up."""
    for arm in np.argsort(caps)[::-1].tolist():
        for cap in CAPS[(caps[arm] >= CAPS) & (rep.caps[arm] < CAPS)].tolist():
            larger = _with_cap(rep, arm, cap)
            if not fits(larger, *room):
                break
            rep = larger
    return rep
