"""What planning compiles: what its ways take, before their time begins, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from restive import Arm, Bandit
from restive.many import plan_task, warming
from restive.many.plan_task import Task
from restive.model.files import dump_problem

SPY = """
import json, sys
from restive.many import planner, warming
from restive.model.files import parse_problem

ways, modules, late, inside = [], set(), [], [False]

def spy():
    from numba.core.dispatcher import Dispatcher

    compile_or_load = Dispatcher.compile

    def noted(kernel, signature):
        module = kernel.py_func.__module__
        known = tuple(getattr(signature, "args", signature)) in kernel.overloads
        if module.startswith("restive.") and not known:
            modules.add(module.split(".")[-1])
            if not inside[0]:
                late.append(kernel.py_func.__name__)
        return compile_or_load(kernel, signature)

    Dispatcher.compile = noted

def ready(task, way):
    if not ways:
        spy()
    ways.append(way)
    inside[0] = True
    warming.ready(task, way)
    inside[0] = False

planner.ready = ready
best = planner.best_plan(parse_problem(sys.stdin.read()), time=float(sys.argv[1]))
numba = "numba" in sys.modules
print(json.dumps({"ways": ways, "modules": sorted(modules), "late": late, "numba": numba}))
"""


def compiled_by(bandit, time):
    """Ways made ready, modules of the kernels compiled or loaded, and those that came too late."""
    done = subprocess.run([sys.executable, "-c", SPY, str(time)], input=dump_problem(bandit),
                          capture_output=True, text=True, check=True)  # fmt: skip
    return json.loads(done.stdout)


def two_states(count, seed, low=0.1, high=0.6):
    rng = np.random.default_rng(seed)
    return [Arm([[1 - up, up], [down, 1 - down]], [0, rng.uniform(0.5, 1)])
            for up, down in rng.uniform(low, high, (count, 2))]  # fmt: skip


def test_small_problems_compile_nothing():
    assert compiled_by(Bandit(two_states(3, 5)), 60)["numba"] is False


def test_what_prices_prove_compiles_prices_alone():
    rng = np.random.default_rng(3)
    arms = [Arm(rng.dirichlet(np.ones(4), 4), np.sort(rng.uniform(0, 1, 4))) for _ in range(20)]
    told = compiled_by(Bandit(arms), 60)
    assert (told["ways"], told["modules"], told["late"]) == (["prices"], ["waits"], [])


@pytest.mark.parametrize("pulls", [1, 2])
def test_nothing_is_compiled_while_the_time_runs(pulls):
    told = compiled_by(Bandit(two_states(12, 2), pulls=pulls), 3)
    assert "blocks of arms" in told["ways"]
    assert {"schedule", "sweeps" if pulls == 1 else "clocks"} < set(told["modules"])
    assert told["late"] == []


@pytest.mark.parametrize("size", [2, 3])
def test_sweeps_for_two_states_are_compiled_where_a_block_may_take_them(size, monkeypatch):
    asked = []
    monkeypatch.setattr(warming, "compile_way", lambda *given: asked.append(given))
    some = Arm(np.full((size, size), 1 / size), np.linspace(0, 1, size))
    larger = Arm(np.full((4, 4), 0.25), [0, 0, 0, 1])
    task = Task(Bandit([some, larger]), 1e-4, 60.0, None, 0)
    for way in ("exact planning", "blocks of arms"):
        warming.ready(task, way)
    assert asked == [("exact planning", False, False), ("blocks of arms", size == 2, False)]


def test_the_clock_stands_still_while_something_compiles(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(plan_task, "perf_counter", lambda: now[0])
    task = Task(Bandit(two_states(2, 0)), 1e-4, 60.0, None, 0)
    now[0] += 5
    with task.clock_stopped():
        now[0] += 1000
    assert (task.left, now[0] - task.began) == (55.0, 5.0)
