"""``restive plan``: the best policy that can be found in time, and how good the best one can be."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from restive.base import interrupts
from restive.cli.app import TOLERANCE, File, Json, app, option, options, print_json, read_problem

if TYPE_CHECKING:
    from restive.many.bounded import BoundedPlan
    from restive.model.bandit import Bandit
    from restive.planning import Plan


@app.command(epilog="Example: restive plan example-1 --figure policy.svg")
@options(
    tolerance=option(
        "X",
        "Width of the interval at which to stop, from 1e-12 to below 1 (default: 1e-6 where an "
        "exact plan is quick, else 1e-4).",
    ),
    time=option("SECONDS", "Longest time to plan, roughly."),
    policy_out=option("PATH", "Write the policy as a table: .csv or .json."),
    figure=option("PATH", "Draw the policy: .pdf, .svg or .png."),
    caps=option(
        "N[,N...]",
        "Plan exactly, telling apart up to N steps how long ago an arm was seen: one "
        "N, or one an arm.",
    ),
    memory=option("SIZE", "Memory to use at most, such as 8G or 500M."),
)
def plan(
    file: File, tolerance: str = "", time: str = "60", json: Json = False,
    policy_out: str = "", figure: str = "", caps: str = "", memory: str = "",
) -> None:  # fmt: skip
    """Find the best policy, and how good any policy can be.

    The best average reward of any policy that sees only the arms it pulls, in an interval: the
    upper end is certain, the lower one is too or else is said to be simulated. Where an exact plan
    takes too long, the interval closes until the time is over; Ctrl-C keeps what was reached.
    The table of --policy-out has what to pull in every situation (the largest age of an arm stands
    for all longer ones; a periodic arm: its last ages repeat); for more than three arms, the index
    of each kind of arm or the commonest situations.
    """
    from restive.cli import output
    from restive.cli.numbers import read_caps, read_memory, read_number

    output.check_target("--policy-out", policy_out, (".csv", ".json"))
    output.check_target("--figure", figure, output.PICTURES, needs="matplotlib")
    width = read_number("--tolerance", tolerance) if tolerance else None
    seconds = read_number("--time", time)
    bandit = read_problem(file)
    limits = {"caps": read_caps(caps, bandit.n_arms), "memory": read_memory(memory)}
    best = _plan(bandit, width, seconds, limits)
    interrupted = not _show(best, json)
    if interrupted:
        interrupts.answered()  # files that were asked for are still written; Ctrl-C leaves them out
    best = getattr(best, "exact", None) or best
    if policy_out:  # files come last: whatever becomes of them, the numbers are on the screen
        output.write_policy(best, policy_out)
    if figure:
        best.plot(figure)
    if not json:
        from restive.cli import console

        console.show_written([path for path in (policy_out, figure) if path])
    if interrupted:
        raise typer.Exit(130)


def _show(best: BoundedPlan | Plan, json: bool) -> bool:
    """The result first, then what takes time; whether nothing was interrupted."""
    from restive.cli import bounded, facts, screen
    from restive.planning import Plan

    whole, exact = (None, best) if isinstance(best, Plan) else (best, best.exact)
    if exact is None:
        assert whole is not None
        if not json:
            return bounded.show_bounded(whole)
        told = bounded.told_bounded(whole)
    elif json:
        told = facts.of_plan(exact, whole)
    else:
        value, more = facts.value_of(exact), whole is None or not whole.interrupted
        words = partial(facts.words_of, exact, whole)
        return screen.show_plan(value, partial(facts.myopic_value, exact), words, more)
    print_json(told)
    return not told["interrupted"]


def _plan(
    bandit: Bandit, tolerance: float | None, time: float, limits: dict[str, Any]
) -> BoundedPlan | Plan:
    """The interval and its policy; the exact plan alone where caps are given."""
    from restive import planning
    from restive.cli import bounded, console
    from restive.many.planner import best_plan

    if limits["caps"] is not None:
        with console.progress() as watch:
            return planning.plan(
                bandit, TOLERANCE if tolerance is None else tolerance, progress=watch, **limits
            )
    with bounded.closing() as report:
        return best_plan(bandit, tolerance, time=time, memory=limits["memory"], progress=report)
