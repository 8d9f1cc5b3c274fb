"""An experiment's directory: one file for each finished cell, a log, and what they belong to."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from restive.base.documents import canonical_json, read_json
from restive.base.errors import Fault, refusal, refuse
from restive.base.reading import read_file
from restive.base.words import shown
from restive.experiments.cells import PLAN, SOURCES, Cell, CellOutcome, Job, versions
from restive.experiments.directory import (
    FORMAT,
    Directory,
    alone,
    read_cell,
    read_description,
    write_cell,
    write_whole,
    writing,
)

if TYPE_CHECKING:
    from restive.experiments.experiment import Experiment

CHANGED = "the Python files of restive have changed since, and with them perhaps the results"
LONGEST_LOG = 1_000_000_000  # bytes; a line has about 200
OURS = {"experiment.json", "log.jsonl", ".lock", "curves.csv", "summary.json", "cells", "plans"}


class Store:
    """The directory of an experiment, held by this process alone while it is open."""

    def __init__(self, directory: Path, experiment: Experiment) -> None:
        self.directory = Directory(directory, [problem.name for problem in experiment.problems])
        self.experiment = experiment
        self._description = described(experiment)  # once: a global may change while it runs
        self._keys = CellKeys(self._description)
        self.extended = False  # beyond what the directory held when it was taken

    @contextmanager
    def held(self) -> Iterator[None]:
        """Take the directory, make it this experiment's, and give it back in the end."""
        root = self.directory.root
        _check_folder(root)
        with writing(root):
            root.mkdir(parents=True, exist_ok=True)
        with alone(self.directory.lock):
            self._claim()
            for draft in list(self.directory.drafts()):
                with writing(draft):
                    draft.unlink(missing_ok=True)
            yield

    def _claim(self) -> None:
        description = self._description
        present = read_description(self.directory.root)
        if present is not None:
            check_extension(present, description, self.directory.root)
            self.extended = present != description
        if present != description:
            write_whole(self.directory.experiment, canonical_json(description))

    def find(self, cell: Cell) -> dict[str, Any] | str | None:
        """The result of a cell; None if it is missing, words if its file is damaged."""
        return read_cell(self.directory.cell(cell), self._keys.of(cell), cell)

    def keep(self, outcome: CellOutcome) -> None:
        """Log a finished cell, then keep its result: in this order no cell lacks its time."""
        cell = outcome.cell
        self.log("cell", cell=list(cell), **outcome.spent)
        write_cell(self.directory.cell(cell), self._keys.of(cell), cell, outcome.result)

    def log_failure(self, outcome: CellOutcome) -> None:
        """Log what a cell raised; it stays missing, so that it is tried again."""
        error = outcome.failure or outcome.error.strip().splitlines()[-1]
        self.log("failed", cell=list(outcome.cell), error=error, traceback=outcome.error)

    def log(self, event: str, **facts: Any) -> None:
        """Append a line to the log, even after a line that a killed process left unfinished."""
        entry = {"event": event, "at": datetime.now(UTC).isoformat(timespec="seconds"), **facts}
        with writing(self.directory.log), open(self.directory.log, "ab+") as stream:
            if stream.tell() and not _ends_line(stream):
                stream.write(b"\n")
            stream.write(json.dumps(entry).encode() + b"\n")

    def log_start(self, **facts: Any) -> None:
        machine = {
            "host": platform.node(),
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        }
        self.log("start", command=self.experiment.command, machine=machine, **facts)

    def forget_derived(self) -> None:
        """Remove what was computed from cells of which there will now be more."""
        for path in (self.directory.curves, self.directory.summary):
            with writing(path):
                path.unlink(missing_ok=True)


def described(experiment: Experiment) -> dict[str, Any]:
    """What experiment.json holds."""
    return {"format": FORMAT, **experiment.to_dict(), "versions": versions()}


def cells_of(experiment: Experiment) -> Iterator[Job]:
    """All jobs: for each problem its plan, then run after run of all learners."""
    seed, delta, software = experiment.seed, experiment.delta, versions()
    for problem in experiment.problems:
        plan = Cell(problem.name, PLAN, 0, 0)
        yield Job(plan, problem.bandit, None, seed, delta, software, problem.trace)
        for horizon in experiment.horizons:
            for run in range(experiment.runs):
                for participant in experiment.learners:
                    cell = Cell(problem.name, participant.label, horizon, run)
                    yield Job(
                        cell, problem.bandit, participant, seed, delta, software, problem.trace
                    )


