"""Learners that end their process once, fail or are slow, for tests of experiments."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from restive.learners import make_learner

__all__ = ["broken", "build", "slow"]


def build(bandit, horizon, delta, rng, marker):
    """Thompson sampling, but the first to find no ``marker`` makes one and dies at once."""
    with suppress(FileExistsError):
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    return make_learner("thompson", bandit, horizon, delta, rng)


def broken(bandit, horizon, delta, rng):
    raise RuntimeError("a bug in somebody's learner")


def slow(bandit, horizon, delta, rng, seconds):
    """Thompson sampling that takes its time, so that there is a while to be interrupted in."""
    time.sleep(seconds)
    return make_learner("thompson", bandit, horizon, delta, rng)
