"""One cell: a learner's run on a problem, with the same result in any process."""

from __future__ import annotations

import platform
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from restive.base.arrays import Bools, Floats
from restive.base.errors import Fault, ProblemError, RestiveError, TooLargeError, refuse
from restive.base.machine import installed_version
from restive.base.words import first_line, kind_and_line
from restive.experiments.participants import Participant
from restive.experiments.underway import noted
from restive.learners import Learner
from restive.learners.plain import as_learner
from restive.many.several_pulls import PullsPlan
from restive.many.yardsticks import yardstick_within
from restive.model.bandit import Bandit
from restive.planning import Plan, Refusal
from restive.simulation import BanditWorld, TraceWorld, play
from restive.simulation.scoring import marks
from restive.simulation.traced import play_trace

PATIENCE = 20.0  # seconds that the plan behind the regret may take by its forecast
MEMORY = 1 << 30  # bytes it may take; fixed, so that no machine's size decides on a result
LONGEST = 10**12  # steps
MOST_RUNS = 10**6
MOST_CELLS = 10**6  # runs of all learners on all problems; each is a file of about 5 kB
MOST_STEPS = 10**15  # of all runs; a year for the quickest learners on one core
PACKAGES = ("restive", "numpy", "scipy", "numba")
SOURCES = "restive sources"  # beside them, a hash
HOME = Path(__file__).parent.parent  # of the package


class Cell(NamedTuple):
    """One run of one learner; ``PLAN`` as the learner stands for the plan of the problem."""

    problem: str
    learner: str
    horizon: int
    run: int

    @property
    def place(self) -> tuple[str, str, int]:
        return self[:3]


PLAN = ""  # no learner has an empty label
NO_BEST = "on a trace there is no best policy to know"


@dataclass(frozen=True)
class Job:
    """A cell with everything it follows from."""

    cell: Cell
    bandit: Bandit
    participant: Participant | None  # None: plan the problem
    seed: int
    delta: float
    versions: Mapping[str, str]
    trace: TraceWorld | None = None  # the world, if it is a recorded one


class CellOutcome(NamedTuple):
    """What a job came to.

    failure: one line about the exception that the learner raised, empty if all went well; other
    jobs are no worse for it. error: a traceback; without a failure it is nothing of the learner's
    doing, such as a worker with other versions, and none of the jobs can do better.
    """

    cell: Cell
    result: dict[str, Any]  # the same wherever it ran
    spent: dict[str, Any]  # seconds and place: not the same
    error: str = ""
    failure: str = ""


