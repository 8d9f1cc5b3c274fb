"""Packages that offer names of their modules and import these when a name is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str], rooms: Iterable[str] = ()) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package.

    homes: names by the module they are in, separated by blanks. rooms: modules offered themselves.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name in rooms:
            return import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)  # found at once from now on
        return value

    return find
