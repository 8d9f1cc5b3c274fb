"""Learning while somebody watches: a live line, and an interrupt that keeps what was reached.

Before that, what learners need is compiled, so that their clocks do not count it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import takewhile
from types import FrameType
from typing import Any

from restive.cli.console import waiting
from restive.many.several_pulls import PullsPlan
from restive.many.yardsticks import yardstick_within
from restive.model.bandit import Bandit
from restive.planning import Plan, Refusal, plan
from restive.simulation.worlds import BanditWorld, Block

Progress = Callable[[str, int, float], None]
Player = tuple[str, Bandit, Mapping[str, Any]]  # name of the learner, problem, options

PATIENCE = 20.0  # seconds that the plan behind the regret may take
BLOCK = 1 << 13  # steps between two looks at the keyboard
WARM_STEPS = 200


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
    from restive.problems import random_problem
    from restive.simulation import play

    name, bandit, options = player
    small = random_problem(2, 2 if set(bandit.n_states) == {2} else [3, 2], rng=0)
    if bandit.pulls > 1:  # for which there is no plan to measure by
        small = Bandit([*small.arms, small.arms[1]], pulls=2)
    for problem, settings in ((small, options), (small, {}), (bandit, options)):
        try:
            learner = make_learner(name, problem, WARM_STEPS, delta, 0, **settings)
        except RestiveError:  # made for other arms, or options for another number of them
            continue
        best = plan(small, 1e-3) if problem is small and small.pulls == 1 else None
        play(learner, BanditWorld(problem, 0), WARM_STEPS, plan=best)
        return


class StoppableWorld(BanditWorld):
    """A bandit's path that ends early once ``stopped`` is set."""

    stopped = False

    def stream(self, horizon: int, size: int = BLOCK) -> Iterator[Block]:
        return takewhile(lambda block: not self.stopped, super().stream(horizon, size))


@contextmanager
def stopping(world: StoppableWorld) -> Iterator[None]:
    """Let the first interrupt end the path and the second one the program."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are heard by the main thread only
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if world.stopped:
            raise KeyboardInterrupt
        world.stopped = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def watching(
    bandit: Bandit, horizon: int, gain: float | None
) -> AbstractContextManager[Callable[..., None] | None]:
    """A live line on standard error with the regret so far; None where nobody watches."""
    units, pulls = bandit.units, bandit.pulls
    best = bandit.best_arms_gain
    against, rate = ("weak regret", best) if gain is None else ("regret", gain)

    def words(steps: int, total: float) -> str:
        lost = f"{against} {units.loss(rate * steps - total):,.0f}"
        done = f"{steps:,} steps ({steps / horizon:.0%})"
        return f"{done}, {units.mean(total / steps, pulls):.4f} per step, {lost}; Ctrl-C stops"

    return waiting("learning", words)


def yardstick(bandit: Bandit, report: Progress | None) -> tuple[Plan | PullsPlan | None, str]:
    """A plan for rho*, as fine as time and memory allow, and in words what they did not allow."""
    best = yardstick_within(bandit, PATIENCE, clock=True, progress=report)
    return (None, best.reason) if isinstance(best, Refusal) else (best, best.note)
