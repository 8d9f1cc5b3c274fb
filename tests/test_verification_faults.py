"""The fuzzer, the kills and the resumed learners notice what they are there to notice."""

from __future__ import annotations

import os
import random
import sys
import time
from copy import deepcopy
from pathlib import Path

import pytest

from restive.learners import LEARNERS
from restive.model.files import load_problem
from restive.problems import example1

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the suite is not installed with the package

from verification import faults, fuzzing, interrupts, mutants, validators  # noqa: E402

PROBLEM = '[[arms]]\ntransitions = [[0.5, 0.5], [0.25, 0.75]]\nrewards = [0, 1]\n'  # fmt: skip


def target(read, valid=lambda path, product: True):
    def mutate(folder, rng):
        (folder / "file").write_text(str(rng.random()))
        return folder / "file"

    return fuzzing.Target("made up", mutate, read, valid)


def crash(path):
    raise KeyError("nobody expected this")


def hang(path):
    time.sleep(60)


def flood(path):
    return bytearray(3 << 30)


@pytest.mark.parametrize(
    ("read", "outcome"), [(crash, "traceback"), (hang, "hang"), (flood, "flood"), (str, "accepted")]
)
def test_the_fuzzer_notices(read, outcome, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzzing, "HANG", 0.5)
    seen = fuzzing.fuzz(target(read), tmp_path, 1)
    assert seen.total() == 1
    assert next(iter(seen)).startswith(outcome)


def test_the_fuzzer_does_not_take_compiling_for_a_hang(tmp_path, monkeypatch):
    """What takes long or much memory only the first time is no harm that a mutant does."""
    monkeypatch.setattr(fuzzing, "HANG", 0.5)
    ready = tmp_path / "compiled"

    def read(path):
        if not ready.exists():
            time.sleep(1.0)
            ready.write_text("now it is")

    assert fuzzing.fuzz(target(read), tmp_path, 3) == {"accepted": 3}


def test_the_fuzzer_notices_what_should_not_have_been_accepted(tmp_path):
    seen = fuzzing.fuzz(target(str, lambda path, product: False), tmp_path, 3)
    assert sum(n for what, n in seen.items() if what.startswith("wrongly accepted")) == 3


def test_the_validator_of_problems_is_no_rubber_stamp(tmp_path):
    path = tmp_path / "problem.toml"
    path.write_text(PROBLEM)
    bandit = load_problem(path)
    assert validators.valid_problem(path, bandit)
    assert not validators.valid_problem(path, example1())
    for good, bad in (
        ("0.25", "0.2"),
        ("0.75", "-0.75"),
        ("1]\n", "2]\n"),
        ("rewards", "reward"),
        ("[0.5, 0.5]", "[1.0, 0.0]"),
        ("[[arms]]", "pulls = 2\n[[arms]]"),
    ):
        path.write_text(PROBLEM.replace(good, bad, 1))
        assert not validators.valid_problem(path, bandit), bad


def test_mutants_differ_and_follow_from_their_seed():
    data = PROBLEM.encode()
    many = [mutants.mutated_text(data, random.Random(k)) for k in range(50)]
    assert many == [mutants.mutated_text(data, random.Random(k)) for k in range(50)]
    assert len(set(many)) > 40


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_stopped_and_resumed(name):
    assert faults.resumed_equals(name, 4, 80) is True


def test_mutants_share_no_values():
    """What one mutant changes must not turn up in the next, nor within itself."""
    before = deepcopy(mutants.NASTY)
    for seed in range(300):
        mutants.mutated_document({"a": [[1], {"b": []}], "c": {}}, random.Random(seed))
    assert repr(mutants.NASTY) == repr(before)


def test_the_validator_of_data_takes_numbers_by_their_value():
    assert len({validators._cell(cell) for cell in (0, "0", 0.0, "-0.0", False, "false")}) == 1
    assert validators._cell("-0.1") != validators._cell("0.1")


def test_half_a_file_is_noticed(tmp_path):
    """Files written in the ordinary way are found half written by the kills."""
    path = tmp_path / "file"

    def work():
        with open(path, "wb") as stream:
            for _ in range(50):
                stream.write(b"x" * 100)
                stream.flush()
                time.sleep(0.005)

    whole = b"x" * 5000
    findings = list(faults._kills("made up", 5, work, tmp_path, lambda files: all(
        data == whole for data in files.values())))  # fmt: skip
    assert findings[0].verdict == "FAIL"
    assert findings[1].verdict == "pass"


@pytest.mark.parametrize(
    ("code", "complaint", "work", "wrong"),
    [
        (130, b"restive: stopped.\n", 0.9, ""),
        (130, b"Traceback (most recent call last):\n", 0.1, "a traceback"),
        (1, b"", 0.1, "exit code 1"),
        (130, b"", 1.5, "1.5 s of work after the signal"),
    ],
)
def test_interrupts_are_judged(code, complaint, work, wrong):
    assert interrupts._wrong(code, complaint, work) == wrong


def test_work_after_an_interrupt_is_measured():
    """A process that waits for the signal, then works for a while before it ends."""
    busy = (
        "import signal, sys, time\n"
        "def work(*_):\n"
        "    end = time.process_time() + 0.3\n"
        "    while time.process_time() < end: pass\n"
        "    sys.exit(130)\n"
        "signal.signal(signal.SIGINT, work)\n"
        "while True: time.sleep(60)\n"
    )
    ending = None
    for moment in (0.2, 1.0, 5.0, 25.0):  # on a busy machine Python may not yet listen at first
        ending = interrupts.interrupted([sys.executable, "-c", busy], moment, dict(os.environ))
        if ending and not ending.wrong and ending.work > 0.25:
            break
    assert ending
    assert 0.25 < ending.work < 0.9
