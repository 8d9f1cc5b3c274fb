"""Compile what a way of planning takes before its time begins, and nothing that no way takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module

import numpy as np

from restive._kernels.hearing import heard
from restive.many import plan_stages as stages
from restive.many.blocks import ExactBlocks
from restive.many.clock_blocks import ClockBlocks
from restive.many.plan_candidates import index_findings
from restive.many.plan_task import StageResult, Task
from restive.many.pulls_blocks import PullsBlocks
from restive.model.bandit import Arm, Bandit
from restive.planning.exact import plan

CHANNELS = [Arm([[0.5, 0.5], [0.6, 0.4]], [0, reward]) for reward in (0.5, 0.6, 0.6)]
CONSTANT = Arm([[1.0]], [0.5])
LARGER = [Arm([[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.5, 0.2, 0.3]], [0, 0.4, reward])
          for reward in (0.5, 0.6, 0.6)]  # fmt: skip
ENOUGH = 60.0  # seconds for stages that end by themselves


def ready(task: Task, way: str) -> None:
    """Compile what this way of planning takes; the clock of the task stands still meanwhile.

    Sweeps are compiled apart for arms that all have two states, as a block of some arms may have.
    """
    sizes = task.bandit.n_states
    apart = all(size == 2 for size in sizes) if way == "exact planning" else 2 in sizes
    with task.clock_stopped():
        compile_way(way, apart, task.bandit.pulls > 1)
        if way == "prices":
            stages.compile_arrays(task)


@cache
def compile_way(way: str, two_states: bool, several_pulls: bool) -> None:
    """Go this way once with something tiny."""
    heard(lambda: import_module("numba"))  # half imported it cannot be used, nor imported again
    pulls = 2 if several_pulls else 1
    task = Task(Bandit(CHANNELS if two_states else LARGER, pulls=pulls), 1e-2, ENOUGH, None, 0)
    for _ in WAYS[way](task):
        pass


def _exact(task: Task) -> Iterator[StageResult]:
    if task.bandit.pulls == 1:  # several pulls are planned in NumPy
        plan(task.bandit, 1e-2, compiled=True)
        _compile_sweeps(task.bandit)
    yield from ()


def _prices(task: Task) -> Iterator[StageResult]:
    stages.lagrangian_stage(task)
    yield from ()


def _blocks(task: Task) -> Iterator[StageResult]:
    """Each planner of blocks by itself: so tiny a block ends before it needs all of them."""
    arms, pulls = task.bandit.arms, task.bandit.pulls
    for price in (None, 0.5):
        if pulls > 1:
            PullsBlocks(pulls)(arms, price, 1e-2, None)
            continue
        _exact_block(arms, price)
        ClockBlocks()(arms, price, 1e-2, None)
    yield from stages.block_stage(task, 1.0)


def _groups(task: Task) -> Iterator[StageResult]:
    _exact_block(task.bandit.arms, None)
    yield from stages.group_stage(task, 1.0)


def _exact_block(arms: Sequence[Arm], price: float | None) -> None:
    ExactBlocks()(arms, price, 1e-2, None)
    _compile_sweeps(Bandit(arms if price is None else [CONSTANT, *arms]))


WAYS: dict[str, Callable[[Task], Iterator[StageResult]]] = {
    "exact planning": _exact,
    "prices": _prices,
    "index policies": lambda task: index_findings(task, stages.lagrangian_stage(task), ENOUGH),
    "pairs of arms": lambda task: stages.pair_stage(task, 1.0),
    "blocks of arms": _blocks,
    "groups of arms": _groups,
    "grids of beliefs": lambda task: stages.grid_stage(task, 1.0),
}


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
