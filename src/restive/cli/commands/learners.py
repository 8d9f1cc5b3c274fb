"""``restive learners``: who can play, what each promises and assumes, and its options."""

from __future__ import annotations

from typing import Any

from restive import __version__
from restive.cli.app import Json, app, print_json
from restive.learners import DEFAULT, LEARNERS, Declaration
from restive.learners.references import citation


@app.command(epilog="Example: restive learners --json")
def learners(json: Json = False) -> None:
    """List the learners: what each promises, assumes and can be told."""
    others = [entry for entry in LEARNERS.declared().values() if not entry.for_bandits]
    entries = [*LEARNERS.values(), *others]
    if json:
        listed = [_described(entry) for entry in entries]
        print_json({"version": __version__, "default": DEFAULT, "learners": listed})
        return
    from restive.cli import learn_screen

    learn_screen.show_learners(entries, DEFAULT)


def _described(entry: Declaration) -> dict[str, Any]:
    return {
        "name": entry.name,
        "description": entry.description,
        "guarantee": entry.guarantee,
        "assumes": entry.assumes,
        "told": entry.told,
        "deviation": entry.deviation,
        "cites": [citation(cite) for cite in entry.cites],
        "yardstick": entry.yardstick,
        "several_pulls": entry.several_pulls,
        "for_bandits": entry.for_bandits,
        "options": [
            {"name": option.name, "kind": option.kind, "default": option.default,
             "help": option.help, "may_be": option.range}
            for option in entry.options
        ],
    }  # fmt: skip
