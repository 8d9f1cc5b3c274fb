"""Files read with care: regular ones only, and never more of them than is expected."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

from restive.base.words import size_text

DOCUMENT = 32_000_000  # bytes of a text that is read whole


def read_file(path: str | os.PathLike[str], limit: int = DOCUMENT) -> bytes:
    """The bytes of a regular file; OSError for anything else, and for more than ``limit`` bytes.

    A pipe or a device may keep its reader waiting or never end, so neither is read.
    """
    name = os.fspath(path)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(name, flags), "rb") as stream:
        kind = os.fstat(stream.fileno()).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "Not a regular file", name)
        return read_stream(stream, limit, name)


def read_stream(stream: BinaryIO, limit: int = DOCUMENT, name: str = "<stdin>") -> bytes:
    """All bytes of a stream; OSError as soon as there are more than ``limit``."""
    data = stream.read(limit + 1)  # whatever size the file claims to have
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"Larger than {size_text(limit)}", name)
    return data
