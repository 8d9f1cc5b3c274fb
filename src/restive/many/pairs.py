"""Upper bounds from pairs of arms with conditional budgets, for arms that all contend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from threading import Thread
from time import perf_counter

import numpy as np

from restive.base.arrays import Floats
from restive.base.described import Brief
from restive.base.errors import Fault, TooLargeError, refuse
from restive.many.lagrangian import lagrangian_bound
from restive.many.pair_budgets import Budgets, read_at
from restive.many.pair_certificate import Certified, Kind, at_price, certify
from restive.many.pair_descent import Descent
from restive.many.pair_program import best_budgets
from restive.many.pair_tables import Family, family_of, family_states
from restive.model.bandit import Arm
from restive.model.validation import check_pulls

ERRORS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3)  # of rows beyond the cap
PROGRAM_STATES = 12_000  # of a linear program with one kind of pairs; n kinds: over sqrt(n)
PROGRAM_SHARE = 0.5  # of the time, at most
PRICE_SHARE = 0.2  # for the best constant price
TEMPERATURES = ((0.01, False), (0.003, False), (0.001, True), (0.0003, True))  # and all ages?
HOT_ERROR = 0.01  # of rows beyond the cap while the temperature is high
ITERATIONS = 100  # at each temperature
BYTES_PER_STATE = 120  # values, laws and policies of pairs
MEMORY = 2**30
POLL = 0.1  # seconds between looks at the linear program
STATES_PER_SECOND = 5_000  # of the time allowed that descent can make something of
LEAST_STATES = 50_000


@dataclass(frozen=True, eq=False, repr=False)
class PairBound(Brief):
    """A proven upper bound of rho*, and the budgets that prove it.

    lagrangian: the bound of the best constant price, never below ``upper``. budgets: None where
    that price alone proves the bound. step: what gave it. seconds: since the beginning.
    """

    upper: float
    lagrangian: float
    price: float
    budgets: Budgets | None = field(repr=False)
    step: str
    seconds: float
    upper_kind: str = "certified"


def pair_bound(
    arms: Sequence[Arm],
    counts: Sequence[int] | None = None,
    pulls: int = 1,
    *,
    time: float = 60.0,
    memory: int | None = None,
    tolerance: float = 1e-4,
) -> PairBound:
    """The best bound of :func:`pair_improvements`.

    >>> arm = Arm([[0.9, 0.1], [0.3, 0.7]], [0, 1])
    >>> bound = pair_bound([arm], [6], time=20)
    >>> bound.upper < bound.lagrangian
    True
    """
    *_, best = pair_improvements(arms, counts, pulls, time=time, memory=memory, tolerance=tolerance)
    return best


def pair_improvements(
    arms: Sequence[Arm],
    counts: Sequence[int] | None = None,
    pulls: int = 1,
    *,
    time: float = 60.0,
    memory: int | None = None,
    tolerance: float = 1e-4,
) -> Iterator[PairBound]:
    """Ever lower bounds of the best average reward of K arms of which ``pulls`` are pulled a step.

    counts: how many arms there are of each, 1 by default; identical arms given as one class cost
    as much as two of them. time: seconds, compiling apart. memory: bytes. tolerance: accuracy of
    each bound; it decides how many ages are told apart. Every bound holds for each start and may
    be stopped at.
    Where the pairs do not fit in time and memory even with few ages, TooLargeError follows the
    first bound, that of the best constant price.
    """
    numbers = tuple(1 for _ in arms) if counts is None else tuple(int(k) for k in counts)
    _check(arms, numbers, pulls, time, tolerance)
    _compile()
    began = perf_counter()
    deadline = began + time
    bound = lagrangian_bound(arms, pulls, counts=numbers, deadline=began + PRICE_SHARE * time)
    price, lone = bound.price, bound.upper
    yield PairBound(lone, lone, price, None, "constant prices", perf_counter() - began)
    family = _family(arms, numbers, pulls, tolerance, time, MEMORY if memory is None else memory)
    upper, start = lone, at_price(family, price, tolerance, deadline)
    for step, budgets, values in _proposals(arms, family, start, deadline):
        proof = certify(family, budgets, values, tolerance, deadline)
        if proof.upper < upper:
            upper = proof.upper
            yield PairBound(upper, lone, price, budgets, step, perf_counter() - began)
        if perf_counter() > deadline:
            break


@lru_cache(maxsize=1)
def _compile() -> None:
    """Take every step with something tiny, so that compiling does not count as time."""
    arm = Arm([[0.5, 0.5], [0.6, 0.4]], [0, 1])
    for pulls in (1, 2):
        lagrangian_bound([arm], pulls, counts=[3])
        family = family_of([arm], [3], pulls, 0.1)
        start = at_price(family, 0.3, 0.1)
        certify(family, start.budgets, start.values, 0.1, inf)
        Descent(family, start.values).lower(start.budgets, 0.01, 1, inf)


def _proposals(
    arms: Sequence[Arm], family: Family, start: Certified, deadline: float
) -> Iterator[tuple[str, Budgets, dict[Kind, Floats]]]:
    """Budgets worth certifying, with values to start from: by the program, then by descent."""
    yield "constant prices, pairs", start.budgets, start.values
    budgets, exact = _program(arms, family, PROGRAM_SHARE * (deadline - perf_counter()))
    if budgets is not None:
        yield "linear program", budgets, start.values
        if exact:
            return
        start = Certified(np.inf, budgets, start.values)
    yield from _descents(arms, family, start, deadline)


def _descents(
    arms: Sequence[Arm], family: Family, start: Certified, deadline: float
) -> Iterator[tuple[str, Budgets, dict[Kind, Floats]]]:
    """Descent with few ages while it is hot, with all of them as it cools down."""
    level = family_of(arms, family.counts, family.pulls, HOT_ERROR)
    budgets, values = read_at(start.budgets, start.values, family, level)
    for temperature, fine in TEMPERATURES:
        if fine and level is not family:
            budgets, values = read_at(budgets, values, level, family)
            level = family
        if perf_counter() > deadline:
            return
        descent = Descent(level, values)
        budgets = descent.lower(budgets, temperature, ITERATIONS, deadline)
        values = descent.values
        yield (f"descent at temperature {temperature:g}", *read_at(budgets, values, level, family))


def _program(arms: Sequence[Arm], family: Family, seconds: float) -> tuple[Budgets | None, bool]:
    """Budgets of the largest linear program allowed, and whether it kept all ages."""
    limit = PROGRAM_STATES / len(family.kinds) ** 0.5
    coarse = family
    if len(family.kinds) == 1:  # with several, coarse programs waste what transfers could do
        for error in ERRORS:
            if coarse.n_states <= limit:
                break
            coarse = family_of(arms, family.counts, family.pulls, error)
    if coarse.n_states > limit:
        return None, False
    answer: list[Budgets | None] = []
    # on a thread, because the program itself cannot be interrupted
    worker = Thread(target=lambda: answer.append(best_budgets(coarse, seconds)), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(POLL)
    budgets = answer[0] if answer else None
    if budgets is None:
        return None, False
    exact = coarse.n_states >= family.n_states
    return read_at(budgets, {}, coarse, family)[0], exact


def _family(
    arms: Sequence[Arm], counts: tuple[int, ...], pulls: int, tolerance: float, time: float,
    memory: int,
) -> Family:  # fmt: skip
    """As many ages as time and memory allow."""
    limit = min(memory / BYTES_PER_STATE, max(LEAST_STATES, STATES_PER_SECOND * time))
    for error in (tolerance, *(error for error in ERRORS if error > tolerance)):
        states = family_states(arms, counts, error)
        if states <= limit:
            return family_of(arms, counts, pulls, error)
    raise TooLargeError(
        f"pairs of {len(arms)} kind{'s' * (len(arms) > 1)} of arms with {states:.3g} states take "
        f"{BYTES_PER_STATE * states:.3g} bytes where {memory} are allowed, or longer than "
        f"{time:g} s; give equal arms as one class, or allow more"
    )


def _check(
    arms: Sequence[Arm], counts: tuple[int, ...], pulls: int, time: float, tolerance: float
) -> None:
    faults = []
    if len(counts) != len(arms):
        message = f"{len(counts)} counts for {len(arms)} classes"
        faults.append(Fault("counts", message, repr(counts), "Give one count for each arm."))
    for c, count in enumerate(counts):
        if count < 1:
            remedy = "Each class has at least one arm."
            faults.append(Fault(f"counts[{c}]", "not a number of arms", repr(count), remedy))
    if sum(counts) < 2:
        faults.append(Fault("counts", "fewer than two arms", repr(counts), "Pairs need two arms."))
    else:
        faults += check_pulls(pulls, sum(counts))
    for name, value in (("time", time), ("tolerance", tolerance)):
        if not value > 0:
            faults.append(Fault(name, "not positive", repr(value), "Give a positive number."))
    refuse(faults)
