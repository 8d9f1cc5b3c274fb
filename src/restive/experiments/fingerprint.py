"""Whether a learner of the user's own is the one it was: a hash of all that it is made of."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout, suppress
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from restive.experiments.code_names import names_in

ATOMS = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))
BEYOND = {"site-packages", "dist-packages"}  # folders of what is installed
CODE = (
    "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount",
    "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_exceptiontable", "co_consts",
)  # fmt: skip
# what a class has beside what was written: places, caches, and what its methods say as well
ADDED = {
    "__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__",
    "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__", "_abc_impl",
    "__dataclass_fields__", "__dataclass_params__", "__parameters__", "__orig_bases__",
    "__slotnames__",
}  # fmt: skip


class UnknowableError(Exception):
    """Something in it cannot be hashed, such as an open file; the message says what."""


def fingerprint(value: Any) -> str:
    """A hash of code and data that ``value`` is made of, the same in every process.

    Of functions and classes: their code, defaults, closures, base classes and the globals that
    they name, and so on; with the files of their modules, since code may reach more than it names.
    Of all other objects what a copy would have. What is installed counts by its name and its file,
    Python and restive by name alone: their versions stand elsewhere. Raises UnknowableError.

    >>> fingerprint(lambda n_arms: 1) == fingerprint(lambda n_arms: 2)
    False
    """
    walk = _Walk()
    try:
        walk.add(value)
    except RecursionError:
        raise UnknowableError("it is nested too deeply") from None
    return walk.digest.hexdigest()


class _Walk:
    """Goes through everything that a value refers to, each object once."""

    def __init__(self) -> None:
        self.digest = sha256()
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # ids stay those of living objects
        self._files: set[str] = set()

    def add(self, value: Any) -> None:
        """Plain values by their words, sets in any order, an object seen before by its number."""
        kind = type(value)
        if kind in ATOMS:
            self._put(kind.__name__, repr(value))
        elif kind is tuple:
            self._all("tuple", value)
        elif kind is CodeType:
            self._all("code", (getattr(value, name) for name in CODE))
        elif kind in (set, frozenset):
            self._put(kind.__name__, *sorted(map(fingerprint, value)))
        elif id(value) in self._seen:
            self._put("again", self._seen[id(value)])
        else:
            self._seen[id(value)] = len(self._seen)
            self._kept.append(value)
            self._object(value)

    def _put(self, *words: object) -> None:
        for word in words:
            text = str(word).encode("utf-8", "surrogatepass")
            self.digest.update(b"%d:" % len(text) + text)

    def _all(self, kind: str, parts: Iterable[Any]) -> None:
        self._put(kind)
        for part in parts:
            self.add(part)
        self._put("end")

    def _object(self, value: Any) -> None:
        kind = type(value)
        if kind is list:
            self._all("list", value)
        elif kind is dict:
            self._all("dict", chain.from_iterable(value.items()))
        elif isinstance(value, ModuleType):
            self._put("module", value.__name__)
            self._file(value.__name__)
        elif _by_name(value):
            self._put("name", value.__module__, value.__qualname__)
            self._file(value.__module__)
        elif isinstance(value, type):
            self._class(value)
        elif kind is FunctionType:
            self._function(value)
        elif (inside := _wrapped(value)) is not None:
            self._all(kind.__qualname__, inside)
        elif isinstance(value, property | cached_property):
            names = ("fget", "fset", "fdel", "func")
            self._all("property", (getattr(value, name, None) for name in names))
        elif hasattr(kind, "__get__") and hasattr(value, "__objclass__"):  # of C, or of slots
            self._put(kind.__name__, value.__objclass__.__qualname__, value.__name__)
        else:
            self._all("instance", (*_copied(value), kind))

    def _class(self, kind: type) -> None:
        self._put("class", kind.__qualname__)
        self._file(kind.__module__)
        self._all("bases", [type(kind), *kind.__bases__])
        own = sorted(vars(kind).keys() - ADDED)
        self._all("own", chain.from_iterable((name, vars(kind)[name]) for name in own))

    def _function(self, function: FunctionType) -> None:
        code, known = function.__code__, function.__globals__
        self._file(function.__module__)
        self._all("function", [code, function.__defaults__, function.__kwdefaults__])
        self._all("closure", _contents(function))
        self.add({k: v for k, v in vars(function).items() if k != "__wrapped__"})
        named = names_in(code, known.get("__package__") or "")
        for name in sorted(named.globals & known.keys()):
            self._put("global", name)
            self._reached(known[name], named.every)
        for name in sorted(named.imported):
            self._put("import", name)
            if (module := _users_own(name)) is not None:
                self._reached(module, named.every)
            else:
                self._file(name)

    def _reached(self, value: Any, names: set[str]) -> None:
        """What code names; of a module of the user's what it may take from there."""
        self.add(value)
        if isinstance(value, ModuleType) and not _installed(value.__name__):
            for name in sorted(names & vars(value).keys()):
                self._put("attribute", name)
                inner = vars(value)[name]
                if id(inner) not in self._seen:
                    self._reached(inner, names)

    def _file(self, module: str | None) -> None:
        """The file of a module, once; a notebook or a script holds more than the learner."""
        if not module or module.partition(".")[0] == "__main__" or _versioned(module):
            return
        file = _source(module)
        if file is not None and module not in self._files:
            self._files.add(module)
            with suppress(OSError):
                self._put("file", module, sha256(Path(file).read_bytes()).hexdigest())


