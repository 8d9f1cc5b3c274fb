"""Faults: kills while files are written, learners stopped and resumed."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import numpy as np

from verification import Check, Finding, Settings, judge

__all__ = ["CHECKS"]

Files = dict[str, bytes]


def _files(folder: Path) -> Files:
    """Whole files of a folder; drafts are not files yet."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".draft")
    }


def _forked(work: Callable[[], None]) -> int:
    """Start ``work`` in a process of its own that has everything imported already."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            work()
            status = 0
        finally:
            os._exit(status)
    return child


def _killed(work: Callable[[], None], moment: float) -> bool:
    """Kill -9 the work after so many seconds; whether it was still running."""
    child = _forked(work)
    end = monotonic() + moment
    while monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        sleep(0.001)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _kills(
    name: str, kills: int, work: Callable[[], None], folder: Path, allowed: Callable[[Files], bool]
) -> Iterator[Finding]:
    """Kill the work again and again; after each kill all whole files must be allowed ones."""
    began = monotonic()
    os.waitpid(_forked(work), 0)
    span, rng = monotonic() - began, random.Random(name)
    expected = _files(folder)
    harmed = count = 0
    while count < kills:
        for path in folder.rglob("*"):
            if path.is_file() and rng.random() < 0.3:
                path.unlink()
        if _killed(work, rng.uniform(0, 1.1 * span)):
            count += 1
        harmed += not allowed(_files(folder))
    os.waitpid(_forked(work), 0)
    after = _files(folder)
    yield Finding(
        name, "after every kill -9 each file is whole or not there", f"{harmed} of {count} kills",
        "0", judge(harmed == 0),
    )  # fmt: skip
    yield Finding(
        name, "undisturbed in the end, it writes the same bytes", f"{len(after)} files", "equal",
        judge(set(after) == set(expected) and allowed(after)),
    )  # fmt: skip


def save(settings: Settings) -> Iterator[Finding]:
    """Kill a process that saves two states of a learner to one path in turn."""
    from restive.learners import make_learner
    from restive.problems import example1
    from restive.simulation import BanditWorld, play

    bandit = example1()
    learners = [make_learner("tied-sampling", bandit) for _ in range(2)]
    play(learners[1], BanditWorld(bandit, 0), 2000)
    with TemporaryDirectory() as name:
        folder = Path(name)
        whole = []
        for learner in learners:
            learner.save(folder / "learner.zip")
            whole.append((folder / "learner.zip").read_bytes())

        def work() -> None:
            for k in range(20):
                learners[k % 2].save(folder / "learner.zip")

        def allowed(files: Files) -> bool:
            return all(data in whole for data in files.values())

        yield from _kills("kill-save", settings.size(200, 10), work, folder, allowed)


def report(settings: Settings) -> Iterator[Finding]:
    """Kill a process that writes all files of a report."""
    from restive.experiments import compare
    from restive.report.comparison.report import write_report

    with TemporaryDirectory() as name:
        root = Path(name) / "comparison"
        compare(["example-1"], root, ["thompson", "ucb1"], 200, runs=3, workers=1)
        before = _files(root)

        folder = root / "report"

        def work() -> None:
            write_report(root, None, ["html", "md", "csv", "svg"])

        work()
        expected = _files(folder)

        def allowed(files: Files) -> bool:
            return all(expected.get(name) == data for name, data in files.items())

        yield from _kills("kill-report", settings.size(200, 5), work, folder, allowed)
        now = {name: data for name, data in _files(root).items() if not name.startswith("report/")}
        yield Finding(
            "kill-report", "the comparison itself is not touched", f"{len(now)} files", "equal",
            judge(now == before),
        )  # fmt: skip


def paper(settings: Settings) -> Iterator[Finding]:
    """Kill a process that runs a claim of the paper and writes its pages."""
    from restive.cli import app

    with TemporaryDirectory() as name:
        folder = Path(name)
        words = ["paper", "--quick", "--only", "example-1", "--workers", "1", "--out", name]

        def work() -> None:
            app(words, standalone_mode=False)

        os.waitpid(_forked(work), 0)
        expected = _files(folder)

        def allowed(files: Files) -> bool:
            return all(expected.get(name) == data for name, data in files.items())

        yield from _kills("kill-paper", settings.size(200, 5), work, folder, allowed)


def resume(settings: Settings) -> Iterator[Finding]:
    """Stop every learner at random moments, save it, load it as another one and go on."""
    from restive.learners import LEARNERS

    stops = settings.size(50, 8)
    different, refused = [], []
    for name in LEARNERS:
        equal = resumed_equals(name, stops, 400)
        (different if equal is False else refused if equal is None else []).append(name)
    count = len(LEARNERS) - len(refused)
    yield Finding(
        "resume", f"stopped and resumed at {stops} random moments, the same bytes as undisturbed",
        f"{count - len(different)} of {count} learners"
        + (f"; not {', '.join(different)}" if different else "")
        + (f"; cannot play these arms: {', '.join(refused)}" if refused else ""),
        "all", judge(not different and not refused),
    )  # fmt: skip


def resumed_equals(name: str, stops: int, steps: int) -> bool | None:
    """Whether pulls and memory are those of the undisturbed run; None if it refuses the arms."""
    from restive.base.errors import RestiveError
    from restive.learners import load_learner, make_learner
    from restive.learners.storage import pack
    from restive.problems import example1, gilbert_elliott
    from restive.simulation import BanditWorld

    rng = np.random.default_rng([17, steps, *name.encode()])
    for bandit in (example1(), gilbert_elliott(2)):
        try:
            whole, learner = (make_learner(name, bandit, steps, rng=4) for _ in range(2))
            break
        except RestiveError:
            continue
    else:
        return None
    record = BanditWorld(bandit, 1).record(steps)
    expected = whole.play_path(record.states, record.rewards)
    cuts = [0, *sorted(rng.choice(np.arange(1, steps), stops, replace=False).tolist()), steps]
    pulls: list[int] = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "learner.zip"
        for begin, end in pairwise(cuts):
            part = slice(begin, end)
            pulls += learner.play_path(record.states[:, part], record.rewards[:, part]).tolist()
            learner.save(path)
            learner = load_learner(path)
    return pulls == expected.tolist() and pack(*learner.snapshot()) == pack(*whole.snapshot())


CHECKS: dict[str, Check] = {
    "kill-save": save,
    "kill-report": report,
    "kill-paper": paper,
    "resume": resume,
}
