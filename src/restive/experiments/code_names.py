"""What code names: globals, attributes, and the modules that it imports while it runs."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import resolve_name
from types import CodeType
from typing import Any, NamedTuple

GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


class CodeNames(NamedTuple):
    """every: of globals and attributes. imported: modules, and what may be modules within these."""

    globals: set[str]
    every: set[str]
    imported: set[str]


def names_in(code: CodeType, package: str) -> CodeNames:
    """What code and the functions within it name. package: that relative imports start from."""
    named = CodeNames(set(), set(), set())
    for part in _inside(code):
        named.every.update(part.co_names)
        before: tuple[Any, Any] = 0, ()  # how many packages up, and names that are taken from there
        for step in dis.get_instructions(part):
            if step.opname in GLOBAL:
                named.globals.add(step.argval)
            elif step.opname == "IMPORT_NAME":
                named.imported.update(_imported(step.argval, *before, package))
            before = before[1], step.argval
    return named


def _inside(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _inside(constant)


def _imported(module: str, level: Any, names: Any, package: str) -> Iterator[str]:
    """A module, so many packages up, and the names that are taken from there."""
    with suppress(ImportError):
        whole = resolve_name("." * level + module, package)
        yield from (whole, *(f"{whole}.{name}" for name in names or ()))
