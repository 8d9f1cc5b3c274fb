"""Run an experiment: what is missing in its directory, on any backend, until all is there."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from restive.base.backends import PATIENCE, Workplace, check_backend, opened, workers_lost
from restive.base.errors import RestiveError, refuse
from restive.base.notebook import notebook_line
from restive.base.pools import Pool, dismiss_local_workers
from restive.base.words import first_line
from restive.experiments.cells import PLAN, Cell, CellOutcome, Job, run_batch
from restive.experiments.directory import OTHER
from restive.experiments.progress import Pace, Teller, Watcher, batches
from restive.experiments.reading import load_results
from restive.experiments.results import Results
from restive.experiments.store import Store, cells_of, logged_cells
from restive.experiments.tables import write_statistics
from restive.experiments.underway import Underway, followed

if TYPE_CHECKING:
    from restive.experiments.experiment import Experiment


def run_experiment(
    experiment: Experiment, directory: Path, workplace: Workplace, watcher: Watcher | None
) -> Results:
    """Run the cells that ``directory`` does not hold yet and return the results of all.

    A learner that raises an exception does not stop the others: ``Results.failures`` tells of it.
    """
    refuse(check_backend(*workplace))
    silent, store = watcher is None, Store(directory, experiment)
    with notebook_line() as tell, store.held():
        watcher = watcher or (Watcher() if tell is None else Teller(tell))
        _tell_unknowable(experiment, watcher, silent and tell is None)
        missing = _missing(store, watcher)
        if missing:
            store.forget_derived()
            if any(learner.own for learner in experiment.learners):
                dismiss_local_workers()  # they may hold its module as it was
            work = partial(run_batch, notes=store.directory.root.resolve())
            with opened(work, *workplace, len(missing)) as pool:
                store.log_start(backend=workplace.backend, workers=pool.workers)
                _Campaign(store, watcher, pool, missing).run()
            store.log("end")
        results = load_results(directory)
        write_statistics(results, store.directory)
    if results.failures and silent:
        _warn(results, store.directory.log)
    return results


def _warn(results: Results, log: Path) -> None:
    """For those who watch nothing: failed runs must not go unnoticed."""
    words = "; ".join(
        f"{place[1]} on {place[0]}: {failure}" for place, failure in results.failures.items()
    )
    where = f"The tracebacks are in {log}; running it again tries them again."
    warnings.warn(f"{words}. {where}", RuntimeWarning, stacklevel=4)


def _tell_unknowable(experiment: Experiment, watcher: Watcher, silent: bool) -> None:
    """Learners whose runs cannot be resumed, as nobody can know whether they are the same."""
    for learner in experiment.learners:
        if reason := learner.unknowable():
            words = f"{learner.label} cannot be resumed ({reason}): every call runs it anew."
            watcher.notice(words)
            if silent:
                warnings.warn(words, RuntimeWarning, stacklevel=5)


def _missing(store: Store, watcher: Watcher) -> dict[Cell, Job]:
    """Jobs that are still to be done; damaged and outdated files are among them, with a notice."""
    missing: dict[Cell, Job] = {}
    outdated: Counter[str] = Counter()
    reused = 0
    for job in cells_of(store.experiment):
        result = store.find(job.cell)
        if isinstance(result, dict):
            reused += job.cell.learner != PLAN
            continue
        missing[job.cell] = job
        if isinstance(result, str):
            path = store.directory.cell(job.cell)
            path.unlink()
            store.log("damaged", cell=path.name, what=result)
            if result == OTHER:
                outdated[job.cell.learner] += 1
            else:
                watcher.notice(f"{path} {result}; it is run again.")
    anew = {learner.label for learner in store.experiment.learners if learner.unknowable()}
    for learner, count in outdated.items():
        if learner in anew:
            continue
        runs = f"its {count} runs are" if count > 1 else "its run is"
        watcher.notice(f"{learner or 'a plan'} has changed: {runs} run again.")
    if reused and store.extended:
        watcher.notice(f"{reused} of {store.experiment.cells} runs are there already and are kept.")
    return missing


class _Campaign:
    """The cells still to be run, and what is done with each as it finishes."""

    def __init__(
        self, store: Store, watcher: Watcher, pool: Pool, missing: dict[Cell, Job]
    ) -> None:
        self.store, self.watcher, self.pool, self.missing = store, watcher, pool, missing
        self.pace = Pace(missing)
        self.expected: tuple[float | None, float] = None, 0.0  # seconds left, and when that was
        self.told: set[tuple[tuple[str, str, int], str]] = set()
        for cell, entry in logged_cells(store.directory.log):  # what earlier cells took
            if isfinite(entry["seconds"]):
                self.pace.add(cell, entry["seconds"])

    def run(self) -> None:
        self._report(self.watcher.started)
        failures = 0
        try:
            with followed(self.store.directory.root, self._tell_far):
                while self.missing:
                    before = len(self.missing)
                    lost = self._round()
                    if lost is not None:
                        failures = failures + 1 if len(self.missing) == before else 0
                        self._tell_loss(lost, failures)
        except KeyboardInterrupt:
            self.store.log("interrupted", left=len(self.missing))
            raise

    def _round(self) -> Exception | None:
        """Run what is missing; the exception if workers were lost on the way."""
        jobs = list(self.missing.values())
        loads = batches(jobs, self.pace, self.pool.workers, len(jobs))
        with closing(_guarded(self.pool.run(loads))) as results:
            for batch in results:
                if isinstance(batch, Exception):
                    return batch
                for outcome in batch:
                    self._keep(outcome)
        return None

    def _keep(self, outcome: CellOutcome) -> None:
        if outcome.error:
            self.store.log_failure(outcome)
            if not outcome.failure:
                raise _error(outcome, self.store.directory.log)
            self._tell_failure(outcome)
        else:
            self.store.keep(outcome)
            self.pace.add(outcome.cell, outcome.spent["seconds"])
        del self.missing[outcome.cell]
        self.pace.done(outcome.cell)
        self._report(self.watcher.finished)

    def _tell_failure(self, outcome: CellOutcome) -> None:
        """At once, but one like it on the same problem only once."""
        cell = outcome.cell
        if (cell.place, outcome.failure) not in self.told:
            self.told.add((cell.place, outcome.failure))
            self.watcher.failed(cell.learner, cell.problem, cell.horizon, cell.run, outcome.failure)

    def _report(self, tell: Callable[[int, int, float | None], None]) -> None:
        total = self.store.experiment.cells
        self.expected = self.pace.left(self.pool.workers), monotonic()
        tell(total - self.pace.waiting, total, self.expected[0])

    def _tell_far(self, runs: Sequence[Underway]) -> None:
        """How far the runs are; before the first is finished, all are taken to be as fast."""
        left, since = self.expected
        if left is None:
            per_step = sum(run.seconds / run.steps for run in runs) / len(runs)
            todo = self.pace.steps_left() - sum(run.steps for run in runs)
            left, since = per_step * max(todo, 0) / self.pool.workers, monotonic()
        shares = [run.steps / run.horizon for run in runs]
        self.watcher.running(shares, max(0.0, left - (monotonic() - since)))

    def _tell_loss(self, lost: Exception, failures: int) -> None:
        words = first_line(lost)
        self.store.log("workers lost", what=words)
        if failures >= PATIENCE:
            raise workers_lost(
                lost, failures, "; what is finished is kept, and the same command goes on"
            )
        self.watcher.notice(f"a worker was lost ({type(lost).__name__}); its cells are run again.")


def _guarded(
    results: Iterator[list[CellOutcome]],
) -> Generator[list[CellOutcome] | Exception, None, None]:
    """What a pool raises becomes its last item, apart from what is done with the others."""
    try:
        yield from results
    except Exception as error:
        yield error


def _error(outcome: CellOutcome, log: Path) -> RestiveError:
    """For what no learner did: workers of other versions, or a bug here."""
    cell, last = outcome.cell, outcome.error.strip().splitlines()[-1]
    who = "the plan" if cell.learner == PLAN else cell.learner
    return RestiveError(
        f"{who} failed on {cell.problem} (horizon {cell.horizon:,}, run {cell.run}): {last}. "
        f"The traceback is in {log}; what is finished is kept."
    )
