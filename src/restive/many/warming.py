"""Compile what planning will need before its time begins."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module

import numpy as np

from restive._kernels.hearing import heard
from restive.many import plan_stages as stages
from restive.many.clock_blocks import ClockBlocks
from restive.many.plan_candidates import index_findings
from restive.many.plan_task import StageResult, Task
from restive.model.bandit import Arm, Bandit
from restive.planning.exact import plan

CHANNELS = [Arm([[0.5, 0.5], [0.6, 0.4]], [0, reward]) for reward in (0.5, 0.6, 0.6)]
CONSTANT = Arm([[1.0]], [0.5])


@lru_cache(maxsize=1)
def compile_stages() -> None:
    """Go through all stages with something tiny, so that compiling does not count as planning."""
    heard(lambda: import_module("numba"))  # half imported it cannot be used, nor imported again
    for pulls in (1, 2):
        task = Task(Bandit(CHANNELS, pulls=pulls), 1e-2, 60.0, None, 0)
        for findings in _stages(task):
            for _ in findings:
                pass
    for price in (None, 0.5):
        ClockBlocks()(CHANNELS, price, 1e-2, None)
    for bandit in (Bandit(CHANNELS), Bandit([CONSTANT, *CHANNELS])):
        _compile_sweeps(bandit)


def _stages(task: Task) -> Iterator[Iterator[StageResult]]:
    yield index_findings(task, stages.lagrangian_stage(task), 60.0)
    yield stages.pair_stage(task, 1.0)
    yield stages.block_stage(task, 1.0) if task.bandit.pulls == 1 else stages.group_stage(task, 1.0)
    yield stages.grid_stage(task, 1.0)


@lru_cache(maxsize=2)
def compile_exact(two_states: bool) -> None:
    """An exact plan alone, of arms that all have two states, or of others."""
    heard(lambda: import_module("numba"))
    bandit = Bandit(CHANNELS if two_states else [CONSTANT, *CHANNELS])
    plan(bandit, 1e-2, compiled=True)
    _compile_sweeps(bandit)


def _compile_sweeps(bandit: Bandit) -> None:
    """Sweeps and extrapolation, by the paths of small and of large problems."""
    from restive._kernels import anderson
    from restive.base.machine import THREADS_FROM_PAIRS
    from restive.mdp.certificate import bandit_parameters
    from restive.mdp.iteration import BanditIteration
    from restive.mdp.representation import Representation

    rep = Representation.of(bandit, 4)
    for pairs in (rep.n_states, THREADS_FROM_PAIRS):
        iteration = BanditIteration(rep, bandit_parameters(bandit, rep))
        iteration.pairs = pairs
        iteration.sweep(np.zeros(1), 2)
        corners = np.zeros(1, dtype=np.int64)
        search = anderson.Search.of(len(iteration.entries) + 2, 2)
        iteration.propagate(search, corners, 1e-3, 1, 1)
