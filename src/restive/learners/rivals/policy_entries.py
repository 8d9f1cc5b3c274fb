"""Rivals that plan, and yardsticks that know the bandit, by name; imports no NumPy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from restive.learners import LearnerEntry
from restive.parameters import Parameter

if TYPE_CHECKING:
    from restive.bandit import Bandit

__all__ = ["ENTRIES", "why_not"]

_TIMES = Parameter("mixing_times", "ints", None, "Tmix(1/4) of the arms, if not their own", 1)
_PAIRS = Parameter("max_pairs", "int", 20_000, "most pairs of information state and arm", 1)
_SHARE = Parameter("share", "float", 1.0, "multiple of T^(2/3) steps to explore", 0, above=True)
_AGES = Parameter("max_age", "int", 500, "most ages to tell apart", 1)

ENTRIES = (
    LearnerEntry(
        "tsde",
        "posterior sampling in growing episodes, every color by itself (Jung, Abeille, Tewari)",
        "Bayesian regret against rho* of order sqrt(T) log T, for models drawn from the prior",
        (_TIMES,),
        "rivals.posterior:build",
    ),
    LearnerEntry(
        "ucrl2",
        "UCRL2 on the information states, without colors (Jaksch, Ortner, Auer)",
        "regret against rho* of order D S sqrt(A T), S the number of information states",
        (_TIMES, _PAIRS),
        "rivals.ucrl2:build",
    ),
    LearnerEntry(
        "restless-ucb",
        "explore, then plan for an optimistic birth-death bandit (Wang, Huang, Lui)",
        "regret against rho* of order T^(2/3), for monotone birth-death chains with known rewards",
        (),
        "rivals.restless_ucb:build",
    ),
    LearnerEntry(
        "tiling",
        "explore a two-state channel until one policy is clearly best (Filippi, Cappe, Garivier)",
        "regret against rho* of order T^(2/3), or log T inside a policy zone, for single channels",
        (),
        "rivals.tiling:build",
    ),
    LearnerEntry(
        "explore-then-plan",
        "estimate the bandit for T^(2/3) steps, plan once, follow the plan",
        "regret against rho* of order T^(2/3), not proven for this version",
        (_SHARE,),
        "rivals.committing:explore_then_plan",
    ),
    LearnerEntry(
        "myopic",
        "knows the bandit and pulls the arm with the largest expected reward at this step",
        "none in general; optimal for identical, positively correlated two-state arms",
        (),
        "rivals.index_policies:myopic",
    ),
    LearnerEntry(
        "whittle",
        "knows the bandit and pulls the arm with the largest Whittle index",
        "none in general (Theorem 1)",
        (_AGES,),
        "rivals.index_policies:whittle",
    ),
)

_CHOOSY = {"restless-ucb": "restless_ucb", "tiling": "tiling"}


def why_not(name: str, bandit: Bandit) -> str:
    """Why a rival is not defined for this bandit; empty if it is."""
    if name not in _CHOOSY:
        return ""
    module = import_module(f"restive.learners.rivals.{_CHOOSY[name]}")
    return str(module.applicable(bandit))
