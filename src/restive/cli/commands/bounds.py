"""``restive bounds``: what the theorems promise."""

from __future__ import annotations

import typer

from restive.cli.app import File, Json, app, option, options, print_json, read_problem


@app.command(epilog="Example: restive bounds example-1 --horizon 1e7")
@options(
    horizon=option("T", "Steps to learn, such as 1e6."),
    delta=option("P", "Probability with which the promise may fail."),
    true_diameter=typer.Option(
        help="Also use the true diameter, not only Lemma 1's bound (default: if it is quick)."
    ),
)
def bounds(
    file: File, horizon: str = "1e6", delta: str = "0.05", true_diameter: bool | None = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Tell what the theorems promise for this problem.

    How much a learner that follows the paper may lose, and from how many steps on the promise
    says more than nothing.
    """
    from restive.cli import facts, numbers

    steps, chance = numbers.read_horizon(horizon), numbers.read_probability("--delta", delta)
    bandit = read_problem(file)
    from restive.cli import console

    with console.waiting("computing the true diameter"):
        result = facts.of_bounds(bandit, steps, chance, true_diameter)
    if json:
        print_json(result)
    else:
        from restive.cli.bounds_screen import show_bounds

        show_bounds(result)
