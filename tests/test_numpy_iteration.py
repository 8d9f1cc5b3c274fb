"""Small problems swept in NumPy: the same values, bounds and plans as compiled sweeps give."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from restive.mdp.certificate import bandit_parameters, certificate
from restive.mdp.iteration import BanditIteration
from restive.mdp.numpy_iteration import NumpyIteration
from restive.mdp.representation import Representation
from restive.mdp.solver import solve
from restive.planning import plan
from restive.planning.size import is_small
from restive.problems import example1, gilbert_elliott, random_problem
from zoo import draw_bandit, draw_caps, is_slow

BATCHES = [range(first, first + 20) for first in range(0, 100, 20)]


@pytest.mark.parametrize("seeds", BATCHES)
def test_sweeps_are_those_of_the_compiled_iteration(seeds):
    for seed in seeds:
        bandit = draw_bandit(seed)
        rep = Representation.of(bandit, draw_caps(seed, bandit))
        parameters = bandit_parameters(bandit, rep)
        plain, compiled = (it(rep, parameters) for it in (NumpyIteration, BanditIteration))
        gain = np.random.default_rng(seed).random(rep.n_classes)
        for count in (1, 3, 10):
            bounds, wanted = plain.sweep(gain, count), compiled.sweep(gain, count)
            np.testing.assert_allclose(bounds, wanted, atol=1e-12, err_msg=f"seed {seed}")
        for last in range(rep.n_arms):
            np.testing.assert_allclose(
                rep.block(plain.values, last), rep.block(compiled.values, last), atol=1e-12
            )


@pytest.mark.parametrize("seeds", BATCHES)
def test_certificates_are_those_of_the_compiled_iteration(seeds):
    for seed in seeds:
        bandit = draw_bandit(seed)
        if any(is_slow(arm) for arm in bandit.arms):
            continue  # their values differ by more than 1e-12 after so many sweeps
        rep = Representation.of(bandit, draw_caps(seed, bandit))
        parameters = bandit_parameters(bandit, rep)
        plain, other = (solve(rep, parameters, tolerance=1e-8, compiled=c) for c in (False, True))
        assert plain.sweeps == other.sweeps
        here, there = certificate(bandit, rep, plain), certificate(bandit, rep, other)
        assert here.error == there.error
        np.testing.assert_allclose(here.lower, there.lower, atol=2 * here.rounding)
        np.testing.assert_allclose(here.upper, there.upper, atol=2 * here.rounding)


@pytest.mark.parametrize("seed", range(12))
def test_plans_are_the_same(seed):
    bandit = random_problem(2 + seed % 2, 2 + seed % 3, rng=seed, period=1 + seed % 2)
    plain, other = (plan(bandit, 1e-6, compiled=compiled) for compiled in (False, True))
    assert (plain.caps, plain.sweeps) == (other.caps, other.sweeps)
    np.testing.assert_allclose(plain.lower, other.lower, atol=1e-12)
    np.testing.assert_allclose(plain.upper, other.upper, atol=1e-12)
    last, states, stored = plain.representation.every_state()
    ages = np.where(np.arange(bandit.n_arms) == last[:, None], 1, np.maximum(stored, 2))
    np.testing.assert_allclose(plain.gap(states, ages), other.gap(states, ages), atol=1e-11)


def test_slow_sweeps_are_left_to_the_compiled_ones(monkeypatch):
    """The work allowed ends after some sweeps; what follows starts from there."""
    bandit = example1(0.01)
    rep = Representation.of(bandit, 40)
    parameters = bandit_parameters(bandit, rep)
    entries = NumpyIteration(rep, parameters).entries
    monkeypatch.setattr("restive.mdp.solver.NUMPY_PRODUCTS", 30 * entries)
    plain = solve(rep, parameters, tolerance=1e-9, compiled=False)
    compiled = solve(rep, parameters, tolerance=1e-9)
    assert plain.converged
    assert plain.sweeps > compiled.sweeps > 40
    assert plain.gain == pytest.approx(compiled.gain, abs=1e-9)


def test_the_size_of_the_problem_alone_decides():
    assert is_small(example1(0.1), 1e-6, None)
    assert is_small(example1(0.1), 1e-12, None)
    assert not is_small(example1(0.001), 1e-6, None)  # 24,000 states, and slow
    assert not is_small(gilbert_elliott(4, 0.1, 0.2), 1e-6, None)
    assert is_small(gilbert_elliott(4, 0.1, 0.2), 1e-6, 3)


def test_a_small_plan_is_made_shown_and_followed_without_a_compiler():
    """Neither numba nor SciPy is imported by the whole command, nor by questions to the plan."""
    script = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from restive.cli import app\n"
        "from restive.model.files import dump_problem\n"
        "from restive.problems import example3\n"
        "from restive.planning import plan\n"
        "best = plan(example3(0.1))\n"
        "best.action([0, 0], [1, 5]), best.gap([0, 0], [1, 5])\n"
        "text = dump_problem(example3(0.1))\n"
        "done = CliRunner().invoke(app, ['plan', '-'], input=text)\n"
        "assert done.exit_code == 0, done.output\n"
        "assert 'certified' in done.stdout and 'compiling' not in done.output\n"
        "print([name for name in ('numba', 'scipy') if name in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
