"""Frozen records of arrays, as named arrays of a snapshot and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from restive.learners.storage import Arrays, SavedArrays

Record = TypeVar("Record")


def arrays_of(record: Any, prefix: str = "") -> Arrays:
    """Copies of a dataclass's arrays, and of those in its tuples; None is left out."""
    arrays: Arrays = {}
    for field in fields(record):
        content, name = getattr(record, field.name), prefix + field.name
        if isinstance(content, tuple):
            arrays |= {f"{name}_{i}": part.copy() for i, part in enumerate(content)}
        elif content is not None:
            arrays[name] = content.copy()
    return arrays


def record_from(kind: type[Record], arrays: SavedArrays, prefix: str = "") -> Record:
    """The record that ``arrays_of`` took apart."""
    parts: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        name = prefix + field.name
        numbered = [f"{name}_{i}" for i in range(len(arrays)) if f"{name}_{i}" in arrays]
        if numbered:
            parts[field.name] = tuple(arrays[part].copy() for part in numbered)
        elif name in arrays:
            parts[field.name] = arrays[name].copy()
    return kind(**parts)
