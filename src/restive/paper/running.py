"""Run claims: independent cells on any number of workers, with the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from restive.base.backends import Workplace, in_order
from restive.paper.claim import Claim, Judgement, Scale


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
    seconds, began = [m.seconds[which] for m, _ in jobs], perf_counter()
    results: dict[str, list[Any]] = {m.name: [] for m in order}
    with Workplace("local", "", workers).opened(_measure, len(jobs)) as pool:
        for k, result in enumerate(in_order(pool, [(m.measure, cell) for m, cell in jobs])):
            name = jobs[k][0].name
            results[name].append(result)
            if progress is not None:
                progress(_progress(k + 1, seconds, perf_counter() - began))
            if len(results[name]) == len(cells[name]):
                ready = (claim for claim in claims if claim.measurement.name == name)
                yield from (Judgement(claim, claim.judge(scale, results[name])) for claim in ready)


def _progress(done: int, seconds: Sequence[float], taken: float) -> Progress:
    """Time left, from how long the cells should take and how long those done did take."""
    spent, ahead = sum(seconds[:done]), sum(seconds[done:])
    return Progress(done, len(seconds), taken * ahead / spent if spent else None)


def _measure(job: tuple[Callable[[Any], Any], Any]) -> Any:
    measure, cell = job
    return measure(cell)
