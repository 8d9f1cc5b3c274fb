"""``restive problem``: the gallery."""

from __future__ import annotations

from typing import Literal

import typer

from restive.base.errors import refusal
from restive.cli.app import app, argument, options, refuse_repeated


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Example: restive problem gilbert-elliott > channels.toml",
)
@options(
    name=argument("NAME", "A problem of the gallery; none lists it."),
    file_format=typer.Option("--format", help="Format of the problem file."),
)
def problem(
    ctx: typer.Context, name: str = "", file_format: Literal["toml", "json"] = "toml"
) -> None:
    """Print a problem from the gallery, or list it.

    The parameters of a problem are options: restive problem example-1 --epsilon 0.05.
    """
    chosen, parameters = _split_parameters([name, *ctx.args] if name else ctx.args)
    from restive import problems

    if not chosen:
        from restive.cli.problems_screen import show_gallery

        show_gallery(problems.GALLERY)
        return
    from restive.model.files import dump_problem

    bandit = problems.build(chosen, **parameters)
    typer.echo(dump_problem(bandit, file_format).rstrip("\n"))


def _split_parameters(words: list[str]) -> tuple[str, dict[str, str]]:
    """The problem's name and its parameters, from ``NAME --key value --key=value``."""
    names, rest = [], iter(words)
    parameters: dict[str, str] = {}
    for word in rest:
        if not word.startswith("--"):
            names.append(word)
            continue
        key, equals, value = word[2:].partition("=")
        refuse_repeated(key, parameters)
        if not equals and (following := next(rest, None)) is None:
            remedy = f"Write {word} and a value after it."
            if not names:  # restive problem --list
                remedy = "Without a name and options, restive problem lists the gallery."
            raise refusal(word, "the value is missing", "", remedy)
        parameters[key] = value if equals else str(following)
    if len(names) > 1 or (parameters and not names):
        text = " ".join(words)
        remedy = "Give one name, then its parameters: restive problem NAME --parameter VALUE."
        raise refusal("NAME", "not one problem", text, remedy)
    return "".join(names), parameters
