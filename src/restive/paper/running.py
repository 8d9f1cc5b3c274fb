"""Run claims: independent cells on any number of workers, with the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from restive.base.backends import Workplace, in_order
from restive.paper.claim import Claim, Judgement, Measurement, Scale


@dataclass(frozen=True)
class Progress:
    """How far a run is; ``left``: seconds to go by the cells done so far, None at the start."""

    done: int  # cells
    cells: int
    left: float | None


def run_claims(
    claims: Sequence[Claim],
    scale: Scale,
    *,
    workers: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[Judgement]:
    """The outcome of every claim, each as soon as all its cells are done.

    The shortest measurements come first, so that an interrupted run leaves as much as it can.
    One worker means this process. Closing the iterator stops the workers.
    """
    measurements = {claim.measurement.name: claim.measurement for claim in claims}
    which = 1 if scale.quick else 0
    cells = {m.name: list(m.cells(scale)) for m in measurements.values()}
    order = sorted(measurements.values(), key=lambda m: m.seconds[which] * len(cells[m.name]))
    jobs = [(m, cell) for m in order for cell in cells[m.name]]
    clock = _Clock([m.seconds[which] for m, _ in jobs])
    results: dict[str, list[Any]] = {m.name: [] for m in order}
    for k, result in enumerate(_results(jobs, workers)):
        name = jobs[k][0].name
        results[name].append(result)
        if progress is not None:
            progress(clock.after(k + 1))
        if len(results[name]) == len(cells[name]):
            ready = (claim for claim in claims if claim.measurement.name == name)
            yield from (Judgement(claim, claim.judge(scale, results[name])) for claim in ready)


class _Clock:
    """Time left, from how long the cells should take and how long those done did take."""

    def __init__(self, seconds: Sequence[float]) -> None:
        self.seconds, self.began = seconds, perf_counter()

    def after(self, done: int) -> Progress:
        spent, ahead = sum(self.seconds[:done]), sum(self.seconds[done:])
        left = (perf_counter() - self.began) * ahead / spent if spent else None
        return Progress(done, len(self.seconds), left)


def _results(jobs: Sequence[tuple[Measurement, Any]], workers: int) -> Iterator[Any]:
    """What each job measured, in their order."""
    with Workplace("local", "", workers).opened(_measure, len(jobs)) as pool:
        yield from in_order(pool, [(measurement.measure, cell) for measurement, cell in jobs])


def _measure(job: tuple[Callable[[Any], Any], Any]) -> Any:
    measure, cell = job
    return measure(cell)
