"""A line in a notebook that tells how far long work has come; nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from time import perf_counter
from typing import Any

PATIENCE = 0.5  # seconds of work before which nothing is shown
PAUSE = 0.2  # seconds between two changes of the line

Tell = Callable[[str], None]

_showing: list[bool] = []  # one line at a time: work within work does not tell


@contextmanager
def notebook_line() -> Iterator[Tell | None]:
    """Show what it is told in one line that changes and goes away; None where nobody looks."""
    if _showing or not in_notebook():
        yield None
        return
    line = _Line()
    _showing.append(True)
    try:
        yield line.tell
    finally:
        _showing.clear()
        line.clear()


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which is no terminal and no script."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


class _Line:
    """One display that is written over."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._next = perf_counter() + PATIENCE

    def tell(self, words: str) -> None:
        if perf_counter() < self._next:
            return
        self._next = perf_counter() + PAUSE
        self._show(f"<small>{escape(words)}</small>")

    def clear(self) -> None:
        if self._handle is not None:
            self._show("")

    def _show(self, html: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(html), display_id=True)
        else:
            self._handle.update(HTML(html))
