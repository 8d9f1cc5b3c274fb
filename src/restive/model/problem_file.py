"""What a problem file may contain; its JSON schema follows from here."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from restive.model.validation import RewardNoise

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
