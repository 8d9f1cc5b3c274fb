"""The problems: the first fourteen of restive-suite v1, under the names of this benchmark."""

from __future__ import annotations

from functools import lru_cache

from restive.model.bandit import Bandit
from restive.problems.suites import suite as frozen

__all__ = ["suite"]

SUITE = "restive-suite-v1"
NAMES = {
    "example-1": "example 1",
    "example-2": "example 2",
    "example-3": "example 3",
    "example-4": "example 4",
    "random-1": "random 1 (2 arms, 2 states)",
    "random-2": "random 2 (2 arms, 3 states)",
    "random-3": "random 3 (2 arms, 4 states)",
    "random-4": "random 4 (2 arms, 5 states)",
    "random-5": "random 5 (3 arms, 2 states)",
    "random-6": "random 6 (3 arms, 3 states)",
    "slow-arms": "slow arms",
    "negative-correlation": "negative correlation",
    "four-channels": "four channels",
    "best-arm-is-best": "best arm is best",
}


@lru_cache
def suite() -> dict[str, Bandit]:
    """Name -> bandit; four channels and Example 4 mix fast to keep runs short.

    No problem was chosen by its regret, but the defaults of tied-sampling were tuned on seven of
    them (see the page).
    """
    problems = frozen(SUITE)
    return {name: problems[key] for key, name in NAMES.items()}
