"""``restive report``: what a comparison found, as a page, figures and tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from restive.base.errors import Fault, ProblemError
from restive.cli.app import Json, app, print_json


@app.command()
def report(
    directory: Annotated[
        str, typer.Argument(metavar="DIR", help="Directory that restive compare wrote.")
    ],
    out: Annotated[
        str,
        typer.Option(metavar="FILE.html", help="Write the page here (default DIR/report/)."),
    ] = "",
    formats: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="Some of html, md, svg, pdf, csv, parquet (default: all that can be written, "
            "or html alone with --out).",
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Report a comparison: who lost least, and how sure that is.

    One page that works offline and prints well, with the problems, their best policies, regret
    curves and rankings; the same as Markdown with figures for a paper; and the curves as tables.
    A comparison that is not finished is reported as far as it got.
    """
    from restive.cli import console
    from restive.report.comparison.report import FORMATS, available, write_report

    chosen = [kind.strip().lower() for kind in formats.split(",") if kind.strip()]
    try:
        with console.waiting("writing the report"):
            written = write_report(directory, out or None, chosen or None)
    except ProblemError as error:
        raise ProblemError([_as_option(fault) for fault in error.faults]) from None
    if json:
        print_json({"directory": directory, "files": [str(path) for path in written]})
        return
    for path in _few(written):
        typer.echo(f"wrote {path}")
    left = [kind for kind in FORMATS if kind not in available()]
    if not chosen and not out and left:
        extras = ",".join(sorted({FORMATS[kind][1] for kind in left}))
        typer.echo(f"without {', '.join(left)}: pip install 'restive[{extras}]' brings them")


def _as_option(fault: Fault) -> Fault:
    return replace(fault, path=f"--{fault.path}") if fault.path in ("out", "formats") else fault


def _few(written: list[Path]) -> list[str]:
    """One line for each file, but one for all figures."""
    figures = [path for path in written if path.parent.name == "figures"]
    lines = [str(path) for path in written if path not in figures]
    if figures:
        lines.append(f"{figures[0].parent} ({len(figures)} figures)")
    return lines
