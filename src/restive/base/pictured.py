"""Results that can be drawn."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from os import PathLike


class Pictured:
    """A result with a picture.

    What draws lies above what computes, so it is named here ("module:function") and imported when
    a picture is asked for, matplotlib with it.
    """

    picture: ClassVar[str]

    def plot(self, path: str | PathLike[str], **options: Any) -> None:
        """Draw the result into a file that ends in .svg, .png or .pdf."""
        module, _, name = self.picture.partition(":")
        getattr(import_module(module), name)(self, path, **options)
