"""Malformed data: every file is refused with line and column, in words, with exit code 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from malformed_data_cases import CASES, FOLDER
from restive import ProblemError, read_traces
from restive.cli.app import app
from restive.data import limits


def test_every_malformed_file_is_in_the_table():
    assert sorted(CASES) == sorted(path.name for path in FOLDER.iterdir())
    assert len(CASES) >= 40


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_malformed_file_is_refused_with_its_place(name, tmp_path):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    options, place, phrase = CASES[name]
    path, out = FOLDER / name, tmp_path / "problem.toml"
    result = CliRunner().invoke(app, ["fit", str(path), *options, "-o", str(out)])
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("restive: ")
    assert place.format(f=path) in result.stderr
    assert phrase in result.stderr
    assert result.stdout == ""
    assert len(result.stderr) < 1000 + len(str(path))
    assert not out.exists()


def test_a_malformed_file_in_a_real_process():
    command = [sys.executable, "-c", "from restive.cli import main; main()", "fit"]
    done = subprocess.run([*command, str(FOLDER / "one-state.csv")], capture_output=True, text=True,
                          check=False, timeout=300)  # fmt: skip
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("limit", "phrase"),
    [("MOST_BYTES", "the file is too large"), ("MOST_ROWS", "too many rows"),
     ("MOST_COLUMNS", "too many columns"), ("MOST_CELLS", "too many rows"),
     ("LONGEST_LINE", "the line is too long")],
)  # fmt: skip
def test_files_are_read_within_limits(limit, phrase, monkeypatch, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,arm,state\n" + "".join(f"{t},a,{t % 2}\n" for t in range(50)))
    assert len(read_traces(path).arms[0]) == 50
    monkeypatch.setattr(limits, limit, 2)
    with pytest.raises(ProblemError, match=phrase):
        read_traces(path)


def test_a_file_that_is_not_there_names_the_one_that_is(tmp_path):
    (tmp_path / "log.csv").write_text("left\n0\n")
    with pytest.raises(ProblemError, match=r"Did you mean log\.csv"):
        read_traces(tmp_path / "lgo.csv")


@pytest.mark.parametrize(
    ("data", "phrase"),
    [
        (np.zeros((2, 2, 2)), "data: not a table"),
        (np.zeros((0, 3)), "there is nothing in it"),
        ({}, "there is nothing in it"),
        ({"a": [1, 0], "b": [1]}, "columns of different length"),
        ({"a": [0, 1, "x"]}, 'row 2, column "a": a word among numbers'),
        (np.array([[0, 1, 1], [0, 0, 0]]).T, 'row 2, column "arm 2": only one state'),
        ({"arm": ["a"] * 3, "time": [0, 2, 1], "state": [0, 1, 0]}, 'row 2, column "time"'),
        ({"a": np.zeros((3, 2))}, "not a column"),
        ({"a": [0, [1], 0]}, 'row 1, column "a": not a plain value'),
    ],
)
def test_arrays_and_frames_are_refused_with_their_row(data, phrase):
    with pytest.raises(ProblemError, match=phrase):
        read_traces(data)


@pytest.mark.parametrize(
    "cut", [[2, 1], [], [0, float("nan")], 1, 65, "fits", [1, 1]], ids=lambda cut: str(cut)
)
def test_ways_to_cut_are_checked(cut):
    with pytest.raises(ProblemError, match="cut: not allowed"):
        read_traces({"a": [0.5, 1.5, 0.2]}, cut=cut)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_memory_is_forecast_before_it_is_taken(form, monkeypatch, tmp_path):
    path = tmp_path / f"log.{form}"
    rows = [{"arm": "a", "state": t % 2} for t in range(50)]
    if form == "csv":
        path.write_text("arm,state\n" + "".join("{arm},{state}\n".format(**row) for row in rows))
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), path)
    assert len(read_traces(path).arms[0]) == 50
    monkeypatch.setattr(limits, "CHUNK", 10)
    monkeypatch.setattr(limits, "memory_allowed", lambda: 100 * limits.CELL - 1)
    with pytest.raises(ProblemError, match="too much memory"):
        read_traces(path)


def test_the_forecast_counts_the_part_not_yet_read(monkeypatch, tmp_path):
    """A tenth of a large file is enough to know that it is ten times as large."""
    path = tmp_path / "log.csv"
    path.write_text("arm,state\n" + "".join(f"a,{t % 2}\n" for t in range(100_000)))
    taken = []
    monkeypatch.setattr(limits, "require_memory", lambda cells, source: taken.append(cells))
    read_traces(path)
    assert len(taken) > 5
    assert all(150_000 < cells <= 230_000 for cells in taken)  # 200,000, to within a buffer


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "log.csv")
    with pytest.raises(ProblemError, match="Not a regular file"):
        read_traces(tmp_path / "log.csv")


@pytest.mark.parametrize(
    ("content", "phrase"),
    [(b"", "standard input: the file is empty"),
     (b"time,arm,state\n0,a,x\n1,a\n", 'standard input, line 3, column "state"'),
     (b'{"arm": "a", "state": 1}\n{"arm"}\n', "standard input, line 2, column 7"),
     (b"time,arm,state\n0,a,\xff\n", "standard input, line 2, column 5")],
)  # fmt: skip
def test_what_is_piped_in_is_refused_with_its_place(content, phrase):
    result = CliRunner().invoke(app, ["fit", "-"], input=content)
    assert result.exit_code == 2
    assert phrase in result.output


def test_a_flood_from_a_pipe_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 50)
    result = CliRunner().invoke(app, ["fit", "-"], input="a,b\n" + "0,1\n" * 50)
    assert result.exit_code == 2
    assert "too large" in result.output


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (
            "left,right\non," + "x" * 200_000 + "\noff,on\n",
            "line 2, column .right.: the cell is too",
        ),
        ('left;right\non;"' + "x\n" * 100_000, "line 2, column .right.: the quotes do not close"),
        ('left,"right\non,off\noff,on\n', "line 1, column 2: the quotes do not close"),
    ],
)
def test_a_cell_that_swallows_the_file_is_named_where_it_begins(text, phrase, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(ProblemError, match=phrase):
        read_traces(tmp_path / "log.csv")
