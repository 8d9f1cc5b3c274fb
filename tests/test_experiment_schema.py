"""The schema of experiment files admits what the reader takes and refuses what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from restive import LEARNERS, Learner, ProblemError, declare, experiment_schema
from restive.base.options import Parameter
from restive.cli import app
from restive.experiments.experiment import FIELDS, experiment_from
from restive.problems import GALLERY

PLAIN = {"problems": ["example-1"], "learners": ["thompson"], "horizons": 10, "runs": 1}

ADMITTED: list[dict[str, Any]] = [
    {"problems": "example-1"},
    {"problems": [{"gallery": "example-1", "name": "slow", "parameters": {"epsilon": 0.02}}]},
    {"problems": {"suite": "restive-suite-v1"}},
    {"learners": "ucb1"},
    {"learners": [{"name": "tied-sampling", "label": "long", "options": {"growth": 0.2}}]},
    {"learners": {"name": "thompson"}},
    {"horizons": [10, "1e2"], "seed": 7, "delta": 0.5},
]

REFUSED: list[dict[str, Any]] = [
    {"problems": []},
    {"problems": [3]},
    {"problems": [{"gallery": "example-9"}]},
    {"problems": [{"gallery": "example-1", "parameters": {"epsilon": -1}}]},
    {"problems": [{"gallery": "example-1", "parameters": {"epsilom": 0.1}}]},
    {"problems": [{"suite": "example-1", "parameters": {}}]},
    {"learners": ["tied-sampler"]},
    {"learners": [{"label": "nameless"}]},
    {"learners": [{"name": "tied-sampling", "options": {"growth": -1}}]},
    {"learners": [{"name": "tied-sampling", "options": {"growht": 0.1}}]},
    {"learners": [{"name": "thompson", "option": {}}]},
    {"horizons": 0},
    {"horizons": []},
    {"runs": 0},
    {"seed": -1},
    {"delta": 1},
    {"run": 3},
]


def valid(fields: dict[str, Any]) -> bool:
    return Draft202012Validator(experiment_schema()).is_valid(PLAIN | fields)


def readable(fields: dict[str, Any]) -> bool:
    try:
        experiment_from(PLAIN | fields, Path())
    except ProblemError:
        return False
    return True


def test_schema_is_one_and_has_every_field() -> None:
    schema = experiment_schema()
    Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == set(FIELDS)
    assert json.loads(CliRunner().invoke(app, ["schema", "experiment"]).stdout) == json.loads(
        json.dumps(schema)
    )


@pytest.mark.parametrize("fields", ADMITTED, ids=str)
def test_what_can_be_read_is_admitted(fields: dict[str, Any]) -> None:
    assert readable(fields)
    assert valid(fields)


@pytest.mark.parametrize("fields", REFUSED, ids=str)
def test_what_cannot_be_read_is_refused(fields: dict[str, Any]) -> None:
    assert not readable(fields)
    assert not valid(fields)


def test_every_default_is_admitted() -> None:
    declared = [(name, "options", entry.options) for name, entry in LEARNERS.items()]
    families = [(name, "parameters", entry.parameters) for name, entry in GALLERY.items()]
    for name, key, parameters in declared:
        chosen = {p.name: p.default for p in parameters}
        assert valid({"learners": [{"name": name, key: chosen}]}), name
    for name, key, parameters in families:
        chosen = {p.name: p.default for p in parameters}
        assert valid({"problems": [{"gallery": name, key: chosen}]}), name


def test_a_learner_declared_from_outside_is_in_it() -> None:
    step = Parameter("step", "int", 2, "arms to move on by", 1, 5)

    @declare("stepping", "a toy", guarantee="none", assumes="nothing", told="the number of arms",
             options=[step])  # fmt: skip
    class Stepping(Learner):
        def __init__(self, n_arms: int, step: int = 2) -> None:
            self.n_arms, self.step_size = n_arms, step

    try:
        assert valid({"learners": [{"name": "stepping", "options": {"step": 5}}]})
        assert not valid({"learners": [{"name": "stepping", "options": {"step": 6}}]})
    finally:
        LEARNERS.forget("stepping")
    assert not valid({"learners": ["stepping"]})
