"""Arms that are alike, named and shown as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from restive.model.bandit import Arm, Bandit
from restive.report.policy.maps import MAX_ROWS, Returns, returns
from restive.report.policy.visits import Visits

ROLES = ("this arm", "another", "the third")
ALIKE = " The arms are alike and shown by their roles."


def called(arm: Arm, name: str) -> Arm:
    """The same arm by another name."""
    return Arm(arm.transitions, arm.rewards_given, name=name, states=arm.states,
               reward_noise=arm.reward_noise, initial=arm.initial, reward_range=arm.units.range,
               group=arm.group)  # fmt: skip


def alike(bandit: Bandit, arms: Sequence[int], noise: bool = False) -> list[list[int]]:
    """The arms in groups of the same chain, rewards and names of states.

    noise: and of the same noise in rewards, which does not change what a policy does.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for j in arms:
        arm = bandit.arms[j]
        key = arm.transitions.tobytes(), arm.rewards_given.tobytes(), arm.states
        groups.setdefault((*key, arm.reward_noise if noise else ""), []).append(j)
    return list(groups.values())


def names_of(bandit: Bandit, arms: Sequence[int]) -> str:
    """Arms by their names, in few words: numbers that follow each other as a range."""
    names = [bandit.arm_name(j) for j in arms]
    if len(names) <= 2:
        return " and ".join(names)
    parts = [re.fullmatch(r"(.*?)(\d+)", name) for name in names]
    heads = {part and part[1] for part in parts}
    if len(heads) == 1 and None not in heads:
        numbers = [int(part[2]) for part in parts if part]
        head = str(heads.pop())
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            if re.search(r"[a-z] $", head):  # "channel 2", "channel 3", ... are channels
                return f"{head[:-1]}s {numbers[0]} to {numbers[-1]}"
            return f"{names[0]} to {names[-1]}"
    return f"{names[0]} and {len(names) - 1:,} like it"


# --- exact plans ----------------------------------------------------------------------------------


def three_alike(bandit: Bandit, seen: Visits) -> tuple[Bandit, Visits] | None:
    """Three arms that are alike by their roles: the one seen last, then by what was seen of them.

    What the policy does depends on the roles alone, so a situation and its mirror images are one.
    """
    if bandit.n_arms != 3 or len(alike(bandit, range(3))) > 1:
        return None
    order = np.lexsort((seen.ages, seen.states, np.arange(3) != seen.last[:, None]))
    place = np.argsort(order, axis=1)
    rows = np.arange(len(order))
    ordered = replace(
        seen, states=np.take_along_axis(seen.states, order, axis=1),
        ages=np.take_along_axis(seen.ages, order, axis=1), last=np.zeros_like(seen.last),
        pulls=place[rows, seen.pulls],
    )  # fmt: skip
    named = Bandit([called(arm, role) for arm, role in zip(bandit.arms, ROLES, strict=True)])
    return named, ordered


def shown_returns(bandit: Bandit, seen: Visits, max_rows: int = MAX_ROWS) -> Returns:
    """What follows each sight; arms that are alike share rows, and a column each.

    With arms alike the first column is the arm just seen, and the others are without it.
    """
    groups = alike(bandit, seen.arms_pulled)
    if max(map(len, groups)) == 1:
        return returns(bandit, seen, max_rows)
    group_of = np.zeros(bandit.n_arms, dtype=np.int64)
    for number, arms in enumerate(groups):
        group_of[arms] = number
    column = np.where(seen.pulls == seen.last, 0, group_of[seen.pulls] + 1)
    table = returns(bandit, seen, max_rows, group_of, column, len(groups) + 1)
    names = tuple(names_of(bandit, arms) for arms in groups)
    firsts = np.array([arms[0] for arms in groups])
    article = "another of" if len(groups) == 1 else "one of"
    others = [f"{article} {name}" if len(arms) > 1 else name
              for name, arms in zip(names, groups, strict=True)]  # fmt: skip
    return replace(table, arms=firsts[table.arms], rows=tuple(names[k] for k in table.arms),
                   columns=("the same arm", *others))  # fmt: skip
