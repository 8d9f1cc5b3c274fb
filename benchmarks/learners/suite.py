"""The problems: examples of the paper, random ones, slow ones, and ones made to be easy."""

from __future__ import annotations

from restive.bandit import Arm, Bandit
from restive.problems import (
    example1,
    example2,
    example3,
    example4,
    gilbert_elliott,
    random_problem,
)

__all__ = ["suite"]

RANDOM = ((2, 2, 0.0), (2, 3, 0.5), (2, 4, 0.7), (2, 5, 0.5), (3, 2, 0.6), (3, 3, 0.5))


def _channel(up: float, down: float, low: float, high: float) -> Arm:
    return Arm([[1 - up, up], [down, 1 - down]], [low, high])


def suite() -> dict[str, Bandit]:
    """Name -> bandit; four channels and Example 4 mix fast to keep runs short.

    No problem was chosen by its regret, but the defaults of tied-sampling were tuned on seven of
    them (see the page).
    """
    problems = {
        "example 1": example1(0.1),
        "example 2": example2(0.9),
        "example 3": example3(0.1),
        "example 4": example4(stay=0.3),
    }
    for seed, (arms, states, stickiness) in enumerate(RANDOM):
        name = f"random {seed + 1} ({arms} arms, {states} states)"
        problems[name] = random_problem(arms, states, rng=seed, stickiness=stickiness)
    problems["slow arms"] = Bandit(
        [_channel(0.01, 0.01, 0, 1), _channel(0.012, 0.008, 0.1, 0.9)], "slow arms"
    )
    problems["negative correlation"] = Bandit(
        [_channel(0.8, 0.7, 0, 1), _channel(0.7, 0.9, 0, 0.9)], "negative correlation"
    )
    problems["four channels"] = gilbert_elliott(
        4, p_bad_good=[0.25, 0.3, 0.35, 0.2], p_good_bad=[0.35, 0.3, 0.25, 0.4]
    )
    problems["best arm is best"] = Bandit(
        [_channel(0.3, 0.1, 0.6, 0.9), _channel(0.2, 0.3, 0.1, 0.5)], "best arm is best"
    )
    return problems