def _contents(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            yield "empty"


def _wrapped(value: Any) -> list[Any] | None:
    """What is inside a method, a cache or a function of numba; None if it is none of these."""
    for attribute in ("py_func", "__func__", "__wrapped__"):
        if isinstance(inner := getattr(value, attribute, None), FunctionType):
            owner = value.__self__ if isinstance(value, MethodType) else None
            return [attribute, inner, getattr(value, "targetoptions", None), owner]
    return None


def _copied(value: Any) -> list[Any]:
    """What a copy is made of, as ``copy`` and ``pickle`` ask for it; nothing is pickled."""
    if hasattr(value, "dtype") and hasattr(value, "tobytes") and not value.dtype.hasobject:
        content = sha256(value.tobytes()).hexdigest()
        return ["array", repr(value.dtype.descr), repr(value.shape), content]
    try:
        parts = value.__reduce_ex__(4)
    except Exception:  # a class may raise anything here
        words = f"it holds a {type(value).__name__}, which cannot be hashed"
        raise UnknowableError(words) from None
    if isinstance(parts, str):  # the name of something there is only once
        return ["single", parts, getattr(value, "__module__", "")]
    make, arguments, state, items, pairs = (*parts, None, None, None)[:5]
    return [make, arguments, _without_caches(value, state), list(items or ()), list(pairs or ())]


def _without_caches(value: Any, state: Any) -> Any:
    """The state without what follows from the rest of it."""
    if not isinstance(state, Mapping):
        return state
    classes = [vars(base) for base in type(value).__mro__]
    cached = {
        name for name in state
        if isinstance(next((own[name] for own in classes if name in own), None), cached_property)
    }  # fmt: skip
    return {name: part for name, part in state.items() if name not in cached}


# --- modules -------------------------------------------------------------------------------------


def _versioned(module: str) -> bool:
    """Whether it is of Python or of restive."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top == "restive"


def _source(module: str) -> str | None:
    """The file of a module, which need not be loaded and is not by this; None if there is none."""
    if module in sys.modules:
        return getattr(sys.modules[module], "__file__", None)
    top, *inner = module.split(".")
    with suppress(ImportError, ValueError, AttributeError):
        spec: Any = find_spec(top)
        for part in inner:
            spec = PathFinder.find_spec(f"{spec.name}.{part}", spec.submodule_search_locations)
        return str(spec.origin) if spec.has_location else None
    return None


def _installed(module: str) -> bool:
    if _versioned(module):
        return True
    file = _source(module)
    return file is not None and not BEYOND.isdisjoint(Path(file).parts)


def _users_own(name: str) -> ModuleType | None:
    """A module of the user's that is imported later, while the learner plays: now, so that it
    counts in the same way before and after; None if it is no module, or an installed one."""
    if _installed(name):
        return None
    if name not in sys.modules and _source(name) is not None:
        with suppress(Exception, SystemExit), redirect_stdout(sys.stderr):  # it may do anything
            return import_module(name)
    return sys.modules.get(name)


def _by_name(value: Any) -> bool:
    """Whether it is found under its own name in what is installed, so that the name says it all."""
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str) or not _installed(module):
        return False
    place: Any = sys.modules.get(module)
    for part in path.split("."):
        place = getattr(place, part, None)
    return place is value
