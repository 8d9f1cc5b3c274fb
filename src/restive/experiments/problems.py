"""The problems of an experiment: files, bandits, traces, names of the gallery and of suites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from restive.base.errors import Fault, ProblemError, refusal, refuse
from restive.base.reading import read_file
from restive.base.words import guess, shown
from restive.data.reading import read_traces
from restive.data.traces import Traces
from restive.experiments.named_problem import NamedProblem
from restive.experiments.traces import READING, is_trace, trace_in_file, trace_problem
from restive.model.bandit import Bandit
from restive.model.files import load_problem
from restive.problems import GALLERY
from restive.problems.lookup import is_path, problems_called
from restive.problems.suites import suite

SOURCES = ("file", "gallery", "suite", "trace")

Problems = (
    Mapping[str, Bandit | Traces]
    | Bandit
    | Traces
    | str
    | Path
    | Sequence["Bandit | Traces | str | Path"]
)


def problems_from(source: Any) -> tuple[tuple[NamedProblem, ...], list[Fault]]:
    """Problems as Python gives them, see ``Experiment``; and all their faults."""
    if isinstance(source, Mapping):
        problems, faults = _by_name(source)
        return problems, faults or _check_names(problems)
    single = isinstance(source, Bandit | Traces | NamedProblem | str | Path)
    if not single and not isinstance(source, Iterable):
        return (), [Fault("problems", "not a problem", shown(source), REMEDY)]
    named: list[NamedProblem] = []
    faults = []
    for k, item in enumerate([source] if single else source):
        try:
            named += _given(k, item)
        except ProblemError as error:
            faults += [inside(fault, "" if single else f"problems[{k}]") for fault in error.faults]
    # a problem that could not be read is one fault, not also that there are none
    more = _check_names(named) if named or not faults else []
    return tuple(named), faults + more


REMEDY = (
    "Give a Bandit, Traces, the path of a problem file or of data, or a name of the gallery or of "
    "a suite."
)


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
    return tuple(_called(name, given) for name, given in bandits.items()), []


def _called(name: str, source: Bandit | Traces) -> NamedProblem:
    if isinstance(source, Traces):
        return trace_problem(source, name)
    return NamedProblem.of(name, source)


def _given(number: int, item: Any) -> list[NamedProblem]:
    if isinstance(item, NamedProblem):
        return [item]
    if isinstance(item, Bandit):
        return [NamedProblem.of(item.name or f"problem {number + 1}", item)]
    if isinstance(item, Traces):
        return [trace_problem(item, f"problem {number + 1}")]
    if isinstance(item, Path):
        return _word(str(item), Path())
    if isinstance(item, str):
        return _word(item, Path())
    raise refusal("", "not a problem", shown(item), REMEDY)


def problems_in_file(items: Sequence[Any], folder: Path | None = None) -> list[NamedProblem]:
    """Problems from paths, names of the gallery, names of suites, or tables that say which."""
    problems: list[NamedProblem] = []
    faults: list[Fault] = []
    for k, item in enumerate(items):
        try:
            problems += _problems(item, folder or Path())
        except ProblemError as error:
            place = "" if folder is None else f"problems[{k}]"
            faults += [inside(fault, place) for fault in error.faults]
    refuse(faults)
    return problems


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
        return [trace_in_file(item, folder)]
    if source == "suite":
        return [NamedProblem.of(key, bandit) for key, bandit in suite(item["suite"]).items()]
    return [_gallery(item["gallery"], name, item.get("parameters", {}))]


def _word(word: str, folder: Path) -> list[NamedProblem]:
    """A path if it looks like one or is one, else a name of the gallery or of a suite."""
    if is_trace(word):
        return [trace_problem(read_traces(folder / word), Path(word).stem)]
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
    return [
        Fault(f"problems[{k}]", "blank name" if _blank(name) else "name used twice", shown(name),
              remedy)
        for k, name in enumerate(names)
        if _blank(name) or name in names[:k]
    ]  # fmt: skip


def _blank(name: str) -> bool:
    return not any(c.isprintable() and not c.isspace() for c in name)
