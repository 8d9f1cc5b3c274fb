"""Learning while somebody watches: a live line, and an interrupt that keeps what was reached."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from math import inf
from time import monotonic
from types import FrameType
from typing import Any

from restive.base.errors import TooLargeError
from restive.base.words import duration_text, size_text
from restive.cli.console import console
from restive.model.bandit import Bandit
from restive.planning import Plan, forecast, plan
from restive.simulation.worlds import BanditWorld, Block

__all__ = ["StoppableWorld", "stopping", "watching", "yardstick"]

TOLERANCES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
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


@contextmanager
def watching(
    horizon: int, gain: float | None, best: float
) -> Iterator[Callable[[int, float], None] | None]:
    """A live line on standard error with the regret so far; None where nobody watches."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    against, rate = ("weak regret", best) if gain is None else ("regret", gain)
    with err.status("learning") as status:

        def report(steps: int, total: float) -> None:
            done = f"step {steps:,} of {horizon:,} ({steps / horizon:.0%})"
            status.update(
                f"learning: {done}, {total / steps:.4f} per step, {against} "
                f"{rate * steps - total:,.0f}; Ctrl-C stops"
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
    if bandit.pulls > 1:
        return None, f"plans are for one pull a step, and here there are {bandit.pulls}"
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
