"""One process at a time in a directory; the lock goes with the process, even if it is killed."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from restive.base.errors import refusal


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``, or say who does."""
    with _opened(path) as stream:
        if not _taken(stream.fileno()):
            stream.seek(0)
            holder = stream.read(200).decode(errors="replace").strip() or "another process"
            remedy = "Wait for it, or give another directory."
            raise refusal(str(path.parent), "another comparison is writing there", holder, remedy)
        with suppress(OSError):  # on a full disk it is held all the same
            stream.truncate(0)
            stream.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        try:
            yield
        finally:
            with suppress(OSError):
                stream.truncate(0)


def _opened(path: Path) -> BinaryIO:
    try:
        return open(path, "ab+", buffering=0)
    except OSError as error:
        message = f"cannot be written: {(error.strerror or str(error)).lower()}"
        remedy = "See that the folder can be written to, or give another directory."
        raise refusal(str(path), message, "", remedy) from None


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
