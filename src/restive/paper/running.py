"""Run claims: independent cells on several workers, results the same whatever their number."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from restive.paper.claim import Claim, Experiment, Outcome, Scale

__all__ = ["Progress", "run_claims"]


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
) -> Iterator[Outcome]:
    """The outcome of every claim, each as soon as all its cells are done.

    The shortest experiments come first, so that an interrupted run leaves as much as it can.
    One worker means this process. Closing the iterator stops the workers.
    """
    experiments = {claim.experiment.name: claim.experiment for claim in claims}
    which = 1 if scale.quick else 0
    cells = {one.name: list(one.cells(scale)) for one in experiments.values()}
    order = sorted(experiments.values(), key=lambda one: one.seconds[which] * len(cells[one.name]))
    jobs = [(one, cell) for one in order for cell in cells[one.name]]
    clock = _Clock([one.seconds[which] for one, _ in jobs])
    found: dict[str, list[Any]] = {one.name: [] for one in order}
    for k, result in enumerate(_results(jobs, workers)):
        name = jobs[k][0].name
        found[name].append(result)
        if progress is not None:
            progress(clock.after(k + 1))
        if len(found[name]) == len(cells[name]):
            ready = (claim for claim in claims if claim.experiment.name == name)
            yield from (Outcome(claim, claim.judge(scale, found[name])) for claim in ready)


class _Clock:
    """Time left, from how long the cells should take and how long those done did take."""

    def __init__(self, seconds: Sequence[float]) -> None:
        self.seconds, self.began = seconds, perf_counter()

    def after(self, done: int) -> Progress:
        spent, ahead = sum(self.seconds[:done]), sum(self.seconds[done:])
        left = (perf_counter() - self.began) * ahead / spent if spent else None
        return Progress(done, len(self.seconds), left)


def _results(jobs: Sequence[tuple[Experiment, Any]], workers: int) -> Iterator[Any]:
    """What each job measured, in their order."""
    if workers == 1 or len(jobs) <= 1:
        for experiment, cell in jobs:
            yield experiment.measure(cell)
        return
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=workers, return_as="generator", batch_size=1)
    results = pool(delayed(_work)(experiment.measure, cell) for experiment, cell in jobs)
    try:
        yield from results
    except (KeyboardInterrupt, GeneratorExit):
        _stop(results)
        raise


def _work(measure: Callable[[Any], Any], cell: Any) -> Any:
    # an interrupt at the keyboard reaches all processes; this one leaves it to the first
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return measure(cell)


def _stop(results: Any) -> None:
    """End the workers at once instead of waiting for what they are at."""
    import warnings

    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=False, kill_workers=True)
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")  # joblib's words about unfinished work
        results.close()
