"""Experiment files: problems, learners, horizons, runs and a seed in TOML or JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from restive.errors import Fault, ProblemError
from restive.experiments.entrants import closest
from restive.experiments.spec import Experiment, NamedProblem, inside, read_problem
from restive.file_model import shown
from restive.files import read_document
from restive.problems import GALLERY

__all__ = ["experiment_from", "is_experiment", "load_experiment"]

FIELDS = ("problems", "learners", "horizons", "runs", "seed", "delta")
SOURCES = ("file", "gallery", "suite")


def is_experiment(path: str | Path) -> bool:
    """Whether a file describes an experiment and not a problem; unreadable ones do not."""
    if not str(path).lower().endswith((".toml", ".json")):
        return False
    try:
        found = read_document(path)
    except ProblemError:
        return False
    return isinstance(found, Mapping) and "problems" in found and "arms" not in found


def load_experiment(path: str | Path, **changes: Any) -> Experiment:
    """Read an experiment file; ``changes`` take the place of its own fields.

    Paths in it are relative to the file. Raises ProblemError with everything that is wrong.
    """
    raw = read_document(path)
    if not isinstance(raw, Mapping):
        remedy = "Write problems = [...] and, if you like, learners, horizons, runs and a seed."
        raise ProblemError([Fault(str(path), "not an experiment", shown(raw), remedy)])
    return experiment_from({**raw, **changes}, Path(path).parent)


def experiment_from(fields: Mapping[str, Any], folder: Path | None = None) -> Experiment:
    """The experiment with these fields, or a ProblemError with everything that is wrong.

    folder: where an experiment file lies; None for the command line.
    """
    known = {key: value for key, value in fields.items() if key in FIELDS}
    faults = [
        Fault(key, "no such field", shown(fields[key]), f"{closest(key, FIELDS)}{_KNOWN}")
        for key in fields
        if key not in (*FIELDS, "command")
    ]
    try:
        known["problems"] = named_problems(_listed(known.get("problems", [])), folder)
    except ProblemError as error:
        faults += error.faults
        known["problems"] = ()
    for key in ("horizons", "learners"):
        if key in known:
            known[key] = [_whole(item) for item in _listed(known[key])]
    for key in known.keys() & {"runs", "seed"}:
        known[key] = _whole(known[key])
    try:
        found = Experiment(**known, command=str(fields.get("command", "")))
    except ProblemError as error:
        # a problem that could not be read is one fault, not also that there are none
        faults += [f for f in error.faults if not (faults and f.path == "problems")]
    if faults:
        raise ProblemError(faults)
    return found


_KNOWN = f"An experiment has {', '.join(FIELDS)}."


def named_problems(items: Sequence[Any], folder: Path | None = None) -> list[NamedProblem]:
    """Problems from paths, names of the gallery, names of suites, or tables that say which."""
    found: list[NamedProblem] = []
    faults: list[Fault] = []
    for k, item in enumerate(items):
        try:
            found += _problems(item, folder or Path())
        except ProblemError as error:
            place = "" if folder is None else f"problems[{k}]"
            faults += [inside(fault, place) for fault in error.faults]
    if faults:
        raise ProblemError(faults)
    return found


def _problems(item: Any, folder: Path) -> list[NamedProblem]:
    if isinstance(item, str):
        return _word(item, folder)
    if not isinstance(item, Mapping) or sum(key in item for key in SOURCES) != 1:
        remedy = "Give a path, or a table with one of file, gallery or suite."
        raise ProblemError([Fault("", "not a problem", shown(item), remedy)])
    allowed = (*SOURCES, "name", "parameters") if "gallery" in item else (*SOURCES, "name")
    faults = [
        Fault(key, "no such field", shown(item[key]), f"It may have {', '.join(allowed)}.")
        for key in item
        if key not in allowed
    ]
    source = next(key for key in SOURCES if key in item)
    faults += [
        Fault(key, "not a text", shown(item[key]), "Put it in quotation marks.")
        for key in (source, "name")
        if not isinstance(item.get(key, ""), str)
    ]
    if faults:
        raise ProblemError(faults)
    name = item.get("name", "")
    if source == "file":
        return [read_problem(folder / item["file"], name)]
    if source == "suite":
        return _suite(item["suite"])
    return [_gallery(item["gallery"], name, item.get("parameters", {}))]


def _word(word: str, folder: Path) -> list[NamedProblem]:
    """A path if it looks like one or is one, else a name of the gallery or of a suite."""
    if word.lower().endswith((".toml", ".json")) or (folder / word).exists():
        return [read_problem(folder / word)]
    return [_gallery(word, "", {})] if word in GALLERY else _suite(word)


def _gallery(entry: str, name: str, parameters: Any) -> NamedProblem:
    if entry not in GALLERY:
        remedy = f"{closest(entry, GALLERY)}The gallery has {', '.join(GALLERY)}."
        raise ProblemError([Fault("gallery", "not in the gallery", shown(entry), remedy)])
    known = [one.name for one in GALLERY[entry].parameters]
    given = parameters if isinstance(parameters, Mapping) else {"": parameters}
    faults = [
        Fault(f"parameters.{key}", f"{entry} has no such parameter", shown(value),
              f"{closest(key, known)}Its parameters are {', '.join(known)}.")
        for key, value in given.items()
        if key not in known
    ]  # fmt: skip
    if faults:
        raise ProblemError(faults)
    return NamedProblem.of(name or entry, GALLERY[entry].builder(**given))


def _suite(name: str) -> list[NamedProblem]:
    from restive.suites import suite, suites

    if name not in suites():
        remedy = (
            f"{closest(name, [*GALLERY, *suites()])}Give the path of a .toml or .json file, a "
            f"problem of the gallery ({', '.join(GALLERY)}) or a suite ({', '.join(suites())})."
        )
        raise ProblemError([Fault(name, "no such problem", "", remedy)])
    return [NamedProblem.of(key, bandit) for key, bandit in suite(name).items()]


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _whole(value: Any) -> Any:
    """1e5 as the whole number it is; anything else is left for the check."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