class CellKeys:
    """Hash of everything a cell's result follows from, by cell."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        shared = [description["seed"], description["delta"], description["versions"]]
        self._shared = canonical_json(shared)
        self._problems = {
            p["name"]: canonical_json(p["problem"])
            + (canonical_json(p["trace"]) if "trace" in p else b"")
            for p in description["problems"]
        }
        self._learners = {e["label"]: canonical_json(e) for e in description["learners"]}

    def of(self, cell: Cell) -> str:
        parts = (self._shared, self._problems[cell.problem], self._learners.get(cell.learner, b""))
        return sha256(b"\0".join(parts) + repr(tuple(cell)).encode()).hexdigest()


def check_extension(present: Mapping[str, Any], new: Mapping[str, Any], root: Path) -> None:
    """Refuse an experiment that does not hold all of the one in the directory.

    It may have more runs, horizons and learners, further problems after those that are there, and
    a learner of the user's own may have changed: its runs are then run again.
    """
    remedy = "Give another directory with --out, or go back to what it was."
    faults = []
    if new["runs"] < present["runs"]:
        message = f"fewer than the {present['runs']} runs in {root}"
        faults.append(Fault("runs", message, str(new["runs"]), remedy))
    for path, old, value in _conflicts(present, new):
        message = f"differs from the experiment in {root}, which has {shown(old)}"
        if path == f"versions.{SOURCES}":
            message = f"{CHANGED}; {root} was made with those of hash {shown(old)}"
        faults.append(Fault(path, message, shown(value), remedy))
    refuse(faults)


def _conflicts(
    present: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Places where the new experiment contradicts the present one or leaves a part of it out."""
    for key in sorted(new.keys() - {"runs", "problems", "learners", "horizons"}):
        yield from _differences(key, present.get(key), new[key])
    count = len(present["problems"])  # folders are numbered, so problems keep their places
    yield from _differences("problems", present["problems"], new["problems"][:count])
    if missing := [h for h in present["horizons"] if h not in new["horizons"]]:
        yield "horizons", missing, new["horizons"]
    labels = {learner["label"]: learner for learner in new["learners"]}
    for learner in present["learners"]:
        label = learner["label"]
        if label not in labels:
            yield "learners", label, list(labels)
        else:
            before, after = ({**fields, "sha256": ""} for fields in (learner, labels[label]))
            yield from _differences(f"learners.{label}", before, after)


def _differences(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Places where two values differ."""
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        if "problem" in new and old.get("name") == new.get("name"):
            yield from _changes(f"{path} ({new['name']})", old, new)
            return
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(f"{path}.{key}", old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differences(f"{path}[{k}]", before, after)
    else:
        yield path, _brief(old), _brief(new)


def _changes(
    path: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """The first places where a problem has changed; comments in its file do not count."""
    yield from islice(_differences(path, old["problem"], new["problem"]), 3)
    if "trace" in old or "trace" in new:
        records = [problem.get("trace", {}).get("sha256", "none")[:12] for problem in (old, new)]
        if records[0] != records[1]:
            yield f"{path}.trace", f"a record of hash {records[0]}", records[1]


def _brief(value: Any) -> Any:
    """Problems and learners by their names."""
    if isinstance(value, list):
        return [_brief(entry) for entry in value]
    if isinstance(value, Mapping):
        return value.get("label") or value.get("name") or value
    return value


def _check_folder(root: Path) -> None:
    """Refuse to fill a folder that holds something else."""
    if root.exists() and not root.is_dir():
        raise refusal(str(root), "this is a file", "", "Give the path of a directory.")
    others = [] if not root.exists() else sorted({p.name for p in root.iterdir()} - OURS)
    if others and not (root / "experiment.json").exists():
        remedy = "Give a new directory, or an empty one."
        raise refusal(str(root), "holds other files", others[0], remedy)


def log_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Lines of a log; those that a killed process left unfinished are passed over."""
    try:
        content = read_file(path, LONGEST_LOG)
    except FileNotFoundError:
        return
    for line in content.splitlines():
        try:
            entry = read_json(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def logged_cells(path: Path) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Finished cells in a log with what they took, the last time last."""
    for entry in log_lines(path):
        cell = _logged(entry)
        if cell is not None and entry.get("event") == "cell":
            times = {key: _seconds(entry.get(key)) for key in ("seconds", "planning_seconds")}
            yield cell, {"host": str(entry.get("host") or ""), **times}


def logged_failures(path: Path) -> dict[Cell, str]:
    """What failed cells raised the last time; some may have been run since."""
    return {
        cell: str(entry.get("error", ""))
        for entry in log_lines(path)
        if entry.get("event") == "failed" and (cell := _logged(entry)) is not None
    }


def _logged(entry: Mapping[str, Any]) -> Cell | None:
    """The cell that a line is about; None if it is about none, or not as we write it."""
    parts = entry.get("cell")
    if not isinstance(parts, list) or [type(part) for part in parts] != [str, str, int, int]:
        return None
    return Cell(*parts)


def _seconds(value: Any) -> float:
    """A time from a log; nan for what is none."""
    return float(value) if type(value) in (int, float) and 0 <= value < 1e12 else nan


def _ends_line(stream: Any) -> bool:
    stream.seek(-1, os.SEEK_END)
    return bool(stream.read(1) == b"\n")
