"""A policy in words: what to pull in the situations that come up most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from restive.report.policy.maps import EITHER, Strips, returns, runs, strips
from restive.report.policy.play import Play, simulated_play

if TYPE_CHECKING:
    from restive.planning import Plan

__all__ = ["Situation", "situations"]

PATHS, STEPS, WARM_UP = 256, 100, 100  # enough to tell common situations from rare ones
RARE = 0.005


@dataclass(frozen=True)
class Situation:
    """What was just seen, what is remembered of the other arm (two arms only), and what to do."""

    seen: str  # "channel 1 busy"
    remembered: str  # "channel 2 free", empty for more than two arms
    pull: str  # "channel 1", "coin, from age 5 of channel on channel", or shares of the next pull
    share: float  # part of the time, simulated


def situations(plan: Plan, most: int = 12) -> list[Situation]:
    """The most frequent situations under the plan, the most frequent first."""
    seen = simulated_play(plan, STEPS, PATHS, WARM_UP)
    if plan.bandit.n_arms == 2:
        every = [s for strip in strips(plan, seen) for s in _of_strip(plan, strip)]
    else:
        every = _of_returns(plan, seen)
    return sorted(every, key=lambda s: -s.share)[:most]


def _state(plan: Plan, arm: int, state: int) -> str:
    named = plan.bandit.arms[arm]
    name = plan.bandit.arm_name(arm)
    if named.n_states == 1:
        return name
    seen = named.states[state]
    return f"{name} in state {seen}" if seen.isdecimal() else f"{name} {seen}"


def _of_strip(plan: Plan, strip: Strips) -> list[Situation]:
    situations = []
    for row, pair in enumerate(strip.pairs):
        if strip.share[row] < RARE:
            continue
        seen = _state(plan, strip.last, pair[strip.last])
        remembered = _state(plan, strip.rested, pair[strip.rested])
        share = float(strip.share[row])
        situations.append(Situation(seen, remembered, _pull(plan, strip, row), share))
    return situations


def _pull(plan: Plan, strip: Strips, row: int) -> str:
    """The arm to pull as the rested arm grows older."""
    parts = runs(strip.actions[row], strip.ages)
    words = [_arm(plan, parts[0][0])]
    rested = plan.bandit.arm_name(strip.rested)
    for arm, first, _ in parts[1:4]:
        words.append(f"{_arm(plan, arm)} once {rested} is {strip.ages[first]} steps old")
    if len(parts) > 4:
        words.append("and so on")
    return ", ".join(words)


def _arm(plan: Plan, arm: int) -> str:
    return "either" if arm == EITHER else plan.bandit.arm_name(arm)


def _of_returns(plan: Plan, seen: Play) -> list[Situation]:
    table = returns(plan, seen)
    situations = []
    for row in range(len(table.arms)):
        following = table.following[row]
        order = following.argsort()[::-1]
        shares = [f"{plan.bandit.arm_name(int(j))} {following[j]:.0%}" for j in order[:3]
                  if following[j] >= 0.005]  # fmt: skip
        pull = shares[0].rsplit(" ", 1)[0] if len(shares) == 1 else ", ".join(shares)
        seen_text = _state(plan, int(table.arms[row]), int(table.states[row]))
        situations.append(Situation(seen_text, "", pull, float(table.share[row])))
    return situations
