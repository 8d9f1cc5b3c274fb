"""How large a plan may get: ages told apart within what a replan may take, and what is too large.

Up to five arms the number of information states tells how long a sweep takes. With more arms rows
get short and most of the work is reading other rows: bytes tell it then, about 1 ns a byte.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from restive.base.errors import TooLargeError
from restive.mdp.representation import Representation

CAPS = np.array([1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 181, 256])
FEW_ARMS = 5
FEWEST_BYTES = 600_000  # that may always be planned on with many arms
BYTES_PER_STEP = 3_000  # and this many more for every step an episode may last
SWEPT_BYTES = 60_000_000  # bytes times sweeps of a plan with many arms
FEWEST_SWEEPS, MOST_SWEEPS = 30, 2_000
ARMS_A_STEP_EARNS = 8  # an episode lasts a step for each of these, at least
MANY_ARMS = 60  # from more on, not every arm is drawn and planned for anew in every episode
MOST_BYTES = 32_000_000  # of the smallest exact plan there is, of arms that have no index plan
MOST_ARMS = 11  # of an exact plan: with 12 even the smallest is larger than that
MOST_STATES = 30  # of an arm that is planned for by its index
COUNT_BYTES, MOST_COUNTED = 2_816, 1 << 30  # counts of a pair of states at all ages; of all


def require_plannable(sizes: Sequence[int]) -> None:
    """Refuse arms of so many states that neither a plan nor counts can be had; sizes: of each."""
    most, count = max(2, *sizes), len(sizes)
    if most <= MOST_STATES and count * most**2 * COUNT_BYTES <= MOST_COUNTED:
        return
    if count > MOST_ARMS or _least(sizes).n_bytes > MOST_BYTES:
        raise TooLargeError(
            f"tied-sampling cannot plan for {count} arms of up to {most} states again and again; "
            "learn with fewer arms, merge states, or take a learner that does not plan, "
            "such as ucb1, rca or dsee"
        )


def affordable(
    sizes: Sequence[int], caps: int | Sequence[int], periods: int | Sequence[int], states: float,
    length: int,
) -> bool:  # fmt: skip
    """Whether an exact plan with these caps is no larger than allowed, as in ``fitted``."""
    if len(sizes) > MOST_ARMS:
        return False
    rep = Representation(sizes, caps, periods)
    if len(sizes) <= FEW_ARMS:
        return rep.n_states <= states
    return rep.n_bytes <= FEWEST_BYTES + BYTES_PER_STEP * length


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


def shortest_episode(n_arms: int) -> int:
    """Steps that an episode lasts at least, so that replans do not take all the time."""
    return max(1, n_arms // ARMS_A_STEP_EARNS)


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
