"""Runs that take long tell how far they are: a small file each, read by the process that asked."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import NamedTuple

QUIET = 2.0  # seconds of a run before it tells anything
PAUSE = 1.0  # seconds between two looks
LONGEST = 100  # letters of a note; what is longer is none


class Underway(NamedTuple):
    """How far a run is."""

    steps: int
    horizon: int
    seconds: float


@contextmanager
def noted(folder: Path | None, horizon: int) -> Iterator[Callable[[int, float], None]]:
    """What a run calls with its steps and rewards so far; other processes read it in ``folder``.

    The note is a draft: readers of the folder pass it over, and the next start clears it away
    after a kill. Where the folder cannot be written to nobody is told.
    """
    began = monotonic()
    path = Path(folder or "") / f".run.{os.getpid()}-{token_hex(4)}.draft"
    due = began + QUIET

    def tell(steps: int, total: float) -> None:
        nonlocal due
        now = monotonic()
        if folder is not None and now >= due:
            due = now + PAUSE
            with suppress(OSError):
                path.write_text(f"{steps} {horizon} {max(now - began, 0.001):.3f}", "ascii")

    try:
        yield tell
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def underway(folder: Path) -> list[Underway]:
    """The runs that tell how far they are, the furthest first."""
    runs = []
    for path in folder.glob(".run.*.draft"):
        with suppress(OSError, ValueError), open(path, encoding="ascii") as stream:
            steps, horizon, seconds = stream.read(LONGEST).split()
            runs.append(Underway(int(steps), int(horizon), float(seconds)))
    sound = (run for run in runs if 0 < run.steps <= run.horizon and run.seconds > 0)
    return sorted(sound, key=lambda run: -run.steps / run.horizon)


@contextmanager
def followed(folder: Path, tell: Callable[[Sequence[Underway]], None]) -> Iterator[None]:
    """Call ``tell`` every second, on a thread of its own, while runs tell how far they are."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(PAUSE):
            if runs := underway(folder):
                tell(runs)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
