"""Experiment files: problems, learners, horizons, runs and a seed in TOML or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from restive.base.errors import Fault, ProblemError, refusal, refuse
from restive.base.words import guess, shown
from restive.experiments.experiment import Experiment
from restive.experiments.participants import participants_from
from restive.experiments.problems import problems_in_file
from restive.model.files import read_document

FIELDS = ("problems", "learners", "horizons", "runs", "seed", "delta")


def load_experiment(path: str | Path, **changes: Any) -> Experiment:
    """Read an experiment file; ``changes`` take the place of its own fields.

    Paths in it are relative to the file. Raises ProblemError with everything that is wrong.
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
    faults = [
        Fault(key, "no such field", shown(fields[key]), f"{guess(key, FIELDS)}{_KNOWN}")
        for key in fields
        if key not in (*FIELDS, "command")
    ]
    try:
        known["problems"] = problems_in_file(_listed(known.get("problems", [])), folder)
    except ProblemError as error:
        faults += error.faults
        known["problems"] = ()
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


_KNOWN = f"An experiment has {', '.join(FIELDS)}."


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]
