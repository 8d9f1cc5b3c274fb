"""What a problem file may contain, and what is wrong with the structure of one that was decoded.

The JSON schema of problem files follows from here.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from restive.base.errors import Fault, refusal
from restive.base.words import guess, shown
from restive.model.validation import MOST_FAULTS, RewardNoise

EXAMPLE: dict[str, Any] = {
    "name": "Two radio channels",
    "arms": [
        {
            "name": f"channel {j}",
            "states": ["busy", "free"],
            "transitions": [[0.9, 0.1], [0.1, 0.9]],
            "rewards": [0.0, 1.0],
        }
        for j in (1, 2)
    ],
}

# The range is for readers of the schema; Arm checks it, with a better remedy.
Unit = Annotated[float, WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Steps = tuple[int | str, ...]  # the way to a place in an arm: ("transitions", 0, 1)

MOST_TRANSITIONS = 4_000_000  # probabilities in a file, or that would be if its rows were whole
MOST_KEYS = 100  # of a table; an arm has six


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class ArmFile(_Table):
    """One arm: a Markov chain and the mean reward of each of its states."""

    name: str = Field("", description="What to call the arm; no two arms may share a name.")
    states: list[str] = Field([], description="Names of the states; 0, 1, ... where left out.")
    transitions: list[list[Unit]] = Field(
        description="One row per state: the probabilities of the next state, summing to 1."
    )
    rewards: list[float] = Field(
        description="Mean reward of each state, between 0 and 1 or within reward_range."
    )
    reward_noise: RewardNoise = Field(
        "none",
        description="none: the mean itself is paid; bernoulli: 1 with the mean as probability, "
        "else 0; beta: a beta variable with that mean.",
    )
    group: str = Field(
        "", description="Arms with the same word here are alike; a learner may pool them."
    )
    initial: str | int | list[Unit] = Field(
        "stationary",
        description='Where the arm starts: "stationary", a state (its name, or its number from '
        "0), or one probability per state.",
    )


class ProblemFile(_Table):
    """A restless Markov bandit: arms that all move at every step, one or more of them pulled."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    name: str = Field("", description="What to call the problem.")
    pulls: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        1, description="How many arms are pulled at each step."
    )
    reward_range: list[float] = Field(
        [0.0, 1.0],
        description="Smallest and largest reward there can be; results are in these units.",
        json_schema_extra={"minItems": 2, "maxItems": 2},
    )
    arms: list[ArmFile] = Field(description="The arms, at least one.", min_length=1)


def path_of(*steps: int | str) -> str:
    """Steps as one path: "arms", 1, "my key" -> arms[1]."my key"."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            plain = re.fullmatch(r"[\w-]+", step)
            path += ("." if path else "") + (step if plain else json.dumps(step))
    return path


def require_sane_size(raw: Any) -> None:
    """Refuse what would take too much memory or time to check, from the lengths of its lists."""
    raw = raw if isinstance(raw, dict) else {}
    arms = raw.get("arms")
    entries = arms if isinstance(arms, list) else []
    if len(raw) > MOST_KEYS or any(isinstance(e, dict) and len(e) > MOST_KEYS for e in entries):
        raise refusal("arms", f"a table of more than {MOST_KEYS} keys", "", "Correct it.")
    if (count := sum(map(_room, entries))) > MOST_TRANSITIONS:
        message = f"more than {MOST_TRANSITIONS:,} transition probabilities"
        raise refusal("arms", message, f"{count:,}", "Give fewer arms, or arms of fewer states.")
    if (wrong := sum(map(_words, entries))) > MOST_FAULTS:
        message = f"more than {MOST_FAULTS:,} entries of matrices that are not numbers"
        remedy = "Write numbers between 0 and 1, without quotes."
        raise refusal("arms", message, f"{wrong:,}", remedy)


def _words(entry: Any) -> int:
    """Entries of an arm's transitions and rewards that are not numbers."""
    if not isinstance(entry, dict):
        return 0
    parts = [part for key in ("transitions", "rewards") for part in _listed(entry.get(key))]
    rows = [part for part in parts if isinstance(part, list)]
    leaves = (value for row in (*rows, parts) for value in row)
    return sum(type(value) not in (int, float, list) for value in leaves)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _room(entry: Any) -> int:
    """Entries of the smallest square matrix that an arm's lists would fit into."""
    if not isinstance(entry, dict):
        return 1
    lists = [part for part in entry.values() if isinstance(part, list)]
    rows = [row for part in lists for row in part if isinstance(row, list)]
    return int(max((len(part) for part in (*lists, *rows)), default=1)) ** 2


