"""What an experiment is: problems, learners, horizons, runs and a seed, checked all at once.

From Python, or from a file in TOML or JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from restive.base.backends import Workplace
from restive.base.checks import is_number, is_whole
from restive.base.described import in_brief
from restive.base.errors import Fault, ProblemError, refusal, refuse
from restive.base.numerals import whole_in
from restive.base.words import guess, shown
from restive.experiments.cells import LONGEST, MOST_CELLS, MOST_RUNS, MOST_STEPS
from restive.experiments.participants import Learners, Participant, participants_from
from restive.experiments.problems import (
    NamedProblem,
    Problems,
    problems_from,
    problems_in_file,
    stretch_faults,
)
from restive.model.files import read_document

if TYPE_CHECKING:
    from restive.experiments.progress import Watcher
    from restive.experiments.results import Results

FIELDS = ("problems", "learners", "horizons", "runs", "seed", "delta")  # of a file
HAS = f"An experiment has {', '.join(FIELDS)}."
WHERE = ("workers", "backend", "address", "watcher")  # of running one
DEFAULT_LEARNERS = ("tied-sampling", "tied-ucrl", "colored-ucrl2", "thompson", "best-arm")

Count = SupportsIndex | float


@dataclass(frozen=True, init=False, repr=False)
class Experiment:
    """Learners to compare: each plays each problem, for each horizon, ``runs`` times.

    problems: bandits by name; or bandits, paths of problem files, names of the gallery and of
    suites, one or several. Traces, or the path of data, are a problem too: run r plays the r-th
    stretch of them.
    learners: names, or Participants with options and labels of their own.
    Run r of a problem and horizon shows every learner the same world. Every number follows from
    the seed and from the names in its own cell, so that adding a problem, a learner, a horizon or
    runs changes none that is there.

    >>> from restive.problems import example1
    >>> Experiment({"one": example1()}, ["thompson"], horizons=[1000], runs=3).cells
    3
    """

    problems: tuple[NamedProblem, ...]
    learners: tuple[Participant, ...]
    horizons: tuple[int, ...]
    runs: int
    seed: int
    delta: float
    command: str = field(default="", compare=False)

    def __init__(
        self,
        problems: Problems | Sequence[NamedProblem],
        learners: Learners = DEFAULT_LEARNERS,
        horizons: Count | str | Iterable[Count | str] = 100_000,
        runs: Count = 20,
        seed: Count = 0,
        delta: float = 0.05,
        command: str = "",
        **unknown: Any,
    ) -> None:
        faults = _unknown_fields(unknown)
        named, wrong_problems = problems_from(problems)
        participants, more = participants_from(learners)
        steps, wrong = _horizons(horizons)
        count, start = whole_number(runs), whole_number(seed)
        faults += wrong_problems + more + wrong + _check_numbers(count, start, delta)
        if not faults:
            faults = stretch_faults(named, steps, int(count))
            faults += _check_size(len(named) * len(participants) * int(count), steps)
        refuse(faults)
        values = (named, participants, steps, int(count), int(start), float(delta), command)
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return in_brief(
            self, problems=[problem.name for problem in self.problems],
            learners=[learner.label for learner in self.learners], horizons=self.horizons,
            runs=self.runs, seed=self.seed,
        )  # fmt: skip

    @property
    def cells(self) -> int:
        """How many runs there are of all learners on all problems."""
        return len(self.problems) * len(self.learners) * len(self.horizons) * self.runs

    def to_dict(self) -> dict[str, Any]:
        """Everything the results follow from, for JSON."""
        return {
            "problems": [problem.to_dict() for problem in self.problems],
            "learners": [learner.to_dict() for learner in self.learners],
            "horizons": list(self.horizons),
            "runs": self.runs,
            "seed": self.seed,
            "delta": self.delta,
        }

    def run(
        self,
        directory: str | Path,
        *,
        workers: int | None = None,
        backend: str = "local",
        address: str = "",
        watcher: Watcher | None = None,
    ) -> Results:
        """Run what is not there yet, keep it in ``directory``, and return the results.

        workers: processes to use; all cores if None. backend: "local", "dask" or "ray", with the
        cluster's address. An interrupt loses the cells under way; the same call continues.
        """
        from restive.experiments.running import run_experiment

        if not isinstance(directory, str | PathLike):
            remedy = 'Give the path of a folder for the results, such as "results".'
            raise refusal("directory", "not a path", shown(directory), remedy)
        return run_experiment(self, Path(directory), Workplace(backend, address, workers), watcher)


def compare(
    problems: Problems,
    directory: str | Path,
    learners: Learners = DEFAULT_LEARNERS,
    horizons: Count | str | Iterable[Count | str] = 100_000,
    runs: Count = 20,
    seed: Count = 0,
    delta: float = 0.05,
    **where: Any,
) -> Results:
    """Let learners play problems and keep every run in ``directory``; see ``Experiment``.

    where: workers, backend, address and watcher, as for ``Experiment.run``.
    """
    unknown = {key: where.pop(key) for key in list(where) if key not in WHERE}
    experiment = Experiment(problems, learners, horizons, runs, seed, delta, **unknown)
    return experiment.run(directory, **where)


def load_experiment(path: str | Path, **changes: Any) -> Experiment:
    """Read an experiment file; ``changes`` take the place of its own fields.

    Paths in it are relative to the file. Raises ProblemError with everything that is wrong. The
    result is run, or taken up again, by ``run(directory)``, as ``restive compare`` does.
    """
    raw = read_document(path)
    if not isinstance(raw, Mapping):
        remedy = "Write problems = [...] and, if you like, learners, horizons, runs and a seed."
        raise refusal(str(path), "not an experiment", shown(raw), remedy)
    return experiment_from({**raw, **changes}, Path(path).parent)


def experiment_in(path: str | Path) -> Mapping[str, Any] | None:
    """The fields of an experiment file; None for problem files, names, and what is unreadable."""
    if not str(path).lower().endswith((".toml", ".json")):
        return None
    try:
        raw = read_document(path)
    except ProblemError:
        return None  # the reader of problem files says what is wrong with it
    describes = isinstance(raw, Mapping) and "problems" in raw and "arms" not in raw
    return raw if describes else None


def experiment_from(fields: Mapping[str, Any], folder: Path | None = None) -> Experiment:
    """The experiment with these fields, or a ProblemError with everything that is wrong.

    folder: where an experiment file lies; None for the command line.
    """
    known = {key: value for key, value in fields.items() if key in FIELDS}
    rest = {key: value for key, value in fields.items() if key not in (*FIELDS, "command")}
    faults = _unknown_fields(rest)
    items = known.get("problems", [])
    named, wrong = problems_in_file(items if isinstance(items, list | tuple) else [items], folder)
    faults += wrong
    known["problems"] = () if wrong else named
    if "learners" in known:
        participants, wrong = participants_from(known.pop("learners"), folder)
        faults += wrong
        known |= {} if wrong else {"learners": participants}
    try:
        experiment = Experiment(**known, command=str(fields.get("command", "")))
    except ProblemError as error:
        # a problem that could not be read is one fault, not also that there are none
        faults += [f for f in error.faults if not (faults and f.path == "problems")]
    refuse(faults)
    return experiment


def _unknown_fields(fields: Mapping[str, Any]) -> list[Fault]:
    remedies = {key: f"{guess(key, FIELDS)}{HAS}" for key in fields}
    if "rng" in fields:  # the word for randomness wherever no file keeps it
        remedies["rng"] = (
            "Write seed: a whole number, from which the random numbers of every run follow."
        )
    return [
        Fault(key, "no such field", shown(value), remedies[key]) for key, value in fields.items()
    ]


def _horizons(entries: Any) -> tuple[tuple[int, ...], list[Fault]]:
    several = isinstance(entries, Iterable) and not isinstance(entries, str)
    items = [read_steps(item) for item in (entries if several else [entries])]
    remedy = "Give whole numbers of steps from 1 to 1e12, such as 1e5."
    if not items:
        return (), [Fault("horizons", "there are none", "", remedy)]
    faults, steps = [], []
    for k, item in enumerate(items):
        if not is_whole(item, 1, LONGEST):
            faults.append(Fault(f"horizons[{k}]", "not a number of steps", shown(item), remedy))
        elif int(item) in steps:
            faults.append(Fault(f"horizons[{k}]", "given twice", shown(item), "Leave one out."))
        else:
            steps.append(int(item))
    return tuple(steps), faults


def _check_size(pairs: int, horizons: Sequence[int]) -> list[Fault]:
    """Refuse what would never end or not fit; pairs: runs of each horizon."""
    faults = []
    if pairs * len(horizons) > MOST_CELLS:
        remedy = f"Compare at most {MOST_CELLS:,}: fewer runs, learners, problems or horizons."
        total = f"{pairs * len(horizons):,} runs altogether"
        faults.append(Fault("runs", "too many to keep", total, remedy))
    if pairs * sum(horizons) > MOST_STEPS:
        remedy = f"Compare at most {MOST_STEPS:.0e}: shorter runs, or fewer of them."
        total = f"{pairs * sum(horizons):.1e} steps altogether"
        message = "too long: even the quickest learner would take years"
        faults.append(Fault("horizons", message, total, remedy))
    return faults


def _check_numbers(runs: Any, seed: Any, delta: Any) -> list[Fault]:
    faults = []
    if not is_whole(runs, 1, MOST_RUNS):
        remedy = f"Give a whole number from 1 to {MOST_RUNS:,}."
        faults.append(Fault("runs", "not a number of runs", shown(runs), remedy))
    if not is_whole(seed, 0, 2**128):
        faults.append(Fault("seed", "not a seed", shown(seed), "Give a whole number from 0 on."))
    if not is_number(delta) or not 0 < delta < 1:
        remedy = "Give a probability above 0 and below 1, such as 0.05."
        faults.append(Fault("delta", "not a probability", shown(delta), remedy))
    return faults


def read_steps(value: Any) -> Any:
    """A number of steps, also as the command line takes it: "1000", "1e6"; else the value itself.

    >>> read_steps("1e6"), read_steps(1e3), read_steps("many")
    (1000000, 1000, 'many')
    """
    if not isinstance(value, str):
        return whole_number(value)
    number = whole_in(value, -LONGEST, LONGEST)
    return value if number is None else number


def whole_number(value: Any) -> Any:
    """1e5 as the whole number it is; anything else is left for the check."""
    whole = isinstance(value, Real) and hasattr(value, "is_integer") and value.is_integer()
    return int(value) if whole and not isinstance(value, bool) else value
