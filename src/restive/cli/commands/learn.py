"""``restive learn``: let a learner play a problem and say what it lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from restive import __version__
from restive.base import interrupts
from restive.base.errors import Fault, refusal, refuse
from restive.base.words import guess
from restive.cli.app import (
    File,
    Json,
    Seed,
    app,
    complete_learner,
    option,
    options,
    print_json,
    read_problem,
    refuse_repeated,
)
from restive.cli.players import own_errors, read_participant
from restive.learners import DEFAULT, LEARNERS, Declaration

if TYPE_CHECKING:
    from restive.experiments.participants import Participant
    from restive.many.several_pulls import PullsPlan
    from restive.model.bandit import Bandit
    from restive.planning import Plan
    from restive.simulation import Run

LONGEST = 10**12  # half a day for the quickest learners
# options that are called otherwise here, or belong to another command
HINTS = dict.fromkeys(("steps", "rounds", "time", "n", "t", "T"), "Did you mean --horizon? ") | {
    "runs": "restive compare makes several runs. ",
    "out": "restive compare keeps runs in a directory; --json prints this one. ",
}
OWN_OPTIONS = ("learner", "horizon", "seed", "delta", "json", "figure", "curves")
TRUTH = ("true", "false", "yes", "no", "1", "0")


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Example: restive learn example-1 --horizon 1e5 --figure regret.svg",
)
@options(
    learner=option(
        "NAME",
        "Who plays; restive learners lists them. Or one of your own, module:function.",
        autocompletion=complete_learner,
    ),
    horizon=option("T", "Steps to play, such as 1e6."),
    delta=option("P", "Probability with which a guarantee may fail."),
    curves=typer.Option("--curves", help="With --json: rewards and regrets along the way."),
    figure=option("PATH", "Draw the regret over time: .pdf, .svg or .png."),
)
def learn(
    ctx: typer.Context, file: File, learner: str = DEFAULT, horizon: str = "1e6",
    seed: Seed = "0", delta: str = "0.05", json: Json = False, curves: bool = False,
    figure: str = "",
) -> None:  # fmt: skip
    """Let a learner play a problem that it does not know.

    What it earned per step beside the best policy and the best single arm, and its regret in
    three ways. A learner's own options follow its name: restive learn PROBLEM --learner tied-ucrl
    --unknown-states. Ctrl-C shows what was reached so far.
    """
    from restive.cli import numbers, output

    declared = None if ":" in learner else LEARNERS.find(learner, "--learner")
    file, own = _split([file, *ctx.args], declared)
    participant = read_participant(learner, own)
    steps, chance = _read_horizon(horizon), numbers.read_probability("--delta", delta)
    luck = numbers.read_whole("--seed", seed)
    output.check_target("--figure", figure, output.PICTURES, needs="matplotlib")
    bandit = read_problem(file)
    result, run = _learned(bandit, participant, steps, luck, chance)
    if json:
        print_json(result | ({"curves": _curves(run)} if curves else {}))
    else:
        from restive.cli import learn_screen

        learn_screen.show_run(result)
    if result["interrupted"]:
        interrupts.answered()
    if run is not None and figure:  # last: whatever becomes of it, the numbers are on the screen
        _draw(run, result, figure, quiet=json)
    if result["interrupted"]:
        raise typer.Exit(130)


def _learned(
    bandit: Bandit, participant: Participant, steps: int, seed: int, delta: float
) -> tuple[dict[str, Any], Run | None]:
    """What ``--json`` prints, and the run itself, None if nothing was reached."""
    import numpy as np

    from restive.cli import console, live
    from restive.learners.plain import as_learner
    from restive.simulation import play

    # a stream of its own: what the learner draws has nothing to do with what the arms do
    luck = np.random.default_rng([seed, 1])
    with own_errors(participant), participant.importing():
        player = as_learner(participant.build(bandit, steps, delta, luck), bandit.n_arms)
    if not participant.own:
        with console.waiting("getting ready"):
            live.warm([(participant.name, bandit, participant.options)], delta)
    with console.progress() as report:
        plan, why = live.yardstick(bandit, report)
    world, yardsticks = live.StoppableWorld(bandit, seed), _yardsticks(bandit, plan, why)
    watched = live.watching(bandit, steps, None if plan is None else plan.gain)
    with own_errors(participant), live.stopping(world), watched as report_steps:
        run = play(player, world, steps, plan=plan, progress=report_steps).in_units(bandit)
    facts = {
        "problem": bandit.name, "version": __version__, "learner": participant.label,
        "options": dict(participant.options),
        "seed": seed, "delta": delta, "horizon": steps, "interrupted": run.steps < steps,
        "pulls_per_step": bandit.pulls,
    }  # fmt: skip
    facts |= yardsticks | _outcome(run)
    at_most = float(yardsticks["gain_ceiling"]) * run.steps - run.total_reward
    facts["regret_at_most"] = at_most if run.steps else None
    unknown = f"the best average reward is unknown: {why}"
    facts["missing"] = dict.fromkeys(run.missing, unknown) if plan is None else run.missing
    return facts, run if facts["steps"] else None


def _yardsticks(bandit: Bandit, plan: Plan | PullsPlan | None, why: str) -> dict[str, Any]:
    from restive.many.lagrangian import ceiling

    arms, units = bandit.best_arms, bandit.units
    upper = ceiling(bandit) if plan is None else plan.gain_upper
    return {
        "gain_ceiling": units.mean(upper, bandit.pulls),
        "reward_range": list(units.range),
        "gain": None if plan is None else units.mean(plan.gain),
        "gain_lower": None if plan is None else units.mean(plan.gain_lower),
        "gain_upper": None if plan is None else units.mean(plan.gain_upper),
        "gain_tolerance": None if plan is None else plan.tolerance,
        "gain_note": why,
        "gain_seconds": None if plan is None else plan.seconds,
        "best_arm": {
            "arm": arms[0],
            "name": " and ".join(bandit.arm_name(arm) for arm in arms),
            "gain": units.mean(bandit.best_arms_gain, bandit.pulls),
        },
    }


def _outcome(run: Run) -> dict[str, Any]:
    """The run's numbers at its end."""

    def last(curve: Any) -> float | None:
        return None if curve is None or not run.steps else float(curve[-1])

    total = last(run.rewards)
    return {
        "steps": run.steps,
        "total_reward": total,
        "mean_reward": None if total is None else total / run.steps,
        "regret": last(run.regret),
        "gap_regret": last(run.gap_regret),
        "weak_regret": last(run.weak_regret),
        "episodes": len(run.episodes),
        "replans": run.replans,
        "pulls": list(run.pulls),
        "seconds": run.seconds_playing + run.seconds_planning,
        "plan_seconds": run.seconds_planning,
        "missing": {},
    }


