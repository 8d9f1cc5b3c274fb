"""Rivals that plan, and yardsticks that know the bandit, by name; imports no NumPy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from restive.base.options import Parameter
from restive.learners import LearnerEntry, defaults

if TYPE_CHECKING:
    from restive.model.bandit import Bandit

__all__ = ["ENTRIES", "why_not"]

_TIMES = Parameter("mixing_times", "ints", None, "Tmix(1/4) of the arms, if not their own", 1)
_PAIRS = Parameter(
    "max_pairs", "int", defaults.MAX_PAIRS, "most pairs of information state and arm", 1
)
_SHARE = Parameter(
    "share", "float", defaults.SHARE, "multiple of T^(2/3) steps to explore", 0, above=True
)
_AGES = Parameter("max_age", "int", defaults.MAX_AGE, "most ages to tell apart", 1)
_TOLD = (
    "irreducible chains, rewards in [0, 1]; told horizon, state spaces, mixing times and periods"
)

ENTRIES = (
    LearnerEntry(
        "tsde",
        "posterior sampling in growing episodes, every color by itself (Jung, Abeille, Tewari)",
        "Bayesian regret against rho* of order sqrt(T) log T, for models drawn from the prior",
        (_TIMES,),
        "rivals.posterior:build",
        assumes=f"{_TOLD}; the papers also take the rewards as known",
        deviation="every (state, age) has a posterior of its own; rewards are learned; ages are "
        "capped as in Algorithm 2; doubling is tested before a pull",
    ),
    LearnerEntry(
        "ucrl2",
        "UCRL2 on the information states, without colors (Jaksch, Ortner, Auer)",
        "regret against rho* of order D S sqrt(A T), S the number of information states",
        (_TIMES, _PAIRS),
        "rivals.ucrl2:build",
        assumes=_TOLD,
        deviation="possible successors are known; radii are widened by eps for capped ages",
    ),
    LearnerEntry(
        "restless-ucb",
        "explore, then plan for an optimistic birth-death bandit (Wang, Huang, Lui)",
        "regret against rho* of order T^(2/3), for monotone birth-death chains with known rewards",
        (),
        "rivals.restless_ucb:build",
        assumes="birth-death chains along increasing rewards with P(k, k+1) + P(k+1, k) <= 1, all "
        "moves bounded away from 0; told horizon and mean rewards",
        deviation="exact planning in place of Whittle's index; probabilities cut to [1/T, 1]; "
        "written from the abstract and the authors' program",
    ),
    LearnerEntry(
        "tiling",
        "explore a two-state channel until one policy is clearly best (Filippi, Cappe, Garivier)",
        "regret against rho* of order T^(2/3), or log T inside a policy zone, for single channels",
        (),
        "rivals.tiling:build",
        assumes="one two-state channel beside an arm of independent states, or identical two-state "
        "channels; told horizon and rewards",
        deviation="zones are told on a grid and waits are at most 64 or for ever; constants are "
        "guessed, the papers' text was not at hand",
    ),
    LearnerEntry(
        "explore-then-plan",
        "estimate the bandit for T^(2/3) steps, plan once, follow the plan",
        "regret against rho* of order T^(2/3), not proven for this version",
        (_SHARE,),
        "rivals.committing:explore_then_plan",
        assumes="irreducible chains, rewards in [0, 1]; told horizon and state spaces",
    ),
    LearnerEntry(
        "myopic",
        "knows the bandit and pulls the arm with the largest expected reward at this step",
        "none in general; optimal for identical, positively correlated two-state arms",
        (),
        "rivals.index_policies:myopic",
        assumes="told the bandit",
    ),
    LearnerEntry(
        "whittle",
        "knows the bandit and pulls the arm with the largest Whittle index",
        "none in general (Theorem 1)",
        (_AGES,),
        "rivals.index_policies:whittle",
        assumes="told the bandit; meant for indexable arms",
    ),
)

_CHOOSY = {"restless-ucb": "restless_ucb", "tiling": "tiling"}


def why_not(name: str, bandit: Bandit) -> str:
    """Why a rival is not defined for this bandit; empty if it is."""
    if name not in _CHOOSY:
        return ""
    module = import_module(f"restive.learners.rivals.{_CHOOSY[name]}")
    return str(module.applicable(bandit))
