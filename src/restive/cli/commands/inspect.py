"""``restive inspect``: the facts of a problem and its arms."""

from __future__ import annotations

from restive.cli.app import TOLERANCE, File, Json, Tolerance, app, print_json, read_problem


@app.command(epilog="Example: restive inspect example-1")
def inspect(file: File, tolerance: Tolerance = TOLERANCE, json: Json = False) -> None:
    """Show facts about a problem and its arms.

    How each arm behaves, which one is best alone, and what planning would cost.
    """
    bandit = read_problem(file)
    from restive.cli import facts, screen
    from restive.cli.console import waiting

    with waiting("looking at the arms"):
        problem = facts.of_problem(bandit, tolerance, None if json else screen.SHOWN_ARMS + 1)
    if json:
        print_json(problem)
    else:
        screen.show_problem(problem)
