"""``restive plan``: the best policy, with a certified value."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from restive.cli.app import TOLERANCE, File, Json, Tolerance, app, print_json, read_problem


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
    bandit = read_problem(file)
    limits: dict[str, Any] = {"caps": read_caps(caps, bandit.n_arms), "memory": read_memory(memory)}
    if policy_out:
        output.check_arms(bandit)
    from restive import planning
    from restive.cli import console, screen
    from restive.planning.size import check_tolerance

    check_tolerance(tolerance)
    with console.progress() as report:
        best = planning.plan(bandit, tolerance, progress=report, **limits)
        found = facts.of_plan(best)
    if json:
        print_json(found)
    else:
        screen.show_plan(found)
    if policy_out:  # files come last: whatever becomes of them, the numbers are on the screen
        output.write_policy(best, policy_out)
    if figure:
        output.write_figure(best, figure)
    if not json:
        console.show_written([path for path in (policy_out, figure) if path])
