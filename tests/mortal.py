"""Learners that end their process once, fail or are slow, and what experiments leave behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from restive import problems
from restive.base.errors import Fault, ProblemError
from restive.learners import Learner, make_learner

__all__ = [
    "Alternating", "broken", "build", "kept", "misfit", "shaky", "slow", "thompson_twin",
    "unwilling",
]  # fmt: skip


def build(bandit, horizon, delta, rng, marker):
    """Thompson sampling, but the first to find no ``marker`` makes one and dies at once."""
    with suppress(FileExistsError):
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    return make_learner("thompson", bandit, horizon, delta, rng)


def broken(bandit, horizon, delta, rng):
    raise RuntimeError("a bug in somebody's learner")


def shaky(bandit, horizon, delta, rng, marker):
    """Thompson sampling that fails in about half of the runs until there is a ``marker``."""
    if rng.random() < 0.5 and not os.path.exists(marker):
        raise OverflowError("boom")
    return make_learner("thompson", bandit, horizon, delta, rng)


def misfit(bandit, horizon, delta, rng):
    """Made for another number of arms, which comes out when it plays."""
    return make_learner("thompson", problems.random_problem(5, 2, rng=1), horizon, delta, rng)


def unwilling(bandit, horizon, delta, rng):
    raise ProblemError([Fault("bandit", "not for me", "", "Give another.")])


def slow(bandit, horizon, delta, rng, seconds):
    """Thompson sampling that takes its time, so that there is a while to be interrupted in."""
    time.sleep(seconds)
    return make_learner("thompson", bandit, horizon, delta, rng)


def thompson_twin(bandit, horizon, delta, rng):
    return make_learner("thompson", bandit, horizon, delta, rng)


class Alternating(Learner):
    """Pulls arms in turn, written as a user would."""

    name = "alternating"

    def __init__(self, n_arms):
        self.n_arms, self.steps = n_arms, 0

    def ask(self):
        return self.steps % self.n_arms

    def tell(self, arm, state, reward):
        self.steps += 1

    def snapshot(self):
        return {"steps": self.steps}, {}

    def restore(self, state, arrays):
        self.steps = state["steps"]


def kept(where):
    """Every file that must be the same for the same experiment, by path."""
    return {
        path.relative_to(where).as_posix(): path.read_bytes()
        for path in sorted(where.rglob("*"))
        if path.is_file() and path.name not in ("log.jsonl", ".lock")
    }