class _LearnerError(Exception):
    """A learner raised what it should not have; the cause is the exception."""


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Versions of everything that the numbers come from; restive's own files may change under one.

    An installation that points to a working copy keeps its version while it is worked on.
    """
    return {name: installed_version(name) for name in PACKAGES} | {SOURCES: _source_hash(HOME)}


def _source_hash(home: Path) -> str:
    """Of the names and contents of all Python files under ``home``."""
    digest = sha256()
    for path in sorted(home.rglob("*.py"), key=lambda path: path.relative_to(home).parts):
        data = path.read_bytes().replace(b"\r\n", b"\n")  # as a checkout may write them
        digest.update(f"{path.relative_to(home).as_posix()}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:16]


def run_batch(jobs: Sequence[Job], notes: Path | None = None) -> list[CellOutcome]:
    """Run jobs one after the other. notes: folder in which long ones tell how far they are."""
    return [run_job(job, notes) for job in jobs]


def run_job(job: Job, notes: Path | None = None) -> CellOutcome:
    """Run one job; what it raises comes back as text, so that it cannot be lost on the way."""
    spent: dict[str, Any] = {"host": platform.node()}
    try:
        _check_versions(job.versions)
        run = _planned(job) if job.participant is None else _played(job, job.participant, notes)
    except _LearnerError as failed:
        cause = failed.__cause__ or failed
        text = "".join(traceback.format_exception(cause))
        return CellOutcome(job.cell, {}, spent, text, kind_and_line(cause))
    except Exception:
        return CellOutcome(job.cell, {}, spent, traceback.format_exc())
    return CellOutcome(job.cell, run[0], spent | run[1])


def _planned(job: Job) -> tuple[dict[str, Any], dict[str, float]]:
    began = perf_counter()
    record: dict[str, Any] = {"note": "", "gain": None, "lower": None, "upper": None}
    if job.trace is not None:
        return record | {"note": NO_BEST}, {"seconds": 0.0}
    best = yardstick(job.bandit)
    if isinstance(best, Refusal):
        record["note"] = best.reason
    else:
        record["note"] = best.note
        record |= {"gain": best.gain, "lower": best.gain_lower, "upper": best.gain_upper}
        record["tolerance"] = best.tolerance
    return record, {"seconds": perf_counter() - began}


def _played(
    job: Job, participant: Participant, notes: Path | None
) -> tuple[dict[str, Any], dict[str, float]]:
    known: Plan | PullsPlan | None = None
    if job.trace is None and not isinstance(best := yardstick(job.bandit), Refusal):
        known = best
    began, cell = perf_counter(), job.cell
    luck = np.random.default_rng(_seeds(job.seed, "learner", *_shared(cell), cell.learner))
    building = True
    try:
        with participant.importing():
            player = participant.build(job.bandit, cell.horizon, job.delta, luck)
            learner = as_learner(player, job.bandit.n_arms)
            building = False
            record = _record(job, learner, known, notes)
    except (Exception, SystemExit) as error:
        if not _refusal(error, participant, building):
            raise _LearnerError from error
        return {"refused": first_line(error, None)}, {"seconds": perf_counter() - began}
    planning = learner.planning_seconds
    return record, {"seconds": perf_counter() - began, "planning_seconds": planning}


def _record(
    job: Job, learner: Learner, known: Plan | PullsPlan | None, notes: Path | None
) -> dict[str, Any]:
    """One run of a learner, for its file."""
    cell = job.cell
    if job.trace is not None:
        return played_stretch(learner, job.trace, cell.horizon, cell.run)
    world = BanditWorld(job.bandit, _seeds(job.seed, "world", *_shared(cell)))
    with noted(notes, cell.horizon) as tell:
        run = play(learner, world, cell.horizon, plan=known, progress=tell)
    return {
        "rewards": run.rewards.tolist(),
        "gap_regret": None if run.gap_regret is None else run.gap_regret.tolist(),
        "boundary": run.boundary,
        "episodes": len(run.episodes),
        "pulls": list(run.pulls),
    }


def played_stretch(learner: Learner, trace: TraceWorld, horizon: int, run: int) -> dict[str, Any]:
    """What a learner did on the stretch of a run.

    rewards: sums along the marks. against: what the stretch's best single arm earned up to there:
    its own rewards on a trace without gaps, else its mean for every recorded pull.
    """
    world = trace.part(run * horizon, (run + 1) * horizon)
    replayed = play_trace(learner, world)
    at = marks(horizon) - 1
    counted = replayed.counted
    pulls = np.bincount(replayed.pulls[counted], minlength=world.n_arms)
    return {
        "rewards": np.cumsum(np.nan_to_num(replayed.paid))[at].tolist(),
        "against": _best_arm(world, counted)[at].tolist(),
        "gap_regret": None,
        "boundary": None,
        "episodes": len(learner.episodes),
        "pulls": pulls.tolist(),
        "missed": int((~counted).sum()),
    }


def _best_arm(world: TraceWorld, counted: Bools) -> Floats:
    """What the best single arm of a stretch earns along it."""
    if world.complete:
        best = world.rewards[int(world.rewards.sum(axis=1).argmax())]
        return np.asarray(np.cumsum(best))
    known = [row[seen] for row, seen in zip(world.rewards, world.seen, strict=True)]
    rate = max((float(row.mean()) for row in known if len(row)), default=0.0)
    return np.asarray(rate * np.cumsum(counted))


def _shared(cell: Cell) -> tuple[str, int, int]:
    """What all learners of a run have in common."""
    return cell.problem, cell.horizon, cell.run


def _refusal(error: BaseException, participant: Participant, building: bool) -> bool:
    """Whether the learner says by it that it cannot play this; anything else is a failure.

    Our own learners may find out while they play. A bare ArithmeticError is theirs too: an arm
    mixes too slowly to count its steps. Its subclasses, such as OverflowError, are accidents.
    """
    if participant.own:
        return building and isinstance(error, ProblemError | TooLargeError)
    return isinstance(error, RestiveError) or type(error) is ArithmeticError


def _seeds(seed: int, *words: str | int) -> np.random.SeedSequence:
    """Seeds that follow from the names alone, not from how many others there are."""
    digest = sha256("\0".join(map(str, words)).encode()).digest()
    key = np.frombuffer(digest, dtype="<u4").astype(int).tolist()
    return np.random.SeedSequence(seed, spawn_key=key)


@lru_cache(maxsize=8)
def yardstick(bandit: Bandit) -> Plan | PullsPlan | Refusal:
    """A plan for rho*, as fine as PATIENCE and MEMORY allow by forecast, on any machine."""
    return yardstick_within(bandit, PATIENCE, memory=MEMORY, compiled=True)


def _check_versions(expected: Mapping[str, str]) -> None:
    """Refuse to mix results of different versions, as workers of a cluster may have them."""
    remedy = "Install the same versions on all workers."
    what = {SOURCES: "other files than those with the hash"}
    faults = [
        Fault(f"worker: {name}", f"{what.get(name, 'another version than')} {expected[name]}",
              installed, remedy)
        for name, installed in versions().items()
        if expected.get(name, installed) != installed
    ]  # fmt: skip
    refuse(faults)
