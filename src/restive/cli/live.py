"""Learning while somebody watches: a live line, and an interrupt that keeps what was reached."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from time import monotonic
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.base.errors import TooLargeError
from restive.base.words import duration_text, size_text
from restive.cli import screen
from restive.learners.contract import Learner
from restive.learners.storage import Snapshot
from restive.model.bandit import Bandit
from restive.planning import Plan, forecast, plan
from restive.simulation.worlds import BanditWorld, Block

__all__ = ["StoppableWorld", "Watched", "stopping", "watching", "yardstick"]

TOLERANCES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
PATIENCE = 20.0  # seconds that the plan behind the regret may take
BLOCK = 1 << 13  # steps between two looks at the keyboard


class StoppableWorld(BanditWorld):
    """A bandit's path that ends early once ``stopped`` is set; ``reached`` counts its steps."""

    stopped = False
    reached = 0

    def stream(self, horizon: int, size: int = BLOCK) -> Iterator[Block]:
        for block in super().stream(horizon, size):
            if self.stopped:
                return
            yield block
            self.reached += block[0].shape[1]


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


class Watched(Learner):
    """A learner as it is, with the sum of its rewards at hand while it plays."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.name, self.n_arms = learner.name, learner.n_arms
        self.total = 0.0

    def ask(self) -> int:
        return self.learner.ask()

    def tell(self, arm: int, state: Hashable, reward: float) -> None:
        self.learner.tell(arm, state, reward)
        self.total += reward

    def play_path(
        self, states: NDArray[np.int64], rewards: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        pulls = self.learner.play_path(states, rewards)
        self.total += float(rewards[pulls, np.arange(len(pulls))].sum())
        return pulls

    def snapshot(self) -> Snapshot:
        return self.learner.snapshot()

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.learner.restore(state, arrays)

    @property
    def settings(self) -> dict[str, Any]:
        return self.learner.settings

    @property
    def episodes(self) -> tuple[int, ...]:
        return self.learner.episodes

    @property
    def planning_seconds(self) -> float:
        return self.learner.planning_seconds


@contextmanager
def watching(
    learner: Watched, horizon: int, gain: float | None, best: float
) -> Iterator[Callable[[int], None] | None]:
    """A live line on standard error with the regret so far; None where nobody watches."""
    err = screen._console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    against, rate = ("weak regret", best) if gain is None else ("regret", gain)
    with err.status("learning") as status:

        def report(steps: int) -> None:
            lost = rate * steps - learner.total
            done = f"step {steps:,} of {horizon:,} ({steps / horizon:.0%})"
            status.update(
                f"learning: {done}, {learner.total / steps:.4f} per step, {against} {lost:,.0f}; "
                "Ctrl-C stops"
            )

        yield report


class _OverrunError(Exception):
    """The plan behind the regret takes too long."""


class _Patience:
    """A plan's progress report that gives the plan up once its time is over.

    width: of the finest interval that was certified before.
    """

    def __init__(self, report: Any) -> None:
        self.report, self.ends, self.width = report, monotonic() + PATIENCE, inf

    def __call__(self, what: str, sweeps: int, width: float) -> None:
        if self.report is not None:
            self.report(what, sweeps, width)
        if what == "certified":
            self.width = width  # the plan may be complete with this one
        elif monotonic() > self.ends:
            raise _OverrunError


def yardstick(bandit: Bandit, report: Any) -> tuple[Plan | None, str]:
    """A plan for rho*, as fine as time and memory allow, and in words what they did not allow."""
    why, reached = "", 0.0
    for tolerance in TOLERANCES:
        if tolerance < reached:
            continue  # an interval this narrow was not certified in time
        clock = _Patience(report)
        try:
            size = forecast(bandit, tolerance)
            if size.fits and size.seconds <= PATIENCE:
                return plan(bandit, tolerance, progress=clock), why
        except TooLargeError:
            pass  # more than the forecast said
        except _OverrunError:
            reached = clock.width
            late = f"a plan to within {tolerance:g} took more than {duration_text(PATIENCE)}"
            why = why or late
        except ArithmeticError:
            return None, "an arm mixes too slowly to plan"
        else:
            why = why or (
                f"a plan to within {tolerance:g} would take about {size.states:.2g} information "
                f"states, {size_text(size.bytes)} and {duration_text(size.seconds)}"
            )
    return None, why or "even a rough plan does not fit into memory"
