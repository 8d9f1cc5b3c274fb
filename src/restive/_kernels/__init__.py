"""Compiled loops: arrays in, arrays out. Nothing here knows of bandits, learners or files.

Compiled code is kept in a cache that numba reads by unpickling, so whoever may write there may run
code as its reader. The cache is therefore made for its owner alone; one that belongs to somebody
else, or that others may write to or replace, is not used: kernels then compile in memory.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from restive._kernels.hearing import heard

__all__ = ["announce_compiling", "cache_directory", "njit"]

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_directory() -> Path | None:
    """Where compiled kernels are kept: a per-user cache, so that read-only installs work.

    None where there is no home to keep it in.
    """
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given)
    try:
        if sys.platform == "win32":
            root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            root = Path.home() / "Library" / "Caches"
        else:
            root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # no home
        return None
    return root / "restive" / f"numba-{_digest()}"


def _digest() -> str:
    """Of all kernels' sources and numba's version: numba itself looks at one file, not at what that
    calls, and two of its versions would overwrite each other's code.
    """
    from numba import __version__

    digest = sha256(__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


_announcements: list[Callable[[], object]] = []


def announce_compiling(say: Callable[[], object]) -> None:
    """Have ``say`` called once, before a kernel is compiled that the cache does not hold."""
    _announcements[:] = [say]


def untrusted(directory: Path | None) -> str:
    """Why a cache may not be used, in words; empty if it may. It is made if it is not there.

    ``directory`` holds no links, so that nobody can turn one elsewhere once it was looked at.
    """
    if directory is None:
        return "there is no home directory to keep them in"
    try:
        for folder in reversed(directory.parents):
            folder.mkdir(mode=0o700, exist_ok=True)
            if why := _replaceable(folder):
                return why
        directory.mkdir(mode=0o700, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            return f"{directory} cannot be written to"
        places = [directory, *directory.rglob("*")]
        if directory.parent.name == "restive":
            places.append(directory.parent)
        return next(filter(None, map(_not_ours_alone, places)), "")
    except OSError as error:
        return f"{directory}: {(error.strerror or str(error)).lower()}"


def _replaceable(folder: Path) -> str:
    """Why others could put something else in the place of what lies in this folder.

    A group with the number of its user is taken to be that user's own.
    """
    if not hasattr(os, "getuid"):  # Windows: a user's own profile is private
        return ""
    status = folder.stat()
    if status.st_uid not in (0, os.getuid()):
        return f"{folder} belongs to another user"
    others = stat.S_IWOTH if status.st_gid == status.st_uid else OTHERS_WRITE
    if status.st_mode & others and not status.st_mode & stat.S_ISVTX:
        return f"others may write to {folder}"
    return ""


def _not_ours_alone(place: Path) -> str:
    if not hasattr(os, "getuid"):
        return ""
    status = place.lstat()
    if status.st_uid != os.getuid():
        return f"{place} belongs to another user"
    if stat.S_ISLNK(status.st_mode):
        return f"{place} is a link"
    return f"others may write to {place}" if status.st_mode & OTHERS_WRITE else ""


def _close(place: Path) -> None:
    """Take from others the right to write that a permissive umask gave them."""
    with suppress(OSError):
        mode = place.lstat().st_mode
        if mode & OTHERS_WRITE:
            place.chmod(stat.S_IMODE(mode) & ~OTHERS_WRITE)


@cache
def _not_kept(why: str) -> None:
    print(f"restive: compiled kernels are not kept, since {why}.", file=sys.stderr)


def _forgiving(kept: Any) -> None:
    """Let a cache that is damaged, or a disk that is full, cost time but not the run."""
    load, save = kept.load_overload, kept.save_overload

    def load_or_compile(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except Exception:  # half written when the power went: unpickling may raise anything
            with suppress(OSError):
                kept.flush()
            return None

    def save_if_possible(signature: Any, code: Any) -> None:
        try:
            save(signature, code)
        except OSError as error:
            _not_kept(f"{kept.cache_path}: {(error.strerror or str(error)).lower()}")
        for place in Path(kept.cache_path).rglob("*"):
            _close(place)

    _close(Path(kept.cache_path))  # numba made it; it would not be used again if it were left so
    kept.load_overload, kept.save_overload = load_or_compile, save_if_possible


@cache
def _configure() -> bool:
    """Tell numba where to keep compiled code; returns whether it may keep any."""
    from numba import config
    from numba.core import event

    class Announcer(event.Listener):
        def on_start(self, event: object) -> None:
            while _announcements:
                _announcements.pop()()

        def on_end(self, event: object) -> None:
            pass

    event.register("numba:compile", Announcer())
    directory = cache_directory()
    try:
        directory = directory.resolve() if directory else None
        why = untrusted(directory)
    except RuntimeError:
        why = f"links lead in a circle from {directory}"
    if why or directory is None:
        _not_kept(why)
        return False
    directory.chmod(0o700)  # files are born with what the umask allows: nobody else gets at them
    config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]
    return True


def njit(**options: Any) -> Callable[[Any], Any]:
    """numba's njit; kept in the cache where that may be used."""
    import numba

    keep = options.get("cache", True) and _configure()
    compiled = numba.njit(**{**options, "cache": keep})

    def decorate(function: Any) -> Any:
        kernel = compiled(function)
        if keep:
            _forgiving(kernel._cache)
        kernel.compile = _heard_unless_locked(kernel.compile)
        return kernel

    return decorate


def _heard_unless_locked(compile_or_load: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A call of the compiler that an interrupt ends at once, and not somewhere inside of numba.

    It takes seconds in which the thread that calls hears no signal, and numba interrupted may raise
    just any exception.

    Where a function of the user's own is being compiled that calls a kernel, this thread holds the
    compiler's lock, and another thread would wait for it for ever.
    """
    from numba.core.compiler_lock import global_compiler_lock

    def compile_heard(signature: Any) -> Any:
        if global_compiler_lock.is_locked():
            return compile_or_load(signature)
        return heard(lambda: compile_or_load(signature))

    return compile_heard
