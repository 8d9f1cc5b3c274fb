"""The command line: parse, call one function, print. Imports stay inside the commands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from restive.base.errors import Fault, ProblemError, RestiveError

if TYPE_CHECKING:
    from restive.model.bandit import Bandit

__all__ = ["app", "main"]

TOLERANCE = 1e-6

File = Annotated[str, typer.Argument(help="Problem file, TOML or JSON; - reads standard input.")]
Tolerance = Annotated[
    float, typer.Option(help="Accuracy asked of the best average reward, from 1e-12 to 1.")
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
    pass


@app.command()
def inspect(file: File, tolerance: Tolerance = TOLERANCE, json: Json = False) -> None:
    """Show the facts of a problem and its arms.

    How each arm behaves, which one is best alone, and what planning would cost.
    """
    bandit = _read(file)
    from restive.cli import facts, screen

    found = facts.of_problem(bandit, tolerance)
    if json:
        _print_json(found)
    else:
        screen.show_problem(found)


@app.command()
def plan(
    file: File,
    tolerance: Tolerance = TOLERANCE,
    json: Json = False,
    policy_out: Annotated[
        str, typer.Option(metavar="PATH", help="Write the policy as a table, .csv or .json.")
    ] = "",
    figure: Annotated[
        str, typer.Option(metavar="PATH", help="Draw the policy, .svg or .png.")
    ] = "",
    caps: Annotated[
        str, typer.Option(metavar="N[,N...]", help="Tell ages apart up to here only.")
    ] = "",
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory to use at most, such as 8G or 500M.")
    ] = "",
) -> None:
    """Find the best policy, with a certified value.

    The best average reward of any policy that sees only the arms it pulls, in an interval that
    surely holds it, beside the rewards of simpler policies. In the table of --policy-out the
    largest age of an arm stands for all longer ones (a periodic arm: its last ages repeat).
    """
    from restive.cli import facts, output
    from restive.cli.numbers import read_caps, read_memory

    output.check_target("--policy-out", policy_out, (".csv", ".json"))
    output.check_target("--figure", figure, (".svg", ".png"), needs="matplotlib")
    bandit = _read(file)
    limits = {"caps": read_caps(caps, bandit.n_arms), "memory": read_memory(memory)}
    if policy_out:
        output.check_arms(bandit)
    from restive.cli import screen
    from restive.planning.size import check_tolerance

    check_tolerance(tolerance)
    with screen.progress() as report:
        best = _plan(bandit, tolerance, report, limits)
        found = facts.of_plan(best)
    if json:
        _print_json(found)
    else:
        screen.show_plan(found)
    if policy_out:  # files come last: whatever becomes of them, the numbers are on the screen
        output.write_policy(best, policy_out)
    if figure:
        output.write_figure(best, figure)
    if not json:
        screen.show_written([path for path in (policy_out, figure) if path])


@app.command()
def bounds(
    file: File,
    horizon: Annotated[str, typer.Option(metavar="T", help="Steps to learn, such as 1e6.")] = "1e6",
    delta: Annotated[
        str, typer.Option(metavar="P", help="Probability with which the promise may fail.")
    ] = "0.05",
    true_diameter: Annotated[
        bool | None,
        typer.Option(
            help="Also use the true diameter, not only Lemma 1's bound (default: if it is quick)."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Tell what the theorems promise for this problem.

    How much a learner that follows the paper may lose, and from how many steps on the promise
    says more than nothing.
    """
    from restive.cli import facts, numbers

    steps, chance = numbers.read_horizon(horizon), numbers.read_probability("--delta", delta)
    bandit = _read(file)
    from restive.cli import screen, warming

    if true_diameter is not False:
        warming.announce("bounds")
    with screen.waiting("computing the true diameter"):
        found = facts.of_bounds(bandit, steps, chance, true_diameter)
    if json:
        _print_json(found)
    else:
        screen.show_bounds(found)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def problem(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="A problem of the gallery; none lists it.")] = "",
    file_format: Annotated[
        Literal["toml", "json"], typer.Option("--format", help="Format of the problem file.")
    ] = "toml",
) -> None:
    """Print a problem from the gallery, or list it.

    The parameters of a problem are options: restive problem example-1 --epsilon 0.05.
    """
    chosen, parameters = _split_parameters([name, *ctx.args] if name else ctx.args)
    from restive import problems

    if not chosen:
        from restive.cli import screen

        screen.show_gallery(problems.GALLERY)
        return
    from restive.model.files import dump_problem

    bandit = problems.build(chosen, **parameters)
    typer.echo(dump_problem(bandit, file_format).rstrip("\n"))


@app.command()
def schema() -> None:
    """Print the JSON schema of problem files."""
    from restive.model.files import problem_schema

    _print_json(problem_schema())


def _read(file: str) -> Bandit:
    from restive.model.files import load_problem, parse_problem

    if file != "-":
        return load_problem(file)
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte {error.object[error.start]:#04x}"
        fault = Fault("<stdin>", "not UTF-8 text", found, "Send the problem in UTF-8.")
        raise ProblemError([fault]) from None
    # A TOML problem cannot open with a brace and a JSON problem cannot open with anything else.
    form: Literal["toml", "json"] = "json" if text.lstrip().startswith("{") else "toml"
    return parse_problem(text, form, source="<stdin>")


def _plan(bandit: Bandit, tolerance: float, report: Any, limits: dict[str, Any]) -> Any:
    from restive import planning
    from restive.planning.size import is_small

    compiled = not is_small(bandit, tolerance, limits["caps"])
    if compiled:
        from restive import _kernels

        if _kernels.is_cold():
            typer.echo("restive: compiling kernels, once; later runs start at once.", err=True)
    return planning.plan(bandit, tolerance, compiled=compiled, progress=report, **limits)


def _split_parameters(words: list[str]) -> tuple[str, dict[str, str]]:
    """The problem's name and its parameters, from ``NAME --key value --key=value``."""
    names, parameters, rest = [], {}, iter(words)
    for word in rest:
        if not word.startswith("--"):
            names.append(word)
            continue
        key, given, value = word[2:].partition("=")
        if not given and (following := next(rest, None)) is None:
            fault = Fault(word, "the value is missing", "", f"Write {word} and a value after it.")
            raise ProblemError([fault])
        parameters[key] = value if given else str(following)
    if len(names) > 1 or (parameters and not names):
        found = " ".join(words)
        remedy = "Give one name, then its parameters: restive problem NAME --parameter VALUE."
        raise ProblemError([Fault("NAME", "not one problem", found, remedy)])
    return "".join(names), parameters


def _print_json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


from restive.cli import compare as _compare  # noqa: E402, F401  (registers its command)
from restive.cli import learn as _learn  # noqa: E402, F401  (registers its commands; needs the above)
from restive.cli import paper as _paper  # noqa: E402, F401  (registers its command)
from restive.cli import report as _report  # noqa: E402, F401  (registers its command)
from restive.cli import suite as _suite  # noqa: E402, F401  (registers its command)
