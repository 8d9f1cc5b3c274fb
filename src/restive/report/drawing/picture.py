"""Pictures in files: the one way in which matplotlib draws for restive.

The same drawing gives the same bytes: the settings are our own, never the user's, and files carry
neither dates nor random names.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

from restive.base.errors import RestiveError
from restive.base.writing import checked_target, write_bytes

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

Draw = Callable[["Figure"], None]

INK = "#222222"
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
    ".pgf": {},
}
# for names that matplotlib's own font cannot write, where one of these is installed
FALLBACKS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "WenQuanYi Zen Hei", "Microsoft YaHei",
    "Hiragino Sans", "PingFang SC", "Arial Unicode MS", "Unifont",
)  # fmt: skip
SETTINGS: Any = {
    "svg.hashsalt": "restive",
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
LONGEST_NAME = 16


def save_picture(path: str | PathLike[str], draw: Draw, **figure: Any) -> None:
    """Let ``draw`` fill a figure and write it to ``path``, whole or not at all.

    path ends in .svg, .pdf, .png or .pgf. figure: what matplotlib's Figure takes, such as figsize.
    """
    target = checked_target("path", path, tuple(METADATA))
    suffix = target.suffix.lower()
    write_bytes(target, pictures(draw, [suffix], **figure)[suffix])


def pictures(
    draw: Draw, suffixes: Iterable[str], settings: Any = None, families: Sequence[str] = (),
    **figure: Any,
) -> dict[str, bytes]:  # fmt: skip
    """The bytes of one drawing as each of these kinds of files.

    families: fonts to write with before those of every picture.
    """
    if find_spec("matplotlib") is None:
        raise RestiveError(
            "drawing needs matplotlib, which is not installed. "
            "Install it with: pip install 'restive[plot]'"
        )
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # not the user's own settings
        matplotlib.rcParams.update(SETTINGS)
        matplotlib.rcParams["font.family"] = [*families, *_families()]
        matplotlib.rcParams.update(settings or {})
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # names in rare scripts
        warnings.filterwarnings("ignore", message="cmr10 font should")  # no numbers in mathtext
        canvas = Figure(**figure)
        draw(canvas)
        if "cmr10" in families:
            _readable(canvas)
        # last, since it makes commands of all words
        ordered = sorted(suffixes, key=lambda suffix: suffix == ".pgf")
        return {suffix: _saved(canvas, suffix) for suffix in ordered}


def _readable(figure: Figure) -> None:
    """Signs for which TeX's font has others in their place are written in the next font."""
    from matplotlib.text import Text

    for words in figure.findobj(Text):
        if isinstance(words, Text) and set(words.get_text()) & set('<>|_"\\{}'):
            words.set_fontfamily(words.get_fontfamily()[1:])


def _saved(figure: Figure, suffix: str) -> bytes:
    if suffix == ".pgf":
        from restive.report.drawing.pgf import pgf_bytes

        return pgf_bytes(figure)
    # it calls the dates of matplotlib's own fonts odd
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    stream = BytesIO()
    resolution = 130 if suffix == ".png" else 200
    figure.savefig(stream, format=suffix[1:], dpi=resolution, metadata=METADATA[suffix])
    return stream.getvalue()


def _families() -> list[str]:
    """Fonts to write with, one after the other until one has the letter."""
    from matplotlib.font_manager import get_font_names

    installed = set(get_font_names())
    return ["DejaVu Sans", *(name for name in FALLBACKS if name in installed)]


def printable(name: str, longest: int = LONGEST_NAME) -> str:
    """A name that fits: one line, nothing unprintable, shortened.

    >>> printable("a very\\nlong name", 8)
    'a very …'
    """
    words = " ".join("".join(c if c.isprintable() else " " for c in name).split()) or "?"
    return words if len(words) <= longest else words[: longest - 1] + "…"
