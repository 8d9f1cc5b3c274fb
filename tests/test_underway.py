"""Long runs tell how far they are while they run."""

from __future__ import annotations

from threading import Event

import pytest

from restive.experiments import Experiment, underway
from restive.experiments.progress import Teller, Watcher
from restive.experiments.underway import Underway, followed, noted
from restive.problems import example1
from restive.simulation.worlds import BLOCK

HORIZON = 3 * BLOCK


@pytest.fixture
def eager(monkeypatch):
    monkeypatch.setattr(underway, "QUIET", 0.0)
    monkeypatch.setattr(underway, "PAUSE", 0.001)


def test_a_run_tells_its_steps_in_a_draft_that_goes_with_it(tmp_path, eager):
    with noted(tmp_path, 100) as tell:
        assert underway.underway(tmp_path) == []
        tell(25, 3.5)
        (run,) = underway.underway(tmp_path)
        assert run[:2] == (25, 100)
        assert all(path.name.endswith(".draft") for path in tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_short_runs_write_nothing_and_lost_folders_stop_nobody(tmp_path, monkeypatch):
    with noted(tmp_path, 100) as tell:
        tell(25, 3.5)
        assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(underway, "QUIET", 0.0)
    for folder in (None, tmp_path / "gone"):
        with noted(folder, 100) as tell:
            tell(25, 3.5)


@pytest.mark.parametrize(
    "content", ["", "1 2", "0 10 1", "11 10 1", "1 10 nan", "1 10 -1", "x 10 1", "1" * 200, "\xff"]
)
def test_notes_of_nothing_sensible_are_passed_over(tmp_path, content):
    (tmp_path / ".run.1-a.draft").write_text(content, "latin-1")
    (tmp_path / ".run.1-b.draft").write_text("3 10 1.5")
    assert underway.underway(tmp_path) == [Underway(3, 10, 1.5)]


class Told(Watcher):
    """Keeps what runs tell, and lets them go on."""

    def __init__(self):
        self.shares, self.left, self.heard = [], [], Event()

    def running(self, shares, seconds_left):
        self.shares.append(list(shares))
        self.left.append(seconds_left)
        self.heard.set()


def test_the_process_that_asked_hears_of_runs_before_they_end(tmp_path, eager):
    watcher = Told()

    class Waiting:
        """Does not come to its end before somebody heard how far it is."""

        def __init__(self, n_arms):
            self.asked = 0

        def ask(self):
            self.asked += 1
            assert self.asked < HORIZON or watcher.heard.wait(60), "nobody was told"
            return 0

        def tell(self, arm, state, reward):
            pass

    asked = Experiment({"one": example1()}, [Waiting], horizons=[HORIZON], runs=1)
    results = asked.run(tmp_path / "out", workers=1, watcher=watcher)
    assert not results.failures
    assert {share for (share,) in watcher.shares} <= {1 / 3, 2 / 3, 1.0}
    assert min(watcher.left) >= 0
    assert not list((tmp_path / "out").glob(".run*"))


def test_nobody_is_told_after_the_end(tmp_path, eager):
    heard = []
    (tmp_path / ".run.1-a.draft").write_text("3 10 1.5")
    with followed(tmp_path, heard.append):
        while not heard:
            pass
    count = len(heard)
    (tmp_path / ".run.1-a.draft").write_text("4 10 1.5")
    assert len(heard) == count


def test_a_notebook_is_told_in_one_line():
    lines = []
    teller = Teller(lines.append)
    teller.started(1, 20, None)
    teller.running([0.5, 0.00012], 90.0)
    assert lines[-1] == "comparing: 1 of 20 runs (5%), under way: 50%, 0.012%, about 90 s left"
