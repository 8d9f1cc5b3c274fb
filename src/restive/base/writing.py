"""Files that are whole or not there: the one place where restive writes a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from restive.base.errors import refusal
from restive.base.words import listed

DRAFTS = ".*.draft"  # pattern of the names of files that are being written


@contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft beside ``path`` that takes its place only when everything went well.

    The draft's name is unique, so two processes that write the same path do not meet: the last
    one wins, whole. File and folder are flushed to the disk before and after the renaming, so a
    power cut leaves the old file or the new one. Errors name ``path``, not the draft.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with new_file(Path(folder) / "note.txt") as draft:
    ...         _ = draft.write_text("all of it")
    ...     [file.name for file in Path(folder).iterdir()]
    ['note.txt']
    """
    target = Path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}-{token_hex(4)}.draft")
    try:
        yield draft
        with open(draft, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(draft, target)
        _flush_folder(target.parent)
    except OSError as error:
        if error.strerror is None:
            raise
        raise type(error)(error.errno, error.strerror, str(target)) from None
    finally:
        with suppress(OSError):  # it was renamed, never written, or cannot be removed either
            draft.unlink()


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    with new_file(path) as draft:
        draft.write_bytes(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    write_bytes(path, text.encode())


def checked_target(name: str, path: str | os.PathLike[str], suffixes: Sequence[str]) -> Path:
    """The path, or a fault of the argument ``name`` that says why no such file can be there."""
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        remedy = f"Give a path that ends in {listed(suffixes, 'or')}."
        raise refusal(name, "unknown kind of file", str(target), remedy)
    if target.is_dir():
        raise refusal(name, "this is a folder", str(target), "Give the path of a file in it.")
    if not target.parent.is_dir():
        remedy = f"Create the folder {target.parent} first, or give another path."
        raise refusal(name, "no such folder", str(target), remedy)
    return target


def _flush_folder(folder: Path) -> None:
    """Make the renaming durable; systems that cannot open a folder do without."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
