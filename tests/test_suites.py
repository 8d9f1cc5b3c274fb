"""Suites: frozen files, gains that hold when planned anew, and the command."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from restive.base import writing
from restive.base.errors import ProblemError
from restive.cli import app
from restive.model.files import load_problem
from restive.planning import plan
from restive.problems import example1, suites
from restive.problems.suites import freezing

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from verification import oracle

NAME = "restive-suite-v1"
# of the manifest, which holds the hashes of all files: v1 is what this says, for ever
FROZEN = "16fc654b170846d361e02bc114fc81f29bff75d49a14a0df8fc20a3081b26257"
BANDITS = suites.suite(NAME)
LISTED = {listed.name: listed for listed in suites.describe(NAME).problems}


def run(*words):
    return CliRunner().invoke(app, ["suite", *map(str, words)])


def test_version_1_never_changes():
    text = (suites.HOME / NAME / suites.MANIFEST).read_bytes()
    assert sha256(text).hexdigest() == FROZEN
    for listed in LISTED.values():
        data = (suites.HOME / NAME / listed.file).read_bytes()
        assert sha256(data).hexdigest() == listed.sha256
    files = {path.name for path in (suites.HOME / NAME).iterdir()}
    assert files == {suites.MANIFEST, *(listed.file for listed in LISTED.values())}


def test_the_manifest_describes_the_problems():
    assert list(BANDITS) == list(LISTED)
    for name, bandit in BANDITS.items():
        listed = LISTED[name]
        assert (listed.arms, listed.states) == (bandit.n_arms, bandit.n_states)
        assert listed.best_arm == bandit.best_arm
        assert listed.best_arm_gain == pytest.approx(bandit.arms[listed.best_arm].gain)
        assert (
            listed.gain_lower
            <= listed.gain
            <= listed.gain_upper
            <= listed.gain_lower + listed.tolerance
        )
        assert listed.gain_upper >= listed.best_arm_gain
    assert len({bandit.name for bandit in BANDITS.values()}) == len(BANDITS)


@pytest.mark.parametrize("name", BANDITS)
def test_gains_hold_when_planned_anew(name):
    """Two intervals that hold the same number meet."""
    bandit, listed = BANDITS[name], LISTED[name]
    best = plan(bandit, 1e-5 if bandit.n_arms < 4 else 1e-3)
    assert best.gain_lower <= listed.gain_upper
    assert listed.gain_lower <= best.gain_upper


@pytest.mark.parametrize(
    "name",
    ["random-2", "negative-correlation", "periods-2-and-3", "independent-states"],
)  # fmt: skip
def test_gains_hold_with_another_solver(name):
    low, high = oracle.best_gain(BANDITS[name])
    assert high - low < 1e-7
    assert LISTED[name].gain_lower - 1e-9 <= low
    assert high <= LISTED[name].gain_upper + 1e-9


@pytest.mark.parametrize(
    ("name", "gain"),
    [
        ("example-1", 0.7),
        ("example-2", 0.7),
        ("example-3", 0.6412169920),
        ("example-4-periodic", 0.7375),
        ("independent-coins", 0.6),  # the best mean
        ("independent-states", 0.65),  # 0.3 / 2 + 0.5
        ("lower-bound", 0.6),  # 1/2 + gap in every phase
    ],
)
def test_gains_known_by_hand(name, gain):
    value, low, high = suites.suite_gains(NAME)[name]
    assert low - 1e-9 <= gain <= high + 1e-9
    assert value == pytest.approx(gain, abs=1e-6)


def test_a_changed_file_is_noticed(monkeypatch, tmp_path):
    (tmp_path / NAME).mkdir()
    for path in (suites.HOME / NAME).iterdir():
        (tmp_path / NAME / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(suites, "HOME", tmp_path)
    assert suites.suite(NAME) == BANDITS
    path = tmp_path / NAME / "example-1.toml"
    path.write_text(path.read_text().replace("0.9", "0.90"))
    with pytest.raises(ProblemError, match="must not change"):
        suites.suite(NAME)


def test_freezing_leaves_no_file_half_written(tmp_path, monkeypatch):
    def full(*paths):
        raise OSError("disk full")

    monkeypatch.setattr(writing.os, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        freezing.freeze(tmp_path / "new", "cite", "words", {"one": (example1(), "test")})
    assert list((tmp_path / "new").iterdir()) == []


def test_freezing_a_suite_again_gives_the_same_files(tmp_path):
    kept = {name: (BANDITS[name], LISTED[name].purpose) for name in ("example-1", "ten-states")}
    freezing.freeze(tmp_path / "again", "cite", "words", kept)
    manifest = json.loads((tmp_path / "again" / suites.MANIFEST).read_text())
    assert [row["sha256"] for row in manifest["problems"]] == [LISTED[name].sha256 for name in kept]
    assert manifest["problems"][0]["gain"] == pytest.approx(LISTED["example-1"].gain, abs=1e-6)


def test_a_suite_is_found_as_it_is_cited():
    cited = suites.describe(NAME).citation
    assert cited != NAME
    assert suites.suite(cited) == BANDITS
    wanted = run(NAME, "--json").stdout
    for words in ([cited], cited.split()):
        shown = run(*words, "--json")
        assert (shown.exit_code, shown.stdout) == (0, wanted)
    assert run("restive-suite", "v0").exit_code == 2


def test_the_command_lists_suites():
    shown = run()
    assert shown.exit_code == 0
    assert NAME in shown.stdout
    assert "24" in shown.stdout
    listed = json.loads(run("--json").stdout)["suites"]
    assert [row["name"] for row in listed] == suites.suites() == [NAME]


def test_the_command_shows_a_suite():
    shown = run(NAME).stdout
    for name, entry in LISTED.items():
        line, purpose = (text for text in shown.splitlines() if text.startswith(f"{name} "))
        assert purpose.split(None, 1)[1] == entry.purpose
        before, after = line.split(" to ", 1)
        low, high = float(before.split()[-1]), float(after.split()[0])
        assert low <= entry.gain_lower <= entry.gain_upper <= high
        assert high - low < 2 * max(entry.tolerance, 1e-4)
    assert "restive-suite v1" in shown
    facts = json.loads(run(NAME, "--json").stdout)
    assert facts["citation"] == "restive-suite v1"
    assert facts["problems"][0]["gain_upper"] == LISTED["example-1"].gain_upper


def test_the_command_writes_the_files(tmp_path):
    folder = tmp_path / "new" / "suite"
    assert run(NAME, "--out", folder).exit_code == 0
    assert {entry.name: load_problem(folder / entry.file) for entry in LISTED.values()} == BANDITS
    manifest = (suites.HOME / NAME / suites.MANIFEST).read_bytes()
    assert (folder / suites.MANIFEST).read_bytes() == manifest
    assert run(NAME, "--out", folder).exit_code == 0  # the same again does no harm
    (folder / "random-1.toml").write_text("mine")
    refused = run(NAME, "--out", folder)
    assert refused.exit_code == 2
    assert "random-1.toml" in refused.stderr
    assert (folder / "random-1.toml").read_text() == "mine"


@pytest.mark.parametrize("words", [["restive-suite-v9"], ["--out", "somewhere"]])
def test_the_command_refuses_with_a_remedy(words):
    refused = run(*words)
    assert refused.exit_code == 2
    assert NAME in refused.stderr
    assert "Traceback" not in refused.stderr
