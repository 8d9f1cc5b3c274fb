"""The files of an experiment's directory: where they stand, how cells are kept, who may write."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from pydantic import AfterValidator, BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from restive.base.checks import is_whole
from restive.base.documents import canonical_json, json_hash, read_json
from restive.base.errors import Fault, ProblemError, refusal
from restive.base.reading import read_file
from restive.base.words import shown
from restive.base.writing import DRAFTS, write_bytes
from restive.experiments.cells import LONGEST, MOST_RUNS, PLAN, Cell
from restive.model.structure import path_of
from restive.simulation.scoring import marks

FORMAT = 1  # of experiment.json
OTHER = "belongs to another experiment"  # or to a learner that has changed since


class Directory:
    """Paths of an experiment's files, from its problems and learners alone."""

    def __init__(self, root: Path, problems: Iterable[str]) -> None:
        self.root = root
        self.experiment, self.log = root / "experiment.json", root / "log.jsonl"
        self.curves, self.summary = root / "curves.csv", root / "summary.json"
        self.lock = root / ".lock"
        self._problems = {name: f"{k:02d}-{slug(name)}" for k, name in enumerate(problems)}

    def cell(self, cell: Cell) -> Path:
        folder = self._problems[cell.problem]
        if cell.learner == PLAN:
            return self.root / "plans" / f"{folder}.json"
        name = f"{cell.horizon}-{cell.run}.json"
        return self.root / "cells" / folder / slug(cell.learner) / name

    def drafts(self) -> Iterator[Path]:
        """Files that a killed process left half written."""
        return self.root.rglob(DRAFTS)


def slug(name: str) -> str:
    """A name for a folder on any system, different for different names.

    >>> slug("tied-ucrl"), slug("UCB / 2")
    ('tied-ucrl', 'ucb-2-9d17c710')
    """
    plain = re.sub(r"[^a-z0-9._-]+", "-", name.lower())[:40].strip(".-")
    return plain if plain == name else f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"


def read_description(directory: Path) -> dict[str, Any] | None:
    """The experiment.json of a directory, checked; None if there is none."""
    path = directory / "experiment.json"
    try:
        description = read_json(read_file(path))
        canonical_json(description)  # refuses numbers that JSON does not have
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        description = None
    remedy = "Give another directory; this one cannot be read."
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise refusal(str(path), "not an experiment's description", "", remedy)
    try:
        _Description.model_validate(description)
    except ValidationError as broken:
        raise ProblemError([_fault(path, error, remedy) for error in broken.errors()]) from None
    return description


Name = Annotated[str, Field(pattern=r"\S")]


class _Named(BaseModel, strict=True):
    sha256: str


class _NamedProblem(_Named):
    name: Name
    problem: dict[str, Any]


class _NamedLearner(_Named):
    label: Name
    name: str
    options: dict[str, Any]
    sha256: str = ""  # of the user's own


def _distinct(rows: list[Any]) -> list[Any]:
    """As they are; every row has a name, or label, of its own, and a number is there once."""
    names = [getattr(row, "label", None) or getattr(row, "name", row) for row in rows]
    if len(set(names)) < len(names):
        raise ValueError("there twice")
    return rows


class _Description(BaseModel, strict=True):
    """What readers take from an experiment.json; it may hold more."""

    runs: Annotated[int, Field(ge=1, le=MOST_RUNS)]
    seed: Annotated[int, Field(ge=0, le=2**128)]
    delta: Annotated[float, Field(gt=0, lt=1)]
    horizons: Annotated[
        list[Annotated[int, Field(ge=1, le=LONGEST)]],
        Field(min_length=1),
        AfterValidator(_distinct),
    ]
    versions: dict[str, str]
    problems: Annotated[list[_NamedProblem], Field(min_length=1), AfterValidator(_distinct)]
    learners: Annotated[list[_NamedLearner], Field(min_length=1), AfterValidator(_distinct)]


def _fault(path: Path, error: ErrorDetails, remedy: str) -> Fault:
    words = error["msg"].removeprefix("Value error, ")
    return Fault(f"{path}: {path_of(*error['loc'])}", words, shown(error["input"]), remedy)


def write_cell(path: Path, key: str, cell: Cell, result: Mapping[str, Any]) -> None:
    """Keep a result with a checksum; ``key`` says which inputs it belongs to."""
    body = {"key": key, "cell": list(cell), **result}
    text = json.dumps({**body, "sha256": json_hash(body)}, sort_keys=True, allow_nan=False)
    write_whole(path, text.encode() + b"\n")


def read_cell(path: Path, key: str, cell: Cell) -> dict[str, Any] | str | None:
    """A kept result; None if there is none, and in words what is wrong with it if it is damaged."""
    try:
        result = read_json(read_file(path))
        checksum = result.pop("sha256")
        if checksum != json_hash(result):
            return "does not match its checksum"
        own = canonical_json([result.pop("key"), result.pop("cell")])
        if own != canonical_json([key, list(cell)]):  # in JSON run 2.0 is not run 2
            return OTHER
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "is cut off or not a cell"
    return dict(result) if _sound(cell, result) else "holds what no run comes to"


def _sound(cell: Cell, result: Mapping[str, Any]) -> bool:
    """Whether all that readers take from a cell is there, of the right kind and length."""
    if cell.learner == PLAN:
        numbers = [result.get(key) for key in ("gain", "lower", "upper")]
        return all(n is None for n in numbers) or all(map(_finite, numbers))
    if "refused" in result:
        return isinstance(result["refused"], str)
    count = len(marks(cell.horizon))
    curves = [result.get(key, "missing") for key in ("rewards", "gap_regret")]
    whole = [
        isinstance(curve, list) and len(curve) == count and all(map(_finite, curve))
        for curve in curves
    ]
    episodes = result.get("episodes")
    pulls = result.get("pulls")
    counted = isinstance(pulls, list) and all(is_whole(n, 0, 2**62 - 1) for n in (episodes, *pulls))
    return counted and whole[0] and (whole[1] or curves[1] is None)


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e15


def write_whole(path: Path, content: bytes) -> None:
    """The whole file or none of it; folders are made."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Words for a disk that is full, or a folder that may not be written to."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = (error.strerror or str(error)).lower()
        message = "no room is left there" if full else f"cannot be written: {why}"
        remedy = "Make room" if full else "See that the folder can be written to"
        rest = "what is finished is kept, and the same command goes on from there"
        raise refusal(str(path), message, "", f"{remedy}: {rest}.") from None


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``, or say who does."""
    with _opened(path) as stream:
        if not _taken(stream.fileno()):
            stream.seek(0)
            holder = stream.read(200).decode(errors="replace").strip() or "another process"
            remedy = "Wait for it, or give another directory."
            raise refusal(str(path.parent), "another comparison is writing there", holder, remedy)
        with suppress(OSError):  # on a full disk it is held all the same
            stream.truncate(0)
            stream.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        try:
            yield
        finally:
            with suppress(OSError):
                stream.truncate(0)


def _opened(path: Path) -> BinaryIO:
    try:
        return open(path, "ab+", buffering=0)
    except OSError as error:
        message = f"cannot be written: {(error.strerror or str(error)).lower()}"
        remedy = "See that the folder can be written to, or give another directory."
        raise refusal(str(path), message, "", remedy) from None


def _taken(descriptor: int) -> bool:
    """Whether the lock could be taken; the system frees it when the file is closed."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
