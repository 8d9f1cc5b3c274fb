"""``restive report``: what a comparison found, as a page, figures and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import typer

from restive.cli.app import Json, app, argument, option, options, print_json


@app.command(epilog="Example: restive report runs --figure regret.pdf --width one")
@options(
    directory=argument("DIR", "Directory that restive compare wrote."),
    out=option("FILE.html", "Write the page here (default: in DIR/report)."),
    formats=option(
        "A,B,...",
        "Some of html, md, svg, pdf, csv, parquet (default: all that can be written, "
        "or html alone with --out).",
    ),
    figure=option("PATH", "Draw regret curves only: .pdf, .svg, .png or .pgf."),
    table=option("FILE.tex", "Write final regrets only, as a LaTeX table."),
    problem=option("NAME", "Problem to draw (default: the first)."),
    horizon=option("T", "Horizon of figure and table (default: the longest)."),
    regret=typer.Option(
        help="Regret to draw: against the best policy without luck (gap) or with it (plain), or "
        "against the best single arm (weak)."
    ),
    width=typer.Option(help="Columns of a page that figure or table may fill."),
    panels=typer.Option(help="Logarithmic axes alone, or linear ones beside them."),
    labels=typer.Option(help="Names at the curves, or below (default: below if one column wide)."),
    style=typer.Option(help="Letters of the figure: without serifs, as in Times, or as in LaTeX."),
    title=typer.Option(help="The problem's name above the figure."),
)
def report(
    directory: str, out: str = "", formats: str = "", json: Json = False, figure: str = "",
    table: str = "", problem: str = "", horizon: str = "",
    regret: Literal["gap", "plain", "weak"] = "gap", width: Literal["one", "two"] = "two",
    panels: Literal["1", "2"] = "2", labels: Literal["direct", "legend"] | None = None,
    style: Literal["plain", "serif", "tex"] = "plain", title: bool = True,
) -> None:  # fmt: skip
    """Report a comparison: who lost least, and how sure that is.

    One page that works offline and prints well, with the problems, their best policies, regret
    curves and rankings; the same as Markdown with figures for a paper; and the curves as tables.
    A comparison that is not finished is reported as far as it got. With --figure or --table, one
    figure or table for a paper is written instead.
    """
    from restive.cli import console
    from restive.report.comparison.report import write_report

    if figure or table:
        look = {"width": width, "panels": int(panels), "labels": labels, "style": style,
                "title": title, "regret": regret}  # fmt: skip
        _for_paper(directory, figure, table, (problem, horizon), look)
        files = [path for path in (figure, table) if path]
    else:
        chosen = [kind.strip().lower() for kind in formats.split(",") if kind.strip()]
        with console.waiting("writing the report"):
            written = write_report(directory, out or None, chosen or None)
        files = [str(path) for path in written]
    if json:
        print_json({"directory": directory, "files": files})
    elif figure or table:
        console.show_written(files)
    else:
        _show(written, everything=not chosen and not out)


def _show(written: list[Path], everything: bool) -> None:
    """The files; and, if everything was asked for, how to get the formats that are missing."""
    from restive.report.comparison.report import FORMATS, available

    for path in _few(written):
        typer.echo(f"wrote {path}")
    left = [kind for kind in FORMATS if kind not in available()]
    if everything and left:
        extras = ",".join(sorted({FORMATS[kind][1] for kind in left}))
        typer.echo(f"left out: {', '.join(left)} (pip install 'restive[{extras}]' adds it)")


def _for_paper(
    directory: str, figure: str, table: str, place: tuple[str, str], look: dict[str, Any]
) -> None:
    """Write a figure, a table or both; nothing, if anything about them is wrong."""
    from restive.cli import output
    from restive.experiments import load_results
    from restive.experiments.experiment import read_steps
    from restive.report import regret_picture, regret_table
    from restive.report.comparison.table import SUFFIXES

    output.check_target("--figure", figure, output.FIGURES, needs="matplotlib")
    output.check_target("--table", table, SUFFIXES)
    results = load_results(Path(directory), partial=True)
    steps = read_steps(place[1]) if place[1] else None
    if figure:
        regret_picture(results, figure, place[0], steps, **look)
    if table:
        regret_table(results, table, steps, look["width"])


def _few(written: list[Path]) -> list[str]:
    """One line for each file, but one for all figures."""
    figures = [path for path in written if path.parent.name == "figures"]
    lines = [str(path) for path in written if path not in figures]
    if figures:
        lines.append(f"{figures[0].parent} ({len(figures)} figures)")
    return lines
