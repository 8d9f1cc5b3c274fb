"""Whether a learner of the user's own is the one it was: a hash of all that it is made of."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import (
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

ATOMS = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))
DESCRIPTORS = (
    ClassMethodDescriptorType, GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType,
    WrapperDescriptorType,
)  # fmt: skip
GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
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
        kind = type(value)
        if kind in ATOMS:
            self._put(kind.__name__, repr(value))
        elif kind in (tuple, CodeType):
            self._put(kind.__name__)
            self._all(value if kind is tuple else [getattr(value, name) for name in CODE])
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

    def _all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.add(value)
        self._put("end")

    def _object(self, value: Any) -> None:
        kind = type(value)
        if kind is list:
            self._put("list")
            self._all(value)
        elif kind is dict:
            self._put("dict")
            self._all(part for item in value.items() for part in item)
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
        else:
            self._instance(value)

    def _class(self, kind: type) -> None:
        self._put("class", kind.__qualname__)
        self._file(kind.__module__)
        self._all([type(kind), *kind.__bases__])
        own = {name: value for name, value in vars(kind).items() if name not in ADDED}
        self._all(part for name in sorted(own) for part in (name, own[name]))

    def _function(self, function: FunctionType) -> None:
        self._put("function")
        self._file(function.__module__)
        self._all([function.__code__, function.__defaults__, function.__kwdefaults__])
        self._all(_contents(function))
        self.add({k: v for k, v in vars(function).items() if k != "__wrapped__"})
        for name in sorted(set(_globals(function.__code__))):
            if name in function.__globals__:
                self._put("global", name)
                self._named(function.__globals__[name], function.__code__)
        for name in sorted(set(_imports(function))):
            self._put("import", name)
            if name in sys.modules:
                self._named(sys.modules[name], function.__code__)
            else:
                self._unread(name)

    def _named(self, value: Any, code: CodeType) -> None:
        """What code names; of a module of the user's what it may take from there."""
        self.add(value)
        if isinstance(value, ModuleType) and not _installed(value.__name__):
            for name in sorted(_names(code) & vars(value).keys()):
                self._put("attribute", name)
                inner = vars(value)[name]
                if id(inner) not in self._seen:
                    self._named(inner, code)

    def _instance(self, value: Any) -> None:
        for attribute in ("py_func", "__func__", "__wrapped__"):  # of numba, methods, caches
            if isinstance(inner := getattr(value, attribute, None), FunctionType):
                self._put(type(value).__qualname__, attribute)
                self._all([inner, getattr(value, "targetoptions", None)])
                if isinstance(value, MethodType):
                    self.add(value.__self__)
                return
        if isinstance(value, property | cached_property):
            names = ("fget", "fset", "fdel", "func")
            self._put("property")
            self._all(getattr(value, name, None) for name in names)
            return
        if isinstance(value, DESCRIPTORS):
            self._put(type(value).__name__, value.__objclass__.__qualname__, value.__name__)
            return
        self._put("instance")
        self._reduced(value)
        self.add(type(value))

    def _reduced(self, value: Any) -> None:
        """What a copy is made of, as ``copy`` and ``pickle`` ask for it; nothing is pickled."""
        if hasattr(value, "dtype") and hasattr(value, "tobytes") and not value.dtype.hasobject:
            self._put("array", value.dtype.descr, value.shape, sha256(value.tobytes()).hexdigest())
            return
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # a class may raise anything here
            words = f"it holds a {type(value).__name__}, which cannot be hashed"
            raise UnknowableError(words) from None
        if isinstance(parts, str):  # the name of something there is only once
            self._put("single", parts, getattr(value, "__module__", ""))
            return
        make, arguments, state, items, pairs = (*parts, None, None, None)[:5]
        state = _without_caches(value, state)
        self._all([make, arguments, state, list(items or ()), list(pairs or ())])

    def _file(self, module: str | None) -> None:
        """The file of a module; a notebook or a script holds more than the learner."""
        if module and module.partition(".")[0] != "__main__" and not _versioned(module):
            self._bytes(module, getattr(sys.modules.get(module), "__file__", None))

    def _unread(self, module: str) -> None:
        """The file of a module that is imported later, while the learner plays."""
        with suppress(ImportError, ValueError, AttributeError):
            self._bytes(module, getattr(find_spec(module), "origin", None))

    def _bytes(self, module: str, file: str | None) -> None:
        if file is None or module in self._files:
            return
        self._files.add(module)
        with suppress(OSError):
            self._put("file", module, sha256(Path(file).read_bytes()).hexdigest())


def _contents(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            yield "empty"


def _inside(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _inside(constant)


def _globals(code: CodeType) -> Iterator[str]:
    for part in _inside(code):
        for step in dis.get_instructions(part):
            if step.opname in GLOBAL:
                yield step.argval


def _imports(function: FunctionType) -> Iterator[str]:
    """Modules that a function imports, and what may be modules within these."""
    package = function.__globals__.get("__package__") or ""
    for part in _inside(function.__code__):
        before: tuple[Any, Any] = 0, ()  # how many packages up, and names that are taken from there
        for step in dis.get_instructions(part):
            if step.opname == "IMPORT_NAME":
                level, names = before
                dots = "." * level if isinstance(level, int) else ""
                with suppress(ImportError):
                    module = resolve_name(dots + step.argval, package)
                    yield from (module, *(f"{module}.{name}" for name in names or ()))
            before = before[1], step.argval


def _names(code: CodeType) -> set[str]:
    return {name for part in _inside(code) for name in part.co_names}


def _without_caches(value: Any, state: Any) -> Any:
    """The state without what follows from the rest of it."""
    if not isinstance(state, Mapping):
        return state
    kind = type(value)
    return {k: v for k, v in state.items() if not isinstance(_static(kind, k), cached_property)}


def _static(kind: type, name: Any) -> Any:
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def _versioned(module: str) -> bool:
    """Whether it is of Python or of restive."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top == "restive"


def _installed(module: str) -> bool:
    if _versioned(module):
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and not BEYOND.isdisjoint(Path(file).parts)


def _by_name(value: Any) -> bool:
    """Whether it is found under its own name in what is installed, so that the name says it all."""
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str) or not _installed(module):
        return False
    place: Any = sys.modules.get(module)
    for part in path.split("."):
        place = getattr(place, part, None)
    return place is value
