"""Numbers as options: whole ones may be written 1e3, and faults bear the name of the flag."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from restive.cli import app

LOG = "time,left,right\n" + "".join(f"{t},{t % 2},{t // 3 % 2}\n" for t in range(40))
QUICK = ["--horizon", "20", "--learners", "ucb1", "--workers", "1", "--json"]


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def log(tmp_path):
    target = tmp_path / "log.csv"
    target.write_text(LOG)
    return target


@pytest.mark.parametrize(
    ("command", "flag", "value", "remedy"),
    [
        ("plan", "--time", "-3", "a number of seconds above 0"),
        ("plan", "--time", "soon", "a number, such as"),
        ("plan", "--tolerance", "5", "a number from 1e-12 to below 1"),
        ("plan", "--tolerance", "0", "a number from 1e-12 to below 1"),
        ("plan", "--caps", "1.5", "one whole number from 1 on"),
        ("inspect", "--tolerance", "5", "a number from 1e-12 to below 1"),
        ("inspect", "--tolerance", "nan", "a number, such as"),
        ("learn", "--seed", "-1", "a whole number from 0 on"),
        ("learn", "--seed", "1.5", "a whole number from 0 on"),
        ("learn", "--horizon", "0", "a whole number of steps"),
        ("learn", "--growth", "-1", "a number"),
        ("compare", "--runs", "0", "a whole number from 1 to 1,000,000"),
        ("compare", "--runs", "1e7", "a whole number from 1 to 1,000,000"),
        ("compare", "--seed", "-1", "a whole number from 0 on"),
        ("compare", "--workers", "0", "a whole number from 1 on"),
        ("compare", "--workers", "all", "a whole number from 1 on"),
        ("compare", "--horizon", "1.5", "whole numbers of steps"),
        ("compare", "--address", "tcp://a:1", "the backend dask or ray"),
        ("fit", "--level", "2", "a probability"),
        ("fit", "--tick", "-1", "the length of a step"),
        ("fit", "--break-after", "0", "a whole number from 1 on"),
        ("fit", "--order", "0", "a whole number from 1 on"),
        ("fit", "--period", "-1", "a period of at least 2 steps"),
        ("fit", "--cut", "q1", "thresholds"),
        ("replay", "--train", "2", "a share from 0 to below 1"),
        ("replay", "--runs", "2000", "a whole number from 1 to 1,000"),
        ("replay", "--seed", "-1", "a whole number from 0 on"),
        ("problem", "--epsilon", "2", "a number"),
    ],
)
def test_faults_bear_the_name_of_the_flag(command, flag, value, remedy, log, tmp_path):
    data = command in ("fit", "replay")
    words = [command, log if data else "example-1", flag, value]
    words += ["--out", tmp_path / "runs"] if command == "compare" else []
    words += ["--rewards", "0=0,1=1"] if data else []
    refused = run(*words)
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"restive: {flag}: ")
    assert f" {remedy}" in refused.stderr


def test_fields_of_a_file_keep_their_names(tmp_path):
    """The number of runs is the file's, the seed that of the command line."""
    target = tmp_path / "experiment.toml"
    target.write_text('problems = ["example-1"]\nlearners = ["ucb1"]\nruns = 0\nseed = 1\n')
    refused = run("compare", target, "--out", tmp_path / "runs", "--horizon", "0")
    assert refused.exit_code == 2
    assert "restive: runs: " in refused.stderr
    assert "restive: --horizon: " in refused.stderr


def test_whole_numbers_may_be_written_with_an_exponent(log, tmp_path):
    options = ["--runs", "1e1", "--seed", "2e0", "--out", tmp_path / "runs"]
    compared = run("compare", "example-1", *options, *QUICK)
    assert compared.exit_code == 0, compared.stderr
    kept = json.loads((tmp_path / "runs" / "experiment.json").read_text("utf-8"))
    assert (kept["runs"], kept["seed"]) == (10, 2)
    told = run("learn", "example-1", "--learner", "ucb1", "--horizon", "2e1", "--seed", "1e1",
               "--json")  # fmt: skip
    assert json.loads(told.stdout)["seed"] == 10
    caps = [run("plan", "example-1", "--json", "--caps", cap).stdout for cap in ("4e1", "40")]
    first, second = (json.loads(text) for text in caps)
    assert first["caps"] == second["caps"]
    fitted = run("fit", log, "--rewards", "0=0,1=1", "--break-after", "1e1", "--no-check")
    assert fitted.exit_code == 0, fitted.stderr
