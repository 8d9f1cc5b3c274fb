"""``restive paper``: run the paper's claims as experiments, and say which hold."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from restive import __version__
from restive.cli.app import Json, app, option, options, print_json

if TYPE_CHECKING:
    from restive.paper.claim import Claim, Judgement
    from restive.paper.running import Progress


@app.command(epilog="Example: restive paper --quick --out paper")
@options(
    quick=typer.Option("--quick", help="Smaller runs: about two minutes on two cores."),
    out=option("DIR", "Write paper.md, paper.json and paper.html here."),
    only=option(
        "NAME[,NAME...]", "These claims only, such as theorem-2; a name that is none lists them."
    ),
    workers=option("N", "Processes to work with; 0 stands for all processors."),
)
def paper(
    quick: bool = False, json: Json = False, out: str = "", only: str = "", workers: str = "0"
) -> None:
    """Run every claim of the paper that can be checked.

    The paper is Ortner, Ryabko, Auer and Munos, Regret Bounds for Restless Markov Bandits (2012).
    A table of what was run, the number that came out, and whether the claim holds. Exit code 1 if
    a verdict is not the one expected. Ctrl-C leaves the claims that are finished.
    """
    from restive.base.machine import cores
    from restive.cli.numbers import read_whole
    from restive.paper import report
    from restive.paper.catalogue import chosen
    from restive.report.paper.page import write_paper

    processes = read_whole("--workers", workers)
    claims = chosen(only)
    report.check_folder(out)
    outcomes, interrupted = _run(claims, quick, processes or cores())
    result = report.facts(
        outcomes, version=__version__, quick=quick, interrupted=interrupted, only=only
    )
    written = write_paper(result, out) if out else []
    if json:
        print_json(result)
    else:
        _show(result, written)
    if interrupted or result["surprises"]:
        raise typer.Exit(130 if interrupted else 1)


def _run(claims: tuple[Claim, ...], quick: bool, workers: int) -> tuple[list[Judgement], bool]:
    """Outcomes in the order of the claims, and whether the run was interrupted."""
    from restive.cli.console import waiting
    from restive.paper.claim import Scale
    from restive.paper.running import run_claims

    judgements: list[Judgement] = []
    interrupted = False
    with waiting("running the paper, compiling first where needed; Ctrl-C stops") as say:
        watch = _Watch(len(claims), say)
        try:
            for judgement in run_claims(
                claims, Scale(quick), workers=workers, progress=watch.update
            ):
                judgements.append(judgement)
                watch.tell(judgement, len(judgements))
        except KeyboardInterrupt:
            interrupted = True
            typer.echo("restive: interrupted; here is what was finished.", err=True)
    order = {claim.name: k for k, claim in enumerate(claims)}
    return sorted(judgements, key=lambda judgement: order[judgement.claim.name]), interrupted


class _Watch:
    """A line for every finished claim on standard error, and a live one where somebody watches."""

    def __init__(self, claims: int, say: Callable[[str], None] | None) -> None:
        self.claims, self.say, self.left = claims, say, ""

    def update(self, progress: Progress) -> None:
        from restive.base.words import duration_text

        if progress.left is not None:
            self.left = f", about {duration_text(max(progress.left, 1))} left"
        if self.say is not None:
            share = progress.done / progress.cells
            self.say(f"running the paper: {share:.0%}{self.left}; Ctrl-C stops")

    def tell(self, judgement: Judgement, done: int) -> None:
        words = f"{done} of {self.claims}{'' if self.say else self.left}"
        # print, since typer's echo writes past a live line and into it
        print(f"{judgement.claim.name}: {judgement.finding.verdict} ({words})", file=sys.stderr)


def _show(result: dict[str, Any], written: list[str]) -> None:
    from rich.text import Text

    from restive.cli.console import console, show, show_written, table
    from restive.paper.report import summary, verdict_words

    out = console()
    rows = [(claim["name"], claim["place"], claim["number"], verdict_words(claim))
            for claim in result["claims"]]  # fmt: skip
    others = [
        f"{claim['name']}, {claim['verdict']}: {claim['statement']} {claim['note']}"
        for claim in result["claims"] if claim["verdict"] != "holds"
    ]  # fmt: skip
    claims = table(out, ("claim", "place", "number", "verdict"), rows, right=())
    show(out, claims, "", *others, Text(summary(result), style="bold"))
    show_written(written)
