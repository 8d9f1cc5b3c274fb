"""From a decoded problem file to its bandit, or to all its faults in the words of its author."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from restive.base.errors import Fault, ProblemError, refusal
from restive.base.words import shown
from restive.model.bandit import Arm, Bandit
from restive.model.structure import (
    ArmFile,
    Steps,
    path_of,
    require_sane_size,
    structural_errors,
    translated,
)
from restive.model.units import check_range
from restive.model.validation import MOST_FAULTS, check_pulls, rescaling

MAX_DEPTH = 20  # a problem has six levels; anything far deeper is a mistake or an attack


class RepeatedKeys(dict[str, Any]):
    """A JSON object that remembers which keys it was given more than once."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]


def bandit_from(decoded: Any, source: str) -> Bandit:
    """The bandit that a decoded file describes, or a ProblemError with all its faults."""
    faults: list[Fault] = []
    require_sane_size(decoded)
    raw = _cleaned(decoded, "", 0, faults)
    if not isinstance(raw, dict):
        remedy = 'Start with a JSON object: {"name": ..., "arms": [...]}.'
        raise refusal(source, "not a problem", shown(raw), remedy)
    errors = structural_errors(raw)
    faults += [translated(error) for error in errors]
    entries = raw["arms"] if isinstance(raw.get("arms"), list) else []
    broken: dict[Any, list[Steps]] = {}
    for error in errors:
        broken.setdefault(error["loc"][1:2], []).append(error["loc"][2:])
    units = raw.get("reward_range", [0.0, 1.0])
    if not any(error["loc"][:1] == ("reward_range",) for error in errors):
        faults += check_range(units)[1]
    if faults and any(fault.path.startswith("reward_range") for fault in faults):
        units = [-np.finfo(np.float64).max / 4, np.finfo(np.float64).max / 4]
    arms: list[Arm] = []
    for j, entry in enumerate(entries):
        if isinstance(entry, dict) and len(faults) < MOST_FAULTS:
            arm, own = _arm(entry, broken.get((j,), []), units)
            arms += [arm] if arm else []
            faults += [fault.under(f"arms[{j}]") for fault in own]
    faults += shared_names(entries)
    pulls = raw.get("pulls", 1)
    if entries and not any(error["loc"] == ("pulls",) for error in errors):
        faults += check_pulls(pulls, len(entries))
    if faults:
        raise ProblemError(_in_file_order(_rescaled(faults, entries)))
    return Bandit(arms, raw.get("name", ""), pulls)


def _cleaned(value: Any, path: str, depth: int, faults: list[Fault]) -> Any:
    """The value with None for what no later check could handle, each such place a fault."""
    if isinstance(value, dict) and depth < MAX_DEPTH:
        for key in getattr(value, "repeated", []):
            fault = Fault(path_of(key), "key given more than once", "", "Keep one of them.")
            faults.append(fault.under(path))
        places = {key: Fault(path_of(key), "", "", "").under(path).path for key in value}
        return {
            _printable(key): _cleaned(entry, places[key], depth + 1, faults)
            for key, entry in value.items()
        }
    if isinstance(value, list) and depth < MAX_DEPTH:
        if all(type(v) is float or (type(v) is int and -9 < v < 9) for v in value):
            return value  # long rows are read fast
        return [_cleaned(v, f"{path}[{k}]", depth + 1, faults) for k, v in enumerate(value)]
    if isinstance(value, dict | list):
        faults.append(Fault(path, "nested too deeply", "", "Lists of lists are deep enough."))
    elif isinstance(value, int) and abs(value) >= 2**63:
        faults.append(Fault(path, "a number far too large", shown(value), "Correct it."))
    elif isinstance(value, str) and _printable(value) != value:
        remedy = "Remove the half of a surrogate pair (\\ud800 to \\udfff) in it."
        faults.append(Fault(path, "not Unicode text", json.dumps(value)[:80], remedy))
    else:
        return value
    return None


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _arm(
    entry: dict[str, Any], broken: list[Steps], units: Sequence[float]
) -> tuple[Arm | None, list[Fault]]:
    """The arm, or the faults of the file's ``entry`` beside those of the places ``broken``.

    Stand-ins replace what is missing or broken, so that the rest is still checked.
    """
    size = _size(entry)
    if not size:
        return None, _emptiness(entry)
    known, mended = _mended(entry, broken)
    zero = min(max(0.0, units[0]), units[1])
    stand_ins = {"transitions": np.full((size, size), 1 / size), "rewards": np.full(size, zero)}
    try:
        arm = Arm(**{**stand_ins, **known}, reward_range=units)
    except ProblemError as error:
        keys = {fault: re.split(r"[.\[]", fault.path)[0] for fault in error.faults}
        return None, [
            replace(fault, value=shown(_at(entry, fault.path))) if key in mended else fault
            for fault, key in keys.items()
            if key in known
        ]
    return arm, []


