"""Progress of an experiment: the time it took so far, and an estimate of the time left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil

from restive.base.words import duration_text
from restive.experiments.cells import PLAN, Cell, Job

BATCH_SECONDS = 0.5  # short cells travel together, so that sending them costs little
LARGEST_BATCH = 100
SHOWN = 4  # runs under way that are told of


class Watcher:
    """Told what happens; this one does nothing with it."""

    def started(self, done: int, total: int, seconds_left: float | None) -> None:
        """How many runs there were already, of how many."""

    def finished(self, done: int, total: int, seconds_left: float | None) -> None:
        """One more is kept; the time left is None while it cannot be estimated."""

    def running(self, shares: Sequence[float], seconds_left: float) -> None:
        """How far long runs are, each from 0 to 1; told on another thread, about every second."""

    def failed(self, learner: str, problem: str, horizon: int, run: int, error: str) -> None:
        """A learner raised an exception; told once for all runs in which it is the same."""

    def notice(self, words: str) -> None:
        """Something that the user should know."""


class Teller(Watcher):
    """Tells in a line that is written over; what the user should know stays, as printed words.

    tell: None where nobody watches. closing: words at the end of the line.
    """

    def __init__(self, tell: Callable[[str], None] | None, closing: str = "") -> None:
        self._tell, self._closing, self._done = tell, closing, ""

    def started(self, done: int, total: int, seconds_left: float | None) -> None:
        self.finished(done, total, seconds_left)

    def finished(self, done: int, total: int, seconds_left: float | None) -> None:
        self._done = f"comparing: {done:,} of {total:,} runs ({done / total:.0%})"
        self._show("" if seconds_left is None else f", about {_rough(seconds_left)} left")

    def running(self, shares: Sequence[float], seconds_left: float) -> None:
        self._show(f", {far(shares)}, about {_rough(seconds_left)} left")

    def _show(self, words: str) -> None:
        if self._tell is not None:
            self._tell(f"{self._done}{words}{self._closing}")

    def notice(self, words: str) -> None:
        print(words)


def _rough(seconds: float) -> str:
    return f"{ceil(seconds)} s" if seconds < 120 else duration_text(seconds)


def far(shares: Sequence[float]) -> str:
    """How far runs are, in words.

    >>> far([0.5, 0.00125]), far([0.1] * 9)
    ('under way: 50%, 0.12%', 'under way: 10%, 10%, 10%, 10% and 5 more')
    """
    more = f" and {len(shares) - SHOWN} more" if len(shares) > SHOWN else ""
    return "under way: " + ", ".join(f"{100 * share:.2g}%" for share in shares[:SHOWN]) + more


class Pace:
    """Mean seconds of the cells of each problem, learner and horizon, and how many are left."""

    def __init__(self, missing: Iterable[Cell]) -> None:
        self._spent: dict[tuple[str, str, int], tuple[float, int]] = {}
        self._left = Counter(cell.place for cell in missing if cell.learner != PLAN)
        self.waiting = self._left.total()

    def add(self, cell: Cell, seconds: float) -> None:
        """A cell took so long."""
        spent, count = self._spent.get(cell.place, (0.0, 0))
        self._spent[cell.place] = spent + seconds, count + 1

    def done(self, cell: Cell) -> None:
        """A cell is no longer missing."""
        if cell.learner != PLAN:
            self._left[cell.place] -= 1
            self.waiting -= 1

    def of(self, cell: Cell) -> float | None:
        """Seconds to expect of a cell, None if there was none like it yet."""
        spent, count = self._spent.get(cell.place, (0.0, 0))
        return spent / count if count else None

    def steps_left(self) -> int:
        """Steps of all missing cells."""
        return sum(count * place[2] for place, count in self._left.items())

    def left(self, workers: int) -> float | None:
        """Seconds that the missing cells take all workers together; None if unknown."""
        known = {place: s / n for place, (s, n) in self._spent.items() if place[2]}
        if not known:
            return None
        # cells of which there was none take as long per step as the others do
        per_step = sum(s / place[2] for place, s in known.items()) / len(known)
        total = sum(n * known.get(place, per_step * place[2]) for place, n in self._left.items())
        return total / workers


def batches(jobs: Iterable[Job], pace: Pace, workers: int, count: int) -> Iterator[list[Job]]:
    """Jobs that travel together: about BATCH_SECONDS by the pace known when they are asked for.

    ``count`` is the number of jobs; towards the end batches become small, so that no worker waits
    long for the last one.
    """
    batch: list[Job] = []
    expected = 0.0
    for number, job in enumerate(jobs):
        seconds = pace.of(job.cell)
        most = min(LARGEST_BATCH, 1 + (count - number) // (2 * workers))
        alone = seconds is None or expected + seconds > BATCH_SECONDS
        if batch and (alone or len(batch) >= most):
            yield batch
            batch, expected = [], 0.0
        batch.append(job)
        expected += BATCH_SECONDS if seconds is None else seconds
    if batch:
        yield batch
