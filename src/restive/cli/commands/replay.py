"""``restive replay``: let learners pull arms along a recorded trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restive.base.errors import ProblemError, refusal
from restive.cli.app import Json, Seed, app, complete_learner, option, options, print_json
from restive.cli.data_options import Data, reads_data
from restive.cli.players import own_errors, read_participant

if TYPE_CHECKING:
    from restive.data.replay_result import Replay
    from restive.experiments.participants import Participant

MOST_RUNS = 1000


@app.command(epilog="Example: restive replay log.csv --rewards good=1,bad=0 --learner thompson")
@reads_data
@options(
    learner=option(
        "NAME",
        "Who plays, once for each; options after the name: 'ucb1' or 'sw-ucb window=50'. "
        "By default tied-sampling and thompson.",
        autocompletion=complete_learner,
    ),
    train=option(
        "X", "Share of the steps to fit arms on; the rest is judged. 0: judge all, fit none."
    ),
    cooldowns=option(
        "N,...",
        "Also play the rule of thumb that leaves an arm alone for N steps after it paid "
        "less than usual; none: leave it out.",
    ),
    runs=option("N", "Runs of each learner, each with its own luck."),
    figure=option("PATH", "Draw what each earned over time: .pdf, .svg or .png."),
)
def replay(
    data: Data, *, learner: list[str] | None = None, train: str = "0.5",
    cooldowns: str = "2,8,32", runs: str = "3", seed: Seed = "0", columns: dict[str, Any],
    json: Json = False, figure: str = "",
) -> None:  # fmt: skip
    """Replay a trace: what would learners have earned on it?

    The trace is the world. Learners are judged beside the best arm of every step, the best single
    arm in hindsight, round robin, rules of thumb, and the plan of arms fitted to the first part.
    A pull of an arm that was not recorded at that step is a missed step: time passes, nothing is
    seen, earned or counted. One trace is one run: there are no intervals.
    """
    from restive.cli import output, replay_screen
    from restive.cli.numbers import read_number, read_whole

    output.check_target("--figure", figure, output.PICTURES, needs="matplotlib")
    players = [_participant(words) for words in learner or []]
    settings = {
        "train": read_number("--train", train), "cooldowns": _rests(cooldowns),
        "runs": read_whole("--runs", runs, 1, MOST_RUNS), "rng": read_whole("--seed", seed),
    }  # fmt: skip
    with own_errors(*players):
        result = _replayed(data, players, settings | columns)
    print_json(result.to_dict()) if json else replay_screen.show_replay(result)
    if figure:
        from restive.cli.console import show_written

        result.plot(figure)
        if not json:
            show_written([figure])


def _replayed(data: list[str], players: list[Participant], settings: dict[str, Any]) -> Replay:
    from restive.cli.console import waiting
    from restive.data.replay import DEFAULT_LEARNERS
    from restive.data.replay import replay as replay_data

    learners: Any = players or DEFAULT_LEARNERS
    with waiting("reading and fitting", lambda label, step: f"{label}: step {step:,}") as report:
        return replay_data(data, learners, progress=report, **settings)


def _participant(words: str) -> Participant:
    """A learner and its options: "sw-ucb window=50"."""
    name, *parts = words.split() or [""]
    texts = {}
    for part in parts:
        key, mark, text = part.partition("=")
        if not mark:
            remedy = "Write its options as key=value after the name, in one word: 'ucb1 x=1'."
            raise refusal("--learner", "not an option of a learner", part, remedy)
        texts[key] = text
    return read_participant(name, texts, " ".join([name, *parts]))


def _rests(text: str) -> list[int]:
    if text.strip() in ("", "none"):
        return []
    from restive.cli.numbers import read_whole

    try:
        return [read_whole("--cooldowns", word) for word in text.split(",")]
    except ProblemError:
        remedy = "Write numbers of steps, such as 2,8,32, or none."
        raise refusal("--cooldowns", "not numbers of steps", text[:80], remedy) from None
