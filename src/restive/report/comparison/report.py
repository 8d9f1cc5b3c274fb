"""``write_report``: what a comparison found, as files to read, print, cite and compute with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from restive.base.errors import Fault, refusal, refuse
from restive.base.writing import checked_target

if TYPE_CHECKING:
    from restive.experiments.bands import Bands
    from restive.experiments.summary import Summary

PLOT, NOTHING = ("matplotlib", "plot"), ("", "")
# what each kind of file needs beyond restive itself, and the extra that brings it
FORMATS = {
    "html": NOTHING, "md": NOTHING, "svg": PLOT, "pdf": PLOT, "csv": NOTHING,
    "parquet": ("pyarrow", "parquet"),
}  # fmt: skip


def available() -> tuple[str, ...]:
    """The kinds of files that can be written with what is installed."""
    return tuple(kind for kind, (needs, _) in FORMATS.items() if not needs or find_spec(needs))


def write_report(
    directory: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    formats: Sequence[str] | None = None,
) -> list[Path]:
    """Write the report of a results directory, finished or not; returns the files.

    out: path of the page, DIR/report/report.html by default; all else goes to DIR/report.
    formats: some of html, md, svg, pdf, csv, parquet; by default only html where ``out`` is given,
    and otherwise all that can be written here. Every file appears whole or not at all.
    """
    kinds = _checked(formats, out)
    folder, written = Path(directory) / "report", list[Path]()
    page = folder / "report.html"
    if out is not None:  # before any work is done for it
        page = checked_target("out", out, (".html", ".htm"))
    if not Path(directory).is_dir():
        remedy = "Give the directory that restive compare wrote."
        raise refusal("DIR", "no such directory", str(directory), remedy)
    from restive.experiments import load_results
    from restive.experiments.directory import write_whole
    from restive.experiments.tables import read_statistics

    results = load_results(Path(directory), partial=True)
    summary, bands = read_statistics(results, Path(directory))
    for path, content in _files(bands, summary, kinds, folder, page):
        write_whole(path, content)
        written.append(path)
    return written


def _checked(formats: Sequence[str] | None, out: object) -> tuple[str, ...]:
    if formats is None:
        return available() if out is None else ("html",)
    faults = []
    for kind in formats:
        needs, extra = FORMATS.get(kind, ("", ""))
        if kind not in FORMATS:
            remedy = f"Give some of {', '.join(FORMATS)}, with commas."
            faults.append(Fault("formats", "no such format", kind, remedy))
        elif needs and find_spec(needs) is None:
            remedy = f"Install it with: pip install 'restive[{extra}]'"
            faults.append(Fault("formats", f"needs {needs}, which is not installed", kind, remedy))
    if not formats:
        remedy = f"Give some of {', '.join(FORMATS)}."
        faults.append(Fault("formats", "nothing to write", "", remedy))
    refuse(faults)
    return tuple(kind for kind in FORMATS if kind in formats)


def _files(
    bands: Bands, summary: Summary, kinds: tuple[str, ...], folder: Path, page: Path
) -> Iterator[tuple[Path, bytes]]:
    """Each file's path and content, in the order in which they are useful."""
    if "html" in kinds:
        from restive.report.comparison.page import experiment_page

        yield page, experiment_page(bands, summary).encode()
    figures = tuple(f".{kind}" for kind in ("svg", "pdf") if kind in kinds)
    if figures:
        from restive.report.comparison.figures import regret_figure

        for place in _places(bands):
            drawn = regret_figure(bands, *place, figures) or {}
            for suffix, content in drawn.items():
                yield _figure(folder, bands, *place, suffix), content
    if "md" in kinds:
        from restive.report.comparison.markdown import experiment_markdown

        links = {place: _figure(folder, bands, *place, ".svg") for place in _places(bands)}
        shown = {p: f"figures/{path.name}" for p, path in links.items()} if "svg" in kinds else {}
        yield folder / "report.md", experiment_markdown(bands.results, summary, shown).encode()
    if "csv" in kinds:
        yield folder / "curves.csv", bands.to_csv()
    if "parquet" in kinds:
        yield folder / "curves.parquet", _parquet(bands)


def _places(bands: Bands) -> list[tuple[str, int]]:
    """Problems and horizons of which something is known."""
    results = bands.results
    return [
        (p, h) for p in results.problems for h in results.horizons if bands.times(p, h) is not None
    ]


def _figure(folder: Path, bands: Bands, problem: str, horizon: int, kind: str) -> Path:
    from restive.experiments.directory import slug

    number = bands.results.problems.index(problem)
    return folder / "figures" / f"{number:02d}-{slug(problem)}-{horizon}{kind}"


def _parquet(bands: Bands) -> bytes:
    import pyarrow
    from pyarrow import parquet

    from restive.experiments.bands import COLUMNS

    kinds = dict.fromkeys(COLUMNS, pyarrow.float64())
    kinds |= dict.fromkeys(("problem", "learner", "regret"), pyarrow.string())
    kinds |= dict.fromkeys(("horizon", "runs", "time"), pyarrow.int64())
    columns = list(zip(*bands.rows(), strict=True)) or [()] * len(COLUMNS)
    named = dict(zip(COLUMNS, columns, strict=True))
    stream = BytesIO()
    parquet.write_table(pyarrow.table(named, pyarrow.schema(kinds)), stream)
    return stream.getvalue()
