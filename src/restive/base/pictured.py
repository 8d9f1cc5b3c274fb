"""Results that can be drawn."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from re import search, sub
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from os import PathLike

LARGEST = 500_000  # letters of a picture that a notebook keeps by itself


class Picture:
    """A drawing that a notebook shows; ``svg`` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture(svg of {len(self.svg):,} letters; a notebook shows it)"


class Pictured:
    """A result with a picture.

    What draws lies above what computes, so it is named here ("module:function") and imported when
    a picture is asked for, matplotlib with it.
    """

    picture: ClassVar[str]

    def plot(self, path: str | PathLike[str] | None = None, **options: Any) -> Picture | None:
        """Draw the result into a file that ends in .svg, .png or .pdf.

        Without a path, return the picture: it shows by itself at the end of a notebook's cell.
        """
        module, _, name = self.picture.partition(":")
        draw = getattr(import_module(module), name)
        if path is not None:
            draw(self, path, **options)
            return None
        with TemporaryDirectory(prefix="restive-") as folder:
            file = Path(folder) / "picture.svg"
            draw(self, file, **options)
            text = file.read_text("utf-8")
        return Picture(text[text.index("<svg") :])

    def picture_html(self) -> str:
        """The picture below a notebook's table; nothing without matplotlib, or if it is large."""
        if find_spec("matplotlib") is None:
            return ""
        with suppress(Exception):  # where nothing can be drawn the table is shown all the same
            if len(self._drawn) <= LARGEST:
                return _fitting(self._drawn)
        return ""

    @cached_property
    def _drawn(self) -> str:
        """The picture's text, drawn once: results do not change, and notebooks show them often."""
        picture = self.plot()
        return "" if picture is None else picture.svg


def _fitting(svg: str) -> str:
    """The drawing as wide as the cell, and never wider than it was made for."""
    head, _, rest = svg.partition(">")
    width = search(r' width="([\d.]+)pt"', head)
    if width is None:
        return svg
    plain = sub(r' (width|height)="[\d.]+pt"', "", head)
    return f'{plain} style="width: 100%; max-width: {width[1]}pt; height: auto">{rest}'
