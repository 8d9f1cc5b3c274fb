"""``restive cite``: BibTeX for the tool, the suites and the papers of the learners."""

from __future__ import annotations

import typer

from restive.cli.app import app, argument, complete_learner, options


@app.command(epilog="Example: restive cite tied-sampling whittle >> references.bib")
@options(
    names=argument(
        "NAME",
        "Learners, suites, or restive itself (default: everything).",
        autocompletion=complete_learner,
    )
)
def cite(names: list[str] | None = None) -> None:
    """Print BibTeX for restive, a suite, or papers of learners.

    Each paper comes once, under a key that stays. A learner without a paper of its own is cited as
    restive.
    """
    from restive.report.citing import bibtex

    typer.echo(bibtex(names or ()), nl=False)
