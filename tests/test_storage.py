"""Saved learners: whole or not there, and nothing in a file is believed before it is checked."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import struct
import zipfile
from hashlib import sha256

import numpy as np
import pytest

from restive.base.errors import ProblemError, TooLargeError
from restive.base.reading import read_file
from restive.learners import load_learner, make_learner, storage
from restive.learners.storage import pack, read_snapshot, unpack, write_snapshot
from restive.problems import example1
from restive.simulation import BanditWorld, play

STATE = {"name": "ucb1", "numbers": [1, 2.5, None]}
ARRAYS = {"plays": np.arange(3), "sums": np.zeros((2, 0)), "law": np.eye(2)}


def zipped(entries: dict[str, bytes], sign: bool = True) -> bytes:
    """A snapshot's file with these entries, written here and not by ``pack``."""
    digest = sha256()
    for name, data in sorted(entries.items()):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
        if sign:
            archive.writestr("sha256", digest.hexdigest())
    return buffer.getvalue()


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header.encode() + data


def test_a_snapshot_comes_back_and_is_the_same_bytes():
    content = pack(STATE, ARRAYS)
    state, arrays = unpack(content)
    assert state == STATE
    assert {name: (a.dtype, a.shape, a.tolist()) for name, a in arrays.items()} == {
        name: (a.dtype, a.shape, a.tolist()) for name, a in ARRAYS.items()
    }
    assert pack(state, arrays) == content == zipped_again(content)


def zipped_again(content: bytes) -> bytes:
    return pack(*unpack(content))


def test_every_flipped_bit_and_every_cut_is_refused_or_harmless():
    content = pack(STATE, ARRAYS)
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        for mutant in (bytes(flipped), content[:place]):
            try:
                state, arrays = unpack(mutant)
            except ProblemError:
                continue
            assert pack(state, arrays) == content  # dates and comments of the zip file


def described(kind: str, shape: str) -> bytes:
    return npy(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}")


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({}, "state.json"),
        ({"state.json": b"[1]"}, "not an object"),
        ({"state.json": b"[" * 100_000}, "nested"),
        ({"state.json": b"{}", "a.npy": described("|O", "(1,)")}, "another kind"),
        ({"state.json": b"{}", "a.npy": described("<f8", "(-1,)")}, "another kind"),
        ({"state.json": b"{}", "a.npy": described("<f8", "(10000000000,)")}, "as long as it says"),
        ({"state.json": b"{}", "a.npy": npy("(" * 5000)}, "not a saved learner"),
        ({"state.json": b"{}", "a.npy": npy("{}", version=b"\x03\x00")}, "version"),
        ({"state.json": b"{}", "a.npy": b""}, "not a saved learner"),
    ],
)
def test_contents_that_lie_are_refused(entries, words):
    with pytest.raises(ProblemError, match=words):
        unpack(zipped(entries))


def test_a_file_without_its_checksum_or_with_another_is_refused():
    with pytest.raises(ProblemError, match="sha256"):
        unpack(zipped({"state.json": b"{}"}, sign=False))
    with pytest.raises(ProblemError, match="checksum"):
        unpack(zipped({"state.json": b"{}", "sha256": b"0" * 64}, sign=False))


def test_a_zip_bomb_and_too_many_files_are_not_unpacked(monkeypatch):
    monkeypatch.setattr(storage, "LARGEST", 10_000)
    with pytest.raises(ProblemError, match="larger than 10 kB"):
        unpack(zipped({"state.json": b" " * 1_000_000}))
    with pytest.raises(ProblemError, match="too many"):
        unpack(zipped({f"{k}.npy": b"" for k in range(2000)}))
    with pytest.raises(TooLargeError):
        pack({}, {"wide": np.zeros(10_000)})


def test_numbers_that_json_does_not_have_are_not_read():
    with pytest.raises(ProblemError):
        unpack(zipped({"state.json": b'{"a": ' + b"9" * 5000 + b"}"}))


def save_often(path: str, number: int, count: int) -> None:
    snapshot = {"saver": number}, {"wide": np.full(20_000, number)}
    for _ in range(count):
        write_snapshot(path, snapshot)


def test_two_savers_of_one_path_leave_one_whole_file(tmp_path):
    path = tmp_path / "learner.zip"
    context = multiprocessing.get_context("fork")
    savers = [context.Process(target=save_often, args=(str(path), k, 60)) for k in (1, 2)]
    for saver in savers:
        saver.start()
    seen = set()
    while any(saver.is_alive() for saver in savers):
        if path.exists():
            state, arrays = read_snapshot(path)  # whole, whoever wrote it
            assert (arrays["wide"] == state["saver"]).all()
            seen.add(state["saver"])
    for saver in savers:
        saver.join()
    assert [saver.exitcode for saver in savers] == [0, 0]
    assert seen
    assert os.listdir(tmp_path) == ["learner.zip"]  # no drafts


def test_saving_flushes_the_file_before_it_takes_its_name(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append("fsync"), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append("replace"), replace(a, b)))
    make_learner("ucb1", 2).save(tmp_path / "learner.zip")
    assert calls == ["fsync", "replace", "fsync"]  # the last one is the folder's


def test_a_saved_learner_is_loaded_and_goes_on(tmp_path):
    bandit = example1()
    learner = make_learner("thompson", bandit, 100)
    play(learner, BanditWorld(bandit, 0), 100)
    learner.save(tmp_path / "learner.zip")
    assert pack(*load_learner(tmp_path / "learner.zip").snapshot()) == pack(*learner.snapshot())


def test_only_regular_files_of_a_sane_size_are_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(OSError, match="Larger than 4 bytes"):
        read_file(path, 4)
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path)
    with pytest.raises(OSError, match="Not a regular file"):
        read_file("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        read_file(tmp_path / "pipe")


def test_state_json_is_as_it_was():
    with zipfile.ZipFile(io.BytesIO(pack(STATE, ARRAYS))) as archive:
        assert json.loads(archive.read("state.json")) == STATE
        assert archive.namelist() == [
            "state.json", "law.npy", "plays.npy", "sums.npy", "sha256",
        ]  # fmt: skip
