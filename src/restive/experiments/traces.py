"""Traces as problems of an experiment: every run plays a stretch of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from restive.base.arrays import Bools, Floats
from restive.base.errors import Fault, refusal
from restive.base.words import shown
from restive.data.files import READERS
from restive.data.fitting import fit
from restive.data.reading import read_traces
from restive.data.trace_world import trace_world
from restive.data.traces import Traces
from restive.experiments.named_problem import NamedProblem
from restive.learners import Learner
from restive.simulation.scoring import marks
from restive.simulation.traced import TraceWorld, play_trace

READING = ("arm", "time", "state", "reward", "piece", "arms", "cut", "labels", "rewards", "tick",
           "break_after")  # fmt: skip


def is_trace(word: str) -> bool:
    """Whether the word is the path of a data file."""
    return Path(word).suffix.lower() in READERS


def trace_in_file(item: Mapping[str, Any], folder: Path) -> NamedProblem:
    """A table of an experiment file: trace, one path or several, with the options of a reading."""
    paths = item["trace"] if isinstance(item["trace"], list) else [item["trace"]]
    if not paths or not all(isinstance(path, str) for path in paths):
        remedy = "Give the path of a data file, or several in a list."
        raise refusal("trace", "not paths", shown(item["trace"]), remedy)
    reading = {key: value for key, value in item.items() if key in READING}
    traces = read_traces([folder / path for path in paths], **reading)
    return trace_problem(traces, item.get("name") or Path(paths[0]).stem)


def trace_problem(traces: Traces, name: str) -> NamedProblem:
    """A trace under the name it has in this experiment, with the arms fitted to all of it."""
    world = trace_world(traces)
    bandit = fit(traces, name=name).bandit
    digest = sha256(repr(world.states.shape).encode())
    digest.update(np.ascontiguousarray(world.states, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(world.rewards, dtype="<f8").tobytes())
    return NamedProblem(name, bandit, digest.hexdigest(), world)


def stretch_faults(
    problems: Sequence[NamedProblem], horizons: Sequence[int], runs: int
) -> list[Fault]:
    """Traces too short for all runs to play a stretch of their own."""
    faults = []
    for problem in problems:
        steps = None if problem.trace is None else problem.trace.steps
        if steps is not None and max(horizons, default=0) * runs > steps:
            remedy = (
                f"Give horizons of at most {steps // runs:,} steps for {runs} runs, or fewer runs: "
                "each plays a stretch of its own."
            )
            message = f"the trace {problem.name} has {steps:,} steps, too few for {runs} runs"
            faults.append(Fault("horizons", message, str(max(horizons)), remedy))
    return faults


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
