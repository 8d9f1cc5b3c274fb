"""What a plan takes before it is made: caps, states, memory, time; and the words of a refusal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, lcm, prod

import numpy as np

from restive.base.checks import is_number
from restive.base.errors import TooLargeError, refusal
from restive.base.machine import memory_allowed
from restive.base.words import count_text, duration_text, size_text
from restive.mdp.representation import Representation
from restive.model.arguments import require_one_pull
from restive.model.bandit import Bandit

SEVERAL = "take restive.best_plan (restive plan), which plans several"  # instead of one pull
FIRST_ERROR = 0.1  # L1 error of the rows beyond the cap on the coarsest level
FINE_SWEEPS = 200  # of the finer levels together; they start from the coarse one
COARSE_SWEEPS = 5  # of the coarse one per step of the slowest arm's mixing time
OVERHEAD = 0.01  # seconds of any plan; this and what follows: as measured, for forecasts of time
SWEEPS = (10, 12)  # of the finest level: at least, and per step of the slowest arm's mixing time
EXTRAPOLATED = 150  # of them suffice in compiled plans, which extrapolate
COMPILED = (0.35e-9, -0.3e-9)  # seconds a pair and sweep: per outcome of a pull, and beside that
SPELLED = 2.3e-9  # seconds a pair, outcome and sweep in NumPy
CLASS = (0.003, 0.75e-6)  # seconds a class that periods cut the process into, and a state of it
NO_MACHINE = 10**15  # bytes that nobody has
HOPELESS = 30.0  # seconds; what cannot be held anyway and takes longer to try is not begun
SMALL_PRODUCTS = 20_000_000  # of a plan made in NumPy: some .1 s, less than importing the compiler


@dataclass(frozen=True, repr=False)
class Forecast:
    """Size of a representation before anything is allocated, and about the time of a plan."""

    caps: tuple[int, ...]
    states: int
    colors: int
    bytes: int
    seconds: float
    memory: int  # bytes that planning may take

    @property
    def fits(self) -> bool:
        return self.bytes <= self.memory

    def __repr__(self) -> str:
        size = f"{states_text(self.states)} information states, {size_text(self.bytes)}"
        fits = "fits" if self.fits else f"more than the {size_text(self.memory)} allowed"
        return f"Forecast(about {size}, {duration_text(self.seconds)}; {fits})"


def forecast(
    bandit: Bandit,
    tolerance: float = 1e-6,
    *,
    caps: int | Sequence[int] | None = None,
    memory: int | None = None,
) -> Forecast:
    """About what planning to ``tolerance`` takes, from the arms' mixing times alone.

    The caps it really needs also depend on how much the policy cares about old ages. States come
    out within a factor of 2 where it does, the time of one thread within a factor of 3. Where even
    one age of each arm makes more than any machine can hold, that is the size given, since the rest
    would take long to add up, and the time is infinite.
    """
    check_tolerance(tolerance)
    require_one_pull(bandit, "forecast", SEVERAL)
    if caps is None and (least := least_bytes(bandit)) > NO_MACHINE:
        colors = sum(bandit.n_states)
        return Forecast(
            (1,) * bandit.n_arms, least // 8, colors, least, inf, memory_allowed(memory)
        )
    first, last = _ends(bandit, tolerance, caps)
    try:
        seconds = _seconds(bandit, first, last)
    except OverflowError:  # more than a float can hold
        seconds = inf
    return Forecast(last.caps, last.n_states, last.n_colors, peak(last), seconds,
                    memory_allowed(memory))  # fmt: skip


def least_bytes(bandit: Bandit) -> int:
    """A value for every combination of states last seen, whatever the ages."""
    combinations: int = prod(size**count for size, count in Counter(bandit.n_states).items())
    return 8 * combinations


def is_small(bandit: Bandit, tolerance: float, caps: int | Sequence[int] | None) -> bool:
    """Whether a plan is soon made in NumPy; what was imported before does not matter."""
    return _is_small(bandit, *_ends(bandit, tolerance, caps))


def _is_small(bandit: Bandit, first: Representation, last: Representation) -> bool:
    if last.n_states * last.n_arms * last.max_support * FINE_SWEEPS > SMALL_PRODUCTS:
        return False
    try:
        return last.max_support * _backups(bandit, first, last) <= SMALL_PRODUCTS
    except ArithmeticError:  # an arm mixes too slowly to count its steps
        return False


def _ends(
    bandit: Bandit, tolerance: float, caps: int | Sequence[int] | None
) -> tuple[Representation, Representation]:
    """The coarsest level of a plan, and about the finest."""
    if caps is not None or bandit.n_arms == 1:
        only = Representation.of(bandit, 2 if caps is None else caps)
        return only, only
    errors = FIRST_ERROR, _last_error(bandit, tolerance)
    first, last = (Representation.of(bandit, caps_for_error(bandit, e)) for e in errors)
    return first, last


def _last_error(bandit: Bandit, tolerance: float) -> float:
    """About the row error that a plan ends with; values differ by what an arm takes to mix."""
    span = max(arm.mixing_time(0.25) * float(np.ptp(arm.rewards)) for arm in bandit.arms)
    return max(1e-15, tolerance / max(1.0, span))


def _seconds(bandit: Bandit, first: Representation, last: Representation) -> float:
    """About the time of one thread; where numba has compiled before, as the cache lets it."""
    if last.n_arms == 1:
        return OVERHEAD + COMPILED[0] * _backups(bandit, first, last)
    slowest = max(arm.mixing_time(0.25) for arm in bandit.arms)
    sweeps, outcomes = SWEEPS[0] + SWEEPS[1] * slowest, last.max_support
    if _is_small(bandit, first, last):
        work = SPELLED * outcomes * last.n_states * sweeps
    else:
        coarse = COARSE_SWEEPS * min(slowest, max(first.caps))
        each = COMPILED[0] * max(outcomes, 2) + COMPILED[1]
        work = each * (2 * first.n_states * coarse + last.n_states * min(sweeps, EXTRAPOLATED))
    periods = [arm.period for arm in bandit.arms]
    classes = prod(periods) // lcm(*periods)
    split = classes * (CLASS[0] + CLASS[1] * last.n_states) if classes > 1 else 0.0
    return OVERHEAD + last.n_arms * work + split


def _backups(bandit: Bandit, first: Representation, last: Representation) -> float:
    """Pairs backed up from the first level to the last; extrapolation may do with fewer."""
    if first.n_arms == 1:
        return last.n_states * FINE_SWEEPS
    slowest = max(arm.mixing_time(0.25) for arm in bandit.arms)
    coarse = COARSE_SWEEPS * min(slowest, max(first.caps))
    return last.n_arms * (first.n_states * coarse + last.n_states * FINE_SWEEPS)


def caps_for_error(bandit: Bandit, error: float) -> tuple[int, ...]:
    """Smallest caps from which on every row is within ``error`` (L1) of its limit."""
    if bandit.n_arms == 1:  # it is pulled all the time, and never older than 1
        return (2,)
    return tuple(arm.mixing_time(error) for arm in bandit.arms)


def check_tolerance(tolerance: float) -> None:
    """Refuse what is no accuracy of a gain between 0 and 1."""
    if not is_number(tolerance) or not 1e-12 <= tolerance < 1:
        remedy = "Give a number from 1e-12 to below 1, such as 1e-6."
        raise refusal("tolerance", "not an accuracy", f"{tolerance!r}", remedy)


def peak(rep: Representation) -> int:
    """Bytes at the peak: values and slices twice (a way back for extrapolation), and the tables.

    Values alone where nobody has room even for them; of very many arms slices take long to count.
    """
    if 8 * rep.n_states > NO_MACHINE:
        return 8 * rep.n_states
    return 2 * rep.n_bytes + 8 * 6 * rep.n_colors * (rep.max_support + 2)


def refuse_if_hopeless(bandit: Bandit, tolerance: float, allowed: int) -> None:
    """Do not work for long towards caps that will not fit."""
    size = forecast(bandit, tolerance, memory=allowed)
    if not size.fits and size.seconds > HOPELESS:
        raise too_large(bandit, tolerance, allowed, "Ask for a larger tolerance.")


def largest_fitting(
    bandit: Bandit, errors: tuple[float, float], coarser: Representation | None, allowed: int
) -> Representation | None:
    """The finest representation within the memory, finer than ``coarser``; None if there is none.

    errors: of rows beyond the cap, one that fits (or 2) and one that does not.
    """
    best = None
    high, low = errors
    for _ in range(40):
        middle = (high * low) ** 0.5
        rep = Representation.of(bandit, caps_for_error(bandit, middle))
        if peak(rep) <= allowed:
            best, high = rep, middle
        else:
            low = middle
    return None if best is None or (coarser and best.caps == coarser.caps) else best


def too_large(
    bandit: Bandit,
    tolerance: float,
    allowed: int,
    instead: str,
    wanted: Representation | None = None,
) -> TooLargeError:
    """The refusal: what it would take, and what to ask for instead.

    wanted: the representation of forced caps.
    """
    if wanted is not None:
        return TooLargeError(
            f"caps {wanted.caps} make {_size(wanted)}, more than the {size_text(allowed)} "
            f"allowed; {instead}"
        )
    if (least := least_bytes(bandit)) > NO_MACHINE:
        return TooLargeError(
            f"an exact plan of {bandit.n_arms:,} arms takes more than {states_text(least // 8, 3)} "
            "information states at any tolerance, more than any machine can hold. Take "
            "restive.best_plan, which bounds the best reward, or plan fewer arms together."
        )
    rep = _ends(bandit, tolerance, None)[1]
    return TooLargeError(
        f"planning to a tolerance of {tolerance:g} takes about {_size(rep)} at ages up to "
        f"{max(rep.caps)}, more than the {size_text(allowed)} it may use. {instead} "
        "Otherwise raise the memory limit, force smaller caps (the interval then says what they "
        "cost), or plan fewer arms together."
    )


def fitting_words(reached: float | None) -> str:
    """What the plan could promise within the memory; ``reached``: width of its last interval."""
    if reached is None or 1.3 * reached >= 1:  # room for a rougher iteration next time
        return "No useful tolerance fits."
    return f"A tolerance of {_rounded_up(1.3 * reached)} fits."


def _rounded_up(width: float) -> str:
    """Two digits, not less than the width."""
    text = f"{width:.1e}"
    return f"{float(text if float(text) >= width else f'{1.05 * width:.1e}'):g}"


def _size(rep: Representation) -> str:
    return f"{states_text(rep.n_states, 3)} information states ({size_text(peak(rep))})"


def states_text(states: int, digits: int = 4) -> str:
    """A number of states, which may be more than a float can hold.

    >>> states_text(12_345), states_text(10**400)
    ('1.234e+04', '1e400')
    """
    return f"{states:.{digits}g}" if states < 10**300 else count_text(states)[len("about ") :]
