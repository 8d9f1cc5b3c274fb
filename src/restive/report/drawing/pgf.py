"""A figure as PGF, which a TeX document draws in its own letters; no TeX is needed to write it."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

from restive.base.latex import tex

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEAD = "%% Drawn by restive. In the document: \\usepackage{pgf}, then \\input this file."


def pgf_bytes(figure: Figure) -> bytes:
    """The figure's drawing commands. Words are measured in matplotlib's letters, not TeX's."""
    from matplotlib.backend_bases import FigureCanvasBase
    from matplotlib.text import Text

    FigureCanvasBase(figure)
    figure.draw_without_rendering()  # lays everything out before words become commands
    figure.set_layout_engine("none")
    _fix_marks(figure)
    for words in figure.findobj(Text):
        words.set_text(tex(words.get_text()))
    return _commands(figure).encode()


def _fix_marks(figure: Figure) -> None:
    """Write numbers beside the axes as TeX does; a formatter would write them anew."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            marks = [mark for mark in axis.get_majorticklocs() if low <= mark <= high]
            words = axis.get_major_formatter().format_ticks(marks)
            axis.set_ticks(marks, [tex(word) for word in words])


def _commands(figure: Figure) -> str:
    from matplotlib.backends.backend_mixed import MixedModeRenderer

    stream: Any = StringIO()
    stream.name = ""  # where pictures inside would be put; there are none
    width, height = figure.get_size_inches()
    for line in (HEAD, r"\begingroup%", r"\makeatletter%", r"\begin{pgfpicture}%",
                 rf"\pgfpathrectangle{{\pgfpointorigin}}{{\pgfqpoint{{{width:f}in}}{{{height:f}in}}}}%",
                 r"\pgfusepath{use as bounding box, clip}%"):  # fmt: skip
        stream.write(f"{line}\n")
    mixed: Any = MixedModeRenderer
    figure.draw(mixed(figure, width, height, figure.dpi, _renderer(figure, stream)))
    for line in (r"\end{pgfpicture}", r"\makeatother", r"\endgroup"):
        stream.write(f"{line}%\n")
    return str(stream.getvalue())


def _renderer(figure: Figure, stream: Any) -> Any:
    """Matplotlib's renderer for PGF, which would ask TeX how wide words are."""
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.backends.backend_pgf import RendererPgf

    measures: Any = RendererAgg

    class Renderer(RendererPgf):
        sizes = measures(1, 1, 72)

        def get_text_width_height_descent(
            self, s: str, prop: Any, ismath: Any
        ) -> tuple[float, float, float]:
            scale = self.dpi / 72
            sizes = self.sizes.get_text_width_height_descent(s, prop, False)
            width, height, descent = (size * scale for size in sizes)
            return width, height, descent

    renderer: Any = Renderer
    return renderer(figure, stream)
