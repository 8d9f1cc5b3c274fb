"""Modules with learners of the user's own, in folders that Python itself does not search."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["absolute", "find", "searched", "source_hash"]

Folders = Sequence[str | Path]


def absolute(folders: Folders) -> tuple[str, ...]:
    """The folders without repetitions, the current one if there are none, for any process."""
    found = [str(Path(folder).absolute()) for folder in folders or (Path(),)]
    return tuple(dict.fromkeys(found))


@contextmanager
def searched(folders: Folders) -> Iterator[None]:
    """A while in which Python searches these folders first; afterwards its path is as before."""
    before = list(sys.path)
    sys.path[:0] = map(str, folders)
    try:
        yield
    finally:
        sys.path[:] = before


def find(name: str, folders: Folders) -> Any:
    """The function that "module:function" names."""
    module, _, function = name.partition(":")
    found = _module(module, folders)
    for part in function.split("."):
        found = getattr(found, part)
    return found


def source_hash(name: str, folders: Folders) -> str:
    """Of the file that the module stands in; empty where there is none."""
    file = getattr(_module(name.partition(":")[0], folders), "__file__", None)
    return sha256(Path(file).read_bytes()).hexdigest() if file else ""


def _module(name: str, folders: Folders) -> ModuleType:
    """The module, and not one of the same name from the folder of another experiment."""
    importlib.invalidate_caches()  # the file may be new
    first = name.partition(".")[0]
    known, there = sys.modules.get(first), PathFinder.find_spec(first, list(map(str, folders)))
    file, origin = getattr(known, "__file__", None), there and there.origin
    if file and origin and Path(file).resolve() != Path(origin).resolve():
        for loaded in [one for one in sys.modules if f"{one}.".startswith(f"{first}.")]:
            del sys.modules[loaded]
    with searched(folders):
        return importlib.import_module(name)
