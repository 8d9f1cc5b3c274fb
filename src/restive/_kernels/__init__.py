"""Compiled loops: arrays in, arrays out. Nothing here knows of bandits, learners or files.

Compiled code is kept in a cache that numba reads by unpickling, so whoever may write there may run
code as its reader. The cache is therefore made for its owner alone; one that belongs to somebody
else, or that others may write to, is not used: kernels then compile in memory.
"""

from __future__ import annotations

import atexit
import os
import stat
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

__all__ = ["announce_compiling", "cache_directory", "njit"]

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_directory() -> Path | None:
    """Where compiled kernels are kept: a per-user cache, so that read-only installs work.

    None where there is no home to keep it in.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
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
    """Of all kernels' sources: numba itself looks at one file only, not at what that calls."""
    digest = sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


_announcements: list[Callable[[], object]] = []


def announce_compiling(say: Callable[[], object]) -> None:
    """Have ``say`` called once, before a kernel is compiled that the cache does not hold."""
    _announcements[:] = [say]


def untrusted(directory: Path | None) -> str:
    """Why a cache may not be used, in words; empty if it may. It is made if it is not there."""
    if directory is None:
        return "there is no home directory to keep them in"
    try:
        for folder in (*reversed(directory.parents), directory):
            folder.mkdir(mode=0o700, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            return f"{directory} cannot be written to"
        if not hasattr(os, "getuid"):  # Windows: a user's own profile is private
            return ""
        places = [directory, *directory.rglob("*")]
        if directory.parent.name == "restive":
            places.append(directory.parent)
        for place in places:
            status = place.lstat()
            if status.st_uid != os.getuid():
                return f"{place} belongs to another user"
            if status.st_mode & OTHERS_WRITE and not stat.S_ISLNK(status.st_mode):
                return f"others may write to {place}"
            if stat.S_ISLNK(status.st_mode):
                return f"{place} is a link"
    except OSError as error:
        return f"{directory}: {(error.strerror or str(error)).lower()}"
    return ""


def _close(directory: Path) -> None:
    """Take from others the right to write that a permissive umask gave them."""
    for place in [directory, *directory.rglob("*")]:
        try:
            mode = place.lstat().st_mode
            if mode & OTHERS_WRITE:
                place.chmod(stat.S_IMODE(mode) & ~OTHERS_WRITE)
        except OSError:
            continue


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
    why = untrusted(directory)
    if why or directory is None:
        print(f"restive: compiled kernels are not kept, since {why}.", file=sys.stderr)
        return False
    config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]
    atexit.register(_close, directory)
    return True


def njit(**options: Any) -> Callable[[Any], Any]:
    """numba's njit; kept in the cache where that may be used."""
    import numba

    return numba.njit(**{**options, "cache": options.get("cache", True) and _configure()})  # type: ignore[no-any-return]
