"""A block of arms planned exactly, alone or beside a constant arm that pays the price of a pull.

Resting is pulling the constant arm, so the best gain G(x) of block and constant arm is x + g(x),
where g(x) is what the block earns at price x. Values carry over from price to price, from coarse
ages to fine ones, and from a block to the block with one more arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import TooLargeError
from restive.base.machine import memory_allowed
from restive.many.block_bounds import HASTY, BlockBounds
from restive.many.single_arm import price_arm
from restive.mdp.certificate import (
    bandit_parameters,
    certificate,
    outcome_rewards,
    row_errors,
)
from restive.mdp.representation import Representation
from restive.mdp.solver import Solution, solve
from restive.model.bandit import Arm, Bandit
from restive.planning import Plan

COARSEST = 0.3  # L1 error of merged rows to begin with; what a new arm will probably need
PROBABLE = 0.05
FINEST = 1e-14
SOLVER_SHARE = 0.25
FIRST_PACE = 1e-6
TOO_SHORT = 20_000  # states; what takes less says nothing about pace
PEAK = 3  # memory of a plan in units of its values and slices


@dataclass(frozen=True, eq=False)
class _State:
    """Values of a solved block; where there is a price, the constant arm is the first one."""

    arms: tuple[Arm, ...]
    price: float | None
    representation: Representation
    values: Floats


class ExactBlocks:
    """The exact planner of blocks: information states, certified for all ages.

    deadline: of ``perf_counter``; a plan that is not ready then ends with what is known.
    """

    def __init__(self, memory: int | None = None, deadline: float = np.inf) -> None:
        self.memory = memory_allowed(memory)
        self.deadline = deadline
        self.patience, self.rate = HASTY, 0.0  # not asked: plans are as accurate as is wanted
        self._pace = FIRST_PACE  # seconds a state and arm, of the latest plan that took a while
        self._errors: dict[Arm, tuple[float, float]] = {}  # row error, and accuracy it served

    def seconds(self, arms: Sequence[Arm], price: float | None, accuracy: float) -> float:
        bandit = _bandit(arms, price)
        errors = [min(error, PROBABLE) for error in self._expected(bandit, accuracy)]
        return self._level(bandit, errors)

    def _level(self, bandit: Bandit, errors: Sequence[float]) -> float:
        rep = Representation.of(bandit, _caps(bandit, errors))
        if PEAK * rep.n_bytes > self.memory:
            return float(np.inf)
        return self._pace * rep.n_states * rep.n_arms

    def _expected(self, bandit: Bandit, accuracy: float) -> list[float]:
        """Row errors that a plan to this accuracy will need, from those before."""
        errors = []
        for arm in bandit.arms:
            error, reached = self._errors.get(arm, (COARSEST, accuracy))
            scale = accuracy / reached
            if error >= COARSEST or 0.5 <= scale <= 2:
                scale = 1.0  # about the same accuracy: the same ages serve again
            errors.append(min(max(error * scale, FINEST), COARSEST))
        return errors

    def __call__(
        self, arms: Sequence[Arm], price: float | None, accuracy: float, start: object
    ) -> BlockBounds:
        began = perf_counter()
        bandit = _bandit(arms, price)
        state = start if isinstance(start, _State) else None
        errors = self._expected(bandit, accuracy)
        sweeps, rough = 0, 0.02 * min(errors)
        while True:
            rep = Representation.of(bandit, _caps(bandit, errors))
            if PEAK * rep.n_bytes > self.memory:
                raise TooLargeError(f"a block of {len(arms)} arms takes {rep.n_states:.3g} states")
            parameters = bandit_parameters(bandit, rep)
            values = None if state is None else _carry(state, tuple(arms), price, rep)
            within = max(SOLVER_SHARE * accuracy, rough)
            solution = solve(rep, parameters, tolerance=within, start=values, expired=self._expired)
            sweeps += solution.sweeps
            proof = certificate(bandit, rep, solution)
            state = _State(tuple(arms), price, rep, solution.values)
            if proof.width <= accuracy or max(errors) < FINEST:
                break
            finer = _refined(bandit, rep, solution, errors, accuracy)
            if finer == errors and within <= SOLVER_SHARE * accuracy:
                finer = [0.3 * error for error in errors]
            if perf_counter() + self._level(bandit, finer) > self.deadline:
                break  # what there is holds too
            rough = 0.0 if finer == errors else 0.02 * min(finer)
            errors = finer
        took = perf_counter() - began
        if not self._expired():
            for arm, error in zip(bandit.arms, errors, strict=True):
                self._errors[arm] = error, accuracy
        if rep.n_states > TOO_SHORT:
            self._pace = max(0.5 * self._pace, took / (rep.n_states * rep.n_arms))
        plan = Plan(
            bandit, rep, parameters, proof.lower, proof.upper, solution.values, accuracy, sweeps,
            proof.width <= accuracy, took,
        )  # fmt: skip
        bounds = plan.gain_lower, plan.gain_upper
        return BlockBounds(*bounds, None, plan if price is None else None, state)

    def _expired(self) -> bool:
        return perf_counter() > self.deadline


def _bandit(arms: Sequence[Arm], price: float | None) -> Bandit:
    if price is None:
        return Bandit(arms)
    return Bandit([Arm([[1.0]], [price], name="resting"), *(arm.without_units() for arm in arms)])


def _caps(bandit: Bandit, errors: Sequence[float]) -> tuple[int, ...]:
    return tuple(arm.mixing_time(e) for arm, e in zip(bandit.arms, errors, strict=True))


def _refined(
    bandit: Bandit, rep: Representation, solution: Solution, errors: list[float], accuracy: float
) -> list[float]:
    """Smaller row errors for the arms that make the interval wide, the others as they are.

    Most arms are never worth a pull at old ages, or nearly so, and few ages do for them.
    """
    iteration = float((solution.upper - solution.lower).max())
    room = (1 - SOLVER_SHARE) * accuracy
    finer = []
    for error, width in zip(errors, _widths(bandit, rep, solution), strict=True):
        excess = float(width) - iteration
        if excess > 0.7 * room:
            error *= min(0.3, max(0.1, 0.5 * room / excess))  # often it stops mattering
        finer.append(max(error, 0.1 * FINEST))
    return finer


def _widths(bandit: Bandit, rep: Representation, solution: Solution) -> Floats:
    """Width of the certified interval if only this arm's ages were merged, for every arm."""
    if rep.n_classes > 1:
        return np.full(rep.n_arms, np.inf)
    every, rewards = row_errors(bandit, rep), outcome_rewards(bandit, rep)
    owner = np.repeat(np.arange(rep.n_arms), [rep.color_grid(j).size for j in range(rep.n_arms)])
    widths = np.empty(rep.n_arms)
    for j in range(rep.n_arms):
        lower, upper = solution.certify(np.where(owner == j, every, 0.0), rewards)
        widths[j] = max(upper.max(), float(solution.upper.max())) - min(
            lower.min(), float(solution.lower.min())
        )
    return widths


