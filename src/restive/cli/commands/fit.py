"""``restive fit``: from traces and logs to a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from restive.cli.app import Json, app, option, options, print_json
from restive.cli.data_options import Data, read_period, reads_data

if TYPE_CHECKING:
    from restive.data.fitting import Fit


@app.command(epilog="Example: restive fit log.csv -o problem.toml --report page.html")
@reads_data
@options(
    out=option("PATH", "Write the problem: .toml or .json.", "--out", "-o"),
    level=option("X", "Level of the intervals, such as 0.95."),
    name=option("TEXT", "What to call the problem."),
    order=option("K", "Write arms whose states are the last K states."),
    check=typer.Option("--check/--no-check", help="Test whether the arms are Markov."),
    period=option("N", "Period to test, in steps, or hour, day, week, year (default: any)."),
    report=option("PATH", "Write a page of the data and the fit: .html."),
)
def fit(
    data: Data, *, out: str = "", columns: dict[str, Any], level: str = "0.95", name: str = "",
    order: str = "1", check: bool = True, period: str = "", report: str = "", json: Json = False,
) -> None:  # fmt: skip
    """Fit arms to traces and logs, and write them as a problem.

    Wide data have one column an arm; long data have one row a sighting, with columns of arm, time,
    state and reward, recognised by these names or named by options. Steps at which an arm was not
    seen may be left out or empty: sightings n steps apart are explained by the n-th power of one
    chain. Several files with a column of states and none of arms are one arm each.

    Is it Markov? Each arm gets a verdict: whether its present state says all about the next one,
    whether it changes over time or with a period, whether it moves with other arms, and what that
    could cost. --order 2 fits pairs of states, which is right where a pull shows the last two.
    """
    from restive.base.writing import write_text
    from restive.cli import console, fit_screen, output
    from restive.cli.numbers import read_number, read_whole

    output.check_target("--out", out, (".toml", ".json"))
    output.check_target("--report", report, (".html",))
    span = read_period(period)
    length = read_whole("--order", order, 1)
    fitted = _fit(data, read_number("--level", level), name, columns)
    text = _problem(fitted, out, length)  # what stands in its way comes before any output
    verdicts = fit_screen.check(fitted, span) if check else None
    page = fit_screen.page(fitted, verdicts) if report else ""
    if json:
        print_json(fitted.to_dict() | ({"verdicts": verdicts.to_dict()} if verdicts else {}))
    else:
        fit_screen.show_fit(fitted)
        fit_screen.show_verdicts(verdicts, length, bool(report))
    files = {path: content for path, content in ((out, text), (report, page)) if path}
    for path, content in files.items():
        write_text(path, content)
    if not json:
        console.show_written(list(files))


def _fit(data: list[str], level: float, name: str, columns: dict[str, Any]) -> Fit:
    from restive.cli.console import waiting
    from restive.data.fitting import fit as fit_arms

    with waiting("reading", lambda arm, k, of: f"fitting {arm} ({k + 1} of {of})") as report:
        return fit_arms(data, level=level, name=name, progress=report, **columns)


def _problem(fitted: Fit, out: str, order: int) -> str:
    """The text of the problem file, if one is to be written."""
    from restive.data.memory import tuple_bandit
    from restive.model.files import dump_problem

    if not out and order == 1:
        return ""
    bandit = tuple_bandit(fitted.traces, fitted.bandit, order)
    return dump_problem(bandit, "json" if out.lower().endswith(".json") else "toml")
