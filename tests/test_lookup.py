"""Single pulls, sweeps and certificates against slow twins, cell by cell on random values."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from restive._kernels import arrays, lookup
from restive.mdp.certificate import bandit_parameters
from restive.mdp.iteration import ArrayIteration, BanditIteration, row_tables
from restive.mdp.layout import fill_ghosts
from restive.mdp.numpy_iteration import NumpyIteration, pull_values
from restive.mdp.representation import Representation
from restive.mdp.structured import Parameters, StructuredMDP
from zoo import draw_bandit, draw_caps


def drawn(seed: int, extended: bool) -> tuple[Representation, Parameters, np.random.Generator]:
    """A representation with random laws and radii, not those of any bandit."""
    bandit = draw_bandit(seed)
    rep = Representation.of(bandit, draw_caps(seed, bandit))
    rng = np.random.default_rng(seed)
    base = bandit_parameters(bandit, rep)
    radii = rng.choice([0, 0.1, 0.6, 2.5], rep.n_colors) if extended else None
    return rep, Parameters(rng.random(rep.n_colors), base.probabilities, None, radii), rng


def cells(rep: Representation):
    """Every cell as (last arm, last states, stored ages)."""
    for last in range(rep.n_arms):
        ages = rep.block_ages(last)
        for index in np.ndindex(*rep.sizes, *(len(a) for a in ages)):
            states, places = index[: rep.n_arms], index[rep.n_arms :]
            yield last, states, tuple(int(a[k]) for a, k in zip(ages, places, strict=True))


def cell_of(rep: Representation, last: int, states, ages) -> int:
    return int(rep.place(np.array(last), np.array(states), np.array(ages)))


def successors(rep: Representation, states, ages, pull: int) -> list[int]:
    cells = []
    for outcome in range(rep.sizes[pull]):
        info = naive.after(
            tuple(zip(states, ages, strict=True)), pull, outcome, rep.caps, rep.periods
        )
        cells.append(cell_of(rep, pull, *zip(*info, strict=True)))
    return cells


def filled(rep: Representation, rng: np.random.Generator) -> np.ndarray:
    values = rng.normal(size=int(rep.layout.block[-1]))
    fill_ghosts(rep, values)
    return values


def naive_pulls(rep, parameters, values, states, ages) -> list[float]:
    worth = []
    for pull, size in enumerate(rep.sizes):
        color = rep.color(pull, states[pull], ages[pull])
        p = parameters.probabilities[color, :size]
        radius = 0.0 if parameters.radii is None else float(parameters.radii[color])
        nexts = values[successors(rep, states, ages, pull)]
        worth.append(parameters.rewards[color] + naive.extended_backup(p, nexts, radius))
    return worth


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_pulls_looked_up_and_swept(seed, extended):
    """Each cell's pulls, its place after each pull, and one damped sweep over all cells."""
    rep, parameters, rng = drawn(seed, extended)
    rep = Representation(rep.sizes, rep.caps, rep.periods)  # one class, whatever the laws
    values = filled(rep, rng)
    everything = list(cells(rep))
    lasts, states, ages = (np.array(column) for column in zip(*everything, strict=True))
    worth = np.array([naive_pulls(rep, parameters, values, s, a) for _, s, a in everything])
    if not extended:
        pulls = pull_values(rep, parameters, values, rep.colors(states, ages))
        np.testing.assert_allclose(pulls, worth, atol=1e-12)

    for k in rng.integers(len(lasts), size=20):
        for pull in range(rep.n_arms):
            first = lookup.successor(rep.layout, lasts[k], states[k], ages[k] - 1, pull)
            stride = rep.layout.state_stride[pull, pull]
            where = [first + s * stride for s in range(rep.sizes[pull])]
            assert where == successors(rep, states[k], ages[k], pull)

    places = rep.place(lasts, states, ages)
    iteration = BanditIteration(rep, parameters, values)
    lower, upper = iteration.sweep(np.array([0.3]), 1)
    change = worth.max(axis=1) - values[places]
    assert (lower[0], upper[0]) == (pytest.approx(change.min()), pytest.approx(change.max()))
    expected = values[places] + iteration.damping * (change - 0.3)
    np.testing.assert_allclose(iteration.values[places], expected, atol=1e-12)