def _carry(
    old: _State, arms: tuple[Arm, ...], price: float | None, rep: Representation
) -> Floats | None:
    """Values to start from: old ones where ages were told apart, plus those of each new arm alone.

    The new arms come last. Just after a pull of one of them, the old arms are as they are after
    a rest, so the old values must come with a price.
    """
    from restive.mdp.layout import fill_ghosts

    if arms[: len(old.arms)] != old.arms:
        return None
    new = arms[len(old.arms) :]
    rest = 0 if old.price is None else 1  # arms before the block's own
    shift = 0 if price is None else 1
    if old.price is None and (new or price is not None):
        return None
    alone = [price_arm(arm, old.price) for arm in new if old.price is not None]
    fresh = np.zeros(int(rep.layout.block[-1]))
    for last in range(rep.n_arms):
        ages = rep.block_ages(last)
        inside = last - shift < len(old.arms)
        before = last - shift + rest if inside and last >= shift else 0
        part = _old_part(old, ages[shift : shift + len(old.arms)], before, rest, shift)
        count, half = rep.n_arms, part.ndim // 2
        ones = (1,) * len(alone)
        part = part.reshape((*part.shape[:half], *ones, *part.shape[half:], *ones))
        for j, priced in enumerate(alone, start=half):
            places = [priced.table.place(int(age)) for age in ages[j]]
            shape = [1] * (2 * count)
            shape[j], shape[count + j] = priced.arm.n_states, len(places)
            part = part + priced.age_values[:, places].reshape(shape)
        rep.block(fresh, last)[...] = part
    fill_ghosts(rep, fresh)
    return fresh


def _old_part(old: _State, ages: list[Ints], last: int, rest: int, shift: int) -> Floats:
    """Old values at these ages of the old arms, axes as the new block's without its new arms."""
    coarse = old.representation
    block = coarse.block(old.values, last)
    index = [np.arange(size) for size in coarse.sizes]
    if rest:
        index.append(np.zeros(1, dtype=np.int64))
    for j, own in enumerate(ages, start=rest):
        stored = np.array([coarse.stored_age(j, int(age)) for age in own]) - 1
        index.append(stored * 0 if j == last else np.maximum(stored - coarse.layout.first[j], 0))
    part = np.asarray(block[np.ix_(*index)])
    if rest and not shift:
        part = part.squeeze(axis=(0, coarse.n_arms))
    return part
