"""experiment.json: what the files of a directory belong to, and whether it can be that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from restive.base.documents import canonical_json, read_json
from restive.base.errors import Fault, refusal, refuse
from restive.base.reading import read_file
from restive.base.words import shown

FORMAT = 1
LONGEST = 10**12  # steps
MOST_RUNS = 10**6
MOST_CELLS = 10**6  # runs of all learners on all problems; each is a file of about 5 kB
MOST_STEPS = 10**15  # of all runs; a year for the quickest learners on one core


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
        if not _whole(spec.get(key), low, high):
            yield key, f"not a whole number from {low} to {high:,}", spec.get(key)
    delta = spec.get("delta")
    if not isinstance(delta, float) or not 0 < delta < 1:
        yield "delta", "not a probability", delta
    horizons = spec.get("horizons")
    if not isinstance(horizons, list) or not horizons:
        yield "horizons", "not a list of numbers of steps", horizons
    elif wrong := [h for h in horizons if not _whole(h, 1, LONGEST)]:
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


def _whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _printable(name: str) -> bool:
    """Not blank, and without halves of surrogate pairs, which no file can hold."""
    try:
        return bool(name.encode().strip())
    except UnicodeEncodeError:
        return False
