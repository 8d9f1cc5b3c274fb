"""``restive plan``: the best policy that can be found in time, and how good the best one can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from restive.cli.app import TOLERANCE, File, Json, app, print_json, read_problem

if TYPE_CHECKING:
    from restive.model.bandit import Bandit


@app.command()
def plan(
    file: File,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="Width of the interval at which to stop, from 1e-12 to 1 (default: 1e-6 where an "
            "exact plan is quick, else 1e-4)."
        ),
    ] = None,
    time: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time to plan in, at most about.")
    ] = 60.0,
    json: Json = False,
    policy_out: Annotated[
        str, typer.Option(metavar="PATH", help="Write the policy as a table, .csv or .json.")
    ] = "",
    figure: Annotated[
        str, typer.Option(metavar="PATH", help="Draw the policy, .svg or .png.")
    ] = "",
    caps: Annotated[
        str, typer.Option(metavar="N[,N...]", help="Plan exactly, ages apart up to here only.")
    ] = "",
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory to use at most, such as 8G or 500M.")
    ] = "",
) -> None:
    """Find the best policy, with a certified value.

    The best average reward of any policy that sees only the arms it pulls, in an interval that
    surely holds it. Where an exact plan takes too long, the interval closes until the time is
    over; Ctrl-C keeps what was reached. The table of --policy-out has what to pull in every
    situation (the largest age of an arm stands for all longer ones; a periodic arm: its last ages
    repeat); for more than three arms, the index of each kind of arm or the commonest situations.
    """
    from restive.cli import output
    from restive.cli.numbers import read_caps, read_memory

    output.check_target("--policy-out", policy_out, (".csv", ".json"))
    output.check_target("--figure", figure, (".svg", ".png"), needs="matplotlib")
    bandit = read_problem(file)
    limits = {"caps": read_caps(caps, bandit.n_arms), "memory": read_memory(memory)}
    best, interrupted = _plan(bandit, tolerance, time, limits)
    _show(best, json)
    if policy_out:  # files come last: whatever becomes of them, the numbers are on the screen
        output.write_policy(best, policy_out)
    if figure:
        output.write_figure(best, figure)
    if not json:
        from restive.cli import console

        console.show_written([path for path in (policy_out, figure) if path])
    if interrupted:
        raise typer.Exit(130)


def _show(best: Any, json: bool) -> None:
    from restive.cli import bounded, facts, screen
    from restive.planning import Plan

    if isinstance(best, Plan):
        found = facts.of_plan(best)
        print_json(found) if json else screen.show_plan(found)
    elif json:
        print_json(bounded.of_bounded(best))
    else:
        bounded.show_bounded(best)


def _plan(
    bandit: Bandit, tolerance: float | None, time: float, limits: dict[str, Any]
) -> tuple[Any, bool]:
    """The exact plan where there is one, otherwise the interval; and whether it was interrupted."""
    from restive import planning
    from restive.cli import bounded, console
    from restive.many.planner import best_plan

    if limits["caps"] is not None:
        with console.progress() as watch:
            exact = planning.plan(bandit, tolerance or TOLERANCE, progress=watch, **limits)
        return exact, False
    with bounded.closing() as report:
        best = best_plan(bandit, tolerance, time=time, memory=limits["memory"], progress=report)
    return best.exact or best, best.interrupted
