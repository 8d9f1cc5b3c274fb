"""Interrupts: Ctrl-C ends every command at any moment, with a warm cache and a cold one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic, sleep

import numpy as np

from verification import Check, Finding, Settings, judge

__all__ = ["CHECKS"]

PROGRAM = [sys.executable, "-m", "restive"]
LATEST = 6.0  # seconds of work before the signal
WAITING = 4.0  # seconds by the clock for one of work: who waits for workers has little of its own
PATIENCE = 120.0  # seconds after which a command that was interrupted counts as hanging
SOON = 1.0  # seconds of its own work in which a command must end, however busy the machine is
COMPARE = "compare example-1 --horizon 1e6 --runs 20 --out {}/new"
COMMANDS = {
    "inspect": "inspect example-3",
    "plan": "plan five-channels --time 30",
    "plan-slow": "plan {}/slow.toml --time 30",
    "draw": "plan example-3 --figure {}/policy.pdf",
    "bounds": "bounds four-channels",
    "learn": "learn example-3 --horizon 1e8",
    "compare": COMPARE,
    "dask": f"{COMPARE} --backend dask --workers 1",
    "ray": f"{COMPARE} --backend ray --workers 1",
    "report": "report {}/comparison",
    "paper": "paper --quick",
    "fit": "fit {}/log.csv -o {}/fitted.toml",
    "replay": "replay {}/log.csv",
}
COLD = ("plan", "learn", "compare", "fit")  # the same with every kernel to be compiled
NEEDS = {"dask": "distributed", "ray": "ray"}


@dataclass(frozen=True)
class Ending:
    """How a command ended: seconds since the signal, its own work in them, what was wrong."""

    wait: float
    work: float
    wrong: str = ""


def interrupts(settings: Settings) -> Iterator[Finding]:
    """Send SIGINT to every command at random moments: how soon it ends, and how."""
    from restive.experiments import compare
    from restive.model.files import dump_problem
    from restive.problems import random_problem

    # What a shell starts in its background ignores Ctrl-C, and so would all that we start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    slow = random_problem(10, 3, stickiness=0.95)  # too many arms for an exact plan
    with TemporaryDirectory() as name:
        room = Path(name)
        compare(["example-1"], room / "comparison", ["thompson"], 1000, runs=20, workers=1)
        _write_log(room / "log.csv", 50_000)
        (room / "slow.toml").write_text(dump_problem(slow, "toml"), "utf-8")
        for command in COMMANDS:
            if find_spec(NEEDS.get(command, "restive")):
                yield _finding(command, settings, room, False)
        for command in COLD[: settings.size(len(COLD), 1)]:
            yield _finding(command, settings, room, True)


def _finding(command: str, settings: Settings, room: Path, cold: bool) -> Finding:
    rng, endings = random.Random(command), []
    line = [*PROGRAM, *COMMANDS[command].replace("{}", str(room)).split()]
    for _ in range(settings.problems or settings.size(15, 1)):
        with TemporaryDirectory(dir=room) as cache:
            setting = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cold else {})}
            endings.append(_interrupted_early(line, rng.uniform(0.3, LATEST), setting))
    wrong = [ending.wrong for ending in endings if ending.wrong]
    middle, last = np.quantile([ending.wait for ending in endings], [0.5, 1.0])
    return Finding(
        f"interrupt-{command}{'-cold' if cold else ''}",
        f"SIGINT ends it in exit code 130, without a traceback, with at most {SOON:g} s of work",
        f"{len(endings) - len(wrong)} of {len(endings)}; work {max(e.work for e in endings):.2f} s "
        f"at most; median {middle:.2f} s, longest {last:.2f} s"
        + (f"; {wrong[0]}" if wrong else ""),
        "all", judge(not wrong),
    )  # fmt: skip


def _interrupted_early(line: list[str], moment: float, setting: dict[str, str]) -> Ending:
    """After so much work, or sooner if it needs less."""
    while (ending := interrupted(line, moment, setting)) is None:
        moment /= 2
    return ending


def interrupted(line: list[str], moment: float, setting: dict[str, str]) -> Ending | None:
    """How a command ends that is interrupted after so much work; None if it needed less."""
    with (
        TemporaryFile() as complaint,
        subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=complaint,
                         start_new_session=True, env=setting) as process,
    ):  # fmt: skip
        if _ended(process.pid, WAITING * moment, moment):
            return None
        used, began = _used(process.pid), monotonic()
        process.send_signal(signal.SIGINT)
        if not _ended(process.pid, PATIENCE):
            os.killpg(process.pid, signal.SIGKILL)
            return Ending(PATIENCE, PATIENCE, "it hung")
        work, wait = _used(process.pid) - used, monotonic() - began
        complaint.seek(0)
        return Ending(wait, work, _wrong(process.wait(), complaint.read(), work))


def _ended(process: int, seconds: float, work: float = inf) -> bool:
    """Whether it ends within so many seconds and so much work; its times can still be read then."""
    deadline = monotonic() + seconds
    while os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if monotonic() > deadline or _used(process) > work:
            return False
        sleep(0.01)
    return True


def _wrong(code: int, complaint: bytes, work: float) -> str:
    if b"Traceback" in complaint:
        return "a traceback"
    if code not in (130, 0, -signal.SIGINT):
        return f"exit code {code}"
    return f"{work:.1f} s of work after the signal" if work > SOON else ""


def _used(process: int) -> float:
    """Seconds of processor time of a process itself, without those that it started."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _write_log(path: Path, steps: int) -> None:
    """Two arms that stay as they are nine times in ten."""
    flips = np.random.default_rng(0).random((steps, 2)) < 0.1
    states = np.cumsum(flips, axis=0) % 2
    path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in states.tolist()), "utf-8")


CHECKS: dict[str, Check] = {"interrupts": interrupts}
