"""An index policy played with the values of a grid: the same policy, with less noise."""

from __future__ import annotations

import numpy as np
import pytest

from restive import Arm, Bandit, evaluate
from restive.many import grid_board
from restive.many.grid import plan_grid
from restive.many.plan_candidates import index_findings, index_on_grid, longer_play
from restive.many.plan_stages import lagrangian_stage
from restive.many.plan_task import Task


def channels():
    rates = [(0.04, 0.06, 1.0), (0.1, 0.05, 0.8), (0.05, 0.15, 0.9)]
    return Bandit([Arm([[1 - up, up], [down, 1 - down]], [0, pay]) for up, down, pay in rates])


@pytest.fixture(scope="module")
def task():
    task = Task(channels(), 1e-4, 600.0, None, 0)
    list(index_findings(task, lagrangian_stage(task), 60.0))
    return task


@pytest.mark.parametrize("dense", [grid_board.DENSE, 12])
def test_the_policy_earns_what_its_play_says(task, dense, monkeypatch):
    """With few ages that have a slot each, others share an index, in play and in the policy."""
    monkeypatch.setattr(grid_board, "DENSE", dense)
    monkeypatch.setattr(grid_board, "RATIO", 1.5)
    own = plan_grid(task.bandit, ages=4)
    (result,) = index_on_grid(task, own, 1.0)
    exact = evaluate(task.bandit, result.policy(), 1e-5)
    played = result.simulated
    half = 0.5 * (played.upper - played.lower)
    assert abs(exact.gain - played.mean) < 2 * half  # nearly six standard errors
    assert half < 0.003
    values = result.policy().tables[0].values
    shared = np.diff(values[:, 40:60], axis=1) == 0
    assert shared.any() == (dense == 12)


def test_play_that_tells_less_does_not_replace_it(task):
    (result,) = index_on_grid(task, plan_grid(task.bandit, ages=6), 5.0)
    width = result.simulated.upper - result.simulated.lower
    longer = list(longer_play(task, result, 2.0, 0.0))
    widths = [value.simulated.upper - value.simulated.lower for value in longer]
    assert all(later < earlier for earlier, later in zip([width, *widths], widths, strict=False))


def test_periodic_arms_are_left_to_other_play(task):
    flip = Arm([[0, 1], [1, 0]], [0.2, 0.7])
    other = Task(Bandit([flip, flip]), 1e-4, 600.0, None, 0)
    list(index_findings(other, lagrangian_stage(other), 60.0))
    assert list(index_on_grid(other, plan_grid(other.bandit, ages=4), 1.0)) == []
    task_without = Task(channels(), 1e-4, 600.0, None, 0)
    assert list(index_on_grid(task_without, plan_grid(channels(), ages=4), 1.0)) == []
