"""Users' own learners: objects, and modules in folders that are not on the import path."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from restive.base.words import kind_and_line
from restive.experiments.fingerprint import UnknowableError, fingerprint

Folders = Sequence[str | Path]
POSITIONAL = ("bandit", "horizon", "delta", "rng")


def absolute(folders: Folders) -> tuple[str, ...]:
    """The folders without repetitions, the current one if there are none, for any process."""
    return tuple(dict.fromkeys(str(Path(folder).absolute()) for folder in folders or (Path(),)))


@contextmanager
def searched(folders: Folders) -> Iterator[None]:
    """Search these folders first when importing, and restore the import path afterwards."""
    before = list(sys.path)
    sys.path[:0] = map(str, folders)
    try:
        yield
    finally:
        sys.path[:] = before


def can_make(maker: Any) -> bool:
    """Whether it is a class or a function that makes learners, or a learner."""
    return callable(maker) or _is_learner(maker)


def _is_learner(maker: Any) -> bool:
    return not isinstance(maker, type) and hasattr(maker, "ask") and hasattr(maker, "tell")


def name_of(maker: Any) -> str:
    """ "module:name" of a class, a function, or a learner's class."""
    kind = type(maker) if _is_learner(maker) else maker
    name = getattr(kind, "__qualname__", type(kind).__qualname__).rpartition("<locals>.")[2]
    return f"{getattr(kind, '__module__', None) or '__main__'}:{name}"


def call(maker: Any, facts: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """The learner that ``maker`` makes of what it asks for.

    A learner is copied, with the run's own random numbers where it has an ``rng``. What a class or
    function names among its parameters is given by name; one that names anything else without a
    default takes bandit, horizon, delta and rng by position.
    """
    if _is_learner(maker):
        learner = deepcopy(maker)
        if hasattr(learner, "rng"):
            learner.rng = facts["rng"]
        return learner
    parameters = inspect.signature(maker).parameters.values()
    free = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    known = {p.name for p in free if p.name in facts}
    strange = [
        p for p in free if p.default is p.empty and p.name not in facts and p.name not in options
    ]
    if strange or not known:
        return maker(*(facts[name] for name in POSITIONAL), **options)
    return maker(**{name: facts[name] for name in known}, **options)


def find(name: str, folders: Folders) -> Any:
    """What "module:name" names."""
    module, _, path = name.partition(":")
    place: Any = load(module, folders)
    for part in path.split("."):
        place = getattr(place, part)
    return place


def identity(maker: Any, module: str = "") -> str:
    """A hash of all that its learners are made of; raises UnknowableError where there is none.

    module: in which it was found, whose file counts too.
    """
    place = sys.modules.get(module)
    if not _is_learner(maker):
        return fingerprint((place, maker))
    import numpy as np

    try:
        learner = call(maker, {"rng": np.random.default_rng(0)}, {})
    except Exception as error:  # a copy may raise anything
        raise UnknowableError(kind_and_line(error)) from None
    return fingerprint((place, learner))


def load(name: str, folders: Folders) -> ModuleType:
    """The module, and not one of the same name from the folder of another experiment."""
    importlib.invalidate_caches()  # the file may be new
    first = name.partition(".")[0]
    known, there = sys.modules.get(first), PathFinder.find_spec(first, list(map(str, folders)))
    file, origin = getattr(known, "__file__", None), there and there.origin
    if file and origin and Path(file).resolve() != Path(origin).resolve():
        for loaded in [module for module in sys.modules if f"{module}.".startswith(f"{first}.")]:
            del sys.modules[loaded]
    with searched(folders), _held(name):
        return importlib.import_module(name)


@contextmanager
def _held(name: str) -> Iterator[None]:
    """A module neither ends the program by being imported nor prints among its output."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (Exception, KeyboardInterrupt):
        raise
    except SystemExit as error:
        words = f"{name} ends the program when it is imported (exit code {error.code!r})"
        raise ImportError(words) from error
    except BaseException as error:  # of the user's own making
        raise ImportError(f"{type(error).__name__}: {error}") from error
