"""The application, and what its commands share: options, errors, reading a problem, JSON.

Imports stay inside functions, so that every command starts at once.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from restive.base.errors import Fault, ProblemError, RestiveError

if TYPE_CHECKING:
    from restive.model.bandit import Bandit

__all__ = ["TOLERANCE", "File", "Json", "Tolerance", "app", "main", "print_json", "read_problem"]

TOLERANCE = 1e-6
COMPILING = "restive: compiling kernels, once; later runs start at once."

File = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM",
        help="A problem file, TOML or JSON; - for standard input; or a name of the gallery or of "
        "a suite.",
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(metavar="X", help="Accuracy asked of the best average reward, from 1e-12 to 1."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


class _Commands(TyperGroup):
    """Turns errors made on purpose into words on standard error and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise
        except (RestiveError, OSError, MemoryError, ArithmeticError) as error:
            _complain(error)
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich would add 70 ms to --help, and draw boxes in a pipe
    help="Restless Markov bandits: know a problem, plan it exactly, with a certified value.",
)


def main() -> None:
    """Entry point of the ``restive`` command."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)


def _complain(error: BaseException) -> None:
    lines = [str(fault) for fault in getattr(error, "faults", ())]
    if not lines:
        place = getattr(error, "filename", None)
        words = getattr(error, "strerror", None) or str(error) or "out of memory"
        lines = [f"{place}: {words}" if place else words]
    lines = [*getattr(error, "__notes__", ()), *lines]
    typer.echo("\n".join(f"restive: {line}" for line in lines), err=True)


def _version(asked: bool) -> None:
    if asked:
        from restive import __version__

        typer.echo(f"restive {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    from restive import _kernels

    _kernels.announce_compiling(lambda: typer.echo(COMPILING, err=True))


def read_problem(word: str) -> Bandit:
    """The problem in a file or on standard input (``-``), of the gallery or of a suite."""
    if word != "-":
        from restive.problems.lookup import find_problem

        return find_problem(word)
    from restive.model.files import parse_problem

    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte {error.object[error.start]:#04x}"
        fault = Fault("<stdin>", "not UTF-8 text", found, "Send the problem in UTF-8.")
        raise ProblemError([fault]) from None
    # A TOML problem cannot open with a brace and a JSON problem cannot open with anything else.
    form: Literal["toml", "json"] = "json" if text.lstrip().startswith("{") else "toml"
    return parse_problem(text, form, source="<stdin>")


def print_json(value: Any) -> None:
    """Print one JSON value, without the numbers JSON has no word for."""
    import json

    typer.echo(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))
