"""The application, and what its commands share: options, errors, reading a problem, JSON.

Imports stay inside functions, so that every command starts at once.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from inspect import get_annotations
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from typer.core import TyperGroup

from restive.base.errors import Fault, ProblemError, RestiveError, refusal, refuse
from restive.base.words import visible

if TYPE_CHECKING:
    from restive.model.bandit import Bandit

Command = TypeVar("Command", bound=Callable[..., None])

TOLERANCE = 1e-6
LONG_READ = 1_000_000  # bytes of a problem whose arms take seconds to check
WORDS = "restive.words"  # of the command line, where contexts keep them
PLURALS = {"horizons": "horizon"}  # fields that are called otherwise than their options
COMPILING = "restive: compiling kernels, once; later runs of this kind start at once."


def complete_problem(incomplete: str) -> list[str]:
    """Names of the gallery and of the suites, for the shell; it completes files by itself."""
    from restive.problems import GALLERY
    from restive.problems.suites import describe, suites

    names = [*GALLERY, *(p.name for suite in suites() for p in describe(suite).problems)]
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def complete_learner(incomplete: str) -> list[str]:
    """Names of the learners, for the shell."""
    from restive.learners import LEARNERS

    return [name for name in LEARNERS if name.startswith(incomplete)]


def complete_learners(incomplete: str) -> list[str]:
    """The last of some names with commas between them, for the shell."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in complete_learner(last)]


def option(metavar: str, words: str, *names: str, **more: Any) -> Any:
    """An option that takes a value, shown as ``metavar``."""
    return typer.Option(*names, metavar=metavar, help=words, **more)


def argument(metavar: str, words: str, **more: Any) -> Any:
    """An argument, shown as ``metavar``."""
    return typer.Argument(metavar=metavar, help=words, **more)


def options(**described: Any) -> Callable[[Command], Command]:
    """Say of parameters of a command what they are, each an ``option`` or an ``argument``."""

    def describe(command: Command) -> Command:
        types = get_annotations(command, eval_str=True)
        for name, words in described.items():
            command.__annotations__[name] = Annotated[types[name], words]
        return command

    return describe


File = Annotated[
    str,
    argument(
        "PROBLEM",
        "A problem file, TOML or JSON; - for standard input; or a name of the gallery or of "
        "a suite.",
        autocompletion=complete_problem,
    ),
]
Seed = Annotated[str, option("N", "Same seed, same result.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


class _Commands(TyperGroup):
    """Turns errors made on purpose into words on standard error and exit code 2."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command: Any = super().get_command(ctx, cmd_name)
        for parameter in getattr(command, "params", ()):
            parameter._get_number_range_help_str = lambda: ""  # "x>=0"; errors say it in words
            if parameter.param_type_name == "argument":
                parameter.display_type = lambda ctx: ""  # Python's types say nothing to a reader
                words = [_usage(parameter)]
                parameter.get_usage_pieces = lambda ctx, words=words: words
        if command is not None and not hasattr(command, "repeats_refused"):
            command.repeats_refused = True
            command.parse_args = partial(_parse_once, command, command.parse_args)
        return command

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise
        except ProblemError as error:
            _complain(_by_flags(error, ctx.meta.get(WORDS, ())))
            raise typer.Exit(2) from None
        except (RestiveError, OSError, MemoryError, ArithmeticError) as error:
            _complain(error)
            raise typer.Exit(2) from None


def _by_flags(error: ProblemError, words: Sequence[str]) -> ProblemError:
    """The same faults, under the names of the options where these were given."""
    if getattr(error, "__notes__", ()):  # of a file, which may have fields of the same names
        return error
    flags = {word.partition("=")[0] for word in words if word.startswith("--")}
    names = {flag[2:].replace("-", "_"): flag for flag in flags}
    names |= {plural: names[name] for plural, name in PLURALS.items() if name in names}
    heads = [re.split(r"\W", fault.path, maxsplit=1)[0] for fault in error.faults]
    return ProblemError(
        [replace(fault, path=names.get(head, fault.path))
         for fault, head in zip(error.faults, heads, strict=True)]
    )  # fmt: skip


def _parse_once(command: Any, parse: Any, ctx: Any, words: list[str]) -> Any:
    """Refuse an option that is given twice, where the first would be lost without a word."""
    ctx.meta[WORDS] = list(words)
    options = [p for p in command.params if p.param_type_name == "option" and not p.multiple]
    takers = {name for option in options if not option.is_flag for name in option.opts}
    rest, given = iter(words), []
    for word in takewhile(lambda word: word != "--", rest):
        name, equals, _ = word.partition("=")
        if name in takers:
            given.append(name)
            if not equals:
                next(rest, None)  # its value, whatever it looks like
    faults = [
        Fault(name, "given twice", "", "Leave one out; give the command again for the other.")
        for name in dict.fromkeys(given) if given.count(name) > 1
    ]  # fmt: skip
    refuse(faults)
    return parse(ctx, words)


def refuse_repeated(key: str, given: Iterable[str]) -> None:
    """The same for an option of a learner's or a problem's own; hyphens count as underscores."""
    if key.replace("-", "_") in {name.replace("-", "_") for name in given}:
        raise refusal(f"--{key}", "given twice", "", "Leave one out.")


def _usage(argument: Any) -> str:
    """An argument in the line of usage: PROBLEM, [NAME], DATA..."""
    word = str(argument.metavar or argument.name.upper())
    word = word if argument.required else f"[{word}]"
    return word if argument.nargs == 1 else f"{word}..."


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich would add 70 ms to --help, and draw boxes in a pipe
    help="Restless Markov bandits: plan them with a certified value, learn them, compare learners.",
    epilog="Begin with: restive plan example-1",
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
    typer.echo("\n".join(_folded(f"restive: {visible(line)}") for line in lines), err=True)


def _folded(line: str) -> str:
    """Broken between words on a terminal; as it is where a program reads it."""
    if not sys.stderr.isatty():
        return line
    from shutil import get_terminal_size
    from textwrap import fill

    width = get_terminal_size().columns
    return fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _version(asked: bool) -> None:
    if asked:
        from restive import __version__

        typer.echo(f"restive {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    from restive import _kernels

    # print, since typer's echo writes past a live line and into it
    _kernels.announce_compiling(lambda: print(COMPILING, file=sys.stderr))


def read_problem(word: str) -> Bandit:
    """The problem in a file or on standard input (``-``), of the gallery or of a suite."""
    if word != "-":
        from restive.problems.lookup import find_problem

        if not (os.path.isfile(word) and os.path.getsize(word) > LONG_READ):
            return find_problem(word)
        from restive.cli.console import waiting

        with waiting("reading the problem"):
            return find_problem(word)
    from restive.base.reading import read_stream
    from restive.model.files import parse_problem

    try:
        text = read_stream(sys.stdin.buffer).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte {error.object[error.start]:#04x}"
        raise refusal("<stdin>", "not UTF-8 text", byte, "Send the problem in UTF-8.") from None
    # A TOML problem cannot open with a brace and a JSON problem cannot open with anything else.
    form: Literal["toml", "json"] = "json" if text.lstrip().startswith("{") else "toml"
    return parse_problem(text, form, source="<stdin>")


def print_json(value: Any) -> None:
    """Print one JSON value, without the numbers JSON has no word for."""
    import json

    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)
    # what a terminal would obey can only stand in strings, where JSON has escapes for it
    kept = (c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    typer.echo(text if text.isprintable() else "".join(kept))
