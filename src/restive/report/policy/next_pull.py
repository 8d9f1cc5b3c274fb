"""What a policy pulls after a sight, told by how long ago the other arms were seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from restive.base.arrays import Bools
from restive.report.policy.colors import state_words

if TYPE_CHECKING:
    from restive.model.bandit import Bandit
    from restive.report.policy.visits import Visits

EXACT, MOSTLY = 0.995, 0.95  # parts of the time in which words must be right, plain or hedged
MOST_TURNS, MOST_PARTS = 2, 3
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class _Turn:
    """An arm is pulled from an age on that depends on the state last seen of it.

    since: (state, age) of the states that are met; age 0: always, NEVER: never.
    """

    arm: int
    since: tuple[tuple[int, int], ...]

    def due(self, cases: Visits) -> Bools:
        state, age = cases.states[:, self.arm], cases.ages[:, self.arm]
        due = np.zeros(len(age), dtype=bool)
        for own, least in self.since:
            due |= (state == own) & (age >= least)
        return due


def next_pull(bandit: Bandit, seen: Visits, arm: int, state: int) -> str | None:
    """What is pulled after seeing ``state`` of ``arm``; None if few words do not tell it.

    The words are a list of arms, each with the ages from which it is pulled. They are right in
    99.5% of the time after that sight; "as a rule" says that it is 95%.
    """
    here = (seen.last == arm) & (seen.states[:, arm] == state)
    turns, otherwise, right = _turns(seen.part(here), bandit.n_arms, arm)
    told = [_turn_words(bandit, turn) for turn in turns]
    if right < MOSTLY or any(words is None for words in told):
        return None
    words = ", else ".join([*(words for words in told if words), bandit.arm_name(otherwise)])
    return words if right >= EXACT else f"as a rule {words}"


def _turns(cases: Visits, n_arms: int, last: int) -> tuple[list[_Turn], int, float]:
    """Arms in the order asked for, the arm left over, and how often all that is right."""
    turns: list[_Turn] = []
    left, right, total = cases, 0.0, float(cases.shares.sum())
    while len(turns) < MOST_TURNS:
        shares = np.bincount(left.pulls, left.shares, minlength=n_arms)
        others = [int(j) for j in np.flatnonzero(shares > (1 - EXACT) * total) if j != last]
        if shares.max() >= left.shares.sum() - (1 - EXACT) * total or not others:
            break
        turn = max((_turn(left, arm) for arm in others), key=lambda turn: _agreement(left, turn))
        due = turn.due(left)
        if not due.any() or due.all():
            break
        right += float(left.shares[due & (left.pulls == turn.arm)].sum())
        turns.append(turn)
        left = left.part(~due)
    shares = np.bincount(left.pulls, left.shares, minlength=n_arms)
    return turns, int(shares.argmax()), (right + float(shares.max())) / total


def _turn(cases: Visits, arm: int) -> _Turn:
    """For each state of the arm the age from which pulling it is right most of the time."""
    since = []
    for state in np.unique(cases.states[:, arm]).tolist():
        own = cases.part(cases.states[:, arm] == state)
        ages, place = np.unique(own.ages[:, arm], return_inverse=True)
        signed = np.where(own.pulls == arm, own.shares, -own.shares)
        # what is won by pulling it from each age on; the last entry: never
        won = np.append(np.cumsum(np.bincount(place.ravel(), signed)[::-1])[::-1], 0.0)
        best = int(won.round(12).argmax())
        since.append((state, 0 if best == 0 else NEVER if best == len(ages) else int(ages[best])))
    return _Turn(arm, tuple(since))


def _agreement(cases: Visits, turn: _Turn) -> float:
    return float(cases.shares[turn.due(cases) == (cases.pulls == turn.arm)].sum())


def _turn_words(bandit: Bandit, turn: _Turn) -> str | None:
    """An arm and when it is due; None if that takes too many words."""
    ages = sorted({age for _, age in turn.since})
    name, timed = bandit.arm_name(turn.arm), [age for age in ages if 0 < age < NEVER]
    if len(timed) + (0 in ages) > MOST_PARTS:
        return None
    if len(ages) == 1:
        return f"{name} once unseen for {timed[0]} steps"
    parts = [f"for {age} steps after {_states(bandit, turn, age)}" for age in timed]
    once = f"once unseen {' or '.join(parts)}" if parts else ""
    always = f"if last seen {_states(bandit, turn, 0)}" if 0 in ages else ""
    return f"{name} {' or '.join(words for words in (always, once) if words)}"


def _states(bandit: Bandit, turn: _Turn, age: int) -> str:
    """The states after which the arm is due from this age on."""
    names = [bandit.arms[turn.arm].states[state] for state, since in turn.since if since == age]
    return state_words(names)
