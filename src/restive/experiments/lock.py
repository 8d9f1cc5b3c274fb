"""One process at a time in a directory; the lock goes with the process, even if it is killed."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from restive.errors import Fault, ProblemError

__all__ = ["alone"]


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``, or say who does."""
    with open(path, "a+", encoding="utf-8") as stream:
        if not _taken(stream.fileno()):
            stream.seek(0)
            holder = stream.read().strip() or "another process"
            remedy = "Wait for it, or give another directory."
            message = "another comparison is writing there"
            raise ProblemError([Fault(str(path.parent), message, holder, remedy)])
        stream.truncate(0)
        stream.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        stream.flush()
        try:
            yield
        finally:
            stream.truncate(0)


def _taken(descriptor: int) -> bool:
    """Whether the lock could be taken; the system frees it when the file is closed."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
