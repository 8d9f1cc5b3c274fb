"""Snapshots of learners: a dictionary that JSON can hold and named arrays, in one zip file."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime
from enum import Enum
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from restive.base.errors import Fault, ProblemError
from restive.model.bandit import Bandit

__all__ = [
    "Arrays",
    "Snapshot",
    "decode_bandit",
    "decode_label",
    "encode_argument",
    "encode_bandit",
    "encode_label",
    "generator_from",
    "generator_state",
    "pack",
    "plain_label",
    "read_snapshot",
    "unpack",
    "write_snapshot",
]

Arrays = dict[str, NDArray[Any]]
Snapshot = tuple[dict[str, Any], Arrays]

STATE_FILE = "state.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the zip format's first moment: same content, same bytes


def pack(state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """A snapshot as the bytes of a zip file: state.json, and one .npy per array."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        text = json.dumps(state, sort_keys=True, allow_nan=False)
        archive.writestr(zipfile.ZipInfo(STATE_FILE, LONG_AGO), text)
        for name in sorted(arrays):
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", LONG_AGO), entry.getvalue())
    return buffer.getvalue()


def unpack(content: bytes, source: str = "<bytes>") -> Snapshot:
    """The snapshot that ``pack`` made these bytes of."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            state = json.loads(archive.read(STATE_FILE))
            arrays = {
                name.removesuffix(".npy"): np.lib.format.read_array(
                    io.BytesIO(archive.read(name)), allow_pickle=False
                )
                for name in archive.namelist()
                if name != STATE_FILE
            }
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        remedy = "Give a file that a learner's save() wrote."
        raise ProblemError([Fault(source, "not a saved learner", str(error), remedy)]) from None
    return state, arrays


def write_snapshot(path: str | Path, snapshot: Snapshot) -> None:
    """Write under another name first, so that no crash leaves half a file."""
    target = Path(path)
    draft = target.with_name(target.name + ".part")
    draft.write_bytes(pack(*snapshot))
    os.replace(draft, target)


def read_snapshot(path: str | Path) -> Snapshot:
    return unpack(Path(path).read_bytes(), str(path))


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """The generator's whole state, and what it was seeded with, for JSON."""
    found: dict[str, Any] = json.loads(json.dumps(rng.bit_generator.state, default=_listed))
    seeds = rng.bit_generator.seed_seq
    if isinstance(seeds, np.random.SeedSequence):
        origin = {"entropy": seeds.entropy, "spawn_key": list(seeds.spawn_key)}
        found["seed"] = json.loads(json.dumps(origin, default=_listed))
    return found


def generator_from(state: Mapping[str, Any]) -> np.random.Generator:
    """A generator that goes on where the one of ``generator_state`` stood."""
    kind = str(state["bit_generator"])
    known = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")
    if kind not in known:
        remedy = f"Known generators are {', '.join(known)}."
        raise ProblemError([Fault("rng.bit_generator", "unknown generator", kind, remedy)])
    origin = state.get("seed", {})
    seeds = np.random.SeedSequence(origin.get("entropy"), spawn_key=origin.get("spawn_key", ()))
    bits = getattr(np.random, kind)(seeds)
    bits.state = {key: part for key, part in state.items() if key != "seed"}
    return np.random.Generator(bits)


def encode_bandit(bandit: Bandit) -> dict[str, Any]:
    """A bandit for JSON, as problem files hold it."""
    from restive.model.files import dump_problem  # which takes a while to import

    document: dict[str, Any] = json.loads(dump_problem(bandit, "json"))
    return document


def decode_bandit(document: Mapping[str, Any]) -> Bandit:
    """The bandit that ``encode_bandit`` wrote down."""
    from restive.model.schema import bandit_from

    return bandit_from(document, "bandit")


def encode_argument(value: Any) -> Any:
    """A constructor's argument as JSON gives it back: lists for arrays and tuples."""
    if isinstance(value, Bandit):
        return encode_bandit(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [encode_argument(part) for part in value] if isinstance(value, list | tuple) else value


def plain_label(label: Hashable) -> Hashable:
    """NumPy's numbers and strings as Python's own, so that labels survive JSON."""
    if isinstance(label, np.generic):
        own: Hashable = label.item()
        return own
    if label.__hash__ is None:
        remedy = "Give a text, a number or a tuple: a list becomes one by tuple(...)."
        raise ProblemError([Fault("state", "not hashable", repr(label)[:80], remedy)])
    return label


def encode_label(label: Hashable) -> Any:
    """A state's label for JSON: None, texts, numbers, bytes, dates, enums; tuples, frozensets."""
    label = plain_label(label)
    if isinstance(label, float) and not isfinite(label):
        remedy = "Name such states by a text, or do not save the learner."
        raise ProblemError([Fault("state", "a label that cannot be saved", repr(label), remedy)])
    if label is None or isinstance(label, str | int | float):
        return label
    if isinstance(label, tuple):
        return {"tuple": [encode_label(part) for part in label]}
    if isinstance(label, frozenset):
        parts = [encode_label(part) for part in label]
        return {"frozenset": sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))}
    if isinstance(label, bytes):
        return {"bytes": label.hex()}
    if isinstance(label, date):  # a datetime is a date too
        kind = "datetime" if isinstance(label, datetime) else "date"
        return {kind: label.isoformat()}
    if isinstance(label, Enum):
        return _encode_member(label)
    return _refuse_label(label)


def decode_label(code: Any) -> Hashable:
    """The label that ``encode_label`` wrote down."""
    if not isinstance(code, dict):
        label: Hashable = code
        return label
    (kind, content), *_ = code.items()
    if kind not in _DECODERS:
        remedy = "Load it with the version of restive that saved it."
        raise ProblemError([Fault("state", "a label of an unknown kind", str(kind), remedy)])
    return _DECODERS[kind](content)


def _refuse_label(label: Hashable) -> NoReturn:
    remedy = (
        "Use texts, numbers, bytes, dates, members of an enumeration at the top of a module, or "
        "tuples or frozensets of these as states; or do not save the learner."
    )
    raise ProblemError([Fault("state", "a label that cannot be saved", repr(label), remedy)])


def _encode_member(member: Enum) -> Any:
    """Module, class and name; only if they lead back to the member."""
    kind = type(member)
    if _found_again(kind.__module__, kind.__qualname__) is not kind or not member.name:
        remedy = "Define the enumeration at the top of a module, or use names or values as states."
        found = f"{kind.__qualname__}.{member.name}"
        raise ProblemError([Fault("state", "a label that cannot be saved", found, remedy)])
    return {"enum": [kind.__module__, kind.__qualname__, member.name]}


def _decode_member(place: list[str]) -> Hashable:
    """A saved file imports nothing: the enumeration has to be there already."""
    module, path, name = place
    kind = _found_again(module, path)
    if kind is None:
        remedy = f"Import {module} first, the module that defines it."
        raise ProblemError([Fault("state", "a label of an unknown enumeration", path, remedy)])
    if not (isinstance(kind, type) and issubclass(kind, Enum)) or name not in kind.__members__:
        remedy = "Load it where the enumeration is as it was when the learner was saved."
        raise ProblemError([Fault("state", "not an enumeration with this member", name, remedy)])
    return kind.__members__[name]


def _found_again(module: str, path: str) -> Any:
    """What a module that is loaded already has under this name; None if there is nothing."""
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


_DECODERS: dict[str, Callable[[Any], Hashable]] = {
    "tuple": lambda parts: tuple(map(decode_label, parts)),
    "frozenset": lambda parts: frozenset(map(decode_label, parts)),
    "bytes": bytes.fromhex,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "enum": _decode_member,
}


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