def structural_errors(raw: dict[str, Any]) -> list[ErrorDetails]:
    """What pydantic finds, arm by arm, until there is more than anybody reads."""
    arms = raw.get("arms")
    if not isinstance(arms, list) or not arms:
        return _errors(ProblemFile, raw)
    errors = _errors(ProblemFile, {**raw, "arms": EXAMPLE["arms"][:1]})
    for j, entry in enumerate(arms):
        errors += _errors(ArmFile, entry, ("arms", j))
        if len(errors) > MOST_FAULTS:
            break
    return errors[:MOST_FAULTS]


def _errors(kind: type[BaseModel], raw: Any, place: Steps = ()) -> list[ErrorDetails]:
    try:
        kind.model_validate(raw)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
        placed = (cast(ErrorDetails, {**e, "loc": (*place, *e["loc"])}) for e in errors)
        return [details for details in placed if not _idle(details)]
    return []


def _idle(error: ErrorDetails) -> bool:
    """Whether this only says that a list of starting probabilities is no text and no number."""
    steps = error["loc"]
    return steps[2:3] == ("initial",) and len(steps) == 4 and isinstance(error["input"], list)


def translated(error: ErrorDetails) -> Fault:
    steps, kind = error["loc"], error["type"]
    if steps[2:3] == ("initial",):
        steps = (*steps[:3], *steps[4:])  # without the name of the union's member
    if steps[2:] == ("initial",):
        remedy = 'Write "stationary", a state, or one probability per state.'
        message = "not a start"
    elif kind == "extra_forbidden":
        message, remedy = "unknown key", _known_keys(str(steps[-1]), nested=len(steps) > 1)
    elif kind == "missing":
        fields = (ArmFile if len(steps) > 1 else ProblemFile).model_fields
        message, remedy = "missing", f"Add it: {fields[str(steps[-1])].description}"
        return Fault(path_of(*steps), message, "", remedy)
    else:
        message, remedy = WORDING.get(kind, (error["msg"], "Correct it."))
    return Fault(path_of(*steps), message, shown(error["input"]), remedy)


WORDING = {
    "int_type": ("not a whole number", "Write a whole number, without quotes."),
    "float_type": ("not a number", "Write a number between 0 and 1, without quotes."),
    "finite_number": ("not a finite number", "Write a number between 0 and 1."),
    "string_type": ("not text", "Write it in quotes."),
    "list_type": ("not a list", "Write a list in square brackets, [[arms]] in TOML for arms."),
    "model_type": ("not an arm", "Give a table with transitions and rewards."),
    "literal_error": ("unknown kind of noise", 'Choose "none", "bernoulli" or "beta".'),
    "too_short": ("there are no arms", "Give at least one arm."),
}


def _known_keys(key: str, nested: bool) -> str:
    known = list((ArmFile if nested else ProblemFile).model_fields)
    if not nested and key in ArmFile.model_fields:
        return "It belongs to an arm: put it under [[arms]]."
    if nested and key in ProblemFile.model_fields:
        return "It belongs to the problem: put it above the arms."
    if close := guess(key.lower(), known):
        return close.strip()
    return f"The keys here are {', '.join(known)}."
