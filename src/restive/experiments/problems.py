"""The problems of an experiment: files, bandits, traces, names of the gallery and of suites."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from restive.base.checks import name_faults
from restive.base.errors import Fault, ProblemError, refusal, refuse
from restive.base.reading import read_file
from restive.base.words import guess, shown
from restive.data.files import READERS
from restive.data.fitting import fit
from restive.data.reading import read_traces
from restive.data.replay import trace_world
from restive.data.traces import Traces
from restive.model.bandit import Bandit
from restive.model.files import dump_problem, load_problem
from restive.problems import GALLERY
from restive.problems.lookup import is_path, problems_called
from restive.problems.suites import suite
from restive.simulation.traced import TraceWorld

SOURCES = ("file", "gallery", "suite", "trace")
READING = ("arm", "time", "state", "reward", "piece", "arms", "cut", "labels", "rewards", "tick",
           "break_after")  # fmt: skip
REMEDY = (
    "Give a Bandit, Traces, the path of a problem file or of data, or a name of the gallery or of "
    "a suite."
)

Problems = (
    Mapping[str, Bandit | Traces]
    | Bandit
    | Traces
    | str
    | Path
    | Sequence["Bandit | Traces | str | Path"]
)


@dataclass(frozen=True)
class NamedProblem:
    """A problem under the name it has in this experiment.

    trace: if it is a recorded trace; then the bandit is what was fitted to all of it, which is told
    to learners that are told of the arms.
    """

    name: str
    bandit: Bandit
    sha256: str  # of the file it was read from or would be written to, or of the trace
    trace: TraceWorld | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, name: str, source: Bandit | Traces, data: bytes | None = None) -> NamedProblem:
        """data: of the file that a bandit was read from."""
        if isinstance(source, Bandit):
            written = dump_problem(source).encode() if data is None else data
            return cls(name, source, sha256(written).hexdigest())
        world = trace_world(source)
        digest = sha256(repr(world.states.shape).encode())
        digest.update(np.ascontiguousarray(world.states, dtype="<i8").tobytes())
        digest.update(np.ascontiguousarray(world.rewards, dtype="<f8").tobytes())
        return cls(name, fit(source, name=name).bandit, digest.hexdigest(), world)

    def to_dict(self) -> dict[str, Any]:
        whole = json.loads(dump_problem(self.bandit, "json"))
        content = {"name": self.name, "sha256": self.sha256, "problem": whole}
        if self.trace is None:
            return content
        return content | {"trace": {"sha256": self.sha256, "steps": self.trace.steps}}


def problems_from(source: Any) -> tuple[tuple[NamedProblem, ...], list[Fault]]:
    """Problems as Python gives them, see ``Experiment``; and all their faults."""
    if isinstance(source, Mapping):
        problems, faults = _by_name(source)
        return problems, faults or _check_names(problems)
    single = isinstance(source, Bandit | Traces | NamedProblem | str | Path)
    if not single and not isinstance(source, Iterable):
        return (), [Fault("problems", "not a problem", shown(source), REMEDY)]
    named, faults = _read_each([source] if single else source, _given, numbered=not single)
    # a problem that could not be read is one fault, not also that there are none
    more = _check_names(named) if named or not faults else []
    return named, faults + more


def problems_in_file(
    items: Iterable[Any], folder: Path | None = None
) -> tuple[tuple[NamedProblem, ...], list[Fault]]:
    """Problems from paths, names of the gallery, names of suites, or tables that say which.

    folder: of the experiment file; None for the command line.
    """
    place = folder or Path()
    return _read_each(items, lambda _, item: _problems(item, place), numbered=folder is not None)


def _read_each(
    items: Iterable[Any], read: Callable[[int, Any], list[NamedProblem]], numbered: bool
) -> tuple[tuple[NamedProblem, ...], list[Fault]]:
    named: list[NamedProblem] = []
    faults: list[Fault] = []
    for k, item in enumerate(items):
        try:
            named += read(k, item)
        except ProblemError as error:
            place = f"problems[{k}]" if numbered else ""
            faults += [inside(fault, place) for fault in error.faults]
    return tuple(named), faults


def _by_name(bandits: Mapping[Any, Any]) -> tuple[tuple[NamedProblem, ...], list[Fault]]:
    faults = []
    for name, bandit in bandits.items():
        place = f"problems[{shown(name)}]"
        if not isinstance(name, str):
            faults.append(Fault(place, "not a name", shown(name), "Give a text as its name."))
        if not isinstance(bandit, Bandit | Traces):
            remedy = "Give a Bandit or Traces; restive.load_problem(path) reads one from a file."
            faults.append(Fault(place, "not a problem", shown(bandit), remedy))
    if faults:
        return (), faults
    return tuple(NamedProblem.of(name, given) for name, given in bandits.items()), []


def _given(number: int, item: Any) -> list[NamedProblem]:
    if isinstance(item, NamedProblem):
        return [item]
    if isinstance(item, Bandit | Traces):
        name = "" if isinstance(item, Traces) else item.name
        return [NamedProblem.of(name or f"problem {number + 1}", item)]
    if isinstance(item, str | Path):
        return _word(str(item), Path())
    raise refusal("", "not a problem", shown(item), REMEDY)


def _problems(item: Any, folder: Path) -> list[NamedProblem]:
    if isinstance(item, str):
        return _word(item, folder)
    if not isinstance(item, Mapping) or sum(key in item for key in SOURCES) != 1:
        remedy = "Give a path, or a table with one of file, gallery, suite or trace."
        raise refusal("", "not a problem", shown(item), remedy)
    more = {"gallery": ("parameters",), "trace": READING}
    allowed = (*SOURCES, "name", *(key for own in more if own in item for key in more[own]))
    faults = [
        Fault(key, "no such field", shown(item[key]), f"It may have {', '.join(allowed)}.")
        for key in item
        if key not in allowed
    ]
    source = next(key for key in SOURCES if key in item)
    faults += [
        Fault(key, "not a text", shown(item[key]), "Put it in quotation marks.")
        for key in ("name" if source == "trace" else source, "name")
        if not isinstance(item.get(key, ""), str)
    ]
    refuse(faults)
    name = item.get("name", "")
    if source == "file":
        return [read_problem(folder / item["file"], name)]
    if source == "trace":
        return [_trace(item, folder)]
    if source == "suite":
        return [NamedProblem.of(key, bandit) for key, bandit in suite(item["suite"]).items()]
    return [_gallery(item["gallery"], name, item.get("parameters", {}))]


def _word(word: str, folder: Path) -> list[NamedProblem]:
    """A path if it looks like one or is one, else a name of the gallery or of a suite."""
    if Path(word).suffix.lower() in READERS:
        return [NamedProblem.of(Path(word).stem, read_traces(folder / word))]
    if is_path(word, folder):
        return [read_problem(folder / word)]
    return [NamedProblem.of(name, bandit) for name, bandit in problems_called(word).items()]


def _gallery(entry: str, name: str, parameters: Any) -> NamedProblem:
    if entry not in GALLERY:
        remedy = f"{guess(entry, GALLERY)}The gallery has {', '.join(GALLERY)}."
        raise refusal("gallery", "not in the gallery", shown(entry), remedy)
    known = [parameter.name for parameter in GALLERY[entry].parameters]
    options = parameters if isinstance(parameters, Mapping) else {"": parameters}
    faults = [
        Fault(f"parameters.{key}", f"{entry} has no such parameter", shown(value),
              f"{guess(key, known)}Its parameters are {', '.join(known)}.")
        for key, value in options.items()
        if key not in known
    ]  # fmt: skip
    refuse(faults)
    return NamedProblem.of(name or entry, GALLERY[entry].builder(**options))


def _trace(item: Mapping[str, Any], folder: Path) -> NamedProblem:
    """A table of an experiment file: trace, one path or several, with the options of a reading."""
    paths = item["trace"] if isinstance(item["trace"], list) else [item["trace"]]
    if not paths or not all(isinstance(path, str) for path in paths):
        remedy = "Give the path of a data file, or several in a list."
        raise refusal("trace", "not paths", shown(item["trace"]), remedy)
    reading = {key: value for key, value in item.items() if key in READING}
    traces = read_traces([folder / path for path in paths], **reading)
    return NamedProblem.of(item.get("name") or Path(paths[0]).stem, traces)


def read_problem(path: Path, name: str = "") -> NamedProblem:
    """A problem file under its own name without the suffix, or another one."""
    try:
        bandit = load_problem(path)
        return NamedProblem.of(name or path.stem, bandit, read_file(path))
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
    return name_faults(names, "problems[{}]", "name", remedy)


def stretch_faults(
    problems: Sequence[NamedProblem], horizons: Sequence[int], runs: int
) -> list[Fault]:
    """Traces too short for all runs to play a stretch of their own."""
    faults = []
    for problem in problems:
        steps = None if problem.trace is None else problem.trace.steps
        if steps is not None and max(horizons, default=0) * runs > steps:
            remedy = (
                f"Give horizons of at most {steps // runs:,} steps for {runs} runs, or fewer runs: "
                "each plays a stretch of its own."
            )
            message = f"the trace {problem.name} has {steps:,} steps, too few for {runs} runs"
            faults.append(Fault("horizons", message, str(max(horizons)), remedy))
    return faults
