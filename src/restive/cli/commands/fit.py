"""``restive fit``: from traces and logs to a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from restive.cli.app import Json, app, print_json
from restive.cli.data_options import (
    ArmColumn,
    Arms,
    BreakAfter,
    Cut,
    Data,
    Labels,
    PieceColumn,
    RewardColumn,
    Rewards,
    StateColumn,
    Tick,
    TimeColumn,
    read_period,
    reading,
)

if TYPE_CHECKING:
    from restive.data.fitting import Fit


@app.command(epilog="Example: restive fit log.csv -o problem.toml --report page.html")
def fit(
    data: Data,
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="PATH", help="Write the problem, .toml or .json."),
    ] = "",
    arm: ArmColumn = None,
    time: TimeColumn = None,
    state: StateColumn = None,
    reward: RewardColumn = None,
    piece: PieceColumn = None,
    arms: Arms = "",
    cut: Cut = "",
    labels: Labels = "",
    rewards: Rewards = "",
    tick: Tick = None,
    break_after: BreakAfter = None,
    level: Annotated[
        float, typer.Option(metavar="X", help="Level of the intervals, such as 0.95.")
    ] = 0.95,
    name: Annotated[str, typer.Option(metavar="TEXT", help="What to call the problem.")] = "",
    order: Annotated[
        int, typer.Option(metavar="K", help="Write arms whose states are the last K states.")
    ] = 1,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Test whether the arms are Markov.")
    ] = True,
    period: Annotated[
        str,
        typer.Option(
            metavar="N", help="Period to test, in steps, or hour, day, week, year (default: any)."
        ),
    ] = "",
    report: Annotated[
        str, typer.Option(metavar="PATH", help="Write a page of the data and the fit, .html.")
    ] = "",
    json: Json = False,
) -> None:
    """Fit arms to traces and logs, and write them as a problem.

    Wide data have one column an arm; long data have one row a sighting, with columns of arm, time,
    state and reward, recognised by these names or named by options. Steps at which an arm was not
    seen may be left out or empty: sightings n steps apart are explained by the n-th power of one
    chain. Several files with a column of states and none of arms are one arm each.

    Is it Markov? Each arm gets a verdict: whether its present state says all about the next one,
    whether it changes over time or with a period, whether it moves with other arms, and what that
    could cost. --order 2 fits pairs of states, which is right where a pull shows the last two.
    """
    from restive.cli import fit_screen, output, verdict_screen

    output.check_target("--out", out, (".toml", ".json"))
    output.check_target("--report", report, (".html",))
    span = read_period(period)
    columns = reading(
        arm=arm, time=time, state=state, reward=reward, piece=piece, arms=arms, cut=cut,
        labels=labels, rewards=rewards, tick=tick, break_after=break_after,
    )  # fmt: skip
    fitted = _fit(data, level, name, columns)
    text = _problem(fitted, out, order)  # what stands in its way comes before any output
    verdicts = verdict_screen.check(fitted, span) if check else None
    page = verdict_screen.page(fitted, verdicts) if report else ""
    if json:
        print_json(fitted.to_dict() | ({"verdicts": verdicts.to_dict()} if verdicts else {}))
    else:
        fit_screen.show_fit(fitted)
        verdict_screen.show_verdicts(verdicts, order)
    _write({out: text, report: page}, json)


def _write(files: dict[str, str], quiet: bool) -> None:
    from restive.base.writing import write_text
    from restive.cli.console import show_written

    paths = [path for path in files if path]
    for path in paths:
        write_text(path, files[path])
    if not quiet:
        show_written(paths)


def _fit(data: list[str], level: float, name: str, columns: dict[str, Any]) -> Fit:
    from restive.cli.console import console
    from restive.data.fitting import fit as fit_arms

    err = console(stderr=True)
    if not err.is_terminal:
        return fit_arms(data, level=level, name=name, **columns)
    with err.status("reading") as status:

        def report(arm: str, done: int, of: int) -> None:
            status.update(f"fitting {arm} ({done + 1} of {of})")

        return fit_arms(data, level=level, name=name, progress=report, **columns)


def _problem(fitted: Fit, out: str, order: int) -> str:
    """The text of the problem file, if one is to be written."""
    from restive.data.memory import tuple_bandit
    from restive.model.files import dump_problem

    if not out and order == 1:
        return ""
    bandit = tuple_bandit(fitted.traces, fitted.bandit, order)
    return dump_problem(bandit, "json" if out.lower().endswith(".json") else "toml")
