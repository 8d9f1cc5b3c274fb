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
from typing import Any, BinaryIO

from restive.base.checks import is_whole
from restive.base.documents import canonical_json, json_hash, read_json
from restive.base.errors import Fault, refusal, refuse
from restive.base.reading import read_file
from restive.base.words import shown
from restive.base.writing import DRAFTS, write_bytes
from restive.experiments.cells import LONGEST, MOST_RUNS, PLAN, Cell
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
    faults = [
        Fault(f"{path}: {place}", message, shown(value), remedy)
        for place, message, value in _wrong(description)
    ]
    refuse(faults)
    return description


def _wrong(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Places that no experiment has like this: path, message, value."""
    for key, low, high in (("runs", 1, MOST_RUNS), ("seed", 0, 2**128)):
        if not is_whole(spec.get(key), low, high):
            yield key, f"not a whole number from {low} to {high:,}", spec.get(key)
    delta = spec.get("delta")
    if not isinstance(delta, float) or not 0 < delta < 1:
        yield "delta", "not a probability", delta
    horizons = spec.get("horizons")
    if not isinstance(horizons, list) or not horizons:
        yield "horizons", "not a list of numbers of steps", horizons
    elif wrong := [h for h in horizons if not is_whole(h, 1, LONGEST)]:
        yield "horizons", "not a number of steps", wrong[0]
    elif len(set(horizons)) < len(horizons):
        yield "horizons", "given twice", horizons
    if not _texts(spec.get("versions")):
        yield "versions", "not a table of texts", spec.get("versions")
    yield from _wrong_rows(spec, "problems", "name", ("sha256",), "problem")
    yield from _wrong_rows(spec, "learners", "label", ("name",), "options")


def _wrong_rows(
    spec: Mapping[str, Any], key: str, called: str, texts: tuple[str, ...], table: str
) -> Iterator[tuple[str, str, Any]]:
    """Tables with a name of their own, texts, and one table inside."""
    rows = spec.get(key)
    if not isinstance(rows, list) or not rows:
        yield key, "not a list of tables", rows
        return
    names = set()
    for k, row in enumerate(rows):
        fields = row if isinstance(row, dict) else {}
        if not all(isinstance(fields.get(part), str) for part in (called, *texts)):
            yield f"{key}[{k}]", f"a text is missing: {', '.join((called, *texts))}", row
        elif not isinstance(fields.get(table), dict):
            yield f"{key}[{k}].{table}", "not a table", fields.get(table)
        elif not isinstance(fields.get("sha256", ""), str):
            yield f"{key}[{k}].sha256", "not a text", fields["sha256"]
        elif fields[called] in names or not _printable(fields[called]):
            yield f"{key}[{k}].{called}", "not a name of its own", fields[called]
        else:
            names.add(fields[called])


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _printable(name: str) -> bool:
    """Not blank, and without halves of surrogate pairs, which no file can hold."""
    try:
        return bool(name.encode().strip())
    except UnicodeEncodeError:
        return False


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
