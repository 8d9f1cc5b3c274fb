"""Fuzzing: thousands of damaged files, none of which may end in a traceback, a hang or a flood."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from verification import Check, Finding, Settings, judge
from verification.fuzz_targets import TARGETS, Target

__all__ = ["CHECKS", "fuzz"]

HANG = 10.0  # seconds for one mutant
FLOOD = 1 << 30  # bytes beyond what the process holds before
BATCH = 250  # mutants to a process


def fuzz(target: Target, room: Path, count: int, seed: int = 0) -> Counter[str]:
    """What became of ``count`` mutants, by kind: refused, accepted, or what must not happen."""
    seen: Counter[str] = Counter()
    done = 0
    while done < count:
        results = _read(target, room, seed, range(done, min(count, done + BATCH)))
        if results[-1] not in ("refused", "accepted"):
            results[-1] = _confirmed(target, room, seed, done + len(results) - 1)
        seen.update(results)
        done += len(results)
    return seen


def _confirmed(target: Target, room: Path, seed: int, number: int) -> str:
    """What comes of a mutant once all it needs is compiled: that is no harm it does."""
    _read(target, room, seed, range(number, number + 1), rehearsal=True)
    return _read(target, room, seed, range(number, number + 1))[0]


def _read(
    target: Target, room: Path, seed: int, numbers: range, rehearsal: bool = False
) -> list[str]:
    """What becomes of mutants in a process of its own, up to the first that does harm.

    rehearsal: with time to compile and without a limit of memory.
    """
    log = room / "log"
    log.write_text("")
    child = os.fork()
    if child == 0:
        _work(target, room, log, seed, numbers, 0 if rehearsal else FLOOD)
    ended, status = _watched(child, log, 10 * HANG if rehearsal else HANG)
    results = [line for line in log.read_text().splitlines() if not line.startswith("start")]
    if not ended or status:  # killed by the watchdog, or crashed
        number = numbers[len(results)]
        results.append(f"crash of mutant {number} ({status})" if ended else f"hang of {number}")
    return results


def _work(target: Target, room: Path, log: Path, seed: int, numbers: range, limit: int) -> None:
    """Read mutants in this process, which ends here."""
    status = 1
    try:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
        with open(log, "a", buffering=1) as stream:
            for number in numbers:
                stream.write(f"start {number}\n")
                outcome = _outcome(target, room, seed, number, limit)
                stream.write(outcome + "\n")
                if outcome not in ("refused", "accepted"):
                    break
        status = 0
    finally:
        os._exit(status)


@contextmanager
def _at_most(limit: int) -> Iterator[None]:
    """So many bytes more than the process holds, or any number if 0."""
    if not limit:
        yield
        return
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _outcome(target: Target, room: Path, seed: int, number: int, limit: int) -> str:
    """What becomes of a mutant; the limit is for who reads it, not for who checks it after."""
    from restive.base.errors import RestiveError

    folder = room / "mutant"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = target.mutate(folder, random.Random(f"{target.name} {seed} {number}"))
    try:
        with _at_most(limit):
            product = target.read(path)
    except (RestiveError, OSError):
        return "refused"
    except MemoryError:
        return f"flood of mutant {number}"
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return f"traceback of mutant {number}: {type(error).__name__} in {place}"
    try:
        return "accepted" if target.valid(path, product) else f"wrongly accepted: {number}"
    except Exception as error:
        return f"wrongly accepted: {number} ({type(error).__name__}: {error})".splitlines()[0]


def _watched(child: int, log: Path, patience: float) -> tuple[bool, int]:
    """Whether the process ended by itself, and how; killed if one mutant takes too long."""
    size, since = -1, monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return True, status
        if log.stat().st_size != size:
            size, since = log.stat().st_size, monotonic()
        elif monotonic() - since > patience:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False, 0
        sleep(0.02)


def _check(name: str) -> Check:
    def check(settings: Settings) -> Iterator[Finding]:
        count = settings.size(5000, 60)
        with TemporaryDirectory() as folder:
            seen = fuzz(TARGETS[name](Path(folder)), Path(folder), count, settings.seed)
        harm = {what: n for what, n in seen.items() if what not in ("refused", "accepted")}
        false = sum(n for what, n in harm.items() if what.startswith("wrongly"))
        bad = sum(harm.values()) - false
        # what was accepted wrongly is counted apart, and must not hide the rest
        worst = f"; {min(harm, key=lambda what: what.startswith('wrongly'))}" if harm else ""
        yield Finding(
            name, f"none of {count:,} mutants ends in a traceback, a hang or more than 1 GB",
            f"{bad}, {seen['refused']:,} refused (seed {settings.seed}){worst}", "0",
            judge(bad == 0),
        )  # fmt: skip
        yield Finding(
            name, "every mutant that is accepted is valid, says a validator written apart",
            f"{false} of {seen['accepted'] + false:,} are not", "0", judge(false == 0),
        )  # fmt: skip

    return check


CHECKS: dict[str, Check] = {f"fuzz-{name}": _check(name) for name in TARGETS}
