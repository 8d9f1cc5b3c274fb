"""``restive schema``: what problem files and experiment files may hold."""

from __future__ import annotations

from typing import Literal

from restive.cli.app import app, argument, options, print_json


@app.command(epilog="Example: restive schema > problem.schema.json")
@options(kind=argument("KIND", "Which files: problem or experiment."))
def schema(kind: Literal["problem", "experiment"] = "problem") -> None:
    """Print the JSON schema of problem files, or of experiment files."""
    if kind == "problem":
        from restive.model.files import problem_schema

        print_json(problem_schema())
    else:
        from restive.experiments.schema import experiment_schema

        print_json(experiment_schema())
