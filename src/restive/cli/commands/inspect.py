"""``restive inspect``: the facts of a problem and its arms."""

from __future__ import annotations

from restive.cli.app import File, Json, Tolerance, app, print_json, read_problem


@app.command(epilog="Example: restive inspect example-1")
def inspect(file: File, tolerance: Tolerance = "1e-6", json: Json = False) -> None:
    """Show facts about a problem and its arms.

    How each arm behaves, which one is best alone, and what planning would cost.
    """
    from restive.cli import facts, screen
    from restive.cli.console import waiting
    from restive.cli.numbers import read_number

    accuracy = read_number("--tolerance", tolerance)
    bandit = read_problem(file)

    with waiting("looking at the arms"):
        problem = facts.of_problem(bandit, accuracy, None if json else screen.SHOWN_ARMS + 1)
    if json:
        print_json(problem)
    else:
        screen.show_problem(problem)
