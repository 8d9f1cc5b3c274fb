"""Compile what learners need before their clocks start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from restive.model.bandit import Bandit

STEPS = 200

Player = tuple[str, "Bandit", Mapping[str, Any]]  # name of the learner, problem, options


def warm(players: Iterable[Player], delta: float) -> None:
    """Let every learner play a few steps on arms of each kind that it is to meet."""
    # two states an arm have sweeps of their own, several pulls a step kernels of their own
    kinds = {(name, set(bandit.n_states) == {2}, bandit.pulls > 1): (name, bandit, options)
             for name, bandit, options in players}  # fmt: skip
    for player in kinds.values():
        _play(player, delta)


def _play(player: Player, delta: float) -> None:
    """A few steps on a small problem, or on the learner's own if it takes no other."""
    from restive.base.errors import RestiveError
    from restive.learners import make_learner
    from restive.model.bandit import Bandit
    from restive.planning import plan
    from restive.problems import random_problem
    from restive.simulation import BanditWorld, play

    name, bandit, options = player
    sizes = [2 if set(bandit.n_states) == {2} else 3, 2]
    small = random_problem(2, sizes, rng=0)
    if bandit.pulls > 1:  # for which there is no plan to measure by
        small = Bandit([*small.arms, small.arms[1]], pulls=2)
    for problem, settings in ((small, options), (small, {}), (bandit, options)):
        try:
            learner = make_learner(name, problem, STEPS, delta, 0, **settings)
        except RestiveError:  # made for other arms, or options for another number of them
            continue
        yardstick = plan(small, 1e-3) if problem is small and small.pulls == 1 else None
        play(learner, BanditWorld(problem, 0), STEPS, plan=yardstick)
        return
