"""Anderson acceleration in compiled loops against a plain NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest

from restive._kernels import anderson

N_ENTRIES, N_CORNERS, MEMORY, DURATION = 12, 3, 4, 2.0


class Twin:
    """As the textbooks have it: all images and residuals, least squares by a library."""

    def __init__(self) -> None:
        self.images: list[np.ndarray] = []
        self.residuals: list[np.ndarray] = []

    def next_point(self, point: np.ndarray, fresh: np.ndarray, duration: float) -> np.ndarray:
        change = fresh - point[:-1]
        drift = change[:N_ENTRIES].mean()
        level = fresh[:N_ENTRIES].mean()
        self.images.append(np.append(fresh - level, point[-1] + drift / duration))
        self.residuals.append(np.append(change - drift, drift))
        if len(self.images) == 1:
            return self.images[-1]
        steps = np.diff(self.images[-MEMORY - 1 :], axis=0)
        moves = np.diff(self.residuals[-MEMORY - 1 :], axis=0)
        weights, *_ = np.linalg.lstsq(moves.T, self.residuals[-1], rcond=None)
        return self.images[-1] - weights @ steps


class Map:
    """An affine map of (entries, corners, gain), as passes are while the policy stays."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        size = N_ENTRIES + N_CORNERS
        self.matrix = rng.dirichlet(np.full(size, 0.4), size) * 0.9
        self.matrix += 0.1 / size
        self.pay = rng.random(size)

    def __call__(self, point: np.ndarray) -> np.ndarray:
        return self.matrix @ point[:-1] + DURATION * (self.pay - point[-1])


def searching(seed: int) -> tuple[anderson.Search, Map, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, 1])
    values, corners = rng.normal(size=40), rng.permutation(40)[:N_CORNERS]
    return anderson.Search.of(N_ENTRIES + N_CORNERS + 1, MEMORY), Map(seed), values, corners, rng


def one_pass(search, model, values, entries, corners, target=0.0, patience=0):
    anderson.enter(values, entries, corners, search)
    point = search.point.copy()
    fresh = model(point)
    entries[:], values[corners] = fresh[:N_ENTRIES], fresh[N_ENTRIES:]
    anderson.judge(values, entries, corners, search, target, patience)
    return point, fresh


@pytest.mark.parametrize("seed", range(6))
def test_points_are_those_of_the_twin(seed):
    search, model, values, corners, rng = searching(seed)
    entries, twin = rng.normal(size=N_ENTRIES), Twin()
    for _ in range(2):
        one_pass(search, model, values, entries, corners)
    assert search.duration[0] == pytest.approx(DURATION)
    compared = 0
    for _ in range(9):
        point, fresh = one_pass(search, model, values, entries, corners)
        wanted = twin.next_point(point, fresh, DURATION)
        if search.status[0] != anderson.GOING or np.abs(twin.residuals[-1]).max() < 1e-6:
            break
        np.testing.assert_allclose(search.point, wanted, atol=1e-6)
        compared += 1
    assert compared >= 4


def test_the_gain_stays_between_its_limits():
    search, model, values, corners, rng = searching(1)
    entries = rng.normal(size=N_ENTRIES)
    search.limits[:] = 0.2, 0.3  # the true one is outside
    gains = []
    for _ in range(8):
        one_pass(search, model, values, entries, corners, patience=9)
        gains.append(search.point[-1])
    assert max(gains[2:]) == 0.3
    assert min(gains[2:]) >= 0.2


def test_a_search_ends_when_found_and_when_hopeless():
    search, model, values, corners, rng = searching(0)
    entries = rng.normal(size=N_ENTRIES)
    while search.status[0] == anderson.GOING and search.passes < 60:
        one_pass(search, model, values, entries, corners, target=1e-9)
    assert search.status[0] == anderson.FOUND
    gain = search.image[-1]
    share = np.linalg.matrix_power(model.matrix, 500)[0]
    assert gain == pytest.approx(share @ model.pay, abs=1e-8)
    hopeless = searching(0)[0]
    for _ in range(3):
        one_pass(hopeless, lambda point: np.full(N_ENTRIES + N_CORNERS, np.nan), values, entries,
                 corners)  # fmt: skip
    assert hopeless.status[0] == anderson.FAILED


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_least_squares_with_dependent_vectors(rank):
    for seed in range(20):
        rng = np.random.default_rng([rank, seed])
        vectors = rng.normal(size=(6, rank)) @ rng.normal(size=(rank, 9))
        goal = rng.normal(size=9)
        weights = anderson.least_squares(vectors @ vectors.T, vectors @ goal)
        best, *_ = np.linalg.lstsq(vectors.T, goal, rcond=1e-9)
        np.testing.assert_allclose(weights @ vectors, best @ vectors, atol=1e-6)
        assert np.count_nonzero(weights) <= rank
