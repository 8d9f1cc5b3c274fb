"""A policy in words: what to pull in the situations that come up most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from restive.report.policy.alike import shown_returns
from restive.report.policy.colors import state_words
from restive.report.policy.maps import EITHER, Returns, Strips, runs, strips
from restive.report.policy.next_pull import next_pull
from restive.report.policy.visits import Visits, visits_of

if TYPE_CHECKING:
    from restive.planning import Plan

RARE = 0.005
NOT_CHANCE = "Percentages say how often; how long ago each arm was seen decides, not chance."


@dataclass(frozen=True)
class Situation:
    """What was just seen, what is remembered of the other arm (two arms only), and what to do."""

    seen: str  # "channel 1 busy"
    remembered: str  # "channel 2 free", empty for more than two arms
    pull: str  # "channel 1", "coin, channel once unseen for 5 steps", or shares of the next pull
    share: float  # part of the time
    computed: bool = True  # whether the share is, or comes from simulated play


def situations(plan: Plan, most: int = 12, visits: Visits | None = None) -> list[Situation]:
    """The most frequent situations under the plan, the most frequent first."""
    seen = visits or visits_of(plan)
    if plan.bandit.n_arms == 2:
        every = [s for strip in strips(plan, seen) for s in _of_strip(plan, strip)]
    else:
        every = _of_returns(plan, seen)
    ordered = sorted(every, key=lambda s: -round(s.share, 9))[:most]
    return [replace(situation, computed=seen.computed) for situation in ordered]


def _state(plan: Plan, arm: int, state: int, called: str = "") -> str:
    named = plan.bandit.arms[arm]
    name = called or plan.bandit.arm_name(arm)
    if named.n_states == 1:
        return name
    return f"{name} {state_words([named.states[state]])}"


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
    for arm, first, _ in parts[1:4]:
        whose = "" if arm == strip.rested else f"{plan.bandit.arm_name(strip.rested)} is "
        words.append(f"{_arm(plan, arm)} once {whose}unseen for {strip.ages[first]} steps")
    if len(parts) > 4:
        words.append("and so on")
    return ", ".join(words)


def _arm(plan: Plan, arm: int) -> str:
    return "either" if arm == EITHER else plan.bandit.arm_name(arm)


def _of_returns(plan: Plan, seen: Visits) -> list[Situation]:
    bandit = plan.bandit
    table = shown_returns(bandit, seen)
    names = table.columns or tuple(bandit.arm_name(j) for j in range(bandit.n_arms))
    situations = []
    for row in range(len(table.arms)):
        arm, state = int(table.arms[row]), int(table.states[row])
        rule = None if table.columns else next_pull(bandit, seen, arm, state)
        sight = _state(plan, arm, state, f"one of {table.rows[row]}" if table.rows else "")
        pull = rule or _shares(table, row, names)
        situations.append(Situation(sight, "", pull, float(table.share[row])))
    return situations


def _shares(table: Returns, row: int, names: Sequence[str]) -> str:
    """How often each arm comes next; its name alone if no other does."""
    following = table.following[row]
    often = [int(j) for j in following.argsort()[::-1][:3] if following[j] >= RARE]
    if len(often) == 1:
        return names[often[0]]
    return ", ".join(f"{names[j]} {following[j]:.0%}" for j in often)


def chance_note(pulls: Iterable[str]) -> str:
    """A remark where some of the words are shares, which might be taken for chances."""
    return NOT_CHANCE if any(re.search(r" \d+%", pull) for pull in pulls) else ""
