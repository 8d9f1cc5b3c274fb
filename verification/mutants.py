"""Mutants of files: bytes that flip and go, and values that nobody expects where they stand."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from copy import deepcopy
from hashlib import sha256
from typing import Any

import numpy as np

__all__ = ["mutated_bytes", "mutated_document", "mutated_text", "mutated_zip", "signed_cell"]

NASTY: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 2**31, 2**63, -(2**63) - 1, 10**12, 10**30, 10**400, 0.5,
    -0.0, 1.5, 5e-324, 1e308, -1e308, float("nan"), float("inf"), "", " ", "0", "stationary",
    "nan", "\x00", "\x1b[2J", "\u202e", "\ud800", "é" * 300, "../../etc/passwd", "/dev/zero",
    "=1+1", "<script>", "a" * 5000, [], {}, [[]], [1], ["x"], {"": 1}, {"name": 1},
    [[0.5, 0.5], [0.5, 0.5]], [0] * 3000,
]  # fmt: skip
TOKENS = [
    b"nan", b"inf", b"1e308", b"-1", b"0", b"1e999999999", b"9" * 5000, b'""', b'"', b"[", b"]",
    b"{", b"}", b"=", b",", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\x1b[2J",
    b"\n", b"#", b"true", b"null", b"[[arms]]", b"[" * 3000, b"a." * 200, b"0x" + b"f" * 300,
    b"1979-05-27", b"'''", b'"""', b"\\u0000", b"1_0", b"0.1", b"2",
]  # fmt: skip


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """One to three edits anywhere: flips, cuts, repetitions, tokens of the formats."""
    content = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(content) + 1)
        length = rng.choice((1, 1, 2, 8, 64))
        kind = rng.randrange(6)
        if kind == 0 and place < len(content):
            content[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del content[place : place + length]
        elif kind == 2:
            content[place:place] = rng.choice(TOKENS)
        elif kind == 3:
            content[place : place + length] = rng.choice(TOKENS)
        elif kind == 4:
            content[place:place] = content[place : place + length] * rng.choice((1, 2, 50))
        else:
            del content[place if rng.random() < 0.3 else len(content) :]
    return bytes(content)


def mutated_text(data: bytes, rng: random.Random) -> bytes:
    """A number or a word of the text becomes another, or lines change places."""
    if rng.random() < 0.4:
        return mutated_bytes(data, rng)
    if rng.random() < 0.2:
        lines = data.split(b"\n")
        rng.shuffle(lines) if rng.random() < 0.3 else lines.insert(0, rng.choice(lines))
        return b"\n".join(lines)
    tokens = list(re.finditer(rb"[\d.]+|\w+", data))
    token = rng.choice(tokens)
    value = rng.choice(TOKENS) if rng.random() < 0.6 else _plain(rng.choice(NASTY))
    return data[: token.start()] + value + data[token.end() :]


def _plain(value: Any) -> bytes:
    return json.dumps(value).encode()


def mutated_document(document: Any, rng: random.Random) -> Any:
    """One or two values of a JSON document replaced, left out, doubled, nested or added."""
    root = [json.loads(json.dumps(document))]
    for _ in range(rng.randint(1, 2)):
        holder, key = rng.choice(_places(root))
        kind = rng.randrange(6)
        if kind == 0 and len(holder) > 1 and holder is not root:
            del holder[key]
        elif kind == 1 and isinstance(holder, list) and holder is not root:
            holder.insert(key, deepcopy(holder[key]))
        elif kind == 2 and isinstance(holder, dict):
            holder[rng.choice(("name", "x", "", "sha256", "runs"))] = deepcopy(rng.choice(NASTY))
        elif kind == 3:
            for _ in range(rng.choice((1, 2, 30, 300))):
                holder[key] = [holder[key]]
        elif kind == 4 and type(holder[key]) in (int, float) and abs(holder[key]) < 1e300:
            holder[key] = holder[key] * rng.choice((-1, 0.5, 2, 10**6)) + rng.choice((0, 1, 1e-12))
        else:
            holder[key] = deepcopy(rng.choice(NASTY))
    return root[0]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a document as (what holds it, key)."""
    keys = (
        value.keys()
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    )
    places: list[tuple[Any, Any]] = []
    for key in keys:
        places.append((value, key))
        places += _places(value[key])
    return places


def signed_cell(document: Any, rng: random.Random) -> bytes:
    """A mutant of a finished run with the checksum that goes with it."""
    body = mutated_document({k: v for k, v in document.items() if k != "sha256"}, rng)
    if isinstance(body, dict):
        text = json.dumps(body, indent=1, sort_keys=True) + "\n"
        body["sha256"] = sha256(text.encode()).hexdigest()
    return json.dumps(body, sort_keys=True).encode() + b"\n"


def mutated_zip(data: bytes, rng: random.Random) -> bytes:
    """A saved learner with other bytes, or with other content and its right checksum."""
    if rng.random() < 0.5:
        return mutated_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist() if name != "sha256"}
    name = rng.choice(list(entries))
    if name == "state.json" or rng.random() < 0.3:
        state = mutated_document(json.loads(entries["state.json"]), rng)
        entries["state.json"] = json.dumps(state).encode()
    else:
        entries[name] = rng.choice((_other_array, mutated_bytes))(entries[name], rng)
    return _zipped(entries)


def _other_array(data: bytes, rng: random.Random) -> bytes:
    """Another entry, type or shape."""
    array = np.load(io.BytesIO(data), allow_pickle=False).copy()
    changes: list[Callable[[], Any]] = [
        lambda: array.astype(rng.choice((np.float32, np.int8, np.float64, np.int64))),
        lambda: array.reshape(-1)[: rng.randrange(array.size + 1)],
        lambda: np.concatenate([array, array]),
        lambda: array[None],
    ]
    if array.size:
        array.flat[rng.randrange(array.size)] = rng.choice((-1, -2, 0, 1, 7, 10**6, 2**62))
        changes += [lambda: array] * 4
    buffer = io.BytesIO()
    np.save(buffer, rng.choice(changes)(), allow_pickle=False)
    return buffer.getvalue()


def _zipped(entries: dict[str, bytes]) -> bytes:
    digest = sha256()
    for name, content in sorted(entries.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**entries, "sha256": digest.hexdigest().encode()}.items():
            archive.writestr(name, content)
    return buffer.getvalue()
