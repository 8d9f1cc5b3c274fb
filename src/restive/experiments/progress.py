"""How an experiment gets on: what it took so far, and about how long it will still take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from restive.experiments.cells import Cell, Job

__all__ = ["Pace", "Watcher", "batches"]

BATCH_SECONDS = 0.5  # short cells travel together, so that sending them costs little
LARGEST_BATCH = 100


class Watcher:
    """Told what happens; this one does nothing with it."""

    def started(self, total: int, done: int) -> None:
        """Cells in all, and how many of them were there already."""

    def finished(self, done: int, total: int, seconds_left: float | None) -> None:
        """One more cell is kept; the time left is None as long as nobody can know."""

    def notice(self, words: str) -> None:
        """Something that the user should know."""


class Pace:
    """Mean seconds of the cells of each problem, learner and horizon."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str, int], tuple[float, int]] = {}

    def add(self, cell: Cell, seconds: float) -> None:
        spent, count = self._sums.get(cell.place, (0.0, 0))
        self._sums[cell.place] = spent + seconds, count + 1

    def of(self, cell: Cell) -> float | None:
        """Seconds to expect of a cell, None if there was none like it yet."""
        spent, count = self._sums.get(cell.place, (0.0, 0))
        return spent / count if count else None

    def left(self, cells: Iterable[Cell], workers: int) -> float | None:
        """Seconds that these cells take all workers together; None if nothing is known yet."""
        if not self._sums:
            return None
        rates = [spent / count / place[2] for place, (spent, count) in self._sums.items()]
        typical = sum(rates) / len(rates)  # seconds per step, for cells of which there was none
        total = 0.0
        for cell in cells:
            known = self.of(cell)
            total += typical * cell.horizon if known is None else known
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
