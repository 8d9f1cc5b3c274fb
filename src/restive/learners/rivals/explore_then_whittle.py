"""Explore first, then follow Whittle's index of the estimated arms."""

from __future__ import annotations

from restive.learners.declaration import declare
from restive.learners.forms import Practice
from restive.learners.rivals.committing import SHARE, ExploreThenPlan
from restive.policies.policy import Policy
from restive.policies.tables import whittle_policy

LONGEST = 500  # ages told apart


@declare(
    "explore-then-whittle",
    "estimate the bandit for about T^(2/3) steps, then follow Whittle's index; for many arms",
    guarantee="none against rho*: Whittle's policy may lose linearly (Theorem 1), even if the "
    "chains were known",
    assumes="irreducible chains, rewards in [0, 1]; meant for indexable arms",
    told="the horizon and the state spaces",
    cites=(
        "lattimore2020: chapter 6",
        "whittle1988",
    ),
    options=(SHARE,),
    practice=Practice({"share": 1.5}, "c is tuned, not 1"),
)
class ExploreThenWhittle(ExploreThenPlan):
    """As explore-then-plan, but commits to Whittle's index policy of the estimated bandit.

    Its cost grows with the number of arms and not with its powers. Ages are told apart up to the
    mixing time of an estimated chain to 1e-6, at most 500.
    """

    def commit(self) -> Policy:
        return whittle_policy(self.estimated(), LONGEST)