def _size(entry: Any) -> int:
    """States of an arm, from its rows, its rewards or its states; 0 if there are none."""
    if not isinstance(entry, dict):
        return 0
    candidates = [entry.get(key) for key in ("transitions", "rewards", "states")]
    return next((len(rows) for rows in candidates if isinstance(rows, list) and rows), 0)


def _emptiness(entry: dict[str, Any]) -> list[Fault]:
    """Faults of an arm without a single state."""
    return [
        Fault(key, "the list is empty", "[]", f"Fill it: {ArmFile.model_fields[key].description}")
        for key in ("transitions", "rewards")
        if entry.get(key) == []
    ]


def _mended(entry: dict[str, Any], broken: list[Steps]) -> tuple[dict[str, Any], set[str]]:
    """The fields that can be checked, and which of them hold stand-ins for broken places."""
    known = {key: entry[key] for key in ArmFile.model_fields if key in entry}
    mended = set()
    for key in {str(steps[0]) for steps in broken if steps} & known.keys():
        inside = {steps[1] for steps in broken if len(steps) > 1 and steps[0] == key}
        whole = any(steps == (key,) for steps in broken)
        if whole or key not in ("transitions", "rewards", "states"):
            del known[key]  # there is nothing in it to go by
        else:
            values = known[key]
            known[key] = [
                _stand_in(key, value, len(values)) if k in inside else value
                for k, value in enumerate(values)
            ]
            mended.add(key)
    return known, mended


def _stand_in(key: str, value: Any, size: int) -> Any:
    """An entry of the field without a fault of its own, as long as the broken one if it can be."""
    if key == "states":
        return str(value)
    if key == "rewards":
        return 0.0
    length = len(value) if isinstance(value, list) else size
    return [1 / length] * length


def _at(entry: dict[str, Any], path: str) -> Any:
    """What stands in the file at a path such as transitions[0][1]."""
    key, *steps = re.findall(r"\w+", path)
    value = entry[key]
    for step in steps:
        value = value[int(step)]
    return value


def shared_names(entries: list[Any]) -> list[Fault]:
    """Arms that share a name, counting the "arm 2" of an arm without a name."""
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    called = {f"arm {j + 1}": j for j, name in enumerate(names) if not name}
    faults = []
    for j, name in enumerate(names):
        if isinstance(name, str) and name and called.setdefault(name, j) != j:
            message = f"arms[{called[name]}] is called that too"
            remedy = "Give every arm its own name."
            faults.append(Fault(f"arms[{j}].name", message, shown(name), remedy))
    return faults


def _rescaled(faults: Iterable[Fault], entries: list[Any]) -> list[Fault]:
    """The faults, with one and the same map offered for rewards outside [0, 1] in any arm."""
    rewards = {j: _numbers(entry) for j, entry in enumerate(entries)}
    pool = np.array([mean for means in rewards.values() for mean in means])
    result = []
    remedies: dict[str, str] = {}
    for fault in faults:
        place = re.fullmatch(r"arms\[(\d+)\]\.rewards\[\d+\]", fault.path)
        if place and fault.message == "outside [0, 1]":
            if place[1] not in remedies:
                remedies[place[1]] = rescaling(np.array(rewards[int(place[1])]), pool)
            result.append(replace(fault, remedy=remedies[place[1]]))
        else:
            result.append(fault)
    return result


def _numbers(entry: Any) -> list[float]:
    means = entry.get("rewards") if isinstance(entry, dict) else None
    numbers = [m for m in means if type(m) in (int, float)] if isinstance(means, list) else []
    return [float(m) for m in numbers if isfinite(m)]


def _in_file_order(faults: Iterable[Fault]) -> list[Fault]:
    """One fault for each place, the first found, arm by arm."""
    first: dict[str, Fault] = {}
    for fault in faults:
        first.setdefault(fault.path, fault)

    def arm(fault: Fault) -> int:
        prefix = re.match(r"arms\[(\d+)\]", fault.path)
        return int(prefix[1]) if prefix else -1

    return sorted(first.values(), key=arm)
