"""What an experiment is: problems, learners, horizons, runs and a seed, checked all at once."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from restive.bandit import Bandit
from restive.errors import Fault, ProblemError
from restive.experiments.entrants import Entrant, entrants_from
from restive.file_model import shown
from restive.files import dump_problem, load_problem

if TYPE_CHECKING:
    from restive.experiments.progress import Watcher
    from restive.experiments.results import Results

__all__ = ["Entrant", "Experiment", "NamedProblem", "canonical", "compare"]

DEFAULT_LEARNERS = ("tied-sampling", "tied-ucrl", "colored-ucrl2", "thompson", "best-arm")
LONGEST = 10**12
MOST_RUNS = 10**6

Problems = Mapping[str, Bandit] | Bandit | str | Path | Sequence["Bandit | str | Path"]


@dataclass(frozen=True)
class NamedProblem:
    """A problem under the name it has in this experiment."""

    name: str
    bandit: Bandit
    sha256: str  # of the file it was read from, or of the file it would be written to

    @classmethod
    def of(cls, name: str, bandit: Bandit, data: bytes | None = None) -> NamedProblem:
        written = dump_problem(bandit).encode() if data is None else data
        return cls(name, bandit, sha256(written).hexdigest())

    def to_dict(self) -> dict[str, Any]:
        whole = json.loads(dump_problem(self.bandit, "json"))
        return {"name": self.name, "sha256": self.sha256, "problem": whole}


@dataclass(frozen=True, init=False)
class Experiment:
    """Learners to compare: each plays each problem, for each horizon, ``runs`` times.

    problems: bandits by name, or bandits and paths of problem files.
    learners: names, or Entrants with options and labels of their own.
    Run r of a problem and horizon shows every learner the same world. Every number follows from
    the seed and from the names in its own cell, so that adding a problem, a learner, a horizon or
    runs changes none that is there.

    >>> from restive.problems import example1
    >>> Experiment({"one": example1()}, ["thompson"], horizons=[1000], runs=3).cells
    3
    """

    problems: tuple[NamedProblem, ...]
    learners: tuple[Entrant, ...]
    horizons: tuple[int, ...]
    runs: int
    seed: int
    delta: float
    command: str = field(default="", compare=False)

    def __init__(
        self,
        problems: Problems | Sequence[NamedProblem],
        learners: Iterable[str | Entrant | Mapping[str, Any]] = DEFAULT_LEARNERS,
        horizons: SupportsIndex | Iterable[SupportsIndex] = 100_000,
        runs: int = 20,
        seed: int = 0,
        delta: float = 0.05,
        command: str = "",
    ) -> None:
        named, faults = _named_problems(problems)
        entrants, more = entrants_from(learners)
        steps, wrong = _horizons(horizons)
        faults += more + wrong + _check_numbers(runs, seed, delta)
        if faults:
            raise ProblemError(faults)
        values = (named, entrants, steps, int(runs), int(seed), float(delta), command)
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)

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
        cluster's address. An interrupt loses the cells under way; the same call goes on.
        """
        from restive.experiments.running import run_experiment

        return run_experiment(self, Path(directory), workers, backend, address, watcher)


def compare(
    problems: Problems,
    directory: str | Path,
    learners: Iterable[str | Entrant | Mapping[str, Any]] = DEFAULT_LEARNERS,
    horizons: SupportsIndex | Iterable[SupportsIndex] = 100_000,
    runs: int = 20,
    seed: int = 0,
    delta: float = 0.05,
    **where: Any,
) -> Results:
    """Let learners play problems and keep every run in ``directory``; see ``Experiment``.

    where: workers, backend, address and watcher, as for ``Experiment.run``.
    """
    return Experiment(problems, learners, horizons, runs, seed, delta).run(directory, **where)


def canonical(value: Any) -> bytes:
    """JSON that is the same for equal values, and readable."""
    return (json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def _named_problems(
    given: Problems | Sequence[NamedProblem],
) -> tuple[tuple[NamedProblem, ...], list[Fault]]:
    if isinstance(given, Mapping):
        pairs = [NamedProblem.of(name, bandit) for name, bandit in given.items()]
        return tuple(pairs), _check_names(pairs)
    single = isinstance(given, Bandit | str | Path)
    items: list[Any] = [given] if single else list(given)  # type: ignore[arg-type]
    named: list[NamedProblem] = []
    faults: list[Fault] = []
    for k, item in enumerate(items):
        try:
            named.append(_named(k, item))
        except ProblemError as error:
            faults += error.faults
    return tuple(named), faults + _check_names(named)


def _named(number: int, item: Any) -> NamedProblem:
    if isinstance(item, NamedProblem):
        return item
    if isinstance(item, Bandit):
        return NamedProblem.of(item.name or f"problem {number + 1}", item)
    if isinstance(item, str | Path):
        return read_problem(Path(item))
    remedy = "Give a Bandit or the path of a problem file."
    raise ProblemError([Fault(f"problems[{number}]", "not a problem", shown(item), remedy)])


def read_problem(path: Path, name: str = "") -> NamedProblem:
    """A problem file under its own name without the suffix, or another one."""
    try:
        bandit = load_problem(path)
        return NamedProblem.of(name or path.stem, bandit, path.read_bytes())
    except ProblemError as error:
        raise ProblemError([inside(fault, str(path)) for fault in error.faults]) from None


def inside(fault: Fault, place: str) -> Fault:
    """The fault with the file or entry it is in before its path, unless the path says so."""
    named = fault.path.startswith(place)
    return fault if named else replace(fault, path=": ".join(filter(None, (place, fault.path))))


def _check_names(problems: Sequence[NamedProblem]) -> list[Fault]:
    if not problems:
        return [Fault("problems", "there are none", "", "Give at least one problem.")]
    names = [problem.name for problem in problems]
    remedy = "Give every problem a name of its own."
    return [
        Fault(f"problems[{k}]", "name used twice" if name else "empty name", shown(name), remedy)
        for k, name in enumerate(names)
        if not name or name in names[:k]
    ]


def _horizons(given: Any) -> tuple[tuple[int, ...], list[Fault]]:
    items = list(given) if isinstance(given, Iterable) else [given]
    remedy = f"Give whole numbers of steps from 1 to {LONGEST:.0e}."
    if not items:
        return (), [Fault("horizons", "there are none", "", remedy)]
    faults, steps = [], []
    for k, item in enumerate(items):
        if not _whole(item, 1, LONGEST):
            faults.append(Fault(f"horizons[{k}]", "not a number of steps", shown(item), remedy))
        elif int(item) in steps:
            faults.append(Fault(f"horizons[{k}]", "given twice", shown(item), "Leave one out."))
        else:
            steps.append(int(item))
    return tuple(steps), faults


def _check_numbers(runs: Any, seed: Any, delta: Any) -> list[Fault]:
    faults = []
    if not _whole(runs, 1, MOST_RUNS):
        remedy = f"Give a whole number from 1 to {MOST_RUNS:,}."
        faults.append(Fault("runs", "not a number of runs", shown(runs), remedy))
    if not _whole(seed, 0, 2**128):
        faults.append(Fault("seed", "not a seed", shown(seed), "Give a whole number from 0 on."))
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 < delta < 1:
        remedy = "Give a probability above 0 and below 1, such as 0.05."
        faults.append(Fault("delta", "not a probability", shown(delta), remedy))
    return faults


def _whole(value: Any, low: int, high: int) -> bool:
    if isinstance(value, bool | str) or not hasattr(value, "__index__"):
        return False
    return low <= operator.index(value) <= high
