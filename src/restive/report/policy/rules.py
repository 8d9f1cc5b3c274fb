"""Short rules that a plan may follow: found by trying them, said only where they are as good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Floats, Ints
from restive.base.errors import TooLargeError
from restive.base.words import listed
from restive.planning.evaluation import AnyPolicy, evaluate
from restive.planning.policy_chain import BYTES_PER_STATE
from restive.policies.policy import Always, InTurn, Policy
from restive.report.policy.colors import state_words

if TYPE_CHECKING:
    from restive.model.bandit import Bandit
    from restive.planning import Plan

Stays = tuple[tuple[bool, ...], ...]  # for each arm and state: whether to stay after seeing it

NEAR = 1e-3  # a rule this part below the best is worth saying, with the words for it
REACH = 40_000  # information states of a rule that is tried
THRESHOLDS = 8


@dataclass(frozen=True)
class ShortRule:
    """A rule in words, what it earns a step, and whether that is all that can be earned.

    optimal: to within the tolerance of the plan; otherwise it earns ``NEAR`` less at most.
    """

    words: str
    gain: float
    optimal: bool
    tolerance: float

    def __str__(self) -> str:
        if self.optimal:
            return f"{self.words}. This rule is optimal to within {self.tolerance:.0e}."
        return f"{self.words}. This rule is within {NEAR:.1%} of the best policy, which differs."


class StayOrOldest(Policy):
    """Stay on an arm after states that promise enough; else the arm of ``among`` unseen longest."""

    def __init__(self, bandit: Bandit, stays: Stays, among: Sequence[int]) -> None:
        self.n_arms, self.sizes = bandit.n_arms, bandit.n_states
        self.stays = np.zeros((bandit.n_arms, max(bandit.n_states)), dtype=bool)
        for own, row in zip(self.stays, stays, strict=True):
            own[: len(row)] = row
        self.others = np.where(np.isin(np.arange(bandit.n_arms), among), 0.0, -np.inf)

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        rows = np.arange(len(last))
        wanted = ages + self.others
        wanted[rows, last] = np.where(self.stays[last, states[rows, last]], np.inf, -1.0)
        return np.asarray(wanted)


class TryAgain(Policy):
    """Two arms: stay on one after states that promise enough, else pull the other until it is time.

    again: steps since the first arm was seen at which it is tried again.
    """

    def __init__(self, bandit: Bandit, first: int, stay: Sequence[bool], again: int) -> None:
        self.n_arms, self.sizes = 2, bandit.n_states
        self.first, self.stay, self.again = first, np.array(stay), again

    def priorities(self, states: Ints, ages: Ints, last: Ints) -> Floats:
        good = (last == self.first) & self.stay[states[:, self.first]]
        back = good | (ages[:, self.first] >= self.again)
        wanted = np.zeros((len(last), 2))
        wanted[:, self.first] = np.where(back, 1.0, -1.0)
        return wanted


def short_rule(plan: Plan, pulled: Sequence[int] | None = None) -> ShortRule | None:
    """A short rule that earns what the plan does, or nearly; None if none of those tried does.

    Tried are: one arm for ever, all in turn, staying on an arm after states that promise enough for
    the next step and else pulling the one unseen longest, with two arms trying one again after some
    steps, and the largest reward expected next. Each is evaluated exactly; those that reach too
    many information states are left out. None is said of a plan that was stopped far from its
    tolerance. pulled: the arms that the plan pulls at all.
    """
    wide = plan.gain_upper - plan.gain_lower
    if wide > max(plan.tolerance, NEAR * abs(plan.gain_upper)):
        return None  # any rule would do as well, as far as is known
    close: ShortRule | None = None
    shares = plan.bandit.units.range[0] == 0  # parts of a reward that may be negative say nothing
    for words, policy in _candidates(plan, list(pulled or range(plan.bandit.n_arms))):
        try:
            value = evaluate(
                plan.bandit, policy, max(plan.tolerance, 1e-9), memory=REACH * BYTES_PER_STATE
            )
        except (TooLargeError, ArithmeticError):
            continue
        slack = max(plan.tolerance, wide)
        if value.gain_lower >= plan.gain_upper - 2 * slack:
            return ShortRule(words, value.gain, True, 2 * slack)
        better = close is None or value.gain > close.gain
        if better and shares and value.gain_lower >= (1 - NEAR) * plan.gain_upper:
            close = ShortRule(words, value.gain, False, slack)
    return close


def _candidates(plan: Plan, pulled: list[int]) -> Iterator[tuple[str, AnyPolicy]]:
    """Rules with their words, the simplest first."""
    bandit = plan.bandit
    best = bandit.best_arm
    yield f"Always pull {bandit.arm_name(best)}", Always(bandit.n_arms, best)
    if bandit.n_arms == 1:
        return
    if bandit.n_arms == 2:
        names = [bandit.arm_name(arm) for arm in (0, 1)]
        yield f"Alternate between {names[0]} and {names[1]}", InTurn(2)
    else:
        yield "Pull all arms in turn", InTurn(bandit.n_arms)
    for stays in _stays(bandit):
        yield _stay_words(bandit, stays, pulled), StayOrOldest(bandit, stays, pulled)
    if bandit.n_arms == 2:
        yield from _again(plan)
    yield "Pull the arm that promises the largest reward for the next step", "myopic"


def _stays(bandit: Bandit) -> list[Stays]:
    """States that promise at least some amount, for each amount that makes a difference."""
    promises = [arm.transitions @ arm.rewards for arm in bandit.arms]
    levels = np.unique(np.concatenate(promises).round(12))
    levels = levels[np.linspace(0, len(levels) - 1, min(len(levels), THRESHOLDS)).astype(int)]
    every = [tuple(tuple((own >= level - 1e-9).tolist()) for own in promises) for level in levels]
    return [stays for stays in dict.fromkeys(every) if not all(all(row) for row in stays)]


def _stay_words(bandit: Bandit, stays: Stays, pulled: list[int]) -> str:
    shared = {(bandit.arms[arm].states, stays[arm]) for arm in pulled}
    rest = "else pull the one unseen longest"
    if len(pulled) < bandit.n_arms and len(pulled) <= 4:
        rest += f" of {listed([bandit.arm_name(arm) for arm in pulled])}"
    if len(shared) == 1 and any(stays[pulled[0]]):
        ((names, row),) = shared
        return f"Stay while {chosen_words(names, row)}, {rest}"
    parts = [_stay_on(bandit, arm, stays[arm]) for arm in pulled if any(stays[arm])]
    return f"Stay {listed(parts)}, {rest}" if parts else "Pull the arm unseen longest"


def _stay_on(bandit: Bandit, arm: int, stay: Sequence[bool]) -> str:
    name = f"on {bandit.arm_name(arm)}"
    return name if all(stay) else f"{name} while {chosen_words(bandit.arms[arm].states, stay)}"


def chosen_words(names: Sequence[str], chosen: Sequence[bool]) -> str:
    """States that were chosen, in a sentence."""
    return state_words(list(compress(names, chosen)))


def _again(plan: Plan) -> Iterator[tuple[str, AnyPolicy]]:
    """Rules that leave an arm for some steps: as many as the plan does."""
    bandit = plan.bandit
    for first in (0, 1):
        other, arm = 1 - first, bandit.arms[first]
        name, instead = bandit.arm_name(first), bandit.arm_name(other)
        for stay in dict.fromkeys(row[first] for row in _stays(bandit)):
            mixed = any(stay) and not all(stay)
            again = _age_of_return(plan, first, stay) if mixed else None
            if again is None:
                continue
            kept = chosen_words(arm.states, stay)
            words = f"Stay on {name} while {kept}, else pull {instead} and try "
            words += f"{name} again once it has not been seen for {again} steps"
            yield words, TryAgain(bandit, first, stay, again)
        again = _age_of_return(plan, first, (False,) * arm.n_states)
        if again is not None:
            every = f"Pull {name} every {again} steps, otherwise {instead}"
            yield every, TryAgain(bandit, first, (False,) * arm.n_states, again)


def _age_of_return(plan: Plan, first: int, stay: Sequence[bool]) -> int | None:
    """The age at which the plan tries an arm again after states that it leaves; None if never."""
    bandit, other = plan.bandit, 1 - first
    ages = np.arange(2, max(plan.caps[first], 2) + bandit.arms[first].period + 1)
    grid = np.ones((len(ages), 2), dtype=np.int64)
    grid[:, first] = ages
    for state in np.flatnonzero(~np.array(stay)).tolist():
        for remembered in range(bandit.n_states[other]):
            seen = np.zeros((len(ages), 2), dtype=np.int64)
            seen[:, first], seen[:, other] = state, remembered
            back = np.flatnonzero(plan.actions(seen, grid) == first)
            if len(back) and back[0]:
                return int(ages[back[0]])
    return None
