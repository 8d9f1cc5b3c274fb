"""Learning while somebody watches: a live line, and an interrupt that keeps what was reached."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import takewhile
from types import FrameType

from restive.cli.console import waiting
from restive.model.bandit import Bandit
from restive.planning import Plan, Refusal, plan_within
from restive.simulation.worlds import BanditWorld, Block

Progress = Callable[[str, int, float], None]

PATIENCE = 20.0  # seconds that the plan behind the regret may take
BLOCK = 1 << 13  # steps between two looks at the keyboard


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


def yardstick(bandit: Bandit, report: Progress | None) -> tuple[Plan | None, str]:
    """A plan for rho*, as fine as time and memory allow, and in words what they did not allow."""
    best = plan_within(bandit, PATIENCE, clock=True, progress=report)
    return (None, best.reason) if isinstance(best, Refusal) else (best, best.note)
