"""Comparisons: killed at random moments and on any workers, they end with the same bytes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from verification import Check, Finding, Settings, judge

__all__ = ["CHECKS"]

PROGRAM = [sys.executable, "-c", "from restive.cli import main; main()", "compare"]
EXPERIMENT = """
problems = ["example-1", {{ gallery = "random", parameters = {{ n_arms = 3, n_states = 2 }} }}]
learners = ["tied-sampling", "ucb1", "best-arm"]
horizons = [500, {horizon}]
runs = {runs}
seed = 5
"""
NOT_COMPARED = ("log.jsonl", ".lock")  # when and where: these differ
BACKENDS = {
    "1 worker": ("--workers", "1"),
    "2 workers": ("--workers", "2"),
    "8 workers": ("--workers", "8"),
    "Dask": ("--backend", "dask", "--workers", "2"),
    "Ray": ("--backend", "ray", "--workers", "2"),
}

Files = dict[str, bytes]


def _start(experiment: Path, where: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*PROGRAM, str(experiment), "--out", str(where), *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def _files(where: Path) -> Files:
    """What must not depend on how it came about, by path; drafts are not files yet."""
    return {
        path.relative_to(where).as_posix(): path.read_bytes()
        for path in where.rglob("*")
        if path.is_file() and path.name not in NOT_COMPARED and not path.name.endswith(".draft")
    }


def _cells(files: Files) -> Files:
    return {name: data for name, data in files.items() if name.startswith(("cells/", "plans/"))}


class _Target:
    """Comparisons that are killed, directory after directory, and what was seen of it."""

    def __init__(self, room: Path, experiment: Path, wanted: Files, rng: random.Random) -> None:
        self.room, self.experiment, self.wanted, self.rng = room, experiment, wanted, rng
        self.kills = self.busy = self.lost = self.wrong = self.directories = self.unequal = 0

    def exhaust(self, kills: int) -> None:
        while self.kills < kills:
            self._one_directory(kills)

    def _one_directory(self, kills: int) -> None:
        where = self.room / f"killed-{self.directories}"
        self.directories += 1
        before: Files = {}
        ended = False
        while not ended:
            ended = self._attempt(where, self.kills < kills)
            files = _files(where)
            self.lost += sum(files.get(name) != data for name, data in before.items())
            before = _cells(files)
            self.wrong += sum(self.wanted.get(name) != data for name, data in before.items())
            self.busy += bool(before) and not ended and len(before) < len(_cells(self.wanted))
        self.unequal += _files(where) != self.wanted

    def _attempt(self, where: Path, kill: bool) -> bool:
        """Start the comparison; whether it came to its end before it was killed."""
        process = _start(self.experiment, where, "--workers", self.rng.choice("12"))
        if kill and self._stopped(process, where):
            self.kills += 1
            return False
        if process.wait():
            raise RuntimeError(f"restive compare ended with {process.returncode} in {where}")
        return True

    def _stopped(self, process: subprocess.Popen[bytes], where: Path) -> bool:
        """Kill it at a random moment, every fourth time while it starts; False if it was quicker.

        Moments are counted from the first new cell, so that a slow start cannot take all kills.
        """
        if self.rng.random() < 0.25:
            _wait(process, self.rng.uniform(0, 2.0))
        else:
            before = _count(where)
            while process.poll() is None and _count(where) == before:
                sleep(0.005)
            _wait(process, self.rng.uniform(0, 1.0))
        if process.poll() is not None:
            return False
        if self.rng.random() < 0.5:
            os.killpg(process.pid, signal.SIGKILL)  # the workers too
        else:
            process.kill()
        process.wait()
        return True


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _count(where: Path) -> int:
    return sum(1 for _ in where.glob("cells/*/*/*.json"))


def kills(settings: Settings) -> Iterator[Finding]:
    """Kill comparisons at random moments, let each go on to its end, and look at the files."""
    with TemporaryDirectory() as name:
        room = Path(name)
        experiment = _write(room, runs=settings.size(12, 3), horizon=3000)
        process = _start(experiment, room / "undisturbed", "--workers", "2")
        if process.wait():
            raise RuntimeError("the undisturbed comparison failed")
        target = _Target(room, experiment, _files(room / "undisturbed"), random.Random(0))
        target.exhaust(settings.size(200, 5))
    seen = f"{target.kills} kills, {target.busy} of them amid the cells"
    yield Finding(
        "kills", "at least half of the kills come amid the cells, so that they could do harm",
        f"{target.busy} of {target.kills}", f">= {target.kills / 2:g}",
        judge(2 * target.busy >= target.kills),
    )  # fmt: skip
    harmed = target.lost + target.wrong
    yield Finding(
        "kills", "no finished cell is lost or changed by a kill",
        f"{harmed} cells in {seen}", "0", judge(harmed == 0),
    )  # fmt: skip
    yield Finding(
        "kills", "killed comparisons end with the bytes of an undisturbed one",
        f"{target.directories - target.unequal} of {target.directories} directories",
        "all", judge(target.unequal == 0),
    )  # fmt: skip


def backends(settings: Settings) -> Iterator[Finding]:
    """Run the same comparison on other workers and compare all bytes."""
    with TemporaryDirectory() as name:
        room = Path(name)
        experiment = _write(room, runs=settings.size(8, 2), horizon=1000)
        chosen = list(BACKENDS)[: settings.size(len(BACKENDS), 2)]
        wanted: Files = {}
        for backend in chosen:
            yield _same_bytes(room, experiment, backend, wanted)


def _same_bytes(room: Path, experiment: Path, backend: str, wanted: Files) -> Finding:
    """Compare with ``wanted``, which the first of them fills."""
    claim = "the same bytes as one worker writes"
    if (
        backend in ("Dask", "Ray")
        and find_spec("distributed" if backend == "Dask" else "ray") is None
    ):
        return Finding(backend, claim, "not installed", "", "skipped")
    where = room / backend.replace(" ", "-")
    began = perf_counter()
    code = _start(experiment, where, *BACKENDS[backend]).wait()
    files = {} if code else _files(where)
    wanted.update(files if not wanted else {})
    words = f"{len(files)} files in {perf_counter() - began:.1f} s"
    return Finding(backend, claim, words, "equal", judge(bool(files) and files == wanted))


def _write(room: Path, runs: int, horizon: int) -> Path:
    path = room / "experiment.toml"
    path.write_text(EXPERIMENT.format(runs=runs, horizon=horizon), "utf-8")
    return path


CHECKS: dict[str, Check] = {"kills": kills, "backends": backends}