def phases(rep: Representation) -> np.ndarray:
    """What each color adds to the place of the vector of phases in the raveled orbits."""
    steps = np.zeros(rep.n_colors, dtype=np.int64)
    for j, cyclic in enumerate(rep.cyclic):
        for s, age in np.ndindex(rep.sizes[j], rep.n_ages[j]):
            corner = np.zeros(rep.n_arms, dtype=np.int64)
            corner[j] = (cyclic[s] + age + 1) % rep.periods[j]
            steps[rep.color(j, s, age + 1)] = np.ravel_multi_index(corner, rep.orbits.shape)
    return steps


@pytest.mark.parametrize("seed", range(20))
def test_certificates(seed):
    """Bounds of the true T h - h over the cells with an approximate row, class by class."""
    rep, parameters, rng = drawn(seed, False)
    values = filled(rep, rng)
    errors = rng.choice([0.0, 0.0, 0.3, 1.0], rep.n_colors)
    paid = rng.random((rep.n_arms, rep.max_support))
    low, high = np.full(rep.n_classes, np.inf), np.full(rep.n_classes, -np.inf)
    for last, states, ages in cells(rep):
        colors = [rep.color(j, states[j], ages[j]) for j in range(rep.n_arms)]
        worth = np.array(naive_pulls(rep, parameters, values, states, ages))
        nexts = [values[successors(rep, states, ages, j)] for j in range(rep.n_arms)]
        spans = [np.ptp(paid[j, : rep.sizes[j]] + nexts[j]) for j in range(rep.n_arms)]
        doubt = 0.5 * errors[colors] * spans
        if errors[colors].any():
            part, here = int(rep.classes(states, ages)), values[cell_of(rep, last, states, ages)]
            low[part] = min(low[part], (worth - doubt).max() - here)
            high[part] = max(high[part], (worth + doubt).max() - here)
    shape = (len(rep.layout.tasks), rep.n_classes)
    lower, upper = np.full(shape, np.inf), np.full(shape, -np.inf)
    tables = row_tables(rep, parameters)
    fixed = (values, rep.layout, tables, errors, paid, phases(rep), rep.orbits.ravel())
    for first in range(3):
        lookup.certify(*fixed, lower, upper, first, 3)
    for ready in (BanditIteration, NumpyIteration):
        bounds = ready(rep, parameters, values).certify(errors, paid)
        np.testing.assert_allclose(bounds, (low, high), atol=1e-12)
    np.testing.assert_allclose(lower.min(axis=0), low, atol=1e-12)
    np.testing.assert_allclose(upper.max(axis=0), high, atol=1e-12)


@pytest.mark.parametrize("extended", [False, True])
def test_sweeps_over_arrays(extended):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n, actions, support, colors = 9, 3, int(rng.integers(1, 5)), 6
        color = rng.integers(-1, colors, (n, actions))
        color[:, 0] = rng.integers(colors, size=n)
        color[0, 0] = colors - 1
        successor = rng.integers(n, size=(n, actions, support))
        laws = rng.dirichlet(np.ones(support), colors)
        radii = rng.choice([0, 0.3, 2.0], colors) if extended else np.zeros(colors)
        parameters = Parameters(rng.random(colors), laws, None, radii if extended else None)
        values = rng.normal(size=n)
        worth = np.full((n, actions), -np.inf)
        for x, a in zip(*np.nonzero(color >= 0), strict=True):
            c = color[x, a]
            best = naive.extended_backup(laws[c], values[successor[x, a]], radii[c])
            worth[x, a] = parameters.rewards[c] + best
        iteration = ArrayIteration(StructuredMDP(color, successor), parameters, values)
        np.testing.assert_allclose(
            arrays.pair_values(values, *iteration.arguments), worth, atol=1e-12
        )
        lower, upper = iteration.sweep(np.array([0.2]), 1)
        change = worth.max(axis=1) - values
        assert (lower[0], upper[0]) == (pytest.approx(change.min()), pytest.approx(change.max()))
        np.testing.assert_allclose(iteration.values, values + 0.9 * (change - 0.2), atol=1e-12)
