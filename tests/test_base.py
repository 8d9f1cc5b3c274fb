"""The ground floor: files that are whole or not there, words, and checks."""

from __future__ import annotations

import csv
import multiprocessing
import os
import stat

import pytest

from restive.base import writing
from restive.base.checks import require_delta, require_horizon
from restive.base.errors import ProblemError
from restive.base.randomness import generator, seed_sequence
from restive.base.table import Table
from restive.base.words import count_text, duration_text, guess, python_text, shown, size_text
from restive.base.writing import new_file, write_bytes, write_text


def test_time_without_end_has_words_too():
    assert duration_text(float("inf")) == "for ever"


def test_nothing_is_left_half_written(tmp_path):
    target = tmp_path / "policy.csv"
    target.write_text("before", encoding="utf-8")

    def write_half():
        with new_file(target) as draft:
            draft.write_text("half", encoding="utf-8")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_half()
    assert target.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_errors_name_the_file_and_not_its_draft(tmp_path):
    target = tmp_path / "nowhere" / "file.txt"
    with pytest.raises(FileNotFoundError) as caught:
        write_text(target, "text")
    assert caught.value.filename == str(target)


def test_content_is_on_the_disk_before_the_name_and_the_name_after(tmp_path, monkeypatch):
    events = []
    sync, replace = os.fsync, os.replace

    def watched_sync(handle):
        events.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    def watched_replace(source, target):
        events.append("rename")
        replace(source, target)

    monkeypatch.setattr(writing.os, "fsync", watched_sync)
    monkeypatch.setattr(writing.os, "replace", watched_replace)
    write_bytes(tmp_path / "file", b"content")
    assert events == ["file", "rename", "folder"]


def _save_many(path, byte, count):
    for _ in range(count):
        write_bytes(path, byte * 300_000)


def test_two_savers_of_one_path_never_mix(tmp_path):
    target = tmp_path / "learner.zip"
    write_bytes(target, b"a" * 300_000)
    spawn = multiprocessing.get_context("spawn")
    savers = [spawn.Process(target=_save_many, args=(target, byte, 40)) for byte in (b"a", b"b")]
    for saver in savers:
        saver.start()
    while any(saver.is_alive() for saver in savers):
        content = target.read_bytes()
        assert content in (b"a" * 300_000, b"b" * 300_000)
    assert [saver.exitcode for saver in savers] == [0, 0]
    assert list(tmp_path.iterdir()) == [target]


def test_drafts_are_recognised(tmp_path):
    with new_file(tmp_path / "cell.json") as draft:
        draft.write_text("{}", encoding="utf-8")
        assert list(tmp_path.glob(writing.DRAFTS)) == [draft]


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (999_999, "999,999"), (10**12, "about 1e12"), (97 * 10**4998, "about 1e5000")],
    ids=["zero", "comma", "large", "beyond text"],
)
def test_counts_stay_short(count, text):
    assert count_text(count) == text


def test_sizes_and_durations_read_as_words():
    assert [size_text(n) for n in (0, 999, 1000, 2.5e10)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "25 GB",
    ]
    assert [duration_text(s) for s in (0.001, 3.14159, 90, 600, 1e5)] == [
        "less than 0.01 s", "3.14 s", "90 s", "10 minutes", "28 hours",
    ]  # fmt: skip


def test_guesses_are_sentences_or_nothing():
    assert guess("tied-samplin", ["tied-sampling", "ucb1"]) == "Did you mean tied-sampling? "
    assert guess("seeed", ["seed"], prefix="--") == "Did you mean --seed? "
    assert guess("zzz", ["seed"]) == ""


def test_values_are_cut_to_a_line():
    assert shown([1, "two"]) == '[1, "two"]'
    assert len(shown("x" * 500)) == 80
    assert shown(10**5000) == "a number too long to show"


@pytest.mark.parametrize("horizon", [None, 0, -1, 1.5, float("inf"), float("nan"), "x", True])
def test_a_missing_or_wrong_horizon_is_one_kind_of_error(horizon):
    with pytest.raises(ProblemError, match=r"^horizon: not allowed .* Give a whole number"):
        require_horizon(horizon)


@pytest.mark.parametrize("delta", [0, 1, -0.1, float("nan"), "x", None])
def test_delta_is_a_probability(delta):
    with pytest.raises(ProblemError, match="delta"):
        require_delta(delta)


@pytest.mark.parametrize("seeds", [seed_sequence, generator])
@pytest.mark.parametrize("rng", ["x", -1, 0.5])
def test_what_is_no_seed_is_told_so(seeds, rng):
    with pytest.raises(ProblemError, match=r"^rng: not a seed .* Give a whole number from 0 on"):
        seeds(rng)


def test_arguments_are_shown_as_python_has_them():
    assert python_text(None) == "None"
    assert len(python_text("x" * 500)) == 80


def test_tables_go_to_files_and_back(tmp_path):
    table = Table({"name": ["a,b", 'c"d'], "value": [0.1, None]})
    table.to_csv(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", encoding="utf-8", newline="") as stream:
        assert list(csv.reader(stream)) == [["name", "value"], ["a,b", "0.1"], ['c"d', ""]]
    parquet = pytest.importorskip("pyarrow.parquet")
    table.to_parquet(tmp_path / "table.parquet")
    assert parquet.read_table(tmp_path / "table.parquet").to_pydict() == table.to_dict()
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(table).to_pydict() == table.to_dict()


def test_tables_are_shown_short_and_escaped():
    table = Table({"<name>": [f"arm & {k}" for k in range(40)], "gain": [k / 7 for k in range(40)]})
    assert len(repr(table).splitlines()) == 13
    assert "&lt;name&gt;" in table._repr_html_()
    assert "arm &amp; 3" in table._repr_html_()
    with pytest.raises(ValueError, match="same length"):
        Table({"a": [1], "b": []})
