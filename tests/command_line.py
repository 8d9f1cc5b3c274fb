"""Commands that read a problem from standard input, run in this process."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from restive.cli import app
from restive.model import files


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    for key in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(key, raising=False)


def run_command(command, *words, given):
    """given: a bandit, or the text of a problem file."""
    text = given if isinstance(given, str) else files.dump_problem(given)
    return CliRunner().invoke(app, [command, "-", *map(str, words)], input=text)


def told_by(command, *words, given):
    """What --json prints, with nothing in it that is not JSON."""
    shown = run_command(command, *words, "--json", given=given)
    assert shown.exit_code == 0, shown.stderr
    return json.loads(shown.stdout, parse_constant=pytest.fail)
