"""``restive schema``: what problem files may hold."""

from __future__ import annotations

from restive.cli.app import app, print_json


@app.command()
def schema() -> None:
    """Print the JSON schema of problem files."""
    from restive.model.files import problem_schema

    print_json(problem_schema())
