"""Snapshots of learners: a dictionary that JSON can hold and named arrays, in one zip file."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Hashable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restive.errors import Fault, ProblemError

__all__ = [
    "Arrays",
    "Snapshot",
    "decode_label",
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
    """The generator's whole state, for JSON."""
    found: dict[str, Any] = json.loads(json.dumps(rng.bit_generator.state, default=_listed))
    return found


def generator_from(state: Mapping[str, Any]) -> np.random.Generator:
    """A generator that goes on where the one of ``generator_state`` stood."""
    kind = str(state["bit_generator"])
    known = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")
    if kind not in known:
        remedy = f"Known generators are {', '.join(known)}."
        raise ProblemError([Fault("rng.bit_generator", "unknown generator", kind, remedy)])
    bits = getattr(np.random, kind)()
    bits.state = dict(state)
    return np.random.Generator(bits)


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
    """A state's label for JSON: texts, finite numbers, truth values, None, and tuples of these."""
    if isinstance(label, float) and not isfinite(label):
        remedy = "Name such states by a text, or do not save the learner."
        raise ProblemError([Fault("state", "a label that cannot be saved", repr(label), remedy)])
    if label is None or isinstance(label, str | int | float):
        return label
    if isinstance(label, tuple):
        return {"tuple": [encode_label(part) for part in label]}
    remedy = "Use texts, numbers or tuples of them as states, or do not save the learner."
    raise ProblemError([Fault("state", "a label that cannot be saved", repr(label), remedy)])


def decode_label(code: Any) -> Hashable:
    if isinstance(code, dict):
        return tuple(decode_label(part) for part in code["tuple"])
    label: Hashable = code
    return label


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