def _curves(run: Run | None) -> dict[str, list[float] | None] | None:
    if run is None:
        return None
    names = ("times", "rewards", "regret", "gap_regret", "weak_regret")
    curves = {name: getattr(run, name) for name in names}
    return {name: None if c is None else c.tolist() for name, c in curves.items()}


def _draw(run: Run, result: dict[str, Any], path: str, quiet: bool) -> None:
    from restive.cli import console

    ceiling = result["gain_ceiling"] if result["gain"] is None else None
    name = f"{result['problem'] or 'a problem'}: {result['learner']}"
    run.plot(path, title=name, ceiling=ceiling)
    if not quiet:
        console.show_written([path])


def _read_horizon(text: str) -> int:
    from restive.cli.numbers import read_horizon

    steps = read_horizon(text)
    if steps > LONGEST:
        remedy = f"Give at most {LONGEST:.0e} steps; restive bounds takes any horizon."
        raise refusal("--horizon", "too long to play", text, remedy)
    return steps


def _split(words: Sequence[str], entry: Declaration | None) -> tuple[str, dict[str, str]]:
    """The problem and the learner's options, from what the command itself did not take."""
    files, rest = [], list(words)
    texts: dict[str, str] = {}
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            files.append(word)
            continue
        key, equals, value = word.lstrip("-").partition("=")
        refuse_repeated(key, texts)
        texts[key] = value if equals else _value(word, rest, entry)
    if entry is not None:
        _refuse_unknown(texts, entry)
    if len(files) != 1:
        remedy = "Give one problem file or name, or - for standard input."
        raise refusal("PROBLEM", "not one problem", " ".join(files), remedy)
    return files[0], texts


def _value(word: str, rest: list[str], entry: Declaration | None) -> str:
    """What an option is set to by the words after it; a switch needs none."""
    if entry is None:  # a learner of the user's own: nothing is known of its options
        return "true" if not rest or rest[0].startswith("--") else rest.pop(0)
    switches = {option.name for option in entry.options if option.kind == "bool"}
    name = word.lstrip("-").replace("-", "_")
    if name in switches and (not rest or rest[0].lower() not in TRUTH):
        return "true"
    if not rest and name not in {option.name for option in entry.options}:
        return ""  # that there is no such option is the thing to say
    if not rest:
        raise refusal(word, "the value is missing", "", f"Write {word} and a value after it.")
    return rest.pop(0)


def _refuse_unknown(texts: dict[str, str], entry: Declaration) -> None:
    """Words for options that neither the command nor the learner has."""
    known = [option.name.replace("_", "-") for option in entry.options]
    faults = []
    for key, text in texts.items():
        if key.replace("_", "-") not in known:
            close = HINTS.get(key) or guess(key, [*known, *OWN_OPTIONS], prefix="--")
            own = f"Its options are --{', --'.join(known)}." if known else "It has none of its own."
            message = f"{entry.name} has no such option"
            faults.append(Fault(f"--{key}", message, text, close + own))
    refuse(faults)
