"""The JSON schema of experiment files, read from what learners and the gallery declare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any

from restive.base.options import Parameter
from restive.experiments.cells import LONGEST, MOST_RUNS
from restive.experiments.experiment import Experiment
from restive.experiments.problems import READING
from restive.learners import LEARNERS
from restive.model.files import DIALECT
from restive.problems import GALLERY
from restive.problems.suites import suites

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
MODULE = "^[^:]+:.+$"  # module:function


def experiment_schema() -> Schema:
    """The JSON schema of experiment files (draft 2020-12), for editors and other programs.

    Learners with their options, entries of the gallery with their parameters, and names of suites
    are those of this process: learners that you declared are among them.

    >>> experiment_schema()["properties"]["runs"]["default"]
    20
    """
    steps = {"anyOf": [_whole("steps of a run", 1, LONGEST), {**TEXT, "description": "as 1e6"}]}
    fields = {
        "problems": _one_or_many({"$ref": "#/$defs/problem"}, "what is played"),
        "learners": _one_or_many({"$ref": "#/$defs/learner"}, "who plays"),
        "horizons": _one_or_many(steps, "steps of each run"),
        "runs": _whole("runs of every learner on every problem", 1, MOST_RUNS),
        "seed": _whole("from which all random numbers follow", 0, 2**128),
        "delta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1,
                  "description": "failure probability that learners are told"},
    }  # fmt: skip
    for name, argument in signature(Experiment).parameters.items():
        if name in fields and argument.default is not argument.empty:
            fields[name]["default"] = argument.default
    table = _table("An experiment: learners compared on problems, run by run.", fields, "problems")
    return {"$schema": DIALECT, **table, "$defs": {"problem": _problem(), "learner": _learner()}}


def _learner() -> Schema:
    names = {"enum": list(LEARNERS), "description": "one of restive learners"}
    own = {**TEXT, "pattern": MODULE, "description": "module:function, of your own"}
    fields = {
        "name": {"anyOf": [names, own]},
        "label": {**TEXT, "description": "its name in the results; the learner's, if left out"},
        "options": {"type": "object", "description": "as restive learners NAME lists them"},
    }
    options = {name: ("options", entry.options) for name, entry in LEARNERS.items()}
    table = _table("A learner with options or a label.", fields, "name")
    return {"anyOf": [names, own, table | _chosen("name", options)]}


def _problem() -> Schema:
    name = {"name": {**TEXT, "description": "its name in the results"}}
    parameters = {key: ("parameters", entry.parameters) for key, entry in GALLERY.items()}
    gallery: dict[str, Schema] = {
        "gallery": {"enum": list(GALLERY), "description": "an entry of restive problem"},
        "parameters": {"type": "object", "description": "as restive problem NAME lists them"},
    }
    trace = {"trace": _one_or_many(TEXT, "paths of data files, relative to this file")}
    return {
        "anyOf": [
            {**TEXT, "description": "a path, or a name of the gallery or of a suite"},
            _table("A problem file.", {"file": TEXT, **name}, "file"),
            _table("From the gallery.", gallery | name, "gallery") | _chosen("gallery", parameters),
            _table("All of a suite.", {"suite": {"enum": suites()}, **name}, "suite"),
            _table("Recorded data.", trace | name | {key: {} for key in READING}, "trace"),
        ]
    }


def _chosen(key: str, tables: Mapping[str, tuple[str, Iterable[Parameter]]]) -> Schema:
    """For each value of ``key``, what the table beside it may hold."""
    return {
        "allOf": [
            {
                "if": {"properties": {key: {"const": value}}, "required": [key]},
                "then": {"properties": {beside: _table("", {p.name: p.schema for p in known})}},
            }
            for value, (beside, known) in tables.items()
        ]
    }


def _table(description: str, fields: Mapping[str, Schema], *required: str) -> Schema:
    about = {"description": description} if description else {}
    return {**about, "type": "object", "properties": dict(fields), "required": list(required),
            "additionalProperties": False}  # fmt: skip


def _one_or_many(item: Schema, description: str) -> Schema:
    listed = {"type": "array", "items": item, "minItems": 1}
    return {"description": description, "anyOf": [item, listed]}


def _whole(description: str, low: int, high: int) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high, "description": description}
