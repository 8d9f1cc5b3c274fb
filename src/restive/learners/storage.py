"""Snapshots of learners: a dictionary that JSON can hold and named arrays, in one zip file."""

from __future__ import annotations

import io
import json
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime
from enum import Enum
from hashlib import sha256
from math import isfinite, prod
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from restive.base.documents import read_json
from restive.base.errors import TooLargeError, refusal
from restive.base.reading import read_file
from restive.base.words import size_text
from restive.base.writing import write_bytes
from restive.model.bandit import Bandit

Arrays = dict[str, NDArray[Any]]
Snapshot = tuple[dict[str, Any], Arrays]  # as it is taken
SavedState = Mapping[str, Any]  # as it is read
SavedArrays = Mapping[str, NDArray[Any]]

STATE_FILE = "state.json"
CHECKSUM = "sha256"  # the file that holds it
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the zip format's first moment: same content, same bytes
LARGEST = 500_000_000  # bytes of a snapshot, packed or not
MOST_ARRAYS = 1000
KINDS = "biufcSU"  # of array entries: numbers and texts, no objects, no records


def pack(state: SavedState, arrays: SavedArrays) -> bytes:
    """A snapshot as the bytes of a zip file: state.json, one .npy per array, a checksum."""
    entries = {STATE_FILE: json.dumps(state, sort_keys=True, allow_nan=False).encode()}
    for name in sorted(arrays):
        entry = io.BytesIO()
        np.lib.format.write_array(entry, np.ascontiguousarray(arrays[name]), allow_pickle=False)
        entries[f"{name}.npy"] = entry.getvalue()
    if (size := sum(map(len, entries.values()))) > LARGEST:
        words = f"the snapshot takes {size_text(size)}, and files hold {size_text(LARGEST)} at most"
        raise TooLargeError(words)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (entries | {CHECKSUM: _checksum(entries)}).items():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), data)
    return buffer.getvalue()


def unpack(content: bytes, source: str = "<bytes>") -> Snapshot:
    """The snapshot that ``pack`` made these bytes of; ProblemError for any others.

    What the file says about its own sizes and counts is checked before it is acted on.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = _entries(archive)
        if entries.pop(CHECKSUM) != _checksum(entries):
            raise ValueError("it does not match its checksum")
        state = read_json(entries.pop(STATE_FILE))
        if not isinstance(state, dict):
            raise ValueError(f"{STATE_FILE} is not an object")
        arrays = {name.removesuffix(".npy"): _array(data) for name, data in entries.items()}
    except _DAMAGE as error:
        remedy = "Give a file that a learner's save() wrote."
        words = f"no {error} in it" if isinstance(error, KeyError) else str(error)[:200]
        raise refusal(source, "not a saved learner", words, remedy) from None
    return state, arrays


# whatever the readers of zip files and arrays may raise on damaged ones
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError, IndexError,
    NotImplementedError, RuntimeError, OverflowError, SyntaxError, struct.error, OSError,
    MemoryError, tokenize.TokenError,
)  # fmt: skip


def _entries(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """The files of an archive by name, read only if all of them together are of a sane size."""
    listed = archive.infolist()
    names = {entry.filename for entry in listed}
    if len(listed) > MOST_ARRAYS or len(names) < len(listed):
        raise ValueError("too many files in it" if len(names) == len(listed) else "a file twice")
    if sum(entry.file_size for entry in listed) > LARGEST:
        raise ValueError(f"larger than {size_text(LARGEST)}")
    if any(
        entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in listed
    ):
        raise ValueError("an unknown compression")
    return {entry.filename: archive.read(entry) for entry in listed}  # no more than file_size


def _array(data: bytes) -> NDArray[Any]:
    """The array of an .npy file that says of itself nothing that its length denies."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError("an unknown version of .npy")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=10_000)
    rest = len(data) - stream.tell()
    if dtype.kind not in KINDS or fortran or min(shape, default=0) < 0:
        raise ValueError("an array of another kind")
    if dtype.itemsize * prod(shape) != rest:
        raise ValueError("an array that is not as long as it says")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)


def _checksum(entries: Mapping[str, bytes]) -> bytes:
    """Of names, lengths and contents."""
    digest = sha256()
    for name, data in sorted(entries.items()):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest().encode()


def write_snapshot(path: str | Path, snapshot: Snapshot) -> None:
    """Whole or not at all, also if another process saves there or the power fails."""
    write_bytes(path, pack(*snapshot))


def read_snapshot(path: str | Path) -> Snapshot:
    return unpack(read_file(path, LARGEST), str(path))


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """The generator's whole state, and what it was seeded with, for JSON."""
    state: dict[str, Any] = json.loads(json.dumps(rng.bit_generator.state, default=_listed))
    seeds = rng.bit_generator.seed_seq
    if isinstance(seeds, np.random.SeedSequence):
        origin = {"entropy": seeds.entropy, "spawn_key": list(seeds.spawn_key)}
        state["seed"] = json.loads(json.dumps(origin, default=_listed))
    return state


def generator_from(state: Mapping[str, Any]) -> np.random.Generator:
    """A generator that goes on where the one of ``generator_state`` stood."""
    kind = str(state["bit_generator"])
    known = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")
    if kind not in known:
        remedy = f"Known generators are {', '.join(known)}."
        raise refusal("rng.bit_generator", "unknown generator", kind, remedy)
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
        raise refusal("state", "not hashable", repr(label)[:80], remedy)
    return label


def encode_label(label: Hashable) -> Any:
    """A state's label for JSON: None, texts, numbers, bytes, dates, enums; tuples, frozensets."""
    label = plain_label(label)
    if isinstance(label, float) and not isfinite(label):
        remedy = "Name such states by a text, or do not save the learner."
        raise refusal("state", "a label that cannot be saved", repr(label), remedy)
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
        raise refusal("state", "a label of an unknown kind", str(kind), remedy)
    return _DECODERS[kind](content)


def _refuse_label(label: Hashable) -> NoReturn:
    remedy = (
        "Use texts, numbers, bytes, dates, members of an enumeration at the top of a module, or "
        "tuples or frozensets of these as states; or do not save the learner."
    )
    raise refusal("state", "a label that cannot be saved", repr(label), remedy)


def _encode_member(member: Enum) -> Any:
    """Module, class and name; only if they lead back to the member."""
    kind = type(member)
    if _found_again(kind.__module__, kind.__qualname__) is not kind or not member.name:
        remedy = "Define the enumeration at the top of a module, or use names or values as states."
        name = f"{kind.__qualname__}.{member.name}"
        raise refusal("state", "a label that cannot be saved", name, remedy)
    return {"enum": [kind.__module__, kind.__qualname__, member.name]}


def _decode_member(place: list[str]) -> Hashable:
    """A saved file imports nothing: the enumeration has to be there already."""
    module, path, name = place
    kind = _found_again(module, path)
    if kind is None:
        remedy = f"Import {module} first, the module that defines it."
        raise refusal("state", "a label of an unknown enumeration", path, remedy)
    if not (isinstance(kind, type) and issubclass(kind, Enum)) or name not in kind.__members__:
        remedy = "Load it where the enumeration is as it was when the learner was saved."
        raise refusal("state", "not an enumeration with this member", name, remedy)
    return kind.__members__[name]


def _found_again(module: str, path: str) -> Any:
    """What a module that is loaded already has under this name; None if there is nothing."""
    value: Any = sys.modules.get(module)
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


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
