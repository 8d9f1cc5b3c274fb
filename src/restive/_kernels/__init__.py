"""Compiled loops: arrays in, arrays out. Nothing here knows of bandits, learners or files."""

from __future__ import annotations

import os
import sys
from hashlib import sha256
from pathlib import Path

__all__ = ["cache_directory", "is_cold"]


def cache_directory() -> Path:
    """Where compiled kernels are kept: a per-user cache, so that read-only installs work."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "restive" / f"numba-{_digest()}"


def _digest() -> str:
    """Of all kernels' sources: numba itself looks at one file only, not at what that calls."""
    found = sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        found.update(file.read_bytes())
    return found.hexdigest()[:12]


def is_cold() -> bool:
    """Whether no kernel has been compiled and kept yet (the first run takes seconds longer)."""
    return not any(cache_directory().glob("**/*.nbi"))


def _configure() -> None:
    from numba import config

    if "NUMBA_CACHE_DIR" not in os.environ:
        config.CACHE_DIR = str(cache_directory())  # type: ignore[attr-defined]


_configure()
