"""Checks of arguments that must be a bandit, in the words that a file would be answered with."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive.base.errors import ArgumentError, refusal
from restive.base.words import python_text, shown
from restive.model.bandit import Arm, Bandit

UNSEEN = "-1"  # in a list of names; a state of this name is itself


def require_bandit(value: object, name: str = "bandit") -> Bandit:
    """The argument, if it is a bandit; the error says how to make one of files and arms."""
    if isinstance(value, Bandit):
        return value
    remedy = "Build it: restive.Bandit([restive.Arm(transitions, rewards), ...])."
    text = python_text(value)
    if isinstance(value, str | PathLike):
        text = shown(fspath(value))
        remedy = f"Read it first: restive.find_problem({text}) takes files and gallery names."
    elif isinstance(value, Arm):
        text, remedy = "one Arm", "Put it into a bandit: restive.Bandit([arm])."
    elif isinstance(value, list | tuple) and value and all(isinstance(x, Arm) for x in value):
        text, remedy = f"{len(value)} arms", "Put them into a bandit: restive.Bandit(arms)."
    raise refusal(name, "not a Bandit", text, remedy)


def told_bandit(problem: Bandit | int, options: str) -> Bandit:
    """The bandit, where a number of arms is not enough for a learner without these options."""
    if isinstance(problem, Bandit):
        return problem
    message = "this learner needs more than the number of arms"
    raise refusal("problem", message, str(problem), f"Give the bandit, or set {options}.")


def require_one_pull(bandit: Bandit, what: str, instead: str = "") -> None:
    """Refuse a bandit with several pulls a step where only one is provided for.

    instead: what else to do, a clause in the imperative.
    """
    require_bandit(bandit)
    if bandit.pulls > 1:
        remedy = f"Set pulls to 1, or {instead}." if instead else "Set pulls to 1."
        raise refusal("pulls", f"{what} is only for one pull a step", str(bandit.pulls), remedy)


def require_arm_list(arms: object) -> None:
    """Refuse what is no list of arms, such as the bandit that they make."""
    if isinstance(arms, list | tuple) and all(isinstance(arm, Arm) for arm in arms):
        return
    remedy = "Give a list of arms: bandit.arms, or [restive.Arm(transitions, rewards), ...]."
    text = "a Bandit" if isinstance(arms, Bandit) else python_text(arms)
    raise refusal("arms", "not a list of arms", text, remedy)


def state_numbers(bandit: Bandit, states: ArrayLike) -> NDArray[Any]:
    """The states' numbers where names are given, one per arm, shape (..., K); -1: not seen yet.

    >>> arm = Arm([[0.9, 0.1], [0.1, 0.9]], [0, 1], states=["busy", "free"])
    >>> state_numbers(Bandit([arm, arm]), ["free", -1]).tolist()
    [1, -1]
    """
    names = np.asarray(states)
    if names.dtype.kind not in "US" or names.shape[-1:] != (bandit.n_arms,):
        return names
    numbers = np.empty(names.shape, dtype=np.int64)
    for place, name in np.ndenumerate(names):
        arm = place[-1]
        numbers[place] = _number_of(bandit.arms[arm], str(name), bandit.arm_name(arm))
    return numbers


def _number_of(arm: Arm, name: str, called: str) -> int:
    if name in arm.states:
        return arm.states.index(name)
    if name == UNSEEN:
        return int(UNSEEN)
    known = ", ".join(arm.states)
    raise ArgumentError(f"last_states: {called} has no state {name!r}; its states are {known}")
