"""``restive inspect``: the facts of a problem and its arms."""

from __future__ import annotations

from typing import Annotated

from restive.cli.app import File, Json, app, option, print_json, read_problem

Tolerance = Annotated[
    str,
    option(
        "X",
        "Accuracy wanted for the best average reward, from 1e-12 to below 1 (default: the one "
        "that restive plan chooses, 1e-6 where an exact plan is quick, else 1e-4).",
    ),
]


Time = Annotated[str, option("SECONDS", "The --time that restive plan would be given.")]


@app.command(epilog="Example: restive inspect example-1")
def inspect(file: File, tolerance: Tolerance = "", time: Time = "60", json: Json = False) -> None:
    """Show facts about a problem and its arms.

    How each arm behaves, which one is best alone, and how restive plan would plan it in its time.
    """
    from restive.cli import facts, screen
    from restive.cli.console import waiting
    from restive.cli.numbers import read_number

    accuracy = read_number("--tolerance", tolerance) if tolerance else None
    seconds = read_number("--time", time)
    bandit = read_problem(file)

    with waiting("looking at the arms"):
        most = None if json else screen.SHOWN_ARMS + 1
        problem = facts.of_problem(bandit, accuracy, most, seconds)
    if json:
        print_json(problem)
    else:
        screen.show_problem(problem)
